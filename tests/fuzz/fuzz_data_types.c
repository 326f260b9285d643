/* SPDX-License-Identifier: MIT */
/*
 * Feeds hostile debug information to the search for types and variables: asks about every memory
 * operand of the first functions, and about types by name. The bytes are an ELF file.
 */
#include "images/types/data_types.h"
#include "model/data_type.h"
#include "model/profile.h"

#include "fuzz_target.h"

enum {
	MAX_IMAGE_SIZE = 1 << 20,
	MAX_FUNCTIONS = 24,
	MAX_CODE = 2048,
	MAX_OPERANDS = 4,
};

/* A reference must lie in the tables, and have a text. */
static void check_reference(const LodeDataTypes *types, const LodeDataReference *reference)
{
	const GArray *all = lode_data_types_types(types);
	g_autofree char *text = lode_data_reference_text(types, reference);
	const LodeDataType *type;

	g_assert(text != NULL);
	if (reference->type == LODE_NONE)
		return;
	g_assert(reference->type < all->len);
	type = &g_array_index(all, LodeDataType, reference->type);
	g_assert(g_utf8_validate(type->name, -1, NULL));
	g_assert(type->first_member + type->n_members <= lode_data_types_members(types)->len);
	g_assert(reference->member == LODE_NONE ||
		 reference->member - type->first_member < type->n_members);
}

static void ask_function(
	LodeDataTypes *types, const LodeControlFlow *flow, const LodeControlFlow *asked)
{
	for (guint i = 0; i < asked->instructions->len; i++) {
		uint64_t address =
			g_array_index(asked->instructions, LodeStaticInstruction, i).address;
		LodeDataReference reference;

		for (uint8_t operand = 0; operand < MAX_OPERANDS; operand++)
			if (lode_data_types_find(types, address, operand, flow, &reference))
				check_reference(types, &reference);
	}
}

static void ask(LodeBinaryImage *image, LodeDataTypes *types)
{
	size_t n;
	const LodeBinaryFunction *functions = lode_binary_image_functions(image, &n);
	g_auto(LodeControlFlow) flow = {0};

	lode_control_flow_init(&flow);
	for (size_t i = 0; i < n && i < MAX_FUNCTIONS; i++) {
		size_t n_bytes = 0;
		const uint8_t *bytes = lode_binary_image_bytes(
			image, functions[i].address, &n_bytes);

		if (bytes == NULL) /* another machine's */
			continue;
		lode_control_flow_build(&flow, bytes, (size_t)MIN(functions[i].size, MAX_CODE),
			functions[i].address, NULL);
		ask_function(types, i % 4 == 3 ? NULL : &flow, &flow);
	}
	lode_data_types_find_name(types, "node");
	lode_data_types_find_name(types, "struct body");
	lode_data_types_find_name(types, "geo::box<double>");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	LodeBinaryImageOptions options = {.debug_directory = "/nonexistent"};
	g_autoptr(LodeBinaryImage) image = NULL;
	g_autoptr(LodeDataTypes) types = NULL;
	LodeDataSymbol symbol;

	if (size > MAX_IMAGE_SIZE)
		return 0;
	image = lode_binary_image_open(fuzz_file(data, size), &options, NULL);
	if (image == NULL)
		return 0;
	types = lode_data_types_new(image);
	if (types != NULL)
		ask(image, types);
	lode_binary_image_find_data_symbol(image, 0x4040, &symbol);
	return 0;
}
