/* SPDX-License-Identifier: MIT */
/* Private to record/: the memory of another process (process_vm_readv(2)). */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Reads as much from `address` on as is mapped, page by page, as the end of a stack may be near:
 * at most 64 KiB. Gives how many bytes. */
size_t lode_process_memory_read(pid_t pid, uint64_t address, void *to, size_t size);
