/* SPDX-License-Identifier: GPL-2.0-only */
/* The network interface under test: found, addressed, brought up, pinged. */
#ifndef BP_TESTS_GUEST_NETIF_H
#define BP_TESTS_GUEST_NETIF_H

#include <net/if.h>
#include <netinet/in.h>

#include "guest.h"

/**
 * netif_find - the interface that the parameters mean
 *
 * "if" names it; else the one on PCI function "pci"; else the first one that is on
 * a PCI function and is not virtio. Waits for it until @deadline seconds from now.
 * Return: 0, or -ENODEV after an error line.
 */
int netif_find(struct guest *g, double deadline, char name[IFNAMSIZ]);

/**
 * netif_up - set MAC ("mac") and address ("ip", "prefix"), bring it up, wait for carrier
 * Return: 0, or a negative errno after an error line.
 */
int netif_up(struct guest *g, const char *name, double deadline);

/** struct ping_count - echo requests that counted, and answers with the right bytes. */
struct ping_count {
	uint64_t sent, received;
	double wait;			/* seconds until the peer first answered */
};

/**
 * netif_ping - wait for the peer's first answer, then send @count requests that count
 * Return: 0 (also when answers were lost), or a negative errno after an error line.
 */
int netif_ping(struct guest *g, const char *name, struct in_addr peer, uint64_t count, double deadline,
	       struct ping_count *out);

#endif
