/* SPDX-License-Identifier: MIT */
/*
 * Private to images/: the block of thread-local variables of an image, and how code finds it.
 *
 *   executable:  block ── size, aligned ──┤ thread pointer (fs:0)      fs:[offset − to_pointer]
 *   library:     anywhere; a slot of the global offset table says where:
 *                  TPOFF64            offset from the thread pointer   mov rax, [slot]; fs:[rax]
 *                  DTPMOD64, DTPOFF64 module and offset                lea rdi, [slot]; call
 *                                                                        __tls_get_addr
 *                  TLSDESC            a descriptor's first word        lea rax, [slot]; call [rax]
 *                                                                        fs:[rax]
 *
 * U. Drepper, ELF Handling for Thread-Local Storage, sections 3.4.6, 4.1 to 4.4 (variant II).
 * A. Oliva, G. Araújo, Speeding Up Thread-Local Storage Access in Dynamic Libraries, GCC
 * Developers' Summit 2006 (descriptors).
 */
#pragma once

#include "images/elf/elf_file.h"

typedef struct LodeThreadBlock LodeThreadBlock;

/* NULL: the image has no thread-local variables of its own. */
LodeThreadBlock *lode_thread_block_new(const LodeElfFile *file);
void lode_thread_block_free(LodeThreadBlock *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeThreadBlock, lode_thread_block_free)

/* Converts a distance from the thread pointer to an offset in the block; false: outside, or not an
 * executable's block, which alone has a fixed place. */
bool lode_thread_block_at_pointer(
	const LodeThreadBlock *self, int64_t displacement, uint64_t *out_offset);

/* The kind of a slot of the global offset table: an offset from the thread pointer, or the first
 * word of the argument of __tls_get_addr, or of a descriptor, which gives an offset from the thread
 * pointer.
 */
typedef enum {
	LODE_THREAD_SLOT_OFFSET,
	LODE_THREAD_SLOT_MODULE,
	LODE_THREAD_SLOT_DESCRIPTOR,
} LodeThreadSlot;

/* The offset in the block that a slot stands for; false: it is none of this kind. */
bool lode_thread_block_slot(
	const LodeThreadBlock *self, uint64_t slot, LodeThreadSlot kind, uint64_t *out_offset);
