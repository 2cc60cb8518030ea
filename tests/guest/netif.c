// SPDX-License-Identifier: GPL-2.0-only
/* The network interface under test: found, addressed, brought up, pinged. */
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <linux/if_ether.h>
#include <net/if_arp.h>
#include <netinet/ip.h>
#include <netinet/ip_icmp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "netif.h"

#define NET "/sys/class/net"

static bool is_virtio(const char *name)
{
	char path[PATH_MAX], target[PATH_MAX];

	snprintf(path, sizeof(path), NET "/%s/device/subsystem", name);
	return realpath(path, target) && !strcmp(strrchr(target, '/'), "/virtio");
}

static bool find_once(const struct guest *g, char name[IFNAMSIZ])
{
	const char *want_if = guest_str(g, "if", NULL), *want_pci = guest_str(g, "pci", NULL);
	struct dirent **list;
	bool found = false;
	int n = scandir(NET, &list, NULL, alphasort);

	for (int i = 0; i < n; i++) {
		char path[PATH_MAX], bdf[32];
		const char *this = list[i]->d_name;

		snprintf(path, sizeof(path), NET "/%s/device", this);
		if (found || this[0] == '.' || strlen(this) >= IFNAMSIZ) {
			/* another one */
		} else if (want_if ? !strcmp(this, want_if) :
			   !pci_of(path, bdf, sizeof(bdf)) &&
			   (want_pci ? !strcmp(bdf, want_pci) : !is_virtio(this))) {
			strcpy(name, this);
			found = true;
		}
		free(list[i]);
	}
	if (n >= 0)
		free(list);
	return found;
}

int netif_find(struct guest *g, double deadline, char name[IFNAMSIZ])
{
	struct timespec start;

	clock_gettime(CLOCK_MONOTONIC, &start);
	while (!find_once(g, name)) {
		if (seconds_since(&start) > deadline) {
			report_error(g, "no network interface %s%s", guest_str(g, "if", "on a PCI function "),
				     guest_str(g, "pci", ""));
			return -ENODEV;
		}
		usleep(20000);
	}
	return 0;
}

static int set_mac(int s, struct ifreq *ifr, const char *mac)
{
	unsigned int b[6];
	int used = 0;

	if (sscanf(mac, "%2x:%2x:%2x:%2x:%2x:%2x%n", b, b + 1, b + 2, b + 3, b + 4, b + 5, &used) != 6 ||
	    mac[used])
		return -EINVAL;
	ifr->ifr_hwaddr.sa_family = ARPHRD_ETHER;
	for (int i = 0; i < 6; i++)
		ifr->ifr_hwaddr.sa_data[i] = (char)b[i];
	return ioctl(s, SIOCSIFHWADDR, ifr) ? -errno : 0;
}

static int set_ip(int s, struct ifreq *ifr, const char *ip, uint64_t prefix)
{
	struct sockaddr_in *a = (struct sockaddr_in *)&ifr->ifr_addr;

	memset(a, 0, sizeof(*a));
	a->sin_family = AF_INET;
	if (!inet_aton(ip, &a->sin_addr) || prefix < 1 || prefix > 31)
		return -EINVAL;
	if (ioctl(s, SIOCSIFADDR, ifr))
		return -errno;
	a->sin_addr.s_addr = htonl(~0u << (32 - prefix));
	return ioctl(s, SIOCSIFNETMASK, ifr) ? -errno : 0;
}

int netif_up(struct guest *g, const char *name, double deadline)
{
	const char *mac = guest_str(g, "mac", NULL), *ip = guest_str(g, "ip", NULL);
	char path[PATH_MAX], carrier[8] = "";
	struct timespec start;
	struct ifreq ifr = { 0 };
	uint64_t prefix;
	int s, err;

	if (guest_u64(g, "prefix", 24, &prefix))
		return -EINVAL;
	s = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (s < 0)
		return -errno;
	snprintf(ifr.ifr_name, sizeof(ifr.ifr_name), "%s", name);
	err = mac ? set_mac(s, &ifr, mac) : 0;
	if (err) {
		report_error(g, "%s: setting MAC %s: %s", name, mac, strerror(-err));
		goto out;
	}
	err = ip ? set_ip(s, &ifr, ip, prefix) : 0;
	if (err) {
		report_error(g, "%s: setting address %s: %s", name, ip, strerror(-err));
		goto out;
	}
	if (ioctl(s, SIOCGIFFLAGS, &ifr)) {
		err = -errno;
		report_error(g, "%s: %s", name, strerror(-err));
		goto out;
	}
	ifr.ifr_flags |= IFF_UP;
	if (ioctl(s, SIOCSIFFLAGS, &ifr)) {
		err = -errno;
		report_error(g, "%s: bringing it up: %s", name, strerror(-err));
		goto out;
	}
	snprintf(path, sizeof(path), NET "/%s/carrier", name);
	clock_gettime(CLOCK_MONOTONIC, &start);
	while (read_text(path, carrier, sizeof(carrier)) || strcmp(carrier, "1")) {
		if (seconds_since(&start) > deadline) {
			err = -ENETDOWN;
			report_error(g, "%s: no carrier within %.0f s", name, deadline);
			goto out;
		}
		usleep(20000);
	}
out:
	close(s);
	return err;
}

struct echo {
	struct icmphdr h;
	unsigned char data[1400];
};

static uint16_t checksum(const void *data, size_t len)
{
	const unsigned char *p = data;
	uint32_t sum = 0;

	for (size_t i = 0; i < len; i++)
		sum += i % 2 ? p[i] : (uint32_t)p[i] << 8;
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return htons((uint16_t)~sum);
}

/* One request; true when its answer came within @wait seconds with the same bytes. */
static bool echo_once(int s, const struct sockaddr_in *to, uint16_t seq, size_t size, double wait)
{
	struct echo req = { .h = { .type = ICMP_ECHO, .un.echo = { .sequence = htons(seq) } } };
	unsigned char in[2048];
	struct timespec start;

	req.h.un.echo.id = htons((uint16_t)getpid());
	pattern_fill(seq, 0, req.data, size);
	req.h.checksum = checksum(&req, sizeof(req.h) + size);
	clock_gettime(CLOCK_MONOTONIC, &start);
	/* Not an error: without a neighbour entry the first ones fail. */
	if (sendto(s, &req, sizeof(req.h) + size, 0, (const struct sockaddr *)to, sizeof(*to)) < 0)
		usleep(50000);
	for (;;) {
		struct pollfd pfd = { .fd = s, .events = POLLIN };
		double left = wait - seconds_since(&start);
		const struct iphdr *ip = (void *)in;
		struct icmphdr h;
		ssize_t n;
		size_t off;

		if (left <= 0 || poll(&pfd, 1, (int)(left * 1000) + 1) < 0)
			return false;
		n = recv(s, in, sizeof(in), MSG_DONTWAIT);
		if (n < (ssize_t)sizeof(*ip))
			continue;
		off = ip->ihl * 4u;
		if ((size_t)n < off + sizeof(h) + size)
			continue;
		memcpy(&h, in + off, sizeof(h));
		if (h.type == ICMP_ECHOREPLY && h.un.echo.id == req.h.un.echo.id &&
		    h.un.echo.sequence == req.h.un.echo.sequence)
			return !pattern_check(seq, 0, in + off + sizeof(h), size);
	}
}

int netif_ping(struct guest *g, const char *name, struct in_addr peer, uint64_t count, double deadline,
	       struct ping_count *out)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_addr = peer };
	struct timespec start;
	uint64_t size;
	uint16_t seq = 0;
	int s, err = 0;

	if (guest_u64(g, "pingsize", 56, &size))
		return -EINVAL;
	if (size > sizeof(((struct echo *)0)->data)) {
		report_error(g, "pingsize=%llu is more than a packet takes", (unsigned long long)size);
		return -EINVAL;
	}
	s = socket(AF_INET, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_ICMP);
	if (s < 0 || setsockopt(s, SOL_SOCKET, SO_BINDTODEVICE, name, (socklen_t)strlen(name) + 1)) {
		err = -errno;
		report_error(g, "ICMP socket on %s: %s", name, strerror(-err));
		goto out;
	}
	clock_gettime(CLOCK_MONOTONIC, &start);
	while (!echo_once(s, &to, seq++, size, 0.3)) {
		if (seconds_since(&start) > deadline) {
			err = -ETIMEDOUT;
			report_error(g, "%s did not answer a ping within %.0f s", inet_ntoa(peer), deadline);
			goto out;
		}
	}
	out->wait = seconds_since(&start);
	for (; out->sent < count; out->sent++)
		out->received += echo_once(s, &to, seq++, size, 3);
out:
	if (s >= 0)
		close(s);
	return err;
}
