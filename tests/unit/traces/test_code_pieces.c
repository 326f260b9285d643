/* SPDX-License-Identifier: MIT */
/* What a program tells in words comes out of the splitter's frames as the references that it made.
 */
#include "caches/cache_simulation.h"
#include "seeds.h"
#include "traces/blocks/block_splitter.h"

#include <string.h>

enum { N_PIECES = 40, PIECE_UNITS = 16, MAX_SIZE = 15 };

typedef struct {
	uint8_t memory[N_PIECES * PIECE_UNITS * LODE_CODE_UNIT_BYTES];
	GArray *words;
	GArray *expected; /* LodeReference */
} Program;

static LodeCodeDescription *told_in(void *memory, unsigned unit)
{
	return (LodeCodeDescription *)(void *)((uint8_t *)memory +
					       (size_t)unit * LODE_CODE_UNIT_BYTES);
}

static LodeCodeDescription *told_at(Program *self, unsigned i)
{
	return told_in(self->memory, i * PIECE_UNITS);
}

/* Most pieces follow one another, as code without branches does. */
static void tell_pieces(Program *self)
{
	uint64_t next = 0x400000;

	for (unsigned i = 0; i < N_PIECES; i++) {
		LodeCodeDescription *told = told_at(self, i);
		unsigned n = (unsigned)random_int_range(1, random_bit() ? 6 : 41), n_accesses = 0;
		uint8_t accessing[64], kinds[64];
		if (random_int_range(0, 4) == 0)
			next += 0x100;
		for (unsigned k = 0; k < n; k++)
			if (random_int_range(0, 3) == 0) {
				accessing[n_accesses] = (uint8_t)k;
				kinds[n_accesses++] = (uint8_t)random_int_range(
					LODE_REFERENCE_LOAD, LODE_N_REFERENCE_KINDS);
			}
		told->address = next;
		told->n_instructions = (uint8_t)n;
		told->n_accesses = (uint8_t)n_accesses;
		memcpy(told->bytes, accessing, n_accesses);
		memcpy(told->bytes + n_accesses, kinds, n_accesses);
		for (unsigned k = 0; k < n; k++) {
			unsigned size = (unsigned)random_int_range(1, MAX_SIZE + 1);
			told->bytes[2 * n_accesses + k] = (uint8_t)size;
			next += size;
		}
	}
}

static void expect(Program *self, uint64_t address, uint32_t size, unsigned kind)
{
	const LodeReference reference = {.address = address, .size = size, .kind = (uint8_t)kind};

	g_array_append_val(self->expected, reference);
}

static void append_word(Program *self, uint64_t word)
{
	g_array_append_val(self->words, word);
}

static void access_memory(Program *self, unsigned kind)
{
	uint64_t address = random_bit() ? (uint64_t)random_int_range(0, 1 << 20) : UINT64_MAX - 7;
	uint32_t size = random_int_range(0, 20) > 0 ? 8 : (uint32_t)random_int_range(0, 4096);

	append_word(self, lode_word_of_reference(address, size, (LodeReferenceKind)kind));
	expect(self, address, size, kind);
}

/* As a processor does it, instruction by instruction. */
static void execute(Program *self, unsigned number)
{
	const LodeCodeDescription *told = told_at(self, number);
	unsigned n_accesses = told->n_accesses, access = 0;
	/* one instruction may fail before its access */
	bool has_fault = random_int_range(0, 30) == 0;
	unsigned fault = (unsigned)random_int_range(0, told->n_instructions);
	guint last = self->expected->len;
	uint64_t address = told->address;

	append_word(self, lode_word_of_code(number * PIECE_UNITS));
	for (unsigned i = 0; i < told->n_instructions; i++) {
		bool has_access = access < n_accesses && told->bytes[access] == i;
		uint32_t size = told->bytes[2 * n_accesses + i];
		last = self->expected->len;
		expect(self, address, size, LODE_REFERENCE_FETCH);
		address += size;
		if (has_access && has_fault && i >= fault) {
			/* the load of what was to be a modification */
			if (told->bytes[n_accesses + access] == LODE_REFERENCE_MODIFY &&
				random_bit())
				access_memory(self, LODE_REFERENCE_LOAD);
			break;
		}
		if (has_access)
			access_memory(self, told->bytes[n_accesses + access++]);
		else if (i + 1U == told->n_instructions)
			for (int k = random_int_range(0, 40) - 37; k > 0; k--)
				access_memory(self, LODE_REFERENCE_STORE);
	}
	if (random_int_range(0, 50) == 0) {
		append_word(self, lode_word_of_restart());
		g_array_set_size(self->expected, last);
	}
}

static void act(Program *self)
{
	int what = random_int_range(0, 100);

	if (what == 0) {
		append_word(self, lode_word_of_reference(0x1234, 3, LODE_REFERENCE_FETCH));
		expect(self, 0x1234, 3, LODE_REFERENCE_FETCH);
		access_memory(self, LODE_REFERENCE_LOAD);
	} else if (what == 1) {
		append_word(self, UINT64_MAX); /* of no meaning */
	} else {
		unsigned first = (unsigned)random_int_range(0, N_PIECES);
		for (unsigned i = first; i < N_PIECES && random_int_range(0, 4) > 0; i++)
			execute(self, i);
	}
}

static size_t take_frame(LodeBlockSplitter *splitter, const Program *program, size_t at)
{
	g_autoptr(LodeTraceFrame) frame = lode_block_splitter_take_frame(splitter);
	LodeReference some[256];
	LodeTraceReferences walk;
	uint64_t n_fetches = 0;
	size_t n;

	if (frame == NULL)
		return at;
	g_assert_cmpuint(frame->first_reference, ==, at);
	lode_trace_references_init(&walk, frame);
	while ((n = lode_trace_references_next(&walk, some, G_N_ELEMENTS(some))) > 0) {
		for (size_t i = 0; i < n; i++) {
			const LodeReference *wanted = &g_array_index(
				program->expected, LodeReference, at + i);
			g_assert_cmpuint(at + i, <, program->expected->len);
			g_assert_cmpuint(some[i].address, ==, wanted->address);
			g_assert_cmpuint(some[i].size, ==, wanted->size);
			g_assert_cmpint(some[i].kind, ==, wanted->kind);
			n_fetches += some[i].kind == LODE_REFERENCE_FETCH;
		}
		at += n;
	}
	g_assert_cmpuint(n_fetches, ==, frame->n_instructions);
	return at;
}

static void clear(Program *self)
{
	g_array_unref(self->words);
	g_array_unref(self->expected);
	g_free(self);
}

static Program *program_new(void)
{
	Program *self = g_new0(Program, 1);

	self->words = g_array_new(FALSE, FALSE, sizeof(uint64_t));
	self->expected = g_array_new(FALSE, FALSE, sizeof(LodeReference));
	return self;
}

static void check(Program *program)
{
	g_autoptr(LodeCodePieces)
		pieces = lode_code_pieces_new(program->memory, sizeof(program->memory));
	g_autoptr(LodeBlockSplitter) splitter = lode_block_splitter_new();
	const uint64_t *words = (const uint64_t *)(void *)program->words->data;
	uint64_t n_references = 0, n_instructions = 0, n_expected = 0;
	size_t at = 0, n_out = 0;

	while (at < program->words->len) {
		uint64_t limit = (uint64_t)random_int_range(LODE_GROUP_MAX_REFERENCES, 5000);
		LodeWordsTaken taken = lode_block_splitter_add_words(
			splitter, pieces, words + at, program->words->len - at, 0, limit);
		g_assert_cmpuint(taken.n, >, 0);
		g_assert_cmpuint(taken.n_references, <=, limit);
		at += taken.n;
		n_references += taken.n_references;
		n_instructions += taken.n_instructions;
		if (random_int_range(0, 3) == 0)
			n_out = take_frame(splitter, program, n_out);
	}
	n_out = take_frame(splitter, program, n_out);
	g_assert_cmpuint(n_out, ==, program->expected->len);
	g_assert_cmpuint(n_references, ==, program->expected->len);
	for (guint i = 0; i < program->expected->len; i++)
		n_expected += g_array_index(program->expected, LodeReference, i).kind ==
		              LODE_REFERENCE_FETCH;
	g_assert_cmpuint(n_instructions, ==, n_expected);
}

static void replay_frame(LodeCacheSimulation *simulation, LodeBlockSplitter *splitter)
{
	g_autoptr(LodeTraceFrame) frame = lode_block_splitter_take_frame(splitter);

	if (frame != NULL)
		g_assert_true(lode_cache_simulation_replay(simulation, frame, NULL));
}

/* The end of a few groups of words. */
static size_t some_groups(LodeCodePieces *pieces, const uint64_t *words, size_t n)
{
	LodeWordGroup group;
	size_t at = 0;

	for (int k = random_int_range(1, 40); k > 0 && at < n; k--)
		at += lode_word_group_read(pieces, words + at, n - at, &group);
	return at;
}

/* Words that go into caches directly, a few now and then in frames, count as the references do. */
static void check_caches(Program *program, const char *text)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(LodeHierarchy) hierarchy = lode_hierarchy_parse(text, &error);
	const LodeHierarchy *one = hierarchy;
	g_assert_no_error(error);
	g_autoptr(LodeCacheSimulation) by_words = lode_cache_simulation_new(&one, 1, NULL, NULL);
	g_autoptr(LodeCacheSimulation) wanted = lode_cache_simulation_new(&one, 1, NULL, NULL);
	g_autoptr(LodeCodePieces)
		pieces = lode_code_pieces_new(program->memory, sizeof(program->memory));
	g_autoptr(LodeBlockSplitter) splitter = lode_block_splitter_new();
	g_autoptr(LodeBlockSplitter) of_all = lode_block_splitter_new();
	const uint64_t *words = (const uint64_t *)(void *)program->words->data;
	LodeWordsTaken taken = {0};

	for (size_t at = 0, n; at < program->words->len; at += n) {
		n = some_groups(pieces, words + at, program->words->len - at);
		if (random_int_range(0, 5) > 0) {
			g_assert_true(lode_cache_simulation_replay_words(
				by_words, pieces, words + at, n, &taken));
			continue;
		}
		LodeWordsTaken now = lode_block_splitter_add_words(
			splitter, pieces, words + at, n, 0, UINT64_MAX);
		g_assert_cmpuint(now.n, ==, n);
		lode_words_taken_add(&taken, &now);
		replay_frame(by_words, splitter);
	}
	g_assert_cmpuint(taken.n, ==, program->words->len);
	g_assert_cmpuint(taken.n_references, ==, program->expected->len);
	g_assert_cmpuint(lode_block_splitter_add(of_all,
				 (const LodeReference *)(void *)program->expected->data,
				 program->expected->len),
		==, program->expected->len);
	replay_frame(wanted, of_all);
	for (guint i = 0; i < hierarchy->caches->len; i++)
		g_assert_cmpint(memcmp(&lode_cache_simulation_counts(by_words, 0)[i],
					&lode_cache_simulation_counts(wanted, 0)[i],
					sizeof(LodeCacheCounts)),
			==, 0);
}

/* As the plugin in QEMU does it: the code of a bare group is counted, and its accesses that change
 * nothing. Groups that are not whole stay, and afterwards nothing is known. */
static GArray *filter_words(Program *program, const LodeWordFilterGeometry *geometry)
{
	GArray *out = g_array_new(FALSE, FALSE, sizeof(uint64_t));
	g_autofree LodeWordFilter *filter = g_new0(LodeWordFilter, 1);
	g_autofree LodeWordFilterPiece *pieces = g_new0(LodeWordFilterPiece, N_PIECES);
	g_autoptr(LodeCodePieces)
		codes = lode_code_pieces_new(program->memory, sizeof(program->memory));
	const uint64_t *words = (const uint64_t *)(void *)program->words->data;
	uint64_t counts[LODE_N_REFERENCE_KINDS];
	LodeWordGroup group;

	for (unsigned kind = 0; kind < LODE_N_REFERENCE_KINDS; kind++)
		counts[kind] = lode_word_of_count((LodeReferenceKind)kind);
	for (unsigned i = 0; i < N_PIECES; i++) {
		const LodeCodePiece *code = lode_code_pieces_at(codes, i * PIECE_UNITS);
		pieces[i].first_line = code->address >> geometry->code_shift;
		pieces[i].last_line = (code->address + code->n_bytes - 1) >> geometry->code_shift;
	}
	lode_word_filter_init(filter, geometry, 1);
	lode_word_filter_reset(filter);
	for (size_t at = 0, n; at < program->words->len; at += n) {
		n = lode_word_group_read(codes, words + at, program->words->len - at, &group);
		if (!lode_word_group_is_whole(&group)) {
			g_array_append_vals(out, words + at, (guint)n);
			lode_word_filter_reset(filter);
			continue;
		}
		bool is_bare = lode_word_filter_fetch(
			filter, &pieces[(uint32_t)words[at] / PIECE_UNITS]);
		if (is_bare)
			counts[LODE_REFERENCE_FETCH] += group.piece->n_instructions;
		else
			g_array_append_val(out, words[at]);
		for (size_t i = at + 1; i < at + n; i++) {
			LodeReferenceKind kind = lode_word_kind(words[i]);
			if (lode_word_filter_access(filter, lode_word_address(words[i]),
				    lode_word_size(words[i]), kind != LODE_REFERENCE_LOAD) &&
				is_bare)
				counts[kind]++;
			else
				g_array_append_val(out, words[i]);
		}
		if (random_int_range(0, 300) == 0)
			lode_word_filter_reset(filter); /* as at the beginning of a chunk */
	}
	g_array_prepend_vals(out, counts, LODE_N_REFERENCE_KINDS);
	return out;
}

/* Words that went through a filter count and miss as all of them do. */
static void check_filter(Program *program, const char *text)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(LodeHierarchy) hierarchy = lode_hierarchy_parse(text, &error);
	const LodeHierarchy *one = hierarchy;
	g_assert_no_error(error);
	g_autoptr(LodeCacheSimulation) all = lode_cache_simulation_new(&one, 1, NULL, NULL);
	g_autoptr(LodeCacheSimulation) filtered = lode_cache_simulation_new(&one, 1, NULL, NULL);
	g_autoptr(LodeCodePieces)
		pieces = lode_code_pieces_new(program->memory, sizeof(program->memory));
	LodeWordFilterGeometry geometry;
	LodeWordsTaken wanted = {0}, taken = {0};

	g_assert_true(lode_cache_simulation_word_filter(all, &geometry));
	g_autoptr(GArray) few = filter_words(program, &geometry);
	g_assert_cmpuint(few->len, <, program->words->len);
	g_assert_true(lode_cache_simulation_replay_words(all, pieces,
		(const uint64_t *)(void *)program->words->data, program->words->len, &wanted));
	g_assert_true(lode_cache_simulation_replay_words(
		filtered, pieces, (const uint64_t *)(void *)few->data, few->len, &taken));
	g_assert_cmpuint(taken.n_references, ==, wanted.n_references);
	g_assert_cmpuint(taken.n_instructions, ==, wanted.n_instructions);
	for (guint i = 0; i < hierarchy->caches->len; i++)
		g_assert_cmpint(
			memcmp(&lode_cache_simulation_counts(filtered, 0)[i],
				&lode_cache_simulation_counts(all, 0)[i], sizeof(LodeCacheCounts)),
			==, 0);
}

/* Only the usual kind of hierarchy takes words. */
static void test_unusual_caches(void)
{
	static const char *const texts[] = {
		"d1=1K:4:64:plru", "u1=1K:4:64", "d1=1K:4:64:next-line", "d1=8K:32:64"};

	for (guint i = 0; i < G_N_ELEMENTS(texts); i++) {
		g_autoptr(GError) error = NULL;
		g_autoptr(LodeHierarchy) hierarchy = lode_hierarchy_parse(texts[i], &error);
		const LodeHierarchy *one = hierarchy;
		g_assert_no_error(error);
		g_autoptr(LodeCacheSimulation)
			caches = lode_cache_simulation_new(&one, 1, NULL, NULL);
		LodeWordsTaken taken = {0};
		uint64_t word = lode_word_of_reference(64, 8, LODE_REFERENCE_LOAD);

		g_assert_false(lode_cache_simulation_replay_words(caches, NULL, &word, 1, &taken));
		g_assert_cmpuint(taken.n, ==, 0);
	}
}

static void test_random_program(void)
{
	for (unsigned round = random_rounds(30, 300); round > 0; round--) {
		Program *program = program_new();
		tell_pieces(program);
		for (unsigned i = 0; i < 3000; i++)
			act(program);
		check(program);
		check_caches(program, "i1=1K:2:64,d1=1536:3:32,l2=32K:4:64");
		check_caches(program, "d1=4K:16:64,l2=64K:4:128:next-line");
		check_filter(program, "i1=1K:2:64,d1=1536:3:32,l2=32K:4:64");
		check_filter(program, "d1=4K:16:64,l2=64K:4:128:next-line");
		check_filter(program, "i1=64K:2:32,d1=1M:2:32,l2=2M:4:64");
		clear(program);
	}
}

/* Code without a branch in three pieces is one block, however often it is executed. */
static void test_pieces_are_one_block(void)
{
	Program *program = program_new();
	g_autoptr(LodeBlockSplitter) splitter = lode_block_splitter_new();
	g_autoptr(LodeCodePieces)
		pieces = lode_code_pieces_new(program->memory, sizeof(program->memory));

	for (unsigned i = 0; i < 3; i++) {
		*told_at(program, i) = (LodeCodeDescription){
			.address = 0x1000 + 2 * i, .n_instructions = 1};
		told_at(program, i)->bytes[0] = 2;
	}
	for (unsigned i = 0; i < 300; i++)
		append_word(program, lode_word_of_code(i % 3 * PIECE_UNITS));
	lode_block_splitter_add_words(splitter, pieces,
		(const uint64_t *)(void *)program->words->data, program->words->len, 0, UINT64_MAX);
	g_autoptr(LodeTraceFrame) frame = lode_block_splitter_take_frame(splitter);
	g_assert_cmpuint(lode_block_dictionary_size(frame->dictionary), ==, 1);
	g_assert_cmpuint(frame->n_invocations, ==, 100);
	g_assert_cmpuint(frame->n_instructions, ==, 300);
	g_assert_false(lode_code_pieces_have_nonsense(pieces));
	clear(program);
}

/* A program may write anything: what comes out is what its words can mean, in frames that hold. */
static void test_nonsense(void)
{
	for (unsigned round = random_rounds(30, 300); round > 0; round--) {
		Program *program = program_new();
		LodeReference references[LODE_GROUP_MAX_REFERENCES];
		LodeWordGroup group;

		for (size_t i = 0; i < sizeof(program->memory); i++)
			program->memory[i] = (uint8_t)random_int_range(0, random_bit() ? 4 : 256);
		for (unsigned i = 0; i < 20000; i++) {
			uint64_t word = (uint64_t)random_int_range(0, 1 << 16) << 48 |
			                (uint64_t)random_int_range(0, N_PIECES * PIECE_UNITS + 9);
			/* counts are no references of frames */
			append_word(program, word | (uint64_t)lode_word_is_count(word) << 50);
		}
		g_autoptr(LodeCodePieces)
			pieces = lode_code_pieces_new(program->memory, sizeof(program->memory));
		const uint64_t *words = (const uint64_t *)(void *)program->words->data;
		for (size_t at = 0; at < program->words->len;) {
			at += lode_word_group_read(
				pieces, words + at, program->words->len - at, &group);
			size_t n = lode_word_group_references(&group, references);
			g_assert_cmpuint(n, <=, LODE_GROUP_MAX_REFERENCES);
			g_array_append_vals(program->expected, references, (guint)n);
		}
		check(program);
		check_caches(program, "i1=1K:2:64,d1=2K:4:64");
		g_assert_true(lode_code_pieces_have_nonsense(pieces));
		clear(program);
	}
}

/* However many pieces a program makes of the same bytes, they take no more memory than those. */
static void test_overlapping_pieces(void)
{
	enum { N_UNITS = 256 };
	g_autofree LodeCodeDescription *told = g_malloc0(N_UNITS * LODE_CODE_UNIT_BYTES);
	g_autoptr(LodeCodePieces) pieces = lode_code_pieces_new(
		(const uint8_t *)told, N_UNITS * LODE_CODE_UNIT_BYTES);
	unsigned n_pieces = 0;

	for (unsigned i = 0; i < N_UNITS; i++)
		told_in(told, i)->n_instructions = LODE_CODE_MAX_INSTRUCTIONS;
	for (unsigned i = 0; i < N_UNITS; i++)
		n_pieces += lode_code_pieces_at(pieces, i) != NULL;
	g_assert_cmpuint(n_pieces, >, 0);
	g_assert_cmpuint(n_pieces * LODE_CODE_MAX_INSTRUCTIONS, <=, N_UNITS * LODE_CODE_UNIT_BYTES);
	g_assert_nonnull(lode_code_pieces_at(pieces, 0));
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/code_pieces/random_program", test_random_program);
	g_test_add_func("/code_pieces/pieces_are_one_block", test_pieces_are_one_block);
	g_test_add_func("/code_pieces/unusual_caches", test_unusual_caches);
	g_test_add_func("/code_pieces/nonsense", test_nonsense);
	g_test_add_func("/code_pieces/overlapping_pieces", test_overlapping_pieces);
	return g_test_run();
}
