/* SPDX-License-Identifier: MIT */
/*
 * How often a call of a function, or a turn of a loop, executes an instruction, where the code says
 * that it is the same each time:
 *
 *         xor eax, eax        rax begins with 0
 *   head: …
 *         add rax, 16
 *         cmp rax, 4096       256 rounds, by a counter, a first value and a limit that are
 * constants jne head
 *
 * or an end that is as far from the beginning each time: lea rcx, [rax + 4096].
 *
 * Private to ingest/join/.
 */
#pragma once

#include "ingest/join/loops/loop_forms.h"

typedef struct LodeLoopRounds LodeLoopRounds;
LodeLoopRounds *lode_loop_rounds_new(void);
void lode_loop_rounds_free(LodeLoopRounds *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeLoopRounds, lode_loop_rounds_free)

/* Begins a function; borrows the code. */
void lode_loop_rounds_begin(LodeLoopRounds *self, const LodeLoopCode *code);

/* Takes the natural loop of a head. False: no back edge leads to it. */
bool lode_loop_rounds_find(LodeLoopRounds *self, uint32_t head);

/* Whether the loop at hand has a node. */
bool lode_loop_rounds_has(const LodeLoopRounds *self, uint32_t node);

enum { LODE_LOOP_OF_CALL = UINT32_MAX };

/* The head of the smallest loop around a node, and that of the smallest one around the loop with a
 * head; LODE_LOOP_OF_CALL: there is none. */
uint32_t lode_loop_rounds_around(const LodeLoopRounds *self, uint32_t node);
uint32_t lode_loop_rounds_parent(const LodeLoopRounds *self, uint32_t head);

/* Executions of a node in each turn of the loop with the head `turn`; LODE_LOOP_OF_CALL: in each
 * call of the function. 0: not known. Takes another loop at hand. */
double lode_loop_rounds_count(LodeLoopRounds *self, uint32_t turn, uint32_t node);

/* Rounds from the iteration of a sample to the last one, both included, of the loop at hand; 0: not
 * known. */
double lode_loop_rounds_left(LodeLoopRounds *self, const LodeLoopSample *sample);

/* The mean of the rounds of a loop, from those that are left in samples of it. */
typedef struct {
	double mean;  /* 0: not known */
	double error; /* its standard error, as a part of it */
} LodeMeanRounds;

/*
 * The samples lie evenly in time: with n rounds each time, of all that are left k or fewer k ÷ n
 * are. So the mean is k ÷ (the share of the samples with k left, or fewer), as long as k is among
 * the least rounds that there are. Sorts the numbers.
 */
LodeMeanRounds lode_mean_rounds(double *left, size_t n);
