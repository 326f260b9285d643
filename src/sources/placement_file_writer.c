/* SPDX-License-Identifier: MIT */
#include "sources/placement_file.h"

#include <string.h>

/* Characters that could end a line, or control a terminal, become blanks. */
static void append_comment(GString *text, const char *comment)
{
	for (; *comment != '\0'; comment++)
		g_string_append_c(text, g_ascii_iscntrl(*comment) ? ' ' : *comment);
}

static void append_head(const char *comment, GString *text)
{
	g_auto(GStrv) lines = g_strsplit(comment, "\n", -1);

	for (guint i = 0; lines[i] != NULL; i++) {
		g_string_append(text, *lines[i] != '\0' ? "# " : "#");
		append_comment(text, lines[i]);
		g_string_append_c(text, '\n');
	}
}

static void append_quoted(GString *text, const char *name)
{
	g_string_append_c(text, '"');
	for (; *name != '\0'; name++) {
		if (*name == '"' || *name == '\\')
			g_string_append_c(text, '\\');
		g_string_append_c(text, *name);
	}
	g_string_append_c(text, '"');
}

static void append_threads(const LodePlacement *self, GString *text)
{
	for (uint32_t i = 0; i < self->n_threads; i++) {
		uint32_t memory = LODE_AT(self->thread_memories, uint32_t, i);
		uint32_t cpu = LODE_AT(self->thread_cpus, uint32_t, i);
		if (memory == LODE_NONE)
			continue;
		g_string_append_printf(text, "run thread %u on memory %u", i, memory);
		if (cpu != LODE_NONE)
			g_string_append_printf(text, " using cpu %u", cpu);
		g_string_append_c(text, '\n');
	}
}

static void append_range(const LodePlacedRange *range, GString *text)
{
	if (range->kind == LODE_PLACE_OBJECT) {
		g_string_append(text, "place object ");
		append_quoted(text, range->object);
	} else {
		g_string_append_printf(text,
			"%s range 0x%" G_GINT64_MODIFIER "x to 0x%" G_GINT64_MODIFIER "x",
			range->kind == LODE_PLACE_INTERLEAVE ? "interleave" : "place", range->start,
			range->end - 1);
	}
	if (range->kind != LODE_PLACE_INTERLEAVE)
		g_string_append_printf(text, " on memory %u", range->memory);
	if (range->note != NULL) {
		g_string_append(text, " # ");
		append_comment(text, range->note);
	}
	g_string_append_c(text, '\n');
}

void lode_placement_file_append(const LodePlacement *self, const char *comment, GString *text)
{
	if (comment != NULL)
		append_head(comment, text);
	g_string_append_printf(text, "memories %u", self->n_memories);
	if (self->topology != NULL)
		g_string_append_printf(text, " in topology %s", self->topology);
	g_string_append_printf(text, "\nthreads %u\n", self->n_threads);
	append_threads(self, text);
	for (guint i = 0; i < self->ranges->len; i++)
		append_range(&LODE_AT(self->ranges, LodePlacedRange, i), text);
}
