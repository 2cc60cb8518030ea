// SPDX-License-Identifier: GPL-2.0-only
/*
 * A virtual machine to try kvm-memtype.ko on. Commands come on standard input, one a line,
 * and each is answered by one line, so that a script can load and unload the module
 * between them. The guest stores where it is told, and KVM's own trace says which leaf was
 * made for that.
 *
 *	slot GPA SIZE [huge]		memory at GPA, of 2 MiB pages if it can be had
 *	touch GPA			store: "leaf SPTE level L index I", or "leaf none" when
 *					none was made since the last time; KVM makes some before
 *					they are needed, and those count
 *	again GPA			store, whatever leaf there is or was: "done"
 *	cpu				one more virtual processor; `touch` and `again` use the last
 *	paging				the guest's own page tables: 4 KiB pages below 4 MiB, 4 MiB
 *					pages above
 *	set [GPA,SIZE,TYPE[,FLAGS]]...	KVM_MEMTYPE_SET_RANGES
 *	stats				KVM_MEMTYPE_GET_STATS
 *	info				KVM_MEMTYPE_GET_INFO
 *	hostile				malformed requests; "ok", or what was answered wrongly
 *	open | close			the device, which is otherwise open during a request only
 *	hammer SECONDS [loose]		store everywhere while ranges come and go: "hammer N stores";
 *					loose: the module may come and go, too
 *	churn N [loose]			N machines, one after the other, each with many ranges
 *	quit				end; so does the end of input
 *
 * Numbers are as in C. A request that fails is answered by "error NAME".
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/kvm.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "memtype/kmod/kvm_memtype.h"

#define CODE 0x1000u /* where the guest's few bytes lie */
#define TABLES 0x2000u /* its page directory, and then a page table */
#define SLOTS 16
#define TRACING "/sys/kernel/tracing/"

struct slot {
	uint64_t gpa;
	uint64_t size;
	void *memory;
};

struct vm {
	int kvm;
	int fd;
	int vcpu;
	int cpus;
	int device;
	struct kvm_run *run;
	struct slot slots[SLOTS];
	int count;
};

static void die(const char *what)
{
	fprintf(stderr, "probe: %s: %s\n", what, strerror(errno));
	exit(1);
}

static int say(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	putchar('\n');
	fflush(stdout);
	return 0;
}

static int say_error(void)
{
	return say("error %s", strerrorname_np(errno));
}

/* ---- the machine ------------------------------------------------------------------------ */

static int slot_add(struct vm *vm, uint64_t gpa, uint64_t size, bool huge)
{
	struct kvm_userspace_memory_region region = { .guest_phys_addr = gpa, .memory_size = size };
	uint64_t room = size + (2ull << 20);
	char *p;

	if (vm->count == SLOTS)
		die("too many slots");
	p = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (p == MAP_FAILED)
		die("mmap");
	/* KVM makes large leaves where both addresses agree below 2 MiB. */
	p += ((gpa - (uintptr_t)p) & ((2ull << 20) - 1));
	if (madvise(p, size, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE) && huge)
		die("transparent huge pages");
	if (huge)
		memset(p, 0, size);
	region.slot = vm->count;
	region.userspace_addr = (uintptr_t)p;
	if (ioctl(vm->fd, KVM_SET_USER_MEMORY_REGION, &region))
		return -1;
	vm->slots[vm->count++] = (struct slot){ gpa, size, p };
	return 0;
}

/* Flat 32-bit protected mode without paging: every address below 4 GiB by one store. */
static void cpu_add(struct vm *vm)
{
	struct kvm_segment flat = { .limit = 0xffffffff, .type = 3, .present = 1, .db = 1,
				    .s = 1, .g = 1 };
	struct kvm_sregs sregs;
	int size;

	vm->vcpu = ioctl(vm->fd, KVM_CREATE_VCPU, vm->cpus++);
	size = ioctl(vm->kvm, KVM_GET_VCPU_MMAP_SIZE, 0);
	if (vm->vcpu < 0 || size < 0)
		die("virtual processor");
	vm->run = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, vm->vcpu, 0);
	if (vm->run == MAP_FAILED || ioctl(vm->vcpu, KVM_GET_SREGS, &sregs))
		die("virtual processor");
	flat.selector = 0x10;
	sregs.ds = sregs.es = sregs.fs = sregs.gs = sregs.ss = flat;
	flat.selector = 8;
	flat.type = 11;
	sregs.cs = flat;
	sregs.cr0 |= 1;
	if (ioctl(vm->vcpu, KVM_SET_SREGS, &sregs))
		die("KVM_SET_SREGS");
}

static int paging(struct vm *vm)
{
	uint32_t *directory = (uint32_t *)((char *)vm->slots[0].memory + TABLES - CODE);
	uint32_t *table = directory + 1024;
	struct kvm_sregs sregs;
	uint32_t i;

	/* Present, writable, accessed, dirty; PS. */
	for (i = 0; i < 1024; i++) {
		directory[i] = i << 22 | 0xe3;
		table[i] = i << 12 | 0x63;
	}
	directory[0] = (TABLES + 0x1000) | 0x63;
	if (ioctl(vm->vcpu, KVM_GET_SREGS, &sregs))
		return -1;
	sregs.cr3 = TABLES;
	sregs.cr4 |= 1 << 4; /* PSE */
	sregs.cr0 |= 1u << 31;
	return ioctl(vm->vcpu, KVM_SET_SREGS, &sregs);
}

static void vm_create(struct vm *vm)
{
	static const uint8_t code[] = { 0x89, 0x03, 0xf4 }; /* mov %eax, (%ebx); hlt */

	memset(vm, 0, sizeof(*vm));
	vm->device = -1;
	vm->kvm = open("/dev/kvm", O_RDWR | O_CLOEXEC);
	if (vm->kvm < 0)
		die("/dev/kvm");
	vm->fd = ioctl(vm->kvm, KVM_CREATE_VM, 0);
	if (vm->fd < 0)
		die("KVM_CREATE_VM");
	/* VMX without unrestricted guests wants these. */
	ioctl(vm->fd, KVM_SET_TSS_ADDR, 0xfffbd000ul);
	if (slot_add(vm, CODE, 0x3000, false))
		die("KVM_SET_USER_MEMORY_REGION");
	memcpy(vm->slots[0].memory, code, sizeof(code));
	cpu_add(vm);
}

static int store(struct vm *vm, uint64_t gpa, uint32_t value)
{
	struct kvm_regs regs = { .rip = CODE, .rax = value, .rbx = gpa, .rflags = 2 };

	if (ioctl(vm->vcpu, KVM_SET_REGS, &regs) || ioctl(vm->vcpu, KVM_RUN, 0))
		return -1;
	if (vm->run->exit_reason != KVM_EXIT_HLT) {
		errno = EFAULT;
		return -1;
	}
	return 0;
}

static uint32_t *memory_of(struct vm *vm, uint64_t gpa)
{
	int i;

	for (i = 0; i < vm->count; i++)
		if (gpa - vm->slots[i].gpa < vm->slots[i].size)
			return (uint32_t *)((char *)vm->slots[i].memory + (gpa - vm->slots[i].gpa));
	return NULL;
}

/* A store that must arrive. */
static int checked_store(struct vm *vm, uint64_t gpa)
{
	static uint32_t value = 0x1000;
	uint32_t *memory = memory_of(vm, gpa);

	if (store(vm, gpa, ++value))
		return -1;
	if (!memory || *(volatile uint32_t *)memory != value) {
		errno = EIO;
		return -1;
	}
	return 0;
}

/* ---- KVM's trace -------------------------------------------------------------------------- */

static void trace_clear(void)
{
	int fd = open(TRACING "trace", O_WRONLY | O_TRUNC | O_CLOEXEC);

	if (fd < 0)
		die(TRACING "trace");
	close(fd);
}

static void trace_start(void)
{
	int fd = open(TRACING "events/kvmmmu/kvm_mmu_set_spte/enable", O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, "1", 1) != 1)
		die("kvmmmu:kvm_mmu_set_spte");
	close(fd);
}

/* A leaf that was made for this process, and whether it was told of. */
struct leaf {
	uint64_t gfn;
	uint64_t spte;
	int level;
	bool told;
};

static struct leaf leaves[4096];
static int leaf_count;

static void leaf_note(uint64_t gfn, uint64_t spte, int level)
{
	const uint64_t start = gfn >> (9 * (level - 1)) << (9 * (level - 1));
	struct leaf *l = leaves;

	while (l < leaves + leaf_count && (l->gfn != start || l->level != level))
		l++;
	if (l == leaves + 4096)
		die("too many leaves");
	leaf_count += l == leaves + leaf_count;
	*l = (struct leaf){ start, spte, level, false };
}

static void trace_read(void)
{
	unsigned long long gfn, spte;
	char line[512], pid[32];
	const char *p;
	FILE *f = fopen(TRACING "trace", "re");
	int level;

	if (!f)
		die(TRACING "trace");
	snprintf(pid, sizeof(pid), "-%d ", (int)getpid());
	while (fgets(line, sizeof(line), f)) {
		p = strstr(line, "gfn ");
		if (!p || !strstr(line, pid) || sscanf(p, "gfn %llx spte %llx", &gfn, &spte) != 2)
			continue;
		p = strstr(p, "level ");
		if (p && sscanf(p, "level %d", &level) == 1 && level >= 1 && level <= 3)
			leaf_note(gfn, spte, level);
	}
	fclose(f);
}

static int touch(struct vm *vm, uint64_t gpa)
{
	struct leaf *l;

	trace_clear();
	if (checked_store(vm, gpa))
		return say_error();
	trace_read();
	for (l = leaves; l < leaves + leaf_count; l++) {
		if (l->told || (gpa >> 12) - l->gfn >= 1ull << (9 * (l->level - 1)))
			continue;
		l->told = true;
		/* The index of an ordinary entry: PWT, PCD, and PAT, whose place differs. */
		return say("leaf %llx level %d index %d", (unsigned long long)l->spte, l->level,
			   (int)(l->spte >> 3 & 3) | (int)(l->spte >> (l->level == 1 ? 7 : 12) & 1) << 2);
	}
	return say("leaf none");
}

/* ---- the device ------------------------------------------------------------------------------- */

static int request(struct vm *vm, unsigned long what, void *arg)
{
	int fd = vm->device, status, error;

	if (fd < 0)
		fd = open(KVM_MEMTYPE_DEVICE, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return -1;
	status = ioctl(fd, what, arg);
	error = errno;
	if (fd != vm->device)
		close(fd);
	errno = error;
	return status;
}

static int set(struct vm *vm, struct kvm_memtype_range *ranges, uint32_t nr)
{
	struct kvm_memtype_set arg = { .vm_fd = vm->fd, .nr = nr, .ranges = (uintptr_t)ranges };

	return request(vm, KVM_MEMTYPE_SET_RANGES, &arg);
}

/* Whether that failed since the module is not loaded, or not any more. */
static bool no_device(void)
{
	return errno == ENOENT || errno == ENXIO || errno == ENODEV;
}

static int set_command(struct vm *vm, char *args)
{
	struct kvm_memtype_range ranges[64] = { 0 };
	uint32_t nr = 0;
	char *word, *end;

	while ((word = strtok_r(args, " ", &args))) {
		struct kvm_memtype_range *r = &ranges[nr++];

		if (nr > 64)
			die("too many ranges");
		r->gpa = strtoull(word, &end, 0);
		r->size = strtoull(end + 1, &end, 0);
		r->type = strtoul(end + 1, &end, 0);
		if (*end)
			r->flags = strtoul(end + 1, &end, 0);
	}
	return set(vm, ranges, nr) ? say_error() : say("done");
}

static int stats(struct vm *vm)
{
	struct kvm_memtype_stats s = { .vm_fd = vm->fd };

	if (request(vm, KVM_MEMTYPE_GET_STATS, &s))
		return say_error();
	return say("nr %u leaves %llu hits %llu straddled %llu zaps %llu missed %llu", s.nr,
		   (unsigned long long)s.leaves, (unsigned long long)s.hits,
		   (unsigned long long)s.straddled, (unsigned long long)s.zaps,
		   (unsigned long long)s.missed);
}

static int info(struct vm *vm)
{
	struct kvm_memtype_info i;

	if (request(vm, KVM_MEMTYPE_GET_INFO, &i))
		return say_error();
	return say("abi %u vendor %u flags %u types %#x pat %llx max %u reserved %u", i.abi, i.vendor,
		   i.flags, i.types, (unsigned long long)i.host_pat, i.ranges_max, i.reserved);
}

/* ---- malformed requests ----------------------------------------------------------------------- */

struct hostile {
	const char *what;
	struct kvm_memtype_range r[2];
	uint32_t nr;
	int error;
};

static const struct hostile hostile_ranges[] = {
	{ "unaligned address", { { 0x800, 0x1000, 1, 0 } }, 1, EINVAL },
	{ "unaligned size", { { 0, 0x1001, 1, 0 } }, 1, EINVAL },
	{ "size 0", { { 0, 0, 1, 0 } }, 1, EINVAL },
	{ "wrap", { { ~0xfffull, 0x2000, 1, 0 } }, 1, EINVAL },
	{ "wrap to 0", { { ~0xfffull, 0x1000, 1, 0 } }, 1, EINVAL },
	{ "whole space and wrap", { { 0x1000, ~0xfffull, 1, 0 } }, 1, EINVAL },
	{ "overlap", { { 0, 0x2000, 1, 0 }, { 0x1000, 0x1000, 1, 0 } }, 2, EINVAL },
	{ "twice", { { 0, 0x2000, 1, 0 }, { 0, 0x2000, 1, 0 } }, 2, EINVAL },
	{ "out of order", { { 0x2000, 0x1000, 1, 0 }, { 0, 0x1000, 1, 0 } }, 2, EINVAL },
	{ "reserved type 2", { { 0, 0x1000, 2, 0 } }, 1, EINVAL },
	{ "reserved type 3", { { 0, 0x1000, 3, 0 } }, 1, EINVAL },
	{ "UC-", { { 0, 0x1000, 7, 0 } }, 1, EINVAL },
	{ "huge type", { { 0, 0x1000, 33, 0 } }, 1, EINVAL },
	{ "huge type", { { 0, 0x1000, ~0u, 0 } }, 1, EINVAL },
	{ "unknown flag", { { 0, 0x1000, 1, 2 } }, 1, EINVAL },
	{ "all flags", { { 0, 0x1000, 1, ~0u } }, 1, EINVAL },
	{ "too many", { { 0, 0x1000, 1, 0 } }, 513, E2BIG },
	{ "far too many", { { 0, 0x1000, 1, 0 } }, ~0u, E2BIG },
};

static int expect(const char *what, int status, int error)
{
	if (status == -1 && errno == error)
		return 0;
	say("%s: %s, not %s", what, status ? strerrorname_np(errno) : "accepted", strerrorname_np(error));
	return -1;
}

/* Descriptors that are no machine, and addresses that are none. */
static int hostile_handles(struct vm *vm)
{
	struct kvm_memtype_range range = { 0, 0x1000, 1, 0 };
	int null = open("/dev/null", O_RDWR | O_CLOEXEC), device = open(KVM_MEMTYPE_DEVICE, O_RDWR | O_CLOEXEC);
	const int fds[] = { -1, 0x7fffffff, null, device, vm->kvm, vm->vcpu };
	struct kvm_memtype_set arg = { .nr = 1, .ranges = (uintptr_t)&range };
	struct kvm_memtype_stats s = { 0 };
	size_t i;

	for (i = 0; i < sizeof(fds) / sizeof(*fds); i++) {
		arg.vm_fd = s.vm_fd = fds[i];
		if (expect("no machine", request(vm, KVM_MEMTYPE_SET_RANGES, &arg), EBADF) ||
		    expect("no machine", request(vm, KVM_MEMTYPE_GET_STATS, &s), EBADF))
			return -1;
	}
	close(null);
	close(device);
	arg.vm_fd = vm->fd;
	arg.ranges = 8;
	if (expect("bad address", request(vm, KVM_MEMTYPE_SET_RANGES, &arg), EFAULT))
		return -1;
	arg.ranges = 1ull << 63;
	if (expect("kernel address", request(vm, KVM_MEMTYPE_SET_RANGES, &arg), EFAULT) ||
	    expect("bad argument", request(vm, KVM_MEMTYPE_SET_RANGES, (void *)8), EFAULT) ||
	    expect("bad argument", request(vm, KVM_MEMTYPE_GET_STATS, (void *)8), EFAULT) ||
	    expect("bad argument", request(vm, KVM_MEMTYPE_GET_INFO, (void *)8), EFAULT) ||
	    expect("unknown request", request(vm, _IO(0xb7, 0x7f), &arg), ENOTTY))
		return -1;
	return 0;
}

static int hostile(struct vm *vm)
{
	const size_t n = sizeof(hostile_ranges) / sizeof(*hostile_ranges);
	struct kvm_memtype_range ranges[2];
	size_t i;

	for (i = 0; i < n; i++) {
		const struct hostile *h = &hostile_ranges[i];

		memcpy(ranges, h->r, sizeof(ranges));
		if (expect(h->what, set(vm, ranges, h->nr), h->error))
			return 0;
	}
	return hostile_handles(vm) ? 0 : say("ok");
}

/* ---- at the same time ----------------------------------------------------------------------------- */

struct hammer {
	struct vm *vm;
	atomic_bool stop;
	bool loose;
	int error;
};

/* Ranges over all of the last slot, then half of it, then none. */
static void *hammer_ranges(void *arg)
{
	struct hammer *h = arg;
	const struct slot *slot = &h->vm->slots[h->vm->count - 1];
	struct kvm_memtype_range all = { slot->gpa, slot->size, 1, 0 };
	struct kvm_memtype_range half = { slot->gpa, slot->size / 2, 0, 0 };

	while (!h->stop) {
		/* Leave the one who unloads the module a chance to find the device closed. */
		if (h->loose)
			usleep(5000);
		if (set(h->vm, &all, 1) || set(h->vm, &half, 1) || set(h->vm, NULL, 0)) {
			if (h->loose && no_device())
				continue;
			h->error = errno;
			break;
		}
	}
	return NULL;
}

static int hammer(struct vm *vm, int seconds, bool loose)
{
	const struct slot *slot = &vm->slots[vm->count - 1];
	struct hammer h = { .vm = vm, .loose = loose };
	unsigned long stores = 0;
	pthread_t thread;
	struct timespec now;
	time_t end;
	uint64_t at;

	if (pthread_create(&thread, NULL, hammer_ranges, &h))
		die("thread");
	clock_gettime(CLOCK_MONOTONIC, &now);
	for (end = now.tv_sec + seconds; now.tv_sec < end && !h.error; clock_gettime(CLOCK_MONOTONIC, &now)) {
		for (at = 0; at < slot->size && !h.error; at += 0x1000, stores++)
			if (checked_store(vm, slot->gpa + at))
				h.error = errno;
	}
	h.stop = true;
	pthread_join(thread, NULL);
	if (h.error) {
		errno = h.error;
		return say_error();
	}
	return say("hammer %lu stores", stores);
}

/* ---- commands --------------------------------------------------------------------------------------- */

/* Machines that end with their ranges set. */
static int churn(struct vm *vm, unsigned long n, bool loose)
{
	static struct kvm_memtype_range ranges[512];
	uint64_t i;

	for (i = 0; i < 512; i++)
		ranges[i] = (struct kvm_memtype_range){ i << 13, 0x1000, 1, 0 };
	for (i = 0; i < n; i++) {
		struct vm other = { .device = vm->device, .kvm = vm->kvm };

		other.fd = ioctl(vm->kvm, KVM_CREATE_VM, 0);
		if (other.fd < 0)
			return say_error();
		if (set(&other, ranges, 512) && !(loose && no_device()))
			return say_error();
		close(other.fd);
		if (loose)
			usleep(5000);
	}
	return say("done");
}

static int command(struct vm *vm, char *line)
{
	char *args = strchr(line, ' ');
	char *end = NULL;
	uint64_t n;

	if (args)
		*args++ = '\0';
	else
		args = line + strlen(line);
	n = strtoull(args, &end, 0);
	if (!strcmp(line, "slot"))
		return slot_add(vm, n, strtoull(end, &end, 0), strstr(end, "huge")) ? say_error() : say("done");
	if (!strcmp(line, "touch"))
		return touch(vm, n);
	if (!strcmp(line, "again"))
		return checked_store(vm, n) ? say_error() : say("done");
	if (!strcmp(line, "cpu"))
		return cpu_add(vm), say("done");
	if (!strcmp(line, "paging"))
		return paging(vm) ? say_error() : say("done");
	if (!strcmp(line, "churn"))
		return churn(vm, n, strstr(end, "loose"));
	if (!strcmp(line, "set"))
		return set_command(vm, args);
	if (!strcmp(line, "stats"))
		return stats(vm);
	if (!strcmp(line, "info"))
		return info(vm);
	if (!strcmp(line, "hostile"))
		return hostile(vm);
	if (!strcmp(line, "hammer"))
		return hammer(vm, (int)n, strstr(end, "loose"));
	if (!strcmp(line, "open")) {
		vm->device = open(KVM_MEMTYPE_DEVICE, O_RDWR | O_CLOEXEC);
		return vm->device < 0 ? say_error() : say("done");
	}
	if (!strcmp(line, "close")) {
		close(vm->device);
		vm->device = -1;
		return say("done");
	}
	return say("error unknown command %s", line);
}

int main(void)
{
	char line[4096];
	struct vm vm;

	vm_create(&vm);
	trace_start();
	say("ready");
	while (fgets(line, sizeof(line), stdin)) {
		line[strcspn(line, "\n")] = '\0';
		if (!strcmp(line, "quit"))
			break;
		command(&vm, line);
	}
	return 0;
}
