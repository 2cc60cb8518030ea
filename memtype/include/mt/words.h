/* SPDX-License-Identifier: LGPL-2.1-or-later OR GPL-2.0-only */
/*
 * What the codes of this library are called in words, for whoever shows them. One place,
 * so that a program that asks what would be and a monitor that says what is tell the same.
 */
#ifndef MT_WORDS_H
#define MT_WORDS_H

#include <mt/explain.h>

/* Room for the longest sentence of mt_step_text(). */
#define MT_STEP_TEXT 256

/* Room for a name of mt_msr_name(). */
#define MT_MSR_NAME 12

/** mt_why_code() - a step's name for programs, such as "npt-index0". @why: step. Return: static text. */
const char *mt_why_code(enum mt_why why);

/**
 * mt_step_text() - a step as a sentence without a full stop.
 * @step: step with its arguments.
 * @buf: receives it, cut if need be, with a NUL.
 * @size: of @buf; MT_STEP_TEXT is enough.
 *
 * Return: @buf.
 */
const char *mt_step_text(const struct mt_step *step, char *buf, size_t size);

/**
 * mt_note_text() - what the notes of a type say.
 * @notes: MT_NOTE_ bits.
 * @buf: receives the sentences, separated by "; ", cut if need be.
 * @size: of @buf; 512 is enough for all of them.
 *
 * Return: @buf, or NULL when there is nothing to say.
 */
const char *mt_note_text(uint32_t notes, char *buf, size_t size);

/**
 * mt_msr_name() - name of a register as the manuals write it, without IA32_ and MTRR.
 * @msr: register number.
 * @buf: receives a name that is put together, of PHYSBASEn and PHYSMASKn.
 * @size: of @buf; MT_MSR_NAME is enough.
 *
 * Return: the name, in @buf or static; NULL for a register that is none of a memory type.
 */
const char *mt_msr_name(uint32_t msr, char *buf, size_t size);

/**
 * mt_msr_find() - number of a register.
 * @name: as mt_msr_name() has it.
 * @msr: receives the number.
 *
 * Return: 0, or -ENOENT.
 */
int mt_msr_find(const char *name, uint32_t *msr);


#endif
