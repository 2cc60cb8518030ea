/* SPDX-License-Identifier: GPL-2.0-only */
/* The commands of the program bluepass. Each returns an exit status. */
#ifndef VMM_COMMANDS_H
#define VMM_COMMANDS_H

struct bp_cli;
struct vmm_config;

/** vmm_cmd_run() - bluepass run. @cli: program. @argc: words. @argv: words, the command first. */
int vmm_cmd_run(struct bp_cli *cli, int argc, char **argv);

/** vmm_cmd_ctl() - bluepass ctl. @cli: program. @argc: words. @argv: words, the command first. */
int vmm_cmd_ctl(struct bp_cli *cli, int argc, char **argv);

/**
 * vmm_config_parse() - options of `bluepass run` to a configuration.
 * @cli: program, for messages.
 * @argc: words.
 * @argv: words, the command first; @out points into them.
 * @out: receives the configuration.
 *
 * Return: BP_EXIT_OK, or BP_EXIT_USAGE after a message.
 */
int vmm_config_parse(struct bp_cli *cli, int argc, char **argv, struct vmm_config *out);

#endif
