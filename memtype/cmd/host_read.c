// SPDX-License-Identifier: LGPL-2.1-or-later OR GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bp/procmtrr.h>

#include "host.h"

#define CPUS_MAX 8192

FILE *host_open(const char *root, const char *path)
{
	char full[4096];

	if ((size_t)snprintf(full, sizeof(full), "%s%s", strcmp(root, "/") ? root : "", path) >=
	    sizeof(full)) {
		errno = ENAMETOOLONG;
		return NULL;
	}
	return fopen(full, "re");
}

void *host_grow(void *array, size_t count, size_t size)
{
	/* Powers of two, from 16 on. */
	if (count && (count < 16 || count & (count - 1)))
		return array;
	return realloc(array, (count < 16 ? 16 : 2 * count) * size);
}

static int add_span(struct host_span **spans, size_t *count, uint64_t start, uint64_t last,
		    const char *type)
{
	struct host_span *grown = host_grow(*spans, *count, sizeof(**spans));

	if (!grown)
		return -ENOMEM;
	*spans = grown;
	grown[*count] = (struct host_span){ .start = start, .last = last };
	snprintf(grown[*count].type, sizeof(grown[*count].type), "%s", type);
	(*count)++;
	return 0;
}

/* Processor numbers in *ids; vendor and width in h. */
static int read_cpuinfo(struct host *h, const char *root, unsigned int **ids, size_t *count,
			struct bp_error *err)
{
	FILE *f = host_open(root, "/proc/cpuinfo");
	char line[1024], vendor[32];
	unsigned int id, bits;
	int ret = 0;

	if (!f)
		return bp_error_set(err, -errno, NULL, "cannot read /proc/cpuinfo: %s",
				    strerror(errno));
	while (!ret && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "processor : %u", &id) == 1) {
			unsigned int *grown = host_grow(*ids, *count, sizeof(**ids));

			if (!grown || *count == CPUS_MAX) {
				ret = bp_error_set(err, -ENOMEM, NULL, "too many processors");
				break;
			}
			*ids = grown;
			grown[(*count)++] = id;
		} else if (sscanf(line, "vendor_id : %31s", vendor) == 1) {
			bool amd = !strcmp(vendor, "AuthenticAMD") ||
				   !strcmp(vendor, "HygonGenuine");

			h->vendor = amd ? MT_AMD : MT_INTEL;
		} else if (sscanf(line, "address sizes : %u bits physical", &bits) == 1) {
			h->maxphyaddr = bits;
		}
	}
	fclose(f);
	if (!ret && (h->maxphyaddr < MT_MAXPHYADDR_MIN || h->maxphyaddr > MT_MAXPHYADDR_MAX))
		ret = bp_error_set(err, -EINVAL, "this command is for x86 machines",
				   "/proc/cpuinfo has no sensible 'address sizes'");
	return ret;
}

/* One register from the device, or from a text of "INDEX VALUE" lines. */
static int read_msr(int fd, bool text, uint32_t msr, uint64_t *value)
{
	char line[128];
	FILE *f;
	int copy, ret = -EIO;

	if (!text)
		return pread(fd, value, sizeof(*value), msr) == sizeof(*value) ? 0 : -EIO;
	copy = dup(fd);
	f = copy < 0 ? NULL : fdopen(copy, "r");
	if (!f) {
		ret = -errno;
		if (copy >= 0)
			close(copy);
		return ret;
	}
	rewind(f);
	while (fgets(line, sizeof(line), f)) {
		char *end, *rest;
		uint64_t index = strtoull(line, &end, 0), v = strtoull(end, &rest, 0);

		if (rest > end && end > line && index == msr) {
			*value = v;
			ret = 0;
			break;
		}
	}
	fclose(f);
	return ret;
}

/* Registers that every processor with this MTRRCAP has; AMD's own may be absent in guests. */
static int load_all(struct host_cpu *cpu, int fd, bool text, uint32_t *failed)
{
	static const uint32_t amd[] = { MT_MSR_SYSCFG,	     MT_MSR_TOP_MEM,
					MT_MSR_TOP_MEM2,     MT_MSR_IORR_BASE(0),
					MT_MSR_IORR_MASK(0), MT_MSR_IORR_BASE(1),
					MT_MSR_IORR_MASK(1) };
	struct mt_host *r = &cpu->regs;
	uint64_t v = 0;

	for (uint32_t msr = MT_MSR_PHYSBASE(0); msr <= MT_MSR_DEF_TYPE; msr++) {
		bool fixed = msr >= MT_MSR_FIX64K_00000 && msr <= MT_MSR_FIX4K_C0000 + 7;
		int ret;

		if (!mt_msr_known(&r->mtrr, msr) || (fixed && !(r->mtrr.cap & 1u << 8)))
			continue;
		*failed = msr;
		ret = read_msr(fd, text, msr, &v);
		if (!ret)
			ret = mt_host_load(r, msr, v);
		if (ret)
			return ret;
	}
	for (size_t i = 0; r->vendor == MT_AMD && i < sizeof(amd) / sizeof(*amd); i++)
		if (!read_msr(fd, text, amd[i], &v))
			mt_host_load(r, amd[i], v);
	return 0;
}

static int read_cpu(struct host *h, const char *root, unsigned int id)
{
	struct host_cpu *cpu = &h->cpus[h->cpu_count];
	char path[4096];
	uint32_t failed = MT_MSR_MTRRCAP;
	struct stat st;
	uint64_t cap = 0;
	int fd, ret;

	snprintf(path, sizeof(path), "%s/dev/cpu/%u/msr", strcmp(root, "/") ? root : "", id);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		ret = -errno;
		snprintf(h->no_msr, sizeof(h->no_msr), "/dev/cpu/%u/msr: %s%s", id, strerror(-ret),
			 ret == -ENOENT ? " (modprobe msr)" : " (run as root)");
		return ret;
	}
	ret = fstat(fd, &st) ? -errno : read_msr(fd, S_ISREG(st.st_mode), failed, &cap);
	if (!ret)
		ret = mt_host_init(&cpu->regs, h->vendor, (uint32_t)cap, h->maxphyaddr);
	if (!ret)
		ret = load_all(cpu, fd, S_ISREG(st.st_mode), &failed);
	close(fd);
	if (ret) {
		snprintf(h->no_msr, sizeof(h->no_msr), "CPU %u: MSR %#" PRIx32 " %s", id, failed,
			 ret == -EIO ? "cannot be read" : "has a value that it cannot have");
		return ret;
	}
	cpu->id = id;
	h->cpu_count++;
	return 0;
}

static int read_proc_mtrr(struct host *h, const char *root)
{
	FILE *f = host_open(root, "/proc/mtrr");
	struct bp_procmtrr r;
	char line[256];
	int ret = 0;

	if (!f)
		return 0;
	while (!ret && fgets(line, sizeof(line), f))
		if (bp_procmtrr_line(line, &r))
			ret = add_span(&h->proc_mtrr, &h->proc_mtrr_count, r.start, r.last, r.type);
	fclose(f);
	return ret;
}

/* "PAT: [mem 0xSTART-0xEND] TYPE", or in older kernels "TYPE @ 0xSTART-0xEND"; END is past it. */
static int read_memtype_list(struct host *h, const char *root)
{
	FILE *f = host_open(root, "/sys/kernel/debug/x86/pat_memtype_list");
	char line[256], type[32];
	uint64_t start, end;
	int ret = 0;

	if (!f)
		return 0;
	while (!ret && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "PAT: [mem %" SCNx64 "-%" SCNx64 "] %31s", &start, &end, type) !=
			    3 &&
		    sscanf(line, "%31s @ %" SCNx64 "-%" SCNx64, type, &start, &end) != 3)
			continue;
		if (end > start)
			ret = add_span(&h->memtype, &h->memtype_count, start, end - 1, type);
	}
	fclose(f);
	return ret;
}

int host_read(struct host *h, const char *root, struct bp_error *err)
{
	unsigned int *ids = NULL;
	size_t count = 0;
	int ret;

	*h = (struct host){ .maxphyaddr = 0 };
	ret = read_cpuinfo(h, root, &ids, &count, err);
	if (ret)
		goto out;
	h->cpus = calloc(count ? count : 1, sizeof(*h->cpus));
	ret = h->cpus ? 0 : -ENOMEM;
	for (size_t i = 0; !ret && i < count; i++)
		if (read_cpu(h, root, ids[i]))
			break;
	if (!ret)
		ret = read_proc_mtrr(h, root);
	if (!ret)
		ret = read_memtype_list(h, root);
	if (!ret)
		ret = host_read_bars(h, root, err);
	if (ret)
		goto out;
	if (!h->cpu_count && !h->proc_mtrr_count)
		ret = bp_error_set(err, -ENODATA, "run as root with the module msr loaded",
				   "neither MSRs nor /proc/mtrr can be read: %s",
				   h->no_msr[0] ? h->no_msr : "no processors");
out:
	free(ids);
	return ret;
}

void host_free(struct host *h)
{
	free(h->cpus);
	free(h->proc_mtrr);
	free(h->memtype);
	free(h->bars);
}

static enum mt_type proc_type(const char *name)
{
	static const struct {
		const char *name;
		enum mt_type type;
	} names[] = { { "uncachable", MT_UC },
		      { "write-combining", MT_WC },
		      { "write-through", MT_WT },
		      { "write-protect", MT_WP },
		      { "write-back", MT_WB } };

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(names[i].name, name))
			return names[i].type;
	return MT_UC;
}

bool host_registers(const struct host *h, struct mt_host *out)
{
	const uint64_t reach = (1ull << h->maxphyaddr) - 1;

	if (h->cpu_count) {
		*out = h->cpus[0].regs;
		return true;
	}
	mt_host_init(out, h->vendor, MT_VARIABLE_MAX, h->maxphyaddr);
	mt_host_load(out, MT_MSR_DEF_TYPE, MT_DEF_TYPE_E | MT_UC);
	for (size_t i = 0; i < h->proc_mtrr_count && i < MT_VARIABLE_MAX; i++) {
		const struct host_span *s = &h->proc_mtrr[i];
		uint64_t size = s->last - s->start + 1;

		mt_host_load(out, MT_MSR_PHYSBASE((uint32_t)i),
			     (s->start & reach & ~0xfffull) | proc_type(s->type));
		mt_host_load(out, MT_MSR_PHYSMASK((uint32_t)i),
			     (~(size - 1) & reach & ~0xfffull) | MT_PHYSMASK_VALID);
	}
	return false;
}
