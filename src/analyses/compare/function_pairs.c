/* SPDX-License-Identifier: MIT */
#include "analyses/compare/function_pairs.h"

#include "analyses/compare/untyped_name.h"
#include "base/arrays/partition_point.h"
#include "base/arrays/sort_order.h"
#include "images/code/code_without_addresses.h"
#include "images/instructions/instruction_decoder.h"
#include "model/code.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* --- code fingerprint --- */

/*
 * The fingerprint of a function's code, by which it is found when its name has changed: the
 * instructions' mnemonics in the order of the code, without operands, which change with every
 * address and register.
 *
 * Two functions are as alike as the share of runs of three mnemonics that they have in common, of
 * all that one of them has, each as often as it occurs (weighted Jaccard similarity; n-grams of
 * opcodes: A. Walenstein, A. Lakhotia, "The Software Similarity Problem in Malware Analysis",
 * 2007).
 */

typedef struct LodeFunction LodeFunction;

typedef struct {
	uint32_t n;
	uint32_t *opcodes;   /* of each instruction, those that never executed too */
	uint64_t *addresses; /* in the image */
	uint64_t *grams;     /* [n − 2]: of three opcodes each, ascending */
} CodeFingerprint;

enum { GRAM = 3, OPCODE_BITS = 20 };

/* Bytes that are not an instruction are skipped one by one. */
static void decode(CodeFingerprint *self, const uint8_t *code, size_t size, uint64_t address)
{
	LodeInstructionDecoder decoder;
	LodeDecodedInstruction one;

	lode_instruction_decoder_init(&decoder);
	lode_instruction_decoder_begin(&decoder, code, size, address);
	for (size_t at = 0; at < size;) {
		if (!lode_instruction_decoder_decode(
			    &decoder, code + at, size - at, address + at, &one)) {
			at++;
			continue;
		}
		self->addresses[self->n] = address + at;
		self->opcodes[self->n++] = (uint32_t)one.prefix << 16 | one.mnemonic;
		at += one.length;
	}
}

/* Makes the fingerprint of a function's bytes; it has no instructions where they are unknown. The
 * caller clears it. */
static void code_fingerprint_init(CodeFingerprint *self, const LodeFunction *function)
{
	size_t size = 0;
	const uint8_t *code = function->code != NULL ? g_bytes_get_data(function->code, &size)
	                                             : NULL;

	*self = (CodeFingerprint){
		.opcodes = g_new(uint32_t, size + 1),
		.addresses = g_new(uint64_t, size + 1),
	};
	decode(self, code, size, function->address);
	self->grams = g_new(uint64_t, self->n + 1);
	for (uint32_t i = 0; i + GRAM <= self->n; i++) {
		uint64_t gram = 0;
		for (uint32_t j = 0; j < GRAM; j++)
			gram = gram << OPCODE_BITS | (self->opcodes[i + j] & 0xfffff);
		self->grams[i] = gram;
	}
	if (self->n >= GRAM)
		qsort(self->grams, self->n - GRAM + 1, sizeof(uint64_t), lode_compare_u64);
}

static void code_fingerprint_clear(CodeFingerprint *self)
{
	g_clear_pointer(&self->opcodes, g_free);
	g_clear_pointer(&self->addresses, g_free);
	g_clear_pointer(&self->grams, g_free);
	self->n = 0;
}

/* 0 … 1; 0 where one of them has fewer than three instructions. */
static double code_fingerprint_likeness(const CodeFingerprint *a, const CodeFingerprint *b)
{
	size_t n = a->n >= GRAM ? a->n - GRAM + 1 : 0, m = b->n >= GRAM ? b->n - GRAM + 1 : 0;
	size_t common = 0;

	for (size_t i = 0, j = 0; i < n && j < m;) {
		common += a->grams[i] == b->grams[j];
		bool is_first_next = a->grams[i] <= b->grams[j];
		bool is_second_next = b->grams[j] <= a->grams[i];
		i += is_first_next;
		j += is_second_next;
	}
	return n > 0 && m > 0 ? (double)common / (double)(n + m - common) : 0;
}

/* Whether both have the same mnemonics in the same order, and any. */
static bool code_fingerprint_equals(const CodeFingerprint *a, const CodeFingerprint *b)
{
	return a->n > 0 && a->n == b->n &&
	       memcmp(a->opcodes, b->opcodes, a->n * sizeof(uint32_t)) == 0;
}

/* --- function pairs --- */

enum {
	MAX_ALIKE = 3000,    /* functions of a profile whose code is compared with all others' */
	MAX_CELLS = 4000000, /* of an alignment of two functions */
	MIN_MOVED = 5,
	MAX_MOVED = 32,     /* instructions of a run that moved; such runs */
	MAX_NAMESAKES = 64, /* of one name whose code is compared */
};

typedef struct {
	const LodeProfile *const *profiles;
	uint32_t *partners[2]; /* of each function, the other profile's; LODE_NONE */
	double *likeness;      /* of each function of the first profile */
	CodeFingerprint *prints[2];
	bool *has_print[2];
} Matching;

static const LodeFunction *function_of(const Matching *self, unsigned side, uint32_t index)
{
	return lode_profile_function(self->profiles[side], index);
}

static const LodeImage *image_of(const Matching *self, unsigned side, uint32_t function)
{
	return lode_profile_image(self->profiles[side], function_of(self, side, function)->image);
}

static uint32_t n_functions(const Matching *self, unsigned side)
{
	return lode_code_of(self->profiles[side])->functions->len;
}

static const CodeFingerprint *print_of(Matching *self, unsigned side, uint32_t function)
{
	if (!self->has_print[side][function])
		code_fingerprint_init(
			&self->prints[side][function], function_of(self, side, function));
	self->has_print[side][function] = true;
	return &self->prints[side][function];
}

static void pair(Matching *self, uint32_t first, uint32_t second, double likeness)
{
	self->partners[0][first] = second;
	self->partners[1][second] = first;
	self->likeness[first] = likeness;
}

/* --- by address and by name --- */

/* The key of a function in a step; NULL: it takes no part. The caller frees it. */
typedef char *(*KeyFunc)(Matching *self, unsigned side, uint32_t function);

static char *address_key(Matching *self, unsigned side, uint32_t function)
{
	const LodeImage *image = image_of(self, side, function);

	if (image->build_id == NULL)
		return NULL;
	return g_strdup_printf("%s %" G_GINT64_MODIFIER "x", image->build_id,
		function_of(self, side, function)->address);
}

static bool has_own_name(const Matching *self, unsigned side, uint32_t function)
{
	return function_of(self, side, function)->source != LODE_FUNCTION_UNWIND;
}

/* The file's name without its version. The caller frees it. */
static char *image_name(const Matching *self, unsigned side, uint32_t function)
{
	const LodeImage *image = image_of(self, side, function);

	/* Files of code made at run time are called by process ids. */
	if (image->kind != LODE_IMAGE_FILE)
		return g_strdup(lode_image_kind_to_text(image->kind));
	char *base = g_path_get_basename(image->path);
	char *version = strstr(base, ".so");
	if (version != NULL)
		version[3] = '\0';
	return base;
}

static char *image_key(Matching *self, unsigned side, uint32_t function)
{
	g_autofree char *image = image_name(self, side, function);

	if (!has_own_name(self, side, function))
		return NULL;
	return g_strdup_printf("%s\n%s", image, function_of(self, side, function)->name);
}

/* The mnemonics of at least so many instructions. */
static char *code_text(Matching *self, unsigned side, uint32_t function, uint32_t least)
{
	const CodeFingerprint *print = print_of(self, side, function);

	if (print->n < MAX(least, 1))
		return NULL;
	GString *text = g_string_new(NULL);
	for (uint32_t i = 0; i < print->n; i++)
		g_string_append_printf(text, "%x ", print->opcodes[i]);
	return g_string_free(text, FALSE);
}

static char *placed_code_key(Matching *self, unsigned side, uint32_t function)
{
	g_autofree char *code = code_text(self, side, function, 1);

	if (code == NULL || has_own_name(self, side, function))
		return NULL;
	return g_strdup_printf(
		"%" G_GINT64_MODIFIER "x\n%s", function_of(self, side, function)->address, code);
}

static char *code_key(Matching *self, unsigned side, uint32_t function)
{
	return code_text(self, side, function, LODE_PAIR_MIN_EQUAL);
}

static char *name_key(Matching *self, unsigned side, uint32_t function)
{
	return has_own_name(self, side, function)
	               ? g_strdup(function_of(self, side, function)->name)
	               : NULL;
}

static char *plain_name_key(Matching *self, unsigned side, uint32_t function)
{
	static const char *const appended[] = {
		".constprop.", ".isra.", ".part.", ".lto_priv.", ".llvm.", ".cold"};
	char *name = name_key(self, side, function);

	for (size_t i = 0; name != NULL && i < G_N_ELEMENTS(appended); i++) {
		char *end = strstr(name, appended[i]);
		/* A part that was split off is not the function itself. */
		if (end != NULL && strcmp(appended[i], ".cold") == 0)
			g_clear_pointer(&name, g_free);
		else if (end != NULL)
			*end = '\0';
	}
	return name;
}

/* A function of C++ or Rust by its name without types: another type makes it another symbol. */
static char *untyped_name_key(Matching *self, unsigned side, uint32_t function)
{
	bool has_types = false;
	g_autofree char *name = lode_untyped_name(
		function_of(self, side, function)->name, &has_types);

	return has_types && has_own_name(self, side, function) ? g_steal_pointer(&name) : NULL;
}

static char *untyped_name_in_image_key(Matching *self, unsigned side, uint32_t function)
{
	g_autofree char *name = untyped_name_key(self, side, function);
	g_autofree char *image = name != NULL ? image_name(self, side, function) : NULL;

	return name != NULL ? g_strdup_printf("%s\n%s", image, name) : NULL;
}

/* For code made at run time, whose file is another one in each recording. */
static char *made_name_key(Matching *self, unsigned side, uint32_t function)
{
	return image_of(self, side, function)->kind == LODE_IMAGE_JIT
	               ? g_strdup(function_of(self, side, function)->name)
	               : NULL;
}

static GArray *new_numbers(void)
{
	return g_array_new(FALSE, FALSE, sizeof(uint32_t));
}

/* Functions without a partner by their key: GArray of uint32_t. */
static GHashTable *gather(Matching *self, unsigned side, KeyFunc key_of)
{
	GHashTable *by_key = g_hash_table_new_full(
		g_str_hash, g_str_equal, g_free, (GDestroyNotify)g_array_unref);

	for (uint32_t f = 0; f < n_functions(self, side); f++) {
		g_autofree char *key = self->partners[side][f] == LODE_NONE ? key_of(self, side, f)
		                                                            : NULL;
		if (key == NULL)
			continue;
		GArray *members = g_hash_table_lookup(by_key, key);
		if (members == NULL) {
			members = new_numbers();
			g_hash_table_insert(by_key, g_steal_pointer(&key), members);
		}
		g_array_append_val(members, f);
	}
	return by_key;
}

/* Functions of one name: each with the one left whose code is most alike, and at least so much, the
 * first of equals; where there is no code, in their order. */
static void pair_namesakes(Matching *self, const GArray *first, const GArray *second, double least)
{
	for (guint i = 0; i < MIN(first->len, (guint)MAX_NAMESAKES); i++) {
		uint32_t one = g_array_index(first, uint32_t, i), best = LODE_NONE;
		double most = least;
		for (guint j = 0; j < MIN(second->len, (guint)MAX_NAMESAKES); j++) {
			uint32_t other = g_array_index(second, uint32_t, j);
			double likeness;
			if (self->partners[1][other] != LODE_NONE)
				continue;
			likeness = code_fingerprint_likeness(
				print_of(self, 0, one), print_of(self, 1, other));
			if (likeness >= least && (best == LODE_NONE || likeness > most)) {
				most = likeness;
				best = other;
			}
		}
		if (best != LODE_NONE)
			pair(self, one, best, 0);
	}
}

/* Pairs what has the same key. Where a profile has it more than once, those whose code is so much
 * alike; `least` NAN: none. */
static void pair_by(Matching *self, KeyFunc key_of, double least)
{
	g_autoptr(GHashTable) first = gather(self, 0, key_of);
	g_autoptr(GHashTable) others = gather(self, 1, key_of);
	GHashTableIter all;
	void *key, *members;

	g_hash_table_iter_init(&all, first);
	while (g_hash_table_iter_next(&all, &key, &members)) {
		const GArray *here = members, *there = g_hash_table_lookup(others, key);
		if (there == NULL)
			continue;
		if (here->len == 1 && there->len == 1)
			pair(self, g_array_index(here, uint32_t, 0),
				g_array_index(there, uint32_t, 0), 0);
		else if (!isnan(least))
			pair_namesakes(self, here, there, least);
	}
}

/* --- by code --- */

typedef struct {
	uint32_t function;
	double weight;
} Candidate;

LODE_ORDER(compare_candidates, Candidate, LODE_DESCENDING(weight), LODE_ASCENDING(function))

static double weight_of(const LodeProfile *profile, const LodeFunction *function)
{
	const LodeCode *code = lode_code_of(profile);
	double sum = 0;

	for (uint32_t i = 0; i < function->n_instructions && code->weight_event != LODE_NONE; i++)
		sum += lode_profile_event_value(
			profile, code->weight_event, function->first_instruction + i);
	return sum;
}

/* The heaviest functions without a partner that are long enough. */
static GArray *choose_candidates(Matching *self, unsigned side)
{
	GArray *out = g_array_new(FALSE, FALSE, sizeof(Candidate));

	for (uint32_t f = 0; f < n_functions(self, side); f++) {
		const LodeFunction *function = function_of(self, side, f);
		Candidate one = {f, weight_of(self->profiles[side], function)};
		if (self->partners[side][f] == LODE_NONE && function->code != NULL &&
			print_of(self, side, f)->n >= LODE_PAIR_MIN_INSTRUCTIONS)
			g_array_append_val(out, one);
	}
	g_array_sort(out, compare_candidates);
	if (out->len > MAX_ALIKE)
		g_array_set_size(out, MAX_ALIKE);
	return out;
}

/* The nearest of the other profile, and how near the next one is. */
typedef struct {
	uint32_t nearest;
	double likeness, next;
} Nearest;

static void note(Nearest *self, uint32_t other, double likeness)
{
	if (likeness > self->likeness) {
		self->next = self->likeness;
		self->likeness = likeness;
		self->nearest = other;
	} else if (likeness > self->next) {
		self->next = likeness;
	}
}

static bool is_certain(const Nearest *self)
{
	return self->likeness >= LODE_PAIR_LIKENESS &&
	       self->likeness - self->next >= LODE_PAIR_MARGIN;
}

static bool pair_by_code(Matching *self, const LodeProgress *progress)
{
	g_autoptr(GArray) first = choose_candidates(self, 0);
	g_autoptr(GArray) second = choose_candidates(self, 1);
	g_autofree Nearest *here = g_new0(Nearest, first->len + 1);
	g_autofree Nearest *there = g_new0(Nearest, second->len + 1);

	for (guint i = 0; i < first->len; i++) {
		const CodeFingerprint *a = print_of(
			self, 0, g_array_index(first, Candidate, i).function);
		if (lode_progress_is_cancelled(progress))
			return false;
		for (guint j = 0; j < second->len; j++) {
			const CodeFingerprint *b = print_of(
				self, 1, g_array_index(second, Candidate, j).function);
			/* They cannot be more alike than their lengths are. */
			if ((double)MIN(a->n, b->n) <
				(LODE_PAIR_LIKENESS - LODE_PAIR_MARGIN) * (double)MAX(a->n, b->n))
				continue;
			double likeness = code_fingerprint_likeness(a, b);
			note(&here[i], j, likeness);
			note(&there[j], i, likeness);
		}
	}
	for (guint i = 0; i < first->len; i++)
		if (is_certain(&here[i]) && is_certain(&there[here[i].nearest]) &&
			there[here[i].nearest].nearest == i)
			pair(self, g_array_index(first, Candidate, i).function,
				g_array_index(second, Candidate, here[i].nearest).function,
				here[i].likeness);
	return true;
}

/* --- instructions --- */

static uint32_t instruction_at(
	const LodeProfile *profile, const LodeFunction *function, uint64_t address)
{
	const LodeInstruction *all = lode_profile_instruction(profile, 0) +
	                             function->first_instruction;
	uint32_t i = LODE_PARTITION_POINT(function->n_instructions, k, all[k].address < address);

	return i < function->n_instructions && all[i].address == address
	               ? function->first_instruction + i
	               : LODE_NONE;
}

typedef struct {
	Matching *matching;
	const LodeFunction *functions[2];
	const CodeFingerprint *prints[2];
	uint32_t *counterparts;
	bool *is_aligned[2]; /* of each of a fingerprint's instructions: with one that executed too
	                      */
} Alignment;

static void align_one(Alignment *self, uint32_t i, uint32_t j)
{
	const LodeProfile *const *profiles = self->matching->profiles;
	uint32_t first = instruction_at(
		profiles[0], self->functions[0], self->prints[0]->addresses[i]);

	uint32_t second = instruction_at(
		profiles[1], self->functions[1], self->prints[1]->addresses[j]);
	if (first != LODE_NONE)
		self->counterparts[first] = second;
	self->is_aligned[0][i] = self->is_aligned[1][j] = first != LODE_NONE && second != LODE_NONE;
}

/* The indices of a fingerprint's instructions `first` … `end` − 1: of all, or of those in the
 * profile, which executed. */
static GArray *list_instructions(
	const Alignment *self, int side, uint32_t first, uint32_t end, bool is_executed)
{
	GArray *out = g_array_new(FALSE, FALSE, sizeof(uint32_t));

	for (uint32_t i = first; i < end; i++)
		if (!is_executed ||
			instruction_at(self->matching->profiles[side], self->functions[side],
				self->prints[side]->addresses[i]) != LODE_NONE)
			g_array_append_val(out, i);
	return out;
}

static void align_lists(Alignment *self, const GArray *first, const GArray *second)
{
	const uint32_t *a = (const uint32_t *)(const void *)first->data;
	const uint32_t *b = (const uint32_t *)(const void *)second->data;
	const uint32_t *codes = self->prints[0]->opcodes, *others = self->prints[1]->opcodes;
	size_t n = first->len, width = (size_t)second->len + 1;
	g_autofree uint32_t *lengths = g_new0(uint32_t, (n + 1) * width);

	for (uint32_t i = first->len; i-- > 0;)
		for (uint32_t j = second->len; j-- > 0;) {
			uint32_t *cell = &lengths[i * width + j];
			*cell = codes[a[i]] == others[b[j]] ? cell[width + 1] + 1
			                                    : MAX(cell[width], cell[1]);
		}
	for (uint32_t i = 0, j = 0; i < first->len && j < second->len;) {
		const uint32_t *cell = &lengths[i * width + j];
		bool is_same = codes[a[i]] == others[b[j]] && *cell == cell[width + 1] + 1;
		if (is_same)
			align_one(self, a[i], b[j]);
		bool skips_first = !is_same && cell[width] >= cell[1];
		i += is_same || skips_first;
		j += is_same || !skips_first;
	}
}

/* The longest common subsequence of the mnemonics, between what both begin and end with; in long
 * functions, of those that executed. */
static void align_codes(Alignment *self)
{
	const uint32_t *a = self->prints[0]->opcodes, *b = self->prints[1]->opcodes;
	uint32_t n = self->prints[0]->n, m = self->prints[1]->n, first = 0, last = 0;

	for (; first < MIN(n, m) && a[first] == b[first]; first++)
		align_one(self, first, first);
	for (; last < MIN(n, m) - first && a[n - last - 1] == b[m - last - 1]; last++)
		align_one(self, n - last - 1, m - last - 1);
	bool is_long = (uint64_t)(n - first - last) * (m - first - last) > MAX_CELLS;
	g_autoptr(GArray) here = list_instructions(self, 0, first, n - last, is_long);
	g_autoptr(GArray) there = list_instructions(self, 1, first, m - last, is_long);
	if ((uint64_t)here->len * there->len <= MAX_CELLS)
		align_lists(self, here, there);
}

/* Lists instructions that executed, but were aligned with none or with one that did not execute,
 * such as a copy of a block for rare cases. */
static GArray *list_left_over(const Alignment *self, int side)
{
	g_autoptr(GArray) executed = list_instructions(self, side, 0, self->prints[side]->n, true);
	GArray *out = g_array_new(FALSE, FALSE, sizeof(uint32_t));

	for (guint i = 0; i < executed->len; i++) {
		uint32_t index = g_array_index(executed, uint32_t, i);
		if (!self->is_aligned[side][index])
			g_array_append_val(out, index);
	}
	return out;
}

/* Aligns the longest run of equal mnemonics that both have left over; false: none is long enough.
 */
static bool align_longest_run(Alignment *self)
{
	g_autoptr(GArray) here = list_left_over(self, 0), there = list_left_over(self, 1);
	const uint32_t *a = (const uint32_t *)(const void *)here->data;
	const uint32_t *b = (const uint32_t *)(const void *)there->data;
	g_autofree uint32_t *lengths = g_new0(uint32_t, (size_t)there->len + 1);
	uint32_t longest = 0, first = 0, second = 0;

	if ((uint64_t)here->len * there->len > MAX_CELLS / MAX_MOVED)
		return false;
	for (uint32_t i = 0; i < here->len; i++)
		/* lengths[j + 1] is of the run that ends with a[i] and b[j], from right to left so
		 * that lengths[j] is still that of i − 1. */
		for (uint32_t j = there->len; j-- > 0;) {
			bool goes_on = i > 0 && j > 0 && a[i] == a[i - 1] + 1 &&
			               b[j] == b[j - 1] + 1;
			lengths[j + 1] = self->prints[0]->opcodes[a[i]] !=
			                                 self->prints[1]->opcodes[b[j]]
			                         ? 0
			                         : 1 + (goes_on ? lengths[j] : 0);
			if (lengths[j + 1] <= longest)
				continue;
			longest = lengths[j + 1];
			first = a[i] + 1 - longest;
			second = b[j] + 1 - longest;
		}
	if (longest < MIN_MOVED)
		return false;
	for (uint32_t k = 0; k < longest; k++)
		align_one(self, first + k, second + k);
	return true;
}

/* Compilers move blocks: what the alignment in order has left over is aligned by greedy string
 * tiling, the longest runs first (M. J. Wise, "String Similarity via Greedy String Tiling and
 * Running Karp-Rabin Matching", 1993). */
static void align_moved(Alignment *self)
{
	for (unsigned i = 0; i < MAX_MOVED && align_longest_run(self); i++)
		;
}

/* The source line of an instruction; NULL: unknown. */
static const LodeLocation *location_of(const LodeProfile *profile, uint32_t instruction)
{
	uint32_t location = lode_profile_instruction(profile, instruction)->location;

	return location != LODE_NONE
	               ? &LODE_AT(lode_code_of(profile)->locations, LodeLocation, location)
	               : NULL;
}

/* Whether most of what is aligned is of lines with the same numbers: the source did not move. */
static bool has_same_lines(const Alignment *self)
{
	const LodeProfile *const *profiles = self->matching->profiles;
	const LodeFunction *function = self->functions[0];
	uint32_t n = 0, n_same = 0;

	for (uint32_t i = 0; i < function->n_instructions; i++) {
		uint32_t first = function->first_instruction + i;
		uint32_t second = self->counterparts[first];
		const LodeLocation *a = location_of(profiles[0], first);
		const LodeLocation *b = second != LODE_NONE ? location_of(profiles[1], second)
		                                            : NULL;
		n += a != NULL && b != NULL;
		n_same += a != NULL && b != NULL && a->line == b->line;
	}
	return n_same > n / 2;
}

enum { ORDINAL_BITS = 12 };

/* Instructions of one function by line, mnemonic, and the how-manieth of these it is: index + 1.
 * With the ordinal of all ones: how many there are. */
static GHashTable *index_lines(const Alignment *self, int side)
{
	const LodeProfile *profile = self->matching->profiles[side];
	const CodeFingerprint *print = self->prints[side];
	const gint64 all = (1 << ORDINAL_BITS) - 1;
	GHashTable *out = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);

	for (uint32_t i = 0; i < print->n; i++) {
		uint32_t one = instruction_at(profile, self->functions[side], print->addresses[i]);
		const LodeLocation *location = one != LODE_NONE ? location_of(profile, one) : NULL;
		if (location == NULL)
			continue;
		gint64 *count = g_new(gint64, 1), *key = g_new(gint64, 1);
		*count = (gint64)location->line << 32 |
		         (gint64)(print->opcodes[i] & 0xfffff) << ORDINAL_BITS | all;
		guint n = GPOINTER_TO_UINT(g_hash_table_lookup(out, count));
		*key = (*count & ~all) | MIN(n, all - 1);
		g_hash_table_insert(out, count, GUINT_TO_POINTER(n + 1));
		g_hash_table_insert(out, key, GUINT_TO_POINTER(one + 1));
	}
	return out;
}

/* Compilers order the same code differently: where a line has as many instructions of one mnemonic
 * in both, these are the same, whatever is around them. */
static void align_lines(Alignment *self)
{
	const LodeFunction *function = self->functions[0];
	g_autoptr(GHashTable) owners = g_hash_table_new(NULL, NULL);
	GHashTableIter all;
	void *key, *value;

	for (uint32_t i = 0; i < function->n_instructions; i++) {
		uint32_t first = function->first_instruction + i;
		if (self->counterparts[first] != LODE_NONE)
			g_hash_table_insert(owners, GUINT_TO_POINTER(self->counterparts[first]),
				GUINT_TO_POINTER(first + 1));
	}
	g_autoptr(GHashTable) here = index_lines(self, 0);
	g_autoptr(GHashTable) there = index_lines(self, 1);
	g_hash_table_iter_init(&all, here);
	while (g_hash_table_iter_next(&all, &key, &value)) {
		gint64 number = *(const gint64 *)key, count = number | ((1 << ORDINAL_BITS) - 1);
		guint other = GPOINTER_TO_UINT(g_hash_table_lookup(there, key));
		if (number == count || other == 0 ||
			g_hash_table_lookup(here, &count) != g_hash_table_lookup(there, &count))
			continue;
		guint owner = GPOINTER_TO_UINT(
			g_hash_table_lookup(owners, GUINT_TO_POINTER(other - 1)));
		if (owner != 0)
			self->counterparts[owner - 1] = LODE_NONE;
		self->counterparts[GPOINTER_TO_UINT(value) - 1] = other - 1;
		g_hash_table_insert(owners, GUINT_TO_POINTER(other - 1), value);
	}
}

/* Without code, vertices of given graphs are known by their names, others by their order where both
 * have as many. */
static void align_names(Alignment *self)
{
	const LodeProfile *const *profiles = self->matching->profiles;
	const LodeFunction *a = self->functions[0], *b = self->functions[1];
	g_autoptr(GHashTable) by_name = g_hash_table_new(g_str_hash, g_str_equal);

	for (uint32_t i = 0; i < b->n_instructions; i++) {
		uint32_t index = b->first_instruction + i;
		char *name = lode_profile_instruction(profiles[1], index)->name;
		if (name != NULL)
			g_hash_table_insert(by_name, name, GUINT_TO_POINTER(index + 1));
	}
	for (uint32_t i = 0; i < a->n_instructions; i++) {
		uint32_t index = a->first_instruction + i;
		const char *name = lode_profile_instruction(profiles[0], index)->name;
		void *found = name != NULL ? g_hash_table_lookup(by_name, name) : NULL;
		if (found != NULL)
			self->counterparts[index] = GPOINTER_TO_UINT(found) - 1;
		else if (name == NULL && a->n_instructions == b->n_instructions)
			self->counterparts[index] = b->first_instruction + i;
	}
}

static void align(Matching *matching, uint32_t first, uint32_t second, uint32_t *counterparts)
{
	Alignment self = {matching,
		{function_of(matching, 0, first), function_of(matching, 1, second)},
		{print_of(matching, 0, first), print_of(matching, 1, second)}, counterparts,
		{NULL}};

	if (self.prints[0]->n == 0 || self.prints[1]->n == 0) {
		align_names(&self);
		return;
	}
	for (int side = 0; side < 2; side++)
		self.is_aligned[side] = g_new0(bool, self.prints[side]->n);
	align_codes(&self);
	align_moved(&self);
	if (!code_fingerprint_equals(self.prints[0], self.prints[1]) && has_same_lines(&self))
		align_lines(&self);
	g_free(self.is_aligned[0]);
	g_free(self.is_aligned[1]);
}

/* --- all --- */

static void matching_init(Matching *self, const LodeProfile *const profiles[2])
{
	*self = (Matching){.profiles = profiles};
	for (unsigned side = 0; side < 2; side++) {
		uint32_t n = n_functions(self, side);
		self->partners[side] = g_new(uint32_t, n + 1);
		self->prints[side] = g_new0(CodeFingerprint, n + 1);
		self->has_print[side] = g_new0(bool, n + 1);
		for (uint32_t f = 0; f < n; f++)
			self->partners[side][f] = LODE_NONE;
	}
	self->likeness = g_new0(double, n_functions(self, 0) + 1);
}

static void matching_clear(Matching *self)
{
	for (unsigned side = 0; side < 2; side++) {
		for (uint32_t f = 0; f < n_functions(self, side); f++)
			code_fingerprint_clear(&self->prints[side][f]);
		g_free(self->partners[side]);
		g_free(self->prints[side]);
		g_free(self->has_print[side]);
	}
	g_free(self->likeness);
}

static bool is_code_known(const LodeFunction *function)
{
	return function->code != NULL && g_bytes_get_size(function->code) > 0;
}

/* Whether the linker alone made a difference. */
static bool has_same_code(const LodeFunction *a, const LodeFunction *b)
{
	size_t n = 0, m = 0;

	const uint8_t *here = g_bytes_get_data(a->code, &n);
	const uint8_t *there = g_bytes_get_data(b->code, &m);
	if (n != m)
		return false;
	g_autoptr(GBytes) first = lode_code_without_addresses(here, n, a->address);
	g_autoptr(GBytes) second = lode_code_without_addresses(there, m, b->address);
	return g_bytes_equal(first, second);
}

static LodeFunctionPairs *collect(Matching *self)
{
	LodeFunctionPairs *out = g_new0(LodeFunctionPairs, 1);
	uint32_t n = lode_code_of(self->profiles[0])->instructions->len;

	out->pairs = g_array_new(FALSE, FALSE, sizeof(LodeFunctionPair));
	out->counterparts = g_new(uint32_t, n + 1);
	for (uint32_t i = 0; i < n; i++)
		out->counterparts[i] = LODE_NONE;
	for (uint32_t f = 0; f < n_functions(self, 0); f++) {
		LodeFunctionPair one = {{f, self->partners[0][f]}, self->likeness[f], false, false};
		if (one.functions[1] != LODE_NONE) {
			const LodeFunction *here = function_of(self, 0, f);
			const LodeFunction *there = function_of(self, 1, one.functions[1]);
			align(self, f, one.functions[1], out->counterparts);
			bool is_known = is_code_known(here) && is_code_known(there);
			one.is_same_code = is_known && has_same_code(here, there);
			one.is_other_code = is_known && !one.is_same_code;
		}
		g_array_append_val(out->pairs, one);
	}
	for (uint32_t f = 0; f < n_functions(self, 1); f++) {
		LodeFunctionPair one = {{LODE_NONE, f}, 0, false, false};
		if (self->partners[1][f] == LODE_NONE)
			g_array_append_val(out->pairs, one);
	}
	return out;
}

LodeFunctionPairs *lode_function_pairs_new(
	const LodeProfile *const profiles[2], const LodeProgress *progress)
{
	Matching self;
	LodeFunctionPairs *out = NULL;

	lode_progress_report(progress, "matching functions", 0, 0, NULL);
	matching_init(&self, profiles);
	pair_by(&self, address_key, NAN);
	pair_by(&self, image_key, 0);
	pair_by(&self, name_key, NAN);
	pair_by(&self, made_name_key, 0);
	pair_by(&self, plain_name_key, NAN);
	/* Where there are several, the alike come first, then the only one left of each. */
	pair_by(&self, untyped_name_in_image_key, LODE_PAIR_LIKENESS);
	pair_by(&self, untyped_name_in_image_key, NAN);
	pair_by(&self, untyped_name_key, NAN);
	pair_by(&self, placed_code_key, NAN);
	pair_by(&self, code_key, NAN);
	if (pair_by_code(&self, progress))
		out = collect(&self);
	matching_clear(&self);
	return out;
}

void lode_function_pairs_free(LodeFunctionPairs *self)
{
	if (self == NULL)
		return;
	g_array_unref(self->pairs);
	g_free(self->counterparts);
	g_free(self);
}
