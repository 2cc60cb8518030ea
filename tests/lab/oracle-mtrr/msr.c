// SPDX-License-Identifier: GPL-2.0-only
/*
 * The library and a processor are asked the same: what a WRMSR stores, what it refuses,
 * what RDMSR gives back. In a guest the processor is the monitor, which has its answers
 * from the same library, so what is tested there is the way to it; the rules themselves
 * are tested where the processor is somebody else's.
 *
 * Then Linux tells in /proc/mtrr what it makes of the registers, and types are worked out
 * from that text.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <mt/map.h>

#include "oracle.h"
#include "program.h"

#define MSRS	 (2 * MT_VARIABLE_RANGES + MT_FIXED_REGISTERS + 3)
#define PAGE	 4096ull
#define WRONG_MAX 5

struct line {
	uint64_t base, size;
	unsigned int type;
};

struct machine {
	int fd;
	uint32_t msr[MSRS]; /* DEF_TYPE is the last one */
	struct mt_mtrr model;
	uint64_t programs, writes, refused, reads, lines, types, wrong;
};

static void complain(struct machine *m, const char *what, uint32_t msr, uint64_t value, uint64_t other)
{
	if (m->wrong++ < WRONG_MAX)
		printf("BP {\"ev\":\"wrong\",\"what\":\"%s\",\"msr\":\"0x%x\",\"value\":\"0x%llx\",\"other\":\"0x%llx\"}\n",
		       what, msr, (unsigned long long)value, (unsigned long long)other);
}

static bool rdmsr(struct machine *m, uint32_t msr, uint64_t *value)
{
	m->reads++;
	return pread(m->fd, value, sizeof(*value), msr) == sizeof(*value);
}

static bool wrmsr(struct machine *m, uint32_t msr, uint64_t value)
{
	m->writes++;
	return pwrite(m->fd, &value, sizeof(value), msr) == sizeof(value);
}

static void list_msrs(struct machine *m)
{
	unsigned int n = 0;

	m->msr[n++] = MT_MSR_MTRRCAP;
	m->msr[n++] = MT_MSR_PAT;
	for (unsigned int i = 0; i < MT_VARIABLE_RANGES; i++) {
		m->msr[n++] = MT_MSR_PHYSBASE(i);
		m->msr[n++] = MT_MSR_PHYSMASK(i);
	}
	for (unsigned int i = 0; i < MT_FIXED_REGISTERS; i++)
		m->msr[n++] = mt_fixed_msr(i);
	m->msr[n] = MT_MSR_DEF_TYPE;
}

/* One write, and what is in the register afterwards. */
static void try_write(struct machine *m, uint32_t msr, uint64_t value)
{
	bool legal = mt_msr_known(&m->model, msr) && mt_wrmsr_fault(&m->model, msr, value) == MT_GP_NONE;
	uint64_t want, now;

	if (wrmsr(m, msr, value) != legal)
		complain(m, legal ? "refused" : "accepted", msr, value, 0);
	m->refused += !legal;
	if (legal && mt_wrmsr(&m->model, msr, value))
		complain(m, "the library refuses what it calls legal", msr, value, 0);
	if (mt_rdmsr(&m->model, msr, &want)) {
		if (rdmsr(m, msr, &now))
			complain(m, "reads, and is not there", msr, value, now);
	} else if (!rdmsr(m, msr, &now) || now != want) {
		complain(m, "reads back otherwise", msr, want, now);
	}
}

/* Near what is legal: one bit, one byte, or all of it random; now and then a register that is not there. */
static void try_strange(struct machine *m, struct rng *r)
{
	uint32_t msr = m->msr[rng_below(r, MSRS)];
	uint64_t value = 0;

	(void)mt_rdmsr(&m->model, msr, &value);
	switch (rng_below(r, 4)) {
	case 0: value ^= 1ull << rng_below(r, 64); break;
	case 1: value ^= (rng_next(r) & 0xff) << (8 * rng_below(r, 8)); break;
	case 2: value = rng_next(r); break;
	default:
		msr = MT_MSR_PHYSBASE(MT_VARIABLE_RANGES) + (uint32_t)rng_below(r, 0x40);
		break;
	}
	try_write(m, msr, value);
}

static unsigned int type_of(const char *text)
{
	return !strncmp(text, "uncachable", 10) ? MT_UC : !strncmp(text, "write-combining", 15) ? MT_WC :
	       !strncmp(text, "write-through", 13) ? MT_WT : !strncmp(text, "write-protect", 13) ? MT_WP :
	       !strncmp(text, "write-back", 10) ? MT_WB : 0xff;
}

static int read_proc(char *text, size_t size, struct line *line)
{
	FILE *f = fopen("/proc/mtrr", "re");
	char buf[256], name[32], unit;
	unsigned long long base, n;
	size_t at = 0;
	int nr = 0;

	text[0] = 0;
	if (!f)
		return -errno;
	while (fgets(buf, sizeof(buf), f) && nr < MT_VARIABLE_RANGES && at < size) {
		at += (size_t)snprintf(text + at, size - at, "%s", buf);
		if (sscanf(buf, "reg%*u: base=%llx (%*uMB), size=%llu%cB, count=%*u: %31s", &base, &n, &unit,
			   name) != 4)
			continue;
		line[nr++] = (struct line){ base, n << (unit == 'K' ? 10 : 20), type_of(name) };
	}
	fclose(f);
	return nr;
}

/* Type of a page above 1 MiB by Linux's lines; 0xff where the manuals leave it undefined. */
static unsigned int type_by_lines(const struct machine *m, const struct line *line, int nr, uint64_t at)
{
	bool found = false, uc = false, wt = false, other = false;
	unsigned int type = m->model.def_type & 0xff;

	if (!(m->model.def_type & MT_DEF_TYPE_E))
		return MT_UC;
	for (int i = 0; i < nr; i++) {
		if (at < line[i].base || at - line[i].base >= line[i].size)
			continue;
		uc = uc || line[i].type == MT_UC;
		wt = wt || line[i].type == MT_WT;
		if (found && line[i].type != type) {
			bool both = (type == MT_WT || type == MT_WB) &&
				    (line[i].type == MT_WT || line[i].type == MT_WB);

			other = other || !both;
		}
		type = line[i].type;
		found = true;
	}
	return uc ? MT_UC : other ? 0xff : wt ? MT_WT : type;
}

static void compare_proc(struct machine *m, const struct program *p, bool show)
{
	struct line line[MT_VARIABLE_RANGES];
	static struct mt_map map;
	char text[2048];
	int nr = read_proc(text, sizeof(text), line), valid = 0;

	for (unsigned int i = 0; i < MT_VARIABLE_RANGES; i++)
		valid += !!(m->model.variable[i].mask & MT_PHYSMASK_VALID);
	if (nr != valid)
		complain(m, "/proc/mtrr has another number of ranges", 0, (uint64_t)valid, (uint64_t)nr);
	m->lines += nr > 0 ? (uint64_t)nr : 0;
	mt_map_build(&map, &m->model);
	for (unsigned int i = 0; nr >= 0 && i < p->nr_edges; i++) {
		for (int d = -1; d <= 1; d++) {
			uint64_t at = p->edges[i] + (uint64_t)d * PAGE;
			struct mt_range_type ours = mt_map_type(&map, at);
			unsigned int type;

			if (at < MT_FIXED_END || at >= 1ull << m->model.maxphyaddr)
				continue;
			type = type_by_lines(m, line, nr, at);
			m->types++;
			if (ours.undefined != (type == 0xff) || (type != 0xff && ours.type != type))
				complain(m, "/proc/mtrr means another type", 0, at, type);
		}
	}
	if (!show)
		return;
	printf("BP {\"ev\":\"program\",\"msrs\":\"");
	for (unsigned int i = 1; i < MSRS; i++) {
		uint64_t value;

		if (rdmsr(m, m->msr[i], &value))
			printf("%s0x%x=0x%llx", i > 1 ? " " : "", m->msr[i], (unsigned long long)value);
	}
	printf("\",\"width\":%u,\"ranges\":[", m->model.maxphyaddr);
	for (int i = 0; i < nr; i++)
		printf("%s{\"base\":%llu,\"size\":%llu,\"type\":\"%s\"}", i ? "," : "",
		       (unsigned long long)line[i].base, (unsigned long long)line[i].size,
		       mt_type_name(line[i].type));
	printf("]}\n");
}

/* A tidy program as a whole, as firmware or Linux writes them. */
static void run_program(struct machine *m, const struct program *p)
{
	uint64_t value;

	for (unsigned int i = 0; i < MSRS; i++) {
		if (m->msr[i] == MT_MSR_MTRRCAP || mt_rdmsr(&p->m, m->msr[i], &value))
			continue;
		/* The program has the PAT of a reset. This kernel lives with its own. */
		if (m->msr[i] == MT_MSR_PAT)
			mt_rdmsr(&m->model, MT_MSR_PAT, &value);
		try_write(m, m->msr[i], value);
	}
}

int oracle_msr(uint64_t seed, uint64_t count, uint64_t show)
{
	struct machine m = { .fd = open("/dev/cpu/0/msr", O_RDWR | O_CLOEXEC) };
	struct rng r = { seed };
	struct mt_mtrr before;
	struct program p;
	cpu_set_t one;
	uint64_t value;

	CPU_ZERO(&one);
	CPU_SET(0, &one);
	if (m.fd < 0 || sched_setaffinity(0, sizeof(one), &one)) {
		perror("/dev/cpu/0/msr");
		return 1;
	}
	list_msrs(&m);
	if (mt_mtrr_init(&m.model, physical_width()))
		return 1;
	for (unsigned int i = 0; i < MSRS; i++) {
		if (!rdmsr(&m, m.msr[i], &value))
			complain(&m, "cannot be read", m.msr[i], 0, 0);
		else if (m.msr[i] == MT_MSR_MTRRCAP && value != MT_MTRRCAP_VALUE)
			complain(&m, "is not what was expected", m.msr[i], MT_MTRRCAP_VALUE, value);
		else if (m.msr[i] != MT_MSR_MTRRCAP && mt_wrmsr(&m.model, m.msr[i], value))
			complain(&m, "holds what cannot be written", m.msr[i], value, 0);
	}
	before = m.model;
	for (uint64_t i = 0; i < count && m.wrong < WRONG_MAX; i++) {
		if (program_make(&r, m.model.maxphyaddr, true, &p))
			break;
		run_program(&m, &p);
		compare_proc(&m, &p, i < show);
		for (unsigned int j = 0; j < 16; j++)
			try_strange(&m, &r);
		m.programs++;
	}
	for (unsigned int i = 1; i < MSRS; i++)
		if (!mt_rdmsr(&before, m.msr[i], &value))
			try_write(&m, m.msr[i], value);
	close(m.fd);
	printf("BP {\"ev\":\"msr\",\"programs\":%llu,\"writes\":%llu,\"refused\":%llu,\"reads\":%llu,\"lines\":%llu,"
	       "\"types\":%llu,\"wrong\":%llu}\n",
	       (unsigned long long)m.programs, (unsigned long long)m.writes, (unsigned long long)m.refused,
	       (unsigned long long)m.reads, (unsigned long long)m.lines, (unsigned long long)m.types,
	       (unsigned long long)m.wrong);
	return m.wrong || m.programs != count ? 1 : 0;
}
