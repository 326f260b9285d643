/* SPDX-License-Identifier: MIT */
/*
 * Where a block was left is found by where control went on:
 *
 *   to a successor of its last instruction    at its end
 *   inside the block itself                   before the instruction there, which the emulator then
 *                                             began anew; nothing happened in between
 *   to an instruction of the block, alone     likewise, though its end may go there too
 *   to a handler that came back inside it     at the instruction there, which faulted
 *   anywhere else                             at its end: the kernel did it
 */
#include "ingest/traced/counted_recording.h"

#include "base/arrays/sort_order.h"
#include "base/error.h"
#include "caches/counted_caches.h"
#include "images/instructions/instruction_decoder.h"
#include "ingest/traced/traced_places.h"
#include "ingest/traced/traced_rows.h"
#include "model/index.h"
#include "model/run/unresolved.h"
#include "record/qemu/trace_mappings.h"
#include "sources/counts/count_file.h"

#include <string.h>

enum { COLUMN_EXECUTIONS, N_OWN_COLUMNS };

typedef struct {
	uint64_t end;         /* run-time address after its last instruction */
	uint32_t first_place; /* of its instructions in `places` */
	uint16_t n;           /* instructions */
	LodeDecodedInstruction last;
	bool is_decoded;
} Code;

typedef struct {
	LodeRecording *recording;
	LodeTracedPlacesOptions placing;
	LodeTracedRows rows;
	LodeInstructionDecoder decoder;
	uint64_t n_lost_blocks, n_lost_threads, n_lost_records, n_late, n_lost_mappings;
	uint64_t n_left_handlers; /* that did not return to where something had faulted */

	/* The current process. */
	uint32_t columns[COUNT_FILE_MAX_EVENTS]; /* of the rows, by column of its events */
	const LodeCountFile *file;
	LodeTracedPlaces *process;
	GArray *codes;  /* Code, of its blocks */
	GArray *places; /* uint32_t: numbers of instructions, for each block one by one */
} Reading;

static const LodeCountBlock *block_at(const Reading *self, uint32_t block)
{
	return &g_array_index(self->file->blocks, LodeCountBlock, block);
}

static const Code *code_at(const Reading *self, uint32_t block)
{
	return &g_array_index(self->codes, Code, block);
}

static uint32_t place_at(const Reading *self, uint32_t block, unsigned instruction)
{
	return g_array_index(
		self->places, uint32_t, code_at(self, block)->first_place + instruction);
}

/* ---- mappings ---- */

static LodeTraceDescription *describe_mappings(Reading *self)
{
	LodeTraceDescription *description = lode_trace_description_new();
	LodeTraceMappings *mappings = lode_trace_mappings_new(description, NULL, NULL);
	TraceEvent *event = g_new0(TraceEvent, 1);

	for (guint i = 0; i < self->file->mappings->len; i++) {
		const LodeCountMapping *row = &g_array_index(
			self->file->mappings, LodeCountMapping, i);
		event->start = row->mapping.start;
		event->size = row->mapping.size;
		event->offset = row->mapping.offset;
		event->protection = row->mapping.protection;
		event->kind = row->mapping.kind;
		g_strlcpy(event->path, row->path, sizeof(event->path));
		lode_trace_mappings_note(
			mappings, (TraceEventKind)row->mapping.event, event, row->time);
	}
	self->n_lost_mappings += lode_trace_mappings_n_lost(mappings);
	lode_trace_mappings_free(mappings);
	g_free(event);
	return description;
}

/* ---- code ---- */

/* The last instruction is not a part of the block where it is cut short: no instruction begins with
 * all bytes of another one. */
static void decode_last(Reading *self, const LodeCountBlock *block, Code *code)
{
	uint64_t size = 0, before = 0;

	for (unsigned i = 0; i < block->n_instructions; i++) {
		before = size;
		size += block->sizes[i];
	}
	code->n = block->n_instructions;
	code->end = block->address + size;
	code->is_decoded = lode_instruction_decoder_decode(&self->decoder, block->bytes + before,
		size - before, block->address + before, &code->last);
	if (code->is_decoded || code->n == 1)
		return;
	uint64_t cut = before;
	before -= block->sizes[code->n - 2];
	code->n--;
	code->end = block->address + cut;
	code->is_decoded = lode_instruction_decoder_decode(&self->decoder, block->bytes + before,
		cut - before, block->address + before, &code->last);
}

static void add_code(Reading *self, const LodeCountBlock *block)
{
	Code code = {.first_place = self->places->len};
	uint64_t address = block->address;

	decode_last(self, block, &code);
	for (unsigned i = 0; i < code.n; i++) {
		const LodeTracedInstruction instruction = lode_traced_places_find_at(
			self->process, address, block->time, block->time_ns);
		/* Translated, but not executed. */
		uint32_t number = block->count > 0
		                          ? lode_traced_rows_find(&self->rows, &instruction)
		                          : LODE_NONE;
		g_array_append_val(self->places, number);
		address += block->sizes[i];
	}
	g_array_append_val(self->codes, code);
}

/* Where control can go from its end without the kernel's doing. */
static bool is_successor(const Code *code, uint64_t address)
{
	const LodeDecodedInstruction *last = &code->last;

	if (!code->is_decoded)
		return true;
	switch (last->branch) {
	case LODE_BRANCH_NONE:
		return address == code->end ||
		       (last->is_repeat && address == code->end - last->length);
	case LODE_BRANCH_CONDITIONAL:
		return address == code->end || address == last->target;
	case LODE_BRANCH_JUMP:
	case LODE_BRANCH_CALL:
		return address == last->target;
	case LODE_BRANCH_STOP:
		return false;
	default:
		return true;
	}
}

/* The number of the instruction of a block that begins there; LODE_NONE. */
static uint32_t instruction_at(const Reading *self, uint32_t block, uint64_t address)
{
	const LodeCountBlock *code = block_at(self, block);
	uint64_t at = code->address;

	for (uint32_t i = 0; i < code_at(self, block)->n; i++) {
		if (at == address)
			return i;
		at += code->sizes[i];
	}
	return LODE_NONE;
}

/* ---- counts ---- */

typedef void (*CountFunc)(LodeTracedRows *rows, uint32_t instruction, uint32_t column, uint64_t n);

/* Adds the constant events of `count` executions of a block, from its instruction `n` on. */
static void count_fixed_events(
	Reading *self, uint32_t block, uint32_t n, uint64_t count, CountFunc add)
{
	const LodeCountBlock *code = block_at(self, block);
	CountFixedEvent event;

	for (uint32_t i = 0; i < code->n_fixed; i++) {
		memcpy(&event, code->fixed + i * sizeof(event), sizeof(event));
		if (self->columns[event.event] != LODE_NONE && event.instruction >= n &&
			event.instruction < code_at(self, block)->n)
			add(&self->rows, place_at(self, block, event.instruction),
				self->columns[event.event], count * event.count);
	}
}

/* Executions of a block that ended before the instruction `n`. */
static void subtract_executions(Reading *self, uint32_t block, uint32_t n, uint64_t count)
{
	count_fixed_events(self, block, n, count, lode_traced_rows_take);
	for (uint32_t i = n; i < code_at(self, block)->n; i++)
		lode_traced_rows_take(
			&self->rows, place_at(self, block, i), COLUMN_EXECUTIONS, count);
}

static uint32_t last_place(const Reading *self, uint32_t block)
{
	return block != 0 ? place_at(self, block, code_at(self, block)->n - 1u) : LODE_NONE;
}

/* Where control was when signals came: gives how many of those of this exit are dealt with. */
static uint64_t add_interruptions(Reading *self, const LodeCountExit *exit, guint *next)
{
	const GArray *rows = self->file->interruptions;
	uint64_t left = exit->count;

	for (; *next < rows->len; (*next)++) {
		const LodeCountInterruption *row = &g_array_index(
			rows, LodeCountInterruption, *next);
		if (row->source > exit->source ||
			(row->source == exit->source && row->handler > exit->target))
			break;
		if (row->source != exit->source || row->handler != exit->target || row->source == 0)
			continue;
		uint64_t resumed = block_at(self, row->target)->address;
		uint32_t at = instruction_at(self, row->source, resumed);
		uint64_t n = MIN(left, row->count);
		if (at == LODE_NONE || n == 0 ||
			(!row->is_fault && is_successor(code_at(self, row->source), resumed)))
			continue;
		subtract_executions(self, row->source, at + 1, n);
		lode_traced_rows_add_transfer(&self->rows, place_at(self, row->source, at),
			place_at(self, exit->target, 0), n);
		left -= n;
	}
	return exit->count - left;
}

/* An instruction that is begun anew is a block of its own. One that others follow in a block is
 * that in no other case; and no call calls itself. */
static bool is_begun_anew(const Reading *self, const LodeCountExit *exit, uint32_t at)
{
	const Code *code = code_at(self, exit->source);

	return block_at(self, exit->target)->n_instructions == 1 &&
	       (at + 1 < code->n || code->last.branch == LODE_BRANCH_INDIRECT_CALL);
}

static void add_exit(Reading *self, const LodeCountExit *exit, guint *next_interruption)
{
	uint64_t target = block_at(self, exit->target)->address;
	uint64_t count = exit->count - add_interruptions(self, exit, next_interruption);
	uint32_t at = exit->source != 0 ? instruction_at(self, exit->source, target) : LODE_NONE;

	if (count == 0)
		return;
	if (at != LODE_NONE && (is_begun_anew(self, exit, at) ||
				       !is_successor(code_at(self, exit->source), target)))
		subtract_executions(self, exit->source, at, count);
	else
		lode_traced_rows_add_transfer(&self->rows, last_place(self, exit->source),
			place_at(self, exit->target, 0), count);
}

/* Whether an instruction before the last may have faulted: one that accesses memory, or divides. */
static bool may_fault_early(Reading *self, uint32_t block)
{
	const uint32_t faulting = 1U << LODE_KIND_LOAD | 1U << LODE_KIND_STORE |
	                          1U << LODE_KIND_DIV;
	const LodeCountBlock *code = block_at(self, block);
	LodeDecodedInstruction instruction;
	uint64_t at = 0;

	for (unsigned i = 0; i + 1 < code_at(self, block)->n; i++) {
		if (!lode_instruction_decoder_decode(&self->decoder, code->bytes + at,
			    code->n_bytes - at, code->address + at, &instruction) ||
			(instruction.kinds & faulting) != 0 || instruction.memory != 0)
			return true;
		at += code->sizes[i];
	}
	return false;
}

/* Handlers that a program left by siglongjmp(), or ended in. */
static void count_left_handlers(Reading *self)
{
	const GArray *faults = self->file->faults, *returns = self->file->interruptions;
	guint next = 0;

	for (guint i = 0; i < faults->len; i++) {
		const LodeCountFault *fault = &g_array_index(faults, LodeCountFault, i);
		uint64_t n_returned = 0;
		for (; next < returns->len; next++) {
			const LodeCountInterruption *row = &g_array_index(
				returns, LodeCountInterruption, next);
			if (row->source > fault->source ||
				(row->source == fault->source && row->handler > fault->handler))
				break;
			if (row->source == fault->source && row->handler == fault->handler &&
				row->is_fault)
				n_returned += MIN(row->count, UINT64_MAX - n_returned);
		}
		if (fault->source != 0 && fault->count > n_returned &&
			may_fault_early(self, fault->source))
			self->n_left_handlers += fault->count - n_returned;
	}
}

/* Adds executions that came to a block and did not go on: threads that ended there. */
static void add_ends(Reading *self)
{
	g_autofree uint64_t *left = g_new0(uint64_t, self->file->blocks->len);

	for (guint i = 0; i < self->file->exits->len; i++) {
		const LodeCountExit *exit = &g_array_index(self->file->exits, LodeCountExit, i);
		left[exit->source] += exit->count;
	}
	for (guint i = 1; i < self->file->blocks->len; i++) {
		uint64_t count = block_at(self, i)->count;
		if (count > left[i])
			lode_traced_rows_add_transfer(
				&self->rows, last_place(self, i), LODE_NONE, count - left[i]);
	}
}

static uint32_t column_of(const Reading *self, const char *event)
{
	for (guint i = 0; i < self->recording->events->len; i++)
		if (strcmp(self->recording->events->pdata[i], event) == 0)
			return i;
	return LODE_NONE; /* it was not counted */
}

static void add_events(Reading *self, uint32_t block)
{
	const LodeCountFile *file = self->file;
	guint n = file->event_names->len;

	count_fixed_events(self, block, 0, block_at(self, block)->count, lode_traced_rows_add);
	for (guint j = 0; j < n; j++) {
		uint32_t column = self->columns[j];
		for (unsigned i = 0; column != LODE_NONE && i < code_at(self, block)->n; i++) {
			uint64_t row = block_at(self, block)->first_instruction + i;
			uint64_t value = file->events[row * n + j];
			if (value > 0)
				lode_traced_rows_add(
					&self->rows, place_at(self, block, i), column, value);
		}
	}
}

static void add_blocks(Reading *self)
{
	const Code outside = {0};

	g_array_set_size(self->codes, 0);
	g_array_set_size(self->places, 0);
	g_array_append_val(self->codes, outside);
	for (guint i = 0; i < self->file->event_names->len; i++)
		self->columns[i] = column_of(self, self->file->event_names->pdata[i]);
	for (guint i = 1; i < self->file->blocks->len; i++) {
		add_code(self, block_at(self, i));
		uint64_t count = block_at(self, i)->count;
		for (unsigned j = 0; count > 0 && j < code_at(self, i)->n; j++)
			lode_traced_rows_add(
				&self->rows, place_at(self, i, j), COLUMN_EXECUTIONS, count);
		if (self->file->events != NULL)
			add_events(self, i);
	}
}

static bool add_process(Reading *self, GError **error)
{
	g_autoptr(LodeTraceDescription) description = describe_mappings(self);
	g_autoptr(LodeTracedPlaces) process = lode_traced_places_new_process(
		description, self->file->pid, &self->placing);
	guint next_interruption = 0;

	self->process = process;
	add_blocks(self);
	for (guint i = 0; i < self->file->exits->len; i++)
		add_exit(self, &g_array_index(self->file->exits, LodeCountExit, i),
			&next_interruption);
	count_left_handlers(self);
	add_ends(self);
	self->process = NULL;
	return lode_traced_rows_check(&self->rows, error);
}

/* ---- the recording ---- */

static void add_event(LodeRecording *recording, const char *name)
{
	if (g_str_has_prefix(name, COUNT_NO_EVENT))
		return;
	for (guint i = 0; i < recording->events->len; i++)
		if (strcmp(recording->events->pdata[i], name) == 0)
			return;
	g_ptr_array_add(recording->events, g_string_chunk_insert(recording->strings, name));
}

static void name_process(LodeRecording *recording, const LodeCountFile *file)
{
	g_autoptr(GString) command = g_string_new(NULL);
	bool is_known = false;

	for (guint i = 0; i < file->arguments->len; i++)
		if (i != 1)
			g_string_append_printf(command, "%s%s", i > 0 ? " " : "",
				(const char *)file->arguments->pdata[i]);
	if (command->len > 0) {
		g_autofree char *valid = g_utf8_make_valid(command->str, -1);
		lode_recording_add_command(recording, valid, strlen(valid));
	}
	for (guint i = 0; i < recording->pids->len; i++)
		is_known |= g_array_index(recording->pids, uint32_t, i) == file->pid;
	if (!is_known)
		g_array_append_val(recording->pids, file->pid);
}

static void account(Reading *self)
{
	LodeRecording *recording = self->recording;
	const struct {
		const char *reason;
		uint64_t n;
	} rows[] = {
		{"executions of code for which the counts file had no room", self->n_lost_blocks},
		{"executions of code that began while the counts file was read", self->n_late},
		{"threads that are not counted: too many at a time", self->n_lost_threads},
		{"records of code or mappings for which there was no room",
			self->n_lost_records + self->n_lost_mappings},
		{LODE_UNRESOLVED_LEFT_HANDLER, self->n_left_handlers},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++)
		if (rows[i].n > 0)
			lode_recording_add_unresolved(
				recording, rows[i].reason, NULL, (double)rows[i].n, 0);
}

static bool read_files(
	Reading *self, const GPtrArray *files, const LodeProgress *progress, GError **error)
{
	for (guint i = 0; i < files->len; i++) {
		const LodeCountFile *file = self->file = files->pdata[i];
		lode_progress_report(progress, "reading counts", i, files->len, NULL);
		if (lode_progress_is_cancelled(progress)) {
			g_set_error(error, LODE_ERROR, LODE_ERROR_CANCELLED, "stopped");
			return false;
		}
		if (!add_process(self, error))
			return false;
		self->n_lost_blocks += file->n_lost_blocks;
		self->n_lost_threads += file->n_lost_threads;
		self->n_lost_records += file->n_lost_records;
		self->n_late += file->n_late;
	}
	account(self);
	return lode_traced_rows_write(&self->rows, error);
}

/* The simulated caches and predictor: all files of a recording have the same. The caller owns it.
 */
static char *simulated_text(const LodeCountFile *file)
{
	LodeCountedCaches caches;

	if (file->caches == NULL || !lode_counted_caches_parse(&caches, file->caches))
		return g_strdup("");
	g_autofree char *text = lode_counted_caches_to_text(&caches);
	g_autofree char *branches = g_utf8_make_valid(file->branches, -1);
	return g_strdup_printf(", through %s, branches by %s", text, branches);
}

LODE_ORDER_OF_POINTERS(compare_starts, LodeCountFile, LODE_ASCENDING(start_ns), LODE_ASCENDING(pid))

static void free_file(gpointer file)
{
	lode_count_file_free(file);
}

LodeRecording *lode_counted_recording_read(const char *const *paths, size_t n_paths,
	LodeCodeImages *images, LodeJitCodeSet *jit, const LodeProgress *progress, GError **error)
{
	static const char count_column[] = "Ir", creator[] = "qemu-x86_64";
	g_autoptr(GPtrArray) files = g_ptr_array_new_with_free_func(free_file);
	g_autoptr(LodeRecording) recording = lode_recording_new();
	Reading reading = {.recording = recording};

	for (size_t i = 0; i < n_paths; i++) {
		LodeCountFile *file = lode_count_file_read(paths[i], error);
		if (file == NULL)
			return NULL;
		g_ptr_array_add(files, file);
	}
	g_ptr_array_sort(files, compare_starts);
	recording->is_trace = true;
	recording->frequency = LODE_FREQUENCY_EXACT;
	g_autofree char *simulated = files->len > 0 ? simulated_text(files->pdata[0])
	                                            : g_strdup("");
	g_autofree char *whole = g_strconcat(creator, simulated, NULL);
	recording->programs.creator = g_string_chunk_insert(recording->strings, whole);
	add_event(recording, count_column);
	for (guint i = 0; i < files->len; i++) {
		const LodeCountFile *file = files->pdata[i];
		name_process(recording, file);
		for (guint j = 0; j < file->event_names->len; j++)
			add_event(recording, file->event_names->pdata[j]);
	}
	reading.placing = (LodeTracedPlacesOptions){recording, images, jit};
	lode_traced_rows_init(&reading.rows, recording);
	lode_instruction_decoder_init(&reading.decoder);
	reading.codes = g_array_new(FALSE, FALSE, sizeof(Code));
	reading.places = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	bool is_read = read_files(&reading, files, progress, error);
	lode_traced_rows_clear(&reading.rows);
	g_array_unref(reading.codes);
	g_array_unref(reading.places);
	return is_read ? g_steal_pointer(&recording) : NULL;
}
