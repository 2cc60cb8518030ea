// SPDX-License-Identifier: GPL-2.0-only
/* Devices through both interfaces of VFIO, against the kernel of fake_vfio.h. */
#include "suite.h"
#include "fake_vfio.h"

static const enum vf_backend kinds[] = { VF_BACKEND_TYPE1, VF_BACKEND_IOMMUFD };

static struct bp_error err;
static struct vf_iommu *iommu;
static struct vf_device *dev;

static void start(enum vf_backend backend)
{
	fake_setup();
	fake_cdev("0000:01:00.1", 0);
	fake_cdev("0000:01:00.2", 1);
	bp_error_clear(&err);
	ck_assert_msg(!vf_iommu_new(&fake_host, backend, &iommu, &err), "%s", err.what);
}

static void start_open(enum vf_backend backend)
{
	start(backend);
	ck_assert_msg(!vf_device_open(iommu, "01:00.1", &dev, &err), "%s", err.what);
}

static void end(void)
{
	vf_device_close(dev);
	dev = NULL;
	vf_iommu_free(iommu);
	fake_teardown();
}

static void expect_refused(const char *bdf, int code, const char *what, const char *fix)
{
	bp_error_clear(&err);
	ck_assert_int_eq(vf_device_open(iommu, bdf, &dev, &err), code);
	ck_assert_msg(strstr(err.what, what), "says: %s", err.what);
	ck_assert_msg(strstr(err.fix, fix), "advises: %s", err.fix);
	ck_assert_int_eq(err.code, code);
	ck_assert_ptr_null(dev);
	/* Only the address space itself is still open. */
	ck_assert_int_eq(fake_open_fds(), 1);
}

/* ---- opening and closing ------------------------------------------------------------------ */

START_TEST(a_device_is_described)
{
	const struct vf_region *r;

	start_open(kinds[_i]);
	ck_assert_str_eq(vf_device_bdf(dev), "0000:01:00.1");
	ck_assert_int_eq(vf_device_group(dev), 11);
	ck_assert(vf_device_can_reset(dev));
	r = vf_device_region(dev, VF_REGION_BAR(0));
	ck_assert(r->readable && r->writable && r->msix_mappable);
	ck_assert_uint_eq(r->size, 0x4000);
	ck_assert_uint_eq(r->nr_areas, 1);
	ck_assert_uint_eq(r->areas[0].size, 0x4000);
	r = vf_device_region(dev, VF_REGION_BAR(2));
	ck_assert(!r->msix_mappable && r->nr_areas == 1);
	r = vf_device_region(dev, VF_REGION_CONFIG);
	ck_assert(r->size == 0x1000 && !r->nr_areas);
	ck_assert_uint_eq(vf_device_region(dev, VF_REGION_BAR(1))->size, 0);
	ck_assert_ptr_null(vf_device_region(dev, VF_REGION_COUNT));
	ck_assert_uint_eq(vf_device_irq(dev, VF_IRQ_MSIX)->count, 8);
	ck_assert(vf_device_irq(dev, VF_IRQ_MSIX)->noresize);
	ck_assert(vf_device_irq(dev, VF_IRQ_INTX)->maskable &&
		  vf_device_irq(dev, VF_IRQ_INTX)->automasked);
	ck_assert_uint_eq(vf_device_irq(dev, VF_IRQ_ERR)->count, 0);
	ck_assert_ptr_null(vf_device_irq(dev, VF_IRQ_COUNT));
	ck_assert_int_eq(fake_get(vf_device_kvm_fd(dev))->kind,
			 kinds[_i] == VF_BACKEND_TYPE1 ? FAKE_GROUP : FAKE_DEVICE);
	end();
}
END_TEST

START_TEST(type1_takes_and_gives_back_in_order)
{
	start_open(VF_BACKEND_TYPE1);
	vf_device_close(dev);
	vf_iommu_free(iommu);
	ck_assert_str_eq(fake.log, "open-group11 set-container set-iommu device-fd "
				   "close-device unset-container close-group11 close-container ");
	fake_teardown();
	vf_device_close(NULL);
	vf_iommu_free(NULL);
}
END_TEST

START_TEST(the_iommu_is_set_again_after_the_last_group)
{
	start_open(VF_BACKEND_TYPE1);
	vf_device_close(dev);
	ck_assert(!fake.iommu_set);
	ck_assert_int_eq(vf_device_open(iommu, "01:00.2", &dev, &err), 0);
	ck_assert(fake.iommu_set);
	end();
}
END_TEST

START_TEST(functions_of_one_group_share_it)
{
	struct vf_device *second;

	fake_setup();
	fake_function("0000:01:00.3", "mlx5_vfio_pci", 11);
	ck_assert_int_eq(vf_iommu_new(&fake_host, VF_BACKEND_AUTO, &iommu, &err), 0);
	ck_assert_int_eq(vf_device_open(iommu, "0000:01:00.1", &dev, &err), 0);
	ck_assert_int_eq(vf_device_open(iommu, "0000:01:00.3", &second, &err), 0);
	ck_assert_int_eq(fake_count(FAKE_GROUP, 11, -1), 1);
	ck_assert_int_eq(vf_device_kvm_fd(dev), vf_device_kvm_fd(second));
	vf_device_close(dev);
	dev = NULL;
	ck_assert_int_eq(fake_count(FAKE_GROUP, 11, -1), 1);
	ck_assert(fake.iommu_set);
	vf_device_close(second);
	ck_assert_int_eq(fake_count(FAKE_GROUP, 11, -1), 0);
	end();
}
END_TEST

START_TEST(two_groups_in_one_space)
{
	struct vf_device *second;

	start_open(kinds[_i]);
	ck_assert_int_eq(vf_device_open(iommu, "01:00.2", &second, &err), 0);
	ck_assert_int_eq(vf_device_group(second), 12);
	ck_assert_int_eq(vf_iommu_map(iommu, 0, (void *)0x1000, 0x1000, VF_MAP_READ, &err), 0);
	vf_device_close(dev);
	dev = second;
	/* The mapping stays while a device is left. */
	ck_assert_uint_eq(fake.nr_maps, 1);
	end();
	ck_assert_uint_eq(fake.nr_maps, 0);
}
END_TEST

/* Every call on the way fails once; nothing may be left, and a reason must be given. */
START_TEST(each_call_fails)
{
	static const int errors[] = { EIO, EPERM, EACCES, EBUSY, EINVAL, ENODEV, ENOMEM, EMSGSIZE };
	struct vf_device *second;
	int at, done = 0, fired = 0;
	size_t e;

	fake_setup();
	fake_cdev("0000:01:00.1", 0);
	fake_cdev("0000:01:00.2", 1);
	for (e = 0; e < sizeof(errors) / sizeof(errors[0]); e++) {
		done = 0;
		for (at = 1; !done; at++) {
			int ret;

			ck_assert_int_lt(at, 200);
			fake_reset();
			fake.fail_at = at;
			fake.fail_errno = errors[e];
			bp_error_clear(&err);
			iommu = NULL;
			dev = second = NULL;
			ret = vf_iommu_new(&fake_host, kinds[_i], &iommu, &err);
			ret = ret ? ret : vf_device_open(iommu, "01:00.1", &dev, &err);
			ret = ret ? ret : vf_device_open(iommu, "01:00.2", &second, &err);
			ret = ret ? ret
				  : vf_iommu_map(iommu, 0, (void *)0x1000, 0x1000, VF_MAP_READ,
						 &err);
			if (ret) {
				fired++;
				ck_assert_int_eq(err.code, ret);
				ck_assert_msg(err.what[0], "call %d, errno %d: no reason", at,
					      errors[e]);
			} else {
				/* Some are harmless, such as an interrupt that is not there. */
				ck_assert_uint_eq(fake.nr_maps, 1);
				done = fake.calls < at;
			}
			fake.fail_at = 0;
			vf_device_close(second);
			vf_device_close(dev);
			vf_iommu_free(iommu);
			fake_check_clean();
		}
	}
	fake_teardown();
	ck_assert_int_gt(fired, 50);
	dev = NULL;
}
END_TEST

/* ---- why a device cannot be had ----------------------------------------------------------- */

START_TEST(not_there_or_not_ours)
{
	start(kinds[_i]);
	fake_function("0000:02:00.0", "igb", 20);
	fake_function("0000:02:00.1", NULL, 21);
	expect_refused("0000:09:00.0", -ENODEV, "no PCI function 0000:09:00.0", "vfctl list");
	expect_refused("banana", -EINVAL, "'banana'", "0000:01:00.1");
	expect_refused("../../etc", -EINVAL, "not the name", "01:00.1");
	expect_refused("02:00.0", -ENOTCONN, "0000:02:00.0 is bound to igb",
		       "vfctl bind 0000:02:00.0");
	expect_refused("02:00.1", -ENOTCONN, "not bound to any driver", "vfctl bind 0000:02:00.1");
	end();
}
END_TEST

START_TEST(no_iommu)
{
	start(kinds[_i]);
	fake_function("0000:02:00.0", "vfio-pci", -1);
	expect_refused("02:00.0", -ENOTCONN, "no IOMMU group", "intel_iommu=on");
	ck_assert_ptr_nonnull(strstr(err.fix, "AMD-Vi"));
	fake_file("proc/cmdline", "root=/dev/sda amd_iommu=off quiet\n");
	expect_refused("02:00.0", -ENOTCONN, "no IOMMU group", "without amd_iommu=off");
	fake_file("proc/cmdline", "quiet x_iommu=off\n");
	expect_refused("02:00.0", -ENOTCONN, "no IOMMU group", "intel_iommu=on");
	end();
}
END_TEST

START_TEST(group_not_viable)
{
	start(VF_BACKEND_TYPE1);
	fake_function("0000:01:00.0", "mlx4_core", 11);
	fake_function("0000:01:00.3", NULL, 11);
	fake.not_viable = true;
	expect_refused("01:00.1", -EPERM, "group 11 of 0000:01:00.1 is not viable", "vfctl bind");
	ck_assert_ptr_nonnull(strstr(err.what, "0000:01:00.0 (mlx4_core)"));
	ck_assert_ptr_null(strstr(err.what, "(vfio-pci)"));
	end();
}
END_TEST

/* iommufd answers the same errno for both. */
START_TEST(node_refused)
{
	start(VF_BACKEND_IOMMUFD);
	fake.bind_errno = EPERM;
	expect_refused("01:00.1", -EPERM, "does not remap interrupts",
		       "modprobe iommufd allow_unsafe_interrupts=1");
	fake_function("0000:01:00.0", "mlx4_core", 11);
	expect_refused("01:00.1", -EPERM, "0000:01:00.0 (mlx4_core)", "vfctl bind");
	fake.bind_errno = EBUSY;
	expect_refused("01:00.1", -EPERM, "0000:01:00.0 (mlx4_core)", "vfctl bind");
	fake_remove("sys/kernel/iommu_groups/11/devices/0000:01:00.0");
	expect_refused("01:00.1", -EBUSY, "in use by another process", "stop");
	fake.bind_errno = EACCES;
	expect_refused("01:00.1", -EACCES, "VF token", "physical function");
	end();
}
END_TEST

START_TEST(interrupts_not_remapped)
{
	start(VF_BACKEND_TYPE1);
	fake.set_iommu_errno = EPERM;
	expect_refused("01:00.1", -EPERM, "does not remap interrupts",
		       "modprobe vfio_iommu_type1 allow_unsafe_interrupts=1");
	end();
}
END_TEST

START_TEST(somebody_has_it)
{
	struct vf_iommu *other;

	start_open(kinds[_i]);
	fake_file("proc/4711/comm", "qemu\n");
	fake_link("proc/4711/fd/9",
		  kinds[_i] == VF_BACKEND_TYPE1 ? "/dev/vfio/11" : "/dev/vfio/devices/vfio0");
	ck_assert_int_eq(vf_iommu_new(&fake_host, kinds[_i], &other, &err), 0);
	{
		struct vf_device *second = NULL;

		ck_assert_int_eq(vf_device_open(other, "01:00.1", &second, &err), -EBUSY);
		ck_assert_msg(strstr(err.what,
				     "0000:01:00.1 (IOMMU group 11) is in use by qemu (pid 4711)"),
			      "%s", err.what);
	}
	vf_iommu_free(other);
	end();
}
END_TEST

START_TEST(node_may_not_be_opened)
{
	start(kinds[_i]);
	fake.open_errno = EACCES;
	expect_refused("01:00.1", -EACCES, "may not be opened", "root");
	end();
}
END_TEST

START_TEST(not_a_pci_device)
{
	start(kinds[_i]);
	fake.device_flags = VFIO_DEVICE_FLAGS_PLATFORM;
	expect_refused("01:00.1", -ENODEV, "not a PCI device", "");
	end();
}
END_TEST

/* ---- regions ------------------------------------------------------------------------------ */

static void sparse(unsigned int index, const uint64_t *pairs, uint32_t nr)
{
	uint32_t head[2] = { nr, 0 };
	unsigned char body[512];

	memcpy(body, head, sizeof(head));
	memcpy(body + sizeof(head), pairs, nr * 16);
	fake_region_cap(index, VFIO_REGION_INFO_CAP_SPARSE_MMAP, body, sizeof(head) + nr * 16);
}

START_TEST(sparse_areas_are_sorted)
{
	const uint64_t areas[] = { 0x3000, 0x1000, 0x2000, 0, 0, 0x1000 };
	const struct vf_region *r;

	start(kinds[_i]);
	fake_region(2, 0x4000, FAKE_RWM);
	fake_region_cap(2, 77, "unknown", 8);
	sparse(2, areas, 3);
	ck_assert_int_eq(vf_device_open(iommu, "01:00.1", &dev, &err), 0);
	r = vf_device_region(dev, VF_REGION_BAR(2));
	ck_assert_uint_eq(r->nr_areas, 2); /* the empty one says nothing */
	ck_assert_uint_eq(r->areas[0].offset, 0);
	ck_assert_uint_eq(r->areas[1].offset, 0x3000);
	ck_assert_uint_eq(r->areas[1].size, 0x1000);
	end();
}
END_TEST

START_TEST(sparse_areas_without_mmap)
{
	const uint64_t areas[] = { 0, 0x1000 };

	start(kinds[_i]);
	fake_region(2, 0x4000, FAKE_RW);
	sparse(2, areas, 1);
	ck_assert_int_eq(vf_device_open(iommu, "01:00.1", &dev, &err), 0);
	ck_assert_uint_eq(vf_device_region(dev, VF_REGION_BAR(2))->nr_areas, 0);
	end();
}
END_TEST

START_TEST(regions_that_make_no_sense)
{
	const uint64_t outside[] = { 0x3000, 0x1001 };
	const uint64_t wraps[] = { 0x1000, 0xfffffffffffff000 };
	const uint64_t overlap[] = { 0, 0x2000, 0x1000, 0x1000 };
	const uint64_t overlap_back[] = { 0x1000, 0x1000, 0, 0x1001 };

	start(VF_BACKEND_TYPE1);
	fake_region(2, 0x4000, FAKE_RWM);
	sparse(2, outside, 1);
	expect_refused("01:00.1", -EPROTO, "region 2 of 0000:01:00.1", "");
	fake_region(2, 0x4000, FAKE_RWM);
	sparse(2, wraps, 1);
	expect_refused("01:00.1", -EPROTO, "region 2", "");
	fake_region(2, 0x4000, FAKE_RWM);
	sparse(2, overlap, 2);
	expect_refused("01:00.1", -EPROTO, "region 2", "");
	fake_region(2, 0x4000, FAKE_RWM);
	sparse(2, overlap_back, 2);
	expect_refused("01:00.1", -EPROTO, "region 2", "");
	/* more areas than the answer holds */
	fake_region(2, 0x4000, FAKE_RWM);
	sparse(2, outside, 1);
	fake.regions[2].caps[8] = 200;
	expect_refused("01:00.1", -EPROTO, "region 2", "");
	/* a chain that bites its tail */
	fake_region(2, 0x4000, FAKE_RWM);
	fake_region_cap(2, 50, "", 0);
	fake.regions[2].caps[4] = sizeof(struct vfio_region_info);
	expect_refused("01:00.1", -EPROTO, "region 2", "");
	/* an answer that never fits */
	fake_region(2, 0x4000, FAKE_RWM);
	fake_region_cap(2, 50, "", 0);
	fake.regions[2].info.argsz = 1 << 30;
	expect_refused("01:00.1", -EPROTO, "region 2", "");
	/* beyond what a file offset can say */
	fake_region(2, 1ull << 63, FAKE_RWM);
	expect_refused("01:00.1", -EPROTO, "region 2", "");
	fake_region(2, 0x4000, FAKE_RWM);
	fake.regions[2].info.offset = INT64_MAX - 0x1000;
	expect_refused("01:00.1", -EPROTO, "region 2", "");
	end();
}
END_TEST

START_TEST(more_areas_than_we_keep)
{
	uint64_t areas[2 * 20];
	unsigned int i;

	start(kinds[_i]);
	for (i = 0; i < 20; i++) {
		areas[2 * i] = i * 0x2000;
		areas[2 * i + 1] = 0x1000;
	}
	fake_region(2, 0x40000, FAKE_RWM);
	sparse(2, areas, 20);
	ck_assert_int_eq(vf_device_open(iommu, "01:00.1", &dev, &err), 0);
	ck_assert_uint_eq(vf_device_region(dev, VF_REGION_BAR(2))->nr_areas, VF_REGION_AREAS_MAX);
	end();
}
END_TEST

START_TEST(reading_and_writing)
{
	unsigned char buf[64], want[64];
	unsigned int i;

	start(kinds[_i]);
	fake_region(5, 0x800, FAKE_RW); /* the fake itself would take accesses up to 0x1000 */
	ck_assert_int_eq(vf_device_open(iommu, "01:00.1", &dev, &err), 0);
	for (i = 0; i < sizeof(want); i++)
		want[i] = (unsigned char)(i + 1);
	fake.chunk = 7;
	fake.interrupted = 2;
	ck_assert_int_eq(vf_device_write(dev, VF_REGION_BAR(2), 0x10, want, sizeof(want)), 0);
	ck_assert_mem_eq(fake.memory + 0x10, want, sizeof(want));
	fake.interrupted = 1;
	ck_assert_int_eq(vf_device_read(dev, VF_REGION_CONFIG, 0x10, buf, sizeof(buf)), 0);
	ck_assert_mem_eq(buf, want, sizeof(buf));

	ck_assert_int_eq(vf_device_read(dev, VF_REGION_BAR(5), 0x7fe, buf, 2), 0);
	ck_assert_int_eq(vf_device_read(dev, VF_REGION_BAR(5), 0x7ff, buf, 2), -EINVAL);
	ck_assert_int_eq(vf_device_write(dev, VF_REGION_BAR(5), 0x7ff, buf, 2), -EINVAL);
	ck_assert_int_eq(vf_device_read(dev, VF_REGION_BAR(2), UINT64_MAX, buf, 2), -EINVAL);
	ck_assert_int_eq(vf_device_read(dev, VF_REGION_BAR(2), 0, buf, 0), -EINVAL);
	ck_assert_int_eq(vf_device_read(dev, VF_REGION_BAR(2), 0, buf, 0x2001), -EINVAL);
	ck_assert_int_eq(vf_device_read(dev, VF_REGION_BAR(1), 0, buf, 1), -EINVAL);
	ck_assert_int_eq(vf_device_read(dev, VF_REGION_COUNT, 0, buf, 1), -EINVAL);
	ck_assert_int_eq(vf_device_write(dev, VF_REGION_BAR(2), 0x2000, buf, 1), -EINVAL);
	/* the kernel fails in the middle */
	ck_assert_int_eq(vf_device_read(dev, VF_REGION_BAR(2), 4096 - 32, buf, 64), -EINVAL);
	end();
}
END_TEST

START_TEST(regions_that_go_one_way)
{
	char c = 0;

	start(kinds[_i]);
	fake_region(2, 0x1000, VFIO_REGION_INFO_FLAG_READ);
	fake_region(3, 0x1000, VFIO_REGION_INFO_FLAG_WRITE | VFIO_REGION_INFO_FLAG_MMAP);
	ck_assert_int_eq(vf_device_open(iommu, "01:00.1", &dev, &err), 0);
	ck_assert_int_eq(vf_device_write(dev, VF_REGION_BAR(2), 0, &c, 1), -EACCES);
	ck_assert_int_eq(vf_device_read(dev, VF_REGION_BAR(2), 0, &c, 1), 0);
	ck_assert_int_eq(vf_device_read(dev, VF_REGION_BAR(3), 0, &c, 1), -EACCES);
	{
		void *va;

		ck_assert_int_eq(vf_device_map(dev, VF_REGION_BAR(3), 0, 0x1000, &va), 0);
		ck_assert_ptr_nonnull(
			strstr(fake.log, "mmap 0x30000000000+0x1000:2 ")); /* PROT_WRITE */
		vf_device_unmap(dev, va, 0x1000);
	}
	end();
}
END_TEST

START_TEST(mapping_areas)
{
	const uint64_t areas[] = { 0, 0x1000, 0x3000, 0x2000 };
	void *va;

	start(kinds[_i]);
	fake_region(2, 0x5000, FAKE_RWM);
	sparse(2, areas, 2);
	fake_region(4, 0x100, FAKE_RWM); /* smaller than a page */
	ck_assert_int_eq(vf_device_open(iommu, "01:00.1", &dev, &err), 0);
	ck_assert_int_eq(vf_device_map(dev, VF_REGION_BAR(2), 0x4000, 0x1000, &va), 0);
	ck_assert_msg(strstr(fake.log, "mmap 0x20000004000+0x1000:3 "), "%s", fake.log);
	vf_device_unmap(dev, va, 0x1000);
	ck_assert_int_eq(vf_device_map(dev, VF_REGION_BAR(4), 0, 0x1000, &va), 0);
	vf_device_unmap(dev, va, 0x1000);

	ck_assert_int_eq(vf_device_map(dev, VF_REGION_BAR(2), 0, 0x2000, &va), -EINVAL);
	ck_assert_int_eq(vf_device_map(dev, VF_REGION_BAR(2), 0x1000, 0x1000, &va), -EINVAL);
	ck_assert_int_eq(vf_device_map(dev, VF_REGION_BAR(2), 0x2000, 0x2000, &va), -EINVAL);
	ck_assert_int_eq(vf_device_map(dev, VF_REGION_BAR(2), 0x4000, 0x2000, &va), -EINVAL);
	ck_assert_int_eq(vf_device_map(dev, VF_REGION_BAR(2), 0x800, 0x1000, &va), -EINVAL);
	ck_assert_int_eq(vf_device_map(dev, VF_REGION_BAR(2), 0, 0x800, &va), -EINVAL);
	ck_assert_int_eq(vf_device_map(dev, VF_REGION_BAR(2), 0, 0, &va), -EINVAL);
	ck_assert_int_eq(vf_device_map(dev, VF_REGION_BAR(2), 0xfffffffffffff000, 0x1000, &va),
			 -EINVAL);
	ck_assert_int_eq(vf_device_map(dev, VF_REGION_CONFIG, 0, 0x1000, &va), -EINVAL);
	ck_assert_int_eq(vf_device_map(dev, 99, 0, 0x1000, &va), -EINVAL);
	end();
}
END_TEST

/* ---- interrupts and reset ------------------------------------------------------------------ */

START_TEST(vectors)
{
	const int fds[] = { 50, -1, 52 }, one = 60;
	struct fake_irqs *msix = &fake.irqs[VF_IRQ_MSIX];

	start_open(kinds[_i]);
	ck_assert_int_eq(vf_device_irq_disable(dev, VF_IRQ_MSIX), 0); /* off already */
	ck_assert_int_eq(vf_device_irq_set(dev, VF_IRQ_MSIX, 0, 3, fds), 0);
	ck_assert_int_eq(msix->fds[0], 50);
	ck_assert_int_eq(msix->fds[1], -1);
	ck_assert_int_eq(msix->fds[2], 52);
	ck_assert_int_eq(vf_device_irq_set(dev, VF_IRQ_MSIX, 7, 1, &one), 0);
	ck_assert_int_eq(msix->fds[7], 60);

	ck_assert_int_eq(vf_device_irq_set(dev, VF_IRQ_MSIX, 7, 2, fds), -EINVAL);
	ck_assert_int_eq(vf_device_irq_set(dev, VF_IRQ_MSIX, 8, 1, fds), -EINVAL);
	ck_assert_int_eq(vf_device_irq_set(dev, VF_IRQ_MSIX, 1, UINT32_MAX, fds), -EINVAL);
	ck_assert_int_eq(vf_device_irq_set(dev, VF_IRQ_MSIX, 0, 0, fds), -EINVAL);
	ck_assert_int_eq(vf_device_irq_set(dev, VF_IRQ_MSI, 0, 1, fds), -EINVAL); /* has none */
	ck_assert_int_eq(vf_device_irq_set(dev, VF_IRQ_COUNT, 0, 1, fds), -EINVAL);
	ck_assert_int_eq(vf_device_irq_disable(dev, VF_IRQ_COUNT), -EINVAL);

	/* One of INTx, MSI and MSI-X at a time; the events go beside them. */
	ck_assert_int_eq(vf_device_irq_set(dev, VF_IRQ_INTX, 0, 1, &one), -EBUSY);
	ck_assert_int_eq(vf_device_irq_set(dev, VF_IRQ_REQ, 0, 1, &one), 0);
	ck_assert_int_eq(vf_device_irq_disable(dev, VF_IRQ_MSIX), 0);
	ck_assert(!msix->on);
	ck_assert_int_eq(vf_device_irq_set(dev, VF_IRQ_INTX, 0, 1, &one), 0);
	end();
	ck_assert(!fake.irqs[VF_IRQ_INTX].on && !fake.irqs[VF_IRQ_REQ].on);
}
END_TEST

START_TEST(events)
{
	const int fd = 70, none = -1;

	start_open(kinds[_i]);
	ck_assert_int_eq(vf_device_irq_set(dev, VF_IRQ_REQ, 0, 1, &fd), 0);
	ck_assert_int_eq(fake.irqs[VF_IRQ_REQ].fds[0], 70);
	ck_assert_int_eq(vf_device_irq_set(dev, VF_IRQ_REQ, 0, 1, &none), 0);
	ck_assert_int_eq(vf_device_irq_disable(dev, VF_IRQ_REQ), 0);
	ck_assert_int_eq(vf_device_irq_set(dev, VF_IRQ_ERR, 0, 1, &fd), -EINVAL); /* has none */
	end();
}
END_TEST

START_TEST(intx)
{
	const int fd = 80;

	start_open(kinds[_i]);
	ck_assert_int_eq(vf_device_irq_set(dev, VF_IRQ_INTX, 0, 1, &fd), 0);
	ck_assert_int_eq(vf_device_intx_unmask(dev), 0);
	ck_assert_int_eq(fake.unmasked, 1);
	ck_assert_int_eq(vf_device_intx_mask(dev), 0);
	ck_assert_int_eq(fake.masked, 1);
	ck_assert_int_eq(vf_device_intx_unmask_fd(dev, 81), 0);
	ck_assert_int_eq(fake.unmask_fd, 81);
	ck_assert_int_eq(vf_device_intx_unmask_fd(dev, -1), 0);
	ck_assert_int_eq(fake.unmask_fd, -1);
	ck_assert_int_eq(vf_device_irq_disable(dev, VF_IRQ_INTX), 0);
	vf_device_close(dev);

	fake.irqs[VF_IRQ_INTX].count = 0; /* as a virtual function */
	ck_assert_int_eq(vf_device_open(iommu, "01:00.1", &dev, &err), 0);
	ck_assert_int_eq(vf_device_intx_unmask(dev), -EINVAL);
	ck_assert_int_eq(vf_device_intx_mask(dev), -EINVAL);
	ck_assert_int_eq(vf_device_intx_unmask_fd(dev, 81), -EINVAL);
	end();
}
END_TEST

START_TEST(interrupts_without_eventfds)
{
	start(kinds[_i]);
	fake.irqs[VF_IRQ_MSIX].flags = 0;
	ck_assert_int_eq(vf_device_open(iommu, "01:00.1", &dev, &err), 0);
	ck_assert_uint_eq(vf_device_irq(dev, VF_IRQ_MSIX)->count, 0);
	end();
}
END_TEST

START_TEST(reset)
{
	start_open(kinds[_i]);
	ck_assert_int_eq(vf_device_reset(dev), 0);
	ck_assert_int_eq(fake.resets, 1);
	vf_device_close(dev);
	fake.device_flags = VFIO_DEVICE_FLAGS_PCI;
	ck_assert_int_eq(vf_device_open(iommu, "01:00.1", &dev, &err), 0);
	ck_assert(!vf_device_can_reset(dev));
	ck_assert_int_eq(vf_device_reset(dev), -ENOTTY);
	ck_assert_int_eq(fake.resets, 1);
	end();
}
END_TEST

int main(void)
{
	const TTest *once_tests[] = {
		type1_takes_and_gives_back_in_order,
		the_iommu_is_set_again_after_the_last_group,
		functions_of_one_group_share_it,
		group_not_viable,
		node_refused,
		interrupts_not_remapped,
		regions_that_make_no_sense,
	};
	const TTest *both_tests[] = {
		a_device_is_described,
		two_groups_in_one_space,
		each_call_fails,
		not_there_or_not_ours,
		no_iommu,
		somebody_has_it,
		node_may_not_be_opened,
		not_a_pci_device,
		sparse_areas_are_sorted,
		sparse_areas_without_mmap,
		more_areas_than_we_keep,
		reading_and_writing,
		regions_that_go_one_way,
		mapping_areas,
		vectors,
		events,
		intx,
		interrupts_without_eventfds,
		reset,
	};
	Suite *suite = suite_create("devices");
	TCase *once = tcase_create("one kind"), *both = tcase_create("both kinds");
	SRunner *runner = srunner_create(suite);
	int failed;
	size_t i;

	suite_add_tcase(suite, once);
	suite_add_tcase(suite, both);
	tcase_set_timeout(both, 120);
	for (i = 0; i < sizeof(once_tests) / sizeof(once_tests[0]); i++)
		tcase_add_test(once, once_tests[i]);
	for (i = 0; i < sizeof(both_tests) / sizeof(both_tests[0]); i++)
		tcase_add_loop_test(both, both_tests[i], 0, 2);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
