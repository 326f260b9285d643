/* SPDX-License-Identifier: MIT */
/*
 * Whether a repeated string instruction has few bytes to move or many. It takes some tens of cycles
 * to begin, and then moves 32 bytes and more in a cycle: of 256 bytes nearly all time is the
 * beginning, of 4096 a small part.
 *
 *   mov ecx, 32 ─▶ rep stosq     256 bytes: few
 *
 * Private to ingest/join/.
 */
#pragma once

#include "ingest/join/join.h"
#include "ingest/join/loops/loop_rounds.h"

/* The bits of LODE_JOIN_FACT_ROUNDS_… for so many bytes in an execution, on average. */
uint32_t lode_string_rounds_facts(double bytes);

/* The constant that rcx has before a node, by the only way that leads there, of at most 16
 * instructions without a call. False: it is not constant, or not known. */
bool lode_string_rounds_find(const LodeLoopCode *code, uint32_t node, uint64_t *out);
