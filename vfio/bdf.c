// SPDX-License-Identifier: LGPL-2.1-or-later OR GPL-2.0-only
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>

#include <vf/bdf.h>

/* Up to @max hexadecimal digits. Return: how many were there. */
static int hex_digits(const char *s, int max, uint32_t *out)
{
	uint32_t v = 0;
	int n = 0;

	while (n < max && isxdigit((unsigned char)s[n])) {
		int c = tolower((unsigned char)s[n]);

		v = v << 4 | (uint32_t)(c <= '9' ? c - '0' : c - 'a' + 10);
		n++;
	}
	*out = v;
	return n;
}

int vf_bdf_parse(const char *text, struct vf_bdf *out)
{
	uint32_t domain = 0, bus, dev, fn;
	const char *s = text;
	int n = hex_digits(s, 8, &domain);

	if (n >= 4 && s[n] == ':')
		s += n + 1;
	else if (n == 2)
		domain = 0;
	else
		return -EINVAL;
	if (hex_digits(s, 2, &bus) != 2 || s[2] != ':')
		return -EINVAL;
	if (hex_digits(s + 3, 2, &dev) != 2 || s[5] != '.')
		return -EINVAL;
	if (hex_digits(s + 6, 1, &fn) != 1 || s[7])
		return -EINVAL;
	if (dev > 31 || fn > 7)
		return -EINVAL;
	if (out)
		*out = (struct vf_bdf){ .domain = domain, .bus = bus, .dev = dev, .fn = fn };
	return 0;
}

const char *vf_bdf_format(const struct vf_bdf *bdf, char buf[VF_BDF_LEN])
{
	snprintf(buf, VF_BDF_LEN, "%04" PRIx32 ":%02x:%02x.%x", bdf->domain, bdf->bus,
		 bdf->dev & 31u, bdf->fn & 7u);
	return buf;
}

int vf_bdf_cmp(const struct vf_bdf *a, const struct vf_bdf *b)
{
	uint16_t ra = vf_bdf_rid(a), rb = vf_bdf_rid(b);

	if (a->domain != b->domain)
		return a->domain < b->domain ? -1 : 1;
	return (int)ra - (int)rb;
}

uint16_t vf_bdf_rid(const struct vf_bdf *bdf)
{
	return (uint16_t)(bdf->bus << 8 | (bdf->dev & 31) << 3 | (bdf->fn & 7));
}
