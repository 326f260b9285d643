/* SPDX-License-Identifier: MIT */
/*
 * `lode annotate` as text, a table for each place:
 *
 *   1. deflate_fast  /usr/bin/gzip  trees.c:123
 *      3.2 % of cycles, 1,234,567 executions
 *
 *        executions  cycles  l1d-miss  address  code
 *                                               trees.c:123  x = table[i];
 *   ▶ 1   1,234,567  45,678       123     4a10  mov eax, [rdi+rcx*4]
 *
 * Private to views/.
 */
#pragma once

#include "views/code/annotation.h"

/* Write errors are left to the stream. */
void lode_annotation_write_text(LodeAnnotation *self, FILE *out);
