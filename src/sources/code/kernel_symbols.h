/* SPDX-License-Identifier: MIT */
/*
 * The functions of the running kernel and its modules, as /proc/kallsyms lists them:
 *
 *   ffffffff81000000 T _text
 *   ffffffffc0a1d040 t nft_lookup  [nf_tables]
 *
 * Without the right to see addresses (kernel.kptr_restrict) they are all 0.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct LodeKernelSymbols LodeKernelSymbols;

/* Reads a list of symbols; NULL when there is none or when its addresses are hidden. */
LodeKernelSymbols *lode_kernel_symbols_read(const char *path);
void lode_kernel_symbols_free(LodeKernelSymbols *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeKernelSymbols, lode_kernel_symbols_free)

/* Where the kernel's code begins; it is elsewhere after each boot. */
uint64_t lode_kernel_symbols_text(const LodeKernelSymbols *self);

/*
 * The function around an address: its name, "nft_lookup [nf_tables]" of a module, and where it
 * begins. NULL when there is none. The name is valid as long as the symbols.
 */
const char *lode_kernel_symbols_find(
	const LodeKernelSymbols *self, uint64_t address, uint64_t *out_start);
