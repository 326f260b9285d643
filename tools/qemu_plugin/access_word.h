/* SPDX-License-Identifier: MIT */
/*
 * What QEMU says of an access in one word. Calling it to take the word apart takes as long as all
 * the rest of what a call does, so that this is done here where QEMU has the layout that is known.
 */
#pragma once

#include "qemu_plugin_interface.h"

/* Compares what is read from words here with what QEMU says of them: of all words that there are.
 */
bool access_word_is_known(void);

static inline unsigned access_word_size(qemu_plugin_meminfo_t info)
{
	return 1u << (info >> 4 & 7);
}

static inline bool access_word_is_store(qemu_plugin_meminfo_t info)
{
	return (info >> 17 & 1) != 0;
}
