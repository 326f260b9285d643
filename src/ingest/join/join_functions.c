/* SPDX-License-Identifier: MIT */
/*
 * Executed instructions → the functions that cover them: by the binary's bounds, and where it has
 * none by the name that callgrind recorded, one function for each run of addresses with that name.
 */
#include "base/large_array.h"
#include "ingest/join/join.h"

typedef struct {
	LodeJoin *join;
	const LodeBinaryFunction *functions; /* of the current image */
	size_t n_functions, next;
	uint32_t image;         /* LODE_NONE: not begun */
	uint32_t recorded_name; /* of the open function, where it is a recorded one */
	uint32_t function;      /* the open one */
	double recorded_count;  /* executions without bounds in this image */
	uint64_t recorded_places;
} Sweep;

static const LodeRecordedInstruction *row_of(const LodeJoin *join, const LodeJoinSite *site)
{
	return &g_array_index(join->recording->instructions, LodeRecordedInstruction, site->row);
}

static void begin_image(Sweep *self, uint32_t image)
{
	LodeJoin *join = self->join;
	uint32_t first = join->profile->functions->len;

	while (join->image_functions->len <= image)
		g_array_append_val(join->image_functions, first);
	self->image = image;
	self->next = 0;
	self->n_functions = 0;
	self->function = LODE_NONE;
	self->recorded_name = LODE_NONE;
	if (join->binaries[image] != NULL)
		self->functions = lode_binary_image_functions(
			join->binaries[image], &self->n_functions);
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
	g_array_append_vals(self->join->profile->functions, function, 1);
	return self->join->profile->functions->len - 1;
}

static uint32_t add_known_function(Sweep *self, const LodeBinaryFunction *known)
{
	LodeProfile *profile = self->join->profile;
	LodeFunction function = {
		.image = self->image,
		.source = known->symbol != NULL ? LODE_FUNCTION_SYMBOL : LODE_FUNCTION_UNWIND,
		.name = lode_profile_intern(profile, known->name),
		.symbol = known->symbol != NULL && g_strcmp0(known->symbol, known->name) != 0
	                          ? lode_profile_intern(profile, known->symbol)
	                          : NULL,
		.address = known->address,
		.size = known->size,
		.first_instruction = profile->instructions->len,
	};

	return add_function(self, &function);
}

static uint32_t add_recorded_function(Sweep *self, const LodeJoinSite *site, uint32_t name)
{
	LodeProfile *profile = self->join->profile;
	const GPtrArray *names = self->join->recording->names;
	LodeFunction function = {
		.image = self->image,
		.source = LODE_FUNCTION_RECORDED,
		.name = lode_profile_intern(
			profile, name < names->len ? names->pdata[name] : "???"),
		.address = site->address,
		.first_instruction = profile->instructions->len,
	};

	self->recorded_name = name;
	return add_function(self, &function);
}

static void choose_function(Sweep *self, const LodeJoinSite *site)
{
	const LodeBinaryFunction *known = covering(self, site->address);
	const LodeFunction *open = self->function != LODE_NONE
	                                   ? lode_profile_function(
						     self->join->profile, self->function)
	                                   : NULL;

	if (known != NULL) {
		if (open == NULL || open->source == LODE_FUNCTION_RECORDED ||
			open->address != known->address)
			self->function = add_known_function(self, known);
		return;
	}
	uint32_t name = row_of(self->join, site)->function;
	if (open == NULL || open->source != LODE_FUNCTION_RECORDED || self->recorded_name != name)
		self->function = add_recorded_function(self, site, name);
}

static double site_count(const LodeJoin *join, const LodeJoinSite *site)
{
	const LodeRecordedInstruction *row = row_of(join, site);

	return join->ir_column < row->n_values
	               ? join->recording->values[row->first_value + join->ir_column]
	               : 0;
}

static void add_instruction(Sweep *self, const LodeJoinSite *site)
{
	LodeProfile *profile = self->join->profile;
	LodeInstruction instruction = {
		.address = site->address,
		.next_count = -1,
		.function = self->function,
		.block = LODE_NONE,
		.location = LODE_NONE,
	};
	LodeFunction *function = lode_profile_function(profile, self->function);

	g_array_append_val(self->join->first_rows, self->join->rows->len);
	g_array_append_val(profile->instructions, instruction);
	function->n_instructions++;
	/* Recorded bounds are what executed; decoding completes them by the last length. */
	if (function->source == LODE_FUNCTION_RECORDED)
		function->size = site->address - function->address + 1;
}

static void sweep_site(Sweep *self, const LodeJoinSite *site, bool is_new)
{
	LodeJoin *join = self->join;
	GArray *instructions = join->profile->instructions;

	if (site->image != self->image)
		begin_image(self, site->image);
	if (is_new) {
		choose_function(self, site);
		add_instruction(self, site);
	}
	g_array_append_val(join->rows, site->row);
	LODE_AT(instructions, LodeInstruction, instructions->len - 1).count += site_count(
		join, site);
}

static void replace_array(GArray **array, size_t element_size, size_t n)
{
	g_array_unref(*array);
	*array = lode_large_array_new(element_size, n);
}

bool lode_join_functions(LodeJoin *self, GError **error)
{
	Sweep sweep = {.join = self, .image = LODE_NONE, .function = LODE_NONE};
	const GArray *sites = self->sites;
	uint32_t end;

	(void)error;
	replace_array(&self->profile->instructions, sizeof(LodeInstruction), sites->len);
	replace_array(&self->rows, sizeof(uint32_t), sites->len);
	replace_array(&self->first_rows, sizeof(uint32_t), (size_t)sites->len + 1);
	for (guint i = 0; i < sites->len; i++) {
		const LodeJoinSite *site = &g_array_index(sites, LodeJoinSite, i);
		bool is_new = i == 0 || site[-1].image != site->image ||
		              site[-1].address != site->address;
		sweep_site(&sweep, site, is_new);
	}
	end = self->rows->len;
	g_array_append_val(self->first_rows, end);
	end = self->profile->functions->len;
	while (self->image_functions->len <= self->profile->images->len)
		g_array_append_val(self->image_functions, end);
	g_clear_pointer(&self->sites, g_array_unref);
	return true;
}
