/* SPDX-License-Identifier: MIT */
/*
 * Attributes that say why an instruction may take time (docs/reference/attributes.md): what it
 * waits for beyond the next instruction, what its addresses are like, what windows observed, what
 * the code alone tells. They are shown as they are written, beside the instruction and with their
 * share of the weight.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct LodeProfile LodeProfile;

/* Whether an attribute, "carried:fp", is one of them. */
bool lode_fact_attribute(const char *attribute);

/* Appends those of an instruction, each after a blank but the first, which comes after `begin`. */
void lode_fact_attributes_append(
	const LodeProfile *profile, uint32_t instruction, const char *begin, GString *out);

/* What the instructions with one of them have in all. */
typedef struct {
	const char *name; /* borrowed from the profile */
	uint32_t n_instructions;
	double weight, executions;
} LodeFactShare;

/* LodeFactShare, by descending weight, then by name; the caller unrefs it. */
GArray *lode_fact_attributes_shares(const LodeProfile *profile);
