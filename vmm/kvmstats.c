// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <linux/kvm.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "vmm/kvmstats.h"

#define STATS_BYTES_MAX 262144ul

static void add(struct vmm_kvmstat *stats, size_t *nr, size_t max, const char *name, uint64_t value,
		bool peak)
{
	for (size_t i = 0; i < *nr; i++) {
		if (strcmp(stats[i].name, name) != 0)
			continue;
		if (!peak)
			stats[i].value += value;
		else if (stats[i].value < value)
			stats[i].value = value;
		return;
	}
	if (*nr == max)
		return;
	memcpy(stats[*nr].name, name, strlen(name) + 1);
	stats[(*nr)++].value = value;
}

int vmm_kvmstats_parse(const uint8_t *data, size_t len, struct vmm_kvmstat *stats, size_t *nr,
		       size_t max)
{
	struct kvm_stats_header head;
	size_t step;

	if (len < sizeof(head))
		return -EPROTO;
	memcpy(&head, data, sizeof(head));
	if (head.name_size == 0 || head.name_size > 256 || head.desc_offset > len ||
	    head.data_offset > len)
		return -EPROTO;
	step = sizeof(struct kvm_stats_desc) + head.name_size;
	if (head.num_desc > (len - head.desc_offset) / step)
		return -EPROTO;
	for (uint32_t i = 0; i < head.num_desc; i++) {
		const uint8_t *p = data + head.desc_offset + i * step;
		char name[sizeof(stats[0].name)] = "";
		struct kvm_stats_desc desc;
		uint64_t value;
		size_t room = len - head.data_offset;

		memcpy(&desc, p, sizeof(desc));
		/* Histograms have many values and are not told here. */
		if (desc.size != 1)
			continue;
		if (desc.offset > room || room - desc.offset < sizeof(value))
			return -EPROTO;
		memcpy(&value, data + head.data_offset + desc.offset, sizeof(value));
		memcpy(name, p + sizeof(desc),
		       head.name_size < sizeof(name) - 1 ? head.name_size : sizeof(name) - 1);
		add(stats, nr, max, name, value,
		    (desc.flags & KVM_STATS_TYPE_MASK) == KVM_STATS_TYPE_PEAK);
	}
	return 0;
}

int vmm_kvmstats_open(int fd)
{
	int stats_fd = ioctl(fd, KVM_GET_STATS_FD, NULL);

	if (stats_fd < 0)
		return errno == EINVAL ? -ENOTTY : -errno;
	return stats_fd;
}

int vmm_kvmstats_add(int stats_fd, struct vmm_kvmstat *stats, size_t *nr, size_t max)
{
	uint8_t *data = malloc(STATS_BYTES_MAX);
	int ret = data ? 0 : -ENOMEM;
	size_t len = 0;

	while (!ret && len < STATS_BYTES_MAX) {
		ssize_t n = pread(stats_fd, data + len, STATS_BYTES_MAX - len, (off_t)len);

		if (n < 0)
			ret = -errno;
		if (n <= 0)
			break;
		len += (size_t)n;
	}
	if (!ret)
		ret = vmm_kvmstats_parse(data, len, stats, nr, max);
	free(data);
	return ret;
}
