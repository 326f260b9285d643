/* SPDX-License-Identifier: MIT */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Two lower-case hexadecimal digits for each byte, as build-ids are written. The caller frees it.
 */
char *lode_hex_text(const uint8_t *bytes, size_t n);
