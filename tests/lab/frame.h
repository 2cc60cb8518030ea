/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Frames between the outer side of the lab (run.c) and the first process of
 * the emulated host, over one virtio-serial port (agent.c) or, one way only, over a
 * parallel port (bochs/agent.c).
 *
 * One port carries everything, so the exit status cannot overtake output.
 */
#ifndef LAB_FRAME_H
#define LAB_FRAME_H

#include <stdint.h>

/**
 * struct lab_frame - header of a frame
 * @type: one of enum lab_frame_type
 * @len:  bytes that follow, at most LAB_FRAME_MAX; little endian as both sides are x86
 */
struct lab_frame {
	uint32_t type;
	uint32_t len;
};

/* Linux limits one argument or environment string to 128 KiB (MAX_ARG_STRLEN). */
#define LAB_FRAME_MAX	(128u << 10)

/* The name of the port, seen in the guest as /sys/class/virtio-ports/NAME/name. */
#define LAB_PORT_NAME	"lab"

enum lab_frame_type {
	/* outer side to agent */
	LAB_ENV = 'e',		/* NAME=VALUE, no terminating zero */
	LAB_ARG = 'a',		/* next argument of the command */
	LAB_CWD = 'c',		/* working directory */
	LAB_GO = 'g',		/* all said: set the host up and run the command */
	LAB_STIR = 's',		/* from time to time after that: give each processor an interrupt */
	/* agent to outer side */
	LAB_READY = 'r',	/* the command starts now; uint32_t: guest uptime in ms */
	LAB_OUT = 'o',		/* bytes of the command's standard output */
	LAB_ERR = 'w',		/* bytes of its standard error */
	LAB_EXIT = 'x',		/* uint32_t: exit status as a shell gives it; the last frame */
	LAB_FATAL = 'f',	/* a sentence: the agent could not do its part; the last frame */
	LAB_NOTE = 'n',		/* a sentence about the emulated host */
	LAB_FILES = 't',	/* a piece of a tar archive: what is to be left in --out */
};

#endif
