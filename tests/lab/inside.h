/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The first process of an emulated host: what is the same whether frames leave by a
 * virtio port (agent.c) or by a parallel port (bochs/agent.c). These two provide
 * lab_send() and lab_fatal().
 */
#ifndef LAB_INSIDE_H
#define LAB_INSIDE_H

#include <stddef.h>
#include <stdint.h>

#include "frame.h"

/** struct lab_command - what to run: arguments, ended by a null pointer, and the folder. */
struct lab_command {
	char **argv;
	size_t argc;
	char *cwd;
};

/**
 * lab_send() - a frame to the outer side, in one piece.
 * @type: what it is.
 * @data: its bytes.
 * @len: how many, at most LAB_FRAME_MAX.
 */
void lab_send(enum lab_frame_type type, const void *data, size_t len);

/** lab_fatal() - tell the outer side why we give up, and wait to be switched off. */
__attribute__((format(printf, 1, 2), noreturn)) void lab_fatal(const char *fmt, ...);

/**
 * lab_mount() - make the folder @dir and mount there; failure is fatal.
 * The arguments are mount(2)'s.
 */
void lab_mount(const char *src, const char *dir, const char *type, unsigned long flags,
	       const char *opts);

/** lab_make_dirs() - the folder @path and all that lead to it; failure is fatal. */
void lab_make_dirs(const char *path);

/** lab_load_modules() - load what /mods/list names, in order; failure is fatal. */
void lab_load_modules(void);

/**
 * lab_run() - run the command, handing its output on in frames.
 * @c: what to run.
 *
 * Return: its exit status as a shell gives it.
 */
uint32_t lab_run(const struct lab_command *c);

/** lab_taint() - the kernel's taint flags. */
unsigned long lab_taint(void);

/**
 * lab_note_trouble() - tell the outer side when the kernel has warned or worse.
 * @known: taint flags that are no news.
 */
void lab_note_trouble(unsigned long known);

#endif
