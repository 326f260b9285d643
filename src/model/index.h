/* SPDX-License-Identifier: MIT */
/* The model's arrays refer to each other by index. */
#pragma once

#include <glib.h>
#include <stdint.h>

#define LODE_NONE UINT32_MAX /* "no such index" in any field that holds one */

#define LODE_AT(array, type, index) g_array_index(array, type, index)
