/* SPDX-License-Identifier: GPL-2.0-only */
/* Queue pairs that rdma_cm connects (-R). */
#ifndef LAT_CMQP_H
#define LAT_CMQP_H

#include "trial.h"

/**
 * lat_cmqp_listen() - a server opens a port for the measured queue pair.
 * @s: trial; @cmqp is set. @port: receives its number. @err: receives the reason.
 *
 * Return: 0, or a negative errno.
 */
int lat_cmqp_listen(struct lat_trial *s, unsigned int *port, struct bp_error *err);

/**
 * lat_cmqp_accept() - the client's queue pair comes; device and end are made for it.
 * @s: trial. @err: receives the reason.
 *
 * Ends early when the control channel tells that the client has gone.
 *
 * Return: 0, or a negative errno.
 */
int lat_cmqp_accept(struct lat_trial *s, struct bp_error *err);

/**
 * lat_cmqp_connect() - the client's side of it.
 * @s: trial; @cmqp, device and end are made. @port: of the server. @err: receives the reason.
 *
 * Return: 0, or a negative errno.
 */
int lat_cmqp_connect(struct lat_trial *s, unsigned int port, struct bp_error *err);

/** lat_cmqp_drop() - release what rdma_cm holds. @s: trial whose ends are dropped. */
void lat_cmqp_drop(struct lat_trial *s);

#endif
