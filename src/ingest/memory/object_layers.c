/* SPDX-License-Identifier: MIT */
#include "ingest/memory/object_layers.h"

#include "base/arrays/hash.h"
#include "base/arrays/id_cache.h"
#include "model/index.h"
#include "model/memory.h"

#include <string.h>

struct LodeObjectLayers {
	LodeMemory *memory;
	LodeMemoryObjects *known;
	LodeCodeImages *images;
	LodeIdCache layers;  /* LodeLayers → object */
	GHashTable *objects; /* LodeDataObject → index + 1 */
};

static guint hash_object(const void *key)
{
	const LodeDataObject *object = key;
	uint64_t hash = lode_hash_append(object->site, (uint64_t)(uintptr_t)object->name);

	hash = lode_hash_append(hash, (uint64_t)(uintptr_t)object->variable);
	hash = lode_hash_append(hash, (uint64_t)(uintptr_t)object->mapping);
	return (guint)lode_hash_append(hash, (uint64_t)object->type << 32 | object->member);
}

/* Texts are the profile's, once each. */
static gboolean is_equal_object(const void *a, const void *b)
{
	const LodeDataObject *left = a, *right = b;

	return left->name == right->name && left->layer == right->layer &&
	       left->type == right->type && left->member == right->member &&
	       left->site == right->site && left->variable == right->variable &&
	       left->mapping == right->mapping;
}

LodeObjectLayers *lode_object_layers_new(
	LodeMemory *memory, LodeMemoryObjects *known, LodeCodeImages *images)
{
	LodeObjectLayers *self = g_new0(LodeObjectLayers, 1);

	self->memory = memory;
	self->known = known;
	self->images = images;
	lode_id_cache_init(&self->layers);
	self->objects = g_hash_table_new_full(hash_object, is_equal_object, g_free, NULL);
	return self;
}

void lode_object_layers_free(LodeObjectLayers *self)
{
	if (self == NULL)
		return;
	lode_id_cache_clear(&self->layers);
	g_hash_table_unref(self->objects);
	g_free(self);
}

static const LodeOperandObject *object_at(const LodeObjectLayers *self, uint32_t number)
{
	return number == 0 ? NULL : lode_memory_objects_at(self->known, number);
}

static bool has_members(const LodeObjectLayers *self, const LodeOperandObject *object)
{
	return object->type != LODE_NONE &&
	       LODE_AT(self->memory->types, LodeDataType, object->type).n_members > 0;
}

/* "char" alone says less than what the address is of. */
static bool is_plain(const LodeObjectLayers *self, const LodeOperandObject *object)
{
	return object->member == LODE_NONE && object->variable == NULL && !object->is_class &&
	       object->type != LODE_NONE && !has_members(self, object);
}

/* --- what lies there --- */

bool lode_object_layers_is_open(
	const LodeObjectLayers *self, const LodeLayers *layers, bool has_frame)
{
	const LodeOperandObject *operand = object_at(self, layers->operand_object);

	return operand == NULL || operand->variable == NULL || operand->type == LODE_NONE ||
	       has_frame || has_members(self, operand);
}

/* The number of the variable at the address itself; 0: none is known. */
static uint32_t find_variable(
	LodeObjectLayers *self, const LodeAccessedAddress *place, const LodeAccessShape *shape)
{
	uint32_t number = 0;
	uint64_t offset;

	if (place->load_image != LODE_NONE)
		return lode_memory_objects_find_static(
			self->known, place->load_image, place->load_address, shape);
	if (place->image == LODE_NONE)
		return 0;
	if (place->frame.has_frame)
		number = lode_memory_objects_find_local(
			self->known, place->image, &place->frame.frame, shape);
	LodeBinaryImage *binary = lode_code_images_at(self->images, place->image)->binary;
	if (number == 0 && binary != NULL &&
		lode_binary_image_thread_local_offset(
			binary, place->frame.from_thread_pointer, &offset))
		number = lode_memory_objects_find_thread_local(
			self->known, place->image, offset, shape);
	return number;
}

/* The allocation of the block at the address. */
static uint32_t find_allocated(
	LodeObjectLayers *self, const LodeAccessedAddress *place, const LodeAccessShape *shape)
{
	const LodeAllocation *allocation = place->allocation;

	if (allocation == NULL || place->call == NULL || place->address < allocation->address)
		return 0;
	const LodeAllocatedPlace allocated = {place->call->return_address, allocation->size,
		place->address - allocation->address};
	return lode_memory_objects_find_allocated(
		self->known, place->call->image, &allocated, shape);
}

/* The path of an object's member in its type: "items[].x"; NULL: it has none. */
static const char *path_of(const LodeObjectLayers *self, const LodeOperandObject *object)
{
	return object->member == LODE_NONE
	               ? NULL
	               : LODE_AT(self->memory->members, LodeDataMember, object->member).name;
}

/* Whether a path ends in another one: "items[].x" in "x". */
static bool ends_in(const char *path, const char *end)
{
	size_t length = strlen(path), n = strlen(end);

	return n <= length && strcmp(path + length - n, end) == 0 &&
	       (n == length || path[length - n - 1] == '.');
}

/* Whether the type of an object has a member with the same name as that of a second one. */
static bool has_member_of(const LodeObjectLayers *self, const LodeOperandObject *object,
	const LodeOperandObject *other)
{
	const LodeDataType *type = &LODE_AT(self->memory->types, LodeDataType, object->type);
	const char *path = path_of(self, other);

	for (uint32_t i = 0; path != NULL && i < type->n_members; i++)
		if (ends_in(LODE_AT(self->memory->members, LodeDataMember, type->first_member + i)
				    .name,
			    path))
			return true;
	return false;
}

/*
 * Whether the address shows a different member than the instruction does, and is right: the type is
 * the same; or the variable is declared so and has a whole member there; or likewise the block is
 * allocated for a type that has the structure of the instruction's in it. A block may be used for
 * other types than the one that it is first given to, and a variable may be mere room for others.
 */
static bool is_overruled(const LodeObjectLayers *self, const LodeOperandObject *operand,
	const LodeOperandObject *place, bool is_allocated)
{
	const char *path = path_of(self, place), *claimed = path_of(self, operand);

	if (!has_members(self, place) || !has_members(self, operand))
		return false;
	if (place->type == operand->type)
		return true;
	if (!place->is_whole || path == NULL || (claimed != NULL && ends_in(path, claimed)))
		return false;
	return !is_allocated || has_member_of(self, place, operand);
}

void lode_object_layers_find(
	LodeObjectLayers *self, const LodeAccessedAddress *place, LodeLayers *inout_layers)
{
	LodeLayers *layers = inout_layers;
	LodeAccessShape shape = {.size = place->size};
	bool is_allocated = false;

	if (place->image != LODE_NONE)
		lode_memory_objects_use(
			self->known, place->image, place->pc, place->operand, &shape);
	if (lode_object_layers_is_open(self, layers, place->frame.has_frame))
		layers->place_object = find_variable(self, place, &shape);
	if (layers->place_object == 0) {
		layers->place_object = place->managed != 0 ? place->managed
		                                           : find_allocated(self, place, &shape);
		is_allocated = layers->place_object != 0;
	}
	/* looked up only now: objects that are added move the others */
	const LodeOperandObject *operand = object_at(self, layers->operand_object);
	const LodeOperandObject *found = object_at(self, layers->place_object);
	if (operand == NULL || found == NULL)
		return;
	/* an index may belong to either of two arrays on the stack: the address decides */
	if ((operand->variable != NULL && place->frame.has_frame && found->variable != NULL &&
		    strcmp(found->variable, operand->variable) != 0) ||
		is_overruled(self, operand, found, is_allocated))
		layers->operand_object = 0;
	else if (is_allocated && operand->type != LODE_NONE && !is_plain(self, operand))
		layers->place_object = 0;
}

/* --- its name --- */

/* Whether a mapping is one object: a file, a stack, shared memory. A heap, also that of a garbage
 * collector, or other memory has many. */
static bool is_one_object(const char *mapping)
{
	return strcmp(mapping, "[anon]") != 0 && strcmp(mapping, "[unknown]") != 0 &&
	       !g_str_has_suffix(mapping, "heap]");
}

/* The instruction's operand knows best, where it knows more than a plain type or a symbol; else the
 * variable at the address. */
static const LodeOperandObject *best_object(const LodeObjectLayers *self, const LodeLayers *layers)
{
	const LodeOperandObject *operand = object_at(self, layers->operand_object);
	const LodeOperandObject *place = object_at(self, layers->place_object);

	if (operand == NULL || place == NULL)
		return operand != NULL ? operand : place;
	if (operand->type == LODE_NONE || (is_plain(self, operand) && place->type != LODE_NONE))
		return place;
	return operand;
}

static LodeDataObject make_object(const LodeObjectLayers *self, const LodeLayers *layers)
{
	const LodeOperandObject *known = best_object(self, layers);
	const LodeOperandObject *place = object_at(self, layers->place_object);
	LodeDataObject object = {.layer = LODE_LAYER_MAPPING,
		.name = layers->mapping,
		.type = known != NULL ? known->type : LODE_NONE,
		.member = known != NULL ? known->member : LODE_NONE,
		.site = layers->site,
		.variable = known != NULL ? known->variable : NULL,
		.mapping = layers->mapping};

	if (object.variable == NULL && place != NULL)
		object.variable = place->variable;
	if (layers->site != LODE_NONE) {
		object.layer = LODE_LAYER_ALLOCATION;
		object.name = LODE_AT(self->memory->sites, LodeAllocationSite, layers->site).name;
	}
	if (object.variable != NULL) {
		object.layer = LODE_LAYER_VARIABLE;
		object.name = object.variable;
	}
	if (known == NULL || known->name == NULL ||
		(is_plain(self, known) &&
			(object.layer != LODE_LAYER_MAPPING || is_one_object(layers->mapping))))
		return object;
	object.layer = known->type != LODE_NONE ? LODE_LAYER_TYPE : LODE_LAYER_VARIABLE;
	object.name = known->name;
	return object;
}

/* One instruction may give the name of a variable and another not, so that different layers give
 * equal objects. */
static uint32_t add_object(LodeObjectLayers *self, const LodeLayers *layers)
{
	LodeDataObject object = make_object(self, layers);
	void *found = g_hash_table_lookup(self->objects, &object);

	if (found != NULL)
		return GPOINTER_TO_UINT(found) - 1;
	g_array_append_val(self->memory->objects, object);
	g_hash_table_insert(self->objects, g_memdup2(&object, sizeof(object)),
		GUINT_TO_POINTER(self->memory->objects->len));
	return self->memory->objects->len - 1;
}

uint32_t lode_object_layers_intern(LodeObjectLayers *self, const LodeLayers *layers)
{
	const LodeIdKey key = {{(uint64_t)layers->operand_object << 32 | layers->site,
		layers->place_object, (uint64_t)(uintptr_t)layers->mapping}};
	bool is_new;
	LodeIdSlot *slot = lode_id_cache_find(&self->layers, &key, &is_new);

	if (is_new)
		slot->id = add_object(self, layers);
	return slot->id;
}
