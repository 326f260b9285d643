/* SPDX-License-Identifier: MIT */
/*
 * Profiles made by hand, row by row:
 *
 *   LodeProfile *profile = made_profile("clock", LODE_EVENT_SAMPLED, "program");
 *   uint32_t work = made_function(profile, (LodeFunction){.name = "work", .address = 0x1000});
 *   made_instruction(profile, (LodeInstruction){.address = 0x1000}, "op:add kind:load", 2);
 *   uint32_t stack = made_stack(profile, made_frame(profile, work), LODE_NONE);
 *   made_sample(profile, stack, 10);
 *
 * Each gives the number of its row. Texts are copied into the profile; totals are the test's own.
 */
#pragma once

#include "model/profile.h"
#include "model/stacks.h"
#include "model/waits.h"

/* With one event, which weighs, and one image; no function. The caller frees it. */
LodeProfile *made_profile(const char *event, LodeEventKind kind, const char *path);

uint32_t made_image(LodeProfile *self, const char *path);

/* Begins a function, to which the blocks and instructions made next belong. */
uint32_t made_function(LodeProfile *self, LodeFunction row);

/* A function of one instruction without attributes, at 16, 32, 48… of the last image, with a weight
 * of the profile's event; of 16 bytes. */
uint32_t made_small_function(LodeProfile *self, const char *name, double weight);

/* Begins a block of the last function. */
uint32_t made_block(LodeProfile *self, LodeBlock row);

/* Adds an instruction with the row's address, count, size and name to the last function, and to its
 * last block if it has blocks: without location, and without an edge to the next. Attributes are
 * separated by blanks, NULL: none; `weight` is of the profile's event, 0: no cost. */
uint32_t made_instruction(
	LodeProfile *self, LodeInstruction row, const char *attributes, double weight);

/* The next instruction follows so often. */
void made_fall(LodeProfile *self, uint32_t instruction, double count);

/* Gives the last instruction a line. */
void made_line(LodeProfile *self, const char *file, uint32_t line, const char *inlined);

/* A further cost of the last instruction. */
void made_cost(LodeProfile *self, uint32_t event, double value);

void made_edge(
	LodeProfile *self, uint32_t source, uint32_t target, LodeEdgeKind kind, double count);

/* The frame of a function, at its address, without a line. */
LodeFrame made_frame(const LodeProfile *self, uint32_t function);

/* A stack whose innermost frame is `frame`, within `outer` (LODE_NONE: nothing around it). */
uint32_t made_stack(LodeProfile *self, LodeFrame frame, uint32_t outer);

/* A sample of the profile's event. */
void made_sample(LodeProfile *self, uint32_t stack, double weight);

/* A wait of the row's texts, times and place; the profile has waits from then on, and their sums
 * have its time. The cause of saving `low` to `high` ns, which is added; high 0: none. */
void made_wait(LodeProfile *self, LodeWait row, double low, double high);
