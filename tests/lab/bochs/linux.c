// SPDX-License-Identifier: GPL-2.0-only
/*
 * Loads Linux from the disk and starts it. The ELF file inside Debian's bzImage is
 * taken as it is, by the kernel's 64-bit boot protocol (Documentation/arch/x86/boot.rst):
 * to decompress it in emulation takes minutes.
 */
#define BARE_MEMORY
#include <elf.h>
#include <asm/bootparam.h>

#include "bare.h"
#include "layout.h"

#define INITRD_ADDR 0x8000000u /* above the kernel, below what it takes for itself at first */

__attribute__((section(".layout"), used)) volatile struct layout layout = {
	.magic = LAYOUT_MAGIC,
};
static struct boot_params params;

static _Noreturn void die(const char *text)
{
	bare_say(text);
	bare_stop();
}

/* Returns the entry point. */
static uint64_t load_kernel(uint32_t lba)
{
	static union {
		uint8_t bytes[8 * SECTOR];
		Elf64_Ehdr ehdr;
	} head;
	const Elf64_Phdr *ph;

	bare_read(lba, sizeof(head) / SECTOR, &head);
	if (memcmp(head.bytes, ELFMAG, SELFMAG) || head.ehdr.e_machine != EM_X86_64 ||
	    head.ehdr.e_phoff + head.ehdr.e_phnum * sizeof(*ph) > sizeof(head))
		die("the kernel is not an ELF file that can be read\n");
	ph = (const Elf64_Phdr *)(head.bytes + head.ehdr.e_phoff);
	for (int i = 0; i < head.ehdr.e_phnum; i++, ph++) {
		uint32_t sectors = (uint32_t)((ph->p_filesz + SECTOR - 1) / SECTOR);

		if (ph->p_type != PT_LOAD)
			continue;
		if (ph->p_offset % SECTOR || ph->p_paddr < 0x100000 ||
		    ph->p_paddr + ph->p_memsz > INITRD_ADDR)
			die("a segment of the kernel lies where it cannot be loaded\n");
		bare_read(lba + (uint32_t)(ph->p_offset / SECTOR), sectors, (void *)ph->p_paddr);
		memset((void *)(ph->p_paddr + ph->p_filesz), 0, ph->p_memsz - ph->p_filesz);
	}
	return head.ehdr.e_entry;
}

static void fill_params(void)
{
	const struct bare_e820 *map = bare_e820();
	struct setup_header *h = &params.hdr;

	h->boot_flag = 0xaa55;
	h->header = 0x53726448; /* "HdrS" */
	h->version = 0x20f;
	h->type_of_loader = 0xff;
	h->loadflags = LOADED_HIGH;
	h->cmd_line_ptr = (uint32_t)(uintptr_t)layout.cmdline;
	h->cmdline_size = sizeof(layout.cmdline) - 1;
	h->kernel_alignment = 0x200000;
	h->ramdisk_image = INITRD_ADDR;
	h->ramdisk_size = (uint32_t)layout.initrd_bytes;
	h->initrd_addr_max = 0x7fffffff;
	for (uint32_t i = 0; i < map->count && i < E820_MAX_ENTRIES_ZEROPAGE; i++) {
		params.e820_table[i].addr = map->entry[i].addr;
		params.e820_table[i].size = map->entry[i].size;
		params.e820_table[i].type = map->entry[i].type;
		params.e820_entries++;
	}
}

int main(void)
{
	uint64_t entry;

	if (layout.magic != LAYOUT_MAGIC || !layout.kernel_lba)
		die("the disk has no layout\n");
	memset(&params, 0, sizeof(params));
	entry = load_kernel(layout.kernel_lba);
	bare_read(layout.initrd_lba, (uint32_t)((layout.initrd_bytes + SECTOR - 1) / SECTOR),
		  (void *)(uintptr_t)INITRD_ADDR);
	fill_params();
	/* boot.S has left segments and page tables as the protocol wants them. */
	__asm__ volatile("jmp *%0" ::"r"(entry), "S"(&params) : "memory");
	__builtin_unreachable();
}
