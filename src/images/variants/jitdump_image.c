/* SPDX-License-Identifier: MIT */
/* The units of a jitdump, each a function at the place where its bytes stand in the file. */
#include "images/elf/image_variant.h"

#include "base/arrays/partition_point.h"
#include "base/error.h"
#include "base/files/input_file.h"
#include "base/files/stream_decoder.h"
#include "images/code/control_flow.h"
#include "sources/code/jitdump.h"

#include <elf.h>

typedef struct {
	LodeBinaryImage image;
	LodeJitdump *dump;
} JitdumpImage;

static bool is_jitdump(const char *path, const char *head, size_t head_size)
{
	char start[8];
	size_t n;

	if (lode_stream_decoder_find((const uint8_t *)head, head_size) == NULL)
		return lode_jitdump_is_format(head, head_size);
	return lode_input_file_read_start(path, start, sizeof(start), &n, NULL) &&
	       lode_jitdump_is_format(start, n);
}

static GArray *functions_of(const LodeJitdump *dump)
{
	GArray *functions = g_array_sized_new(
		FALSE, FALSE, sizeof(LodeBinaryFunction), dump->units->len);

	for (guint i = 0; i < dump->units->len; i++) {
		const LodeJitUnit *unit = &g_array_index(dump->units, LodeJitUnit, i);
		LodeBinaryFunction function = {
			unit->code_offset, unit->size, unit->name, unit->name};

		g_array_append_val(functions, function);
	}
	return functions;
}

static char *warning_of(const LodeJitdump *dump)
{
	if (dump->is_truncated)
		return g_strdup_printf("%s: the dump is cut short", dump->path);
	if (dump->n_broken_lines > 0)
		return g_strdup_printf("%s: the source lines of %" G_GUINT64_FORMAT
				       " functions are broken",
			dump->path, (guint64)dump->n_broken_lines);
	return NULL;
}

static LodeBinaryImage *open_jitdump(
	const char *path, const LodeBinaryImageOptions *options, GError **error)
{
	g_autoptr(LodeJitdump) dump = lode_jitdump_open(path, error);
	JitdumpImage *self;

	(void)options;
	if (dump == NULL)
		return NULL;
	if (dump->elf_machine != EM_X86_64) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_UNSUPPORTED,
			"%s: not x86-64 code (ELF machine %u)", path, dump->elf_machine);
		return NULL;
	}
	self = g_new0(JitdumpImage, 1);
	self->image.functions = functions_of(dump);
	self->image.warning = warning_of(dump);
	self->dump = g_steal_pointer(&dump);
	return &self->image;
}

static void close_jitdump(LodeBinaryImage *image)
{
	lode_jitdump_close(((JitdumpImage *)image)->dump);
}

static const uint8_t *bytes_at(const LodeBinaryImage *image, uint64_t address, size_t *out_n)
{
	const LodeBinaryFunction *function = lode_binary_image_find(image, address);

	if (function == NULL)
		return NULL;
	*out_n = (size_t)(function->address + function->size - address);
	return ((const JitdumpImage *)image)->dump->data + address;
}

static bool has_lines(const LodeBinaryImage *image)
{
	return ((const JitdumpImage *)image)->dump->lines->len > 0;
}

/* The flow of the unit that is looked at. */
typedef struct {
	const LodeJitdump *dump;
	const LodeJitUnit *unit; /* NULL: none so far */
	LodeControlFlow flow;
} UnitFlow;

static void unit_flow_clear(UnitFlow *self)
{
	lode_control_flow_clear(&self->flow);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(UnitFlow, unit_flow_clear)

/* The instruction that holds a byte of the unit, at an offset; NULL: it does not decode. */
static const LodeStaticInstruction *instruction_at(UnitFlow *self, uint64_t offset)
{
	const GArray *found = self->flow.instructions;
	const LodeStaticInstruction *all = (const void *)found->data;
	uint64_t address = self->unit->code_offset + offset;
	size_t after = LODE_PARTITION_POINT(found->len, i, all[i].address <= address);

	return after > 0 && address < all[after - 1].address + all[after - 1].decoded.length
	               ? &all[after - 1]
	               : NULL;
}

static bool is_call(const LodeStaticInstruction *one)
{
	return one != NULL && (one->decoded.branch == LODE_BRANCH_CALL ||
				      one->decoded.branch == LODE_BRANCH_INDIRECT_CALL);
}

/* Whether a line of lode's agent, which is not the unit's last one, is that of the instruction at
 * an offset; `end`: where the next line begins. */
static bool is_described(UnitFlow *self, const LodeJitLine *line, uint64_t offset, uint64_t end)
{
	const LodeStaticInstruction *here = instruction_at(self, offset);
	const LodeStaticInstruction *last = instruction_at(self, end - 1);

	if (here == NULL || last == NULL)
		return false;
	if (line->discriminator == LODE_JIT_LINE_BACK)
		return here->block == last->block;
	return is_call(last) ? here == last : here == instruction_at(self, end);
}

/* The line of an instruction at an offset of the unit; NULL: none. */
static const LodeJitLine *line_at(UnitFlow *self, const LodeJitUnit *unit, uint64_t offset)
{
	const LodeJitLine *lines = (const LodeJitLine *)(const void *)self->dump->lines->data +
	                           unit->first_line;
	size_t low = LODE_PARTITION_POINT(unit->n_lines, i, lines[i].address <= offset);

	if (low == 0)
		return NULL;
	uint32_t kind = lines[low - 1].discriminator;
	if (kind != LODE_JIT_LINE_BACK && kind != LODE_JIT_LINE_HERE)
		return &lines[low - 1];
	if (self->unit != unit) {
		self->unit = unit;
		lode_control_flow_build(&self->flow, self->dump->data + unit->code_offset,
			(size_t)unit->size, unit->code_offset, NULL);
	}
	if (low < unit->n_lines && is_described(self, &lines[low - 1], offset, lines[low].address))
		return &lines[low - 1];
	/* The line before may describe the code that begins here. */
	if (kind == LODE_JIT_LINE_HERE && low > 1 &&
		is_described(self, &lines[low - 2], offset, lines[low - 1].address))
		return &lines[low - 2];
	return NULL;
}

/* A line and the calls that it was inlined by; `calls` may be NULL. */
static void tell(const LodeJitdump *dump, const LodeJitLine *line, size_t index,
	LodeBinaryLocation *out, GArray *calls)
{
	out->file = line->line > 0 ? line->file : NULL;
	out->line = line->line;
	for (uint32_t i = line->call; i != LODE_JIT_NO_CALL;) {
		const LodeJitCall *call = &g_array_index(dump->calls, LodeJitCall, i);
		const LodeInlinedCall inlined = {
			(uint32_t)index, call->function, call->file, call->line};
		if (i == line->call)
			out->inlined = call->function;
		out->caller_file = call->file;
		out->caller_line = call->line;
		if (calls != NULL)
			g_array_append_val(calls, inlined);
		i = call->outer;
	}
}

static void locate(LodeBinaryImage *image, const uint64_t *addresses, size_t n,
	LodeBinaryLocation *out_locations, GArray *calls)
{
	const LodeJitdump *dump = ((JitdumpImage *)image)->dump;
	const LodeBinaryFunction *first = (const void *)image->functions->data;
	g_auto(UnitFlow) flow = {.dump = dump};

	lode_control_flow_init(&flow.flow);
	for (size_t i = 0; i < n; i++) {
		const LodeBinaryFunction *function = lode_binary_image_find(image, addresses[i]);
		const LodeJitLine *line = NULL;

		/* functions are the units, one for one */
		if (function != NULL)
			line = line_at(&flow,
				&g_array_index(dump->units, LodeJitUnit, function - first),
				addresses[i] - function->address);
		out_locations[i] = (LodeBinaryLocation){0};
		if (line != NULL)
			tell(dump, line, i, &out_locations[i], calls);
	}
}

const LodeImageVariant lode_image_jitdump = {
	is_jitdump, open_jitdump, close_jitdump, bytes_at, has_lines, locate};
