/* SPDX-License-Identifier: MIT */
#include "base/arrays/large_blocks.h"

#include <malloc.h>

enum { LARGE_BYTES = 4 << 20, KEPT_BYTES = 16 << 20 };

void lode_map_large_blocks(void)
{
	mallopt(M_MMAP_THRESHOLD, LARGE_BYTES);
	mallopt(M_TRIM_THRESHOLD, KEPT_BYTES);
}
