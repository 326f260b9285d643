/* SPDX-License-Identifier: MIT */
#include "ingest/join/attributes/address_facts.h"

#include "model/code.h"
#include "model/memory.h"

enum { LINE = 64 };

/* The bytes of a structure that a function accesses. */
typedef struct {
	bool is_known;
	bool are_used[LODE_USED_MEMBERS_MAX_SIZE];
} Use;

struct LodeUsedMembers {
	const LodeProfile *profile;
	const LodeJoinCode *codes;
	const LodeJoinObjects *objects;
	GHashTable *uses; /* function and type → Use */
};

LodeUsedMembers *lode_used_members_new(
	const LodeProfile *profile, const LodeJoinCode *codes, const LodeJoinObjects *objects)
{
	LodeUsedMembers *self = g_new0(LodeUsedMembers, 1);

	self->profile = profile;
	self->codes = codes;
	self->objects = objects;
	self->uses = g_hash_table_new_full(g_direct_hash, NULL, NULL, g_free);
	return self;
}

void lode_used_members_free(LodeUsedMembers *self)
{
	if (self == NULL)
		return;
	g_hash_table_unref(self->uses);
	g_free(self);
}

int lode_used_bytes_of_line(const bool *are_used, uint32_t size, uint64_t offset, uint64_t address)
{
	/* of the line's first byte */
	uint64_t place = (offset + (uint64_t)size * LINE - address % LINE) % size;
	int n = 0;

	for (unsigned i = 0; i < LINE; i++)
		n += are_used[(place + i) % size];
	return n;
}

/* Whether an instruction accesses memory of which nothing is known, or lets others do so. */
static bool is_unknown(const LodeJoinCode *code, const LodeJoinOperands *operands)
{
	uint32_t accesses = 1u << LODE_KIND_LOAD | 1u << LODE_KIND_STORE;

	if ((code->kinds & 1u << LODE_KIND_CALL) != 0)
		return true;
	return (code->kinds & accesses) != 0 && operands->numbers[0] == 0 &&
	       code->memory != 1u << LODE_MEMORY_STACK;
}

/* False: it is not known which part of the structure is accessed. */
static bool add_object(
	const LodeUsedMembers *self, const LodeOperandObject *object, uint32_t type, Use *use)
{
	const LodeMemory *memory = lode_memory_of(self->profile);

	if (object->type != type)
		return true;
	if (object->member >= memory->members->len)
		return false;
	const LodeDataMember *member = &LODE_AT(memory->members, LodeDataMember, object->member);
	if (member->stride != 0)
		return false;
	for (uint64_t i = 0; i < MIN(member->size, (uint64_t)LODE_USED_MEMBERS_MAX_SIZE); i++)
		if (member->offset < LODE_USED_MEMBERS_MAX_SIZE - i)
			use->are_used[member->offset + i] = true;
	return true;
}

static bool find_use(const LodeUsedMembers *self, uint32_t function, uint32_t type, Use *use)
{
	const LodeFunction *code = lode_profile_function(self->profile, function);

	for (uint32_t i = code->first_instruction;
		i < code->first_instruction + code->n_instructions; i++) {
		const LodeJoinOperands *operands = &LODE_AT(
			self->objects->operands, LodeJoinOperands, i);
		if (is_unknown(&self->codes[i], operands))
			return false;
		for (size_t k = 0; k < G_N_ELEMENTS(operands->numbers); k++)
			if (operands->numbers[k] != 0 &&
				!add_object(self,
					lode_memory_objects_at(
						self->objects->known, operands->numbers[k]),
					type, use))
				return false;
	}
	return true;
}

static const Use *use_of(LodeUsedMembers *self, uint32_t function, uint32_t type)
{
	gpointer key = GSIZE_TO_POINTER((gsize)function << 32 | type);
	Use *use = g_hash_table_lookup(self->uses, key);

	if (use != NULL)
		return use;
	use = g_new0(Use, 1);
	use->is_known = find_use(self, function, type, use);
	g_hash_table_insert(self->uses, key, use);
	return use;
}

int lode_used_members_of_line(LodeUsedMembers *self, const LodeMemorySample *sample)
{
	const LodeMemory *memory = lode_memory_of(self->profile);

	if (sample->object == LODE_NONE || sample->access_function == LODE_NONE ||
		self->objects->operands->len < lode_code_of(self->profile)->instructions->len)
		return -1;
	const LodeDataObject *object = &LODE_AT(memory->objects, LodeDataObject, sample->object);
	if (object->type == LODE_NONE || object->member == LODE_NONE)
		return -1;
	uint64_t size = LODE_AT(memory->types, LodeDataType, object->type).size;
	uint64_t offset = LODE_AT(memory->members, LodeDataMember, object->member).offset;
	if (size == 0 || size > LODE_USED_MEMBERS_MAX_SIZE || offset >= size)
		return -1;
	const Use *use = use_of(self, sample->access_function, object->type);
	return use->is_known ? lode_used_bytes_of_line(
				       use->are_used, (uint32_t)size, offset, sample->address)
	                     : -1;
}
