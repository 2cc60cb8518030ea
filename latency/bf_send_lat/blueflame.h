/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * BlueFlame: asking for it or not, and what can be known about it. mlx5 reads MLX5_SHUT_UP_BF
 * when a context is opened, and then maps no write-combining page at all (rdma-core,
 * providers/mlx5/mlx5.c). mlx4 has no such switch: it uses BlueFlame for a single request whose
 * data is inline (providers/mlx4/qp.c), so that off means not inline. Other devices have none.
 */
#ifndef LAT_BLUEFLAME_H
#define LAT_BLUEFLAME_H

#include "end.h"

/** enum lat_bf_used - whether posts went through BlueFlame. */
enum lat_bf_used {
	LAT_BF_UNKNOWN,
	LAT_BF_USED,
	LAT_BF_NOT_USED,
};

/**
 * struct lat_bf_verdict - @used: the answer. @how: how it is known, or why it is not.
 */
struct lat_bf_verdict {
	enum lat_bf_used used;
	char how[256];
};

/**
 * lat_blueflame_before_open() - set the environment that the provider reads.
 * @bf: choice. @kind: with ab, 0 for on and 1 for off.
 */
void lat_blueflame_before_open(enum lat_blueflame bf, unsigned int kind);

/** lat_blueflame_after_open() - give the environment back as it was. */
void lat_blueflame_after_open(void);

/**
 * lat_blueflame_adjust() - options for a provider without a switch.
 * @bf: choice. @kind: as above. @d: open device. @o: receives an inline size of 0 for off.
 */
void lat_blueflame_adjust(enum lat_blueflame bf, unsigned int kind, const struct lat_device *d,
			  struct lat_options *o);

/**
 * lat_blueflame_judge() - was it used?
 * @e: end. @size: bytes of its messages.
 * @wanted: false where it was switched off.
 * @out: receives the verdict; "unknown" unless the provider says so.
 */
void lat_blueflame_judge(const struct lat_end *e, uint32_t size, bool wanted,
			 struct lat_bf_verdict *out);

/**
 * lat_blueflame_driver() - is a device driven by this family of drivers?
 * @d: device with a name. @prefix: "mlx4", "mlx5" or "mlx" for both.
 *
 * Return: true when the kernel's driver of its PCI function has a name that starts so.
 */
bool lat_blueflame_driver(const struct lat_device *d, const char *prefix);

/** lat_bf_used_name() - "unknown", "yes", "no". @used: answer. Return: its name. */
const char *lat_bf_used_name(enum lat_bf_used used);

#endif
