/* SPDX-License-Identifier: MIT */
/*
 * Go's runtime/map.go: types hmap and bmap, and which functions the compiler calls; the linker
 * makes the types hash<K,V> and bucket<K,V> of them (cmd/link/internal/ld/dwarf.go).
 */
#include "images/types/go_maps.h"

#include <string.h>

LodeGoMapRole lode_go_map_role(const char *function)
{
	static const char *const CALLED[] = {
		"mapaccess1", "mapaccess2", "mapassign", "mapdelete", "mapclear", "mapiterinit"};
	static const char *const INNER[] = {"mapaccessK", "growWork", "evacuate"};
	static const char PREFIX[] = "runtime.";

	if (function == NULL || !g_str_has_prefix(function, PREFIX))
		return LODE_GO_MAP_NONE;
	function += strlen(PREFIX);
	for (size_t i = 0; i < G_N_ELEMENTS(CALLED); i++)
		if (g_str_has_prefix(function, CALLED[i]))
			return g_str_has_suffix(function, "faststr")
			               ? LODE_GO_MAP_CALLED_FOR_STRINGS
			               : LODE_GO_MAP_CALLED;
	for (size_t i = 0; i < G_N_ELEMENTS(INNER); i++)
		if (g_str_has_prefix(function, INNER[i]))
			return LODE_GO_MAP_INNER;
	return LODE_GO_MAP_NONE;
}

static const LodeTypeField *field_of(LodeTypeTable *types, uint32_t type, const char *name)
{
	const GArray *fields = lode_type_table_fields(types, type);

	for (guint i = 0; fields != NULL && i < fields->len; i++) {
		const LodeTypeField *field = &g_array_index(fields, LodeTypeField, i);

		if (strcmp(field->name, name) == 0)
			return field;
	}
	return NULL;
}

/* The first member of an array that may be of structures: "values[]", "values[].x". */
static const LodeTypeField *array_of(LodeTypeTable *types, uint32_t type, const char *name)
{
	const GArray *fields = lode_type_table_fields(types, type);

	for (guint i = 0; fields != NULL && i < fields->len; i++) {
		const LodeTypeField *field = &g_array_index(fields, LodeTypeField, i);

		if (g_str_has_prefix(field->name, name))
			return field;
	}
	return NULL;
}

static bool is_aggregate(LodeTypeTable *types, uint32_t type)
{
	return type != LODE_NO_TYPE &&
	       lode_type_table_get(types, type)->kind == LODE_TYPE_AGGREGATE;
}

bool lode_go_map_find(
	const LodeFunctionContext *context, const LodeHeldValue *descriptor, LodeGoMap *out_map)
{
	enum { MAX_IN_BUCKET = 128 }; /* bytes of a value */
	const uint64_t address = (uint64_t)descriptor->offset;
	const GArray *sections = context->image->file->sections;
	LodeGoMapType type = {.map = LODE_NO_TYPE};

	if (descriptor->kind != LODE_HELD_VALUE_ADDRESS || context->types == NULL)
		return false;
	for (guint i = 0; i < sections->len; i++) {
		const LodeElfSection *section = &g_array_index(sections, LodeElfSection, i);

		if (section->address != 0 && address >= section->address &&
			address - section->address < section->size)
			lode_type_table_find_go_map(
				context->types, address - section->address, &type);
	}
	if (type.map == LODE_NO_TYPE)
		return false;
	out_map->header = lode_type_table_target(context->types, type.map);
	if (!is_aggregate(context->types, out_map->header))
		return false;
	const LodeTypeField *buckets = field_of(context->types, out_map->header, "buckets");
	if (buckets == NULL || buckets->type == LODE_NO_TYPE)
		return false;
	out_map->bucket = lode_type_table_target(context->types, buckets->type);
	out_map->value = type.value;
	out_map->has_values_elsewhere = type.value != LODE_NO_TYPE &&
	                                lode_type_table_size(context->types, type.value) >
	                                        MAX_IN_BUCKET;
	return is_aggregate(context->types, out_map->bucket);
}

const char *lode_go_map_owner(const LodeFunctionContext *context, const LodeDataPlace *place)
{
	const GArray *fields = lode_type_table_fields(context->types, place->type);

	for (guint i = 0; fields != NULL && i < fields->len; i++) {
		const LodeTypeField *field = &g_array_index(fields, LodeTypeField, i);

		if (place->offset < 0 || field->offset != (uint64_t)place->offset ||
			field->size != sizeof(uint64_t) ||
			!lode_type_table_is_go_map(context->types, field->type))
			continue;
		return lode_type_table_member_text(context->types, place->type, field);
	}
	return NULL;
}

LodeHeldValue lode_go_map_result(const LodeFunctionContext *context,
	const LodeHeldValue *descriptor, const LodeHeldValue *header, uint64_t target)
{
	static const char *const NAMES[] = {
		"runtime.mapaccess1", "runtime.mapaccess2", "runtime.mapassign"};
	LodeHeldValue value = {.kind = LODE_HELD_VALUE_NONE};
	const LodeBinaryFunction *function;
	const LodeTypeField *values;
	bool is_one = false;
	LodeGoMap map;

	if (descriptor->kind != LODE_HELD_VALUE_ADDRESS || target == 0)
		return value;
	function = lode_binary_image_find(&context->image->image, target);
	for (size_t i = 0; function != NULL && i < G_N_ELEMENTS(NAMES); i++)
		is_one |= function->address == target && function->symbol != NULL &&
		          g_str_has_prefix(function->symbol, NAMES[i]);
	if (!is_one || !lode_go_map_find(context, descriptor, &map))
		return value;
	values = array_of(context->types, map.bucket, "values");
	if (!map.has_values_elsewhere && values != NULL && values->offset <= INT32_MAX)
		return (LodeHeldValue){.kind = LODE_HELD_VALUE_POINTER,
			.type = map.bucket,
			.offset = (int64_t)values->offset,
			.variable = header->variable};
	if (map.has_values_elsewhere)
		return (LodeHeldValue){.kind = LODE_HELD_VALUE_POINTER,
			.type = map.value,
			.variable = header->variable};
	return value;
}

bool lode_go_map_member(const LodeFunctionContext *context, const LodeGoMap *map,
	const LodeGoMapView *view, uint32_t *out_type, const LodeTypeField **out_field)
{
	g_autofree char *key = NULL;

	*out_field = NULL;
	if (view->type == NULL && (!view->is_in_heap || view->is_of_strings))
		return false;
	*out_type = map->bucket;
	if (view->type == NULL)
		return true;
	if (strcmp(view->type, "struct runtime.hmap") == 0) {
		*out_type = map->header;
	} else if (strcmp(view->type, "struct runtime.stringStruct") == 0) {
		key = g_strconcat("keys[].", view->member, NULL);
		if (!view->is_in_heap || view->member == NULL)
			return false;
	} else if (strcmp(view->type, "struct runtime.bmap") != 0) {
		return false;
	}
	if (view->member != NULL)
		*out_field = field_of(context->types, *out_type, key != NULL ? key : view->member);
	return true;
}
