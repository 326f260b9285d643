/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Has every block of 4 MiB or more mapped by itself, so that its memory is the system's again when
 * it is freed. Without, glibc raises the limit up to 32 MiB as such blocks are freed, and the heaps
 * of threads keep their memory. A program calls it before it starts threads. Source: mallopt(3).
 */
void lode_map_large_blocks(void);
