// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "vmm/boot/setup.h"
#include "vmm/layout.h"

/* The start of the BIOS data area that kernels look at. */
#define BDA_EBDA_SEGMENT 0x40eull
#define BDA_BASE_KIB	 0x413ull

/* The entry points, from where the kernel proper is loaded. */
#define ENTRY32 0x0
#define ENTRY64 0x200

struct vmm_image {
	int fd;
	struct vmm_setup setup;
};

/* Whole regular files only: a pipe could not be read again at a restart. */
static int open_file(const char *path, const char *what, uint64_t *size, struct bp_error *err)
{
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return bp_error_set(err, -errno, NULL, "cannot open the %s %s: %s", what, path,
				    strerror(errno));
	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_size <= 0) {
		close(fd);
		return bp_error_set(err, -EINVAL, NULL, "the %s %s is not a file with content",
				    what, path);
	}
	*size = (uint64_t)st.st_size;
	return fd;
}

static int read_all(int fd, void *buf, uint64_t len, uint64_t offset)
{
	uint8_t *p = buf;

	while (len) {
		ssize_t n = pread(fd, p, len > 1 << 30 ? 1 << 30 : (size_t)len, (off_t)offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -EIO;
		p += n;
		offset += (uint64_t)n;
		len -= (uint64_t)n;
	}
	return 0;
}

int vmm_image_open(const char *path, struct vmm_image **out, struct bp_error *err)
{
	struct vmm_image *image;
	uint8_t head[4096];
	struct bp_error why = { 0 };
	uint64_t size = 0;
	size_t len;
	int fd, ret;

	fd = open_file(path, "kernel", &size, err);
	if (fd < 0)
		return fd == -EINVAL ? -ENOEXEC : fd;
	image = calloc(1, sizeof(*image));
	if (!image) {
		close(fd);
		return -ENOMEM;
	}
	image->fd = fd;
	len = size < sizeof(head) ? (size_t)size : sizeof(head);
	ret = read_all(fd, head, len, 0);
	if (ret) {
		bp_error_set(err, ret, NULL, "cannot read the kernel %s: %s", path, strerror(-ret));
		goto fail;
	}
	ret = vmm_setup_parse(head, len, size, &image->setup, &why);
	if (ret) {
		bp_error_set(err, ret, why.fix[0] ? why.fix : NULL, "%s: %.400s", path, why.what);
		goto fail;
	}
	*out = image;
	return 0;
fail:
	vmm_image_free(image);
	return ret;
}

void vmm_image_free(struct vmm_image *image)
{
	if (!image)
		return;
	close(image->fd);
	free(image);
}

static int put(struct vmm_ram *ram, uint64_t gpa, const void *data, uint64_t len)
{
	void *p = vmm_ram_at(ram, gpa, len);

	if (!p)
		return -EFAULT;
	memcpy(p, data, len);
	return 0;
}

static int put_blob(struct vmm_ram *ram, struct vmm_blob *blob)
{
	int ret = put(ram, blob->gpa, blob->data, blob->size);

	free(blob->data);
	return ret;
}

static int put_firmware(struct vmm_ram *ram, const struct vmm_platform *platform,
			struct bp_error *err)
{
	const uint16_t ebda_segment = VMM_EBDA >> 4, base_kib = VMM_EBDA >> 10;
	const uint16_t ebda_kib = VMM_EBDA_SIZE >> 10;
	struct vmm_blob rsdp, tables, mp;
	int ret, ret2;

	ret = vmm_acpi_build(platform, &rsdp, &tables);
	if (ret)
		goto out;
	ret = put_blob(ram, &rsdp);
	ret2 = put_blob(ram, &tables);
	ret = ret ? ret : ret2;
	if (ret)
		goto out;
	ret = vmm_mptable_build(platform, &mp);
	if (ret)
		goto out;
	ret = put_blob(ram, &mp);
	if (!ret)
		ret = put(ram, BDA_EBDA_SEGMENT, &ebda_segment, sizeof(ebda_segment));
	if (!ret)
		ret = put(ram, BDA_BASE_KIB, &base_kib, sizeof(base_kib));
	if (!ret)
		ret = put(ram, VMM_EBDA, &ebda_kib, sizeof(ebda_kib));
out:
	if (ret)
		bp_error_set(err, ret, NULL, "the firmware tables cannot be made: %s",
			     strerror(-ret));
	return ret;
}

static int put_file(struct vmm_ram *ram, int fd, uint64_t offset, uint64_t gpa, uint64_t len,
		    const char *what, struct bp_error *err)
{
	void *p = vmm_ram_at(ram, gpa, len);
	int ret = p ? read_all(fd, p, len, offset) : -EFAULT;

	if (ret)
		bp_error_set(err, ret, NULL, "cannot read the %s: %s", what, strerror(-ret));
	return ret;
}

static int check_cmdline(const struct vmm_setup *setup, const char *cmdline, struct bp_error *err)
{
	size_t len = strlen(cmdline);

	if (len > setup->cmdline_max)
		return bp_error_set(
			err, -E2BIG, "shorten --append",
			"the kernel command line has %zu characters and this kernel takes %u", len,
			setup->cmdline_max);
	return 0;
}

int vmm_boot_check(const struct vmm_image *image, const char *initrd, const char *cmdline,
		   uint64_t low_end, struct bp_error *err)
{
	struct vmm_placement where;
	uint64_t size = 0;
	int ret = check_cmdline(&image->setup, cmdline, err);

	if (ret)
		return ret;
	if (initrd) {
		int fd = open_file(initrd, "initrd", &size, err);

		if (fd < 0)
			return fd;
		close(fd);
	}
	return vmm_setup_place(&image->setup, low_end, size, &where, err);
}

int vmm_boot_load(struct vmm_ram *ram, const struct vmm_image *image, const char *initrd,
		  const char *cmdline, const struct vmm_platform *platform, struct vmm_entry *entry,
		  struct bp_error *err)
{
	const struct vmm_ram_layout *layout = vmm_ram_layout(ram);
	const struct vmm_setup *setup = &image->setup;
	struct vmm_e820 map[VMM_E820_MAX];
	struct vmm_placement where;
	uint8_t params[VMM_PARAMS_SIZE];
	uint8_t gdt[VMM_BOOT_GDT_SIZE];
	void *tables = vmm_ram_at(ram, VMM_BOOT_PAGE_TABLES, VMM_BOOT_PAGE_TABLES_SIZE);
	uint64_t initrd_size = 0;
	int initrd_fd = -1, ret;

	if (!tables)
		return -EFAULT;
	ret = check_cmdline(setup, cmdline, err);
	if (ret)
		return ret;
	if (initrd) {
		initrd_fd = open_file(initrd, "initrd", &initrd_size, err);
		if (initrd_fd < 0)
			return initrd_fd;
	}
	ret = vmm_setup_place(setup, layout->region[0].size, initrd_size, &where, err);
	if (ret)
		goto out;
	ret = put_file(ram, image->fd, setup->setup_size, where.load, setup->payload_size, "kernel",
		       err);
	if (!ret && initrd_size)
		ret = put_file(ram, initrd_fd, 0, where.initrd, initrd_size, "initrd", err);
	if (!ret)
		ret = put_firmware(ram, platform, err);
	if (ret)
		goto out;
	vmm_setup_params(setup, &where, initrd_size, map, vmm_e820_build(layout, map), params);
	vmm_setup_gdt(setup->entry64, gdt);
	vmm_setup_page_tables(VMM_BOOT_PAGE_TABLES, tables);
	ret = put(ram, VMM_BOOT_ZERO_PAGE, params, sizeof(params));
	if (!ret)
		ret = put(ram, VMM_BOOT_GDT, gdt, sizeof(gdt));
	if (!ret)
		ret = put(ram, VMM_BOOT_CMDLINE, cmdline, strlen(cmdline) + 1);
	if (ret)
		goto out;
	*entry = (struct vmm_entry){
		.rip = where.load + (setup->entry64 ? ENTRY64 : ENTRY32),
		.zero_page = VMM_BOOT_ZERO_PAGE,
		.long_mode = setup->entry64,
		.gdt = VMM_BOOT_GDT,
		.page_tables = VMM_BOOT_PAGE_TABLES,
	};
out:
	if (initrd_fd >= 0)
		close(initrd_fd);
	return ret;
}
