# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Sourced by tests that need a verbs device: rdma_rxe upon a dummy interface, where rdma_cm
# works too (it does not on lo).

rxe_ip4=10.9.9.1 rxe_ip6=fd09::1

# rxe_up: rxe0 with an MTU of 4096, an IPv4 and an IPv6 address.
rxe_up()
{
	ulimit -l unlimited
	# rdma_rxe sums each packet, and the kernel's own modprobe finds no module here. With the
	# generic one of these the sum of 4 KiB takes longer than all the rest of their way.
	modprobe -a crc32_pclmul crc32_generic
	modprobe -a rdma_rxe rdma_ucm dummy
	ip link add dummy0 type dummy
	ip link set dummy0 mtu 4200 up
	ip addr add "$rxe_ip4/24" dev dummy0
	ip -6 addr add "$rxe_ip6/64" dev dummy0 nodad
	rdma link add rxe0 type rxe netdev dummy0
}
