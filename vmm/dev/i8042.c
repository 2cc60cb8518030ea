// SPDX-License-Identifier: GPL-2.0-only
/*
 * The 8042 with no keyboard and no mouse. A guest that probes it must get an answer
 * to every command at once: Linux polls half a second for each one that stays silent.
 */
#include <errno.h>
#include <stdlib.h>

#include "vmm/dev/i8042.h"
#include "vmm/layout.h"
#include "vmm/machine.h"

#define PORT_COMMAND	(VMM_PORT_I8042 + 4)
#define PORT_SYSTEM	0x92
#define IRQ_KEYBOARD	1

#define STATUS_OBF	0x01 /* a byte waits at port 0x60 */
#define STATUS_SYSTEM	0x04 /* self test passed */
#define STATUS_COMMAND	0x08 /* last write went to port 0x64 */
#define STATUS_UNLOCKED 0x10 /* key lock open; clear makes Linux complain */
#define STATUS_TIMEOUT	0x40

#define CONFIG_KBD_INT	0x01
#define CONFIG_SYSTEM	0x04
#define CONFIG_KBD_OFF	0x10
#define CONFIG_AUX_OFF	0x20
#define CONFIG_XLATE	0x40

#define OUTPUT_NO_RESET 0x01
#define OUTPUT_A20	0x02

#define SYSTEM_RESET	0x01
#define SYSTEM_A20	0x02

#define RAM_SIZE	32

struct vmm_i8042 {
	struct vmm *vmm;
	uint8_t status;
	uint8_t data;
	uint8_t command; /* waits for its parameter; 0 for none */
	uint8_t ram[RAM_SIZE]; /* byte 0 is the configuration */
	uint8_t system;
	bool line;
};

static void line_update(struct vmm_i8042 *ctl)
{
	bool level = (ctl->status & STATUS_OBF) && (ctl->ram[0] & CONFIG_KBD_INT);

	if (level == ctl->line)
		return;
	ctl->line = level;
	vmm_irq_line(ctl->vmm->irq, IRQ_KEYBOARD, level);
}

static void reply(struct vmm_i8042 *ctl, uint8_t data, uint8_t flags)
{
	ctl->data = data;
	ctl->status = (ctl->status & ~STATUS_TIMEOUT) | STATUS_OBF | flags;
}

static void command(struct vmm_i8042 *ctl, uint8_t cmd)
{
	ctl->status |= STATUS_COMMAND;
	ctl->command = 0;
	switch (cmd) {
	case 0x20 ... 0x3f:
		reply(ctl, ctl->ram[cmd & 0x1f], 0);
		break;
	case 0x60 ... 0x7f:
	case 0xd1: /* output port */
	case 0xd2: /* loop to the keyboard's side */
	case 0xd3: /* loop to the mouse's side */
	case 0xd4: /* byte for the mouse */
		ctl->command = cmd;
		break;
	case 0xa7:
		ctl->ram[0] |= CONFIG_AUX_OFF;
		break;
	case 0xa8:
		ctl->ram[0] &= ~CONFIG_AUX_OFF;
		break;
	case 0xa9: /* mouse interface: clock line stuck low, that is, there is none */
		reply(ctl, 0x01, 0);
		break;
	case 0xaa:
		ctl->status |= STATUS_SYSTEM;
		ctl->ram[0] |= CONFIG_SYSTEM;
		reply(ctl, 0x55, 0);
		break;
	case 0xab:
		reply(ctl, 0x00, 0);
		break;
	case 0xad:
		ctl->ram[0] |= CONFIG_KBD_OFF;
		break;
	case 0xae:
		ctl->ram[0] &= ~CONFIG_KBD_OFF;
		break;
	case 0xc0: /* input port: key lock open, no jumpers */
		reply(ctl, 0x80, 0);
		break;
	case 0xd0:
		reply(ctl, OUTPUT_NO_RESET | OUTPUT_A20, 0);
		break;
	case 0xf0 ... 0xff: /* pulse the output bits that are 0; bit 0 is the reset line */
		if (!(cmd & OUTPUT_NO_RESET)) {
			vmm_reset(ctl->vmm);
			return;
		}
		break;
	}
	line_update(ctl);
}

static void parameter(struct vmm_i8042 *ctl, uint8_t value)
{
	uint8_t cmd = ctl->command;

	ctl->status &= ~STATUS_COMMAND;
	ctl->command = 0;
	switch (cmd) {
	case 0x60 ... 0x7f:
		ctl->ram[cmd & 0x1f] = value;
		break;
	case 0xd1:
		if (!(value & OUTPUT_NO_RESET)) {
			vmm_reset(ctl->vmm);
			return;
		}
		break;
	case 0xd2:
	case 0xd3: /* without a mouse port the byte comes back as the keyboard's */
		reply(ctl, value, 0);
		break;
	default: /* to the keyboard or the mouse: nobody acknowledges */
		reply(ctl, 0xfe, STATUS_TIMEOUT);
		break;
	}
	line_update(ctl);
}

static void data_port(void *priv, uint64_t offset, void *data, unsigned int len, bool write)
{
	struct vmm_i8042 *ctl = priv;

	(void)offset;
	(void)len;
	if (write) {
		parameter(ctl, *(uint8_t *)data);
		return;
	}
	*(uint8_t *)data = ctl->data;
	ctl->status &= ~(STATUS_OBF | STATUS_TIMEOUT);
	line_update(ctl);
}

static void command_port(void *priv, uint64_t offset, void *data, unsigned int len, bool write)
{
	struct vmm_i8042 *ctl = priv;

	(void)offset;
	(void)len;
	if (write)
		command(ctl, *(uint8_t *)data);
	else
		*(uint8_t *)data = ctl->status;
}

/* A20 is always open: KVM has no gate to close, and no kernel of interest closes it. */
static void system_port(void *priv, uint64_t offset, void *data, unsigned int len, bool write)
{
	struct vmm_i8042 *ctl = priv;
	uint8_t old = ctl->system;

	(void)offset;
	(void)len;
	if (!write) {
		*(uint8_t *)data = ctl->system | SYSTEM_A20;
		return;
	}
	ctl->system = *(uint8_t *)data;
	if (ctl->system & ~old & SYSTEM_RESET)
		vmm_reset(ctl->vmm);
}

void vmm_i8042_reset(struct vmm_i8042 *ctl)
{
	ctl->status = STATUS_SYSTEM | STATUS_UNLOCKED;
	ctl->data = 0;
	ctl->command = 0;
	ctl->system = 0;
	/* As a BIOS hands over: self test passed, scan codes translated, no mouse port. */
	ctl->ram[0] = CONFIG_SYSTEM | CONFIG_KBD_INT | CONFIG_XLATE | CONFIG_AUX_OFF;
	line_update(ctl);
}

static const struct vmm_bus_range ranges[] = {
	{ VMM_PORT_I8042, 1, data_port, "i8042-data" },
	{ PORT_COMMAND, 1, command_port, "i8042-command" },
	{ PORT_SYSTEM, 1, system_port, "system-control-a" },
};

#define NR_RANGES (sizeof(ranges) / sizeof(ranges[0]))

int vmm_i8042_new(struct vmm *vmm, struct vmm_i8042 **out)
{
	struct vmm_i8042 *ctl = calloc(1, sizeof(*ctl));
	int ret;

	if (!ctl)
		return -ENOMEM;
	ctl->vmm = vmm;
	vmm_i8042_reset(ctl);
	ret = vmm_bus_add_all(vmm->pio, ranges, NR_RANGES, ctl);
	if (ret)
		free(ctl);
	else
		*out = ctl;
	return ret;
}

void vmm_i8042_free(struct vmm_i8042 *ctl)
{
	if (!ctl)
		return;
	vmm_bus_remove_all(ctl->vmm->pio, ranges, NR_RANGES);
	free(ctl);
}
