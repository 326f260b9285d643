/* SPDX-License-Identifier: MIT */
/*
 * The pre-aggregated profile of BOLT, of which perf2bolt makes its own form (-pa):
 *
 *   B from to count mispredictions     a jump or a call; 0: in another binary
 *   F from to count                    no jump: from the last instruction of a block to the next
 *
 * See llvm-project/bolt/include/bolt/Profile/DataAggregator.h.
 */
#include "model/code.h"
#include "views/export/compiler_profile.h"
#include "views/export/exported_binary.h"
#include "views/form/format.h"

typedef struct {
	const LodeProfile *profile;
	FILE *out;
	uint32_t image;
	double scale;
} Bolt;

/* Its address; 0 in another binary. */
static uint64_t address_of(const Bolt *self, uint32_t index)
{
	const LodeInstruction *instruction = lode_profile_instruction(self->profile, index);
	const LodeFunction *function = lode_profile_function(self->profile, instruction->function);

	return function->image == self->image ? instruction->address : 0;
}

static void write_row(const Bolt *self, char kind, uint64_t from, uint64_t to, double count)
{
	fprintf(self->out,
		"%c %" G_GINT64_MODIFIER "x %" G_GINT64_MODIFIER "x %" G_GUINT64_FORMAT "%s\n",
		kind, from, to, lode_exported_binary_scaled(count, self->scale),
		kind == 'B' ? " 0" : "");
}

/* Where a block ends and control goes on. */
static void write_falls(const Bolt *self)
{
	for (uint32_t i = 0; i + 1 < lode_code_of(self->profile)->instructions->len; i++) {
		const LodeInstruction *at = lode_profile_instruction(self->profile, i);
		bool is_end = at[1].block != at->block && at[1].function == at->function;
		uint64_t from = is_end && at->next_count > 0 ? address_of(self, i) : 0;
		if (from != 0)
			write_row(self, 'F', from, at[1].address, at->next_count);
	}
}

static void write_edges(const Bolt *self)
{
	const LodeCode *code = lode_code_of(self->profile);

	for (guint i = 0; i < code->edges->len; i++) {
		const LodeEdge *edge = &LODE_AT(code->edges, LodeEdge, i);
		uint64_t from = address_of(self, edge->source);
		uint64_t to = address_of(self, edge->target);
		bool is_fall = edge->kind == LODE_EDGE_FALL_THROUGH;
		if (edge->count <= 0 || edge->kind == LODE_EDGE_REPEAT || (from == 0 && to == 0))
			continue;
		if (!is_fall || (from != 0 && to > from))
			write_row(self, is_fall ? 'F' : 'B', from, to, edge->count);
	}
}

bool lode_bolt_profile_write(
	const LodeProfile *profile, const char *binary, FILE *out, GError **error)
{
	Bolt self = {
		.profile = profile,
		.out = out,
		.image = lode_exported_binary_choose(profile, binary, error),
		.scale = lode_exported_binary_scale(profile),
	};

	if (self.image == LODE_NONE)
		return false;
	g_autoptr(LodeBinaryImage) file = lode_exported_binary_open(profile, self.image, error);
	if (file == NULL)
		return false;
	write_edges(&self);
	write_falls(&self);
	return lode_view_flush(out, error);
}
