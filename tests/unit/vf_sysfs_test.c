// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>

#include <vf/admin.h>
#include <vf/sysfs.h>

#include "faketree.h"
#include "suite.h"

static struct faketree t;

START_TEST(text)
{
	char buf[8];

	ft_new(&t);
	ft_file(&t, "igb\n \n", "a/driver");
	ft_file(&t, "1234567", "a/fits");
	ft_file(&t, "12345678", "a/long");
	ft_file(&t, "", "a/empty");
	ft_bytes(&t, "a\0b", 3, "a/nul");
	ck_assert_int_eq(vf_sysfs_read(&t.host, buf, sizeof(buf), "a/%s", "driver"), 3);
	ck_assert_str_eq(buf, "igb");
	ck_assert_int_eq(vf_sysfs_read(&t.host, buf, sizeof(buf), "a/fits"), 7);
	ck_assert_int_eq(vf_sysfs_read(&t.host, buf, sizeof(buf), "a/long"), -EOVERFLOW);
	ck_assert_int_eq(vf_sysfs_read(&t.host, buf, sizeof(buf), "a/empty"), 0);
	ck_assert_str_eq(buf, "");
	ck_assert_int_eq(vf_sysfs_read(&t.host, buf, sizeof(buf), "a/nul"), -EILSEQ);
	ck_assert_int_eq(vf_sysfs_read(&t.host, buf, sizeof(buf), "a/none"), -ENOENT);
	ck_assert_int_eq(vf_sysfs_read(&t.host, buf, sizeof(buf), "a"), -EINVAL);
	ft_free(&t);
}
END_TEST

START_TEST(numbers)
{
	static const char *const bad[] = { "", "x", "-1", "1 2", "0x", "0xg", "18446744073709551616" };
	uint64_t v = 77;
	int64_t s;

	ft_new(&t);
	ft_file(&t, "0x8086\n", "hex");
	ft_file(&t, "010\n", "ten");
	ft_file(&t, "-1\n", "minus");
	ck_assert_int_eq(vf_sysfs_read_u64(&t.host, &v, "hex"), 0);
	ck_assert_uint_eq(v, 0x8086);
	/* No octal: the kernel writes none. */
	ck_assert_int_eq(vf_sysfs_read_u64(&t.host, &v, "ten"), 0);
	ck_assert_uint_eq(v, 10);
	ck_assert_int_eq(vf_sysfs_read_s64(&t.host, &s, "minus"), 0);
	ck_assert_int_eq(s, -1);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		ft_file(&t, bad[i], "bad");
		ck_assert_int_lt(vf_sysfs_read_u64(&t.host, &v, "bad"), 0);
	}
	ck_assert_uint_eq(v, 10);
	ft_free(&t);
}
END_TEST

/* Somebody else made the tree: its links must not lead to the files of this machine. */
START_TEST(links_stay_below_the_root)
{
	char buf[64], outside[128];

	ft_new(&t);
	snprintf(outside, sizeof(outside), "%s-outside", t.root);
	{
		FILE *f = fopen(outside, "w");

		fputs("secret", f);
		fclose(f);
	}
	ft_file(&t, "inside", "tmp/target");
	ft_link(&t, outside, "absolute");
	ft_link(&t, "../../../../../../../../../etc/passwd", "climbing");
	ft_link(&t, "/tmp/target", "rooted");
	ck_assert_int_eq(vf_sysfs_read(&t.host, buf, sizeof(buf), "absolute"), -ENOENT);
	ck_assert_int_eq(vf_sysfs_read(&t.host, buf, sizeof(buf), "climbing"), -ENOENT);
	ck_assert_int_lt(vf_sysfs_read(&t.host, buf, sizeof(buf), "../%s", strrchr(outside, '/') + 1), 0);
	ck_assert_int_eq(vf_sysfs_read(&t.host, buf, sizeof(buf), "rooted"), 6);
	ck_assert_str_eq(buf, "inside");
	unlink(outside);
	ft_free(&t);
}
END_TEST

START_TEST(writes_stay_below_the_root)
{
	struct vf_admin a;
	char outside[128], path[256];
	struct stat st;
	int dir;

	ft_new(&t);
	snprintf(outside, sizeof(outside), "%s-outside", t.root);
	mkdir(outside, 0755);
	ft_link(&t, outside, "run");
	vf_admin_init(&a, &t.host);
	ck_assert(!a.live);
	/* The link is dangling inside the root, so no folder can be made of it. */
	dir = vf_admin_dir(&t.host, "run/bluepass");
	ck_assert_int_lt(dir, 0);
	snprintf(path, sizeof(path), "%s/bluepass", outside);
	ck_assert_int_eq(stat(path, &st), -1);
	snprintf(path, sizeof(path), "%s/attr", outside);
	fclose(fopen(path, "w"));
	ck_assert_int_lt(vf_admin_write(&a, "1", "run/attr"), 0);
	ck_assert_int_eq(stat(path, &st), 0);
	ck_assert_int_eq(st.st_size, 0);
	unlink(path);
	rmdir(outside);
	ft_free(&t);
}
END_TEST

START_TEST(nothing_is_waited_for)
{
	char buf[8], path[128];
	struct vf_admin a;

	ft_new(&t);
	snprintf(path, sizeof(path), "%s/fifo", t.root);
	ck_assert_int_eq(mkfifo(path, 0600), 0);
	vf_admin_init(&a, &t.host);
	ck_assert_int_eq(vf_sysfs_read(&t.host, buf, sizeof(buf), "fifo"), -EINVAL);
	ck_assert_int_lt(vf_admin_write(&a, "1", "fifo"), 0);
	ft_link(&t, "loop", "loop");
	ck_assert_int_eq(vf_sysfs_read(&t.host, buf, sizeof(buf), "loop"), -ELOOP);
	ft_free(&t);
}
END_TEST

START_TEST(link_names)
{
	char buf[8];

	ft_new(&t);
	ft_link(&t, "../../bus/pci/drivers/igb", "driver");
	ft_link(&t, "..", "up");
	ft_link(&t, "a/", "slash");
	ft_link(&t, "x/a_long_name", "long");
	ft_file(&t, "igb", "file");
	ck_assert_int_eq(vf_sysfs_link_name(&t.host, buf, sizeof(buf), "driver"), 0);
	ck_assert_str_eq(buf, "igb");
	ck_assert_int_eq(vf_sysfs_link_name(&t.host, buf, sizeof(buf), "up"), -EINVAL);
	ck_assert_int_eq(vf_sysfs_link_name(&t.host, buf, sizeof(buf), "slash"), -EINVAL);
	ck_assert_int_eq(vf_sysfs_link_name(&t.host, buf, sizeof(buf), "long"), -EOVERFLOW);
	ck_assert_int_eq(vf_sysfs_link_name(&t.host, buf, sizeof(buf), "file"), -EINVAL);
	ck_assert_int_eq(vf_sysfs_link_name(&t.host, buf, sizeof(buf), "none"), -ENOENT);
	ft_free(&t);
}
END_TEST

START_TEST(folders)
{
	struct vf_names names;

	ft_new(&t);
	ft_file(&t, "", "d/virtfn10");
	ft_file(&t, "", "d/virtfn2");
	ft_file(&t, "", "d/.hidden");
	ck_assert_int_eq(vf_sysfs_list(&t.host, &names, "d"), 0);
	ck_assert_uint_eq(names.count, 3);
	ck_assert_str_eq(names.name[1], "virtfn2");
	ck_assert_str_eq(names.name[2], "virtfn10");
	vf_names_free(&names);
	ck_assert_int_eq(vf_sysfs_list(&t.host, &names, "none"), -ENOENT);
	ck_assert_uint_eq(names.count, 0);
	ft_free(&t);
}
END_TEST

START_TEST(whole_files)
{
	char *big = malloc(100000), *got;

	ft_new(&t);
	memset(big, 'x', 100000);
	ft_bytes(&t, big, 100000, "big");
	ck_assert_int_eq(vf_sysfs_read_all(&t.host, 100000, &got, "big"), 0);
	ck_assert_uint_eq(strlen(got), 100000);
	free(got);
	ck_assert_int_eq(vf_sysfs_read_all(&t.host, 99999, &got, "big"), -EFBIG);
	free(big);
	ft_free(&t);
}
END_TEST

START_TEST(real_paths)
{
	char buf[64], small[8];

	ft_new(&t);
	ft_file(&t, "", "sys/devices/a/b/file");
	ft_link(&t, "../../devices/a/b", "sys/class/net/eth0");
	ck_assert_int_eq(vf_sysfs_realpath(&t.host, buf, sizeof(buf), "sys/class/net/%s", "eth0"), 0);
	ck_assert_str_eq(buf, "sys/devices/a/b");
	ck_assert_int_eq(vf_sysfs_realpath(&t.host, small, sizeof(small), "sys/class/net/eth0"), -EOVERFLOW);
	ck_assert_int_eq(vf_sysfs_realpath(&t.host, buf, sizeof(buf), "sys/class/net/eth1"), -ENOENT);
	ft_free(&t);
}
END_TEST

START_TEST(long_texts_and_paths)
{
	char line[VF_ATTR_MAX + 1], path[PATH_MAX + 2];
	struct vf_admin a;

	ft_new(&t);
	vf_admin_init(&a, &t.host);
	ft_file(&t, "old", "attr");
	memset(line, 'x', sizeof(line) - 1);
	line[sizeof(line) - 1] = 0;
	ck_assert_int_eq(vf_admin_write(&a, line, "attr"), -EMSGSIZE);
	ck_assert_str_eq(ft_text(&t, "attr"), "old");
	memset(path, 'a', sizeof(path) - 1);
	path[sizeof(path) - 1] = 0;
	ck_assert_int_eq(vf_sysfs_read(&t.host, line, sizeof(line), "%s", path), -ENAMETOOLONG);
	ck_assert_int_eq(vf_admin_write(&a, "1", "%s", path), -ENAMETOOLONG);
	ck_assert_int_eq(vf_admin_write(&a, "vfio-pci", "attr"), 0);
	ck_assert_str_eq(ft_text(&t, "attr"), "vfio-pci");
	ft_free(&t);
}
END_TEST

/*
 * While anything anywhere on the machine is renamed, the kernel cannot be sure of ".." in a
 * path that must stay below a root, and says EAGAIN: no answer about the file at all.
 */
START_TEST(renames_elsewhere_do_not_matter)
{
	char one[128], two[128];
	int64_t v;
	int failed = 0;
	pid_t busy;

	ft_new(&t);
	ft_file(&t, "7\n", "sys/devices/pci0000:00/0000:00:03.0/numa_node");
	ft_link(&t, "../../../devices/pci0000:00/0000:00:03.0", "sys/bus/pci/devices/0000:00:03.0");
	ft_file(&t, "", "one");
	snprintf(one, sizeof(one), "%s/one", t.root);
	snprintf(two, sizeof(two), "%s/two", t.root);
	busy = fork();
	ck_assert_int_ge(busy, 0);
	while (!busy)
		if (rename(one, two) || rename(two, one))
			_exit(1);
	for (int i = 0; i < 20000; i++)
		failed += vf_sysfs_read_s64(&t.host, &v, "sys/bus/pci/devices/0000:00:03.0/numa_node") ||
			  !vf_sysfs_exists(&t.host, "sys/bus/pci/devices/0000:00:03.0");
	kill(busy, SIGKILL);
	ck_assert_int_eq(waitpid(busy, NULL, 0), busy);
	ck_assert_int_eq(failed, 0);
	ft_free(&t);
}
END_TEST

SUITE("sysfs", text, numbers, links_stay_below_the_root, writes_stay_below_the_root,
      nothing_is_waited_for, link_names, folders, whole_files, real_paths, long_texts_and_paths,
      renames_elsewhere_do_not_matter)
