/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as what a traced program tells of its code and of what it does: the splitter's frames
 * have the references that the groups of words have, and the number of them that it gives. Caches
 * take as many from the words.
 *
 *   how many units of code; these; then words of eight bytes as far as there are whole ones
 */
#include "caches/cache_simulation.h"
#include "fuzz_target.h"
#include "traces/blocks/block_splitter.h"

#include <string.h>

enum { MAX_AT_A_TIME = 1000 }; /* references: many frames, which end between any two groups */

static GArray *read_words(const uint8_t *data, size_t size)
{
	GArray *words = g_array_new(FALSE, FALSE, sizeof(uint64_t));

	g_array_set_size(words, (guint)(size / sizeof(uint64_t)));
	if (words->len > 0)
		memcpy(words->data, data, words->len * sizeof(uint64_t));
	return words;
}

static GArray *read_groups(LodeCodePieces *pieces, const uint64_t *words, size_t n)
{
	GArray *all = g_array_new(FALSE, FALSE, sizeof(LodeReference));
	LodeReference references[LODE_GROUP_MAX_REFERENCES];
	LodeWordGroup group;

	for (size_t at = 0; at < n;) {
		at += lode_word_group_read(pieces, words + at, n - at, &group);
		size_t n_references = lode_word_group_references(&group, references);
		g_array_append_vals(all, references, (guint)n_references);
	}
	return all;
}

static void take_frame(LodeBlockSplitter *splitter, const GArray *expected, size_t *at)
{
	g_autoptr(LodeTraceFrame) frame = lode_block_splitter_take_frame(splitter);
	LodeReference some[256];
	LodeTraceReferences walk;
	size_t n;

	if (frame == NULL)
		return;
	lode_trace_references_init(&walk, frame);
	while ((n = lode_trace_references_next(&walk, some, G_N_ELEMENTS(some))) > 0)
		for (size_t i = 0; i < n; i++, (*at)++) {
			const LodeReference *wanted = &g_array_index(expected, LodeReference, *at);
			if (*at >= expected->len || some[i].address != wanted->address ||
				some[i].size != wanted->size || some[i].kind != wanted->kind)
				g_error("reference %zu is not that of its group", *at);
		}
}

static void replay(LodeCodePieces *pieces, const GArray *words, const GArray *expected)
{
	g_autoptr(LodeHierarchy) hierarchy = lode_hierarchy_parse("i1=512:2:64,d1=512:2:64", NULL);
	const LodeHierarchy *one = hierarchy;
	g_autoptr(LodeCacheSimulation) caches = lode_cache_simulation_new(&one, 1, NULL, NULL);
	LodeWordsTaken taken = {0};
	uint64_t n_expected = expected->len;

	for (guint i = 0; i < words->len; i++) {
		uint64_t word = g_array_index(words, uint64_t, i);
		n_expected += lode_word_is_count(word) ? lode_word_count(word) : 0;
	}
	if (!lode_cache_simulation_replay_words(
		    caches, pieces, (const uint64_t *)(void *)words->data, words->len, &taken) ||
		taken.n_references != n_expected)
		g_error("caches take %" G_GUINT64_FORMAT " references, not %" G_GUINT64_FORMAT,
			taken.n_references, n_expected);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t n_code = size > 0 ? MIN((size_t)data[0] * LODE_CODE_UNIT_BYTES, size - 1) : 0;
	size_t first = MIN(size, 1 + n_code), n_out = 0;
	g_autofree uint8_t *code = g_memdup2(data + MIN(size, 1), n_code);
	g_autoptr(LodeCodePieces) pieces = lode_code_pieces_new(code, n_code);
	g_autoptr(GArray) words = read_words(data + first, size - first);
	const uint64_t *from = (const uint64_t *)(void *)words->data;
	g_autoptr(GArray) expected = read_groups(pieces, from, words->len);
	g_autoptr(LodeBlockSplitter) splitter = lode_block_splitter_new();
	uint64_t n_references = 0;

	for (size_t at = 0; at < words->len;) {
		LodeWordsTaken taken = lode_block_splitter_add_words(
			splitter, pieces, from + at, words->len - at, 0, MAX_AT_A_TIME);
		at += taken.n;
		n_references += taken.n_references;
		take_frame(splitter, expected, &n_out);
	}
	if (n_references != expected->len || n_out != expected->len)
		g_error("%u references are expected", expected->len);
	replay(pieces, words, expected);
	return 0;
}
