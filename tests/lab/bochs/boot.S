/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * First sector of a disk that Bochs starts from: reads the program behind it, asks
 * the BIOS for the memory map, and calls main() in long mode.
 *
 *   0x1000   page tables: the first 4 GiB at their own addresses, 2 MiB pages
 *   0x8000   number of memory map entries, and from 0x8008 on the entries (bare.h)
 *   0x10000  sectors 1 to PROGRAM_SECTORS of the disk
 *   0x9f000  top of the stack
 */
#define PROGRAM_SECTORS 127	/* the most that one call of every BIOS reads */

	.code16
	.section .boot, "ax"
	.globl	_start
_start:
	cli
	xorw	%ax, %ax
	movw	%ax, %ds
	movw	%ax, %es
	movw	%ax, %ss
	movw	$0x7c00, %sp
	ljmp	$0, $1f
1:	movb	$0x42, %ah			/* extended read; %dl is the disk still */
	movw	$packet, %si
	int	$0x13
	jc	broken

	xorl	%ebx, %ebx
	movl	%ebx, 0x8000
	movw	$0x8008, %di
2:	movl	$0xe820, %eax
	movl	$20, %ecx
	movl	$0x534d4150, %edx		/* "SMAP" */
	int	$0x15
	jc	3f
	incl	0x8000
	addw	$20, %di
	testl	%ebx, %ebx
	jnz	2b

3:	cli
	inb	$0x92, %al			/* address line 20 */
	orb	$2, %al
	andb	$0xfe, %al
	outb	%al, $0x92

	movw	$0x1000, %di			/* page tables */
	xorl	%eax, %eax
	movw	$0x6000 / 4, %cx
	cld
	rep stosl
	movl	$0x2003, 0x1000
	movw	$0x2000, %di
	movl	$0x3003, %eax
4:	movl	%eax, (%di)
	addw	$8, %di
	addl	$0x1000, %eax
	cmpl	$0x7003, %eax
	jne	4b
	movw	$0x3000, %di
	movl	$0x83, %eax
	movw	$2048, %cx
5:	movl	%eax, (%di)
	addw	$8, %di
	addl	$0x200000, %eax
	loop	5b

	movl	$0x1000, %eax
	movl	%eax, %cr3
	movl	$0x20, %eax			/* CR4.PAE */
	movl	%eax, %cr4
	movl	$0xc0000080, %ecx		/* EFER.LME */
	rdmsr
	orl	$0x100, %eax
	wrmsr
	lgdt	table
	movl	%cr0, %eax
	andl	$0x9fffffff, %eax		/* caches on: CD and NW clear */
	orl	$0x80000001, %eax		/* PG, PE */
	movl	%eax, %cr0
	ljmpl	$0x10, $long_mode

broken:	movb	$'!', %al
	outb	%al, $0xe9
	hlt
	jmp	broken

	.code64
long_mode:
	movl	$0x18, %eax
	movl	%eax, %ds
	movl	%eax, %es
	movl	%eax, %ss
	movl	$0x9f000, %esp
	movq	$main, %rax
	call	*%rax
6:	hlt
	jmp	6b

	.balign	8
	.globl	boot_gdt
boot_gdt:					/* Linux wants code at 0x10, data at 0x18 */
	.quad	0, 0
	.quad	0x00af9b000000ffff
	.quad	0x00cf93000000ffff
table:	.word	. - boot_gdt - 1
	.long	boot_gdt

	.balign	4
packet:	.byte	16, 0
	.word	PROGRAM_SECTORS
	.word	0, 0x1000			/* to 1000:0000 */
	.quad	1

	.org	510
	.word	0xaa55
	.section .note.GNU-stack, "", @progbits
