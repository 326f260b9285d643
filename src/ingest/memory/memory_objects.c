/* SPDX-License-Identifier: MIT */
/*
 * Answers are cached by (image, address, operand), since millions of samples are of some thousand
 * operands; equal answers get one number, and equal types of several images one row.
 */
#include "ingest/memory/memory_objects.h"

#include "base/arrays/id_cache.h"
#include "model/memory.h"
#include "model/profile.h"

#include <string.h>

struct LodeMemoryObjects {
	LodeProfile *profile;
	LodeMemory *memory;
	LodeCodeImages *images;
	LodeIdCache known;       /* Question without `allocated` → number */
	LodeIdCache steps;       /* (image, return address) → step_of_call() */
	LodeIdCache numbers;     /* an object's texts, type and member → number */
	GArray *objects;         /* LodeOperandObject */
	GHashTable *types;       /* a type as text → index + 1 */
	LodeIdCache image_types; /* (image, type) → index */
};

LodeMemoryObjects *lode_memory_objects_new(
	LodeProfile *profile, LodeMemory *memory, LodeCodeImages *images)
{
	LodeMemoryObjects *self = g_new0(LodeMemoryObjects, 1);

	self->profile = profile;
	self->memory = memory;
	self->images = images;
	lode_id_cache_init(&self->known);
	lode_id_cache_init(&self->steps);
	lode_id_cache_init(&self->numbers);
	lode_id_cache_init(&self->image_types);
	self->objects = g_array_new(FALSE, TRUE, sizeof(LodeOperandObject));
	self->types = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	return self;
}

void lode_memory_objects_free(LodeMemoryObjects *self)
{
	if (self == NULL)
		return;
	lode_id_cache_clear(&self->known);
	lode_id_cache_clear(&self->steps);
	lode_id_cache_clear(&self->numbers);
	lode_id_cache_clear(&self->image_types);
	g_array_unref(self->objects);
	g_hash_table_unref(self->types);
	g_free(self);
}

/* Types of several images are one when their layouts are. */
static char *type_key(const LodeDataType *type, const LodeDataMember *members)
{
	GString *key = g_string_new(type->name);

	g_string_append_printf(key, "\n%" G_GUINT64_FORMAT, type->size);
	for (uint32_t i = 0; i < type->n_members; i++)
		g_string_append_printf(key,
			"\n%s %s %" G_GUINT64_FORMAT " %" G_GUINT64_FORMAT " %" G_GUINT32_FORMAT
			" %" G_GUINT32_FORMAT " %" G_GUINT64_FORMAT " %" G_GUINT64_FORMAT,
			members[i].type, members[i].name, members[i].offset, members[i].size,
			members[i].bit_offset, members[i].bit_size, members[i].stride,
			members[i].repeats);
	return g_string_free(key, FALSE);
}

static uint32_t add_type(
	LodeMemoryObjects *self, const LodeDataType *type, const LodeDataMember *members)
{
	LodeMemory *memory = self->memory;
	LodeDataType added = {lode_profile_intern(self->profile, type->name), type->size,
		memory->members->len, type->n_members};

	for (uint32_t i = 0; i < type->n_members; i++) {
		LodeDataMember member = members[i];
		member.name = lode_profile_intern(self->profile, member.name);
		member.type = lode_profile_intern(self->profile, member.type);
		g_array_append_val(memory->members, member);
	}
	g_array_append_val(memory->types, added);
	return memory->types->len - 1;
}

static uint32_t intern_type(
	LodeMemoryObjects *self, const LodeDataType *type, const LodeDataMember *members)
{
	char *key = type_key(type, members);
	void *found = g_hash_table_lookup(self->types, key);

	if (found != NULL) {
		g_free(key);
		return GPOINTER_TO_UINT(found) - 1;
	}
	uint32_t id = add_type(self, type, members);
	g_hash_table_insert(self->types, key, GUINT_TO_POINTER(id + 1));
	return id;
}

static uint32_t profile_type(
	LodeMemoryObjects *self, uint32_t image, const LodeDataTypes *types, uint32_t index)
{
	const LodeIdKey key = {{image, index, 0}};
	bool is_new;
	LodeIdSlot *slot = lode_id_cache_find(&self->image_types, &key, &is_new);

	if (is_new) {
		const LodeDataType *type = &g_array_index(
			lode_data_types_types(types), LodeDataType, index);
		const GArray *members = lode_data_types_members(types);
		slot->id = intern_type(
			self, type, (const LodeDataMember *)members->data + type->first_member);
	}
	return slot->id;
}

static LodeOperandObject describe(LodeMemoryObjects *self, uint32_t image,
	const LodeDataTypes *types, const LodeDataReference *reference)
{
	g_autofree char *name = lode_data_reference_text(types, reference);
	LodeOperandObject object = {.name = lode_profile_intern(self->profile, name),
		.variable = lode_profile_intern(self->profile, reference->variable),
		.type = LODE_NONE,
		.member = LODE_NONE,
		.is_whole = reference->is_whole};

	if (reference->type == LODE_NONE)
		return object;
	object.type = profile_type(self, image, types, reference->type);
	const LodeDataType *type = &LODE_AT(self->memory->types, LodeDataType, object.type);
	if (reference->group != NULL)
		object.type_name = type->name;
	if (reference->member == LODE_NONE)
		return object;
	uint32_t first = g_array_index(lode_data_types_types(types), LodeDataType, reference->type)
	                         .first_member;
	/* Members are numbered by the image; of an equal type they stand in the same order. */
	object.member = type->first_member + (reference->member - first);
	object.type_name = type->name;
	return object;
}

/* The kind of a query. */
typedef enum {
	OF_OPERAND,
	OF_STATIC,
	OF_BASE,
	OF_THREAD_LOCAL,
	OF_FRAME,
	OF_ALLOCATED,
	OF_MAP,
	OF_USE, /* how the operand is used, instead of an object */
} QuestionKind;

typedef struct {
	QuestionKind kind;
	uint32_t image;
	uint32_t operand;   /* its number, of an operand; of a map what it is plainly, above the
	                       bits of the view */
	uint64_t address;   /* of the instruction, of the variable; of a frame the offset in it */
	uint64_t pc;        /* of a frame; where the call of an allocation returns to */
	uint64_t allocated; /* bytes of the allocation */
	LodeAccessShape shape;
} Question;

enum { MAP_IN_HEAP = 1, MAP_OF_STRINGS = 2, MAP_BITS = 2 };

static bool find_reference(LodeMemoryObjects *self, LodeDataTypes *types, const Question *question,
	LodeDataReference *out_reference)
{
	LodeCodeImage *image = lode_code_images_at(self->images, question->image);
	const LodeFramePlace frame = {.pc = question->pc, .offset = (int64_t)question->address};
	const LodeAllocatedPlace allocated = {question->pc, question->allocated, question->address};

	switch (question->kind) {
	case OF_OPERAND:
		return lode_data_types_find(types, question->address, (uint8_t)question->operand,
			lode_code_image_flow(image, question->address), out_reference);
	case OF_STATIC:
		return lode_data_types_find_static(
			types, question->address, &question->shape, out_reference);
	case OF_BASE:
		if (!lode_data_types_find_static(
			    types, question->address, &question->shape, out_reference))
			return false;
		out_reference->member = LODE_NONE;
		out_reference->group = NULL;
		out_reference->is_variable_named_first = out_reference->variable != NULL;
		return true;
	case OF_THREAD_LOCAL:
		return lode_data_types_find_thread_local(
			types, question->address, &question->shape, out_reference);
	case OF_MAP: {
		const LodeOperandObject *plain = question->operand >> MAP_BITS == 0
		                                         ? NULL
		                                         : lode_memory_objects_at(self,
								   question->operand >> MAP_BITS);
		LodeGoMapView view = {.return_address = question->address,
			.is_in_heap = (question->operand & MAP_IN_HEAP) != 0,
			.is_of_strings = (question->operand & MAP_OF_STRINGS) != 0};
		if (plain != NULL && plain->type != LODE_NONE) {
			const LodeDataType *type = &LODE_AT(
				self->memory->types, LodeDataType, plain->type);
			view.type = type->n_members > 0 ? type->name : NULL;
		}
		if (plain != NULL && plain->member != LODE_NONE)
			view.member =
				LODE_AT(self->memory->members, LodeDataMember, plain->member).name;
		return lode_data_types_find_map(types, &view,
			lode_code_image_flow(image, question->address - 1), out_reference);
	}
	case OF_ALLOCATED:
		return lode_data_types_find_allocated(types, &allocated, &question->shape,
			lode_code_image_flow(image, question->pc - 1), out_reference);
	default:
		return lode_data_types_find_local(types, &frame, &question->shape,
			lode_code_image_flow(image, frame.pc), out_reference);
	}
}

static uint32_t number_of(LodeMemoryObjects *self, const LodeOperandObject *object)
{
	const LodeIdKey key = {{(uint64_t)(uintptr_t)object->name,
		(uint64_t)(uintptr_t)object->variable << 2 | (uint64_t)object->is_class << 1 |
			object->is_whole,
		(uint64_t)object->type << 32 | object->member}};
	bool is_new;
	LodeIdSlot *slot = lode_id_cache_find(&self->numbers, &key, &is_new);

	if (is_new) {
		g_array_append_vals(self->objects, object, 1);
		slot->id = self->objects->len;
	}
	return slot->id;
}

enum { KIND_BITS = 3, FIRST_BITS = 6, USE_BITS = 16 };

/* How an access is used, without its size. */
static uint32_t packed_use(LodeAccessShape shape)
{
	return shape.kind | (uint32_t)shape.first_bit << KIND_BITS |
	       (uint32_t)shape.n_bits << (KIND_BITS + FIRST_BITS);
}

static uint32_t ask(LodeMemoryObjects *self, const Question *question)
{
	LodeCodeImage *code = lode_code_images_at(self->images, question->image);
	LodeDataTypes *types = lode_code_image_types(code);
	LodeDataReference reference = {0};

	if (types == NULL)
		return 0;
	if (question->kind == OF_USE)
		return packed_use(lode_data_types_use(types, question->address,
			(uint8_t)question->operand, lode_code_image_flow(code, question->address)));
	if (!find_reference(self, types, question, &reference))
		return 0;
	const LodeOperandObject object = describe(self, question->image, types, &reference);
	return number_of(self, &object);
}

/* Instructions are few; addresses may be as many as a trace has. */
static uint32_t find(LodeMemoryObjects *self, const Question *question)
{
	enum { MAX_KEPT = 1 << 20 };
	const bool is_few = question->kind == OF_OPERAND || question->kind == OF_USE ||
	                    question->kind == OF_MAP;
	const uint32_t shape = is_few ? question->operand
	                              : question->shape.size << USE_BITS |
	                                        packed_use(question->shape);
	const LodeIdKey key = {{(uint64_t)question->image << 32 | shape, question->address,
		question->pc << 3 | question->kind}};
	bool is_new;

	if (!is_few && self->known.n_used >= MAX_KEPT)
		return ask(self, question);
	LodeIdSlot *slot = lode_id_cache_find(&self->known, &key, &is_new);
	if (is_new)
		slot->id = ask(self, question);
	return slot->id;
}

uint32_t lode_memory_objects_find(
	LodeMemoryObjects *self, uint32_t image, uint64_t address, uint8_t operand)
{
	return find(self, &(Question){.kind = OF_OPERAND,
				  .image = image,
				  .address = address,
				  .operand = operand});
}

void lode_memory_objects_use(LodeMemoryObjects *self, uint32_t image, uint64_t address,
	uint8_t operand, LodeAccessShape *inout_shape)
{
	uint32_t use = find(self,
		&(Question){
			.kind = OF_USE, .image = image, .address = address, .operand = operand});

	inout_shape->kind = use & ((1 << KIND_BITS) - 1);
	inout_shape->first_bit = use >> KIND_BITS & ((1 << FIRST_BITS) - 1);
	inout_shape->n_bits = (uint8_t)(use >> (KIND_BITS + FIRST_BITS));
}

uint32_t lode_memory_objects_find_static(
	LodeMemoryObjects *self, uint32_t image, uint64_t address, const LodeAccessShape *shape)
{
	return find(self,
		&(Question){
			.kind = OF_STATIC, .image = image, .address = address, .shape = *shape});
}

uint32_t lode_memory_objects_find_base(LodeMemoryObjects *self, uint32_t image, uint64_t address)
{
	return find(self, &(Question){.kind = OF_BASE, .image = image, .address = address});
}

uint32_t lode_memory_objects_find_thread_local(
	LodeMemoryObjects *self, uint32_t image, uint64_t offset, const LodeAccessShape *shape)
{
	return find(self, &(Question){.kind = OF_THREAD_LOCAL,
				  .image = image,
				  .address = offset,
				  .shape = *shape});
}

uint32_t lode_memory_objects_find_local(LodeMemoryObjects *self, uint32_t image,
	const LodeFramePlace *place, const LodeAccessShape *shape)
{
	return find(self, &(Question){.kind = OF_FRAME,
				  .image = image,
				  .address = (uint64_t)place->offset,
				  .pc = place->pc,
				  .shape = *shape});
}

/* The bytes after which what a call allocates recurs; 0: nothing is known of it; UINT32_MAX: it
 * does not recur, or so far away that each place is asked about. */
static uint32_t step_of_call(LodeMemoryObjects *self, uint32_t image, uint64_t return_address)
{
	const LodeIdKey key = {{image, return_address, 0}};
	bool is_new;
	LodeIdSlot *slot = lode_id_cache_find(&self->steps, &key, &is_new);

	if (is_new) {
		LodeCodeImage *code = lode_code_images_at(self->images, image);
		LodeDataTypes *types = lode_code_image_types(code);
		uint64_t step = types == NULL
		                        ? 0
		                        : lode_data_types_allocated_step(types, return_address,
						  lode_code_image_flow(code, return_address - 1));

		slot->id = (uint32_t)MIN(step, UINT32_MAX);
	}
	return slot->id;
}

uint32_t lode_memory_objects_find_allocated(LodeMemoryObjects *self, uint32_t image,
	const LodeAllocatedPlace *place, const LodeAccessShape *shape)
{
	const uint64_t step = step_of_call(self, image, place->return_address);
	Question question = {.kind = OF_ALLOCATED,
		.image = image,
		.address = place->offset,
		.pc = place->return_address,
		.allocated = place->allocated,
		.shape = *shape};

	if (step == 0 || place->offset >= place->allocated)
		return 0;
	if (step == UINT32_MAX)
		return ask(self, &question);
	/* blocks are of many sizes: one of two elements, if they fill it, stands for all */
	if (place->offset >= step && place->allocated % step != 0)
		return 0;
	question.allocated = 2 * step;
	if (place->offset >= step)
		question.address = step + place->offset % step;
	return find(self, &question);
}

uint32_t lode_memory_objects_find_in_map(
	LodeMemoryObjects *self, uint32_t image, const LodeGoMapView *view, uint32_t plain)
{
	return find(
		self, &(Question){.kind = OF_MAP,
			      .image = image,
			      .address = view->return_address,
			      .operand = plain << MAP_BITS | (view->is_in_heap ? MAP_IN_HEAP : 0) |
	                                 (view->is_of_strings ? MAP_OF_STRINGS : 0)});
}

uint32_t lode_memory_objects_add_class(LodeMemoryObjects *self, const char *name, uint64_t size)
{
	char *text = lode_profile_intern(self->profile, name);
	const LodeDataType type = {.name = text, .size = size};
	const LodeOperandObject object = {.name = text,
		.type = intern_type(self, &type, NULL),
		.member = LODE_NONE,
		.is_class = true};

	return number_of(self, &object);
}

const LodeOperandObject *lode_memory_objects_at(const LodeMemoryObjects *self, uint32_t number)
{
	return &g_array_index(self->objects, LodeOperandObject, number - 1);
}
