/* SPDX-License-Identifier: MIT */
/*
 * The attributes of a sample of the processor by name, for expressions: "thread", "time",
 * "function"… docs/reference/expressions.md lists them.
 */
#pragma once

#include "analyses/memory/expressions/expression_value.h"

typedef struct LodeProfile LodeProfile;

/* Tables made once for a profile. */
typedef struct LodeStackAttributes LodeStackAttributes;

/* About LodeStackSample, with LodeStackAttributes. */
extern const LodeExpressionSource lode_stack_attribute_source;

/* `profile` has stacks, and must outlive the result. */
LodeStackAttributes *lode_stack_attributes_new(const LodeProfile *profile);
void lode_stack_attributes_free(LodeStackAttributes *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeStackAttributes, lode_stack_attributes_free)

/* The time of the first sample that has one, from which times count; 0: none has. */
uint64_t lode_stack_attributes_first_time(const LodeStackAttributes *self);

/* The name of a thread's process: that of its first thread, or its own where there is none; NULL:
 * unknown. */
const char *lode_stack_attributes_command(const LodeStackAttributes *self, uint32_t thread);
