// SPDX-License-Identifier: GPL-2.0-only
#include <stddef.h>
#include <string.h>

#include <bp/cli.h>
#include <vf/bdf.h>
#include "vmm/commands.h"
#include "vmm/machine.h"

#define MEM_DEFAULT (512ull << 20)
#define HUGEPAGE_2M (2ull << 20)
#define HUGEPAGE_1G (1ull << 30)

typedef int (*set_fn)(struct bp_cli *cli, struct vmm_config *c, const char *value);

static int set_kernel(struct bp_cli *cli, struct vmm_config *c, const char *value)
{
	(void)cli;
	c->kernel = value;
	return BP_EXIT_OK;
}

static int set_initrd(struct bp_cli *cli, struct vmm_config *c, const char *value)
{
	(void)cli;
	c->initrd = value;
	return BP_EXIT_OK;
}

static int set_append(struct bp_cli *cli, struct vmm_config *c, const char *value)
{
	(void)cli;
	c->append = value;
	return BP_EXIT_OK;
}

static int set_cpus(struct bp_cli *cli, struct vmm_config *c, const char *value)
{
	uint64_t n;

	if (bp_parse_u64(value, 1, VMM_VCPUS_MAX, &n))
		return bp_cli_usage(cli, "run", "--cpus takes 1 to %u, not '%s'", VMM_VCPUS_MAX,
				    value);
	c->cpus = (unsigned int)n;
	return BP_EXIT_OK;
}

static int set_mem(struct bp_cli *cli, struct vmm_config *c, const char *value)
{
	if (bp_parse_size(value, &c->mem))
		return bp_cli_usage(cli, "run", "--mem takes a size such as 512M or 2G, not '%s'",
				    value);
	return BP_EXIT_OK;
}

static int set_hugepages(struct bp_cli *cli, struct vmm_config *c, const char *value)
{
	if (bp_parse_size(value, &c->hugepage) ||
	    (c->hugepage != HUGEPAGE_2M && c->hugepage != HUGEPAGE_1G))
		return bp_cli_usage(cli, "run", "--hugepages takes 2M or 1G, not '%s'", value);
	return BP_EXIT_OK;
}

static int set_vf(struct bp_cli *cli, struct vmm_config *c, const char *value)
{
	struct vf_bdf bdf, other;

	if (vf_bdf_parse(value, &bdf))
		return bp_cli_usage(cli, "run",
				    "--vf takes a PCI address such as 0000:01:10.0, and '%s' is "
				    "not a PCI address",
				    value);
	if (c->nr_vfs == VMM_VFS_MAX)
		return bp_cli_usage(cli, "run", "--vf may be given %u times", VMM_VFS_MAX);
	for (unsigned int i = 0; i < c->nr_vfs; i++)
		if (!vf_bdf_parse(c->vfs[i], &other) && !vf_bdf_cmp(&bdf, &other))
			return bp_cli_usage(cli, "run", "--vf %s is given twice", value);
	c->vfs[c->nr_vfs++] = value;
	return BP_EXIT_OK;
}

static int set_backend(struct bp_cli *cli, struct vmm_config *c, const char *value)
{
	if (!strcmp(value, "auto"))
		c->backend = VF_BACKEND_AUTO;
	else if (!strcmp(value, "type1"))
		c->backend = VF_BACKEND_TYPE1;
	else if (!strcmp(value, "iommufd"))
		c->backend = VF_BACKEND_IOMMUFD;
	else
		return bp_cli_usage(cli, "run", "--backend takes auto, type1 or iommufd, not '%s'",
				    value);
	return BP_EXIT_OK;
}

static int set_api(struct bp_cli *cli, struct vmm_config *c, const char *value)
{
	(void)cli;
	c->api = value;
	return BP_EXIT_OK;
}

static int set_memtype(struct bp_cli *cli, struct vmm_config *c, const char *value)
{
	static const char *const words[] = {
		[VMM_MT_AUTO] = "auto",		  [VMM_MT_MODULE] = "module", [VMM_MT_PAT] = "pat",
		[VMM_MT_PAT_FORCE] = "pat,force", [VMM_MT_OFF] = "off",
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (!strcmp(value, words[i])) {
			c->memtype = (enum vmm_mt_wish)i;
			return BP_EXIT_OK;
		}
	}
	return bp_cli_usage(cli, "run",
			    "--memtype takes auto, module, pat, pat,force or off, not '%s'", value);
}

static int set_console(struct bp_cli *cli, struct vmm_config *c, const char *value)
{
	if (!strcmp(value, "stdio")) {
		c->console = VMM_CONSOLE_STDIO;
	} else if (!strcmp(value, "none")) {
		c->console = VMM_CONSOLE_NONE;
	} else if (!strncmp(value, "file:", 5) && value[5]) {
		c->console = VMM_CONSOLE_FILE;
		c->console_path = value + 5;
	} else {
		return bp_cli_usage(cli, "run",
				    "--console takes stdio, file:NAME or none, not '%s'", value);
	}
	return BP_EXIT_OK;
}

static const struct option {
	const char *name;
	set_fn set;
	bool repeats;
} options[] = {
	{ "--kernel", set_kernel, false },
	{ "--initrd", set_initrd, false },
	{ "--append", set_append, false },
	{ "--cpus", set_cpus, false },
	{ "--mem", set_mem, false },
	{ "--hugepages", set_hugepages, false },
	{ "--vf", set_vf, true },
	{ "--backend", set_backend, false },
	{ "--api", set_api, false },
	{ "--console", set_console, false },
	{ "--memtype", set_memtype, false },
};

#define NR_OPTIONS (sizeof(options) / sizeof(options[0]))

/* "--name=value" names the same option as "--name value". */
static size_t find_option(const char *word, const char **value)
{
	for (size_t i = 0; i < NR_OPTIONS; i++) {
		size_t len = strlen(options[i].name);

		if (strncmp(word, options[i].name, len) != 0)
			continue;
		if (word[len] == '=')
			*value = word + len + 1;
		if (word[len] == '=' || !word[len])
			return i;
	}
	return NR_OPTIONS;
}

int vmm_config_parse(struct bp_cli *cli, int argc, char **argv, struct vmm_config *out)
{
	bool seen[NR_OPTIONS] = { false };

	*out = (struct vmm_config){ .append = "", .cpus = 1, .mem = MEM_DEFAULT };
	for (int i = 1; i < argc; i++) {
		const char *value = NULL;
		size_t n;
		int ret;

		if (!strcmp(argv[i], "--intx")) {
			out->force_intx = true;
			continue;
		}
		n = find_option(argv[i], &value);
		if (n == NR_OPTIONS)
			return bp_cli_usage(cli, "run", "unknown option '%s'", argv[i]);
		if (seen[n] && !options[n].repeats)
			return bp_cli_usage(cli, "run", "%s is given twice", options[n].name);
		seen[n] = true;
		if (!value && ++i == argc)
			return bp_cli_usage(cli, "run", "%s needs a value", options[n].name);
		ret = options[n].set(cli, out, value ? value : argv[i]);
		if (ret)
			return ret;
	}
	if (!out->kernel)
		return bp_cli_usage(cli, "run", "--kernel is needed");
	return BP_EXIT_OK;
}
