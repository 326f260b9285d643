/* SPDX-License-Identifier: MIT */
/* Any bytes as a jitdump; what comes out must lie in the file and be found where it says. */
#include "fuzz_target.h"
#include "sources/code/jitdump.h"

static void check_calls(const LodeJitdump *dump)
{
	for (guint i = 0; i < dump->calls->len; i++) {
		const LodeJitCall *call = &g_array_index(dump->calls, LodeJitCall, i);
		uint32_t around = 0;

		if (call->outer != LODE_JIT_NO_CALL && call->outer >= i)
			g_error("a call in a later one");
		if (call->outer != LODE_JIT_NO_CALL)
			around = g_array_index(dump->calls, LodeJitCall, call->outer).depth;
		if (call->depth != around + 1 || call->depth > LODE_JIT_MAX_INLINED)
			g_error("calls too deep");
		if (call->file == NULL && call->line > 0)
			g_error("a line of no file");
	}
}

static void check_units(const LodeJitdump *dump)
{
	for (guint i = 0; i < dump->units->len; i++) {
		const LodeJitUnit *unit = &g_array_index(dump->units, LodeJitUnit, i);
		const LodeJitLine *lines = (const void *)dump->lines->data;
		uint64_t end = unit->code_offset + unit->size;

		if (unit->size == 0 || unit->size > dump->size || end > dump->size ||
			(i > 0 && unit[-1].code_offset + unit[-1].size > unit->code_offset))
			g_error("a unit outside the file, or in another");
		if (!g_utf8_validate(unit->name, -1, NULL))
			g_error("a name that is no text");
		if ((uint64_t)unit->first_line + unit->n_lines > dump->lines->len)
			g_error("no such lines");
		for (uint32_t k = unit->first_line; k < unit->first_line + unit->n_lines; k++)
			if (lines[k].address >= unit->size ||
				(lines[k].file == NULL && lines[k].line > 0) ||
				(lines[k].call != LODE_JIT_NO_CALL &&
					lines[k].call >= dump->calls->len) ||
				(k > unit->first_line && lines[k - 1].address >= lines[k].address))
				g_error("lines out of order or outside the code");
	}
}

static void check_placement(const LodeJitdump *dump, const LodeJitPlacement *placement)
{
	uint64_t last = placement->address + placement->size - 1;
	const LodeJitUnit *unit;

	if (placement->unit >= dump->units->len)
		g_error("no such unit");
	unit = &g_array_index(dump->units, LodeJitUnit, placement->unit);
	if (placement->offset >= unit->size || placement->size > unit->size - placement->offset)
		g_error("more placed than there is");
	if (lode_jitdump_find(dump, placement->address, placement->start_ns) != placement ||
		lode_jitdump_find(dump, last, placement->end_ns - 1) != placement)
		g_error("a placement is not found");
	if (lode_jitdump_find(dump, last, UINT64_MAX) == NULL)
		g_error("a place that holds nothing");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(LodeJitdump) dump = lode_jitdump_open(fuzz_file(data, size), &error);

	if ((dump == NULL) != (error != NULL))
		g_error("a result and an error");
	if (dump == NULL)
		return 0;
	check_units(dump);
	check_calls(dump);
	for (guint i = 0; i < dump->placements->len; i++)
		check_placement(dump, &g_array_index(dump->placements, LodeJitPlacement, i));
	return 0;
}
