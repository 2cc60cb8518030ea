// SPDX-License-Identifier: GPL-2.0-only
#include <cpuid.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "guest.h"
#include "mtrr.h"

#define PROC_MTRR "/proc/mtrr"
#define PHYSBASE(n) (0x200u + 2 * (n))
#define PHYSMASK(n) (0x201u + 2 * (n))
#define VALID	    (1u << 11)

static const struct {
	const char *name, *text;
	unsigned int type;
} types[] = {
	{ "uc", "uncachable", 0 },     { "wc", "write-combining", 1 }, { "wt", "write-through", 4 },
	{ "wp", "write-protect", 5 }, { "wb", "write-back", 6 },
};

int mtrr_type(const char *name, unsigned int *type)
{
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		if (strcmp(types[i].name, name))
			continue;
		*type = types[i].type;
		return 0;
	}
	return -EINVAL;
}

int mtrr_add(uint64_t base, uint64_t size, const char *type)
{
	char text[128];

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		if (strcmp(types[i].name, type))
			continue;
		snprintf(text, sizeof(text), "base=0x%llx size=0x%llx type=%s\n", (unsigned long long)base,
			 (unsigned long long)size, types[i].text);
		return write_text(PROC_MTRR, text);
	}
	return -EINVAL;
}

int mtrr_del(uint64_t base, uint64_t size)
{
	char text[4096], order[32], *save = NULL;
	int err = mtrr_text(text, sizeof(text));

	if (err)
		return err;
	for (char *l = strtok_r(text, "\n", &save); l; l = strtok_r(NULL, "\n", &save)) {
		unsigned long long at, n;
		unsigned int reg;
		char unit;

		/* reg03: base=0x800001000 (32768MB), size=    4KB, count=1: write-combining */
		if (sscanf(l, "reg%u: base=%llx (%*uMB), size=%llu%cB", &reg, &at, &n, &unit) != 4)
			continue;
		if (at != base || n << (unit == 'K' ? 10 : 20) != size)
			continue;
		snprintf(order, sizeof(order), "disable=%u\n", reg);
		return write_text(PROC_MTRR, order);
	}
	return -ENOENT;
}

int mtrr_text(char *text, size_t size)
{
	int fd = open(PROC_MTRR, O_RDONLY | O_CLOEXEC);
	size_t len = 0;
	ssize_t n = 1;

	text[0] = 0;
	if (fd < 0)
		return -errno;
	while (n > 0 && len < size - 1) {
		n = read(fd, text + len, size - 1 - len);
		if (n > 0)
			len += (size_t)n;
	}
	text[len] = 0;
	close(fd);
	return n < 0 ? -EIO : 0;
}

int msr_write(unsigned int cpu, uint32_t msr, uint64_t value)
{
	char path[64];
	int fd, err = 0;

	snprintf(path, sizeof(path), "/dev/cpu/%u/msr", cpu);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (pwrite(fd, &value, sizeof(value), msr) != sizeof(value))
		err = -errno;
	close(fd);
	return err;
}

int mtrr_set_on(unsigned int cpu, unsigned int reg, uint64_t base, uint64_t size, unsigned int type)
{
	unsigned int eax = 36, ebx, ecx, edx;
	uint64_t width;
	int err;

	if (!__get_cpuid(0x80000008, &eax, &ebx, &ecx, &edx))
		eax = 36;
	width = (1ull << (eax & 0xff)) - 1;
	err = msr_write(cpu, PHYSBASE(reg), base | type);
	if (!err)
		err = msr_write(cpu, PHYSMASK(reg), (~(size - 1) & width & ~0xfffull) | VALID);
	return err;
}

int mtrr_clear_on(unsigned int cpu, unsigned int reg)
{
	int err = msr_write(cpu, PHYSMASK(reg), 0);

	return err ? err : msr_write(cpu, PHYSBASE(reg), 0);
}
