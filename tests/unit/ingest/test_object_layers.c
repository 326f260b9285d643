/* SPDX-License-Identifier: MIT */
/*
 * Functions that access one member each, at each address of variables and allocated blocks: whether
 * the address or the instruction gives the object, against a naive rule on the members' paths.
 */
#include "images/instructions/instruction_decoder.h"
#include "ingest/memory/object_layers.h"
#include "model/index.h"
#include "model/memory.h"
#include "model/profile.h"
#include "sampled_program.h"

#include <string.h>

enum { ACCESS_SIZE = 4, BLOCK_ELEMENTS = 4, MAX_OPERANDS = 4 };

/* The members as the source has them, each element of an array by itself. */
typedef struct {
	const char *structure, *path;
	uint64_t offset, size;
} Member;

static const Member MEMBERS[] = {
	{"struct inner", "x", 0, 4},
	{"struct inner", "y", 4, 4},
	{"struct outer", "id", 0, 4},
	{"struct outer", "in.x", 4, 4},
	{"struct outer", "in.y", 8, 4},
	{"struct outer", "low", 12, 2},
	{"struct outer", "high", 14, 2},
	{"struct outer", "many[].x", 16, 4},
	{"struct outer", "many[].y", 20, 4},
	{"struct outer", "many[].x", 24, 4},
	{"struct outer", "many[].y", 28, 4},
	{"struct outer", "many[].x", 32, 4},
	{"struct outer", "many[].y", 36, 4},
	{"struct other", "a", 0, 4},
	{"struct other", "b", 4, 4},
	{"struct other", "c", 8, 4},
	{"struct other", "x", 12, 4},
};

typedef struct {
	const char *function, *structure, *path;
} Access;

static const Access ACCESSES[] = {
	{"get_x", "struct inner", "x"},
	{"get_y", "struct inner", "y"},
	{"get_id", "struct outer", "id"},
	{"get_in_y", "struct outer", "in.y"},
	{"get_many_x", "struct outer", "many[].x"},
	{"get_a", "struct other", "a"},
	{"get_other_x", "struct other", "x"},
};

/* A variable, or the function that allocates a block of some. */
typedef struct {
	const char *name, *structure;
	uint64_t size;
	bool is_allocated;
	uint64_t rest; /* bytes of the block after the last whole element */
} Home;

static const Home HOMES[] = {
	{"whole", "struct outer", 40, false},
	{"alone", "struct inner", 8, false},
	{"apart", "struct other", 16, false},
	{"make_outer", "struct outer", 40, true},
	{"make_inner", "struct inner", 8, true},
	{"make_other", "struct other", 16, true},
	{"make_outer", "struct outer", 40, true, 12},
	{"make_other", "struct other", 16, true, 4},
};

typedef struct {
	SampledProgram program;
	LodeProfile *profile;
	LodeCodeImages *images;
	LodeMemoryObjects *known;
	LodeObjectLayers *layers;
	uint32_t image;
} Scene;

static void scene_init(Scene *self)
{
	sampled_program_open(&self->program, PROGRAM_MEMBERS);
	self->profile = lode_profile_new();
	self->profile->memory = lode_memory_new();
	self->images = lode_code_images_new(NULL, false);
	self->image = lode_code_images_add(
		self->images, &(LodeImageIdentity){.path = PROGRAM_MEMBERS});
	self->known = lode_memory_objects_new(self->profile, self->profile->memory, self->images);
	self->layers = lode_object_layers_new(self->profile->memory, self->known, self->images);
}

static void scene_clear(Scene *self)
{
	lode_object_layers_free(self->layers);
	lode_memory_objects_free(self->known);
	lode_code_images_free(self->images);
	lode_profile_free(self->profile);
	sampled_program_close(&self->program);
}

/* The operand by which a function accesses its member. */
static LodeAccessedAddress find_access(Scene *self, const Access *access, uint32_t *out_object)
{
	const LodeControlFlow *flow = lode_code_image_flow(
		lode_code_images_at(self->images, self->image),
		sampled_program_function(&self->program, access->function)->address);
	g_autofree char *name = g_strdup_printf("%s.%s", access->structure, access->path);

	for (guint i = 0; i < flow->instructions->len; i++) {
		uint64_t pc = LODE_AT(flow->instructions, LodeStaticInstruction, i).address;

		for (uint8_t operand = 0; operand < MAX_OPERANDS; operand++) {
			*out_object = lode_memory_objects_find(
				self->known, self->image, pc, operand);
			if (*out_object != 0 &&
				strcmp(lode_memory_objects_at(self->known, *out_object)->name,
					name) == 0)
				return (LodeAccessedAddress){.size = ACCESS_SIZE,
					.image = self->image,
					.pc = pc,
					.operand = operand,
					.load_image = LODE_NONE};
		}
	}
	g_error("no access to '%s' in '%s'", name, access->function);
}

static uint64_t variable_address(const Scene *self, const char *name)
{
	LodeDataSymbol symbol;

	for (uint64_t address = 0; address < 1 << 20; address += 4)
		if (lode_binary_image_find_data_symbol(self->program.image, address, &symbol) &&
			strcmp(symbol.name, name) == 0)
			return symbol.address;
	g_error("no variable '%s'", name);
}

/* Where the only call in a function returns to. */
static uint64_t return_address(const Scene *self, const char *name)
{
	const LodeBinaryFunction *function = sampled_program_function(&self->program, name);
	LodeDecodedInstruction decoded = {0};
	LodeInstructionDecoder decoder;

	lode_instruction_decoder_init(&decoder);
	for (uint64_t at = function->address; at < function->address + function->size;
		at += decoded.length) {
		size_t size;
		const uint8_t *code = lode_binary_image_bytes(self->program.image, at, &size);

		g_assert_true(lode_instruction_decoder_decode(&decoder, code, size, at, &decoded));
		if (decoded.branch == LODE_BRANCH_CALL)
			return at + decoded.length;
	}
	g_error("no call in '%s'", name);
}

/* Whether some member at an offset (or at any: UINT64_MAX) is the last part of a path. */
static bool has_member(const char *structure, const char *end, uint64_t offset)
{
	g_autofree char *inner = g_strdup_printf(".%s", end);
	bool is_found = false;

	for (size_t i = 0; i < G_N_ELEMENTS(MEMBERS); i++)
		is_found |= strcmp(MEMBERS[i].structure, structure) == 0 &&
		            (offset == UINT64_MAX || MEMBERS[i].offset == offset) &&
		            (strcmp(MEMBERS[i].path, end) == 0 ||
				    g_str_has_suffix(MEMBERS[i].path, inner));
	return is_found;
}

static bool is_whole(const char *structure, uint64_t offset)
{
	bool is_found = false;

	for (size_t i = 0; i < G_N_ELEMENTS(MEMBERS); i++)
		is_found |= strcmp(MEMBERS[i].structure, structure) == 0 &&
		            MEMBERS[i].offset == offset && MEMBERS[i].size == ACCESS_SIZE;
	return is_found;
}

static bool is_overruled(const Home *home, uint64_t offset, const Access *access)
{
	uint64_t inside = offset % home->size;

	/* a block is an array if its elements fill it, which only whole members confirm */
	if (offset >= home->size && (home->rest > 0 || !is_whole(home->structure, inside)))
		return false;
	if (strcmp(home->structure, access->structure) == 0)
		return true;
	return is_whole(home->structure, inside) &&
	       !has_member(home->structure, access->path, inside) &&
	       (!home->is_allocated || has_member(home->structure, access->path, UINT64_MAX));
}

static void check_home(Scene *self, const Home *home, LodeAccessedAddress at, uint32_t operand,
	const Access *access)
{
	const uint64_t BEGIN = 0x555500001000, size = home->size;
	const LodeAllocation allocation = {
		.address = BEGIN, .size = BLOCK_ELEMENTS * size + home->rest};
	const LodeAllocatingCall call = {
		self->image, home->is_allocated ? return_address(self, home->name) : 0};
	uint64_t begin = home->is_allocated ? BEGIN : variable_address(self, home->name);
	uint64_t n_bytes = home->is_allocated ? BLOCK_ELEMENTS * size : size;

	for (uint64_t offset = 0; offset < n_bytes; offset++) {
		LodeLayers layers = {.operand_object = operand, .site = LODE_NONE};
		bool is_expected = is_overruled(home, offset, access);

		if (offset % size > size - ACCESS_SIZE)
			continue;
		at.address = begin + offset;
		if (home->is_allocated) {
			at.allocation = &allocation;
			at.call = &call;
		} else {
			at.load_image = self->image;
			at.load_address = at.address;
		}
		lode_object_layers_find(self->layers, &at, &layers);
		if ((layers.operand_object == 0) != is_expected)
			g_test_fail_printf("%s, %s + %u: the %s must give the object",
				access->function, home->name, (unsigned)offset,
				is_expected ? "address" : "instruction");
		/* a block is for what the instruction says, unless it is overruled */
		if (home->is_allocated)
			g_assert_cmpint(layers.place_object != 0, ==, is_expected);
	}
}

static void test_overruled(void)
{
	Scene scene;

	scene_init(&scene);
	for (size_t i = 0; i < G_N_ELEMENTS(ACCESSES); i++) {
		uint32_t operand;
		LodeAccessedAddress at = find_access(&scene, &ACCESSES[i], &operand);

		for (size_t k = 0; k < G_N_ELEMENTS(HOMES); k++)
			check_home(&scene, &HOMES[k], at, operand, &ACCESSES[i]);
	}
	scene_clear(&scene);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/ingest/object_layers/overruled", test_overruled);
	return g_test_run();
}
