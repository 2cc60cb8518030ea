/* SPDX-License-Identifier: LGPL-2.1-or-later OR GPL-2.0-only */
/*
 * The rtnetlink messages of VF attributes, as bytes. Private to libvf.
 */
#ifndef VF_VFMSG_H
#define VF_VFMSG_H

#include <libmnl/libmnl.h>

#include <vf/vfattr.h>

/* Long enough for any request here. */
#define VF_MSG_SIZE 512

/**
 * vf_msg_get() - build a request for an interface with its VFs.
 * @buf: VF_MSG_SIZE bytes. @ifindex: interface. @seq: sequence number.
 *
 * Return: the message inside @buf.
 */
struct nlmsghdr *vf_msg_get(char *buf, unsigned int ifindex, unsigned int seq);

/**
 * vf_msg_set() - build a request that changes one attribute.
 * @buf: VF_MSG_SIZE bytes. @ifindex: interface. @seq: sequence number. @vf: VF's index.
 * @attr: which, not VF_ATTR_LINK_STATE. @to: its value.
 *
 * Return: the message inside @buf.
 */
struct nlmsghdr *vf_msg_set(char *buf, unsigned int ifindex, unsigned int seq, unsigned int vf,
			    enum vf_attr attr, const struct vf_attrs *to);

/**
 * vf_msg_parse() - find a VF in the answer to vf_msg_get().
 * @nlh: an RTM_NEWLINK message.
 * @vf: VF's index.
 * @out: receives its attributes.
 *
 * Return: 0, -ENOENT when the message has no such VF, -EBADMSG when it makes no sense.
 */
int vf_msg_parse(const struct nlmsghdr *nlh, unsigned int vf, struct vf_attrs *out);

/**
 * vf_msg_error() - errno and words of an NLMSG_ERROR message.
 * @nlh: the message. @text: receives the kernel's words, "" without any. @size: room.
 *
 * Return: 0 for an acknowledgement, the negative errno, or -EBADMSG when it is neither.
 */
int vf_msg_error(const struct nlmsghdr *nlh, char *text, size_t size);

#endif
