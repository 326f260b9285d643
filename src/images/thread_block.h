/* SPDX-License-Identifier: MIT */
/*
 * Private to images/: the block of thread-local variables of an image, and how code finds it.
 *
 *   executable:  block ── size, aligned ──┤ thread pointer (fs:0)      fs:[offset − to_pointer]
 *   library:     anywhere; a slot of the global offset table says where:
 *                  TPOFF64            offset from the thread pointer   mov rax, [slot]; fs:[rax]
 *                  DTPMOD64, DTPOFF64 module and offset                lea rdi, [slot]; call
 *                                                                        __tls_get_addr
 *
 * U. Drepper, ELF Handling for Thread-Local Storage, sections 3.4.6, 4.1 to 4.4 (variant II).
 */
#pragma once

#include "images/elf_file.h"

typedef struct LodeThreadBlock LodeThreadBlock;

/* NULL: the image has no thread-local variables of its own. */
LodeThreadBlock *lode_thread_block_new(const LodeElfFile *file);
void lode_thread_block_free(LodeThreadBlock *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeThreadBlock, lode_thread_block_free)

/* What lies so many bytes from the thread pointer, as an offset in the block; false: outside, or
 * not an executable's block, which alone has a fixed place. */
bool lode_thread_block_at_pointer(
	const LodeThreadBlock *self, int64_t displacement, uint64_t *out_offset);

/* The offset that a slot of the global offset table stands for: for the thread pointer
 * (`is_module` false), or for the first word of what __tls_get_addr is given. */
bool lode_thread_block_slot(
	const LodeThreadBlock *self, uint64_t slot, bool is_module, uint64_t *out_offset);
