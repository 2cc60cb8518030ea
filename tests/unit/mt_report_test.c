// SPDX-License-Identifier: GPL-2.0-only
/*
 * What `ctl memtype` says of a machine: registers and page tables are made here, the
 * report is read back as JSON and as text.
 */
#include <json-c/json.h>
#include <json-c/json_pointer.h>
#include <linux/kvm.h>
#include <string.h>
#include <sys/ioctl.h>

#include <bp/print.h>
#include <mt/firmware.h>
#include "faketree.h"
#include "suite.h"
#include "vmm/memtype/state.h"

#define BAR   0xd0000000ull
#define PAGES 0x8000ull
#define VF    "0000:00:13.0"
#define CPUS  3

#define P     1ull
#define PWT   8ull
#define PCD   16ull

static struct faketree tree;
static struct vmm_config config = { .cpus = CPUS };
static struct vmm machine;
static struct vmm_mt mt;
static struct vmm_mt_area area[2];
static struct vmm_mt_cut cut[8];
static struct kvm_sregs sregs[CPUS];
static uint32_t mp_state[CPUS];
static uint64_t page_table;
static struct json_object *json;
static char *text;

/* KVM's slots, for the real vmm_ram. */
int ioctl(int fd, unsigned long request, ...)
{
	(void)fd;
	return request == KVM_CHECK_EXTENSION ? 64 : 0;
}

/* kvm-memtype.ko: there or not, and what it has. */
static bool loaded;
static struct kvm_memtype_stats counts;

static int fake_open(const char *path, int flags)
{
	(void)flags;
	ck_assert_ptr_nonnull(strstr(path, KVM_MEMTYPE_DEVICE));
	errno = ENOENT;
	return loaded ? 200 : -1;
}

static int fake_close(int fd)
{
	return fd == 200 ? 0 : -1;
}

static int fake_ioctl(int fd, unsigned long request, void *arg)
{
	int cpu = fd - 100;

	if (fd == 200 && request == KVM_MEMTYPE_GET_INFO) {
		*(struct kvm_memtype_info *)arg = mt.module;
		return 0;
	}
	if (fd == 200) {
		ck_assert(request == KVM_MEMTYPE_GET_STATS);
		*(struct kvm_memtype_stats *)arg = counts;
		return 0;
	}
	ck_assert(cpu >= 0 && cpu < CPUS);
	if (request == KVM_GET_SREGS) {
		*(struct kvm_sregs *)arg = sregs[cpu];
		return 0;
	}
	ck_assert(request == KVM_GET_MP_STATE);
	((struct kvm_mp_state *)arg)->mp_state = mp_state[cpu];
	return 0;
}

static const struct vf_sys sys = { .open = fake_open, .close = fake_close, .ioctl = fake_ioctl };

static void poke(uint64_t gpa, uint64_t entry)
{
	*(uint64_t *)vmm_ram_at(machine.ram, gpa, 8) = entry;
}

/* Guest-virtual 0xffffff8000000000 on; entry n is page n of it. */
static void map(unsigned int n, uint64_t entry)
{
	poke(page_table + 8 * n, entry);
}

static void make_ram(void)
{
	struct vmm_ram_layout layout = { .nr = 1, .region = { { 0, 1 << 20, NULL } } };
	struct bp_error err = { 0 };

	ck_assert_msg(!vmm_ram_new(1, &layout, 0, &machine.ram, &err), "%s", err.what);
	poke(0x1000 + 8 * 511, 0x2000 | P);
	poke(0x2000, 0x3000 | P);
	poke(0x3000, 0x4000 | P);
	page_table = 0x4000;
}

static void wr(struct mt_mtrr *m, uint32_t msr, uint64_t value)
{
	ck_assert_int_eq(mt_wrmsr(m, msr, value), 0);
}

/* The area as three stretches, the middle one WC, leaves as KVM makes them. */
static void make_area(void)
{
	static const struct mt_leaf_want stock = { MT_UC, false, true };

	cut[0] = (struct vmm_mt_cut){ BAR, 0x2000, MT_UC, false, stock, 1 };
	cut[1] = (struct vmm_mt_cut){ BAR + 0x2000, 0x2000, MT_WC, false, stock, 1 };
	cut[2] = (struct vmm_mt_cut){ BAR + 0x4000, 0x4000, MT_UC, false, stock, 1 };
	area[0] = (struct vmm_mt_area){
		.used = true,
		.place = { VF, 2, 0x1000 },
		.gpa = BAR,
		.size = PAGES,
		.nr = 3,
		.cut = cut,
	};
	area[1] = (struct vmm_mt_area){ .used = false };
	mt.area = area;
	mt.nr_areas = 2;
}

static void setup(enum mt_vendor vendor)
{
	struct mt_mtrr m;

	ft_new(&tree);
	loaded = false;
	counts = (struct kvm_memtype_stats){ .nr = 1 };
	memset(&mt, 0, sizeof(mt));
	memset(&machine, 0, sizeof(machine));
	machine.config = &config;
	machine.maxphyaddr = 40;
	make_ram();
	ck_assert_int_eq(mt_mtrr_init(&m, 40), 0);
	wr(&m, MT_MSR_PHYSBASE(0), MT_WB);
	wr(&m, MT_MSR_PHYSMASK(0), 0xff80000000 | MT_PHYSMASK_VALID);
	wr(&m, MT_MSR_PHYSBASE(1), (BAR + 0x2000) | MT_WC);
	wr(&m, MT_MSR_PHYSMASK(1), 0xffffffe000 | MT_PHYSMASK_VALID);
	wr(&m, MT_MSR_DEF_TYPE, MT_DEF_TYPE_E);
	mt.vmm = &machine;
	mt.host = (struct vf_host){ tree.root, &sys };
	mt.mode = MT_MODE_OFF;
	mt.wish = VMM_MT_AUTO;
	strcpy(mt.why, "kvm-memtype.ko is not loaded");
	mt.vendor = vendor;
	mt.kernel = (struct mt_kernel){ 6, 1, 170 };
	mt.nested = mt.coherent = mt.intercept = true;
	for (int i = 0; i < CPUS; i++) {
		mt.cpu[i] = (struct vmm_mt_cpu){ m, m.pat, 100 + i, i < 2 };
		mp_state[i] = i < 2 ? KVM_MP_STATE_RUNNABLE : KVM_MP_STATE_UNINITIALIZED;
		sregs[i] = (struct kvm_sregs){
			.cr0 = 0x80000011, .cr3 = 0x1000, .cr4 = 0x20, .efer = 0x500
		};
	}
	/* One of them has not been started: its paging is off. */
	sregs[2].cr0 = 0x60000010;
	/* And one runs a program of which nothing is mapped. */
	sregs[1].cr3 = 0x9000;
	mt_track_init(&mt.track, &m, false);
	make_area();
}

static void with_module(void)
{
	mt.mode = MT_MODE_MODULE;
	mt.why[0] = '\0';
	mt.module = (struct kvm_memtype_info){ .abi = 1,
					       .vendor = KVM_MEMTYPE_SVM,
					       .flags = KVM_MEMTYPE_NESTED,
					       .types = 1 << MT_WC | 1 << MT_UC,
					       .host_pat = MT_PAT_LINUX,
					       .ranges_max = 64 };
	loaded = true;
	mt.nr_ranges = 1;
	cut[1].want = (struct mt_leaf_want){ MT_WC, false, false };
}

static void report(void)
{
	size_t len;
	char *buf = NULL;
	FILE *f = open_memstream(&buf, &len);
	struct bp_print *p = bp_print_new(f, BP_PRINT_JSON);

	json_object_put(json);
	free(text);
	bp_print_object(p, NULL);
	vmm_mt_report(&mt, p);
	bp_print_object_end(p);
	ck_assert_int_eq(bp_print_free(p), 0);
	fclose(f);
	json = json_tokener_parse(buf);
	ck_assert_msg(json != NULL, "no JSON: %s", buf);
	free(buf);
	f = open_memstream(&text, &len);
	p = bp_print_new(f, BP_PRINT_TEXT);
	vmm_mt_report(&mt, p);
	ck_assert_int_eq(bp_print_free(p), 0);
	fclose(f);
}

static void teardown(void)
{
	vmm_ram_free(machine.ram);
	ft_free(&tree);
}

/* What stands at a JSON pointer. */
static void is(const char *path, const char *want)
{
	struct json_object *v = NULL;
	const char *got;

	ck_assert_msg(!json_pointer_get(json, path, &v), "nothing at %s in %s", path,
		      json_object_to_json_string(json));
	got = v ? json_object_get_string(v) : "null";
	ck_assert_msg(!strcmp(got, want), "%s is %s, not %s", path, got, want);
}

static size_t length(const char *path)
{
	struct json_object *v;

	ck_assert_msg(!json_pointer_get(json, path, &v), "nothing at %s", path);
	return json_object_array_length(v);
}

static void says(const char *words)
{
	ck_assert_msg(strstr(text, words) != NULL, "'%s' is not in:\n%s", words, text);
}

#define MIDDLE "/bars/0/stretches/1"

/* A guest without PAT: an MTRR WC and a page that is UC-, on an AMD host without the module. */
START_TEST(amd_without_the_module)
{
	setup(MT_AMD);
	map(2, (BAR + 0x2000) | P | PCD);
	map(3, (BAR + 0x3000) | P | PCD);
	report();
	is("/wish", "auto");
	is("/mode", "off");
	is("/why", "kvm-memtype.ko is not loaded");
	is("/vendor", "amd");
	is("/kernel", "6.1.170");
	is("/nested", "true");
	is("/module", "null");
	is("/coherent", "true");
	is("/cpus_differ", "false");
	is("/truncated", "false");
	ck_assert_uint_eq(length("/cpus"), CPUS);
	is("/cpus/2/seen", "false");
	is("/cpus/0/def_type", "0x800");
	is("/cpus/0/pat", "0x0007040600070406");
	is("/cpus/0/hw_pat", "0x0007040600070406");
	is("/role/enabled", "true");
	is("/role/fixed", "false");
	is("/role/generation", "1");
	ck_assert_uint_eq(length("/map"), 4);
	is("/map/2", "{ \"start\": \"0xd0002000\", \"end\": \"0xd0003fff\", \"type\": \"WC\", "
		     "\"undefined\": false }");
	is("/map/3/end", "0xffffffffff");
	ck_assert_uint_eq(length("/bars"), 1);
	is("/bars/0/device", VF);
	is("/bars/0/bar", "2");
	is("/bars/0/host_mtrr", "UC");
	is("/bars/0/host_mtrr_from", "assumed");
	ck_assert_uint_eq(length("/bars/0/stretches"), 3);
	is(MIDDLE "/start", "0xd0002000");
	is(MIDDLE "/end", "0xd0003fff");
	is(MIDDLE "/offset", "0x3000");
	is(MIDDLE "/mtrr", "WC");
	is(MIDDLE "/leaf", "WB");
	is(MIDDLE "/by", "kvm");
	is(MIDDLE "/effective", "UC");
	is(MIDDLE "/effective_from", "mappings");
	is(MIDDLE "/bare_metal", "WC");
	ck_assert_uint_eq(length(MIDDLE "/mappings"), 1);
	is(MIDDLE "/mappings/0/cpu", "0");
	is(MIDDLE "/mappings/0/gva", "0xffffff8000002000");
	is(MIDDLE "/mappings/0/size", "0x2000");
	is(MIDDLE "/mappings/0/index", "2");
	is(MIDDLE "/mappings/0/pat", "UC-");
	is(MIDDLE "/mappings/0/hw_pat", "UC-");
	is(MIDDLE "/mappings/0/effective", "UC");
	is(MIDDLE "/why/0",
	   "the guest's MTRR says WC and its page table UC-: on bare metal that is WC");
	says("leaf WB (index 0) by kvm; a store gets UC, on bare metal WC");
	says("    with kvm-memtype.ko the store would get WC\n");
	says("    a guest that maps the page through a PAT entry WC would get WC\n");
	/* Where nothing is lost there is nothing to say, and what is not mapped is marked. */
	is("/bars/0/stretches/0/effective_from", "assumed UC-");
	is("/bars/0/stretches/0/effective", "UC");
	is("/bars/0/stretches/0/bare_metal", "UC");
	ck_assert_uint_eq(length("/bars/0/stretches/0/why"), 0);
	ck_assert_uint_eq(length("/bars/0/stretches/0/mappings"), 0);
	says("a store gets UC if it goes through a UC- mapping");
	teardown();
}
END_TEST

START_TEST(the_module_makes_the_leaf)
{
	setup(MT_AMD);
	with_module();
	map(2, (BAR + 0x2000) | P | PCD);
	report();
	is("/mode", "module");
	is("/why", "");
	is("/module/types", "[ \"UC\", \"WC\" ]");
	is("/module/host_pat", "0x0407050600070106");
	is(MIDDLE "/leaf", "WC");
	is(MIDDLE "/by", "module");
	is(MIDDLE "/effective", "WC");
	ck_assert_uint_eq(length(MIDDLE "/why"), 0);
	is("/bars/0/stretches/0/leaf", "WB");
	is("/bars/0/stretches/0/by", "kvm");
	is("/bars/0/stretches/0/effective", "UC");
	says("leaf WC by module; a store gets WC, on bare metal WC");
	/* A page that is UC by PCD and PWT stays uncached whatever the leaf. */
	map(2, (BAR + 0x2000) | P | PCD | PWT);
	report();
	is(MIDDLE "/effective", "UC");
	is(MIDDLE "/mappings/0/index", "3");
	/* Bare metal calls it CD, which a device cannot tell from UC: nothing to explain. */
	is(MIDDLE "/bare_metal", "CD");
	ck_assert_uint_eq(length(MIDDLE "/why"), 0);
	teardown();
}
END_TEST

/* It may be unloaded while the guest runs; what it says of itself is told. */
START_TEST(the_module_is_gone)
{
	setup(MT_AMD);
	with_module();
	map(2, (BAR + 0x2000) | P | PCD);
	report();
	is("/module/lost", "false");
	is(MIDDLE "/by", "module");
	loaded = false;
	report();
	is("/mode", "module");
	is("/why", "kvm-memtype.ko was unloaded: leaves are as KVM makes them");
	is("/module/lost", "true");
	is(MIDDLE "/leaf", "WB");
	is(MIDDLE "/by", "kvm");
	is(MIDDLE "/effective", "UC");
	says("    with kvm-memtype.ko the store would get WC\n");
	/* Also when nothing was lost by it yet. */
	mt.nr_ranges = 0;
	report();
	is("/module/lost", "true");
	mt.nr_ranges = 1;
	/* Loaded again it knows of nothing. */
	loaded = true;
	counts.nr = 0;
	report();
	is("/module/lost", "true");
	is(MIDDLE "/effective", "UC");
	counts.nr = 1;
	counts.missed = 3;
	counts.straddled = 2;
	report();
	is("/module/missed", "3");
	is(MIDDLE "/effective", "WC");
	says("some leaves are not what is said below: 3 went by unseen, 2 reach out");
	teardown();
}
END_TEST

/* Nothing of the guest is mapped: the report says what a UC- page would get. */
START_TEST(nothing_mapped)
{
	setup(MT_AMD);
	report();
	is(MIDDLE "/effective", "UC");
	is(MIDDLE "/effective_from", "assumed UC-");
	is(MIDDLE "/bare_metal", "WC");
	ck_assert_uint_gt(length(MIDDLE "/why"), 3);
	cut[1].want = (struct mt_leaf_want){ MT_WC, false, false };
	report();
	is(MIDDLE "/effective", "WC");
	mt.nr_areas = 0;
	report();
	ck_assert_uint_eq(length("/bars"), 0);
	says("no page of a BAR is mapped straight into the guest");
	teardown();
}
END_TEST

START_TEST(a_shadow_pat)
{
	setup(MT_INTEL);
	mt.mode = MT_MODE_PAT;
	mt.wish = VMM_MT_PAT_FORCE;
	mt.cpu[0].hw_pat = mt_pat_lift(mt.cpu[0].regs.pat);
	map(2, (BAR + 0x2000) | P | PCD);
	report();
	is("/wish", "pat,force");
	is("/mode", "pat");
	is("/cpus/0/hw_pat", "0x0001040600010406");
	is(MIDDLE "/leaf", "UC");
	is(MIDDLE "/mappings/0/pat", "UC-");
	is(MIDDLE "/mappings/0/hw_pat", "WC");
	is(MIDDLE "/effective", "WC");
	ck_assert_uint_eq(length(MIDDLE "/why"), 0);
	/* It reaches the neighbours, too, and that is told. */
	is("/bars/0/stretches/0/effective", "WC");
	is("/bars/0/stretches/0/bare_metal", "UC");
	ck_assert_uint_gt(length("/bars/0/stretches/0/why"), 0);
	says("PAT WB WT UC- UC WB WT UC- UC, loaded is WB WT WC UC WB WT WC UC");
	says("UC-, loaded WC: WC");
	says("    the shadow PAT that the monitor loads makes UC- mean WC\n");
	/* A shadow PAT that is refused, or not loaded yet, changes nothing. */
	mt.cpu[0].hw_pat = mt.cpu[0].regs.pat;
	report();
	is(MIDDLE "/effective", "UC");
	teardown();
}
END_TEST

/* All-WB, which no rule of KVM tells of: the processor's tables say what it does. */
START_TEST(another_pat_is_loaded)
{
	setup(MT_AMD);
	mt.cpu[0].hw_pat = MT_PAT_ALL_WB;
	map(2, (BAR + 0x2000) | P | PWT | PCD);
	report();
	is(MIDDLE "/mappings/0/pat", "UC");
	is(MIDDLE "/mappings/0/hw_pat", "WB");
	is(MIDDLE "/mappings/0/effective", "UC");
	cut[1].want = (struct mt_leaf_want){ MT_WC, false, false };
	report();
	is(MIDDLE "/mappings/0/effective", "WC");
	is(MIDDLE "/why", "[ \"the PAT that is loaded is not the guest's\" ]");
	teardown();
}
END_TEST

/* Two views of one stretch, two CPUs: each is told, and the sum is honest. */
START_TEST(mappings_that_disagree)
{
	setup(MT_INTEL);
	mt.cpu[0].regs.pat = mt.cpu[0].hw_pat = MT_PAT_LINUX;
	mt.cpu[1].regs.pat = mt.cpu[1].hw_pat = MT_PAT_LINUX;
	sregs[1].cr3 = 0x1000;
	map(2, (BAR + 0x2000) | P | PCD);
	map(9, (BAR + 0x2000) | P | PWT);
	report();
	ck_assert_uint_eq(length(MIDDLE "/mappings"), 4);
	is(MIDDLE "/mappings/0/effective", "UC");
	is(MIDDLE "/mappings/1/effective", "WC");
	is(MIDDLE "/mappings/1/gva", "0xffffff8000009000");
	is(MIDDLE "/mappings/3/cpu", "1");
	is(MIDDLE "/effective", "mixed");
	is(MIDDLE "/bare_metal", "WC");
	is(MIDDLE "/leaf", "UC");
	/* Under EPT the machine's MTRRs have no say. */
	says(VF " BAR 2\n");
	says("a store gets what its mapping says, on bare metal WC");
	/* Each kind of loss is explained once. */
	ck_assert_uint_lt(length(MIDDLE "/why"), 8);
	teardown();
}
END_TEST

START_TEST(cpus_that_differ)
{
	setup(MT_AMD);
	wr(&mt.cpu[1].regs, MT_MSR_PHYSMASK(1), 0);
	wr(&mt.cpu[1].regs, MT_MSR_PAT, MT_PAT_LINUX);
	/* One that has not been seen does not count. */
	wr(&mt.cpu[2].regs, MT_MSR_DEF_TYPE, 0);
	mt.differ = true;
	report();
	is("/cpus_differ", "true");
	is("/registers_that_differ", "[ \"PHYSMASK1\", \"PAT\" ]");
	says("the CPUs differ in PHYSMASK1, PAT\n");
	says("(as firmware left them)");
	teardown();
}
END_TEST

/* Without paging the guest's PAT is not looked at: the type is WB. */
START_TEST(paging_off)
{
	setup(MT_INTEL);
	sregs[0].cr0 = 0x11;
	cut[1].want = (struct mt_leaf_want){ MT_WC, false, false };
	report();
	ck_assert_uint_eq(length(MIDDLE "/mappings"), 1);
	is(MIDDLE "/mappings/0/gva", "0xd0002000");
	is(MIDDLE "/mappings/0/index", "null");
	is(MIDDLE "/mappings/0/pat", "WB");
	is(MIDDLE "/effective", "WC");
	says("without paging");
	teardown();
}
END_TEST

static void host_has(const char *mtrr, const char *resource)
{
	ft_file(&tree, mtrr, "proc/mtrr");
	ft_file(&tree, resource, "sys/bus/pci/devices/" VF "/resource");
}

START_TEST(the_hosts_own_mtrrs)
{
	static const char resource[] = "0x0 0x0 0x0\n0x0 0x0 0x0\n"
				       "0x00000000fe000000 0x00000000fe00ffff 0x00140204\n";

	setup(MT_AMD);
	map(2, (BAR + 0x2000) | P | PCD);
	host_has("reg00: base=0x0c0000000 ( 3072MB), size= 1024MB, count=1: uncachable\n",
		 resource);
	report();
	is("/bars/0/host_mtrr", "UC");
	is("/bars/0/host_mtrr_from", "/proc/mtrr");
	is(MIDDLE "/effective", "UC");
	/* A fault of the host, which decides on AMD. */
	host_has("reg00: base=0x0c0000000 ( 3072MB), size= 1024MB, count=1: write-back\n",
		 resource);
	report();
	is("/bars/0/host_mtrr", "WB");
	is(MIDDLE "/effective", "CD");
	/* The default type is not there to be read, and ranges may end within the BAR. */
	host_has("reg00: base=0x0d0000000 ( 3328MB), size=   16MB, count=1: uncachable\n",
		 resource);
	report();
	is("/bars/0/host_mtrr_from", "assumed");
	host_has("reg00: base=0x0fe000000 ( 4064MB), size=   16KB, count=1: uncachable\n",
		 resource);
	report();
	is("/bars/0/host_mtrr_from", "assumed");
	says("MTRR of the host UC (assumed)");
	host_has("reg00: base=0x0c0000000 ( 3072MB), size= 1024MB, count=1: uncachable\n",
		 "0x0 0x0 0x0\n");
	report();
	is("/bars/0/host_mtrr_from", "assumed");
	teardown();
}
END_TEST

/* A guest's tables without end: the report is short and says that it is. */
START_TEST(hostile_tables)
{
	setup(MT_AMD);
	sregs[0].cr3 = 0x8000;
	for (unsigned int i = 0; i < 511; i++)
		poke(0x8000 + 8 * i, 0x8000 | P);
	poke(0x8000 + 8 * 511, (BAR + 0x2000) | P);
	report();
	is("/truncated", "true");
	says("something is missing above");
	ck_assert_uint_le(length(MIDDLE "/mappings"), 4096);
	/* It fits into one answer. */
	ck_assert_uint_lt(strlen(json_object_to_json_string(json)), 1 << 20);
	teardown();
}
END_TEST

START_TEST(too_many_pieces)
{
	setup(MT_AMD);
	area[0].limited = true;
	area[0].nr = 1;
	cut[0].size = PAGES;
	report();
	is("/bars/0/stretches/0/mtrr", "mixed");
	is("/bars/0/stretches/0/bare_metal", "mixed");
	is("/bars/0/stretches/0/effective", "UC");
	ck_assert_uint_eq(length("/bars/0/stretches/0/why"), 1);
	says("too many pieces");
	teardown();
}
END_TEST

START_TEST(mtrrs_off_and_masks_with_holes)
{
	struct mt_mtrr *m;

	setup(MT_AMD);
	m = &mt.cpu[0].regs;
	wr(m, MT_MSR_DEF_TYPE, 0);
	mt_track_update(&mt.track, m, false);
	report();
	is("/role/enabled", "false");
	ck_assert_uint_eq(length("/map"), 1);
	is("/map/0/type", "UC");
	is("/truncated", "false");
	/* Every other page. */
	wr(m, MT_MSR_PHYSBASE(0), MT_WB);
	wr(m, MT_MSR_PHYSMASK(0), 0x1000 | MT_PHYSMASK_VALID);
	wr(m, MT_MSR_DEF_TYPE, MT_DEF_TYPE_E);
	mt_track_update(&mt.track, m, false);
	report();
	ck_assert_uint_eq(length("/map"), 512);
	is("/truncated", "true");
	teardown();
}
END_TEST

/* Areas come in any order; a BAR is told once, its pieces by address. */
START_TEST(bars_in_order)
{
	static const struct mt_leaf_want stock = { MT_UC, false, true };

	setup(MT_AMD);
	cut[3] = (struct vmm_mt_cut){ BAR - 0x10000, 0x1000, MT_UC, false, stock, 2 };
	area[1] = (struct vmm_mt_area){
		.used = true,
		.place = { VF, 2, 0 },
		.gpa = BAR - 0x10000,
		.size = 0x1000,
		.nr = 1,
		.cut = &cut[3],
	};
	report();
	ck_assert_uint_eq(length("/bars"), 1);
	ck_assert_uint_eq(length("/bars/0/stretches"), 4);
	is("/bars/0/stretches/0/start", "0xcfff0000");
	area[1].place.bar = 0;
	report();
	ck_assert_uint_eq(length("/bars"), 2);
	is("/bars/0/bar", "0");
	is("/bars/1/bar", "2");
	teardown();
}
END_TEST

/* One page of a process, through tables at @tables. */
static void map_user(uint64_t tables, uint64_t gva, uint64_t entry)
{
	uint64_t at = 0x1000;

	for (unsigned int shift = 39; shift > 12; shift -= 9, tables += 0x1000) {
		poke(at + 8 * (gva >> shift & 511), tables | P);
		at = tables;
	}
	poke(at + 8 * (gva >> 12 & 511), entry);
}

/* The guest that docs/memory-types.md shows: no PAT, two pages of a 16 KiB BAR WC by MTRR. */
static void setup_page(uint64_t gva)
{
	static const struct mt_leaf_want stock = { MT_UC, false, true };
	static struct mt_msr state[MT_FIRMWARE_MSRS];
	struct mt_mtrr m;

	setup(MT_AMD);
	config.cpus = 2;
	mt.kernel = (struct mt_kernel){ 6, 12, 95 };
	ck_assert_int_eq(mt_mtrr_init(&m, 40), 0);
	ck_assert_int_eq(mt_firmware_state(0xc0000000, 40, state), 0);
	for (unsigned int i = 0; i < MT_FIRMWARE_MSRS; i++)
		wr(&m, state[i].index, state[i].value);
	mt_track_init(&mt.track, &m, false);
	wr(&m, MT_MSR_PHYSBASE(1), 0x100000000 | MT_WC);
	wr(&m, MT_MSR_PHYSMASK(1), 0xffffffe000 | MT_PHYSMASK_VALID);
	mt_track_update(&mt.track, &m, false);
	mt.cpu[0].regs = mt.cpu[1].regs = m;
	sregs[1].cr3 = 0x1000;
	for (unsigned int i = 0; i < 4; i++)
		map_user(0x10000, gva + 0x1000 * i, (0x100000000 + 0x1000 * i) | P | PCD);
	cut[0] = (struct vmm_mt_cut){ 0x100000000, 0x2000, MT_WC, false, stock, 1 };
	cut[1] = (struct vmm_mt_cut){ 0x100002000, 0x2000, MT_WB, false, stock, 1 };
	cut[2] = (struct vmm_mt_cut){ 0x100005000, 0x1000, MT_WB, false, stock, 2 };
	area[0] = (struct vmm_mt_area){ .used = true,
					.place = { VF, 0, 0 },
					.gpa = 0x100000000,
					.size = 0x4000,
					.nr = 2,
					.cut = cut };
	area[1] = (struct vmm_mt_area){ .used = true,
					.place = { VF, 3, 0x1000 },
					.gpa = 0x100005000,
					.size = 0x1000,
					.nr = 1,
					.cut = &cut[2] };
}

/* Lines of the page behind a line that asks for the report, without their indentation. */
static bool shown(FILE *f, char *block, size_t size)
{
	static const char ask[] = "    # memtype guest ";
	char line[512];

	*block = '\0';
	while (fgets(line, sizeof(line), f) && strncmp(line, ask, strlen(ask)) != 0)
		;
	while (fgets(line, sizeof(line), f) && !strncmp(line, "    ", 4))
		snprintf(block + strlen(block), size - strlen(block), "%s", line + 4);
	return *block;
}

START_TEST(the_page_shows_what_the_report_says)
{
	FILE *f = fopen("docs/memory-types.md", "r");
	char block[8192];

	ck_assert_msg(f != NULL, "run from the top of the tree");
	setup_page(0x7f0054445000);
	report();
	ck_assert(shown(f, block, sizeof(block)));
	ck_assert_str_eq(block, text);
	/* The same with the module; here the page has a part. */
	with_module();
	mt.module.types |= 1 << MT_WT | 1 << MT_WP | 1 << MT_WB;
	mt.module.ranges_max = 512;
	cut[0].want = (struct mt_leaf_want){ MT_WC, false, false };
	cut[1].want.stock = true;
	report();
	ck_assert(shown(f, block, sizeof(block)));
	says(block);
	ck_assert_ptr_nonnull(strstr(block, "leaf WC by module; a store gets WC"));
	fclose(f);
	config.cpus = CPUS;
	teardown();
}
END_TEST

SUITE("mt_report", amd_without_the_module, the_module_makes_the_leaf, the_module_is_gone,
      nothing_mapped, a_shadow_pat, another_pat_is_loaded, mappings_that_disagree, cpus_that_differ,
      paging_off, the_hosts_own_mtrrs, hostile_tables, too_many_pieces,
      mtrrs_off_and_masks_with_holes, bars_in_order, the_page_shows_what_the_report_says)
