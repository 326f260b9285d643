/* SPDX-License-Identifier: MIT */
/* Addresses of one unit are looked up together: its line table once, its tree once. */
#include "images/dwarf/source_lines.h"

#include "base/arrays/partition_point.h"
#include "base/arrays/sort_order.h"
#include "images/elf/binary_image.h"
#include "images/elf/demangled_name.h"

#include <dwarf.h>
#include <elfutils/libdw.h>

/* --- inlined functions --- */

/* Which function was inlined at an address, for the addresses of one unit. */

/*
 * A walk over the unit's tree that goes down only into functions which hold one of the addresses,
 * collecting the address ranges of inlined functions; then one sweep over ranges and addresses.
 */

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
	bool is_function; /* not inlined; only where these are wanted */
	bool is_named;    /* what follows is known */
	const char *name, *call_file;
	uint32_t call_line;
	bool is_scope; /* what follows, and the line of the call, is known */
	const char *symbol;
	uint32_t first_line, call_discriminator;
} InlinedRange;

typedef struct {
	const uint64_t *addresses;
	size_t n;
	GArray *ranges;     /* InlinedRange */
	bool has_functions; /* those that are not inlined, too */
	uint64_t n_visited;
} Walk;

/* Whether one of the addresses is in [low, high). */
static bool is_wanted(const Walk *walk, uint64_t low, uint64_t high)
{
	size_t first = LODE_PARTITION_POINT(walk->n, i, walk->addresses[i] < low);
	return first < walk->n && walk->addresses[first] < high;
}

/* Whether an address is in the DIE's ranges; collects them when it is an inlined function, or all
 * are wanted. */
static bool visit_ranges(Walk *walk, Dwarf_Die *die, uint32_t depth, bool is_inlined)
{
	Dwarf_Addr base, low, high;
	ptrdiff_t offset = 0;
	bool is_hit = false;

	while ((offset = dwarf_ranges(die, offset, &base, &low, &high)) > 0) {
		InlinedRange range = {.low = low,
			.high = high,
			.depth = depth,
			.die = *die,
			.is_function = !is_inlined};

		if (++walk->n_visited > MAX_VISITED)
			return is_hit;
		if (low >= high || !is_wanted(walk, low, high))
			continue;
		is_hit = true;
		if ((is_inlined || walk->has_functions) && walk->ranges->len < MAX_RANGES)
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

LODE_ORDER(compare_ranges, InlinedRange, LODE_ASCENDING(low), LODE_DESCENDING(high),
	LODE_ASCENDING(depth))

/* Sorted; the caller frees them. */
static void collect_ranges(Walk *walk, Dwarf_Die *unit)
{
	walk->ranges = g_array_new(FALSE, FALSE, sizeof(InlinedRange));
	walk_unit(walk, unit);
	if (walk->ranges->len > 1)
		qsort(walk->ranges->data, walk->ranges->len, sizeof(InlinedRange), compare_ranges);
}

/* The name as linked; NULL: none. Of a copy that the compiler made, that of what it is a copy of.
 */
static const char *symbol_of(Dwarf_Die *die)
{
	Dwarf_Attribute attribute;
	const char *name = dwarf_formstring(
		dwarf_attr_integrate(die, DW_AT_linkage_name, &attribute));

	if (name == NULL)
		name = dwarf_formstring(
			dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &attribute));
	if (name == NULL)
		name = dwarf_formstring(dwarf_attr_integrate(die, DW_AT_name, &attribute));
	return name;
}

static const char *name_of(Dwarf_Die *die, GStringChunk *names)
{
	const char *name = symbol_of(die);

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

/* The ranges that hold the address are on the stack, the outermost first. */
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

/* Where an inlined function is called; line 0: unknown. */
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

/* Many addresses are in one range. */
static InlinedRange *named(InlinedRange *range, Dwarf_Files *files, GStringChunk *names)
{
	if (range->is_named)
		return range;
	range->is_named = true;
	range->name = name_of(&range->die, names);
	find_call(&range->die, files, names, &range->call_file, &range->call_line);
	return range;
}

/* All that hold the address, from the top of the stack on. */
static void add_calls(const Walk *walk, const GArray *stack, size_t index, Dwarf_Files *files,
	GArray *calls, GStringChunk *names)
{
	for (guint i = stack->len, n = 0; i-- > 0 && n < MAX_LOOK_BACK; n++) {
		InlinedRange *range = &g_array_index(
			walk->ranges, InlinedRange, g_array_index(stack, guint, i));
		if (walk->addresses[index] < range->low || walk->addresses[index] >= range->high)
			continue;
		named(range, files, names);
		LodeInlinedCall call = {
			(uint32_t)index, range->name, range->call_file, range->call_line};
		g_array_append_val(calls, call);
	}
}

/* The ranges that begin at or before the address are on the stack, outer ones below inner ones. */
static guint push_ranges(const Walk *walk, GArray *stack, guint next, uint64_t address)
{
	for (; next < walk->ranges->len &&
		g_array_index(walk->ranges, InlinedRange, next).low <= address;
		next++)
		g_array_append_val(stack, next);
	return next;
}

static void sweep(const Walk *walk, LodeBinaryLocation *locations, Dwarf_Files *files,
	GArray *calls, GStringChunk *names)
{
	g_autoptr(GArray) stack = g_array_new(FALSE, FALSE, sizeof(guint));
	guint next = 0;

	for (size_t i = 0; i < walk->n; i++) {
		InlinedRange *range;

		next = push_ranges(walk, stack, next, walk->addresses[i]);
		range = innermost(walk->ranges, stack, walk->addresses[i]);
		if (range == NULL)
			continue;
		locations[i].inlined = named(range, files, names)->name;
		range = outermost(walk->ranges, stack, walk->addresses[i]);
		if (range != NULL) {
			named(range, files, names);
			locations[i].caller_file = range->call_file;
			locations[i].caller_line = range->call_line;
		}
		if (calls != NULL)
			add_calls(walk, stack, i, files, calls, names);
	}
}

/*
 * Sets `inlined` of the locations whose address (ascending) lies in an inlined function of that
 * unit, which numbers `files` (NULL: unknown); of nested ones the innermost. All of them are
 * appended to `calls` (LodeInlinedCall, with the address's index among these), the innermost first;
 * NULL: not wanted. Names are kept in `names`.
 */
static void find_inlined_functions(Dwarf_Die *unit, Dwarf_Files *files, const uint64_t *addresses,
	size_t n, LodeBinaryLocation *locations, GArray *calls, GStringChunk *names)
{
	Walk walk = {.addresses = addresses, .n = n};

	collect_ranges(&walk, unit);
	sweep(&walk, locations, files, calls, names);
	g_array_unref(walk.ranges);
}

/* --- scopes --- */

/* An extension that dwarf.h of elfutils 0.188 lacks. */
enum { DISCRIMINATOR_OF_CALL = 0x2136 /* DW_AT_GNU_discriminator */ };

static uint32_t number_of(Dwarf_Die *die, unsigned name, bool is_integrated)
{
	Dwarf_Attribute attribute;
	Dwarf_Word value;

	if (dwarf_formudata(is_integrated ? dwarf_attr_integrate(die, name, &attribute)
					  : dwarf_attr(die, name, &attribute),
		    &value) != 0)
		return 0;
	return value <= UINT32_MAX ? (uint32_t)value : 0;
}

static const InlinedRange *scoped(InlinedRange *range)
{
	if (range->is_scope)
		return range;
	range->is_scope = true;
	range->symbol = symbol_of(&range->die);
	range->first_line = number_of(&range->die, DW_AT_decl_line, true);
	if (range->is_function)
		return range;
	range->call_line = number_of(&range->die, DW_AT_call_line, false);
	range->call_discriminator = number_of(&range->die, DISCRIMINATOR_OF_CALL, false);
	return range;
}

/* Those of one address, from the top of the stack to the function that is not inlined; taken back
 * where that is not known. `at` is the place in the innermost. */
static void add_scopes(const Walk *walk, GArray *stack, LodeSourceScope at, GArray *scopes)
{
	uint64_t address = walk->addresses[at.index];
	guint first = scopes->len;

	innermost(walk->ranges, stack, address);
	for (guint i = stack->len, n = 0; i-- > 0 && n < MAX_LOOK_BACK; n++) {
		InlinedRange *range = &g_array_index(
			walk->ranges, InlinedRange, g_array_index(stack, guint, i));
		if (address < range->low || address >= range->high)
			continue;
		const InlinedRange *scope = scoped(range);
		if (scope->symbol == NULL || scope->first_line == 0)
			break;
		at.symbol = scope->symbol;
		at.first_line = scope->first_line;
		g_array_append_val(scopes, at);
		if (scope->is_function)
			return;
		at.line = scope->call_line;
		at.discriminator = scope->call_discriminator;
	}
	g_array_set_size(scopes, first);
}

/* --- lines --- */

struct LodeSourceLines {
	LodeDebugInfo *info;
	GStringChunk *names;
	const char *warning;
	const char *last_name, *last_valid_name; /* of a source file */
};

bool lode_source_lines_exist(const LodeElfFile *file)
{
	const LodeElfSection *section = lode_elf_file_find_section(file, ".debug_line");

	if (section == NULL)
		section = lode_elf_file_find_section(file, ".zdebug_line");
	return section != NULL && section->size > 0;
}

LodeSourceLines *lode_source_lines_new(LodeDebugInfo *info)
{
	LodeSourceLines *self = g_new0(LodeSourceLines, 1);

	self->info = info;
	self->names = g_string_chunk_new(4096);
	return self;
}

void lode_source_lines_free(LodeSourceLines *self)
{
	if (self == NULL)
		return;
	g_string_chunk_free(self->names);
	g_free(self);
}

/* The file's name, valid UTF-8. Lines of one file share its name, so mostly it is the last one. */
static const char *file_name(LodeSourceLines *self, const char *name)
{
	if (name == NULL || name == self->last_name)
		return name == NULL ? NULL : self->last_valid_name;
	self->last_name = name;
	self->last_valid_name = name;
	if (!g_utf8_validate(name, -1, NULL)) {
		g_autofree char *valid = g_utf8_make_valid(name, -1);

		self->last_valid_name = g_string_chunk_insert_const(self->names, valid);
	}
	return self->last_valid_name;
}

static void locate_line(
	LodeSourceLines *self, Dwarf_Die *unit, uint64_t address, LodeBinaryLocation *location)
{
	Dwarf_Line *line = dwarf_getsrc_die(unit, address);
	int number = 0;

	if (line == NULL)
		return;
	location->file = file_name(self, dwarf_linesrc(line, NULL, NULL));
	if (dwarf_lineno(line, &number) == 0 && number > 0)
		location->line = (uint32_t)number;
}

/* Addresses of one unit: its line table once, its tree once. */
static void locate_in_unit(LodeSourceLines *self, Dwarf_CU *unit, const uint64_t *addresses,
	size_t n, LodeBinaryLocation *locations, GArray *calls)
{
	Dwarf_Files *files = NULL;
	Dwarf_Lines *lines;
	Dwarf_Die die, tree;
	size_t n_lines, n_files;

	if (dwarf_cu_info(unit, NULL, NULL, &die, NULL, NULL, NULL, NULL) != 0)
		return;
	if (dwarf_getsrclines(&die, &lines, &n_lines) != 0)
		self->warning = "a line table of the debug information is broken";
	for (size_t i = 0; i < n; i++)
		locate_line(self, &die, addresses[i], &locations[i]);
	if (!lode_debug_info_unit_die(self->info, unit, &tree))
		return;
	/* a unit of a package has no table of its own */
	if (dwarf_getsrcfiles(&tree, &files, &n_files) != 0 &&
		dwarf_getsrcfiles(&die, &files, &n_files) != 0)
		files = NULL;
	find_inlined_functions(&tree, files, addresses, n, locations, calls, self->names);
}

static void scopes_in_unit(
	LodeSourceLines *self, Dwarf_CU *unit, const uint64_t *addresses, size_t n, GArray *scopes)
{
	g_autoptr(GArray) stack = g_array_new(FALSE, FALSE, sizeof(guint));
	Walk walk = {.addresses = addresses, .n = n, .has_functions = true};
	Dwarf_Attribute attribute;
	Dwarf_Die die, tree;
	guint next = 0;

	if (dwarf_cu_info(unit, NULL, NULL, &die, NULL, NULL, NULL, NULL) != 0 ||
		!lode_debug_info_unit_die(self->info, unit, &tree))
		return;
	collect_ranges(&walk, &tree);
	const char *producer = dwarf_formstring(dwarf_attr(&tree, DW_AT_producer, &attribute));
	for (size_t i = 0; i < n; i++) {
		Dwarf_Line *line = dwarf_getsrc_die(&die, addresses[i]);
		LodeSourceScope at = {.index = (uint32_t)i, .producer = producer};
		int number = 0;
		unsigned discriminator = 0;
		next = push_ranges(&walk, stack, next, addresses[i]);
		if (line == NULL || dwarf_lineno(line, &number) != 0 || number <= 0)
			continue;
		if (dwarf_linediscriminator(line, &discriminator) == 0)
			at.discriminator = discriminator;
		at.line = (uint32_t)number;
		add_scopes(&walk, stack, at, scopes);
	}
	g_array_unref(walk.ranges);
}

/* How many of the addresses, from the first on, are in the same unit. */
static size_t count_same_unit(
	LodeSourceLines *self, const uint64_t *addresses, size_t n, Dwarf_CU **out_unit)
{
	const LodeUnitRange *range = lode_debug_info_find(self->info, addresses[0]);
	Dwarf_CU *unit = range == NULL ? NULL : range->unit;
	size_t count = 1;

	while (count < n) {
		if (range == NULL || addresses[count] < range->low ||
			addresses[count] >= range->high)
			range = lode_debug_info_find(self->info, addresses[count]);
		if ((range == NULL ? NULL : range->unit) != unit)
			break;
		count++;
	}
	*out_unit = unit;
	return count;
}

const char *lode_source_lines_warning(const LodeSourceLines *self)
{
	return self->warning != NULL ? self->warning : self->info->warning;
}

void lode_source_lines_locate(LodeSourceLines *self, const uint64_t *addresses, size_t n,
	LodeBinaryLocation *out_locations, GArray *calls)
{
	size_t i = 0;

	for (size_t k = 0; k < n; k++)
		out_locations[k] = (LodeBinaryLocation){0};
	while (i < n) {
		Dwarf_CU *unit;
		size_t count = count_same_unit(self, addresses + i, n - i, &unit);

		guint first = calls != NULL ? calls->len : 0;
		if (unit != NULL)
			locate_in_unit(self, unit, addresses + i, count, out_locations + i, calls);
		for (guint k = first; calls != NULL && k < calls->len; k++)
			g_array_index(calls, LodeInlinedCall, k).index += (uint32_t)i;
		i += count;
	}
}

void lode_source_lines_scopes(
	LodeSourceLines *self, const uint64_t *addresses, size_t n, GArray *out_scopes)
{
	for (size_t i = 0, count; i < n; i += count) {
		Dwarf_CU *unit;
		guint first = out_scopes->len;

		count = count_same_unit(self, addresses + i, n - i, &unit);
		if (unit != NULL)
			scopes_in_unit(self, unit, addresses + i, count, out_scopes);
		for (guint k = first; k < out_scopes->len; k++)
			g_array_index(out_scopes, LodeSourceScope, k).index += (uint32_t)i;
	}
}
