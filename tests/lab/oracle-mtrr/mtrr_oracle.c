// SPDX-License-Identifier: GPL-2.0-only
/*
 * Linux's own look-up of MTRR types, asked about registers that the processor does not hold:
 * its copy of the registers is exchanged for a moment, with interrupts off.
 *
 * For test machines that are thrown away: other processors see the wrong registers meanwhile.
 */
#include <linux/fs.h>
#include <linux/kprobes.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <asm/mtrr.h>

#include "ask.h"

static struct mtrr_state_type *state;
static u8 (*lookup)(u64 start, u64 end, u8 *uniform);
/* Since 6.5 answers come from a map; this makes its part above 1 MiB anew. */
static void (*rebuild)(void);
static unsigned int *ranges;
static u64 *tom2;

static DEFINE_MUTEX(lock);

static void put_program(struct mtrr_state_type *s, const struct oracle_ask *ask)
{
	unsigned int i;

	memset(s, 0, sizeof(*s));
	for (i = 0; i < ORACLE_VARS; i++) {
		s->var_ranges[i].base_lo = (u32)ask->var[i].base;
		s->var_ranges[i].base_hi = (u32)(ask->var[i].base >> 32);
		s->var_ranges[i].mask_lo = (u32)ask->var[i].mask;
		s->var_ranges[i].mask_hi = (u32)(ask->var[i].mask >> 32);
	}
	memcpy(s->fixed_ranges, ask->fixed, sizeof(ask->fixed));
	s->have_fixed = 1;
	s->def_type = ask->def_type & 0xff;
	s->enabled = (ask->def_type >> 10) & 3;
}

static void answer(const struct mtrr_state_type *s, struct oracle_question *q, u32 nr)
{
	static struct mtrr_state_type saved;
	unsigned long flags;
	u64 top = 0;
	u32 i;

	local_irq_save(flags);
	saved = *state;
	*state = *s;
	if (tom2) {
		top = *tom2;
		*tom2 = 0;
	}
	if (rebuild)
		rebuild();
	for (i = 0; i < nr; i++)
		q[i].type = lookup(q[i].start, q[i].end, &q[i].uniform);
	*state = saved;
	if (tom2)
		*tom2 = top;
	if (rebuild)
		rebuild();
	local_irq_restore(flags);
}

static long oracle_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	struct mtrr_state_type *s;
	struct oracle_question *q = NULL;
	struct oracle_ask ask;
	long ret = -EFAULT;

	if (cmd != ORACLE_ASK)
		return -ENOTTY;
	if (copy_from_user(&ask, (void __user *)arg, sizeof(ask)))
		return -EFAULT;
	if (!ask.nr || ask.nr > ORACLE_ASK_MAX)
		return -EINVAL;
	s = kmalloc(sizeof(*s), GFP_KERNEL);
	if (!s)
		return -ENOMEM;
	q = memdup_user(u64_to_user_ptr(ask.questions), ask.nr * sizeof(*q));
	if (IS_ERR(q)) {
		ret = PTR_ERR(q);
		goto free_state;
	}
	put_program(s, &ask);
	mutex_lock(&lock);
	answer(s, q, ask.nr);
	mutex_unlock(&lock);
	ret = copy_to_user(u64_to_user_ptr(ask.questions), q, ask.nr * sizeof(*q)) ? -EFAULT : 0;
	kfree(q);
free_state:
	kfree(s);
	return ret;
}

static const struct file_operations fops = {
	.owner = THIS_MODULE,
	.unlocked_ioctl = oracle_ioctl,
};

static struct miscdevice device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "mtrr-oracle",
	.fops = &fops,
};

static int __init oracle_init(void)
{
	unsigned long (*find)(const char *name);
	struct kprobe kp = { .symbol_name = "kallsyms_lookup_name" };
	int ret = register_kprobe(&kp);

	if (ret)
		return ret;
	find = (void *)kp.addr;
	unregister_kprobe(&kp);
	state = (void *)find("mtrr_state");
	lookup = (void *)find("mtrr_type_lookup");
	rebuild = (void *)find("generic_rebuild_map");
	ranges = (void *)find("num_var_ranges");
	tom2 = (void *)find("mtrr_tom2");
	if (!state || !lookup || !ranges || *ranges != ORACLE_VARS) {
		pr_err("mtrr_oracle: not a kernel or a processor that it knows\n");
		return -ENODEV;
	}
	return misc_register(&device);
}

static void __exit oracle_exit(void)
{
	misc_deregister(&device);
}

module_init(oracle_init);
module_exit(oracle_exit);
MODULE_DESCRIPTION("Linux's MTRR look-up for registers that it is given");
MODULE_LICENSE("GPL");
