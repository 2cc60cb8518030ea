/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What vfctl's commands share: one file holds one command.
 */
#ifndef VFCTL_H
#define VFCTL_H

#include <bp/cli.h>
#include <bp/error.h>
#include <bp/print.h>

#include <vf/bind.h>
#include <vf/names.h>
#include <vf/pci.h>
#include <vf/vfattr.h>

int vfctl_list(struct bp_cli *cli, int argc, char **argv);
int vfctl_show(struct bp_cli *cli, int argc, char **argv);
int vfctl_create(struct bp_cli *cli, int argc, char **argv);
int vfctl_destroy(struct bp_cli *cli, int argc, char **argv);
int vfctl_set(struct bp_cli *cli, int argc, char **argv);
int vfctl_bind(struct bp_cli *cli, int argc, char **argv);
int vfctl_restore(struct bp_cli *cli, int argc, char **argv);

/** vfctl_host() - the host that --root names. @cli: the program. Return: the host. */
struct vf_host vfctl_host(const struct bp_cli *cli);

/**
 * vfctl_find() - the function that an argument names, or say why not.
 * @host: the host. @text: argument. @out: receives it.
 *
 * Return: BP_EXIT_OK, or the status to exit with.
 */
int vfctl_find(const struct vf_host *host, const char *text, struct vf_pci *out);

/**
 * vfctl_print_begin() - start the document, or say that memory is short.
 * @cli: the program. Return: the printer, or NULL.
 */
struct bp_print *vfctl_print_begin(struct bp_cli *cli);

/**
 * vfctl_print_end() - end the document.
 * @p: printer. @status: exit status so far.
 *
 * Return: @status, or BP_EXIT_FAIL when the output could not be written.
 */
int vfctl_print_end(struct bp_print *p, int status);

/** vfctl_print_bdf() - a function's name. @p: printer. @key: JSON name. @fmt: text. @bdf: it. */
void vfctl_print_bdf(struct bp_print *p, const char *key, const char *fmt,
		     const struct vf_bdf *bdf);

/** vfctl_print_heading() - first line of the text form of a list. @p: printer. */
void vfctl_print_heading(struct bp_print *p);

/** vfctl_print_pci() - one function of a list. @p: printer. @f: function. @ids: names. */
void vfctl_print_pci(struct bp_print *p, const struct vf_pci *f, struct vf_ids *ids);

/**
 * vfctl_print_attrs() - the attributes of a VF as an object, or null.
 * @p: printer. @key: JSON name. @attrs: attributes, or NULL. @ifname: who told, or "".
 */
void vfctl_print_attrs(struct bp_print *p, const char *key, const struct vf_attrs *attrs,
		       const char *ifname);

/** vfctl_print_bind() - what became of one function. @p: printer. @r: result. */
void vfctl_print_bind(struct bp_print *p, const struct vf_bind_result *r);

/* The parts of `show`, each printing keys of the object that is open. */
/** vfctl_show_iommu() - group, members, reserved ranges, coherency. @p: printer. @host: host. @f: function. */
void vfctl_show_iommu(struct bp_print *p, const struct vf_host *host, const struct vf_pci *f);

/** vfctl_show_config() - BARs, interrupts, capabilities, resets. @p: printer. @host: host. @f: function. */
void vfctl_show_config(struct bp_print *p, const struct vf_host *host, const struct vf_pci *f);

#endif
