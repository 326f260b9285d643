/* SPDX-License-Identifier: MIT */
/*
 * Executed instructions → the functions that cover them: by the binary's bounds, and where it has
 * none by the name that callgrind recorded, one function for each run of addresses with that name.
 */
#include "base/arrays/large_array.h"
#include "ingest/join/join.h"
#include "model/profile.h"

typedef struct {
	LodeProfile *profile;
	const LodeJoinImages *images;
	const LodeRecording *recording;
	LodeJoinRows *rows;
	uint32_t count_column;
	const LodeBinaryFunction *functions; /* of the current image */
	size_t n_functions, next;
	uint32_t image;         /* LODE_NONE: not begun */
	uint32_t recorded_name; /* of the open function, where it is a recorded one */
	uint32_t function;      /* the open one */
} Sweep;

static const LodeRecordedInstruction *row_of(const Sweep *self, const LodeJoinSite *site)
{
	return &g_array_index(self->recording->instructions, LodeRecordedInstruction, site->row);
}

static void begin_image(Sweep *self, uint32_t image)
{
	self->image = image;
	self->next = 0;
	self->n_functions = 0;
	self->function = LODE_NONE;
	self->recorded_name = LODE_NONE;
	if (self->images->binaries[image] != NULL)
		self->functions = lode_binary_image_functions(
			self->images->binaries[image], &self->n_functions);
}

/* The binary's function around an address; addresses come ascending. */
static const LodeBinaryFunction *covering(Sweep *self, uint64_t address)
{
	while (self->next < self->n_functions &&
		self->functions[self->next].address + self->functions[self->next].size <= address)
		self->next++;
	if (self->next == self->n_functions || self->functions[self->next].address > address)
		return NULL;
	return &self->functions[self->next];
}

static uint32_t add_function(Sweep *self, const LodeFunction *function)
{
	g_array_append_vals(self->profile->code.functions, function, 1);
	return self->profile->code.functions->len - 1;
}

static uint32_t add_known_function(Sweep *self, const LodeBinaryFunction *known)
{
	LodeProfile *profile = self->profile;
	LodeFunction function = {
		.image = self->image,
		.source = known->symbol != NULL ? LODE_FUNCTION_SYMBOL : LODE_FUNCTION_UNWIND,
		.name = lode_profile_intern(profile, known->name),
		.symbol = known->symbol != NULL && g_strcmp0(known->symbol, known->name) != 0
	                          ? lode_profile_intern(profile, known->symbol)
	                          : NULL,
		.address = known->address,
		.size = known->size,
		.first_instruction = profile->code.instructions->len,
	};

	return add_function(self, &function);
}

static uint32_t add_recorded_function(Sweep *self, const LodeJoinSite *site, uint32_t name)
{
	LodeProfile *profile = self->profile;
	const GPtrArray *names = self->recording->names;
	LodeFunction function = {
		.image = self->image,
		.source = LODE_FUNCTION_RECORDED,
		.name = lode_profile_intern(
			profile, name < names->len ? names->pdata[name] : "???"),
		.address = site->address,
		.first_instruction = profile->code.instructions->len,
	};

	self->recorded_name = name;
	return add_function(self, &function);
}

/* A function that no binary bounds goes on as long as the recorded name stays the same. */
static void choose_function(Sweep *self, const LodeJoinSite *site)
{
	const LodeBinaryFunction *known = covering(self, site->address);
	const LodeFunction *open = self->function != LODE_NONE
	                                   ? lode_profile_function(self->profile, self->function)
	                                   : NULL;

	if (known != NULL) {
		if (open == NULL || open->source == LODE_FUNCTION_RECORDED ||
			open->address != known->address)
			self->function = add_known_function(self, known);
		return;
	}
	uint32_t name = row_of(self, site)->function;
	if (open == NULL || open->source != LODE_FUNCTION_RECORDED || self->recorded_name != name)
		self->function = add_recorded_function(self, site, name);
}

static double site_count(const Sweep *self, const LodeJoinSite *site)
{
	const LodeRecordedInstruction *row = row_of(self, site);

	return self->count_column < row->n_values
	               ? self->recording->values[row->first_value + self->count_column]
	               : 0;
}

static void add_instruction(Sweep *self, const LodeJoinSite *site)
{
	LodeProfile *profile = self->profile;
	LodeInstruction instruction = {
		.address = site->address,
		.next_count = -1,
		.function = self->function,
		.block = LODE_NONE,
		.location = LODE_NONE,
	};
	LodeFunction *function = lode_profile_function(profile, self->function);

	g_array_append_val(self->rows->first, self->rows->rows->len);
	g_array_append_val(profile->code.instructions, instruction);
	function->n_instructions++;
	/* Recorded bounds are what executed; decoding completes them by the last length. */
	if (function->source == LODE_FUNCTION_RECORDED)
		function->size = site->address - function->address + 1;
}

static void sweep_site(Sweep *self, const LodeJoinSite *site, bool is_new)
{
	GArray *instructions = self->profile->code.instructions;

	if (site->image != self->image)
		begin_image(self, site->image);
	if (is_new) {
		choose_function(self, site);
		add_instruction(self, site);
	}
	g_array_append_val(self->rows->rows, site->row);
	LODE_AT(instructions, LodeInstruction, instructions->len - 1).count += site_count(
		self, site);
}

void lode_join_functions(LodeProfile *profile, const LodeJoinImages *images,
	const LodeJoinPlaced *placed, uint32_t count_column, LodeJoinRows *out)
{
	guint n = placed->sites->len;
	Sweep sweep = {
		.profile = profile,
		.images = images,
		.recording = placed->recording,
		.rows = out,
		.count_column = count_column,
		.image = LODE_NONE,
		.function = LODE_NONE,
	};

	*out = (LodeJoinRows){
		.recording = placed->recording,
		.first = lode_large_array_new(sizeof(uint32_t), (size_t)n + 1),
		.rows = lode_large_array_new(sizeof(uint32_t), n),
	};
	g_array_unref(profile->code.instructions);
	profile->code.instructions = lode_large_array_new(sizeof(LodeInstruction), n);
	for (guint i = 0; i < n; i++) {
		const LodeJoinSite *site = &g_array_index(placed->sites, LodeJoinSite, i);
		bool is_new = i == 0 || site[-1].image != site->image ||
		              site[-1].address != site->address;
		sweep_site(&sweep, site, is_new);
	}
	g_array_append_val(out->first, out->rows->len);
}

void lode_join_rows_clear(LodeJoinRows *self)
{
	g_clear_pointer(&self->first, g_array_unref);
	g_clear_pointer(&self->rows, g_array_unref);
}
