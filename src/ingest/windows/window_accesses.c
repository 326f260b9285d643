/* SPDX-License-Identifier: MIT */
/*
 * Which accesses become samples is decided by a number for each, drawn by its ordinal: an operand
 * keeps those with the smallest ones. So any smaller number of them is a sample by chance, too, and
 * the choice is the same at each import.
 */
#include "ingest/windows/window_visitors.h"

#include "base/arrays/sort_order.h"
#include "base/error.h"
#include "images/data/stepped_access.h"
#include "ingest/memory/memory_reading.h"
#include "ingest/windows/access_visits.h"
#include "ingest/windows/recent_accesses.h"
#include "ingest/windows/window_facts.h"

#include <string.h>

enum { SAMPLES_OF_OPERAND = 64, SAMPLES_BETWEEN = 1 << 10 };

/* Steps before an access, from which on what was stored and used before it is taken for known: one
 * iteration of most loops. Bursts of few steps would tell of loads that no store came before. */
enum { LEAST_KNOWN_STEPS = 32 };

/* An access, and all that is needed to say what it is to. */
typedef struct {
	uint64_t chance, ordinal;
	uint64_t pc, time_ns, thread_pointer;
	uint64_t registers[LODE_WINDOW_REGISTERS];
	LodePlace place;
	uint32_t pid, tid, recording;
	LodeDataOperand operand;
	LodeAddressReason reason; /* NONE: its address is known */
	bool is_stack;
} Kept;

/* An operand in memory. */
typedef struct {
	GArray *kept; /* Kept, by `chance`; NULL: none */
	uint64_t n;
} Operand;

/* An instruction that accesses memory. */
typedef struct {
	LodeAccessFacts facts;
	Operand operands[LODE_MAX_STEPPED_OPERANDS];
	Operand unknown; /* of which it is not known where: one is kept */
} Row;

struct LodeWindowAccesses {
	GArray *facts;            /* borrowed */
	const LodePlaces *places; /* likewise */
	GPtrArray *rows;          /* Row, by the number of the code; NULL: none */
	LodeRecentAccesses recent;
	LodeLineVisits visits;
	uint32_t stretch;     /* counts: what is executed without a gap */
	uint32_t n_steps;     /* in all windows, rounds too… */
	uint32_t known_since; /* …since which all accesses of this window are known */
	uint64_t n_accesses;
	uint32_t n_of_operand; /* most that are kept */
	uint32_t n_kept;
};

static void clear_operand(Operand *self)
{
	g_clear_pointer(&self->kept, g_array_unref);
}

static void free_row(void *data)
{
	Row *self = data;

	if (self == NULL)
		return;
	lode_access_facts_clear(&self->facts);
	for (unsigned i = 0; i < LODE_MAX_STEPPED_OPERANDS; i++)
		clear_operand(&self->operands[i]);
	clear_operand(&self->unknown);
	g_free(self);
}

LodeWindowAccesses *lode_window_accesses_new(GArray *facts, const LodePlaces *places)
{
	LodeWindowAccesses *self = g_new0(LodeWindowAccesses, 1);

	self->facts = facts;
	self->places = places;
	self->rows = g_ptr_array_new_with_free_func(free_row);
	self->n_of_operand = SAMPLES_OF_OPERAND;
	lode_line_visits_init(&self->visits);
	return self;
}

void lode_window_accesses_free(LodeWindowAccesses *self)
{
	if (self == NULL)
		return;
	g_ptr_array_unref(self->rows);
	lode_line_visits_clear(&self->visits);
	g_free(self);
}

static Row *row_at(LodeWindowAccesses *self, uint32_t number)
{
	if (number >= self->rows->len)
		g_ptr_array_set_size(self->rows, (gint)number + 1);
	if (self->rows->pdata[number] == NULL)
		self->rows->pdata[number] = g_new0(Row, 1);
	return self->rows->pdata[number];
}

/* --- samples --- */

/* The same number for an ordinal at each import (splitmix64). */
static uint64_t draw(uint64_t ordinal)
{
	ordinal = (ordinal + 1) * UINT64_C(0x9e3779b97f4a7c15);
	ordinal = (ordinal ^ ordinal >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	ordinal = (ordinal ^ ordinal >> 27) * UINT64_C(0x94d049bb133111eb);
	return ordinal ^ ordinal >> 31;
}

static Kept new_kept(const LodeWindowAccesses *self, const LodeVisitedStep *step,
	const LodeDataOperand *operand, uint64_t chance)
{
	Kept kept = {
		.chance = chance,
		.ordinal = self->n_accesses,
		.pc = step->step->address,
		.time_ns = step->window->begin_ns,
		.thread_pointer = step->window->thread_pointer,
		.place = step->code->place,
		.pid = step->pid,
		.tid = step->window->tid,
		.recording = lode_places_selected(self->places),
		.operand = *operand,
	};

	memcpy(kept.registers, step->step->registers, sizeof(kept.registers));
	return kept;
}

static void keep_at_most(LodeWindowAccesses *self, Operand *operand, uint32_t most)
{
	if (operand->kept == NULL || operand->kept->len <= most)
		return;
	self->n_kept -= operand->kept->len - most;
	g_array_set_size(operand->kept, most);
}

static void make_room(LodeWindowAccesses *self)
{
	self->n_of_operand /= 2;
	for (guint i = 0; i < self->rows->len; i++) {
		Row *row = self->rows->pdata[i];
		for (unsigned k = 0; row != NULL && k < LODE_MAX_STEPPED_OPERANDS; k++)
			keep_at_most(self, &row->operands[k], self->n_of_operand);
	}
}

static void insert(LodeWindowAccesses *self, Operand *operand, const Kept *kept)
{
	guint i;

	if (operand->kept == NULL)
		operand->kept = g_array_new(FALSE, FALSE, sizeof(Kept));
	for (i = operand->kept->len; i > 0; i--)
		if (LODE_AT(operand->kept, Kept, i - 1).chance < kept->chance)
			break;
	g_array_insert_vals(operand->kept, i, kept, 1);
	self->n_kept++;
}

static void add_sample(LodeWindowAccesses *self, Operand *operand, const LodeVisitedStep *step,
	const LodeDataOperand *accessed, bool is_stack)
{
	uint64_t chance = draw(self->n_accesses++);
	const GArray *kept = operand->kept;

	operand->n++;
	if (kept != NULL && kept->len >= self->n_of_operand &&
		LODE_AT(kept, Kept, kept->len - 1).chance < chance)
		return;
	Kept added = new_kept(self, step, accessed, chance);
	added.is_stack = is_stack;
	insert(self, operand, &added);
	keep_at_most(self, operand, self->n_of_operand);
	if (self->n_kept > LODE_WINDOW_SAMPLES && self->n_of_operand > 1)
		make_room(self);
}

/* One stands for all. */
static void add_unknown(LodeWindowAccesses *self, Operand *unknown, const LodeVisitedStep *step,
	const LodeSteppedAccess *access)
{
	unknown->n++;
	if (unknown->kept != NULL)
		return;
	Kept added = new_kept(self, step, &access->unknown, 0);
	added.reason = access->reason;
	insert(self, unknown, &added);
}

/* --- facts --- */

static void forget(LodeWindowAccesses *self)
{
	lode_recent_accesses_forget(&self->recent);
	self->known_since = self->n_steps;
}

static void add_facts(LodeWindowAccesses *self, Row *row, LodeObservedInstruction *facts,
	const LodeDataOperand *operand, bool is_conflict)
{
	bool is_whole;
	const LodeRecentStore *store = (operand->access & LODE_ACCESS_LOAD) != 0
	                                       ? lode_recent_accesses_find_store(&self->recent,
							 operand->address, operand->size,
							 self->n_steps, &is_whole)
	                                       : NULL;

	lode_access_facts_add(&row->facts, facts, operand->address, operand->size, self->stretch);
	if (self->n_steps - self->known_since < LEAST_KNOWN_STEPS) {
		facts->early_accesses++;
		return;
	}
	facts->loads.conflicting += is_conflict;
	if (store == NULL)
		return;
	uint32_t steps = self->n_steps - store->step;
	facts->loads.stored += is_whole;
	facts->loads.part_stored += !is_whole;
	facts->loads.store_steps = facts->loads.store_steps == 0
	                                   ? steps
	                                   : MIN(facts->loads.store_steps, steps);
}

static void visit_operands(LodeWindowAccesses *self, Row *row, const LodeVisitedStep *step,
	const LodeSteppedAccess *access)
{
	LodeObservedInstruction *facts = lode_window_facts_at(self->facts, step->code->number);

	for (unsigned i = 0; i < access->n_operands; i++) {
		const LodeDataOperand *operand = &access->operands[i];
		bool is_stack = access->is_stack && i + 1u == access->n_operands;
		bool is_conflict = lode_recent_accesses_use(
			&self->recent, operand->address, operand->size);
		bool is_first = i == 0 && access->reason == LODE_REASON_NONE;
		if (is_first)
			add_facts(self, row, facts, operand, is_conflict);
		/* Hits show neither other accesses nor how frequent this one is. */
		if (step->is_hit)
			continue;
		lode_line_visits_add(&self->visits, is_first ? step->code->number : UINT32_MAX,
			operand->address, operand->size);
		if (step->is_frequent)
			add_sample(self, &row->operands[is_stack ? LODE_MAX_DATA_OPERANDS : i],
				step, operand, is_stack);
	}
	if (step->is_hit)
		return;
	if (access->reason != LODE_REASON_NONE) {
		lode_line_visits_break(&self->visits, step->code->number);
		forget(self);
		if (step->is_frequent)
			add_unknown(self, &row->unknown, step, access);
	}
	for (unsigned i = 0; i < access->n_operands; i++)
		if ((access->operands[i].access & LODE_ACCESS_STORE) != 0)
			lode_recent_accesses_store(&self->recent, access->operands[i].address,
				access->operands[i].size, self->n_steps);
}

static bool read_access(const LodeVisitedStep *step, LodeSteppedAccess *out_access)
{
	const LodeSteppedCode *code = step->code;
	LodeUserRegisters registers;

	if (!step->has_registers || code == NULL || code->decoded.length == 0)
		return false;
	lode_user_registers_of_step(
		&registers, step->step->registers, step->window->thread_pointer);
	return lode_stepped_access_read(out_access, code->bytes, code->n_bytes, code->place.address,
		step->step->address - code->place.address, &registers);
}

static void put_visit(void *data, uint32_t number, unsigned n_bytes)
{
	LodeObservedInstruction *facts = lode_window_facts_at(data, number);

	facts->line_visits++;
	facts->line_used_bytes += n_bytes;
}

static void visit(void *data, const LodeVisitedStep *step)
{
	LodeWindowAccesses *self = data;
	LodeSteppedAccess access;

	if ((step->window->flags & LODE_WINDOW_HAS_REGISTERS) == 0)
		return;
	self->n_steps++;
	if (step->index == 0)
		lode_recent_accesses_begin(
			&self->recent, step->log->cache_sets, step->log->cache_ways);
	if (step->index == 0 || step->step->is_gap) {
		self->stretch += step->index == 0 || !step->is_hit;
		forget(self);
		lode_line_visits_end(&self->visits, put_visit, self->facts);
	}
	if (!read_access(step, &access)) {
		forget(self);
		/* another execution of it, at an unknown address */
		if (step->code != NULL && step->code->number < self->rows->len &&
			self->rows->pdata[step->code->number] != NULL)
			((Row *)self->rows->pdata[step->code->number])->facts.last_stretch = 0;
		if (step->code != NULL)
			lode_line_visits_break(&self->visits, step->code->number);
		return;
	}
	if (access.n_operands > 0 || access.reason != LODE_REASON_NONE)
		visit_operands(self, row_at(self, step->code->number), step, &access);
}

LodeWindowVisitor lode_window_accesses_visitor(LodeWindowAccesses *self)
{
	return (LodeWindowVisitor){visit, self};
}

/* --- the end --- */

typedef struct {
	const Kept *kept;
	double weight;
	uint64_t ordinal;
	uint32_t recording;
} Chosen;

LODE_ORDER(compare_chosen, Chosen, LODE_ASCENDING(recording), LODE_ASCENDING(ordinal))

static void choose(GArray *chosen, const Operand *operand)
{
	for (guint i = 0; operand->kept != NULL && i < operand->kept->len; i++) {
		const Kept *kept = &LODE_AT(operand->kept, Kept, i);
		const Chosen added = {kept, (double)operand->n / operand->kept->len, kept->ordinal,
			kept->recording};
		g_array_append_val(chosen, added);
	}
}

static void add_to_memory(LodeMemoryReading *memory, const Chosen *chosen)
{
	const Kept *kept = chosen->kept;
	LodeUserRegisters registers;

	lode_user_registers_of_step(&registers, kept->registers, kept->thread_pointer);
	const LodeSteppedSample sample = {
		.place = kept->place,
		.pc = kept->pc,
		.time_ns = kept->time_ns,
		.pid = kept->pid,
		.tid = kept->tid,
		.registers = &registers,
		.operand = kept->operand,
		.has_no_operand = kept->is_stack,
		.reason = kept->reason,
		.weight = chosen->weight,
	};
	lode_memory_reading_add_stepped(memory, &sample);
}

bool lode_window_accesses_finish(LodeWindowAccesses *self, LodeMemoryReading *memory,
	const LodeProgress *progress, GError **error)
{
	g_autoptr(GArray) chosen = g_array_new(FALSE, FALSE, sizeof(Chosen));

	lode_line_visits_end(&self->visits, put_visit, self->facts);
	for (guint i = 0; i < self->rows->len; i++) {
		const Row *row = self->rows->pdata[i];
		if (row == NULL)
			continue;
		lode_access_facts_finish(&row->facts, lode_window_facts_at(self->facts, i));
		for (unsigned k = 0; k < LODE_MAX_STEPPED_OPERANDS; k++)
			choose(chosen, &row->operands[k]);
		choose(chosen, &row->unknown);
	}
	g_array_sort(chosen, compare_chosen);
	for (guint i = 0; i < chosen->len; i++) {
		const Chosen *it = &LODE_AT(chosen, Chosen, i);
		if (i % SAMPLES_BETWEEN == 0 && lode_progress_is_cancelled(progress)) {
			g_set_error_literal(error, LODE_ERROR, LODE_ERROR_CANCELLED, "stopped");
			return false;
		}
		if (i == 0 || it->recording != LODE_AT(chosen, Chosen, i - 1).recording)
			lode_memory_reading_select(memory, it->recording);
		add_to_memory(memory, it);
	}
	return true;
}
