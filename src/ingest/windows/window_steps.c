/* SPDX-License-Identifier: MIT */
#include "ingest/windows/window_steps.h"

#include "base/arrays/hash.h"
#include "base/arrays/id_cache.h"
#include "base/error.h"
#include "base/files/own_library.h"
#include "model/index.h"

#include <string.h>

enum {
	KNOWN_BITS = 14,
	MAX_CODES = 1 << 21, /* 350 MiB; a recording has some ten thousand */
	MAX_STEPS = 1 << 28, /* 15 hours at 5,000 steps a second */
	MAX_WINDOWS = 1 << 22,
	CONTENDED_ROUNDS = 3,
	LONGEST_ROUND = 64, /* of a loop that waits; in a longer one an atomic is met by the way */
	AFTER_CLOCK = 24,   /* steps: the call returns, the time is computed and compared */
	AFTER_LOCK = 4,
};

/* The code at a run-time address of the process, and the time in which it lies there. */
typedef struct {
	uint64_t address;
	LodeMappedPeriod period;
	uint32_t log;  /* from 1 */
	uint32_t code; /* LODE_NONE: nothing that is kept */
	LodePlaceOutcome outcome;
	bool is_own;
} Known;

typedef struct {
	LodeWindowStep step;
	uint32_t code; /* LODE_NONE */
	bool is_inserted, is_round, is_own;
} Resolved;

struct LodeWindowSteps {
	LodePlaces *places;
	LodeIdCache numbers; /* place → number of the code */
	GArray *codes;       /* LodeSteppedCode */
	LodeInstructionDecoder decoder;
	LodeDecodeCache *decode_cache;
	Known *known;   /* by a hash of the address */
	uint32_t n_log; /* of the log at hand */
	GArray *window; /* Resolved */
	LodeWindowFigures figures;
	uint32_t n_walked; /* windows, with those of hits */
	bool (*is_wanted)(void *data, const LodeWindowHead *window);
	void *data;
};

LodeWindowSteps *lode_window_steps_new(LodePlaces *places)
{
	LodeWindowSteps *self = g_new0(LodeWindowSteps, 1);

	self->places = places;
	lode_id_cache_init(&self->numbers);
	self->codes = g_array_new(FALSE, FALSE, sizeof(LodeSteppedCode));
	self->decode_cache = lode_decode_cache_new();
	lode_instruction_decoder_init(&self->decoder);
	self->decoder.cache = self->decode_cache;
	self->known = g_new0(Known, 1 << KNOWN_BITS);
	self->window = g_array_new(FALSE, FALSE, sizeof(Resolved));
	return self;
}

void lode_window_steps_free(LodeWindowSteps *self)
{
	if (self == NULL)
		return;
	lode_id_cache_clear(&self->numbers);
	g_array_unref(self->codes);
	lode_decode_cache_free(self->decode_cache);
	g_free(self->known);
	g_array_unref(self->window);
	g_free(self);
}

void lode_window_steps_choose(LodeWindowSteps *self,
	bool (*is_wanted)(void *data, const LodeWindowHead *window), void *data)
{
	self->is_wanted = is_wanted;
	self->data = data;
}

const LodeWindowFigures *lode_window_steps_figures(const LodeWindowSteps *self)
{
	return &self->figures;
}

uint32_t lode_window_steps_n_codes(const LodeWindowSteps *self)
{
	return self->codes->len;
}

const LodeSteppedCode *lode_window_steps_code(const LodeWindowSteps *self, uint32_t number)
{
	return number != LODE_NONE ? &LODE_AT(self->codes, LodeSteppedCode, number) : NULL;
}

/* After a clock was read and after an attempt to take a lock. */
static unsigned n_falsified(const LodeDecodedInstruction *decoded)
{
	char text[32];
	const char *name = lode_instruction_mnemonic(decoded, text, sizeof(text));

	if (g_str_has_prefix(name, "rdtsc"))
		return AFTER_CLOCK;
	if ((decoded->kinds & 1u << LODE_KIND_ATOMIC) != 0 &&
		(strstr(name, "xchg") != NULL || strstr(name, "bts") != NULL))
		return AFTER_LOCK;
	return 0;
}

static LodeSteppedCode new_code(LodeWindowSteps *self, const LodePlace *place)
{
	LodeCodeImages *images = lode_places_images(self->places);
	LodeSteppedCode code = {.place = *place, .number = self->codes->len};

	code.bytes = lode_code_image_bytes(
		lode_code_images_at(images, place->image), place->address, &code.n_bytes);
	if (code.bytes == NULL || !lode_instruction_decoder_decode(&self->decoder, code.bytes,
					  code.n_bytes, place->address, &code.decoded))
		code.decoded = (LodeDecodedInstruction){0};
	if (code.decoded.length > 0)
		code.n_falsified = n_falsified(&code.decoded);
	return code;
}

/* The number of the code at a place; LODE_NONE: there are too many. */
static uint32_t code_at(LodeWindowSteps *self, const LodePlace *place)
{
	const LodeIdKey key = {{place->address, place->image, 0}};
	bool is_new;

	LodeIdSlot *slot = lode_id_cache_find_limited(&self->numbers, &key, MAX_CODES, &is_new);
	if (slot == NULL)
		return LODE_NONE;
	if (is_new) {
		LodeSteppedCode code = new_code(self, place);
		slot->id = code.number;
		g_array_append_val(self->codes, code);
	}
	return slot->id;
}

static bool is_own(const LodeWindowSteps *self, const LodePlace *place)
{
	const char *path =
		lode_code_images_peek(lode_places_images(self->places), place->image)->path;

	return strcmp(path, "[vdso]") == 0 || lode_is_own_library(path);
}

static void look_up(
	LodeWindowSteps *self, uint32_t pid, uint64_t time_ns, uint64_t address, Known *out)
{
	LodePlace place;

	*out = (Known){.address = address, .log = self->n_log, .code = LODE_NONE};
	out->outcome = lode_places_find(self->places, pid, time_ns, address, &place);
	if (out->outcome != LODE_PLACE_FOUND)
		return;
	out->period = lode_places_period(self->places);
	out->is_own = is_own(self, &place);
	if (!out->is_own)
		out->code = code_at(self, &place);
}

static const Known *find(LodeWindowSteps *self, uint32_t pid, uint64_t time_ns, uint64_t address)
{
	Known *known = &self->known[lode_hash_slot(address, KNOWN_BITS)];

	if (known->address != address || known->log != self->n_log ||
		time_ns < known->period.begin_ns || time_ns >= known->period.end_ns)
		look_up(self, pid, time_ns, address, known);
	return known;
}

static uint32_t resolve(
	LodeWindowSteps *self, uint32_t pid, uint64_t time_ns, uint64_t address, bool *out_is_own)
{
	const Known *known = find(self, pid, time_ns, address);

	self->figures.outcomes[known->outcome]++;
	self->figures.examples[known->outcome].address = address;
	self->figures.examples[known->outcome].pid = pid;
	self->figures.n_own += known->is_own;
	self->figures.n_left += known->outcome == LODE_PLACE_FOUND && !known->is_own &&
	                        known->code == LODE_NONE;
	*out_is_own = known->is_own;
	return known->code;
}

static const LodeSteppedCode *code_of(const LodeWindowSteps *self, const Resolved *resolved)
{
	return lode_window_steps_code(self, resolved->code);
}

static uint64_t after(const LodeWindowStep *step, const LodeSteppedCode *code)
{
	return step->address + code->decoded.length;
}

/* Whether an instruction at this address may lead to another one at once. */
static bool may_lead(const LodeWindowStep *step, const LodeSteppedCode *code, uint64_t to)
{
	uint64_t bias = step->address - code->place.address;

	switch (code->decoded.branch) {
	case LODE_BRANCH_INDIRECT_JUMP:
	case LODE_BRANCH_INDIRECT_CALL:
	case LODE_BRANCH_RETURN:
		return true;
	case LODE_BRANCH_JUMP:
	case LODE_BRANCH_CALL:
		return code->decoded.target + bias == to;
	case LODE_BRANCH_CONDITIONAL:
		return code->decoded.target + bias == to || after(step, code) == to;
	default:
		return after(step, code) == to;
	}
}

/* Inserts what a system call returned to, where `next` is not that itself: it was not trapped.
 * Where it does not lead to `next`, something else happened in between. */
static void insert_returned_to(
	LodeWindowSteps *self, uint32_t pid, uint64_t time_ns, LodeWindowStep *next)
{
	const Resolved last = LODE_AT(self->window, Resolved, self->window->len - 1);
	const LodeSteppedCode *call = code_of(self, &last);

	if (call == NULL || (call->decoded.kinds & 1u << LODE_KIND_SYSCALL) == 0 || next->is_gap ||
		after(&last.step, call) == next->address)
		return;
	Resolved inserted = {.step = last.step, .is_inserted = true};
	inserted.step.address = after(&last.step, call);
	inserted.step.raised = 0;
	inserted.code = find(self, pid, time_ns, inserted.step.address)->code;
	const LodeSteppedCode *code = code_of(self, &inserted);
	if (code != NULL && code->decoded.length > 0 &&
		may_lead(&inserted.step, code, next->address)) {
		g_array_append_val(self->window, inserted);
	} else {
		next->is_gap = true;
		self->figures.n_cut++;
	}
}

static void resolve_window(LodeWindowSteps *self, uint32_t pid, LodeWindow *window)
{
	const LodeWindowHead *head = &window->head;
	uint64_t step_ns = (head->end_ns - head->begin_ns) / head->n_steps;

	g_array_set_size(self->window, 0);
	for (uint32_t i = 0; lode_window_next(window); i++) {
		uint64_t time_ns = head->begin_ns + i * step_ns;
		Resolved resolved = {.step = window->step};
		if (i > 0)
			insert_returned_to(self, pid, time_ns, &resolved.step);
		resolved.code = resolve(
			self, pid, time_ns, resolved.step.address, &resolved.is_own);
		const LodeSteppedCode *code = code_of(self, &resolved);
		resolved.is_round = i > 0 && code != NULL && code->decoded.is_repeat &&
		                    !resolved.step.is_gap &&
		                    LODE_AT(self->window, Resolved, self->window->len - 1).code ==
		                            resolved.code;
		g_array_append_val(self->window, resolved);
	}
	self->n_walked++;
	if ((head->flags & LODE_WINDOW_IS_PROBES) == 0) {
		self->figures.n_windows++;
		self->figures.n_steps += window->n_read;
	}
	self->figures.n_damaged += head->n_steps - window->n_read;
}

static bool is_conditional(const LodeWindowSteps *self, const Resolved *resolved)
{
	const LodeSteppedCode *code = code_of(self, resolved);

	return code != NULL && code->decoded.branch == LODE_BRANCH_CONDITIONAL;
}

static bool waits_for_others(const LodeSteppedCode *code)
{
	char text[32];

	return code != NULL && code->decoded.length > 0 &&
	       ((code->decoded.kinds & 1u << LODE_KIND_ATOMIC) != 0 ||
		       strcmp(lode_instruction_mnemonic(&code->decoded, text, sizeof(text)),
			       "pause") == 0);
}

/* The steps that say how often ways are taken end where a window does, or where the loop begins
 * that ended it: waiting for others takes more rounds when it is stepped. */
static uint32_t end_of_frequent(const LodeWindowSteps *self, const LodeWindowHead *head)
{
	uint32_t n = self->window->len, end = n, waiting = LODE_NONE;
	unsigned n_rounds = 0;

	if (head->end != LODE_WINDOW_END_CONTENDED)
		return n;
	for (uint32_t i = n; i-- > 0 && end - i <= LONGEST_ROUND && n_rounds < CONTENDED_ROUNDS;) {
		const Resolved *resolved = &LODE_AT(self->window, Resolved, i);
		if (waiting == LODE_NONE && waits_for_others(code_of(self, resolved)))
			waiting = resolved->code;
		if (waiting == LODE_NONE || resolved->code != waiting)
			continue;
		n_rounds++;
		end = i;
	}
	return n_rounds == CONTENDED_ROUNDS ? end : n;
}

static void visit_window(LodeWindowSteps *self, const LodeWindowLogHeader *log,
	const LodeWindowHead *head, const LodeWindowVisitor *visitors, size_t n_visitors)
{
	bool are_hits = (head->flags & LODE_WINDOW_IS_PROBES) != 0;
	uint32_t end = end_of_frequent(self, head), falsified_end = 0;

	for (uint32_t i = 0; i < self->window->len; i++) {
		const Resolved *resolved = &LODE_AT(self->window, Resolved, i);
		const Resolved *next = i + 1 < self->window->len ? resolved + 1 : NULL;
		if (next != NULL && (next->step.is_gap || next->is_round))
			next = NULL;
		if (are_hits && !resolved->step.is_gap)
			continue;
		self->figures.n_hits += are_hits;
		LodeVisitedStep visited = {
			.window = head,
			.log = log,
			.pid = log->pid,
			.n_window = self->n_walked - 1,
			.index = i,
			.step = &resolved->step,
			.code = code_of(self, resolved),
			.next = next != NULL ? &next->step : NULL,
			.next_code = next != NULL ? code_of(self, next) : NULL,
			.has_registers = !resolved->is_inserted &&
		                         (head->flags & LODE_WINDOW_HAS_REGISTERS) != 0,
			.is_hit = are_hits,
			.is_round = resolved->is_round,
			.is_frequent = (are_hits || i >= LODE_WINDOW_WARM_UP) && i < end &&
		                       !(i < falsified_end && is_conditional(self, resolved)),
		};
		unsigned n = resolved->is_own ? AFTER_CLOCK : 0; /* in the vDSO */
		if (visited.code != NULL)
			n = visited.code->n_falsified;
		falsified_end = MAX(falsified_end, i + 1 + n);
		for (size_t k = 0; k < n_visitors; k++)
			visitors[k].visit(visitors[k].data, &visited);
	}
}

bool lode_window_steps_walk(LodeWindowSteps *self, LodeWindowLog *log,
	const LodeWindowVisitor *visitors, size_t n_visitors, const LodeProgress *progress,
	GError **error)
{
	const LodeWindowLogHeader *header = lode_window_log_header(log);
	uint64_t n_windows = 0;
	LodeWindow window;

	self->n_log++;
	lode_window_log_rewind(log);
	while (!lode_progress_is_cancelled(progress)) {
		if (!lode_window_log_next(log, &window))
			return true;
		lode_progress_report(progress, "reading windows", (double)n_windows++,
			(double)header->n_windows, NULL);
		if (self->is_wanted != NULL && !self->is_wanted(self->data, &window.head))
			continue;
		if (self->figures.n_steps + window.head.n_steps > MAX_STEPS ||
			self->n_walked == MAX_WINDOWS) {
			self->figures.n_left += window.head.n_steps;
			continue;
		}
		resolve_window(self, header->pid, &window);
		visit_window(self, header, &window.head, visitors, n_visitors);
	}
	g_set_error_literal(error, LODE_ERROR, LODE_ERROR_CANCELLED, "stopped");
	return false;
}
