/* SPDX-License-Identifier: MIT */
/*
 * The word in which QEMU describes an access. Calling QEMU to take it apart takes as long as all
 * the rest of a call, so that this is done here where QEMU has the known layout.
 */
#pragma once

#include "qemu_plugin_interface.h"

/* Compares the fields that are read from words here with those that QEMU reads, for all words. */
bool access_word_is_known(void);

static inline unsigned access_word_size(qemu_plugin_meminfo_t info)
{
	return 1u << (info >> 4 & 7);
}

static inline bool access_word_is_store(qemu_plugin_meminfo_t info)
{
	return (info >> 17 & 1) != 0;
}
