/* SPDX-License-Identifier: MIT */
/*
 * QEMU moves wide registers by instructions of AVX, after which the upper halves of the processor's
 * own registers are in use, and calls functions for arithmetic that are compiled for SSE. Going
 * from one to the other and back takes a processor ten times as long as the arithmetic: a product
 * of matrices by AVX2 took 4.5 s, and 0.34 s with the upper halves cleared in between (Intel 64 and
 * IA-32 Architectures Optimization Reference Manual, "Mixing AVX Code with SSE Code").
 */
#pragma once

#include "qemu_plugin_interface.h"

/* Has them cleared in front of each instruction that wants it; while a piece is translated. */
void wide_registers_add_calls(struct qemu_plugin_tb *piece);
