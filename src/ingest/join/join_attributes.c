/* SPDX-License-Identifier: MIT */
/*
 * What each executed instruction is and where it comes from: attributes op, kind, mem, at, loop and
 * inl, and source locations. Then the account of what could not be resolved.
 */
#include "base/id_cache.h"
#include "ingest/join/join.h"

#include <string.h>

enum { MAX_ATTRIBUTES = 64 };

typedef struct {
	LodeJoin *join;
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
		self->ids[self->n_ids++] = lode_profile_attribute(self->join->profile, valid);
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

static LodeIdKey set_key(const LodeJoinCode *code, const char *inlined, uint32_t objects)
{
	uint64_t flags = (uint64_t)code->is_entry | (uint64_t)code->is_loop_head << 1 |
	                 (uint64_t)code->is_return_point << 2 | (uint64_t)capped_depth(code) << 3 |
	                 (uint64_t)(code->length > 0) << 5 | (uint64_t)objects << 32;

	return (LodeIdKey){{(uint64_t)code->kinds << 32 | (uint64_t)code->mnemonic << 16 |
				    (uint64_t)code->prefix << 8 | code->memory,
		flags, (uint64_t)(uintptr_t)inlined}};
}

/* An object of its own and, where it is a member, its type. */
static void add_objects(Naming *self, const LodeJoinObjects *objects)
{
	for (size_t i = 0; i < G_N_ELEMENTS(objects->numbers); i++) {
		if (objects->numbers[i] == 0)
			continue;
		const LodeOperandObject *object = lode_memory_objects_at(
			self->join->memory_objects, objects->numbers[i]);
		if (object->name != NULL)
			add_attribute(self, "obj", object->name);
		if (object->type_name != NULL)
			add_attribute(self, "obj", object->type_name);
	}
}

/* One number for what is accessed, 0 for nothing: pairs are few. */
static uint32_t object_pair(Naming *self, const LodeJoinObjects *objects)
{
	const LodeIdKey key = {{objects->numbers[0], objects->numbers[1], 0}};
	bool is_new;

	if (objects->numbers[0] == 0)
		return 0;
	LodeIdSlot *slot = lode_id_cache_find(&self->pairs, &key, &is_new);
	if (is_new)
		slot->id = ++self->n_pairs;
	return slot->id;
}

static uint32_t attribute_set(Naming *self, uint32_t instruction, const char *inlined)
{
	static const LodeJoinObjects nothing = {{0, 0}};
	const LodeJoinCode *code = &self->join->codes[instruction];
	const LodeJoinObjects *objects = instruction < self->join->objects->len
	                                         ? &g_array_index(self->join->objects,
							   LodeJoinObjects, instruction)
	                                         : &nothing;
	LodeIdKey key = set_key(code, inlined, object_pair(self, objects));
	bool is_new;
	LodeIdSlot *slot = lode_id_cache_find(&self->sets, &key, &is_new);

	if (is_new) {
		self->n_ids = 0;
		if (code->length > 0)
			add_decoded_attributes(self, code);
		add_position_attributes(self, code);
		if (inlined != NULL)
			add_attribute(self, "inl", inlined);
		add_objects(self, objects);
		slot->id = lode_profile_attribute_set(self->join->profile, self->ids, self->n_ids);
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
			self->join->profile, found->file, found->line, found->inlined);
	return slot->id;
}

/* What valgrind itself knew of the line. */
static LodeBinaryLocation recorded_location(const LodeJoin *join, uint32_t instruction)
{
	uint32_t first = g_array_index(join->first_rows, uint32_t, instruction);
	const LodeRecordedInstruction *row = &g_array_index(join->recording->instructions,
		LodeRecordedInstruction, g_array_index(join->rows, uint32_t, first));
	LodeBinaryLocation found = {0};

	if (row->line == 0 || row->file >= join->recording->names->len)
		return found;
	found.file = join->recording->names->pdata[row->file];
	found.line = row->line;
	return found;
}

static void locate_image(
	const LodeJoin *join, uint32_t image, uint32_t first, uint32_t n, LodeBinaryLocation *out)
{
	g_autofree uint64_t *addresses = g_new(uint64_t, n);

	for (uint32_t i = 0; i < n; i++)
		addresses[i] = lode_profile_instruction(join->profile, first + i)->address;
	lode_binary_image_locate(join->binaries[image], addresses, n, out);
}

static void name_image(Naming *self, uint32_t image, uint32_t first, uint32_t n)
{
	LodeJoin *join = self->join;
	LodeBinaryImage *binary = join->binaries[image];
	g_autofree LodeBinaryLocation *found = g_new0(LodeBinaryLocation, n);
	bool has_lines = binary != NULL && lode_binary_image_has_lines(binary);

	if (has_lines)
		locate_image(join, image, first, n, found);
	for (uint32_t i = 0; i < n; i++) {
		LodeInstruction *instruction = lode_profile_instruction(join->profile, first + i);
		if (!has_lines)
			found[i] = recorded_location(join, first + i);
		instruction->location = location(self, &found[i]);
		instruction->attribute_set = attribute_set(self, first + i, found[i].inlined);
	}
}

static void name_images(Naming *self)
{
	const LodeProfile *profile = self->join->profile;

	for (uint32_t i = 0; i < profile->images->len; i++) {
		uint32_t begin = g_array_index(self->join->image_functions, uint32_t, i);
		uint32_t end = g_array_index(self->join->image_functions, uint32_t, i + 1);
		if (begin == end)
			continue;
		uint32_t first = lode_profile_function(profile, begin)->first_instruction;
		const LodeFunction *last = lode_profile_function(profile, end - 1);
		name_image(self, i, first, last->first_instruction + last->n_instructions - first);
	}
}

static const char *unresolved_reason(
	const LodeJoin *join, const LodeFunction *function, const LodeJoinCode *code)
{
	if (lode_profile_image(join->profile, function->image)->kind == LODE_IMAGE_UNRESOLVED)
		return "address outside any known image";
	if (join->binaries[function->image] == NULL)
		return "no image file";
	if (function->code == NULL)
		return "no code at this address of the image";
	if (code->length == 0)
		return "bytes do not decode";
	return function->source == LODE_FUNCTION_RECORDED ? "no function bounds" : NULL;
}

static char *unresolved_example(const LodeJoin *join, const LodeInstruction *instruction)
{
	const LodeFunction *function = lode_profile_function(join->profile, instruction->function);
	const char *cause = join->open_errors[function->image];
	const char *path = lode_profile_image(join->profile, function->image)->path;

	if (cause != NULL)
		return g_strdup(cause);
	return g_strdup_printf(
		"0x%" G_GINT64_MODIFIER "x in %s (%s)", instruction->address, path, function->name);
}

/* Rows of `unresolved` are few, so that the reason's own search costs nothing; examples are made
 * once for each. */
static void account_unresolved(LodeJoin *join)
{
	const LodeProfile *profile = join->profile;
	const char *last_reason = NULL;

	for (uint32_t i = 0; i < profile->instructions->len; i++) {
		const LodeInstruction *instruction = lode_profile_instruction(profile, i);
		const LodeFunction *function = lode_profile_function(
			profile, instruction->function);
		const char *reason = unresolved_reason(join, function, &join->codes[i]);
		if (reason == NULL)
			continue;
		g_autofree char *example = reason != last_reason
		                                   ? unresolved_example(join, instruction)
		                                   : NULL;
		lode_profile_add_unresolved(join->profile, reason, example, instruction->count,
			lode_profile_event_value(profile, profile->weight_event, i));
		last_reason = reason;
	}
}

/* What the recording's reader could not place. */
static void account_unplaced(LodeJoin *join)
{
	const GArray *rows = join->recorded->unresolved;

	for (guint i = 0; i < rows->len; i++) {
		LodeUnresolved row = g_array_index(rows, LodeUnresolved, i);
		row.reason = lode_profile_intern(join->profile, row.reason);
		row.example = lode_profile_intern(join->profile, row.example);
		g_array_append_val(join->profile->unresolved, row);
	}
}

/* No execution is lost by it, but source lines and inlined functions may be. */
static void account_broken_debug_information(LodeJoin *join)
{
	for (size_t i = 0; i < join->n_binaries; i++) {
		const char *warning = join->binaries[i] != NULL
		                              ? lode_binary_image_warning(join->binaries[i])
		                              : NULL;
		if (warning != NULL)
			lode_profile_add_unresolved(
				join->profile, "broken debug information", warning, 0, 0);
	}
}

bool lode_join_attributes(LodeJoin *self, GError **error)
{
	Naming naming = {.join = self};

	(void)error;
	lode_id_cache_init(&naming.sets);
	lode_id_cache_init(&naming.locations);
	lode_id_cache_init(&naming.pairs);
	name_images(&naming);
	lode_id_cache_clear(&naming.sets);
	lode_id_cache_clear(&naming.locations);
	lode_id_cache_clear(&naming.pairs);
	account_unresolved(self);
	account_unplaced(self);
	account_broken_debug_information(self);
	return true;
}
