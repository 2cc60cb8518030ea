// SPDX-License-Identifier: GPL-2.0-only
/* bluepass run: a machine from the command line to its end. */
#include <bp/cli.h>
#include <bp/log.h>
#include "vmm/commands.h"
#include "vmm/core.h"
#include "vmm/life.h"

/* What the end of the machine means to whoever started it. */
static int exit_status(const struct vmm_core *core)
{
	switch (core->end) {
	case VMM_END_POWEROFF:
		return BP_EXIT_OK;
	case VMM_END_STOPPED:
		return core->end_by_ctl ? BP_EXIT_OK : BP_EXIT_FAIL;
	case VMM_END_RECALLED:
		bp_log_error("the host wanted an assigned device back and the guest did not let go "
			     "of it; the machine was stopped");
		return BP_EXIT_FAIL;
	case VMM_END_CRASHED:
	case VMM_END_NONE:
		break;
	}
	return BP_EXIT_FAIL;
}

int vmm_cmd_run(struct bp_cli *cli, int argc, char **argv)
{
	struct vmm_config config;
	struct vmm_core *core = NULL;
	struct bp_error err = { 0 };
	int ret, status = vmm_config_parse(cli, argc, argv, &config);

	if (status)
		return status;
	ret = vmm_life_build(&config, &core, &err);
	if (ret)
		return bp_log_report(&err, ret, "the machine cannot be built");
	ret = vmm_life_run(core, &err);
	status = ret ? BP_EXIT_FAIL : exit_status(core);
	/* The terminal is the user's again before the reason is told. */
	vmm_life_free(core);
	return ret ? bp_log_report(&err, ret, "the machine failed") : status;
}
