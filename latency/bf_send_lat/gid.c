// SPDX-License-Identifier: GPL-2.0-only
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "gid.h"

int lat_gid_list(struct ibv_context *context, unsigned int port, struct lat_gid *out)
{
	struct ibv_gid_entry entries[LAT_GIDS_MAX];
	static const union ibv_gid none;
	ssize_t n = ibv_query_gid_table(context, entries, LAT_GIDS_MAX, 0);
	int used = 0;

	if (n < 0)
		return (int)n;
	for (ssize_t i = 0; i < n; i++) {
		/* A prefix without an interface identifier is no address either. */
		if (entries[i].port_num != port || !memcmp(&entries[i].gid, &none, sizeof(none)) ||
		    !entries[i].gid.global.interface_id)
			continue;
		out[used++] = (struct lat_gid){ entries[i].gid_index, entries[i].gid,
						entries[i].gid_type };
	}
	return used;
}

bool lat_gid_is_ipv4(const union ibv_gid *gid)
{
	return IN6_IS_ADDR_V4MAPPED((const struct in6_addr *)gid->raw);
}

static bool is_address(const union ibv_gid *gid, const struct sockaddr_storage *address)
{
	if (!address)
		return false;
	if (address->ss_family == AF_INET)
		return lat_gid_is_ipv4(gid) &&
		       !memcmp(gid->raw + 12, &((const struct sockaddr_in *)address)->sin_addr, 4);
	return address->ss_family == AF_INET6 &&
	       !memcmp(gid->raw, &((const struct sockaddr_in6 *)address)->sin6_addr, 16);
}

int lat_gid_choose(const struct lat_gid *gids, int n, const struct sockaddr_storage *address,
		   bool ipv6)
{
	int best = -ENOENT, best_score = -1;

	for (int i = 0; i < n; i++) {
		const union ibv_gid *gid = &gids[i].gid;
		bool local = IN6_IS_ADDR_LINKLOCAL((const struct in6_addr *)gid->raw);
		int score = 8 * is_address(gid, address) + 4 * (lat_gid_is_ipv4(gid) != ipv6) +
			    2 * !local + (gids[i].type == IBV_GID_TYPE_ROCE_V2);

		if (score > best_score) {
			best = i;
			best_score = score;
		}
	}
	return best;
}

const char *lat_gid_type_name(uint32_t type)
{
	return type == IBV_GID_TYPE_ROCE_V2   ? "RoCE v2"
	       : type == IBV_GID_TYPE_ROCE_V1 ? "RoCE v1"
					      : "IB";
}

const char *lat_gid_format(const union ibv_gid *gid, char buf[INET6_ADDRSTRLEN])
{
	return inet_ntop(AF_INET6, gid->raw, buf, INET6_ADDRSTRLEN);
}

const char *lat_gid_describe(const struct lat_gid *gids, int n, char *buf, size_t size)
{
	size_t used = 0;

	buf[0] = '\0';
	for (int i = 0; i < n && used + 80 < size; i++) {
		char text[INET6_ADDRSTRLEN];

		used += (size_t)snprintf(buf + used, size - used, "%s%u %s (%s)", i ? ", " : "",
					 gids[i].index, lat_gid_format(&gids[i].gid, text),
					 lat_gid_type_name(gids[i].type));
	}
	return buf;
}
