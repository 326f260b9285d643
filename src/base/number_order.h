/* SPDX-License-Identifier: MIT */
/* The order of two numbers as qsort() and GLib want it. */
#pragma once

#include <stdint.h>

/* −1, 0 or 1: left is below right, equal, above. Their difference may not fit into an int. */
static inline int lode_number_order(uint64_t left, uint64_t right)
{
	return (left > right) - (left < right);
}
