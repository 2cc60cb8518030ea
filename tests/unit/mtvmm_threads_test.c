// SPDX-License-Identifier: GPL-2.0-only
/*
 * VCPU threads and the loop at once: changes of memory types, BARs that come and go, resets,
 * pauses and the machine's end, in whatever order they happen to meet. Nothing may hang, no
 * VCPU may run while slots are gone, and in the end the leaves are those that were asked for.
 */
#include <sys/eventfd.h>

#include "mtvmm_board.h"

#define CPUS 4

static pthread_t loop_thread, vcpu[CPUS];
static atomic_bool in_guest[CPUS];
static atomic_bool stop;
static atomic_uint rounds, broken;
static int reset_fd;
static int area = -1;
static unsigned int resets;

/* A slot that the loop takes while some VCPU executes instructions. */
static void slots_change(void)
{
	if (!pthread_equal(pthread_self(), loop_thread))
		return;
	for (unsigned int i = 0; i < CPUS; i++)
		if (atomic_load(&in_guest[i]))
			atomic_fetch_add(&broken, 1);
}

static void *loop_main(void *arg)
{
	(void)arg;
	vmm_loop_run(core.vmm.loop);
	return NULL;
}

/* As vmm_life_reset(). */
static void on_reset(void *priv, int fd)
{
	uint64_t count;

	(void)priv;
	if (read(fd, &count, sizeof(count)) != sizeof(count) || !core.reset_wanted)
		return;
	if (!vmm_hold(&core)) {
		vmm_mt_area_remove(mt, area);
		area = -1;
		for (unsigned int i = 0; i < CPUS; i++)
			if (vmm_mt_power_on(mt, i, VCPU_FD + (int)i))
				atomic_fetch_add(&broken, 1);
		resets++;
	}
	core.reset_wanted = false;
	vmm_release(&core);
	vmm_release(&core);
}

/* One exit of a guest that does at random whatever a guest can do. With the lock. */
static void random_exit(unsigned int cpu, unsigned int *seed)
{
	uint64_t base = BAR + 0x1000 * ((uint64_t)rand_r(seed) % 4);

	switch (rand_r(seed) % 12) {
	case 0:
		if (area < 0)
			area = add(0, BAR, 0x4000);
		break;
	case 1:
		vmm_mt_area_remove(mt, area);
		area = -1;
		break;
	case 2:
		if (!(rand_r(seed) % 16))
			vmm_reset(&core.vmm);
		break;
	case 3:
		vmm_mt_wrmsr(mt, cpu, MT_MSR_DEF_TYPE, rand_r(seed) % 2 ? 0xc06 : 0x406);
		break;
	case 4:
		vmm_mt_wrmsr(mt, cpu, MT_MSR_PAT, rand_r(seed) % 2 ? MT_PAT_LINUX : MT_PAT_RESET);
		break;
	default:
		/* All CPUs follow, as in a rendezvous: otherwise they would hardly ever agree. */
		for (unsigned int i = 0; i < CPUS; i++) {
			vmm_mt_wrmsr(mt, i, MT_MSR_DEF_TYPE, 0xc06);
			vmm_mt_wrmsr(mt, i, MT_MSR_PHYSBASE(1), base | MT_WC);
			vmm_mt_wrmsr(mt, i, MT_MSR_PHYSMASK(1), MASK(0x1000));
		}
		break;
	}
}

static void *vcpu_main(void *arg)
{
	unsigned int cpu = (unsigned int)(uintptr_t)arg, seed = cpu + 1;
	bool go = true;

	while (go) {
		/* KVM_RUN; one that was kicked before executes nothing. */
		sched_yield();
		atomic_store(&in_guest[cpu], false);
		pthread_mutex_lock(&core.vmm.lock);
		go = vmm_park(&core) && !atomic_load(&stop);
		if (go)
			random_exit(cpu, &seed);
		if (!go) {
			core.running--;
			pthread_cond_broadcast(&core.changed);
		}
		atomic_store(&in_guest[cpu], go && !core.holds);
		pthread_mutex_unlock(&core.vmm.lock);
		atomic_fetch_add(&rounds, 1);
	}
	return NULL;
}

static void start(enum vmm_mt_wish wish)
{
	machine(wish, CPUS);
	kernel.changed = slots_change;
	atomic_store(&stop, false);
	atomic_store(&rounds, 0);
	atomic_store(&broken, 0);
	area = -1;
	resets = 0;
	reset_fd = eventfd(0, EFD_NONBLOCK);
	core.reset_fd = reset_fd;
	ck_assert_int_eq(vmm_loop_watch(core.vmm.loop, reset_fd, on_reset, NULL), 0);
	ck_assert_int_eq(pthread_create(&loop_thread, NULL, loop_main, NULL), 0);
	core.running = CPUS;
	for (unsigned int i = 0; i < CPUS; i++)
		ck_assert_int_eq(pthread_create(&vcpu[i], NULL, vcpu_main, (void *)(uintptr_t)i),
				 0);
}

static void wait_rounds(unsigned int n)
{
	unsigned int until = atomic_load(&rounds) + n;

	while (atomic_load(&rounds) < until)
		usleep(1000);
}

static void join(void)
{
	for (unsigned int i = 0; i < CPUS; i++)
		ck_assert_int_eq(pthread_join(vcpu[i], NULL), 0);
	vmm_loop_stop(core.vmm.loop);
	ck_assert_int_eq(pthread_join(loop_thread, NULL), 0);
	ck_assert_uint_eq(atomic_load(&broken), 0);
}

/* All VCPUs stand still, nothing is pending: what must be true then. */
static void is_consistent(void)
{
	for (uint64_t at = 0; area >= 0 && at < 0x4000; at += 4096) {
		bool wc = mt->mode == MT_MODE_MODULE &&
			  mt_map_type(mt_track_map(&mt->track), BAR + at).type == MT_WC;

		ck_assert_int_eq(reaches(BAR + at), (long)at);
		ck_assert_uint_eq(leaf(BAR + at), wc ? MT_WC : 9);
	}
	ck_assert_uint_eq(slots(), area < 0 ? 0 : mt->area[area].split ? mt->area[area].nr : 1);
}

static void paused_and_checked(void)
{
	for (bool rest = false; !rest; usleep(1000)) {
		pthread_mutex_lock(&core.vmm.lock);
		ck_assert_int_eq(vmm_hold(&core), 0);
		rest = !mt->pending && !core.reset_wanted;
		if (rest)
			is_consistent();
		vmm_release(&core);
		pthread_mutex_unlock(&core.vmm.lock);
	}
}

static void storm(enum vmm_mt_wish wish)
{
	start(wish);
	for (unsigned int i = 0; i < 20; i++) {
		wait_rounds(500);
		paused_and_checked();
	}
	atomic_store(&stop, true);
	/* Those that are parked have to hear of it, too. */
	join();
	ck_assert_uint_eq(core.holds, mt->pending + core.reset_wanted);
	ck_assert_uint_gt(resets, 0);
	close(reset_fd);
	vmm_mt_area_remove(mt, area);
}

START_TEST(a_storm_of_changes)
{
	storm(VMM_MT_MODULE);
	ck_assert_uint_gt(mt->counts.remakes, 10);
	gone();
}
END_TEST

START_TEST(a_storm_with_a_shadow_pat)
{
	storm(VMM_MT_PAT_FORCE);
	ck_assert_uint_gt(mt->counts.remakes, 10);
	gone();
}
END_TEST

START_TEST(the_module_goes_in_a_storm)
{
	start(VMM_MT_MODULE);
	wait_rounds(1000);
	pthread_mutex_lock(&core.vmm.lock);
	kernel.module = false;
	kernel.nr_ranges = 0;
	pthread_mutex_unlock(&core.vmm.lock);
	wait_rounds(5000);
	paused_and_checked();
	ck_assert_str_eq(vmm_mt_mode(mt), "off");
	atomic_store(&stop, true);
	join();
	close(reset_fd);
	vmm_mt_area_remove(mt, area);
	gone();
}
END_TEST

/* The end comes at any moment of a change; whoever waits for something is let go. */
START_TEST(the_machine_ends_in_a_storm)
{
	for (unsigned int i = 0; i < 20; i++) {
		start(VMM_MT_MODULE);
		wait_rounds(50 + 13 * i);
		pthread_mutex_lock(&core.vmm.lock);
		vmm_end(&core.vmm, VMM_END_STOPPED);
		pthread_mutex_unlock(&core.vmm.lock);
		join();
		ck_assert_int_eq(core.end, VMM_END_STOPPED);
		close(reset_fd);
		vmm_mt_area_remove(mt, area);
		gone();
	}
}
END_TEST

SUITE("mtvmm_threads", a_storm_of_changes, a_storm_with_a_shadow_pat, the_module_goes_in_a_storm,
      the_machine_ends_in_a_storm)
