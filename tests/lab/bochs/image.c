// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writes the disk that Bochs boots (layout.h) to standard output: loader, kernel,
 * first file system. To the file system that was made once it adds a second archive with
 * the caller's files, and with the command to run, its environment and folder; the
 * kernel unpacks one after the other.
 *
 * Usage: image -l LOADER -k VMLINUX -b CPIO -c CMDLINE [-f FILE:PATH]... COMMAND [ARG]...
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "layout.h"

#define SECTOR	 512u
#define CYLINDER (16u * 63u * SECTOR) /* Bochs wants whole ones */

#define EXIT_LAB 125

struct bytes {
	char *data;
	size_t len, cap;
};

__attribute__((format(printf, 1, 2), noreturn)) static void die(const char *fmt, ...)
{
	va_list ap;

	fputs("lab: ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	exit(EXIT_LAB);
}

static char *bytes_room(struct bytes *b, size_t len)
{
	if (b->cap - b->len < len) {
		b->cap = (b->len + len) * 2;
		b->data = realloc(b->data, b->cap);
		if (!b->data)
			die("out of memory");
	}
	return b->data + b->len;
}

static void bytes_add(struct bytes *b, const void *data, size_t len)
{
	memcpy(bytes_room(b, len), data, len);
	b->len += len;
}

static void bytes_pad(struct bytes *b, size_t to)
{
	size_t len = (to - b->len % to) % to;

	memset(bytes_room(b, len), 0, len);
	b->len += len;
}

static mode_t bytes_add_file(struct bytes *b, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	ssize_t n;

	if (fd < 0 || fstat(fd, &st))
		die("%s: %s", path, strerror(errno));
	if (!S_ISREG(st.st_mode))
		die("%s is not a file", path);
	bytes_room(b, (size_t)st.st_size + 1);
	while ((n = read(fd, bytes_room(b, 65536), 65536)) > 0)
		b->len += (size_t)n;
	if (n < 0)
		die("%s: %s", path, strerror(errno));
	close(fd);
	return st.st_mode;
}

/* One entry of an archive: cpio's "newc", Documentation/driver-api/early-userspace/buffer-format.rst. */
static void cpio_entry(struct bytes *b, const char *name, mode_t mode, const void *data, size_t len)
{
	static unsigned int inode = 1000000; /* not one of the first archive's */
	char header[111];

	if (len > 0xffffffff)
		die("%s is too large", name);
	snprintf(header, sizeof(header),
		 "070701%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x", inode++, mode, 0, 0,
		 1, 0, (unsigned int)len, 0, 0, 0, 0, (unsigned int)strlen(name) + 1, 0);
	bytes_add(b, header, 110);
	bytes_add(b, name, strlen(name) + 1);
	bytes_pad(b, 4);
	bytes_add(b, data, len);
	bytes_pad(b, 4);
}

/* The folders that lead to a path; the kernel takes one that is there already as it is given. */
static void cpio_parents(struct bytes *b, const char *path)
{
	static const char *const base[] = {
		"bin", "dev", "etc", "proc", "run", "sys", "tmp", "lab"
	};
	char dir[4096];

	for (const char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
		bool have = false;

		snprintf(dir, sizeof(dir), "%.*s", (int)(slash - path), path);
		for (size_t i = 0; i < sizeof(base) / sizeof(*base); i++)
			have |= !strcmp(dir, base[i]);
		if (!have && *dir)
			cpio_entry(b, dir, S_IFDIR | 0755, "", 0);
	}
}

static void cpio_file(struct bytes *b, const char *path, mode_t mode, const void *data, size_t len)
{
	path += strspn(path, "/");
	if (!*path || strlen(path) > 4000)
		die("an empty path, or one that is too long, in the emulated host");
	cpio_parents(b, path);
	cpio_entry(b, path, mode, data, len);
}

static void add_file(struct bytes *b, const char *arg)
{
	const char *colon = strchr(arg, ':');
	struct bytes content = { 0 };
	char *file = strndup(arg, colon ? (size_t)(colon - arg) : 0);
	mode_t mode;

	if (!colon || !file)
		die("-f %s: FILE:PATH is wanted", arg);
	mode = bytes_add_file(&content, file);
	cpio_file(b, colon + 1, S_IFREG | (mode & 0755), content.data, content.len);
	free(content.data);
	free(file);
}

static void add_strings(struct bytes *b, const char *path, char **strings)
{
	struct bytes content = { 0 };

	bytes_room(&content, 1);
	for (; *strings; strings++)
		bytes_add(&content, *strings, strlen(*strings) + 1);
	cpio_file(b, path, S_IFREG | 0644, content.data, content.len);
	free(content.data);
}

static void add_command(struct bytes *b, char **argv)
{
	char *cwd = getcwd(NULL, 0), *cwds[] = { cwd, NULL };

	if (!cwd)
		die("working directory: %s", strerror(errno));
	add_strings(b, "lab/argv", argv);
	add_strings(b, "lab/env", environ);
	add_strings(b, "lab/cwd", cwds);
	cpio_entry(b, "TRAILER!!!", 0, "", 0);
	free(cwd);
}

static void write_all(const struct bytes *b)
{
	for (size_t at = 0; at < b->len;) {
		ssize_t n = write(STDOUT_FILENO, b->data + at, b->len - at);

		if (n < 0 && errno != EINTR)
			die("writing the disk: %s", strerror(errno));
		at += n > 0 ? (size_t)n : 0;
	}
}

int main(int argc, char **argv)
{
	const char *loader = NULL, *kernel = NULL, *base = NULL, *cmdline = "";
	struct bytes disk = { 0 }, initrd = { 0 }, added = { 0 };
	struct layout *layout;
	int opt;

	while ((opt = getopt(argc, argv, "+l:k:b:c:f:")) != -1) {
		switch (opt) {
		case 'l':
			loader = optarg;
			break;
		case 'k':
			kernel = optarg;
			break;
		case 'b':
			base = optarg;
			break;
		case 'c':
			cmdline = optarg;
			break;
		case 'f':
			add_file(&added, optarg);
			break;
		default:
			return EXIT_LAB;
		}
	}
	if (!loader || !kernel || !base || optind == argc)
		die("image: wrong arguments");
	add_command(&added, argv + optind);
	bytes_add_file(&initrd, base);
	bytes_pad(&initrd, SECTOR);
	bytes_add(&initrd, added.data, added.len);

	bytes_add_file(&disk, loader);
	if (disk.len < (1 + LAYOUT_SECTORS) * SECTOR || disk.len > LAYOUT_PROGRAM * SECTOR)
		die("%s has a wrong size", loader);
	memset(bytes_room(&disk, LAYOUT_PROGRAM * SECTOR), 0, LAYOUT_PROGRAM * SECTOR - disk.len);
	disk.len = LAYOUT_PROGRAM * SECTOR;
	bytes_add_file(&disk, kernel);
	bytes_pad(&disk, SECTOR);

	layout = (struct layout *)(void *)(disk.data + SECTOR);
	if (layout->magic != LAYOUT_MAGIC)
		die("%s is not the loader", loader);
	layout->kernel_lba = LAYOUT_PROGRAM;
	layout->initrd_lba = (uint32_t)(disk.len / SECTOR);
	layout->initrd_bytes = initrd.len;
	if (strlen(cmdline) >= sizeof(layout->cmdline))
		die("the kernel's parameters are too long");
	memcpy(layout->cmdline, cmdline, strlen(cmdline) + 1);
	bytes_add(&disk, initrd.data, initrd.len);
	bytes_pad(&disk, CYLINDER);
	write_all(&disk);
	return 0;
}
