/* SPDX-License-Identifier: MIT */
#include "random_caches.h"

#include "seeds.h"
#include "traces/blocks/block_splitter.h"

#include <string.h>

static unsigned below(unsigned n)
{
	return (unsigned)random_int_range(0, (gint32)n);
}

static void append_options(GString *text, bool is_tlb, bool holds_data, unsigned ways)
{
	static const char *const policies[] = {
		"lru", "fifo", "random", "random=7", "srrip", "plru"};
	bool can_plru = (ways & (ways - 1)) == 0;

	if (below(2) == 0)
		g_string_append_printf(text, ":%s", policies[below(can_plru ? 6 : 5)]);
	if (is_tlb)
		return;
	if (below(4) == 0)
		g_string_append(text, ":next-line");
	else if (holds_data && below(4) == 0)
		g_string_append(text, ":stride");
	if (below(4) == 0)
		g_string_append(text, ":write-through");
	if (below(4) == 0)
		g_string_append(text, ":no-allocate");
}

/* Any geometry: a set may be one way, more than fit a word, or more than are searched. */
static void append_cache(GString *text, const char *name, unsigned line, bool holds_data)
{
	static const unsigned all_ways[] = {1, 1, 2, 2, 3, 4, 4, 5, 8, 12, 16, 17, 32, 40, 64};
	unsigned ways = all_ways[below(G_N_ELEMENTS(all_ways))];
	unsigned sets = 1u << below(ways > 8 ? 2 : 5);

	g_string_append_printf(text, "%s%s=%u:%u:%u", text->len > 0 ? "," : "", name,
		sets * ways * line, ways, line);
	append_options(text, false, holds_data, ways);
}

static void append_tlb(GString *text, const char *name)
{
	static const unsigned all_ways[] = {1, 2, 4, 6, 20, 36};
	unsigned ways = all_ways[below(G_N_ELEMENTS(all_ways))];

	g_string_append_printf(
		text, ",%s=%u:%u:%u", name, ways << below(3), ways, 256u << below(3));
	append_options(text, true, false, ways);
}

static void append_tlbs(GString *text)
{
	if (below(2) == 0)
		return;
	if (below(3) > 0)
		append_tlb(text, "itlb");
	append_tlb(text, "dtlb");
	if (below(2) == 0)
		append_tlb(text, below(2) ? "stlb" : "dtlb2");
}

/* LRU, write-back, no prefetching: nothing but the geometry. */
static void append_usual_cache(GString *text, const char *name)
{
	static const unsigned all_ways[] = {1, 2, 3, 4, 7, 8, 16};
	unsigned ways = all_ways[below(G_N_ELEMENTS(all_ways))], line = 16u << below(4);

	g_string_append_printf(text, "%s%s=%u:%u:%u", text->len > 0 ? "," : "", name,
		ways * line << below(5), ways, line);
}

char *random_usual_hierarchy_text(void)
{
	GString *text = g_string_new(NULL);

	if (below(4) > 0)
		append_usual_cache(text, "i1");
	append_usual_cache(text, "d1");
	if (below(4) > 0)
		append_cache(text, "l2", 16u << below(5), true);
	return g_string_free(text, FALSE);
}

/* One of two texts for a place: any cache at all, or some that differ in their ways alone. */
static char *choose_part(GPtrArray *parts)
{
	return g_ptr_array_index(parts, below(parts->len));
}

static GPtrArray *random_parts(const char *name, bool is_tlb, unsigned line)
{
	GPtrArray *parts = g_ptr_array_new_with_free_func(g_free);
	unsigned n = 1 + below(3), sets = 1u << below(4);
	bool is_by_ways = below(2) == 0;

	for (unsigned i = 0; i < n; i++) {
		GString *text = g_string_new(NULL);
		unsigned ways = 1 + below(below(2) ? 6 : 40);

		if (is_by_ways && is_tlb)
			g_string_printf(text, ",%s=%u:%u:512", name, sets * ways, ways);
		else if (is_by_ways)
			g_string_printf(text, ",%s=%u:%u:%u", name, sets * ways * line, ways, line);
		else if (is_tlb)
			append_tlb(text, name);
		else
			append_cache(text, name, line, name[0] != 'i');
		/* the first has no comma before it */
		g_ptr_array_add(parts, g_strdup(text->str + (text->str[0] == ',')));
		g_string_free(text, TRUE);
	}
	return parts;
}

void random_sweep_texts(char **out_texts, unsigned n)
{
	static const char *const names[] = {"i1", "d1", "l2", "l3", "dtlb", "stlb"};
	static const char *const later[] = {"i2", "d2"};
	GPtrArray *parts[G_N_ELEMENTS(names)];
	bool has_cores = below(4) == 0, is_split = below(4) == 0;
	unsigned line = 16u << below(3), cores = below(4);

	for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
		parts[i] = random_parts(is_split && i == 2 ? later[below(2)] : names[i], i >= 4,
			has_cores || i == 0 ? line : 16u << below(3));
	for (unsigned i = 0; i < n; i++) {
		GString *text = g_string_new(choose_part(parts[1]));
		bool has_second = below(3) > 0;

		if (below(4) > 0 || is_split)
			g_string_append_printf(text, ",%s", choose_part(parts[0]));
		if (has_second)
			g_string_append_printf(text, ",%s", choose_part(parts[2]));
		if (has_second && below(2) == 0)
			g_string_append_printf(text, ",%s", choose_part(parts[3]));
		if (below(2) == 0)
			g_string_append_printf(text, ",%s", choose_part(parts[4]));
		if (strstr(text->str, "dtlb") != NULL && below(2) == 0)
			g_string_append_printf(text, ",%s", choose_part(parts[5]));
		if (has_cores)
			g_string_append_printf(text, ",cores=%u", cores);
		out_texts[i] = g_string_free(text, FALSE);
	}
	for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
		g_ptr_array_unref(parts[i]);
}

char *random_hierarchy_text(void)
{
	GString *text = g_string_new(NULL);
	bool has_cores = below(2) == 0;
	unsigned line = 16u << below(5), n_levels = 1 + below(3);
	unsigned shape = below(6);

	if (shape != 0 && shape != 1)
		append_cache(text, "i1", 16u << below(4), false);
	append_cache(text, shape == 0 ? "u1" : "d1", line, true);
	for (unsigned level = 2; level <= n_levels; level++) {
		g_autofree char *name = g_strdup_printf("l%u", level);

		append_cache(text, name, has_cores ? line : 16u << below(5), true);
		if (has_cores && below(2) == 0) {
			g_string_append(text, ":shared");
			has_cores = true;
			n_levels = level;
		}
	}
	append_tlbs(text);
	if (has_cores)
		g_string_append_printf(text, ",cores=%u", below(5));
	return g_string_free(text, FALSE);
}

/* What one thread does: a loop of instructions, each with its own way through memory. */
typedef struct {
	uint64_t code, data[8];
	int64_t strides[8];
	unsigned n_instructions, at;
} Loop;

static void begin_loop(Loop *loop, unsigned n_threads)
{
	static const int64_t strides[] = {0, 0, 4, 8, -8, 24, 64, 200, -4096};

	loop->code = 0x400000 + below(64) * 37;
	loop->n_instructions = 1 + below(8);
	loop->at = 0;
	for (unsigned i = 0; i < 8; i++) {
		loop->data[i] = 0x10000 + below(n_threads > 1 ? 300 : 6000);
		loop->strides[i] = strides[below(G_N_ELEMENTS(strides))];
	}
}

static void append(GArray *out, uint64_t address, uint32_t size, unsigned kind, unsigned thread)
{
	LodeReference reference = {address, size, (uint16_t)thread, (uint8_t)kind};

	g_array_append_val(out, reference);
}

/* An instruction of the loop and what it touches. */
static void step(GArray *out, Loop *loop, unsigned thread)
{
	unsigned i = loop->at;

	append(out, loop->code + i * 5, 5, LODE_REFERENCE_FETCH, thread);
	if (i % 3 != 2)
		append(out, loop->data[i], 1u << below(4), 1 + below(3) % (1 + i % 3), thread);
	if (below(30) == 0)
		append(out, 0x20000 + below(4000), 4, LODE_REFERENCE_STORE, thread);
	loop->data[i] += (uint64_t)loop->strides[i];
	loop->at = (i + 1) % loop->n_instructions;
}

/* What no program does: no size, a very large one, the end of memory. */
static void append_oddity(GArray *out, unsigned thread)
{
	uint32_t size = below(4) == 0 ? below(20000) : below(3);

	append(out, UINT64_MAX - below(300), size, below(LODE_N_REFERENCE_KINDS), thread);
	append(out, below(500), size, below(LODE_N_REFERENCE_KINDS), thread);
}

static GArray *random_references(unsigned n)
{
	GArray *out = g_array_new(FALSE, FALSE, sizeof(LodeReference));
	unsigned n_threads = below(2) == 0 ? 1 : 2 + below(4), thread = 0;
	unsigned quantum = 1 + below(40);
	bool is_odd = below(4) == 0;
	Loop loops[8];

	for (unsigned i = 0; i < 8; i++)
		begin_loop(&loops[i], n_threads);
	while (out->len < n) {
		if (below(quantum) == 0)
			thread = below(n_threads);
		if (below(60) == 0)
			begin_loop(&loops[thread], n_threads);
		step(out, &loops[thread], thread);
		if (is_odd && below(100) == 0)
			append_oddity(out, thread);
	}
	return out;
}

GPtrArray *random_frames(unsigned n_references)
{
	g_autoptr(GArray) references = random_references(n_references);
	g_autoptr(LodeBlockSplitter) splitter = lode_block_splitter_new();
	GPtrArray *frames = g_ptr_array_new_with_free_func((GDestroyNotify)lode_trace_frame_free);

	for (guint at = 0; at < references->len;) {
		guint n = 1 + below(n_references);

		n = MIN(n, references->len - at);
		lode_block_splitter_add(splitter, &g_array_index(references, LodeReference, at), n);
		at += n;
		g_ptr_array_add(frames, lode_block_splitter_take_frame(splitter));
	}
	return frames;
}
