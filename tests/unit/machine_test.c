// SPDX-License-Identifier: GPL-2.0-only
/*
 * Whole machines with guests of a few instructions, where /dev/kvm can run those: the
 * power goes off, a reset starts anew, a second CPU comes up, a crash is told.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/kvm.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <mt/types.h>
#include "suite.h"
#include "vmm/core.h"
#include "vmm/life.h"

/* Machine code; 32-bit unless said otherwise. PM1_CNT is at 0x604, SLP_TYP 5 with SLP_EN is 0x3400. */
#define POWER_OFF      "\x66\xba\x04\x06\x66\xb8\x00\x34\x66\xef\xf4\xeb\xfd"
#define TRIPLE_FAULT   "\x0f\x0b" /* ud2, without an IDT */
#define FAULT_UNLESS_Z "\x74\x02\x0f\x0b"
#define EAX_IS_ONES    "\x83\xf8\xff" FAULT_UNLESS_Z
#define SLEEP	       "\xf4\xeb\xfd"

static char kernel[64], sock[80];
static struct vmm_config config;
static struct vmm_core *core;
static struct bp_error err;

/* A bzImage of protocol @version with @code at @entry. */
static void write_kernel(unsigned int version, unsigned int entry, const char *code, size_t len)
{
	uint8_t file[1024 + 4096] = { 0 };
	int fd = open(kernel, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	file[0x1f1] = 1;
	memcpy(file + 0x1f4, "\x00\x01\x00\x00", 4);
	memcpy(file + 0x1fe, "\x55\xaa\xeb\x6aHdrS", 8);
	file[0x206] = (uint8_t)version;
	file[0x207] = (uint8_t)(version >> 8);
	file[0x211] = 1;
	memcpy(file + 0x22c, "\xff\xff\xff\x37", 4);
	memcpy(file + 0x238, "\xff\x07\x00\x00", 4);
	if (version >= 0x20c) {
		memcpy(file + 0x230, "\x00\x00\x20\x00", 4);
		file[0x234] = 1;
		file[0x236] = 1;
		memcpy(file + 0x25a, "\x80", 1); /* prefers 8 MiB */
		memcpy(file + 0x400, TRIPLE_FAULT, 2);
	}
	memcpy(file + 0x400 + entry, code, len);
	/* Also used outside of a test, where ck_assert() cannot be. */
	if (write(fd, file, sizeof(file)) != sizeof(file))
		abort();
	close(fd);
}

static void configure(const char *code, size_t len)
{
	snprintf(kernel, sizeof(kernel), "/tmp/bp-machine-test.%d", getpid());
	snprintf(sock, sizeof(sock), "%s.sock", kernel);
	config = (struct vmm_config){
		.kernel = kernel,
		.append = "",
		.cpus = 1,
		.mem = 32 << 20,
		.console = VMM_CONSOLE_NONE,
	};
	write_kernel(0x206, 0, code, len);
	bp_error_clear(&err);
}

#define CONFIGURE(code) configure(code, sizeof(code) - 1)

static int build_and_run(void)
{
	int ret = vmm_life_build(&config, &core, &err);

	ck_assert_msg(!ret, "%s", err.what);
	ret = vmm_life_run(core, &err);
	unlink(kernel);
	return ret;
}

static void powers_off(void)
{
	int ret = build_and_run();

	ck_assert_msg(!ret, "%s", err.what);
	ck_assert_int_eq(core->end, VMM_END_POWEROFF);
}

static uint64_t exits(unsigned int cpu, unsigned int reason)
{
	struct vmm_exit_counts c;

	vmm_vcpu_counts(core->vmm.vcpu[cpu], &c);
	return c.by_reason[reason];
}

static uint64_t accesses(const char *name, bool mmio)
{
	for (unsigned int i = 0; i < core->tally.nr; i++)
		if (core->tally.line[i].mmio == mmio && !strcmp(core->tally.line[i].name, name))
			return core->tally.line[i].count;
	return 0;
}

START_TEST(power_off)
{
	CONFIGURE(POWER_OFF);
	powers_off();
	ck_assert_uint_eq(exits(0, KVM_EXIT_IO), 1);
	ck_assert_uint_eq(exits(0, KVM_EXIT_MMIO), 0);
	ck_assert_uint_eq(core->tally.nr, 1);
	ck_assert_uint_eq(core->tally.line[0].count, 1);
	vmm_life_free(core);
}
END_TEST

START_TEST(nobody_answers_with_ones)
{
	/* Port 0x5000, the 32-bit PCI window, and VGA memory. */
	CONFIGURE("\x66\xba\x00\x50\xed" EAX_IS_ONES "\xa1\x00\x00\x00\xd0" EAX_IS_ONES
		  "\xa1\x00\x80\x0b\x00" EAX_IS_ONES POWER_OFF);
	powers_off();
	ck_assert_uint_eq(accesses("unclaimed", false), 1);
	ck_assert_uint_eq(accesses("unclaimed", true), 2);
	ck_assert_uint_eq(exits(0, KVM_EXIT_MMIO), 2);
	vmm_life_free(core);
}
END_TEST

START_TEST(triple_fault_is_told)
{
	CONFIGURE(TRIPLE_FAULT);
	ck_assert_int_eq(build_and_run(), -EIO);
	ck_assert_int_eq(core->end, VMM_END_CRASHED);
	ck_assert_ptr_nonnull(strstr(err.what, "triple fault"));
	ck_assert_uint_eq(exits(0, KVM_EXIT_SHUTDOWN), 1);
	vmm_life_free(core);
}
END_TEST

START_TEST(entry_32_bit)
{
	/* ESI has the zero page, EBX, EBP and EDI are 0, the code segment is 0x10. */
	CONFIGURE("\x81\xbe\x02\x02\x00\x00HdrS" FAULT_UNLESS_Z "\x09\xdb" FAULT_UNLESS_Z
		  "\x09\xed" FAULT_UNLESS_Z "\x09\xff" FAULT_UNLESS_Z
		  "\x8c\xc8\x66\x83\xf8\x10" FAULT_UNLESS_Z POWER_OFF);
	powers_off();
	ck_assert(!core->entry.long_mode);
	vmm_life_free(core);
}
END_TEST

START_TEST(entry_64_bit)
{
	/* rax = ~0; its upper half is ones only in 64-bit mode. RSI has the zero page. */
	static const char code[] = "\x48\x31\xc0\x48\xff\xc8\x48\xc1\xe8\x20"
				   "\x3d\xff\xff\xff\xff" FAULT_UNLESS_Z
				   "\x81\xbe\x02\x02\x00\x00HdrS" FAULT_UNLESS_Z
				   /* The RSDP's address, and "RSD " there. */
				   "\x48\x8b\x46\x70\x81\x38RSD " FAULT_UNLESS_Z POWER_OFF;

	CONFIGURE("");
	write_kernel(0x20f, 0x200, code, sizeof(code) - 1);
	powers_off();
	ck_assert(core->entry.long_mode);
	ck_assert_uint_eq(core->entry.rip, 0x800200);
	vmm_life_free(core);
}
END_TEST

START_TEST(reset_starts_anew)
{
	/*
	 * The first time: change the PAT, the MTRRs' default and the local APIC's LINT0,
	 * leave a mark in memory, reset by port 0xcf9; nothing may run after that. The
	 * second time, which the mark tells: everything is as at power-on.
	 */
	CONFIGURE("\xa1\x00\x50\x00\x00\x3d\x34\x12\x00\x00\x74\x33"
		  "\xb9\x77\x02\x00\x00\x31\xc0\x31\xd2\x0f\x30"
		  "\xb9\xff\x02\x00\x00\x0f\x30"
		  "\xc7\x05\x50\x03\xe0\xfe\x00\x00\x01\x00"
		  "\xc7\x05\x00\x50\x00\x00\x34\x12\x00\x00"
		  "\x66\xba\xf9\x0c\xb0\x06\xee" TRIPLE_FAULT TRIPLE_FAULT TRIPLE_FAULT
		  "\xb9\x77\x02\x00\x00\x0f\x32\x3d\x06\x04\x07\x00" FAULT_UNLESS_Z
		  "\xb9\xff\x02\x00\x00\x0f\x32\x3d\x06\x0c\x00\x00" FAULT_UNLESS_Z
		  "\xa1\x50\x03\xe0\xfe\x3d\x00\x07\x00\x00" FAULT_UNLESS_Z POWER_OFF);
	config.cpus = 2;
	powers_off();
	ck_assert_uint_eq(core->resets, 1);
	vmm_life_free(core);
}
END_TEST

START_TEST(second_cpu_starts)
{
	/*
	 * Real-mode code at 0x8000 that powers off, then INIT and SIPI to the CPU with
	 * local APIC ID 2; a machine of three has it.
	 */
	CONFIGURE("\xc7\x05\x00\x80\x00\x00\xba\x04\x06\xb8"
		  "\xc7\x05\x04\x80\x00\x00\x00\x34\xef\xf4"
		  "\xc7\x05\x10\x03\xe0\xfe\x00\x00\x00\x02"
		  "\xc7\x05\x00\x03\xe0\xfe\x00\x45\x00\x00"
		  "\xc7\x05\x00\x03\xe0\xfe\x08\x46\x00\x00" SLEEP);
	config.cpus = 3;
	powers_off();
	ck_assert_uint_eq(exits(0, KVM_EXIT_IO), 0);
	ck_assert_uint_eq(exits(2, KVM_EXIT_IO), 1);
	vmm_life_free(core);
}
END_TEST

static uint64_t msr(unsigned int cpu, uint32_t index)
{
	struct {
		struct kvm_msrs head;
		struct kvm_msr_entry entry[1];
	} m = { .head.nmsrs = 1, .entry[0].index = index };

	ck_assert_int_eq(ioctl(vmm_vcpu_fd(core->vmm.vcpu[cpu]), KVM_GET_MSRS, &m), 1);
	return m.entry[0].data;
}

START_TEST(memory_types_on_every_cpu)
{
	CONFIGURE(POWER_OFF);
	config.cpus = 2;
	ck_assert_int_eq(vmm_life_build(&config, &core, &err), 0);
	for (unsigned int cpu = 0; cpu < 2; cpu++) {
		ck_assert_uint_eq(msr(cpu, MT_MSR_DEF_TYPE), 0xc06);
		ck_assert_uint_eq(msr(cpu, MT_MSR_PAT), MT_PAT_RESET);
		ck_assert_uint_eq(msr(cpu, MT_MSR_PHYSBASE(0)), 0xc0000000);
		ck_assert_uint_eq(msr(cpu, MT_MSR_PHYSMASK(0)),
				  ((1ull << core->vmm.maxphyaddr) - 0x40000000) | 0x800);
		ck_assert_uint_eq(msr(cpu, MT_MSR_FIX16K_A0000), 0);
	}
	vmm_life_free(core);
	unlink(kernel);
}
END_TEST

/* rdmsr and wrmsr of MSR @n, and edx:eax; one byte each of a 32-bit little-endian number. */
#define ECX(b0, b1)   "\xb9" b0 b1 "\x00\x00"
#define RDMSR	      "\x0f\x32"
#define WRMSR	      "\x0f\x30"
#define EAX_IS(bytes) "\x3d" bytes FAULT_UNLESS_Z
#define EAX(bytes)    "\xb8" bytes
#define EDX(bytes)    "\xba" bytes

START_TEST(mtrrs_are_answered)
{
	/* MTRRCAP, DEF_TYPE; PHYSBASE7 keeps what it is given. */
	CONFIGURE(ECX("\xfe", "\x00") RDMSR EAX_IS("\x08\x05\x00\x00") ECX("\xff", "\x02")
			  RDMSR EAX_IS("\x06\x0c\x00\x00") ECX("\x0e", "\x02")
				  EAX("\x01\x00\x00\x10") EDX("\x01\x00\x00\x00")
					  WRMSR EAX("\x00\x00\x00\x00")
						  RDMSR EAX_IS("\x01\x00\x00\x10") POWER_OFF);
	powers_off();
	ck_assert_uint_eq(exits(0, KVM_EXIT_X86_RDMSR), 3);
	ck_assert_uint_eq(exits(0, KVM_EXIT_X86_WRMSR), 1);
	ck_assert_uint_eq(msr(0, MT_MSR_PHYSBASE(7)), 0x110000001);
	vmm_life_free(core);
}
END_TEST

/* Without an IDT, #GP ends in a triple fault. */
START_TEST(a_reserved_mtrr_type_is_gp)
{
	CONFIGURE(ECX("\x0e", "\x02") EAX("\x02\x00\x00\x10") EDX("\x00\x00\x00\x00")
			  WRMSR POWER_OFF);
	ck_assert_int_eq(build_and_run(), -EIO);
	ck_assert_ptr_nonnull(strstr(err.what, "triple fault"));
	ck_assert_uint_eq(exits(0, KVM_EXIT_X86_WRMSR), 1);
	ck_assert_uint_eq(msr(0, MT_MSR_PHYSBASE(7)), 0);
	vmm_life_free(core);
}
END_TEST

#define AREA 0xd0000000ull

/*
 * WC by MTRR over pages that are mapped straight: when the WRMSR that makes it so has
 * returned, the shadow PAT is loaded, and the pages are there.
 */
START_TEST(new_types_before_the_next_instruction)
{
	static const struct vmm_mt_place place = { "pages", 0, 0 };
	void *pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	ck_assert_ptr_ne(pages, MAP_FAILED);
	/*
	 * Default WC, the range over the hole off; a store to the second page, and a look at
	 * the PAT, which is the guest's own; then the power goes off.
	 */
	CONFIGURE(ECX("\x01", "\x02") EAX("\x00\x00\x00\x00") EDX("\x00\x00\x00\x00")
			  WRMSR ECX("\xff", "\x02") EAX("\x01\x0c\x00\x00") WRMSR
		  "\xc7\x05\x00\x10\x00\xd0\x78\x56\x34\x12" ECX("\x77", "\x02")
			  RDMSR EAX_IS("\x06\x04\x07\x00") POWER_OFF);
	config.memtype = VMM_MT_PAT_FORCE;
	config.cpus = 3;
	ck_assert_msg(!vmm_life_build(&config, &core, &err), "%s", err.what);
	ck_assert_int_ge(vmm_mt_area_add(core->vmm.mt, &place, AREA, 8192, pages), 0);
	ck_assert_int_eq(vmm_life_run(core, &err), 0);
	unlink(kernel);
	ck_assert_int_eq(core->end, VMM_END_POWEROFF);
	ck_assert_uint_eq(((uint32_t *)pages)[1024], 0x12345678);
	ck_assert_uint_eq(exits(0, KVM_EXIT_MMIO), 0);
	/* On all CPUs, those that wait for their SIPI, too. */
	for (unsigned int cpu = 0; cpu < 3; cpu++)
		ck_assert_uint_eq(msr(cpu, MT_MSR_PAT), 0x0001040600010406);
	vmm_mt_area_remove(core->vmm.mt, 0);
	vmm_life_free(core);
	munmap(pages, 8192);
}
END_TEST

/* A client of the control socket, in a process of its own. */
static pid_t client(const char *const *requests)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	for (; *requests; requests++) {
		struct sockaddr_un addr = { .sun_family = AF_UNIX };
		char answer[65536];
		size_t len = 0;
		int fd = socket(AF_UNIX, SOCK_STREAM, 0);

		strcpy(addr.sun_path, sock);
		for (int i = 0; connect(fd, (struct sockaddr *)&addr, sizeof(addr)); i++) {
			if (i == 1000)
				_exit(99);
			usleep(10000);
		}
		dprintf(fd, "%s\n", requests[0]);
		do {
			ssize_t n = read(fd, answer + len, sizeof(answer) - 1 - len);

			if (n <= 0)
				_exit(98);
			len += (size_t)n;
		} while (answer[len - 1] != '\n');
		answer[len] = '\0';
		requests++;
		if (!strstr(answer, *requests)) {
			fprintf(stderr, "wanted %s, got %s", *requests, answer);
			_exit(1);
		}
		close(fd);
	}
	_exit(0);
}

static void served(const char *const *requests)
{
	pid_t pid = client(requests);
	int status;

	ck_assert_int_eq(vmm_life_build(&config, &core, &err), 0);
	ck_assert_int_eq(vmm_life_run(core, &err), 0);
	vmm_life_free(core);
	unlink(kernel);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	ck_assert_int_ne(access(sock, F_OK), 0);
}

START_TEST(control_socket)
{
	static const char *const talk[] = {
		"{\"command\":\"status\"}",
		"\"state\":\"running\"",
		"{\"command\":\"status\",\"format\":\"text\"}",
		"state: running\\n",
		"{\"command\":\"pause\"}",
		"\"state\":\"paused\"",
		"{\"command\":\"status\"}",
		"\"state\":\"paused\"",
		"{\"command\":\"resume\"}",
		"\"state\":\"running\"",
		"{\"command\":\"stats\"}",
		"\"vmm_extra_kib\":",
		"{\"command\":\"memtype\"}",
		"\"mode\":\"off\"",
		"{\"command\":\"dance\"}",
		"\"ok\":false",
		"rubbish",
		"not JSON",
		"{\"command\":\"stop\",\"force\":true}",
		"\"ended\":\"stopped\"",
		NULL,
	};

	CONFIGURE(SLEEP);
	config.cpus = 2;
	config.api = sock;
	config.memtype = VMM_MT_OFF;
	served(talk);
}
END_TEST

START_TEST(power_button)
{
	/* Polls PM1_STS for PWRBTN_STS. */
	static const char *const talk[] = {
		"{\"command\":\"pause\"}",  "paused", "{\"command\":\"stop\",\"format\":\"text\"}",
		"\"text\":\"poweroff\\n\"", NULL,
	};

	CONFIGURE("\x66\xba\x00\x06\x66\xed\xf6\xc4\x01\x74\xf5" POWER_OFF);
	config.api = sock;
	served(talk);
}
END_TEST

START_TEST(nothing_remains_after_a_failure)
{
	int before, after;

	CONFIGURE(POWER_OFF);
	config.api = "/no/such/folder/sock";
	before = dup(0);
	ck_assert_int_eq(vmm_life_build(&config, &core, &err), -ENOENT);
	ck_assert_ptr_nonnull(strstr(err.what, "/no/such/folder/sock"));
	after = dup(0);
	/* The next free descriptor is the next one. */
	ck_assert_int_eq(after, before + 1);
	unlink(kernel);
}
END_TEST

/* Whether KVM here runs a guest of four instructions within a few seconds. */
static bool kvm_works(void)
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		alarm(10);
		CONFIGURE(POWER_OFF);
		if (vmm_life_build(&config, &core, &err) || vmm_life_run(core, &err))
			_exit(1);
		unlink(kernel);
		_exit(0);
	}
	return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0;
}

int main(void)
{
	const TTest *tests[] = {
		power_off,
		nobody_answers_with_ones,
		triple_fault_is_told,
		entry_32_bit,
		entry_64_bit,
		reset_starts_anew,
		second_cpu_starts,
		memory_types_on_every_cpu,
		mtrrs_are_answered,
		a_reserved_mtrr_type_is_gp,
		new_types_before_the_next_instruction,
		control_socket,
		power_button,
		nothing_remains_after_a_failure,
	};

	if (!kvm_works()) {
		puts("machine: /dev/kvm does not run a guest here");
		return 77;
	}
	return suite_run("machine", tests, sizeof(tests) / sizeof(tests[0]));
}
