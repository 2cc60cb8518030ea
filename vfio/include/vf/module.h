/* SPDX-License-Identifier: LGPL-2.1-or-later OR GPL-2.0-only */
/*
 * Loading kernel modules, by libkmod.
 */
#ifndef VF_MODULE_H
#define VF_MODULE_H

/**
 * vf_module_load() - load a module and what it depends on into the running kernel.
 * @name: such as "vfio-pci"; "_" and "-" mean the same.
 *
 * A blacklist does not matter to a module that is asked for by name; options from
 * modprobe.d and softdeps are applied.
 *
 * Return: 0, also when it is loaded already or built in; -ENOENT when the running
 * kernel has none of that name; -EPERM without the privilege.
 */
int vf_module_load(const char *name);

#endif
