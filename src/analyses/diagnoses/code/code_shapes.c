/* SPDX-License-Identifier: MIT */
#include "analyses/diagnoses/code/code_shapes.h"

#include "base/arrays/partition_point.h"
#include "base/arrays/sort_order.h"
#include "base/bits.h"
#include "images/instructions/instruction_decoder.h"
#include "images/instructions/register_use.h"
#include "model/memory.h"
#include "model/observed/windows.h"
#include "model/profile.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
	LodeDecodedInstruction instruction;
	char name[32]; /* "shr", "rep_stosq" */
	bool has_constant;
	int64_t constant;
} Decoded;

const uint8_t *lode_code_bytes(const LodeProfile *profile, uint32_t at, size_t *out_size)
{
	const LodeInstruction *one = lode_profile_instruction(profile, at);
	const LodeFunction *function = lode_profile_function(profile, one->function);
	gsize size = 0;
	const uint8_t *code = function->code != NULL ? g_bytes_get_data(function->code, &size)
	                                             : NULL;
	uint64_t offset = one->address - function->address;

	if (offset >= size || one->size > size - offset)
		return NULL;
	*out_size = one->size;
	return code + offset;
}

static bool decode(
	LodeInstructionDecoder *decoder, const LodeProfile *profile, uint32_t at, Decoded *out)
{
	size_t size;
	const uint8_t *bytes = lode_code_bytes(profile, at, &size);

	if (bytes == NULL ||
		!lode_instruction_decoder_decode(decoder, bytes, size,
			lode_profile_instruction(profile, at)->address, &out->instruction))
		return false;
	lode_instruction_mnemonic(&out->instruction, out->name, sizeof(out->name));
	out->has_constant = lode_instruction_constant(decoder, bytes, size, &out->constant);
	return true;
}

/* --- bits --- */

/* Kinds of work of a loop's instructions. */
typedef struct {
	double n, tests, loads;
	double shifts;  /* by one place, or by as many as a register says */
	double strides; /* by any other number */
	bool is_other;  /* has work that no bits are handled with */
} Shape;

enum {
	/* A step for a bit has at most so many instructions. */
	STEP_INSTRUCTIONS = 10,
	/* From so many steps in an iteration on the loop was unrolled: it shifts by constants. */
	UNROLLED_STEPS = 4,
	/* And loads at most once for so many bits. */
	BITS_OF_LOAD = 4,
};

static bool is_named(const char *name, const char *const *names, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return false;
}

static bool is_bit_test(const Decoded *one)
{
	return strcmp(one->name, "bt") == 0 ||
	       ((strcmp(one->name, "and") == 0 || strcmp(one->name, "test") == 0) &&
		       one->has_constant && one->constant == 1);
}

static void add_to_shape(Shape *shape, const Decoded *one)
{
	static const char *const shifts[] = {
		"shr", "sar", "shl", "shrx", "sarx", "shlx", "rcr", "bt"};
	const uint32_t others = 1u << LODE_KIND_CALL | 1u << LODE_KIND_MUL | 1u << LODE_KIND_DIV |
	                        1u << LODE_KIND_FP | 1u << LODE_KIND_SIMD | 1u << LODE_KIND_ATOMIC |
	                        1u << LODE_KIND_STRING | 1u << LODE_KIND_SYSCALL;
	uint32_t kinds = one->instruction.kinds;
	bool is_frame = one->instruction.memory == 1u << LODE_MEMORY_STACK;

	shape->n++;
	shape->is_other |= (kinds & others) != 0;
	if ((kinds >> LODE_KIND_STORE & 1) != 0 && !is_frame)
		shape->is_other = true;
	if ((kinds >> LODE_KIND_LOAD & 1) != 0 && !is_frame)
		shape->loads++;
	shape->tests += is_bit_test(one);
	if (!is_named(one->name, shifts, G_N_ELEMENTS(shifts)))
		return;
	if (one->has_constant && one->constant != 1)
		shape->strides++;
	else
		shape->shifts++;
}

static bool is_by_bits(const Shape *shape)
{
	double shifts = shape->shifts + (shape->tests >= UNROLLED_STEPS ? shape->strides : 0);

	return !shape->is_other && shape->tests >= 1 && shifts >= 1 && 2 * shifts >= shape->tests &&
	       shape->n <= STEP_INSTRUCTIONS * shape->tests &&
	       BITS_OF_LOAD * shape->loads <= shape->tests;
}

static void find_bits(LodeCostedCode *code, LodeInstructionDecoder *decoder)
{
	const LodeProfile *profile = code->context->profile;
	g_autofree Shape *shapes = g_new0(Shape, MAX(profile->loops->len, 1));

	for (uint32_t i = 0; i < profile->code.instructions->len; i++) {
		Decoded one;
		uint32_t loop = code->loops[i];
		if (loop == LODE_NONE || !(code->loop_weights[loop] > 0))
			continue;
		if (LODE_AT(profile->loops, LodeLoop, loop).is_innermost &&
			decode(decoder, profile, i, &one))
			add_to_shape(&shapes[loop], &one);
		else
			shapes[loop].is_other = true;
	}
	for (uint32_t i = 0; i < profile->code.instructions->len; i++)
		if (code->loops[i] != LODE_NONE && is_by_bits(&shapes[code->loops[i]]))
			code->facts[i] |= LODE_BIT(LODE_CODE_BITS);
}

/* --- changes in place --- */

static bool has_attribute(const LodeProfile *profile, uint32_t at, const char *name)
{
	return lode_profile_set_has(
		profile, lode_profile_instruction(profile, at)->attribute_set, name);
}

static bool use_at(const LodeProfile *profile, uint32_t at, LodeRegisterUse *out)
{
	size_t size;
	const uint8_t *bytes = lode_code_bytes(profile, at, &size);

	return bytes != NULL && lode_register_use_decode(out, bytes, size,
					lode_profile_instruction(profile, at)->address);
}

enum { MOST_STEPS_ON = 12 };

/* The instruction of the same block that stores what one loads from there, or that itself;
 * LODE_NONE: none is near. */
static uint32_t store_back(const LodeProfile *profile, uint32_t load)
{
	LodeRegisterUse use, next;
	uint32_t block = lode_profile_instruction(profile, load)->block;

	if (block == LODE_NONE || !use_at(profile, load, &use) || !use.memory.is_load ||
		use.memory.size == 0 || use.memory.is_relative)
		return LODE_NONE;
	if (use.memory.is_store)
		return load;
	LodeRegisterMask changed = use.changes;
	for (uint32_t at = load + 1; at <= load + MOST_STEPS_ON; at++) {
		if (at >= profile->code.instructions->len ||
			lode_profile_instruction(profile, at)->block != block ||
			(changed & use.memory.registers) != 0 || !use_at(profile, at, &next))
			return LODE_NONE;
		if (next.memory.is_store && next.memory.form == use.memory.form &&
			next.memory.registers == use.memory.registers &&
			next.memory.displacement == use.memory.displacement)
			return at;
		changed |= next.changes;
	}
	return LODE_NONE;
}

/* A word that is changed in memory. */
typedef struct {
	uint32_t load, store;
} Change;

/* Those whose address may change in their loop. The caller unrefs it. */
static GArray *list_changes(const LodeCostedCode *code)
{
	const LodeProfile *profile = code->context->profile;
	GArray *changes = g_array_new(FALSE, FALSE, sizeof(Change));

	for (uint32_t i = 0; i < profile->code.instructions->len; i++) {
		if (!has_attribute(profile, i, "kind:load") ||
			has_attribute(profile, i, "mem:stack") ||
			has_attribute(profile, i, "kind:atomic") ||
			has_attribute(profile, i, "address:invariant"))
			continue;
		Change change = {i, store_back(profile, i)};
		if (change.store != LODE_NONE)
			g_array_append_val(changes, change);
	}
	return changes;
}

/* Words are changed again where so many of the accesses load what was stored at most so many steps
 * before, at the address of the access before; so many accesses tell. */
static const double MOST_STORED = 0.6;
enum { NEAR_STEPS = 20, ENOUGH_ACCESSES = 16 };

typedef struct {
	double compared, judged, stored, repeated;
} Stored;

static bool is_enough(const Stored *self)
{
	return MIN(self->compared, self->judged) >= ENOUGH_ACCESSES;
}

static void add_seen(Stored *self, const LodeObservedInstruction *seen)
{
	self->compared += lode_window_compared_accesses(seen);
	self->repeated += seen->repeated;
	self->judged += lode_window_judged_accesses(seen);
	self->stored += seen->loads.store_steps <= NEAR_STEPS ? seen->loads.stored : 0;
}

/* Each by its own accesses; where these are few, by all of its function, else of the program. */
static void find_stored(LodeCostedCode *code, const GArray *changes)
{
	const LodeProfile *profile = code->context->profile;
	g_autofree Stored *functions = g_new0(Stored, MAX(profile->code.functions->len, 1));
	g_autofree Stored *own = g_new0(Stored, MAX(changes->len, 1));
	Stored all = {0};

	for (guint i = 0; profile->windows != NULL && i < changes->len; i++) {
		uint32_t load = LODE_AT(changes, Change, i).load;
		const LodeObservedInstruction *seen = lode_windows_find(profile->windows, load);
		if (seen == NULL || code->loops[load] == LODE_NONE)
			continue;
		add_seen(&own[i], seen);
		add_seen(&functions[lode_profile_instruction(profile, load)->function], seen);
		add_seen(&all, seen);
	}
	for (guint i = 0; i < changes->len; i++) {
		const Change *change = &LODE_AT(changes, Change, i);
		const Stored *of_function =
			&functions[lode_profile_instruction(profile, change->load)->function];
		const Stored *stored = is_enough(&own[i])       ? &own[i]
		                       : is_enough(of_function) ? of_function
		                                                : &all;
		if (code->loops[change->load] == LODE_NONE || !is_enough(stored) ||
			stored->stored < MOST_STORED * stored->judged ||
			stored->repeated < MOST_STORED * stored->compared)
			continue;
		for (uint32_t at = change->load; at <= change->store; at++)
			code->facts[at] |= LODE_BIT(LODE_CODE_STORED);
	}
}

/* --- counters in objects --- */

/* They are not in the first-level cache if they lie on so many pages. */
static const double MANY_PAGES = 64;
enum { PAGE_BITS = 12 };

static bool is_counter(LodeInstructionDecoder *decoder, const LodeProfile *profile, uint32_t at)
{
	Decoded one;

	if (!has_attribute(profile, at, "mem:pointer") || !decode(decoder, profile, at, &one))
		return false;
	if (strcmp(one.name, "inc") == 0 || strcmp(one.name, "dec") == 0)
		return true;
	return (strcmp(one.name, "add") == 0 || strcmp(one.name, "sub") == 0) && one.has_constant &&
	       (one.constant == 1 || one.constant == -1);
}

/* A lower bound, as of spread:tlb (docs/reference/attributes.md). */
static double least_pages(GArray *pages)
{
	double n = pages->len, pairs = 0, equal = 0;

	g_array_sort(pages, lode_compare_u64);
	for (guint i = 1; i < pages->len; i++) {
		equal = LODE_AT(pages, uint64_t, i) == LODE_AT(pages, uint64_t, i - 1) ? equal + 1
		                                                                       : 0;
		pairs += equal;
	}
	double most = sqrt(pairs + 1) + 1;
	return n * (n - 1) / 2 / (most * most);
}

static void find_counters(
	LodeCostedCode *code, LodeInstructionDecoder *decoder, const GArray *changes)
{
	const LodeProfile *profile = code->context->profile;
	g_autofree bool *is_one = g_new0(bool, profile->code.instructions->len + 1);
	g_autoptr(GArray) pages = g_array_new(FALSE, FALSE, sizeof(uint64_t));

	if (profile->memory == NULL)
		return;
	for (guint i = 0; i < changes->len; i++) {
		const Change *change = &LODE_AT(changes, Change, i);
		is_one[change->load] = change->store == change->load &&
		                       is_counter(decoder, profile, change->load);
	}
	for (guint i = 0; i < profile->memory->samples->len; i++) {
		const LodeMemorySample *sample = &LODE_AT(
			profile->memory->samples, LodeMemorySample, i);
		uint64_t page = sample->address >> PAGE_BITS;
		if (sample->address != 0 && sample->access_instruction != LODE_NONE &&
			is_one[sample->access_instruction])
			g_array_append_val(pages, page);
	}
	if (least_pages(pages) < MANY_PAGES)
		return;
	for (uint32_t i = 0; i < profile->code.instructions->len; i++)
		if (is_one[i])
			code->facts[i] |= LODE_BIT(LODE_CODE_COUNTER);
}

/* --- string instructions --- */

/* Where more bytes are moved, beginning is not most of it (docs/reference/attributes.md). */
static const double BLOCK_BYTES = 256;
enum { ENOUGH_RUNS = 3 };

typedef struct {
	double runs, bytes;
} Moved;

/* Those of which windows saw too few executions for an attribute are judged by all of their
 * function, or else of the program. */
static void find_blocks(LodeCostedCode *code, LodeInstructionDecoder *decoder)
{
	const LodeProfile *profile = code->context->profile;
	g_autofree Moved *functions = g_new0(Moved, MAX(profile->code.functions->len, 1));
	g_autoptr(GArray) unknown = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	Moved all = {0};

	for (uint32_t i = 0; profile->windows != NULL && i < profile->code.instructions->len; i++) {
		Decoded one;
		if (!has_attribute(profile, i, "kind:string") || !decode(decoder, profile, i, &one))
			continue;
		double width = lode_instruction_string_width(&one.instruction);
		const LodeObservedInstruction *seen = lode_windows_find(profile->windows, i);
		Moved *moved = &functions[lode_profile_instruction(profile, i)->function];
		if (width > 0 && !has_attribute(profile, i, "rounds:few"))
			g_array_append_val(unknown, i);
		if (width == 0 || seen == NULL)
			continue;
		moved->runs += seen->string_runs;
		moved->bytes += width * seen->string_rounds;
		all.runs += seen->string_runs;
		all.bytes += width * seen->string_rounds;
	}
	for (guint i = 0; i < unknown->len; i++) {
		uint32_t at = LODE_AT(unknown, uint32_t, i);
		const Moved *moved = &functions[lode_profile_instruction(profile, at)->function];
		if (moved->runs < ENOUGH_RUNS)
			moved = &all;
		if (moved->runs >= ENOUGH_RUNS && moved->bytes > BLOCK_BYTES * moved->runs)
			code->facts[at] |= LODE_BIT(LODE_CODE_BLOCK);
	}
}

/* --- hidden ways --- */

uint32_t lode_code_shapes_hidden_target(const LodeCostedCode *code, uint32_t branch)
{
	const LodeProfile *profile = code->context->profile;
	const LodeInstruction *own = lode_profile_instruction(profile, branch);
	const LodeFunction *function = lode_profile_function(profile, own->function);
	uint32_t end = function->first_instruction + function->n_instructions;
	LodeInstructionDecoder decoder;
	Decoded one;

	lode_instruction_decoder_init(&decoder);
	if (branch + 1 >= end || own->next_count < 0 ||
		own[1].address != own->address + own->size ||
		!decode(&decoder, profile, branch, &one) ||
		one.instruction.branch != LODE_BRANCH_CONDITIONAL || !one.instruction.has_target)
		return LODE_NONE;
	uint32_t first = function->first_instruction;
	const LodeInstruction *all = lode_profile_instruction(profile, first);
	uint32_t to = first + (uint32_t)LODE_PARTITION_POINT(function->n_instructions, i,
				      all[i].address < one.instruction.target);
	if (to >= end || to == branch + 1 ||
		lode_profile_instruction(profile, to)->address != one.instruction.target)
		return LODE_NONE;
	for (uint32_t w = code->way_starts[to]; w < code->way_starts[to + 1]; w++)
		if (code->ways[w].source == branch)
			return LODE_NONE;
	return to;
}

/* --- copies --- */

enum {
	N_VECTORS = LODE_BIT_OPMASK - LODE_BIT_VECTOR,
	VECTOR_BYTES = 16,
	/* A block that copies so many bytes unchanged copies a structure. */
	LEAST_COPIED = 128,
};

/* A move of a vector register from or to memory, and nothing else. */
static bool is_vector_move(LodeInstructionDecoder *decoder, const LodeProfile *profile, uint32_t at,
	const LodeRegisterUse *use)
{
	Decoded one;

	return use->memory.size >= VECTOR_BYTES && use->memory.is_load != use->memory.is_store &&
	       decode(decoder, profile, at, &one) &&
	       (g_str_has_prefix(one.name, "mov") || g_str_has_prefix(one.name, "vmov"));
}

/* The vector register that is the only one of a mask; N_VECTORS: there is none. */
static unsigned vector_of(LodeRegisterMask mask)
{
	LodeRegisterMask vectors = mask >> LODE_BIT_VECTOR & lode_low_bits(N_VECTORS);

	return vectors != 0 && (vectors & (vectors - 1)) == 0 ? (unsigned)g_bit_nth_lsf(vectors, -1)
	                                                      : N_VECTORS;
}

/* Marks what copies a structure in the block that begins at an instruction; gives its end. */
static uint32_t mark_copies(
	LodeCostedCode *code, LodeInstructionDecoder *decoder, uint32_t first, GArray *copies)
{
	const LodeProfile *profile = code->context->profile;
	uint32_t block = lode_profile_instruction(profile, first)->block, at = first;
	uint32_t loads[N_VECTORS]; /* what each register was loaded by, unchanged since */
	uint64_t bytes = 0;

	memset(loads, 0xff, sizeof(loads));
	g_array_set_size(copies, 0);
	for (; at < profile->code.instructions->len &&
		lode_profile_instruction(profile, at)->block == block;
		at++) {
		LodeRegisterUse use;
		if (!use_at(profile, at, &use)) {
			memset(loads, 0xff, sizeof(loads));
			continue;
		}
		bool is_move = is_vector_move(decoder, profile, at, &use);
		unsigned from = is_move && use.memory.is_store ? vector_of(use.reads) : N_VECTORS;
		if (from < N_VECTORS && loads[from] != LODE_NONE) {
			bytes += use.memory.size;
			g_array_append_val(copies, loads[from]);
			g_array_append_val(copies, at);
		}
		for (unsigned i = 0; i < N_VECTORS; i++)
			if ((use.changes >> (LODE_BIT_VECTOR + i) & 1) != 0)
				loads[i] = LODE_NONE;
		unsigned to = is_move && use.memory.is_load ? vector_of(use.writes) : N_VECTORS;
		if (to < N_VECTORS)
			loads[to] = at;
	}
	for (guint i = 0; i < copies->len && bytes >= LEAST_COPIED; i++)
		code->facts[g_array_index(copies, uint32_t, i)] |= LODE_BIT(LODE_CODE_COPY);
	return at;
}

static void find_copies(LodeCostedCode *code, LodeInstructionDecoder *decoder)
{
	const LodeProfile *profile = code->context->profile;
	g_autoptr(GArray) copies = g_array_new(FALSE, FALSE, sizeof(uint32_t));

	for (uint32_t i = 0; i < profile->code.instructions->len;)
		i = lode_profile_instruction(profile, i)->block != LODE_NONE
		            ? mark_copies(code, decoder, i, copies)
		            : i + 1;
}

/* --- bases in variables --- */

/* Where the value of a general register comes from; from several, the last of them here. */
typedef enum {
	FROM_NOTHING,  /* constants and arguments of the function */
	FROM_VARIABLE, /* those, and a load from a fixed address */
	FROM_OTHERS,   /* another load, or not known */
} Origin;

enum { N_GENERAL = LODE_BIT_FLAGS };

static Origin origin_of(const Origin *origins, LodeRegisterMask registers)
{
	Origin worst = FROM_NOTHING;

	for (unsigned i = 0; i < N_GENERAL; i++)
		if ((registers >> i & 1) != 0)
			worst = MAX(worst, origins[i]);
	return worst;
}

static bool is_fixed(const LodeMemoryUse *memory)
{
	return memory->size > 0 && memory->registers == 0;
}

/* The fixed addresses that a function stores to. The caller unrefs it. */
static GHashTable *variables_stored(const LodeProfile *profile, const LodeFunction *function)
{
	GHashTable *stored = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
	LodeRegisterUse use;

	for (uint32_t i = 0; i < function->n_instructions; i++)
		if (use_at(profile, function->first_instruction + i, &use) && use.memory.is_store &&
			is_fixed(&use.memory))
			g_hash_table_add(stored, g_memdup2(&use.memory.displacement,
							 sizeof(use.memory.displacement)));
	return stored;
}

static void mark_globals(LodeCostedCode *code, const LodeFunction *function)
{
	const LodeProfile *profile = code->context->profile;
	g_autoptr(GHashTable) stored = variables_stored(profile, function);
	Origin origins[N_GENERAL] = {FROM_NOTHING};
	uint32_t first = function->first_instruction, block = LODE_NONE;

	for (uint32_t at = first; at < first + function->n_instructions; at++) {
		LodeRegisterUse use;
		uint32_t its = lode_profile_instruction(profile, at)->block;
		bool is_known = use_at(profile, at, &use);
		if (at > first && (its != block || !is_known))
			for (unsigned i = 0; i < N_GENERAL; i++)
				origins[i] = FROM_OTHERS;
		block = its;
		if (!is_known)
			continue;
		if (use.memory.is_load && use.memory.registers != 0 &&
			origin_of(origins, use.memory.registers) == FROM_VARIABLE)
			code->facts[at] |= LODE_BIT(LODE_CODE_GLOBAL);
		Origin from = origin_of(origins, use.reads);
		if (use.memory.is_load)
			from = is_fixed(&use.memory) && !g_hash_table_contains(
								stored, &use.memory.displacement)
			               ? MAX(from, FROM_VARIABLE)
			               : FROM_OTHERS;
		for (unsigned i = 0; i < N_GENERAL; i++)
			if ((use.changes >> i & 1) != 0)
				origins[i] = (use.writes >> i & 1) != 0 ? from : FROM_OTHERS;
	}
}

static void find_globals(LodeCostedCode *code)
{
	const LodeProfile *profile = code->context->profile;

	for (uint32_t i = 0; i < profile->code.functions->len; i++)
		mark_globals(code, lode_profile_function(profile, i));
}

/* --- all --- */

/* --- what loops move from memory --- */

enum { STAYS = 1, DENSE = 2 };
static const LodeAttributeMark marks[] = {{"address:invariant", STAYS}, {"stride:0", STAYS},
	{"spread:first-level", STAYS}, {"lines:dense", DENSE}};

/* Takes the accesses of an instruction away from those of its loop. */
static void take_away(LodeCostedCode *code, uint32_t at)
{
	const LodeProfile *profile = code->context->profile;
	const LodeLoop *loop = &LODE_AT(profile->loops, LodeLoop, code->loops[at]);
	LodeLoopBytes *bytes = &code->loop_bytes[code->loops[at]];
	LodeRegisterUse use;
	size_t size;
	const uint8_t *machine_code = lode_code_bytes(profile, at, &size);
	const LodeInstruction *one = lode_profile_instruction(profile, at);

	if (machine_code == NULL || bytes->loaded < 0 || !(loop->iterations > 0) ||
		!lode_register_use_decode(&use, machine_code, size, one->address))
		return;
	double moved = use.memory.size * one->count / loop->iterations;
	/* As in the loop's own sums. */
	if (loop->is_innermost)
		moved = MIN(moved, use.memory.size);
	bytes->loaded -= use.memory.is_load ? MIN(moved, bytes->loaded) : 0;
	bytes->stored -= use.memory.is_store ? MIN(moved, bytes->stored) : 0;
}

void lode_code_shapes_find_bytes(LodeCostedCode *code)
{
	const LodeProfile *profile = code->context->profile;
	g_autofree uint16_t *set_marks = lode_profile_mark_sets(
		profile, marks, G_N_ELEMENTS(marks));

	code->loop_bytes = g_new0(LodeLoopBytes, MAX(profile->loops->len, 1));
	for (guint i = 0; i < profile->loops->len; i++) {
		const LodeLoop *loop = &LODE_AT(profile->loops, LodeLoop, i);
		code->loop_bytes[i] = (LodeLoopBytes){loop->load_bytes, loop->store_bytes};
	}
	for (uint32_t i = 0; i < profile->code.instructions->len; i++) {
		uint32_t set = lode_profile_instruction(profile, i)->attribute_set;
		if (code->loops[i] != LODE_NONE && (set_marks[set] & STAYS) != 0)
			take_away(code, i);
	}
}

/* --- walks --- */

/* A round goes to another line; the pairs of accesses that lie nearer tell that other walks go over
 * the lines between. */
enum { LINE = 64, LEAST_PAIRS = 8 };

typedef struct {
	uint32_t instruction;
	uint64_t address;
} Access;

LODE_ORDER(compare_accesses, Access, LODE_ASCENDING(instruction), LODE_ASCENDING(address))

/* Bytes from round to round, as a positive number; 0: they do not go by one. */
static uint64_t step_of(const LodeProfile *profile, uint32_t instruction)
{
	const char *stride = lode_profile_set_value(
		profile, lode_profile_instruction(profile, instruction)->attribute_set, "stride:");

	return stride != NULL ? (uint64_t)llabs(g_ascii_strtoll(stride, NULL, 10)) : 0;
}

/* The accesses in loops with large steps, whose address is known. The caller unrefs it. */
static GArray *list_accesses(const LodeProfile *profile, const uint64_t *steps)
{
	GArray *accesses = g_array_new(FALSE, FALSE, sizeof(Access));

	for (guint i = 0; profile->memory != NULL && i < profile->memory->samples->len; i++) {
		const LodeMemorySample *sample = &LODE_AT(
			profile->memory->samples, LodeMemorySample, i);
		const Access access = {sample->access_instruction, sample->address};
		if (access.address != 0 && access.instruction != LODE_NONE &&
			steps[access.instruction] >= LINE)
			g_array_append_val(accesses, access);
	}
	g_array_sort(accesses, compare_accesses);
	return accesses;
}

/*
 * One walk never comes nearer to where it was than a step, nor do walks over several arrays of
 * structures, which are a step or more apart where one array follows the other. Columns of one
 * matrix lie nearer.
 */
static void find_walks(LodeCostedCode *code)
{
	const LodeProfile *profile = code->context->profile;
	uint32_t n = profile->code.instructions->len;
	g_autofree uint64_t *steps = g_new0(uint64_t, MAX(n, 1));
	g_autofree uint32_t *pairs = g_new0(uint32_t, MAX(n, 1));
	g_autofree uint16_t *set_marks = lode_profile_mark_sets(
		profile, marks, G_N_ELEMENTS(marks));

	for (uint32_t i = 0; i < n; i++)
		steps[i] = code->loops[i] != LODE_NONE ? step_of(profile, i) : 0;
	g_autoptr(GArray) accesses = list_accesses(profile, steps);
	for (guint i = 1; i < accesses->len; i++) {
		const Access *one = &g_array_index(accesses, Access, i), *before = one - 1;
		uint64_t distance = one->address - before->address;
		pairs[one->instruction] += one->instruction == before->instruction &&
		                           distance > 0 && distance < steps[one->instruction];
	}
	for (uint32_t i = 0; i < n; i++) {
		uint32_t set = lode_profile_instruction(profile, i)->attribute_set;
		bool is_dense = (set_marks[set] & DENSE) != 0 ||
		                (code->facts[i] >> LODE_CODE_DENSE & 1) != 0;
		if (steps[i] >= LINE && (is_dense || pairs[i] >= LEAST_PAIRS))
			code->facts[i] |= LODE_BIT(LODE_CODE_ACROSS);
	}
}

void lode_code_shapes_find(LodeCostedCode *code)
{
	LodeInstructionDecoder decoder;
	g_autoptr(GArray) changes = list_changes(code);

	lode_instruction_decoder_init(&decoder);
	find_stored(code, changes);
	find_counters(code, &decoder, changes);
	find_bits(code, &decoder);
	find_blocks(code, &decoder);
	find_copies(code, &decoder);
	find_globals(code);
	find_walks(code);
}
