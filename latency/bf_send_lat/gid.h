/* SPDX-License-Identifier: GPL-2.0-only */
/* Which of a port's GIDs to speak from, and which ones there are. */
#ifndef LAT_GID_H
#define LAT_GID_H

#include <infiniband/verbs.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

#define LAT_GIDS_MAX 256

/**
 * struct lat_gid - one usable entry of a port's table.
 * @index: in the table, as for -x.
 * @gid: it.
 * @type: IBV_GID_TYPE_ of it.
 */
struct lat_gid {
	unsigned int index;
	union ibv_gid gid;
	uint32_t type;
};

/**
 * lat_gid_list() - usable GIDs of a port; empty ones are left out.
 * @context: device.
 * @port: its port.
 * @out: receives at most LAT_GIDS_MAX.
 *
 * Return: how many, or a negative errno.
 */
int lat_gid_list(struct ibv_context *context, unsigned int port, struct lat_gid *out);

/** lat_gid_is_ipv4() - ::ffff:a.b.c.d. @gid: it. Return: true for that. */
bool lat_gid_is_ipv4(const union ibv_gid *gid);

/**
 * lat_gid_choose() - the best one.
 * @gids: list. @n: how many.
 * @address: address that the peer is reached from, or NULL.
 * @ipv6: prefer IPv6 where @address decides nothing.
 *
 * That of @address itself; else by family, then one that is routed over one of the link
 * alone, then RoCE v2 over v1, then the lowest index.
 *
 * Return: place in @gids, or -ENOENT when the list is empty.
 */
int lat_gid_choose(const struct lat_gid *gids, int n, const struct sockaddr_storage *address,
		   bool ipv6);

/** lat_gid_type_name() - "RoCE v2", "RoCE v1" or "IB". @type: IBV_GID_TYPE_. Return: name. */
const char *lat_gid_type_name(uint32_t type);

/**
 * lat_gid_format() - as an IPv6 address.
 * @gid: it. @buf: receives it.
 *
 * Return: @buf.
 */
const char *lat_gid_format(const union ibv_gid *gid, char buf[INET6_ADDRSTRLEN]);

/**
 * lat_gid_describe() - all of a list in one line: "0 fe80::1 (RoCE v2), 1 ...".
 * @gids: list. @n: how many. @buf: receives it, cut where it ends. @size: of @buf.
 *
 * Return: @buf.
 */
const char *lat_gid_describe(const struct lat_gid *gids, int n, char *buf, size_t size);

#endif
