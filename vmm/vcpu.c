// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <inttypes.h>
#include <linux/kvm.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <bp/log.h>
#include "vmm/core.h"
#include "vmm/cpuid.h"
#include "vmm/kvmstats.h"
#include "vmm/vcpu_state.h"

struct vmm_vcpu {
	struct vmm_core *core;
	unsigned int id;
	int fd;
	struct kvm_run *run;
	size_t run_size;
	int stats_fd;
	struct vmm_vcpu_state *initial;
	struct vmm_exit_counts counts;
	bool has_thread;
	bool quit;
	pthread_t thread;
};

int vmm_vcpu_new(struct vmm *vmm, unsigned int id, struct vmm_vcpu **out, struct bp_error *err)
{
	struct vmm_core *core = vmm_core(vmm);
	struct vmm_vcpu *v = calloc(1, sizeof(*v));
	bool deadline = ioctl(vmm->kvm_fd, KVM_CHECK_EXTENSION, KVM_CAP_TSC_DEADLINE_TIMER) > 0;
	struct kvm_cpuid2 *cpuid = NULL;
	int size, ret;

	if (!v)
		return -ENOMEM;
	v->core = core;
	v->id = id;
	v->run = MAP_FAILED;
	v->stats_fd = -1;
	v->fd = ioctl(vmm->vm_fd, KVM_CREATE_VCPU, (unsigned long)id);
	if (v->fd < 0) {
		ret = bp_error_set(err, -errno, NULL, "KVM cannot create CPU %u: %s", id,
				   strerror(errno));
		goto fail;
	}
	v->stats_fd = vmm_kvmstats_open(v->fd);
	size = ioctl(vmm->kvm_fd, KVM_GET_VCPU_MMAP_SIZE, 0);
	if (size < (int)sizeof(*v->run)) {
		ret = -EPROTO;
		goto fail;
	}
	v->run_size = (size_t)size;
	v->run = mmap(NULL, v->run_size, PROT_READ | PROT_WRITE, MAP_SHARED, v->fd, 0);
	if (v->run == MAP_FAILED) {
		ret = -errno;
		goto fail;
	}
	ret = vmm_cpuid_build(core->cpuid, id, vmm->config->cpus, deadline, &cpuid);
	if (ret)
		goto fail;
	ret = vmm_vcpu_setup(v->fd, cpuid, err);
	free(cpuid);
	if (ret)
		goto fail;
	ret = vmm_mt_power_on(vmm->mt, id, v->fd);
	if (ret) {
		bp_error_set(err, ret, NULL, "KVM refuses the guest's MTRRs: %s", strerror(-ret));
		goto fail;
	}
	ret = vmm_vcpu_state_save(vmm->kvm_fd, v->fd, &v->initial);
	if (ret)
		goto fail;
	*out = v;
	return 0;
fail:
	bp_error_set(err, ret, NULL, "CPU %u cannot be set up: %s", id, strerror(-ret));
	vmm_vcpu_free(v);
	return ret;
}

static void count(struct vmm_vcpu *v, uint32_t reason)
{
	uint64_t *c;

	if (reason >= VMM_EXIT_REASONS)
		reason = KVM_EXIT_UNKNOWN;
	c = &v->counts.by_reason[reason];
	/* One writer; readers only want no torn value. */
	__atomic_store_n(c, *c + 1, __ATOMIC_RELAXED);
}

void vmm_vcpu_counts(const struct vmm_vcpu *vcpu, struct vmm_exit_counts *out)
{
	for (unsigned int i = 0; i < VMM_EXIT_REASONS; i++)
		out->by_reason[i] = __atomic_load_n(&vcpu->counts.by_reason[i], __ATOMIC_RELAXED);
}

int vmm_vcpu_fd(const struct vmm_vcpu *vcpu)
{
	return vcpu->fd;
}

int vmm_vcpu_stats_fd(const struct vmm_vcpu *vcpu)
{
	return vcpu->stats_fd;
}

static void handle_io(struct vmm_vcpu *v)
{
	struct kvm_run *run = v->run;
	struct vmm *vmm = &v->core->vmm;
	uint8_t *data = (uint8_t *)run + run->io.data_offset;

	/* A string instruction repeats the same port. */
	for (uint32_t i = 0; i < run->io.count; i++, data += run->io.size)
		vmm_tally_add(&v->core->tally,
			      vmm_bus_access(vmm->pio, run->io.port, data, run->io.size,
					     run->io.direction == KVM_EXIT_IO_OUT),
			      false);
}

static void handle_mmio(struct vmm_vcpu *v)
{
	struct kvm_run *run = v->run;

	if (run->mmio.len > sizeof(run->mmio.data))
		return;
	vmm_tally_add(&v->core->tally,
		      vmm_bus_access(v->core->vmm.mmio, run->mmio.phys_addr, run->mmio.data,
				     run->mmio.len, run->mmio.is_write),
		      true);
}

static void handle_msr(struct vmm_vcpu *v, bool write)
{
	struct kvm_run *run = v->run;
	struct vmm_mt *mt = v->core->vmm.mt;
	uint64_t value = 0;
	int ret;

	if (write)
		ret = vmm_mt_wrmsr(mt, v->id, run->msr.index, run->msr.data);
	else
		ret = vmm_mt_rdmsr(mt, v->id, run->msr.index, &value);
	if (!write)
		run->msr.data = value;
	/* The guest gets #GP. */
	run->msr.error = ret != 0;
	if (ret && ret != -EINVAL && ret != -ENOENT)
		bp_log_warn("KVM does not take %#llx for MSR %#x of CPU %u: %s",
			    (unsigned long long)run->msr.data, run->msr.index, v->id,
			    strerror(-ret));
}

static void internal_error(struct vmm_vcpu *v)
{
	const struct kvm_run *run = v->run;
	static const char *const what[] = {
		[KVM_INTERNAL_ERROR_EMULATION] = "an instruction that it cannot emulate",
		[KVM_INTERNAL_ERROR_SIMUL_EX] = "exceptions inside exceptions",
		[KVM_INTERNAL_ERROR_DELIVERY_EV] =
			"an access to no memory while it delivered an event",
		[KVM_INTERNAL_ERROR_UNEXPECTED_EXIT_REASON] = "an exit that it does not know",
	};
	uint32_t code = run->internal.suberror;

	vmm_crash(v->core, "KVM gave up on CPU %u: %s (internal error %u)", v->id,
		  code < sizeof(what) / sizeof(what[0]) && what[code] ? what[code]
								      : "a reason it does not name",
		  code);
}

/* With the machine's lock. */
static void handle_exit(struct vmm_vcpu *v)
{
	struct kvm_run *run = v->run;

	switch (run->exit_reason) {
	case KVM_EXIT_IO:
		handle_io(v);
		break;
	case KVM_EXIT_MMIO:
		handle_mmio(v);
		break;
	case KVM_EXIT_X86_RDMSR:
	case KVM_EXIT_X86_WRMSR:
		handle_msr(v, run->exit_reason == KVM_EXIT_X86_WRMSR);
		break;
	case KVM_EXIT_INTR:
	case KVM_EXIT_IRQ_WINDOW_OPEN:
		break;
	case KVM_EXIT_SHUTDOWN:
		vmm_crash(v->core, "CPU %u of the guest stopped with a triple fault", v->id);
		break;
	case KVM_EXIT_FAIL_ENTRY:
		vmm_crash(v->core,
			  "the processor refuses to run CPU %u of the guest (hardware reason "
			  "%#" PRIx64 ")",
			  v->id, (uint64_t)run->fail_entry.hardware_entry_failure_reason);
		break;
	case KVM_EXIT_INTERNAL_ERROR:
		internal_error(v);
		break;
	default:
		vmm_crash(v->core, "CPU %u of the guest left for a reason not asked for (%u)",
			  v->id, run->exit_reason);
		break;
	}
}

/* With the machine's lock; false when the thread is to end. */
static bool kicked(struct vmm_vcpu *v)
{
	/*
	 * Cleared before the state is looked at: vmm_vcpu_kick() sets it after the state
	 * changed, so a change that is missed here finds it set at the next entry.
	 */
	__atomic_store_n(&v->run->immediate_exit, 0, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&v->quit, __ATOMIC_SEQ_CST))
		return false;
	return vmm_park(v->core);
}

static void *vcpu_thread(void *arg)
{
	struct vmm_vcpu *v = arg;
	struct vmm_core *core = v->core;
	bool go = true;
	char name[16];

	snprintf(name, sizeof(name), "vcpu%u", v->id);
	pthread_setname_np(pthread_self(), name);
	while (go) {
		int ret = ioctl(v->fd, KVM_RUN, 0) ? -errno : 0;

		pthread_mutex_lock(&core->vmm.lock);
		if (ret == -EINTR || ret == -EAGAIN) {
			/* Whatever access was under way is finished: it may be parked or reset. */
			count(v, KVM_EXIT_INTR);
			go = kicked(v);
		} else if (ret) {
			vmm_crash(core, "KVM cannot run CPU %u: %s%s", v->id, strerror(-ret),
				  ret == -EFAULT
					  ? " (it touched memory that the host could not provide)"
					  : "");
			go = false;
		} else {
			count(v, v->run->exit_reason);
			handle_exit(v);
		}
		if (!go) {
			core->running--;
			pthread_cond_broadcast(&core->changed);
		}
		pthread_mutex_unlock(&core->vmm.lock);
	}
	return NULL;
}

int vmm_vcpu_start(struct vmm_vcpu *vcpu, const struct vmm_entry *entry)
{
	sigset_t all, old;
	int ret = entry ? vmm_vcpu_enter(vcpu->fd, entry) : 0;

	if (ret)
		return ret;
	/* The thread takes no signal but the kick. */
	sigfillset(&all);
	sigdelset(&all, VMM_KICK_SIGNAL);
	sigdelset(&all, SIGSEGV);
	sigdelset(&all, SIGBUS);
	sigdelset(&all, SIGFPE);
	sigdelset(&all, SIGILL);
	sigdelset(&all, SIGABRT);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	vcpu->core->running++;
	ret = -pthread_create(&vcpu->thread, NULL, vcpu_thread, vcpu);
	if (ret)
		vcpu->core->running--;
	else
		vcpu->has_thread = true;
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return ret;
}

void vmm_vcpu_kick(struct vmm_vcpu *vcpu)
{
	/*
	 * The flag catches a thread on its way into KVM_RUN, the signal one inside. KVM
	 * looks at the flag after it has entered the call, so one of the two hits.
	 */
	__atomic_store_n(&vcpu->run->immediate_exit, 1, __ATOMIC_SEQ_CST);
	if (vcpu->has_thread)
		pthread_kill(vcpu->thread, VMM_KICK_SIGNAL);
}

int vmm_vcpu_reset(struct vmm_vcpu *vcpu, const struct vmm_entry *entry)
{
	int ret = vmm_vcpu_state_restore(vcpu->fd, vcpu->initial);

	if (!ret)
		ret = vmm_mt_power_on(vcpu->core->vmm.mt, vcpu->id, vcpu->fd);
	if (!ret && entry)
		ret = vmm_vcpu_enter(vcpu->fd, entry);
	return ret;
}

void vmm_vcpu_join(struct vmm_vcpu *vcpu)
{
	if (!vcpu->has_thread)
		return;
	__atomic_store_n(&vcpu->quit, true, __ATOMIC_SEQ_CST);
	vmm_vcpu_kick(vcpu);
	pthread_join(vcpu->thread, NULL);
	vcpu->has_thread = false;
}

void vmm_vcpu_free(struct vmm_vcpu *vcpu)
{
	if (!vcpu)
		return;
	vmm_vcpu_join(vcpu);
	if (vcpu->run != MAP_FAILED)
		munmap(vcpu->run, vcpu->run_size);
	if (vcpu->stats_fd >= 0)
		close(vcpu->stats_fd);
	if (vcpu->fd >= 0)
		close(vcpu->fd);
	free(vcpu->initial);
	free(vcpu);
}

void vmm_vcpu_dump(const struct vmm_vcpu *vcpu)
{
	struct kvm_regs r;
	struct kvm_sregs s;

	if (ioctl(vcpu->fd, KVM_GET_REGS, &r) || ioctl(vcpu->fd, KVM_GET_SREGS, &s))
		return;
	bp_log_info("CPU %u rip %016llx rsp %016llx rflags %08llx", vcpu->id, r.rip, r.rsp,
		    r.rflags);
	bp_log_info("  rax %016llx rbx %016llx rcx %016llx rdx %016llx", r.rax, r.rbx, r.rcx,
		    r.rdx);
	bp_log_info("  rsi %016llx rdi %016llx rbp %016llx r8  %016llx", r.rsi, r.rdi, r.rbp, r.r8);
	bp_log_info("  r9  %016llx r10 %016llx r11 %016llx r12 %016llx", r.r9, r.r10, r.r11, r.r12);
	bp_log_info("  r13 %016llx r14 %016llx r15 %016llx", r.r13, r.r14, r.r15);
	bp_log_info("  cs %04x ss %04x ds %04x cr0 %llx cr2 %llx cr3 %llx cr4 %llx efer %llx",
		    s.cs.selector, s.ss.selector, s.ds.selector, s.cr0, s.cr2, s.cr3, s.cr4,
		    s.efer);
}
