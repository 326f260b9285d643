/* SPDX-License-Identifier: MIT */
/*
 * A walk over the unit's tree that goes down only into functions which hold one of the addresses,
 * collecting the address ranges of inlined functions; then one sweep over ranges and addresses.
 */
#include "images/inlined_functions.h"

#include "base/partition_point.h"
#include "images/demangled_name.h"

#include <dwarf.h>

enum {
	MAX_DEPTH = 256,
	/* of one unit; the largest real ones have some hundred thousand */
	MAX_VISITED = 50 * 1000 * 1000,
	MAX_RANGES = 4 * 1000 * 1000,
	/* ranges of a sound unit are nested, then the sweep looks at one */
	MAX_LOOK_BACK = 64,
};

typedef struct {
	uint64_t low, high;
	uint32_t depth;
	Dwarf_Die die;
} InlinedRange;

typedef struct {
	const uint64_t *addresses;
	size_t n;
	GArray *ranges; /* InlinedRange */
	uint64_t n_visited;
} Walk;

/* Whether one of the addresses is in [low, high). */
static bool is_wanted(const Walk *walk, uint64_t low, uint64_t high)
{
	size_t first = LODE_PARTITION_POINT(walk->n, i, walk->addresses[i] < low);
	return first < walk->n && walk->addresses[first] < high;
}

/* Whether an address is in the DIE's ranges; collects them when it is an inlined function. */
static bool visit_ranges(Walk *walk, Dwarf_Die *die, uint32_t depth, bool is_inlined)
{
	Dwarf_Addr base, low, high;
	ptrdiff_t offset = 0;
	bool is_hit = false;

	while ((offset = dwarf_ranges(die, offset, &base, &low, &high)) > 0) {
		InlinedRange range = {.low = low, .high = high, .depth = depth, .die = *die};

		if (++walk->n_visited > MAX_VISITED)
			return is_hit;
		if (low >= high || !is_wanted(walk, low, high))
			continue;
		is_hit = true;
		if (is_inlined && walk->ranges->len < MAX_RANGES)
			g_array_append_val(walk->ranges, range);
	}
	return is_hit;
}

/* Whether the walk goes below a DIE. */
static bool is_entered(Walk *walk, Dwarf_Die *die, uint32_t depth)
{
	switch (dwarf_tag(die)) {
	case DW_TAG_compile_unit:
	case DW_TAG_namespace:
	case DW_TAG_module:
	case DW_TAG_lexical_block:
	case DW_TAG_try_block:
	case DW_TAG_catch_block:
		return true;
	case DW_TAG_subprogram:
		return visit_ranges(walk, die, depth, false);
	case DW_TAG_inlined_subroutine:
		return visit_ranges(walk, die, depth, true);
	default:
		return false;
	}
}

static void walk_unit(Walk *walk, Dwarf_Die *unit)
{
	Dwarf_Die path[MAX_DEPTH];
	uint32_t depth = 0;

	if (dwarf_child(unit, &path[0]) != 0)
		return;
	for (;;) {
		Dwarf_Die *die = &path[depth];

		if (++walk->n_visited > MAX_VISITED)
			return;
		if (depth + 1 < MAX_DEPTH && is_entered(walk, die, depth) &&
			dwarf_child(die, &path[depth + 1]) == 0) {
			depth++;
			continue;
		}
		while (dwarf_siblingof(&path[depth], &path[depth]) != 0) {
			if (depth-- == 0)
				return;
		}
	}
}

static int compare_ranges(const void *a, const void *b)
{
	const InlinedRange *x = a, *y = b;

	if (x->low != y->low)
		return x->low < y->low ? -1 : 1;
	if (x->high != y->high)
		return x->high > y->high ? -1 : 1;
	return (x->depth > y->depth) - (x->depth < y->depth);
}

static const char *name_of(Dwarf_Die *die, GStringChunk *names)
{
	Dwarf_Attribute attribute;
	const char *name = dwarf_formstring(
		dwarf_attr_integrate(die, DW_AT_linkage_name, &attribute));

	if (name == NULL)
		name = dwarf_formstring(
			dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &attribute));
	if (name == NULL)
		name = dwarf_formstring(dwarf_attr_integrate(die, DW_AT_name, &attribute));
	return name == NULL ? NULL : lode_demangled_name(name, names);
}

/* The innermost range at `address` of those on the stack; ended ones are taken off its top. */
static InlinedRange *innermost(const GArray *ranges, GArray *stack, uint64_t address)
{
	while (stack->len > 0) {
		guint top = g_array_index(stack, guint, stack->len - 1);

		if (g_array_index(ranges, InlinedRange, top).high > address)
			break;
		g_array_set_size(stack, stack->len - 1);
	}
	for (guint i = 0; i < stack->len && i < MAX_LOOK_BACK; i++) {
		guint index = g_array_index(stack, guint, stack->len - 1 - i);
		InlinedRange *range = &g_array_index(ranges, InlinedRange, index);

		if (range->low <= address && address < range->high)
			return range;
	}
	return NULL;
}

/* Those that hold the address stand on the stack from the outermost on. */
static InlinedRange *outermost(const GArray *ranges, const GArray *stack, uint64_t address)
{
	for (guint i = 0; i < stack->len && i < MAX_LOOK_BACK; i++) {
		guint index = g_array_index(stack, guint, i);
		InlinedRange *range = &g_array_index(ranges, InlinedRange, index);

		if (range->low <= address && address < range->high)
			return range;
	}
	return NULL;
}

/* Where an inlined function is called; line 0: not told. */
static void find_call(Dwarf_Die *inlined, Dwarf_Files *files, GStringChunk *names,
	const char **out_file, uint32_t *out_line)
{
	Dwarf_Attribute attribute;
	Dwarf_Word line, file;
	const char *path = NULL;

	if (dwarf_formudata(dwarf_attr(inlined, DW_AT_call_line, &attribute), &line) != 0 ||
		line == 0 || line > UINT32_MAX)
		return;
	*out_line = (uint32_t)line;
	if (files != NULL &&
		dwarf_formudata(dwarf_attr(inlined, DW_AT_call_file, &attribute), &file) == 0)
		path = dwarf_filesrc(files, file, NULL, NULL);
	if (path == NULL)
		return;
	g_autofree char *valid = g_utf8_make_valid(path, -1);
	*out_file = g_string_chunk_insert_const(names, valid);
}

/* All that hold the address, from the top of the stack on. */
static void add_calls(const Walk *walk, const GArray *stack, size_t index, Dwarf_Files *files,
	GArray *calls, GStringChunk *names)
{
	for (guint i = stack->len, n = 0; i-- > 0 && n < MAX_LOOK_BACK; n++) {
		InlinedRange *range = &g_array_index(
			walk->ranges, InlinedRange, g_array_index(stack, guint, i));
		LodeInlinedCall call = {.index = (uint32_t)index};
		if (walk->addresses[index] < range->low || walk->addresses[index] >= range->high)
			continue;
		call.function = name_of(&range->die, names);
		find_call(&range->die, files, names, &call.file, &call.line);
		g_array_append_val(calls, call);
	}
}

static void sweep(const Walk *walk, LodeBinaryLocation *locations, Dwarf_Files *files,
	GArray *calls, GStringChunk *names)
{
	g_autoptr(GArray) stack = g_array_new(FALSE, FALSE, sizeof(guint));
	const InlinedRange *last = NULL;
	const char *last_name = NULL;
	guint next = 0;

	for (size_t i = 0; i < walk->n; i++) {
		InlinedRange *range;

		for (; next < walk->ranges->len &&
			g_array_index(walk->ranges, InlinedRange, next).low <= walk->addresses[i];
			next++)
			g_array_append_val(stack, next);
		range = innermost(walk->ranges, stack, walk->addresses[i]);
		if (range == NULL)
			continue;
		if (range != last)
			last_name = name_of(&range->die, names);
		last = range;
		locations[i].inlined = last_name;
		range = outermost(walk->ranges, stack, walk->addresses[i]);
		if (range != NULL)
			find_call(&range->die, files, names, &locations[i].caller_file,
				&locations[i].caller_line);
		if (calls != NULL)
			add_calls(walk, stack, i, files, calls, names);
	}
}

void lode_inlined_functions_find(Dwarf_Die *unit, const uint64_t *addresses, size_t n,
	LodeBinaryLocation *locations, GArray *calls, GStringChunk *names)
{
	Walk walk = {.addresses = addresses, .n = n};
	Dwarf_Files *files = NULL;
	size_t n_files;

	if (dwarf_getsrcfiles(unit, &files, &n_files) != 0)
		files = NULL;
	walk.ranges = g_array_new(FALSE, FALSE, sizeof(InlinedRange));
	walk_unit(&walk, unit);
	if (walk.ranges->len > 1)
		qsort(walk.ranges->data, walk.ranges->len, sizeof(InlinedRange), compare_ranges);
	sweep(&walk, locations, files, calls, names);
	g_array_unref(walk.ranges);
}
