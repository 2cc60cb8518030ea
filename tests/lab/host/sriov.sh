# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Sourced by what runs in an emulated host: physical functions made ready for
# their virtual functions, where that is neither vfctl's job nor ours to test.
# BDFs are as in sysfs, 0000:00:03.0.

pci=/sys/bus/pci/devices

# driver_of BDF: name of the bound driver, or nothing.
driver_of()
{
	[ ! -e "$pci/$1/driver" ] || basename "$(readlink "$pci/$1/driver")"
}

# first_of DRIVER: BDF of the first function that it is bound to.
first_of()
{
	local d

	for d in "/sys/bus/pci/drivers/$1"/*:*; do
		[ -e "$d" ] || break
		basename "$d"
		return 0
	done
	echo "no PCI function is bound to $1" >&2
	return 1
}

# vf_of PF INDEX: BDF of that virtual function.
vf_of() { basename "$(readlink -e "$pci/$1/virtfn$2")"; }

# wait_name BDF SECONDS TEST GLOB: wait for a path under the function's folder that GLOB fits
# and whose last part passes TEST (a command); prints that part.
wait_name()
{
	local n deadline=$((SECONDS + $2))

	while :; do
		for n in "$pci/$1"/$4; do
			{ [ -e "$n" ] && $3 "${n##*/}"; } || continue
			echo "${n##*/}"
			return 0
		done
		[ "$SECONDS" -lt "$deadline" ] || return 1
		sleep 0.05
	done
}

is_disk() { [ -b "/dev/$1" ]; }

# netdev_of BDF [SECONDS]: its network interface, waited for.
netdev_of() { wait_name "$1" "${2:-5}" true 'net/*' || { echo "$1 has no network interface" >&2; return 1; }; }

# nvme_of BDF [SECONDS]: its first namespace, as nvme1n1, waited for.
nvme_of() { wait_name "$1" "${2:-10}" is_disk 'nvme/nvme*/nvme*n*' || { echo "$1 has no namespace" >&2; return 1; }; }

# pf_up PF: an igb answers its VFs only while its own interface is up.
pf_up() { ip link set "$(netdev_of "$1")" up; }

# take BDF DRIVER: bind by name and nothing else, whatever is bound now.
take()
{
	[ ! -e "$pci/$1/driver" ] || echo "$1" > "$pci/$1/driver/unbind"
	echo "$2" > "$pci/$1/driver_override"
	echo "$1" > /sys/bus/pci/drivers_probe
	[ "$(driver_of "$1")" = "$2" ] || {
		echo "$1 was not taken by $2" >&2
		return 1
	}
}

# make_vfs PF COUNT: virtual functions without drivers.
make_vfs()
{
	echo 0 > "$pci/$1/sriov_drivers_autoprobe"
	echo "$2" > "$pci/$1/sriov_numvfs"
}

# nvme_vf_online PF INDEX: give the secondary controller what its driver needs and
# start it (NVMe 1.3, 8.5: resources can only be set while it is offline, and take
# effect at its next reset). Two queue pairs, one admin and one I/O; one interrupt.
nvme_vf_online()
{
	local dev cntlid=$(($2 + 1)) log

	for dev in "$pci/$1"/nvme/nvme*; do
		dev=/dev/$(basename "$dev")
	done
	log=$(
		{
			nvme virt-mgmt "$dev" -c "$cntlid" -r 0 -n 2 -a 8 &&
			nvme virt-mgmt "$dev" -c "$cntlid" -r 1 -n 1 -a 8 &&
			echo 1 > "$pci/$1/virtfn$2/reset" &&
			nvme virt-mgmt "$dev" -c "$cntlid" -a 9
		} 2>&1
	) || {
		printf 'secondary controller %s of %s did not come online:\n%s\n' "$cntlid" "$1" "$log" >&2
		return 1
	}
}
