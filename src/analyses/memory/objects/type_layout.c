/* SPDX-License-Identifier: MIT */
#include "analyses/memory/objects/type_layout.h"

#include "analyses/memory/data_source.h"
#include "analyses/memory/page_faults.h"
#include "analyses/memory/sample_attributes.h"
#include "base/arrays/sort_order.h"
#include "base/error.h"
#include "base/text/suggestion.h"
#include "model/index.h"
#include "model/memory.h"

#include <stdlib.h>
#include <string.h>

enum { SHOWN_NAMES = 8, LOOK_EVERY = 1 << 16 };

/* Bits of a type: sizes come from debug information, which may claim anything. */
__extension__ typedef unsigned __int128 Bits;

static void clear_row(void *data)
{
	LodeLayoutRow *row = data;

	g_clear_pointer(&row->levels, g_array_unref);
}

static void free_layout(void *data)
{
	LodeTypeLayout *self = data;

	g_array_unref(self->rows);
	g_free(self);
}

static const char *without_keyword(const char *name)
{
	static const char *const keywords[] = {"struct ", "class ", "union ", "enum "};

	for (size_t i = 0; i < G_N_ELEMENTS(keywords); i++)
		if (g_str_has_prefix(name, keywords[i]))
			return name + strlen(keywords[i]);
	return name;
}

static const LodeDataType *type_at(const LodeMemory *memory, uint32_t number)
{
	return &LODE_AT(memory->types, LodeDataType, number);
}

static Bits member_begin(const LodeDataMember *member)
{
	return (Bits)member->offset * 8 + (member->bit_size > 0 ? member->bit_offset : 0);
}

static Bits member_end(const LodeDataMember *member)
{
	Bits size = member->bit_size > 0 ? member->bit_size : (Bits)member->size * 8;

	return member_begin(member) + size;
}

/* The end of the last one in an array of structures. */
static Bits last_end(const LodeDataMember *member)
{
	const uint64_t limit = UINT64_C(1) << 48;
	uint64_t n = member->stride > 0 && member->repeats > 0 ? member->repeats - 1 : 0;

	return member_end(member) + (Bits)MIN(n, limit) * MIN(member->stride, limit) * 8;
}

static int compare_members(const void *a, const void *b)
{
	const LodeDataMember *left = *(const LodeDataMember *const *)a;
	const LodeDataMember *right = *(const LodeDataMember *const *)b;
	Bits left_begin = member_begin(left), right_begin = member_begin(right);

	if (left_begin != right_begin)
		return left_begin < right_begin ? -1 : 1;
	/* Members of a union at one place are in the order of the declaration. */
	return (left > right) - (left < right);
}

static uint64_t line_of(Bits bits)
{
	return (uint64_t)(bits / 8 / LODE_SAMPLE_LINE_BYTES);
}

static void set_lines(LodeLayoutRow *row, Bits begin, Bits end)
{
	row->first_line = line_of(begin);
	row->last_line = end > begin ? line_of(end - 1) : row->first_line;
}

static void append_gap(LodeTypeLayout *self, Bits begin, Bits end, LodeLayoutRowKind kind)
{
	LodeLayoutRow row = {.kind = kind, .offset = (uint64_t)(begin / 8)};
	Bits n = end - begin;

	if (n % 8 == 0 && begin % 8 == 0) {
		row.size = (uint64_t)(n / 8);
	} else {
		row.bit_offset = (uint32_t)(begin % 8);
		row.bit_size = (uint32_t)n;
	}
	self->hole_bytes += row.size;
	set_lines(&row, begin, end);
	g_array_append_val(self->rows, row);
}

/* Bits up to the next byte, bytes, and what bits are left. */
static void append_hole(LodeTypeLayout *self, Bits begin, Bits end, LodeLayoutRowKind kind)
{
	Bits first_byte = MIN((begin + 7) / 8 * 8, end);
	Bits last_byte = MAX(end / 8 * 8, first_byte);

	if (first_byte > begin)
		append_gap(self, begin, first_byte, kind);
	if (last_byte > first_byte)
		append_gap(self, first_byte, last_byte, kind);
	if (end > last_byte)
		append_gap(self, last_byte, end, kind);
}

static void append_line(LodeTypeLayout *self, uint64_t line)
{
	LodeLayoutRow row = {.kind = LODE_LAYOUT_LINE,
		.offset = line * LODE_SAMPLE_LINE_BYTES,
		.size = LODE_SAMPLE_LINE_BYTES,
		.first_line = line,
		.last_line = line};

	g_array_append_val(self->rows, row);
}

static void append_member(LodeTypeLayout *self, const LodeDataMember *member)
{
	LodeLayoutRow row = {.kind = LODE_LAYOUT_MEMBER,
		.member = member,
		.offset = member->offset,
		.size = member->size,
		.bit_offset = member->bit_size > 0 ? member->bit_offset : 0,
		.bit_size = member->bit_size};

	set_lines(&row, member_begin(member), last_end(member));
	g_array_append_val(self->rows, row);
}

static GPtrArray *sorted_members(const LodeMemory *memory, const LodeDataType *type)
{
	GPtrArray *members = g_ptr_array_new();

	for (uint32_t i = 0; i < type->n_members; i++)
		g_ptr_array_add(
			members, &LODE_AT(memory->members, LodeDataMember, type->first_member + i));
	g_ptr_array_sort(members, compare_members);
	return members;
}

static void append_rows(LodeTypeLayout *self, const LodeMemory *memory)
{
	g_autoptr(GPtrArray) members = sorted_members(memory, self->type);
	LodeLayoutRow last = {.kind = LODE_LAYOUT_NO_MEMBER};
	Bits end = 0;
	uint64_t line = UINT64_MAX;

	for (guint i = 0; i < members->len; i++) {
		const LodeDataMember *member = members->pdata[i];
		Bits begin = member_begin(member);
		if (begin > end)
			append_hole(self, end, begin, LODE_LAYOUT_HOLE);
		if (line_of(begin) != line)
			append_line(self, line = line_of(begin));
		append_member(self, member);
		end = MAX(end, last_end(member));
	}
	if (members->len > 0 && (Bits)self->type->size * 8 > end)
		append_hole(self, end, (Bits)self->type->size * 8, LODE_LAYOUT_PADDING);
	g_array_append_val(self->rows, last);
}

static void add_level(LodeLayoutRow *row, const LodeMemorySample *sample)
{
	const char *level = lode_data_source_level(sample->data_source);

	if (level == NULL)
		return;
	if (row->levels == NULL)
		row->levels = g_array_new(FALSE, FALSE, sizeof(LodeLevelWeight));
	/* A dozen at most. */
	for (guint i = 0; i < row->levels->len; i++) {
		LodeLevelWeight *known = &g_array_index(row->levels, LodeLevelWeight, i);
		if (strcmp(known->level, level) == 0) {
			known->weight += sample->weight;
			return;
		}
	}
	LodeLevelWeight first = {level, sample->weight};
	g_array_append_val(row->levels, first);
}

static LodeLayoutRow *row_at(LodeTypeLayout *self, guint i)
{
	return &g_array_index(self->rows, LodeLayoutRow, i);
}

/* Row of each member of the type by its number, the one of no member last. */
static guint *index_rows(LodeTypeLayout *self, const LodeMemory *memory)
{
	guint *rows = g_new0(guint, self->type->n_members + 1);
	const LodeDataMember *first = (const LodeDataMember *)(const void *)memory->members->data +
	                              self->type->first_member;

	for (guint i = 0; i < self->rows->len; i++)
		if (row_at(self, i)->kind == LODE_LAYOUT_MEMBER)
			rows[row_at(self, i)->member - first] = i;
	rows[self->type->n_members] = self->rows->len - 1;
	return rows;
}

/* A bit field is read with what lies around it. */
static bool is_wide(const LodeLayoutRow *row, const LodeMemorySample *sample)
{
	return row->kind == LODE_LAYOUT_MEMBER && row->bit_size == 0 && sample->size > row->size;
}

/* Until it is stopped, of which the caller takes note. */
static void add_samples(LodeTypeLayout *self, const LodeMemory *memory, const GArray *samples,
	const LodeProgress *progress)
{
	g_autofree guint *rows = index_rows(self, memory);
	uint32_t first = self->type->first_member, n = self->type->n_members;

	for (guint i = 0; i < samples->len; i++) {
		uint32_t number = LODE_AT(samples, uint32_t, i);
		const LodeMemorySample *sample = &LODE_AT(
			memory->samples, LodeMemorySample, number);
		if (i % LOOK_EVERY == 0 && lode_progress_is_cancelled(progress))
			return;
		self->all_weight += sample->weight;
		const LodeDataObject *object = sample->object < memory->objects->len
		                                       ? &LODE_AT(memory->objects, LodeDataObject,
								 sample->object)
		                                       : NULL;
		if (object == NULL || object->type == LODE_NONE)
			self->untyped_weight += sample->weight;
		if (object == NULL || object->type != self->number)
			continue;
		bool is_member = object->member >= first && object->member - first < n;
		LodeLayoutRow *row = row_at(self, rows[is_member ? object->member - first : n]);
		lode_access_totals_add(&self->total, sample, number);
		lode_access_totals_add(&row->totals, sample, number);
		add_level(row, sample);
		if (is_wide(row, sample))
			row->wide_weight += sample->weight;
	}
}

LODE_ORDER(
	compare_levels, LodeLevelWeight, LODE_DESCENDING(weight), strcmp(left->level, right->level))

/* Lines get what their members add up to; the hottest member its neighbours. */
static void finish(LodeTypeLayout *self)
{
	LodeLayoutRow *line = NULL;

	self->hottest = LODE_NONE;
	for (guint i = 0; i < self->rows->len; i++) {
		LodeLayoutRow *row = row_at(self, i);
		if (row->levels != NULL)
			g_array_sort(row->levels, compare_levels);
		if (row->kind == LODE_LAYOUT_LINE)
			line = row;
		if (row->kind != LODE_LAYOUT_MEMBER)
			continue;
		lode_access_totals_join(&line->totals, &row->totals);
		if (row->totals.n_samples > 0 &&
			(self->hottest == LODE_NONE ||
				row->totals.weight > row_at(self, self->hottest)->totals.weight))
			self->hottest = i;
	}
	for (guint i = 0; i < self->rows->len && self->hottest != LODE_NONE; i++) {
		const LodeLayoutRow *hottest = row_at(self, self->hottest);
		LodeLayoutRow *row = row_at(self, i);
		row->is_beside_hottest = row->kind == LODE_LAYOUT_MEMBER && row != hottest &&
		                         row->first_line <= hottest->last_line &&
		                         row->last_line >= hottest->first_line;
	}
}

static LodeTypeLayout *new_layout(const LodeMemory *memory, uint32_t number, const GArray *samples,
	const LodeProgress *progress)
{
	LodeTypeLayout *self = g_new0(LodeTypeLayout, 1);

	self->number = number;
	self->type = type_at(memory, number);
	self->rows = g_array_new(FALSE, TRUE, sizeof(LodeLayoutRow));
	g_array_set_clear_func(self->rows, clear_row);
	append_rows(self, memory);
	add_samples(self, memory, samples, progress);
	finish(self);
	return self;
}

/* Appends names that contain `name`, or else the nearest one. */
static void append_similar(const LodeMemory *memory, const char *name, GString *out)
{
	g_autoptr(GPtrArray) names = g_ptr_array_new();
	guint n = 0;

	for (uint32_t i = 0; i < memory->types->len; i++)
		g_ptr_array_add(names, type_at(memory, i)->name);
	for (guint i = 0; i < names->len; i++) {
		if (strstr(names->pdata[i], name) == NULL)
			continue;
		if (n++ < SHOWN_NAMES)
			g_string_append_printf(out, "%s'%s'", n == 1 ? "; there are " : ", ",
				(char *)names->pdata[i]);
	}
	if (n > SHOWN_NAMES)
		g_string_append_printf(out, " and %u more", n - SHOWN_NAMES);
	g_ptr_array_add(names, NULL);
	const char *nearest = lode_suggestion(name, (const char *const *)names->pdata);
	if (n == 0 && nearest != NULL)
		g_string_append_printf(out, "; did you mean '%s'?", nearest);
}

GPtrArray *lode_type_layout_find(const LodeProfile *profile, const uint32_t *samples,
	size_t n_samples, const LodeTypeLayoutOptions *options, GError **error)
{
	const char *name = options->type;
	const LodeMemory *memory = lode_memory_of(profile);
	g_autoptr(GPtrArray) layouts = g_ptr_array_new_with_free_func(free_layout);
	g_autoptr(GArray) accesses = lode_page_faults_exclude(profile, samples, n_samples);

	for (uint32_t i = 0; i < memory->types->len; i++) {
		const char *known = type_at(memory, i)->name;
		if (strcmp(known, name) == 0 || strcmp(without_keyword(known), name) == 0)
			g_ptr_array_add(
				layouts, new_layout(memory, i, accesses, options->progress));
		if (lode_progress_is_cancelled(options->progress)) {
			g_set_error_literal(error, LODE_ERROR, LODE_ERROR_CANCELLED, "stopped");
			return NULL;
		}
	}
	if (layouts->len > 0)
		return g_steal_pointer(&layouts);
	g_autoptr(GString) message = g_string_new(NULL);
	g_string_printf(message, "no type '%s' was accessed in this profile", name);
	append_similar(memory, name, message);
	g_set_error_literal(error, LODE_ERROR, LODE_ERROR_NOT_FOUND, message->str);
	return NULL;
}
