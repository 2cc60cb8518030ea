// SPDX-License-Identifier: GPL-2.0-only
/*
 * libvf against a kernel: takes a real (or QEMU's) e1000e and makes it move.
 *
 *   vfio_host_test BDF [type1|iommufd|auto [NVME]]  all checks, `ok` and `not ok` lines
 *   vfio_host_test --open BDF [BACKEND]             only opens it; says why it cannot
 *
 * Without an argument there is nothing to test with and the status is 77.
 * Register names and bits are those of the Intel 82574 datasheet.
 */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include <vf/device.h>
#include <vf/iommu.h>
#include <vf/sys.h>

#define STATUS	    0x0008
#define ICR	    0x00c0
#define ICS	    0x00c8
#define IMS	    0x00d0
#define IMC	    0x00d8
#define IVAR	    0x00e4
#define TCTL	    0x0400
#define TDBAL	    0x3800
#define TDBAH	    0x3804
#define TDLEN	    0x3808
#define TDH	    0x3810
#define TDT	    0x3818

#define CAUSE_LSC   (1u << 2)
#define CAUSE_RXQ0  (1u << 20)

#define PCI_COMMAND 4

#define IOVA	    0x10000000ull
#define MEM_SIZE    (4u << 20)
#define MSI_HOLE    0xfee00000ull
#define HT_HOLE	    0xfd00000000ull
#define HT_LAST	    0xffffffffffull

static int failed;

__attribute__((format(printf, 3, 4))) static bool report(bool good, const char *name,
							 const char *fmt, ...)
{
	va_list ap;

	if (good) {
		printf("ok %s\n", name);
	} else {
		printf("not ok %s: ", name);
		va_start(ap, fmt);
		vprintf(fmt, ap);
		va_end(ap);
		putchar('\n');
		failed++;
	}
	fflush(stdout);
	return good;
}

static uint32_t rd(struct vf_device *dev, uint32_t reg)
{
	uint32_t v = 0xdeadbeef;

	if (vf_device_read(dev, VF_REGION_BAR(0), reg, &v, sizeof(v)))
		report(false, "register read", "%#x", reg);
	return v;
}

static void wr(struct vf_device *dev, uint32_t reg, uint32_t v)
{
	if (vf_device_write(dev, VF_REGION_BAR(0), reg, &v, sizeof(v)))
		report(false, "register write", "%#x", reg);
}

/* How often an eventfd was signalled, waiting up to @ms for the first. */
static uint64_t fired(int fd, int ms)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	uint64_t n = 0;

	if (poll(&p, 1, ms) == 1 && read(fd, &n, sizeof(n)) != sizeof(n))
		n = 0;
	return n;
}

#define SOON  2000
#define NEVER 200

static void enable(struct vf_device *dev)
{
	uint16_t cmd = 0;

	vf_device_read(dev, VF_REGION_CONFIG, PCI_COMMAND, &cmd, sizeof(cmd));
	cmd |= 0x6; /* memory space, bus master */
	cmd &= (uint16_t)~0x400u; /* INTx not disabled */
	vf_device_write(dev, VF_REGION_CONFIG, PCI_COMMAND, &cmd, sizeof(cmd));
}

static void check_regions(struct vf_iommu *iommu, struct vf_device *dev)
{
	bool pins = !strcmp(vf_iommu_backend(iommu), "iommufd");
	struct bp_error err = { 0 };
	const struct vf_region *r = vf_device_region(dev, VF_REGION_BAR(0));
	const struct vf_region *msix = vf_device_region(dev, VF_REGION_BAR(3));
	uint32_t id = 0, mapped;
	void *va;
	int ret;

	ret = vf_device_read(dev, VF_REGION_CONFIG, 0, &id, sizeof(id));
	report(!ret && id == 0x10d38086, "configuration space", "%d, id %#x", ret, id);
	report(r->size == 128 << 10 && r->readable && r->writable && r->nr_areas == 1 &&
		       r->areas[0].offset == 0 && r->areas[0].size == r->size,
	       "registers' BAR", "size %#" PRIx64 ", %u areas", r->size, r->nr_areas);
	report(msix->size && msix->msix_mappable, "MSI-X table may be mapped", "size %#" PRIx64,
	       msix->size);
	report(vf_device_region(dev, VF_REGION_BAR(5))->size == 0, "BAR that is not there", "size");
	ret = vf_device_read(dev, VF_REGION_BAR(0), r->size - 2, &id, sizeof(id));
	report(ret == -EINVAL, "read across the end of a region", "%d", ret);

	ret = vf_device_map(dev, VF_REGION_BAR(0), 0, r->size, &va);
	if (!report(!ret, "map a BAR", "%s", strerror(-ret)))
		return;
	mapped = *(volatile uint32_t *)((char *)va + STATUS);
	report(mapped == rd(dev, STATUS) && mapped != 0xffffffff,
	       "mapping shows what reading shows", "%#x, %#x", mapped, rd(dev, STATUS));
	/* iommufd pins what it maps, and a BAR has no pages to pin. */
	ret = vf_iommu_map(iommu, IOVA * 8, va, r->size, VF_MAP_READ | VF_MAP_WRITE, &err);
	report(ret == (pins ? -EFAULT : 0), "map a BAR for peers", "%d %s", ret, err.what);
	if (!ret)
		report(!vf_iommu_unmap(iommu, IOVA * 8, r->size), "unmap a BAR", "failed");
	vf_device_unmap(dev, va, r->size);
	ret = vf_device_map(dev, VF_REGION_BAR(0), 0, r->size + 4096, &va);
	report(ret == -EINVAL, "map more than the BAR", "%d", ret);
}

static void check_ranges(struct vf_iommu *iommu)
{
	struct vf_iova_range r[64];
	int i, n = vf_iommu_ranges(iommu, r, 64), bad = 0;
	bool amd = getenv("LAB_IOMMU") && !strcmp(getenv("LAB_IOMMU"), "amd");
	bool intel = getenv("LAB_IOMMU") && !strcmp(getenv("LAB_IOMMU"), "intel");

	report(n > 0 && n <= 64, "ranges", "%d", n);
	for (i = 0; i < n && i < 64; i++) {
		if (r[i].start <= MSI_HOLE + 0xfffff && r[i].last >= MSI_HOLE)
			bad++;
		if (amd && r[i].start <= HT_LAST && r[i].last >= HT_HOLE)
			bad++;
		if (i && r[i].start <= r[i - 1].last)
			bad++;
	}
	report(!bad, "ranges leave out what is reserved", "%d ranges touch it", bad);
	if (amd || intel)
		report(vf_iommu_coherent(iommu) || intel, "coherent", "AMD-Vi always is");
}

static void check_maps(struct vf_iommu *iommu, char *mem)
{
	struct bp_error err = { 0 };
	int ret;

	report(!vf_iommu_check_memlock(iommu, MEM_SIZE, &err), "memlock", "%s", err.what);
	bp_error_clear(&err);
	ret = vf_iommu_map(iommu, IOVA, mem, MEM_SIZE, VF_MAP_READ | VF_MAP_WRITE, &err);
	report(!ret, "map memory", "%s", err.what);
	bp_error_clear(&err);
	ret = vf_iommu_map(iommu, IOVA + 4096, mem, 4096, VF_MAP_READ, &err);
	report(ret == -EEXIST, "map twice", "%d %s", ret, err.what);
	bp_error_clear(&err);
	ret = vf_iommu_map(iommu, MSI_HOLE, mem, 4096, VF_MAP_READ, &err);
	report(ret == -EINVAL && err.what[0] && err.fix[0], "map over the MSI window", "%d %s", ret,
	       err.what);
	bp_error_clear(&err);
	if (getenv("LAB_IOMMU") && !strcmp(getenv("LAB_IOMMU"), "amd")) {
		ret = vf_iommu_map(iommu, HT_HOLE, mem, 4096, VF_MAP_READ, &err);
		report(ret == -EINVAL && err.what[0], "map in the HyperTransport hole", "%d %s",
		       ret, err.what);
	}
	bp_error_clear(&err);
	ret = vf_iommu_map(iommu, IOVA * 2, mem, 4096, VF_MAP_READ, &err);
	ret = ret ? ret : vf_iommu_unmap(iommu, IOVA * 2, 4096);
	report(!ret, "unmap", "%d %s", ret, err.what);
	ret = vf_iommu_unmap(iommu, IOVA * 2, 4096);
	report(ret == -ENOENT, "unmap what is not mapped", "%d", ret);
}

/* A legacy transmit descriptor; the NIC writes bit 0 of status when it is done. */
struct tx_desc {
	uint64_t addr;
	uint16_t length;
	uint8_t cso;
	uint8_t cmd;
	uint8_t status;
	uint8_t css;
	uint16_t special;
};

static void check_dma(struct vf_device *dev, char *mem)
{
	volatile struct tx_desc *d = (void *)mem;
	int i;

	memset(mem, 0, 8192);
	memset(mem + 4096, 0xff, 12); /* a broadcast frame, of no further meaning */
	d->addr = IOVA + 4096;
	d->length = 60;
	d->cmd = 0x0b; /* end of packet, insert checksum, report status */
	wr(dev, TDBAL, (uint32_t)IOVA);
	wr(dev, TDBAH, (uint32_t)(IOVA >> 32));
	wr(dev, TDLEN, 4096);
	wr(dev, TDH, 0);
	wr(dev, TDT, 0);
	wr(dev, TCTL, 0x2);
	wr(dev, TDT, 1);
	for (i = 0; i < 200 && !(d->status & 1); i++)
		usleep(10000);
	report(d->status & 1, "device reads and writes mapped memory", "descriptor not done");
	wr(dev, TCTL, 0);
}

static void check_msix(struct vf_device *dev)
{
	const struct vf_irq *irq = vf_device_irq(dev, VF_IRQ_MSIX);
	int fds[5], one, ret, i;

	if (!report(irq->count == 5, "MSI-X vectors", "%u", irq->count))
		return;
	for (i = 0; i < 5; i++)
		fds[i] = eventfd(0, EFD_CLOEXEC);
	one = fds[3];
	fds[3] = -1;
	ret = vf_device_irq_set(dev, VF_IRQ_MSIX, 0, 5, fds);
	report(!ret, "enable MSI-X", "%s", strerror(-ret));
	wr(dev, IMC, 0xffffffff);
	wr(dev, IVAR, 0x9u); /* RxQ0 to vector 1, valid */
	rd(dev, ICR);
	wr(dev, ICR, 0xffffffff);
	wr(dev, IMS, CAUSE_RXQ0);
	wr(dev, ICS, CAUSE_RXQ0);
	report(fired(fds[1], SOON) > 0, "MSI-X vector 1 fires", "it does not");
	report(!fired(fds[0], 0) && !fired(fds[2], 0) && !fired(fds[4], 0),
	       "other vectors keep quiet", "one fired");
	/* The cause stays up, so the NIC may signal it more than once: let that pass. */
	wr(dev, IMC, 0xffffffff);
	wr(dev, ICR, 0xffffffff);
	while (fired(fds[1], NEVER))
		;
	ret = vf_device_irq_set(dev, VF_IRQ_MSIX, 1, 1, &one);
	report(!ret, "move a vector to another eventfd", "%s", strerror(-ret));
	wr(dev, IMS, CAUSE_RXQ0);
	wr(dev, ICS, CAUSE_RXQ0);
	report(fired(one, SOON) > 0 && !fired(fds[1], 0), "it fires there", "it does not");
	ret = vf_device_irq_set(dev, VF_IRQ_INTX, 0, 1, fds);
	report(ret == -EBUSY, "INTx while MSI-X is on", "%d", ret);
	ret = vf_device_irq_set(dev, VF_IRQ_MSIX, 0, 6, fds);
	report(ret == -EINVAL, "more vectors than there are", "%d", ret);
	ret = vf_device_irq_disable(dev, VF_IRQ_MSIX);
	report(!ret, "disable MSI-X", "%s", strerror(-ret));
	for (i = 0; i < 5; i++)
		if (fds[i] >= 0)
			close(fds[i]);
	close(one);
	wr(dev, IMC, 0xffffffff);
	wr(dev, ICR, 0xffffffff);
	rd(dev, ICR);
}

static void check_intx(struct vf_device *dev)
{
	int fd = eventfd(0, EFD_CLOEXEC), again = eventfd(0, EFD_CLOEXEC), ret;
	const uint64_t one = 1;

	enable(dev);
	ret = vf_device_irq_set(dev, VF_IRQ_INTX, 0, 1, &fd);
	if (!report(!ret, "enable INTx", "%s", strerror(-ret)))
		goto out;
	wr(dev, IMS, CAUSE_LSC);
	wr(dev, ICS, CAUSE_LSC);
	report(fired(fd, SOON) == 1, "INTx fires", "it does not");
	report(!fired(fd, NEVER), "INTx is masked when it has fired", "it fires again");
	ret = vf_device_intx_unmask(dev);
	report(!ret && fired(fd, SOON) == 1, "unmasked with the line still up, it fires",
	       "%d, it does not", ret);
	rd(dev, ICR);
	ret = vf_device_intx_unmask(dev);
	report(!ret && !fired(fd, NEVER), "unmasked with the line down, it does not", "%d", ret);

	ret = vf_device_intx_unmask_fd(dev, again);
	report(!ret, "unmask by eventfd", "%s", strerror(-ret));
	wr(dev, IMS, CAUSE_LSC);
	wr(dev, ICS, CAUSE_LSC);
	report(fired(fd, SOON) == 1 && !fired(fd, NEVER), "INTx fires once more", "it does not");
	report(write(again, &one, sizeof(one)) == sizeof(one) && fired(fd, SOON) == 1,
	       "signalled, the unmask eventfd lets it fire", "it does not");
	rd(dev, ICR);
	ret = vf_device_intx_unmask_fd(dev, -1);
	report(!ret, "disconnect the unmask eventfd", "%s", strerror(-ret));

	vf_device_intx_unmask(dev);
	fired(fd, 0);
	ret = vf_device_intx_mask(dev);
	wr(dev, IMS, CAUSE_LSC);
	wr(dev, ICS, CAUSE_LSC);
	report(!ret && !fired(fd, NEVER), "masked by hand, it does not fire", "%d", ret);
	ret = vf_device_irq_disable(dev, VF_IRQ_INTX);
	report(!ret, "disable INTx", "%s", strerror(-ret));
	rd(dev, ICR);
out:
	close(fd);
	close(again);
}

static void check_events(struct vf_device *dev)
{
	static const struct {
		unsigned int index;
		const char *name;
	} events[] = { { VF_IRQ_ERR, "error eventfd" }, { VF_IRQ_REQ, "request eventfd" } };
	int fd = eventfd(0, EFD_CLOEXEC), i, ret, none = -1;

	for (i = 0; i < 2; i++) {
		ret = vf_device_irq_set(dev, events[i].index, 0, 1, &fd);
		ret = ret ? ret : vf_device_irq_set(dev, events[i].index, 0, 1, &none);
		ret = ret ? ret : vf_device_irq_disable(dev, events[i].index);
		report(!ret, events[i].name, "%s", strerror(-ret));
	}
	close(fd);
}

#define NVME_CC	  0x14
#define NVME_CSTS 0x1c
#define NVME_AQA  0x24
#define NVME_ASQ  0x28
#define NVME_ACQ  0x30

/* Start the controller: admin queues of 32 entries in the mapped memory. */
static uint32_t nvme_start(struct vf_device *dev)
{
	const uint32_t attributes = 0x001f001f, cc = 6u << 16 | 4u << 20 | 1;
	const uint64_t asq = IOVA, acq = IOVA + 4096;
	uint32_t csts = 0;
	int i;

	vf_device_write(dev, VF_REGION_BAR(0), NVME_AQA, &attributes, sizeof(attributes));
	vf_device_write(dev, VF_REGION_BAR(0), NVME_ASQ, &asq, sizeof(asq));
	vf_device_write(dev, VF_REGION_BAR(0), NVME_ACQ, &acq, sizeof(acq));
	vf_device_write(dev, VF_REGION_BAR(0), NVME_CC, &cc, sizeof(cc));
	for (i = 0; i < 100 && !(csts & 1); i++) {
		usleep(10000);
		vf_device_read(dev, VF_REGION_BAR(0), NVME_CSTS, &csts, sizeof(csts));
	}
	return csts;
}

/*
 * A second device in the same space. NVMe has function-level reset, which QEMU's
 * e1000e lacks, and its MSI-X table among its registers.
 */
static void check_nvme(struct vf_iommu *iommu, const char *bdf)
{
	uint32_t before, after = ~0u;
	struct bp_error err = { 0 };
	const struct vf_region *bar;
	struct vf_device *dev;
	void *va;
	int ret;

	ret = vf_device_open(iommu, bdf, &dev, &err);
	if (!report(!ret, "second device", "%d %s; %s", ret, err.what, err.fix))
		return;
	enable(dev);
	bar = vf_device_region(dev, VF_REGION_BAR(0));
	ret = vf_device_map(dev, VF_REGION_BAR(0), 0, bar->size, &va);
	if (report(!ret && bar->msix_mappable, "map a BAR that holds the MSI-X table", "%d", ret))
		vf_device_unmap(dev, va, bar->size);

	before = nvme_start(dev);
	ret = vf_device_reset(dev);
	enable(dev);
	vf_device_read(dev, VF_REGION_BAR(0), NVME_CSTS, &after, sizeof(after));
	report(vf_device_can_reset(dev) && !ret && before == 1 && after == 0,
	       "reset stops the controller", "%d, status was %#x and is %#x", ret, before, after);
	vf_device_close(dev);
}

static enum vf_backend backend(const char *name)
{
	if (name && !strcmp(name, "type1"))
		return VF_BACKEND_TYPE1;
	if (name && !strcmp(name, "iommufd"))
		return VF_BACKEND_IOMMUFD;
	return VF_BACKEND_AUTO;
}

static const struct vf_host *host(void)
{
	static struct vf_host h = { .root = "/" };

	h.sys = vf_sys_libc();
	return &h;
}

static int only_open(const char *bdf, const char *which)
{
	struct bp_error err = { 0 };
	struct vf_device *dev = NULL;
	struct vf_iommu *iommu = NULL;
	int ret;

	ret = vf_iommu_new(host(), backend(which), &iommu, &err);
	ret = ret ? ret : vf_device_open(iommu, bdf, &dev, &err);
	if (ret)
		fprintf(stderr, "%s: %s; %s\n", strerror(-ret), err.what, err.fix);
	vf_device_close(dev);
	vf_iommu_free(iommu);
	return ret ? 1 : 0;
}

static void check_again(const char *bdf, const char *which)
{
	struct bp_error err = { 0 };
	struct vf_device *dev = NULL;
	struct vf_iommu *other = NULL;
	int ret;

	ret = vf_iommu_new(host(), backend(which), &other, &err);
	ret = ret ? ret : vf_device_open(other, bdf, &dev, &err);
	report(ret == -EBUSY && strstr(err.what, "vfio_host_test (pid "),
	       "a second user hears who has it", "%d %s", ret, err.what);
	vf_device_close(dev);
	vf_iommu_free(other);
}

int main(int argc, char **argv)
{
	const char *bdf = argc > 1 ? argv[1] : NULL, *which = argc > 2 ? argv[2] : NULL;
	struct bp_error err = { 0 };
	struct vf_iommu *iommu = NULL;
	struct vf_device *dev = NULL;
	int ret, round;
	char *mem;

	if (!bdf)
		return 77;
	if (!strcmp(bdf, "--open"))
		return which ? only_open(which, argc > 3 ? argv[3] : NULL) : 2;
	mem = mmap(NULL, MEM_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (mem == MAP_FAILED)
		return 1;
	ret = vf_iommu_new(host(), backend(which), &iommu, &err);
	if (!report(!ret, "address space", "%s; %s", err.what, err.fix))
		return 1;
	report(vf_iommu_ranges(iommu, NULL, 0) == -ENODEV, "no ranges before a device", "some");
	ret = vf_device_open(iommu, bdf, &dev, &err);
	if (!report(!ret, "open", "%s; %s", err.what, err.fix))
		return 1;
	if (which && strcmp(which, "auto"))
		report(!strcmp(vf_iommu_backend(iommu), which), "backend", "%s",
		       vf_iommu_backend(iommu));
	else
		printf("# backend %s\n", vf_iommu_backend(iommu));
	report(vf_device_group(dev) >= 0 && vf_device_kvm_fd(dev) >= 0, "group and KVM's file",
	       "%d, %d", vf_device_group(dev), vf_device_kvm_fd(dev));
	enable(dev);
	check_regions(iommu, dev);
	check_ranges(iommu);
	check_maps(iommu, mem);
	check_dma(dev, mem);
	check_msix(dev);
	check_intx(dev);
	check_events(dev);
	if (argc > 3)
		check_nvme(iommu, argv[3]);
	report(vf_device_reset(dev) == (vf_device_can_reset(dev) ? 0 : -ENOTTY), "reset the NIC",
	       "can: %d", vf_device_can_reset(dev));
	check_again(bdf, which);
	vf_device_close(dev);

	/* The same space again: the last device took group and mappings with it. */
	for (round = 0, ret = 0; round < 2 && !ret; round++) {
		ret = vf_device_open(iommu, bdf, &dev, &err);
		ret = ret ? ret : vf_iommu_map(iommu, IOVA, mem, 4096, VF_MAP_READ, &err);
		if (!ret)
			vf_device_close(dev);
	}
	report(!ret, "open and close again", "%d %s", ret, err.what);
	vf_iommu_free(iommu);
	return failed ? 1 : 0;
}
