/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a user asks bf_send_lat for. ib_send_lat's options have its meaning and its defaults;
 * those that make no sense here are refused with the reason.
 */
#ifndef LAT_OPTIONS_H
#define LAT_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#define LAT_SIZES_MAX	 32
#define LAT_SIZE_MAX	 (1u << 23) /* of ib_send_lat -a */
#define LAT_PORT	 18515 /* ib_send_lat's */
#define LAT_ITERS	 1000 /* ib_send_lat's */
#define LAT_ITERS_MAX	 (1u << 28)
#define LAT_RX_DEPTH	 512 /* ib_send_lat's */
#define LAT_TX_DEPTH	 128 /* ib_send_lat: 1, which makes it wait for each send's completion */
#define LAT_SIGNAL_EVERY 64

/** enum lat_mode - what the program is to do. */
enum lat_mode {
	LAT_SERVER,
	LAT_CLIENT,
	LAT_LOOPBACK,
	LAT_WC_CHECK,
	LAT_COMPARE,
	LAT_ALL_PAIRS,
};

/** enum lat_conn - transport service of the queue pairs. */
enum lat_conn {
	LAT_RC,
	LAT_UC,
	LAT_UD,
};

/** enum lat_blueflame - what to do about BlueFlame. */
enum lat_blueflame {
	LAT_BF_AS_IS,
	LAT_BF_ON,
	LAT_BF_OFF,
	LAT_BF_AB,
};

/** enum lat_given - parameters that both ends must agree on, as bits: those a user set. */
enum lat_given {
	LAT_GIVEN_CONN = 1 << 0,
	LAT_GIVEN_SIZE = 1 << 1,
	LAT_GIVEN_ITERS = 1 << 2,
	LAT_GIVEN_DURATION = 1 << 3,
	LAT_GIVEN_WARMUP = 1 << 4,
	LAT_GIVEN_MTU = 1 << 5,
	LAT_GIVEN_CM_QP = 1 << 6,
	LAT_GIVEN_BLUEFLAME = 1 << 7,
};

/**
 * struct lat_params - what both ends must do alike; negotiated.
 * @given: enum lat_given bits of what was set on the command line.
 * @conn: transport service.
 * @sizes: message sizes in bytes, in the order they run.
 * @nr_sizes: how many.
 * @iters: exchanges measured for each size.
 * @duration: seconds for each size instead; 0 when counted.
 * @warmup: exchanges before those, shown apart.
 * @mtu: path MTU in bytes; 0 for the smaller one of both ports.
 * @cm_qp: queue pairs are connected by rdma_cm.
 * @blueflame: whether two sets of queue pairs take turns, and which.
 * @block: exchanges in a block of --blueflame ab.
 * @seed: order of the blocks.
 */
struct lat_params {
	unsigned int given;
	enum lat_conn conn;
	uint32_t sizes[LAT_SIZES_MAX];
	unsigned int nr_sizes;
	uint64_t iters;
	unsigned int duration;
	uint64_t warmup;
	unsigned int mtu;
	bool cm_qp;
	enum lat_blueflame blueflame;
	unsigned int block;
	uint64_t seed;
};

/**
 * struct lat_options - the command line.
 * @mode: what to do.
 * @params: what both ends must do alike.
 * @host: server to connect to; client only.
 * @port: TCP or rdma_cm port.
 * @com_cm: parameters are exchanged over rdma_cm (-z, -R).
 * @source: local address to connect from, or NULL.
 * @ipv6: prefer GIDs of IPv6.
 * @device: RDMA device, or NULL for a fitting one.
 * @ib_port: port of the device.
 * @gid_index: -1 for the best one.
 * @inline_size: largest message sent inline; -1 for what the device can, up to ib_send_lat's.
 * @events: sleep for completions.
 * @vector: completion vector.
 * @tx_depth: of the send queue.
 * @rx_depth: of the receive queue.
 * @signal_every: one send in that many asks for a completion.
 * @sl: service level. @tclass: traffic class. @hop_limit: of the GRH. @pkey_index: of the port.
 * @qp_timeout: local ACK timeout, 4.096 us * 2^N. @retry: retry count.
 * @tos: type of service of rdma_cm, -1 for none.
 * @gap: microseconds to wait before each send.
 * @rate: exchanges in a second, sent by the clock; 0: the next one follows the answer.
 * @all: -a.
 * @cycles: report cycles. @histogram: print all samples. @unsorted: in the order they came.
 * @average_only: --output=latency.
 * @link: 0 any, 'I' InfiniBand, 'E' Ethernet.
 * @json: print JSON instead of the table. @pretty: indented.
 * @json_file: file for the JSON document, or NULL.
 * @keep_samples: JSON holds each sample.
 * @prometheus: file for Prometheus' text form, or NULL.
 * @plot: SVG file, or NULL.
 * @compare: two documents to compare.
 * @fail_if: --fail-if expressions. @nr_fail_if: how many.
 * @cpu: processor to run on; -1 for one near the device; -2 for wherever the scheduler likes.
 * @yield: -1 when there are fewer processors than pollers, 0 never, 1 always.
 * @timeout: seconds without progress after which a peer is given up.
 * @connect_timeout: seconds to wait for a server to appear.
 * @accept_timeout: seconds to wait for a client; 0 for as long as it takes.
 * @rendezvous: host of rank 0, for --all-pairs, or NULL.
 * @verbosity: more messages.
 */
struct lat_options {
	enum lat_mode mode;
	struct lat_params params;
	const char *host;
	unsigned int port;
	bool com_cm;
	const char *source;
	bool ipv6;
	const char *device;
	unsigned int ib_port;
	int gid_index;
	int inline_size;
	bool events;
	unsigned int vector;
	unsigned int tx_depth;
	unsigned int rx_depth;
	unsigned int signal_every;
	unsigned int sl;
	unsigned int tclass;
	unsigned int hop_limit;
	unsigned int pkey_index;
	unsigned int qp_timeout;
	unsigned int retry;
	int tos;
	unsigned int gap;
	double rate;
	bool all;
	bool cycles;
	bool histogram;
	bool unsorted;
	bool average_only;
	char link;
	bool json;
	bool pretty;
	const char *json_file;
	bool keep_samples;
	const char *prometheus;
	const char *plot;
	const char *compare[2];
	const char *fail_if[8];
	unsigned int nr_fail_if;
	int cpu;
	int yield;
	double timeout;
	double connect_timeout;
	double accept_timeout;
	const char *rendezvous;
	int verbosity;
};

/**
 * lat_options_parse() - read a command line; complains on standard error.
 * @argc: as given to main().
 * @argv: as given to main(); permuted.
 * @o: receives the wishes, defaults included.
 *
 * Return: -1 to go on, else the exit status: 0 after --help and --version, 2 when it is wrong.
 */
int lat_options_parse(int argc, char **argv, struct lat_options *o);

/**
 * lat_options_help() - print what the options are.
 * @file: FILE to print to.
 */
void lat_options_help(void *file);

/** lat_conn_name() - RC, UC or UD. @conn: transport service. Return: its name. */
const char *lat_conn_name(enum lat_conn conn);

/**
 * lat_conn_parse() - the transport service of a name.
 * @text: RC, UC or UD.
 * @out: receives it.
 *
 * Return: 0, or -EINVAL.
 */
int lat_conn_parse(const char *text, enum lat_conn *out);

/** lat_blueflame_name() - as is, on, off or ab. @bf: choice. Return: its name. */
const char *lat_blueflame_name(enum lat_blueflame bf);

#endif
