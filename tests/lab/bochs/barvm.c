// SPDX-License-Identifier: GPL-2.0-only
/*
 * A virtual machine with a BAR, for an emulated host whose processor is watched: bar.h says
 * what its guest stores. The BAR is a stretch of the host's physical addresses that is no
 * RAM, mapped through /dev/mem, which KVM treats as it does a device's.
 *
 * Usage: barvm [--no-ranges]	(leaves as KVM alone makes them)
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/kvm.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../../../memtype/kmod/kvm_memtype.h"
#include "bar.h"

#define RAM_SIZE (8ull << 20)
#define CODE	 0x1000u
#define PML4	 0x10000u
#define PDPT	 0x11000u
#define LOW	 0x12000u /* page directory of the first GiB */
#define WINDOW	 0x13000u /* page directory at BAR_GVA */
#define TABLE	 0x14000u

struct vm {
	int kvm, fd, vcpu, device;
	struct kvm_run *run;
	uint8_t *ram;
};

/*
 * R8: the first value. Each page is touched first, so that no leaf is missing while the
 * processor is watched; then the TLB is flushed, so that each store walks.
 */
extern const char guest_code[], guest_end[];
__asm__(".pushsection .rodata\n"
	"guest_code:\n"
	"	movl $0x40000000, %edi\n"
	"	movl $144, %ecx\n"
	"1:	movq $0, (%rdi)\n"
	"	addq $0x1000, %rdi\n"
	"	decl %ecx\n"
	"	jnz 1b\n"
	"	movl $0x40000000, %edi\n"
	"	movl $144, %ecx\n"
	"	movq %cr3, %rax\n"
	"	movq %rax, %cr3\n"
	"	movq %r8, %rax\n"
	"	xchgw %bx, %bx\n"
	"2:	movq %rax, (%rdi)\n"
	"	addq $0x1000, %rdi\n"
	"	incq %rax\n"
	"	decl %ecx\n"
	"	jnz 2b\n"
	"	xchgw %bx, %bx\n"
	"	hlt\n"
	"guest_end:\n"
	"	.popsection\n");
_Static_assert(BAR_STORES == 144 && BAR_GVA == 0x40000000, "the guest's code has them as numbers");

static void die(const char *what)
{
	fprintf(stderr, "barvm: %s: %s\n", what, strerror(errno));
	exit(1);
}

static int must(int ret, const char *what)
{
	if (ret < 0)
		die(what);
	return ret;
}

static void *map(int fd, size_t size, off_t at, const char *what)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE,
		       fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED, fd, at);

	if (p == MAP_FAILED)
		die(what);
	return p;
}

static void add_slot(struct vm *vm, unsigned int slot, uint64_t gpa, uint64_t size, void *at)
{
	struct kvm_userspace_memory_region r = {
		.slot = slot,
		.guest_phys_addr = gpa,
		.memory_size = size,
		.userspace_addr = (uintptr_t)at,
	};

	must(ioctl(vm->fd, KVM_SET_USER_MEMORY_REGION, &r), "memory slot");
}

static void set_msr(struct vm *vm, uint32_t index, uint64_t value)
{
	struct {
		struct kvm_msrs head;
		struct kvm_msr_entry entry;
	} msrs = { .head.nmsrs = 1, .entry = { .index = index, .data = value } };

	if (ioctl(vm->vcpu, KVM_SET_MSRS, &msrs) != 1)
		die("KVM_SET_MSRS");
}

static void make_tables(struct vm *vm)
{
	uint64_t *pml4 = (void *)(vm->ram + PML4), *pdpt = (void *)(vm->ram + PDPT);
	uint64_t *low = (void *)(vm->ram + LOW), *window = (void *)(vm->ram + WINDOW);
	uint64_t *table = (void *)(vm->ram + TABLE);

	pml4[0] = PDPT | 3;
	pdpt[0] = LOW | 3;
	pdpt[1] = WINDOW | 3;
	window[0] = TABLE | 3;
	for (uint64_t i = 0; i < RAM_SIZE >> 21; i++)
		low[i] = i << 21 | 0x83; /* large, index 0 */
	for (unsigned int i = 0; i < BAR_STORES; i++) {
		unsigned int index = bar_index(i);

		table[i] = bar_gpa(i) | 3 | (index & 3) << 3 | (uint64_t)(index >> 2) << 7;
	}
}

static void make_cpu(struct vm *vm)
{
	struct kvm_segment code = {
		.limit = ~0u, .selector = 8, .type = 11, .present = 1, .s = 1, .l = 1, .g = 1
	};
	struct kvm_segment data = {
		.limit = ~0u, .selector = 16, .type = 3, .present = 1, .s = 1, .db = 1, .g = 1
	};
	struct kvm_cpuid2 *cpuid = calloc(1, sizeof(*cpuid) + 256 * sizeof(cpuid->entries[0]));
	struct kvm_sregs sregs;

	if (!cpuid)
		die("memory");
	cpuid->nent = 256;
	must(ioctl(vm->kvm, KVM_GET_SUPPORTED_CPUID, cpuid), "KVM_GET_SUPPORTED_CPUID");
	must(ioctl(vm->vcpu, KVM_SET_CPUID2, cpuid), "KVM_SET_CPUID2");
	free(cpuid);
	must(ioctl(vm->vcpu, KVM_GET_SREGS, &sregs), "KVM_GET_SREGS");
	sregs.cr0 = 0x80010033; /* PG WP NE ET MP PE */
	sregs.cr3 = PML4;
	sregs.cr4 = 0x20; /* PAE */
	sregs.efer = 0x500; /* LMA LME */
	sregs.cs = code;
	sregs.ds = sregs.es = sregs.fs = sregs.gs = sregs.ss = data;
	must(ioctl(vm->vcpu, KVM_SET_SREGS, &sregs), "KVM_SET_SREGS");
	set_msr(vm, 0x277, BAR_GUEST_PAT);
}

static void make_vm(struct vm *vm)
{
	int mem = must(open("/dev/mem", O_RDWR | O_SYNC | O_CLOEXEC), "/dev/mem");
	uint64_t identity = 0xfffbc000;

	vm->kvm = must(open("/dev/kvm", O_RDWR | O_CLOEXEC), "/dev/kvm");
	vm->fd = must(ioctl(vm->kvm, KVM_CREATE_VM, 0), "KVM_CREATE_VM");
	ioctl(vm->fd, KVM_SET_TSS_ADDR, 0xfffbd000ul);
	ioctl(vm->fd, KVM_SET_IDENTITY_MAP_ADDR, &identity);
	vm->ram = map(-1, RAM_SIZE, 0, "RAM");
	add_slot(vm, 0, 0, RAM_SIZE, vm->ram);
	add_slot(vm, 1, BAR_GPA, BAR_PAGES * 4096, map(mem, BAR_PAGES * 4096, BAR_HPA, "the BAR"));
	vm->vcpu = must(ioctl(vm->fd, KVM_CREATE_VCPU, 0), "KVM_CREATE_VCPU");
	vm->run = map(
		vm->vcpu,
		(size_t)must(ioctl(vm->kvm, KVM_GET_VCPU_MMAP_SIZE, 0), "KVM_GET_VCPU_MMAP_SIZE"),
		0, "KVM_RUN's page");
	memcpy(vm->ram + CODE, guest_code, (size_t)(guest_end - guest_code));
	make_tables(vm);
	make_cpu(vm);
}

static void set_ranges(struct vm *vm, const struct bar_phase *phase)
{
	struct kvm_memtype_range range = {
		.gpa = BAR_GPA + 4096ull * (unsigned int)phase->first,
		.size = 4096ull * (unsigned int)(phase->last - phase->first + 1),
		.type = 1, /* WC */
	};
	struct kvm_memtype_set set = {
		.vm_fd = vm->fd,
		.nr = phase->last >= phase->first,
		.ranges = (uintptr_t)&range,
	};

	must(ioctl(vm->device, KVM_MEMTYPE_SET_RANGES, &set), "KVM_MEMTYPE_SET_RANGES");
}

static void run_guest(struct vm *vm, unsigned int phase)
{
	struct kvm_regs regs = { .rip = CODE, .rflags = 2, .r8 = BAR_TAG(phase, 0) };

	must(ioctl(vm->vcpu, KVM_SET_REGS, &regs), "KVM_SET_REGS");
	must(ioctl(vm->vcpu, KVM_RUN, 0), "KVM_RUN");
	if (vm->run->exit_reason != KVM_EXIT_HLT) {
		fprintf(stderr, "barvm: the guest ended with exit reason %u\n",
			vm->run->exit_reason);
		exit(1);
	}
}

static void say_stats(struct vm *vm)
{
	struct kvm_memtype_stats stats = { .vm_fd = vm->fd };
	struct kvm_memtype_info info = { 0 };

	must(ioctl(vm->device, KVM_MEMTYPE_GET_INFO, &info), "KVM_MEMTYPE_GET_INFO");
	printf("host PAT %016llx\n", info.host_pat);
	must(ioctl(vm->device, KVM_MEMTYPE_GET_STATS, &stats), "KVM_MEMTYPE_GET_STATS");
	printf("leaves %llu hits %llu straddled %llu zaps %llu missed %llu\n", stats.leaves,
	       stats.hits, stats.straddled, stats.zaps, stats.missed);
}

int main(int argc, char **argv)
{
	bool ranges = argc < 2 || strcmp(argv[1], "--no-ranges");
	struct vm vm = { 0 };

	make_vm(&vm);
	if (ranges)
		vm.device = must(open(KVM_MEMTYPE_DEVICE, O_RDWR | O_CLOEXEC), KVM_MEMTYPE_DEVICE);
	for (unsigned int phase = 0; phase < BAR_PHASES; phase++) {
		if (ranges && phase)
			set_ranges(&vm, &bar_phases[phase]);
		run_guest(&vm, phase);
	}
	if (ranges)
		say_stats(&vm);
	return 0;
}
