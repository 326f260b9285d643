/* SPDX-License-Identifier: MIT */
/*
 * The attributes and the source location of each executed instruction: op, kind, mem, at, loop,
 * needs, address, behind, chain, carried, check, frame, spill, call, inl and the facts. Then the
 * account of unresolved executions.
 */
#include "base/arrays/id_cache.h"
#include "images/code/frame_use.h"
#include "ingest/join/attributes/code_checks.h"
#include "ingest/join/attributes/dependence_search.h"
#include "ingest/join/join.h"
#include "ingest/join/loops/loop_dependences.h"
#include "model/profile.h"
#include "model/run/unresolved.h"

#include <string.h>

enum {
	MAX_ATTRIBUTES = 96,
	MAX_BEHIND = 6,  /* kinds that are slow */
	MAX_OTHERS = 16, /* op, three of at, loop, chain, carried, invariant or early, inl, four of
	                    obj, check, frame or spill, call */
};
G_STATIC_ASSERT(LODE_N_KINDS + LODE_N_MEMORY_KINDS + 2 * LODE_N_NEEDS - 2 + MAX_BEHIND +
			MAX_OTHERS + LODE_N_JOIN_FACTS <=
		MAX_ATTRIBUTES);

/* Bits of a set's key; see set_key(). */
enum {
	N_KEY_FLAGS = 6,
	N_NEED_BITS = 14,
	CHAIN_SHIFT = 56,
	FACTS_SHIFT = 24,
	CHECK_SHIFT = 40,
	FRAME_SHIFT = 48,
	CALLEE_SHIFT = 56,
};
G_STATIC_ASSERT(FACTS_SHIFT + LODE_N_JOIN_FACTS <= CHECK_SHIFT);
G_STATIC_ASSERT((int)LODE_N_NEEDS == (int)N_NEED_BITS);
G_STATIC_ASSERT((int)LODE_NEED_STORE == N_NEED_BITS - 2); /* the last two have no address: */
G_STATIC_ASSERT(N_KEY_FLAGS + 2 * N_NEED_BITS - 2 <= 32 && 32 + LODE_N_KINDS <= CHAIN_SHIFT);

typedef struct {
	LodeProfile *profile;
	const LodeJoinImages *images;
	const LodeJoinRows *rows;
	const LodeJoinCode *codes;
	const LodeJoinObjects *objects;
	LodeCodeChecks *checks;
	LodeIdCache sets, locations, pairs;
	uint32_t n_pairs;             /* of data objects */
	uint32_t ids[MAX_ATTRIBUTES]; /* of the set being made */
	size_t n_ids;
} Naming;

static void add_attribute(Naming *self, const char *name_space, const char *value)
{
	char text[512];

	g_snprintf(text, sizeof(text), "%s:%s", name_space, value);
	/* A cut name must not end inside a character. */
	g_autofree char *valid = g_utf8_make_valid(text, -1);
	if (self->n_ids < MAX_ATTRIBUTES)
		self->ids[self->n_ids++] = lode_profile_attribute(self->profile, valid);
}

static void add_decoded_attributes(Naming *self, const LodeJoinCode *code)
{
	LodeDecodedInstruction decoded = {
		.length = code->length,
		.branch = code->branch,
		.is_repeat = code->is_repeat,
		.mnemonic = code->mnemonic,
		.prefix = code->prefix,
		.kinds = code->kinds,
		.memory = code->memory,
	};
	char buffer[64];

	add_attribute(self, "op", lode_instruction_mnemonic(&decoded, buffer, sizeof(buffer)));
	for (unsigned i = 0; i < LODE_N_KINDS; i++)
		if (code->kinds >> i & 1)
			add_attribute(self, "kind", lode_instruction_kind_name(i));
	for (unsigned i = 0; i < LODE_N_MEMORY_KINDS; i++)
		if (code->memory >> i & 1)
			add_attribute(self, "mem", lode_memory_kind_name(i));
}

/* Deeper loops share "loop:3": each depth by itself would be too rare to be mined. */
static uint8_t capped_depth(const LodeJoinCode *code)
{
	return MIN(code->loop_depth, 3);
}

static void add_position_attributes(Naming *self, const LodeJoinCode *code)
{
	static const char *const depths[] = {NULL, "1", "2", "3"};

	if (code->is_entry)
		add_attribute(self, "at", "entry");
	if (code->is_loop_head)
		add_attribute(self, "at", "loop-head");
	if (code->is_return_point)
		add_attribute(self, "at", "return-point");
	if (code->loop_depth > 0)
		add_attribute(self, "loop", depths[capped_depth(code)]);
}

static void add_dependence_attributes(Naming *self, const LodeJoinCode *code)
{
	char length[16];

	for (unsigned i = 0; i < LODE_N_NEEDS; i++) {
		if (code->needs >> i & 1)
			add_attribute(self, "needs", lode_need_name(i));
		if (code->address_needs >> i & 1)
			add_attribute(self, "address", lode_need_name(i));
	}
	for (unsigned i = 0; i < LODE_N_NEEDS; i++)
		if (code->behind >> i & 1)
			add_attribute(self, "behind", lode_need_name(i));
	if (code->is_invariant)
		add_attribute(self, "address", "invariant");
	if (code->is_early)
		add_attribute(self, "address", "early");
	if (code->carried != 0)
		add_attribute(self, "carried", lode_step_of_name((LodeStepOf)(code->carried - 1)));
	for (unsigned i = 0; i < LODE_N_JOIN_FACTS; i++) {
		const char *name_space, *value;
		lode_join_fact_name((LodeJoinFact)i, &name_space, &value);
		if (code->facts >> i & 1)
			add_attribute(self, name_space, value);
	}
	if (code->chain == 0)
		return;
	g_snprintf(length, sizeof(length), "%" G_GUINT64_FORMAT, UINT64_C(1) << code->chain);
	add_attribute(self, "chain", length);
}

static void add_code_attributes(Naming *self, const LodeJoinCode *code)
{
	static const struct {
		const char *name_space, *value;
	} uses[] = {{NULL, NULL}, {"frame", "enter"}, {"frame", "leave"}, {"spill", "save"},
		{"spill", "reload"}};
	static const char *const callees[] = {NULL, "small", "plt"};
	G_STATIC_ASSERT(G_N_ELEMENTS(uses) == LODE_N_FRAME_USES);

	if (code->check != 0)
		add_attribute(self, "check", lode_code_checks_name(self->checks, code->check));
	if (code->frame_use != LODE_FRAME_USE_NONE)
		add_attribute(self, uses[code->frame_use].name_space, uses[code->frame_use].value);
	if (code->callee != LODE_CALLEE_ANY)
		add_attribute(self, "call", callees[code->callee]);
}

/* All that decides the attribute set of an instruction. */
static LodeIdKey set_key(const LodeJoinCode *code, const char *inlined, uint32_t objects)
{
	uint64_t flags = (uint64_t)code->is_entry | (uint64_t)code->is_loop_head << 1 |
	                 (uint64_t)code->is_return_point << 2 | (uint64_t)capped_depth(code) << 3 |
	                 (uint64_t)(code->length > 0) << 5 | (uint64_t)code->needs << N_KEY_FLAGS |
	                 (uint64_t)code->address_needs << (N_KEY_FLAGS + N_NEED_BITS) |
	                 (uint64_t)objects << 32;

	uint64_t loops = (uint64_t)code->facts << FACTS_SHIFT |
	                 (uint64_t)code->check << CHECK_SHIFT |
	                 (uint64_t)code->frame_use << FRAME_SHIFT |
	                 (uint64_t)code->callee << CALLEE_SHIFT | (uint64_t)code->behind << 8 |
	                 (uint64_t)code->is_invariant << 7 | (uint64_t)code->is_early << 6 |
	                 code->carried;

	return (LodeIdKey){{(uint64_t)code->chain << CHAIN_SHIFT | (uint64_t)code->kinds << 32 |
				    (uint64_t)code->mnemonic << 16 | (uint64_t)code->prefix << 8 |
				    code->memory,
		flags, (uint64_t)(uintptr_t)inlined, loops}};
}

/* An object of its own and, where it is a member, its type. */
static void add_objects(Naming *self, const LodeJoinOperands *operands)
{
	for (size_t i = 0; i < G_N_ELEMENTS(operands->numbers); i++) {
		if (operands->numbers[i] == 0)
			continue;
		const LodeOperandObject *object = lode_memory_objects_at(
			self->objects->known, operands->numbers[i]);
		if (object->name != NULL)
			add_attribute(self, "obj", object->name);
		if (object->type_name != NULL)
			add_attribute(self, "obj", object->type_name);
	}
}

/* One number for the accessed objects, 0 for none: pairs are few. */
static uint32_t object_pair(Naming *self, const LodeJoinOperands *operands)
{
	const LodeIdKey key = {{operands->numbers[0], operands->numbers[1], 0}};
	bool is_new;

	if (operands->numbers[0] == 0)
		return 0;
	LodeIdSlot *slot = lode_id_cache_find(&self->pairs, &key, &is_new);
	if (is_new)
		slot->id = ++self->n_pairs;
	return slot->id;
}

static uint32_t attribute_set(Naming *self, uint32_t instruction, const char *inlined)
{
	static const LodeJoinOperands nothing = {{0, 0}};
	const LodeJoinCode *code = &self->codes[instruction];
	const LodeJoinOperands *operands = instruction < self->objects->operands->len
	                                           ? &g_array_index(self->objects->operands,
							     LodeJoinOperands, instruction)
	                                           : &nothing;
	LodeIdKey key = set_key(code, inlined, object_pair(self, operands));
	bool is_new;
	LodeIdSlot *slot = lode_id_cache_find(&self->sets, &key, &is_new);

	if (is_new) {
		self->n_ids = 0;
		if (code->length > 0)
			add_decoded_attributes(self, code);
		add_position_attributes(self, code);
		add_dependence_attributes(self, code);
		add_code_attributes(self, code);
		if (inlined != NULL)
			add_attribute(self, "inl", inlined);
		add_objects(self, operands);
		slot->id = lode_profile_attribute_set(self->profile, self->ids, self->n_ids);
	}
	return slot->id;
}

static uint32_t location(Naming *self, const LodeBinaryLocation *found)
{
	LodeIdKey key = {{(uint64_t)(uintptr_t)found->file, (uint64_t)(uintptr_t)found->inlined,
		found->line}};
	bool is_new;

	if (found->file == NULL && found->line == 0 && found->inlined == NULL)
		return LODE_NONE;
	LodeIdSlot *slot = lode_id_cache_find(&self->locations, &key, &is_new);
	if (is_new)
		slot->id = lode_profile_location(
			self->profile, found->file, found->line, found->inlined);
	return slot->id;
}

/* A location of its own for each call, outermost first. `calls`: those inlined at one address. */
static uint32_t inlining(Naming *self, const LodeInlinedCall *calls, guint n)
{
	uint32_t outer = LODE_NONE;

	for (guint i = MIN(n, LODE_INLINING_MAX_DEPTH); i-- > 0;) {
		const LodeBinaryLocation call = {.file = calls[i].file,
			.line = calls[i].line,
			.inlined = i + 1 < n ? calls[i + 1].function : NULL};
		uint32_t id = location(self, &call);
		if (id == LODE_NONE)
			id = lode_profile_location(self->profile, NULL, 0, NULL);
		outer = lode_profile_inlining(self->profile, id, outer);
	}
	return outer;
}

static void name_inlinings(Naming *self, uint32_t first, const GArray *calls)
{
	for (guint i = 0, end; i < calls->len; i = end) {
		const LodeInlinedCall *call = &g_array_index(calls, LodeInlinedCall, i);
		for (end = i + 1; end < calls->len; end++)
			if (g_array_index(calls, LodeInlinedCall, end).index != call->index)
				break;
		lode_profile_set_inlining(
			self->profile, first + call->index, inlining(self, call, end - i));
	}
}

/* The line that valgrind recorded. */
static LodeBinaryLocation recorded_location(const LodeJoinRows *rows, uint32_t instruction)
{
	const LodeRecording *recording = rows->recording;
	uint32_t first = g_array_index(rows->first, uint32_t, instruction);
	const LodeRecordedInstruction *row = &g_array_index(recording->instructions,
		LodeRecordedInstruction, g_array_index(rows->rows, uint32_t, first));
	LodeBinaryLocation found = {0};

	if (row->line == 0 || row->file >= recording->names->len)
		return found;
	found.file = recording->names->pdata[row->file];
	found.line = row->line;
	return found;
}

/* Its instructions are not known: `kind` alone says why. */
static uint32_t unknown_set(Naming *self, const char *kind)
{
	self->n_ids = 0;
	add_attribute(self, "kind", kind);
	return lode_profile_attribute_set(self->profile, self->ids, self->n_ids);
}

static void name_image(Naming *self, uint32_t image, uint32_t first, uint32_t n)
{
	LodeInstruction *instructions = lode_profile_instruction(self->profile, first);
	LodeBinaryImage *binary = self->images->binaries[image];
	g_autofree LodeBinaryLocation *found = g_new0(LodeBinaryLocation, n);
	g_autoptr(GArray) calls = g_array_new(FALSE, FALSE, sizeof(LodeInlinedCall));
	bool has_lines = binary != NULL && lode_binary_image_has_lines(binary);
	const char *unknown = NULL;

	if (lode_profile_image(self->profile, image)->kind == LODE_IMAGE_KERNEL)
		unknown = "kernel";
	else if (binary != NULL && lode_binary_image_undecoded(binary) != NULL)
		unknown = "not-decoded";
	if (has_lines) {
		g_autofree uint64_t *addresses = g_new(uint64_t, n);
		for (uint32_t i = 0; i < n; i++)
			addresses[i] = instructions[i].address;
		lode_binary_image_locate_calls(binary, addresses, n, found, calls);
	}
	for (uint32_t i = 0; i < n; i++) {
		if (!has_lines)
			found[i] = recorded_location(self->rows, first + i);
		instructions[i].location = location(self, &found[i]);
		instructions[i].attribute_set = unknown != NULL ? unknown_set(self, unknown)
		                                                : attribute_set(self, first + i,
									  found[i].inlined);
	}
	name_inlinings(self, first, calls);
}

/* Functions are sorted by image and hold ranges of instructions. */
static void name_images(Naming *self)
{
	const LodeProfile *profile = self->profile;
	guint n = profile->code.functions->len, end;

	for (guint i = 0; i < n; i = end) {
		const LodeFunction *first = lode_profile_function(profile, i);
		for (end = i + 1;
			end < n && lode_profile_function(profile, end)->image == first->image;)
			end++;
		const LodeFunction *last = lode_profile_function(profile, end - 1);
		name_image(self, first->image, first->first_instruction,
			last->first_instruction + last->n_instructions - first->first_instruction);
	}
}

/* The inputs for the reasons of unresolved executions. */
typedef struct {
	LodeProfile *profile;
	const LodeJoinImages *images;
	const LodeJoinCode *codes;
} Accounting;

static const char *unresolved_reason(
	const Accounting *self, const LodeFunction *function, const LodeJoinCode *code)
{
	LodeImageKind kind = lode_profile_image(self->profile, function->image)->kind;

	if (kind == LODE_IMAGE_KERNEL || lode_image_kind_is_script(kind))
		return NULL;
	if (kind == LODE_IMAGE_UNRESOLVED)
		return "address outside any known image";
	const LodeBinaryImage *binary = self->images->binaries[function->image];
	if (binary == NULL)
		return "no image file";
	if (lode_binary_image_undecoded(binary) != NULL) {
		g_autofree char *reason = g_strconcat(
			"not decoded: ", lode_binary_image_undecoded(binary), NULL);
		return lode_profile_intern(self->profile, reason);
	}
	if (function->code == NULL)
		return "no code at this address of the image";
	if (code->length == 0)
		return "bytes do not decode";
	return function->source == LODE_FUNCTION_RECORDED ? "no function bounds" : NULL;
}

static char *unresolved_example(const Accounting *self, const LodeInstruction *instruction)
{
	const LodeFunction *function = lode_profile_function(self->profile, instruction->function);
	const char *cause = self->images->open_errors[function->image];
	const char *path = lode_profile_image(self->profile, function->image)->path;

	if (cause != NULL)
		return g_strdup(cause);
	return g_strdup_printf(
		"0x%" G_GINT64_MODIFIER "x in %s (%s)", instruction->address, path, function->name);
}

/* Rows of `unresolved` are few, so that the reason's own search costs nothing; examples are made
 * once for each. */
static void account_unresolved(Accounting *self)
{
	LodeProfile *profile = self->profile;
	const char *last_reason = NULL;

	for (uint32_t i = 0; i < profile->code.instructions->len; i++) {
		const LodeInstruction *instruction = lode_profile_instruction(profile, i);
		const LodeFunction *function = lode_profile_function(
			profile, instruction->function);
		const char *reason = unresolved_reason(self, function, &self->codes[i]);
		if (reason == NULL)
			continue;
		g_autofree char *example = reason != last_reason
		                                   ? unresolved_example(self, instruction)
		                                   : NULL;
		lode_profile_add_unresolved(profile, reason, example, instruction->count,
			lode_profile_event_value(profile, profile->code.weight_event, i));
		last_reason = reason;
	}
}

/* Accounts for rows that the recording's reader could not place. */
static void account_unplaced(LodeProfile *profile, const GArray *rows)
{
	for (guint i = 0; i < rows->len; i++) {
		LodeUnresolved row = g_array_index(rows, LodeUnresolved, i);
		row.reason = lode_profile_intern(profile, row.reason);
		row.example = lode_profile_intern(profile, row.example);
		g_array_append_val(profile->unresolved, row);
	}
}

/* No execution is lost by it, but source lines and inlined functions may be. */
static void account_broken_debug_information(LodeProfile *profile, const LodeJoinImages *images)
{
	for (size_t i = 0; i < images->n; i++) {
		const char *warning = images->binaries[i] != NULL
		                              ? lode_binary_image_warning(images->binaries[i])
		                              : NULL;
		if (warning != NULL)
			lode_profile_add_unresolved(
				profile, "broken debug information", warning, 0, 0);
	}
}

/* No execution is lost by it either, but names may be those of another build. */
static void account_notes(LodeProfile *profile, const LodeJoinImages *images)
{
	for (guint i = 0; i < images->code_images->len; i++) {
		uint32_t code = g_array_index(images->code_images, uint32_t, i);
		const char *note =
			code != LODE_NONE
				? lode_code_images_peek(images->context->code_images, code)->note
				: NULL;
		if (note != NULL && images->binaries[i] != NULL)
			lode_profile_add_unresolved(
				profile, "file not known to be the recorded one", note, 0, 0);
	}
}

void lode_join_account(LodeProfile *profile, const LodeRecording *recorded,
	const LodeJoinImages *images, const LodeJoinCode *codes)
{
	Accounting accounting = {profile, images, codes};

	account_unresolved(&accounting);
	account_unplaced(profile, recorded->unresolved);
	account_broken_debug_information(profile, images);
	account_notes(profile, images);
}

void lode_join_attributes(LodeProfile *profile, const LodeJoinImages *images,
	const LodeJoinRows *rows, const LodeJoinCode *codes, const LodeJoinObjects *objects)
{
	Naming naming = {.profile = profile,
		.images = images,
		.rows = rows,
		.codes = codes,
		.objects = objects};

	g_autoptr(LodeCodeChecks) checks = lode_code_checks_new();
	naming.checks = checks;
	lode_id_cache_init(&naming.sets);
	lode_id_cache_init(&naming.locations);
	lode_id_cache_init(&naming.pairs);
	name_images(&naming);
	lode_id_cache_clear(&naming.sets);
	lode_id_cache_clear(&naming.locations);
	lode_id_cache_clear(&naming.pairs);
}
