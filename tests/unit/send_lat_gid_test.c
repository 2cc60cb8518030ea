// SPDX-License-Identifier: GPL-2.0-only
/* bf_send_lat: which GID it speaks from. */
#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

#include "latency/bf_send_lat/gid.h"
#include "suite.h"

static struct lat_gid gid(unsigned int index, const char *text, uint32_t type)
{
	struct lat_gid g = { .index = index, .type = type };

	ck_assert_int_eq(inet_pton(AF_INET6, text, g.gid.raw), 1);
	return g;
}

static struct sockaddr_storage address(const char *text)
{
	struct sockaddr_storage a = { 0 };

	if (inet_pton(AF_INET, text, &((struct sockaddr_in *)&a)->sin_addr) == 1)
		a.ss_family = AF_INET;
	else if (inet_pton(AF_INET6, text, &((struct sockaddr_in6 *)&a)->sin6_addr) == 1)
		a.ss_family = AF_INET6;
	ck_assert_int_ne(a.ss_family, 0);
	return a;
}

#define V1 IBV_GID_TYPE_ROCE_V1
#define V2 IBV_GID_TYPE_ROCE_V2

START_TEST(best_one)
{
	/* As a ConnectX has them: each address twice, link-local first. */
	struct lat_gid g[] = {
		gid(0, "fe80::1", V1),	       gid(1, "fe80::1", V2),
		gid(2, "::ffff:10.0.0.1", V1), gid(3, "::ffff:10.0.0.1", V2),
		gid(4, "::ffff:10.0.1.1", V2), gid(5, "2001:db8::1", V2),
	};
	struct sockaddr_storage v4 = address("10.0.1.1"), v6 = address("2001:db8::1"),
				link = address("fe80::1"), other = address("127.0.0.1");

	ck_assert_int_eq(lat_gid_choose(g, 6, NULL, false), 3);
	ck_assert_int_eq(lat_gid_choose(g, 6, NULL, true), 5);
	ck_assert_int_eq(lat_gid_choose(g, 6, &v4, false), 4);
	ck_assert_int_eq(lat_gid_choose(g, 6, &v6, false), 5);
	ck_assert_int_eq(lat_gid_choose(g, 6, &link, false), 1);
	ck_assert_int_eq(lat_gid_choose(g, 6, &other, false), 3);
	/* Link-local is better than nothing; v1 too. */
	ck_assert_int_eq(lat_gid_choose(g, 2, NULL, false), 1);
	ck_assert_int_eq(lat_gid_choose(g, 1, NULL, false), 0);
	ck_assert_int_eq(lat_gid_choose(g, 0, NULL, false), -ENOENT);
}
END_TEST

START_TEST(all_are_named)
{
	struct lat_gid g[] = { gid(0, "fe80::1", V1), gid(3, "::ffff:10.0.0.1", V2) };
	char buf[256], small[90];

	ck_assert_str_eq(lat_gid_describe(g, 2, buf, sizeof(buf)),
			 "0 fe80::1 (RoCE v1), 3 ::ffff:10.0.0.1 (RoCE v2)");
	/* Cut at a whole entry, never beyond the buffer. */
	ck_assert_str_eq(lat_gid_describe(g, 2, small, sizeof(small)), "0 fe80::1 (RoCE v1)");
	ck_assert(lat_gid_is_ipv4(&g[1].gid));
	ck_assert(!lat_gid_is_ipv4(&g[0].gid));
}
END_TEST

SUITE("bf_send_lat GIDs", best_one, all_are_named)
