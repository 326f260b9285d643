/* SPDX-License-Identifier: MIT */
#include "ingest/windows/window_visitors.h"

#include "images/instructions/register_use.h"
#include "ingest/windows/window_facts.h"

#include <string.h>

enum {
	RAX = 0,
	RSP = 4,
	N_ARGUMENTS = 6,
	N_VECTORS = 8,   /* xmm0 … xmm7 */
	MAX_FRAMES = 32, /* calls in each other; of more the outermost are not followed */
};

static const uint8_t arguments[N_ARGUMENTS] = {7, 6, 2, 1, 8, 9}; /* rdi, rsi, rdx, rcx, r8, r9 */

/* Bits of arguments: the general registers above, then xmm0 … xmm7. */
enum { GENERAL = (1 << N_ARGUMENTS) - 1 };

/* An instruction's. */
typedef struct {
	uint16_t reads, writes; /* bits of arguments */
	bool is_known;
	uint32_t site; /* 1 + its number among the places of calls; 0: none yet */
} Use;

/* Two calls one after the other from one place, by which of their registers were equal (bits of
 * arguments; 0 where they went to different places): which ones are arguments is known at the end.
 */
typedef struct {
	uint32_t n[GENERAL + 1];
	uint32_t n_returned[GENERAL + 1];    /* of them: both returned */
	uint32_t n_same_result[GENERAL + 1]; /* of these */
} Pairs;

/* A place of calls, and the last call from it. */
typedef struct {
	Pairs *pairs;  /* NULL: none yet */
	uint16_t read; /* bits of arguments, by any of its calls */
	bool has_returned;

	uint32_t n;       /* calls, counted modulo 2³² */
	uint32_t stretch; /* of the last call; 0: there was none */
	uint64_t callee;
	uint64_t values[N_ARGUMENTS];
	uint64_t result;
	bool is_frequent, is_ended; /* is_ended: `result` is known */
} Site;

/* A call that has not returned. */
typedef struct {
	uint32_t site, n; /* which of the site's calls */
	uint64_t stack, after;
	uint16_t written; /* bits of arguments */
	/* Compared with the call before it: */
	bool is_compared, has_result;
	uint8_t equal; /* registers */
	uint64_t result;
} Frame;

struct LodeWindowCalls {
	GArray *facts; /* borrowed: LodeObservedInstruction by code */
	GArray *uses;  /* Use by code */
	GArray *sites; /* Site */
	Frame frames[MAX_FRAMES];
	unsigned n_frames;
	uint32_t stretch; /* counts: what is executed with nothing unknown in between */
};

static void clear_site(void *data)
{
	g_clear_pointer(&((Site *)data)->pairs, g_free);
}

LodeWindowCalls *lode_window_calls_new(GArray *facts)
{
	LodeWindowCalls *self = g_new0(LodeWindowCalls, 1);

	self->facts = facts;
	self->uses = g_array_new(FALSE, TRUE, sizeof(Use));
	self->sites = g_array_new(FALSE, TRUE, sizeof(Site));
	g_array_set_clear_func(self->sites, clear_site);
	return self;
}

void lode_window_calls_free(LodeWindowCalls *self)
{
	if (self == NULL)
		return;
	g_array_unref(self->uses);
	g_array_unref(self->sites);
	g_free(self);
}

static uint16_t argument_bits(LodeRegisterMask mask)
{
	unsigned bits = (unsigned)(mask >> LODE_BIT_VECTOR & ((1 << N_VECTORS) - 1)) << N_ARGUMENTS;

	for (unsigned i = 0; i < N_ARGUMENTS; i++)
		bits |= (unsigned)(mask >> arguments[i] & 1) << i;
	return (uint16_t)bits;
}

static Use *use_of(LodeWindowCalls *self, const LodeSteppedCode *code)
{
	LodeRegisterUse registers;

	if (code->number >= self->uses->len)
		g_array_set_size(self->uses, code->number + 1);
	Use *use = &LODE_AT(self->uses, Use, code->number);
	if (use->is_known || code->decoded.length == 0 ||
		!lode_register_use_decode(
			&registers, code->bytes, code->n_bytes, code->place.address))
		return use;
	/* A part that stays as it was is of no use to the callee. */
	use->reads = argument_bits(registers.reads & ~registers.merges);
	use->writes = argument_bits(registers.writes);
	use->is_known = true;
	return use;
}

/* Ends the calls that the step shows to have returned: its stack is that from before the call. */
static void end_calls(LodeWindowCalls *self, const LodeWindowStep *step)
{
	uint64_t stack = step->registers[RSP];

	while (self->n_frames > 0 && stack >= self->frames[self->n_frames - 1].stack) {
		const Frame *frame = &self->frames[--self->n_frames];
		/* Else it was left by a jump out of it. */
		if (stack != frame->stack || step->address != frame->after)
			continue;
		Site *site = &LODE_AT(self->sites, Site, frame->site);
		uint64_t result = step->registers[RAX];
		site->has_returned = true;
		if (frame->n == site->n) {
			site->is_ended = true;
			site->result = result;
		}
		if (!frame->is_compared || !frame->has_result)
			return;
		site->pairs->n_returned[frame->equal]++;
		site->pairs->n_same_result[frame->equal] += result == frame->result;
		return;
	}
}

static uint8_t equal_registers(const Site *site, const uint64_t values[N_ARGUMENTS])
{
	unsigned equal = 0;

	for (unsigned i = 0; i < N_ARGUMENTS; i++)
		equal |= (unsigned)(values[i] == site->values[i]) << i;
	return (uint8_t)equal;
}

static void begin_call(LodeWindowCalls *self, const LodeVisitedStep *step)
{
	Use *use = &LODE_AT(self->uses, Use, step->code->number);
	uint64_t values[N_ARGUMENTS];

	for (unsigned i = 0; i < N_ARGUMENTS; i++)
		values[i] = step->step->registers[arguments[i]];
	if (use->site == 0) {
		g_array_set_size(self->sites, self->sites->len + 1);
		use->site = self->sites->len;
	}
	Site *site = &LODE_AT(self->sites, Site, use->site - 1);
	Frame frame = {
		.site = use->site - 1,
		.n = ++site->n,
		.stack = step->step->registers[RSP],
		.after = step->step->address + step->code->decoded.length,
		.is_compared = site->stretch == self->stretch && site->is_frequent &&
	                       step->is_frequent,
		.has_result = site->is_ended,
		.result = site->result,
	};
	if (frame.is_compared) {
		if (site->pairs == NULL)
			site->pairs = g_new0(Pairs, 1);
		if (site->callee == step->next->address)
			frame.equal = equal_registers(site, values);
		site->pairs->n[frame.equal]++;
	}
	site->stretch = self->stretch;
	site->callee = step->next->address;
	memcpy(site->values, values, sizeof(values));
	site->is_frequent = step->is_frequent;
	site->is_ended = false;
	if (self->n_frames == MAX_FRAMES)
		memmove(self->frames, self->frames + 1, sizeof(Frame) * --self->n_frames);
	self->frames[self->n_frames++] = frame;
}

static void visit(void *data, const LodeVisitedStep *step)
{
	LodeWindowCalls *self = data;

	if ((step->window->flags & LODE_WINDOW_HAS_REGISTERS) == 0)
		return;
	const Use *use = step->code != NULL ? use_of(self, step->code) : NULL;
	if (step->index == 0 || step->step->is_gap || use == NULL || !use->is_known) {
		self->stretch++;
		self->n_frames = 0;
	}
	if (use == NULL || !use->is_known)
		return;
	if (step->has_registers)
		end_calls(self, step->step);
	for (unsigned i = 0; i < self->n_frames; i++) {
		Frame *frame = &self->frames[i];
		LODE_AT(self->sites, Site, frame->site).read |= (uint16_t)(use->reads &
									   ~frame->written);
		frame->written |= use->writes;
	}
	bool is_call = (step->code->decoded.kinds >> LODE_KIND_CALL & 1) != 0;
	if (is_call && step->has_registers && step->next != NULL)
		begin_call(self, step);
}

LodeWindowVisitor lode_window_calls_visitor(LodeWindowCalls *self)
{
	return (LodeWindowVisitor){visit, self};
}

static void add_pairs(const Site *site, LodeObservedInstruction *facts)
{
	for (unsigned equal = 0; equal <= GENERAL; equal++) {
		facts->calls.compared += site->pairs->n[equal];
		if ((site->read & ~equal) != 0)
			continue;
		facts->calls.same_arguments += site->pairs->n[equal];
		facts->calls.compared_results += site->pairs->n_returned[equal];
		facts->calls.same_results += site->pairs->n_same_result[equal];
	}
}

void lode_window_calls_finish(const LodeWindowCalls *self)
{
	for (guint i = 0; i < self->uses->len; i++) {
		uint32_t number = LODE_AT(self->uses, Use, i).site;
		if (number == 0)
			continue;
		const Site *site = &LODE_AT(self->sites, Site, number - 1);
		if (site->pairs != NULL && site->has_returned && site->read != 0 &&
			(site->read & ~(unsigned)GENERAL) == 0)
			add_pairs(site, lode_window_facts_at(self->facts, i));
	}
}
