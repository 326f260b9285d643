/* SPDX-License-Identifier: MIT */
#include "access_word.h"

bool access_word_is_known(void)
{
	for (qemu_plugin_meminfo_t i = 0; i < 1u << 12; i++)
		for (qemu_plugin_meminfo_t way = QEMU_PLUGIN_MEM_R; way <= QEMU_PLUGIN_MEM_RW;
			way++) {
			qemu_plugin_meminfo_t info = i | way << 16;
			if (access_word_size(info) != 1u << qemu_plugin_mem_size_shift(info) ||
				access_word_is_store(info) != qemu_plugin_mem_is_store(info))
				return false;
		}
	return true;
}
