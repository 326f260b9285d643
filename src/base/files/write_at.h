/* SPDX-License-Identifier: MIT */
/* Writing at a place in a file, whole. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* False, with errno: an error, after which a part may be written. */
bool lode_write_at(int descriptor, const void *data, size_t size, uint64_t offset);
