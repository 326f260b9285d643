/* SPDX-License-Identifier: MIT */
/* Functions, families and calls as text: what the list of functions, their callers and the first
 * screen have in common. Private to views/. */
#pragma once

#include "analyses/calls/function_families.h"
#include "views/form/format.h"
#include "views/form/table.h"

/* Cells of tables; nothing where a number is not known. */
void lode_call_lines_share(GString *out, double cost, double total);
double lode_call_lines_share_of(double cost, double total); /* no number: not known */
void lode_call_lines_image(
	GString *out, const LodeFunctionCost *function, const LodeTerminal *terminal);

/* The cell of a row that begins with a LodeFunctionCost. */
LodeStyle lode_call_lines_image_cell(
	const void *row, const LodeTerminal *terminal, GString *out, const void *user_data);

/* "strlen (fn_167ac0)", where it is called by a name that it does not have. */
void lode_call_lines_name(
	GString *out, const LodeFunctionCost *function, const LodeTerminal *terminal);

/* "allocator (malloc, _int_malloc, free +3)", with as many functions as fit the width, by their
 * bare names; 0: all three.
 */
void lode_call_lines_family(GString *out, const LodeFunctionCosts *costs,
	const LodeFamilies *families, const LodeFamilyCost *cost, size_t width,
	const LodeTerminal *terminal);

/* Why inclusive costs are not known, and how calls are recorded; NULL: they are. */
const char *lode_call_lines_advice(const LodeFunctionCosts *costs);

/* Says how much is in functions of files without symbols ("fn_1230"), where that is much, and how
 * to get their names. */
void lode_call_lines_unnamed(
	const LodeFunctionCosts *costs, double total, const LodeTerminal *terminal, FILE *out);

/* Says that most stacks are short, and how to get longer ones, where that is so. */
void lode_call_lines_short(const LodeFunctionCosts *costs, const LodeTerminal *terminal, FILE *out);

/* Says what inclusive costs are from, why they are not known, or that stacks are short. */
void lode_call_lines_note(const LodeFunctionCosts *costs, const LodeTerminal *terminal, FILE *out);
