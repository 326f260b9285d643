/* SPDX-License-Identifier: MIT */
/*
 * The text of one callgrind file → flat rows. Every line handed to the scanner ends with a newline
 * inside its buffer, and no loop passes one, so that the hot loops need no other bound.
 *
 *   fn=(12) main            names: "(id) text" defines, "(id)" repeats; one space of ids each for
 *   0x1139 4 1 0 1          objects, files and functions
 *   +5 * 1                  positions: absolute, relative to the last cost line, or the same
 *   jcnd=3/4 -20 -2         a jump: its own position is the next line, which has no cost
 *   * *
 *   cob=(2) libc.so.6       a call: likewise, but the next line has inclusive cost
 *   cfn=(13) puts
 *   calls=1 0x80e50 30
 *   * * 812 90
 *
 * The positions inside jump and call lines are relative to the last cost line and never become it.
 *
 * The valgrind manual's "Callgrind Format Specification", and what callgrind writes.
 */
#include "base/error.h"
#include "model/index.h"
#include "sources/counts/callgrind_records.h"

#include <string.h>

typedef enum {
	PENDING_NOTHING,
	PENDING_JUMP, /* a position without cost must follow */
	PENDING_CALL, /* a position with inclusive cost must follow */
} Pending;

/* A jump or call that was announced. */
typedef struct {
	Pending pending;
	uint32_t object;   /* of `cob=`; NO_INDEX: the caller's own */
	uint32_t function; /* of `cfn=` or `jfn=` */
	uint64_t target;
	uint64_t taken, executed;
	bool is_conditional;
} Transfer;

typedef struct {
	LodeCallgrindRecords *records;
	const LodeProgress *progress;
	GError **error;
	const char *line; /* start of the current line */
	const char *at;
	const char *text; /* where line number `first_line` begins */
	uint64_t first_line;
	const char *next_report;
	size_t size;

	GArray *object_names, *file_names, *function_names; /* id → index + 1; 0: not defined */
	uint32_t pid;
	bool is_callgrind; /* its creator is callgrind itself, which always writes totals */
	bool has_instructions, has_lines; /* of the `positions:` line */
	bool is_part_open;
	unsigned n_events;                          /* 0: no `events:` line yet */
	uint8_t columns[LODE_CALLGRIND_MAX_EVENTS]; /* of the recording */
	bool is_identity;                           /* columns[i] = i */
	double summary[LODE_CALLGRIND_MAX_EVENTS];
	bool has_summary;

	uint64_t address; /* of the last cost line */
	uint32_t source_line;
	uint32_t object, file, function;
	bool is_new_place; /* one of them changed, or the header did */

	Transfer transfer;
} Scanner;

#define NO_INDEX UINT32_MAX

static bool fail(Scanner *self, LodeErrorCode code, const char *what)
{
	uint64_t number = self->first_line;

	/* counted now, so that the lines that are read need not be */
	for (const char *at = self->text; at < self->line; at++)
		number += *at == '\n';
	g_set_error(self->error, LODE_ERROR, (gint)code, "line %" G_GUINT64_FORMAT ": %s", number,
		what);
	return false;
}

static bool corrupt(Scanner *self, const char *what)
{
	return fail(self, LODE_ERROR_CORRUPT, what);
}

static inline void skip_spaces(Scanner *self)
{
	while (*self->at == ' ' || *self->at == '\t' || *self->at == '\r')
		self->at++;
}

static inline void skip_line(Scanner *self)
{
	while (*self->at != '\n')
		self->at++;
	self->at++;
}

/* 0 … 15, or more for a character that is not a digit. */
static inline unsigned hex_digit(char character)
{
	unsigned digit = (unsigned)(character - '0');

	if (digit <= 9)
		return digit;
	digit = ((unsigned)character | 0x20) - 'a';
	return digit <= 5 ? digit + 10 : 16;
}

static bool scan_hex(Scanner *self, uint64_t *out)
{
	const char *start = self->at;
	uint64_t value = 0;

	for (unsigned digit; (digit = hex_digit(*self->at)) < 16; self->at++)
		value = value << 4 | digit;
	*out = value;
	return self->at != start && self->at - start <= 16;
}

static inline bool scan_number(Scanner *self, uint64_t *out)
{
	const char *at = self->at, *start = at;
	uint64_t value = 0;
	unsigned digit;

	while ((digit = (unsigned)(*at - '0')) <= 9) {
		value = value * 10 + digit;
		at++;
	}
	if (*at == 'x' && at - start == 1 && value == 0) {
		self->at = at + 1;
		return scan_hex(self, out);
	}
	self->at = at;
	*out = value;
	return at != start && at - start <= 19; /* more digits may wrap */
}

static inline bool scan_position(Scanner *self, uint64_t last, uint64_t *out)
{
	uint64_t number;

	switch (*self->at) {
	case '*':
		self->at++;
		*out = last;
		return true;
	case '+':
	case '-': {
		bool is_negative = *self->at++ == '-';
		if (!scan_number(self, &number))
			return false;
		*out = is_negative ? last - number : last + number;
		return true;
	}
	default:
		return scan_number(self, out);
	}
}

/* Both parts of a position, relative to the last cost line. */
static inline __attribute__((always_inline)) bool scan_positions(
	Scanner *self, uint64_t *out_address, uint32_t *out_line)
{
	uint64_t line = self->source_line;

	if (!scan_position(self, self->address, out_address))
		return corrupt(self, "expected an instruction address");
	if (self->has_lines) {
		skip_spaces(self);
		if (!scan_position(self, self->source_line, &line) || line > UINT32_MAX)
			return corrupt(self, "expected a line number after the address");
	}
	*out_line = (uint32_t)line;
	skip_spaces(self);
	return true;
}

/* Whether `rows` hold one more after `n` of `size` bytes, growing them where they do not. */
static inline bool make_room(Scanner *self, LodeCallgrindRows *rows, size_t n, size_t size)
{
	return G_LIKELY((n + 1) * size <= rows->room) ||
	       lode_callgrind_rows_reserve(rows, rows->room * 2, self->error);
}

static inline bool scan_values(Scanner *self, double *values, unsigned *out_n)
{
	unsigned n = 0, limit = self->n_events;
	uint64_t value;

	for (; *self->at != '\n'; n++) {
		if (n == limit)
			return corrupt(self, "more costs than the events line names");
		if (!scan_number(self, &value))
			return corrupt(self, "expected a cost");
		values[n] = (double)(int64_t)value;
		skip_spaces(self);
	}
	self->at++;
	*out_n = n;
	return true;
}

/* Values from the file's columns to the recording's; gives the number of columns passed. */
static unsigned spread_values(const Scanner *self, double *values, unsigned n)
{
	double own[LODE_CALLGRIND_MAX_EVENTS];
	unsigned n_spread = 0;

	memcpy(own, values, n * sizeof(double));
	for (unsigned i = 0; i < n; i++)
		n_spread = MAX(n_spread, self->columns[i] + 1u);
	memset(values, 0, n_spread * sizeof(double));
	for (unsigned i = 0; i < n; i++)
		values[self->columns[i]] = own[i];
	return n_spread;
}

static bool begin_place(Scanner *self)
{
	LodeCallgrindRecords *records = self->records;
	LodeCallgrindPlace *places;

	if (self->object == NO_INDEX)
		return corrupt(self, "costs before the first ob= line");
	if (!make_room(self, &records->places, records->n_places, sizeof(*places)))
		return false;
	places = records->places.data;
	places[records->n_places++] = (LodeCallgrindPlace){
		.object = self->object, .function = self->function, .file = self->file};
	self->is_new_place = false;
	return true;
}

static inline bool scan_cost_line(Scanner *self)
{
	LodeCallgrindRecords *records = self->records;
	size_t first_value = records->n_values;
	LodeCallgrindCostRecord *cost;
	unsigned n;

	if (!make_room(self, &records->costs, records->n_costs, sizeof(*cost)) ||
		!make_room(self, &records->values, first_value + LODE_CALLGRIND_MAX_EVENTS,
			sizeof(double)))
		return false;
	cost = (LodeCallgrindCostRecord *)records->costs.data + records->n_costs;
	double *values = (double *)records->values.data + first_value;
	if (!scan_positions(self, &cost->address, &cost->line) || !scan_values(self, values, &n))
		return false;
	if (G_UNLIKELY(!self->is_identity))
		n = spread_values(self, values, n);
	if (G_UNLIKELY(first_value + n > UINT32_MAX))
		return fail(self, LODE_ERROR_LIMIT, "too many costs");
	self->address = cost->address;
	self->source_line = cost->line;
	cost->place = (uint32_t)records->n_places - 1;
	cost->first_value = (uint32_t)first_value;
	cost->n_values = n;
	records->n_values += n;
	records->n_costs++;
	return true;
}

/* The line after `jump=` or `jcnd=`: where the jump stands. */
static bool scan_jump_source(Scanner *self)
{
	LodeCallgrindRecords *records = self->records;
	LodeRecordedJump jump = {
		.target = self->transfer.target,
		.object = self->object,
		.target_object = self->object,
		.target_function = self->transfer.function == NO_INDEX ? self->function
	                                                               : self->transfer.function,
		.is_conditional = self->transfer.is_conditional,
		.taken = (double)self->transfer.taken,
		.executed = (double)self->transfer.executed,
	};
	uint32_t line;

	if (!scan_positions(self, &jump.source, &line))
		return false;
	if (*self->at++ != '\n')
		return corrupt(self, "a jump's position cannot have costs");
	if (!make_room(self, &records->jumps, records->n_jumps, sizeof(jump)))
		return false;
	((LodeRecordedJump *)records->jumps.data)[records->n_jumps++] = jump;
	self->transfer.function = NO_INDEX;
	return true;
}

/* The line after `calls=`: where the call stands; its costs belong to the callee. */
static bool scan_call_source(Scanner *self)
{
	LodeCallgrindRecords *records = self->records;
	LodeRecordedCall call = {
		.target = self->transfer.target,
		.object = self->object,
		.target_object = self->transfer.object == NO_INDEX ? self->object
	                                                           : self->transfer.object,
		.target_function = self->transfer.function,
		.count = (double)self->transfer.taken,
	};
	uint32_t line;

	if (!scan_positions(self, &call.source, &line))
		return false;
	/* inclusive cost: the callee's own lines say it too, and would be counted twice */
	skip_line(self);
	if (!make_room(self, &records->calls, records->n_calls, sizeof(call)))
		return false;
	((LodeRecordedCall *)records->calls.data)[records->n_calls++] = call;
	self->transfer.function = NO_INDEX;
	self->transfer.object = NO_INDEX;
	return true;
}

/* Checks the lines that must have come before the first position. */
static bool check_header(Scanner *self)
{
	if (self->n_events == 0)
		return corrupt(self, "costs before the events line");
	if (self->has_instructions)
		return true;
	return fail(self, LODE_ERROR_UNSUPPORTED,
		"no instruction addresses; record with --dump-instr=yes");
}

static inline bool scan_position_line(Scanner *self)
{
	Pending pending = self->transfer.pending;

	if (G_UNLIKELY(self->is_new_place) && (!check_header(self) || !begin_place(self)))
		return false;
	self->transfer.pending = PENDING_NOTHING;
	if (G_LIKELY(pending == PENDING_NOTHING))
		return scan_cost_line(self);
	return pending == PENDING_JUMP ? scan_jump_source(self) : scan_call_source(self);
}

/* jump=COUNT TARGET, jcnd=TAKEN/EXECUTED TARGET, calls=COUNT TARGET */
static bool scan_transfer(Scanner *self, Pending pending, bool is_conditional)
{
	uint32_t line;

	if (!scan_number(self, &self->transfer.taken))
		return corrupt(self, "expected a count");
	self->transfer.executed = self->transfer.taken;
	if (is_conditional && (*self->at++ != '/' || !scan_number(self, &self->transfer.executed)))
		return corrupt(self, "expected taken/executed");
	if (is_conditional && self->transfer.executed < self->transfer.taken)
		return corrupt(self, "a jump taken more often than it ran");
	skip_spaces(self);
	if (!scan_positions(self, &self->transfer.target, &line))
		return false;
	if (*self->at++ != '\n')
		return corrupt(self, "more than a target position");
	if (pending == PENDING_CALL && self->transfer.function == NO_INDEX)
		return corrupt(self, "calls= without cfn=");
	self->transfer.is_conditional = is_conditional;
	self->transfer.pending = pending;
	return true;
}

static char *copy_name(LodeCallgrindRecords *records, const char *text, size_t size)
{
	GStringChunk *strings = records->recording->strings;

	if (g_utf8_validate(text, (gssize)size, NULL))
		return g_string_chunk_insert_len(strings, text, (gssize)size);
	g_autofree char *valid = g_utf8_make_valid(text, (gssize)size);
	return g_string_chunk_insert(strings, valid);
}

/* The index of a name, added when new. A name is written out once as a rule, so this is called
 * seldom. */
static uint32_t intern_name(LodeCallgrindRecords *records, const char *text, size_t size)
{
	char *name = copy_name(records, text, size);
	void *found = g_hash_table_lookup(records->name_ids, name);

	if (found != NULL)
		return GPOINTER_TO_UINT(found) - 1;
	g_ptr_array_add(records->recording->names, name);
	g_hash_table_insert(
		records->name_ids, name, GUINT_TO_POINTER(records->recording->names->len));
	return records->recording->names->len - 1;
}

/* An object without a name has run-time addresses, so that each process has its own. */
static uint32_t intern_object(Scanner *self, const char *text, size_t size)
{
	LodeCallgrindRecords *records = self->records;
	GStringChunk *strings = records->recording->strings;
	LodeRecordedObject object = {.path = copy_name(records, text, size), .image = LODE_NONE};
	GArray *objects = records->recording->objects;
	char *key = object.path;

	if (strcmp(object.path, "???") == 0) {
		g_autofree char *own = g_strdup_printf("???\n%" G_GUINT32_FORMAT, self->pid);
		key = g_string_chunk_insert_const(strings, own);
		object.pid = self->pid;
	}
	void *found = g_hash_table_lookup(records->object_ids, key);
	if (found != NULL)
		return GPOINTER_TO_UINT(found) - 1;
	g_array_append_val(objects, object);
	g_hash_table_insert(records->object_ids, key, GUINT_TO_POINTER(objects->len));
	return objects->len - 1;
}

/* "(12)" → 12; leaves the cursor where it was when this is part of a name, "(below main)". */
static bool scan_id(Scanner *self, uint64_t *out_id)
{
	const char *start = self->at;

	if (*self->at == '(') {
		self->at++;
		if (scan_number(self, out_id) && *self->at == ')') {
			self->at++;
			return true;
		}
	}
	self->at = start;
	return false;
}

static bool intern(Scanner *self, const GArray *table, uint32_t *out_index)
{
	const char *start = self->at;

	skip_line(self);
	size_t size = (size_t)(self->at - 1 - start);
	if (size > 0 && start[size - 1] == '\r')
		size--;
	if (memchr(start, '\0', size) != NULL)
		return corrupt(self, "a name holds a zero byte");
	if (table == self->object_names) {
		if (self->records->recording->objects->len >= LODE_CALLGRIND_MAX_OBJECTS)
			return fail(self, LODE_ERROR_LIMIT, "too many objects");
		*out_index = intern_object(self, start, size);
	} else {
		*out_index = intern_name(self->records, start, size);
	}
	return true;
}

/* NAME, (ID) NAME or (ID). An id cannot pass the file's size, which bounds the table. */
static bool scan_name(Scanner *self, GArray *table, uint32_t *out_index)
{
	uint64_t id;

	if (!scan_id(self, &id))
		return intern(self, table, out_index);
	if (id > self->size)
		return fail(self, LODE_ERROR_LIMIT, "a name's number is larger than the file");
	skip_spaces(self);
	if (*self->at == '\n') {
		self->at++;
		uint32_t index = id < table->len ? g_array_index(table, uint32_t, id) : 0;
		if (index == 0)
			return corrupt(self, "a name's number that was not defined before");
		*out_index = index - 1;
		return true;
	}
	if (!intern(self, table, out_index))
		return false;
	if (id >= table->len)
		g_array_set_size(table, (guint)id + 1);
	g_array_index(table, uint32_t, id) = *out_index + 1;
	return true;
}

/* Passes `word` where it stands at the cursor. */
static inline bool accept(Scanner *self, const char *word)
{
	const char *at = self->at;

	while (*word != '\0' && *at == *word)
		at++, word++;
	if (*word != '\0')
		return false;
	self->at = at;
	return true;
}

static bool add_totals(Scanner *self, const double *values, unsigned n)
{
	GArray *totals = self->records->recording->totals;

	for (unsigned i = 0; i < n; i++)
		g_array_index(totals, double, self->columns[i]) += values[i];
	self->is_part_open = false;
	return true;
}

/* A part ends at the next one's events or at the end of the file. Callgrind ends each with a totals
 * line, so that a file without is not whole; other programs may write a summary line alone. */
static bool close_part(Scanner *self)
{
	if (self->transfer.pending != PENDING_NOTHING)
		return corrupt(self, "ends inside a jump or call");
	if (!self->is_part_open)
		return true;
	if (self->is_callgrind || !self->has_summary)
		return corrupt(self, "ends before its totals line: the file was cut short");
	self->records->has_totals = false;
	return add_totals(self, self->summary, self->n_events);
}

static uint32_t find_column(LodeRecording *recording, const char *name, size_t size)
{
	for (guint i = 0; i < recording->events->len; i++) {
		const char *known = recording->events->pdata[i];
		if (strlen(known) == size && memcmp(known, name, size) == 0)
			return i;
	}
	return NO_INDEX;
}

/* Before valgrind 3.6, the last level was always called the second. */
static void rename_old_event(const char **name, size_t size)
{
	static const char *const names[][2] = {
		{"I2mr", "ILmr"}, {"D2mr", "DLmr"}, {"D2mw", "DLmw"}};

	for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
		if (size == strlen(names[i][0]) && memcmp(*name, names[i][0], size) == 0)
			*name = names[i][1];
}

static bool add_event(Scanner *self, const char *name, size_t size)
{
	LodeRecording *recording = self->records->recording;

	rename_old_event(&name, size);
	uint32_t column = find_column(recording, name, size);
	if (memchr(name, '\0', size) != NULL || !g_utf8_validate(name, (gssize)size, NULL))
		return corrupt(self, "an event's name is not text");
	for (unsigned i = 0; i < self->n_events; i++)
		if (self->columns[i] == column)
			return corrupt(self, "an event twice");
	if (column == NO_INDEX) {
		if (recording->events->len >= LODE_CALLGRIND_MAX_EVENTS)
			return fail(self, LODE_ERROR_LIMIT, "too many events");
		column = recording->events->len;
		g_ptr_array_add(recording->events,
			g_string_chunk_insert_len(recording->strings, name, (gssize)size));
		g_array_set_size(recording->totals, column + 1);
	}
	self->is_identity = self->is_identity && column == self->n_events;
	self->columns[self->n_events++] = (uint8_t)column;
	return true;
}

static bool scan_events(Scanner *self)
{
	if (!close_part(self))
		return false;
	self->n_events = 0;
	self->is_identity = true;
	self->is_new_place = true;
	for (skip_spaces(self); *self->at != '\n'; skip_spaces(self)) {
		const char *start = self->at;
		while (!g_ascii_isspace(*self->at))
			self->at++;
		if (!add_event(self, start, (size_t)(self->at - start)))
			return false;
	}
	if (self->n_events == 0)
		return corrupt(self, "no events");
	self->at++;
	self->is_part_open = true;
	self->has_summary = false;
	return true;
}

static bool scan_totals(Scanner *self, bool is_final)
{
	double values[LODE_CALLGRIND_MAX_EVENTS] = {0};
	unsigned n;

	if (self->n_events == 0)
		return corrupt(self, "totals before the events line");
	skip_spaces(self);
	if (!scan_values(self, values, &n))
		return false;
	if (is_final)
		return self->is_part_open ? add_totals(self, values, n)
		                          : corrupt(self, "a second totals line");
	memcpy(self->summary, values, sizeof(values));
	self->has_summary = true;
	return true;
}

static bool scan_positions_header(Scanner *self)
{
	self->has_instructions = self->has_lines = false;
	self->is_new_place = true;
	for (skip_spaces(self); *self->at != '\n'; skip_spaces(self)) {
		if (accept(self, "instr"))
			self->has_instructions = true;
		else if (accept(self, "line"))
			self->has_lines = true;
		else
			return fail(self, LODE_ERROR_UNSUPPORTED,
				"positions other than instr and line");
	}
	self->at++;
	return true;
}

/* The rest of the line, after "cmd:" or "creator:", without blanks around it; size 0: it is not
 * text. */
static const char *scan_header_text(Scanner *self, size_t *out_size)
{
	skip_spaces(self);
	const char *start = self->at;
	skip_line(self);
	size_t size = (size_t)(self->at - 1 - start);
	while (size > 0 && g_ascii_isspace(start[size - 1]))
		size--;
	*out_size = memchr(start, '\0', size) == NULL ? size : 0;
	return start;
}

/* Any other "word:" is a header (desc:, part:, those of newer versions) that costs do not need. */
static bool scan_unknown(Scanner *self)
{
	const char *start = self->at;

	while (g_ascii_isalnum(*self->at))
		self->at++;
	if (self->at == start || *self->at != ':')
		return corrupt(self, "not a line of a callgrind file");
	skip_line(self);
	return true;
}

static bool scan_version(Scanner *self)
{
	uint64_t version;

	skip_spaces(self);
	if (!scan_number(self, &version))
		return corrupt(self, "expected a version");
	if (version != 1)
		return fail(self, LODE_ERROR_UNSUPPORTED, "only version 1 is known");
	skip_line(self);
	return true;
}

static bool scan_creator(Scanner *self)
{
	skip_spaces(self);
	const char *start = self->at;
	self->is_callgrind = accept(self, "callgrind-");
	self->at = start;
	char **creator = &self->records->recording->programs.creator;
	size_t size;
	const char *text = scan_header_text(self, &size);
	if (*creator == NULL && size > 0)
		*creator = copy_name(self->records, text, size);
	return true;
}

static bool scan_command(Scanner *self)
{
	size_t size;
	const char *text = scan_header_text(self, &size);

	lode_recording_add_command(self->records->recording, text, size);
	return true;
}

static bool scan_pid(Scanner *self)
{
	GArray *pids = self->records->recording->pids;
	uint64_t pid;

	skip_spaces(self);
	if (!scan_number(self, &pid) || pid > INT32_MAX)
		return corrupt(self, "expected a process id");
	skip_line(self);
	self->pid = (uint32_t)pid;
	for (guint i = 0; i < pids->len; i++)
		if (g_array_index(pids, uint32_t, i) == self->pid)
			return true;
	g_array_append_val(pids, self->pid);
	return true;
}

static bool scan_header(Scanner *self)
{
	if (accept(self, "events:"))
		return scan_events(self);
	if (accept(self, "positions:"))
		return scan_positions_header(self);
	if (accept(self, "summary:"))
		return scan_totals(self, false);
	if (accept(self, "totals:"))
		return scan_totals(self, true);
	if (accept(self, "version:"))
		return scan_version(self);
	if (accept(self, "creator:"))
		return scan_creator(self);
	if (accept(self, "pid:"))
		return scan_pid(self);
	if (accept(self, "cmd:"))
		return scan_command(self);
	return scan_unknown(self);
}

/* `cfi=` and `cfl=` name the callee's file, `jfi=` the target's: the binary knows them better. */
static bool scan_callee(Scanner *self)
{
	uint32_t ignored;

	if (accept(self, "cfn="))
		return scan_name(self, self->function_names, &self->transfer.function);
	if (accept(self, "calls="))
		return scan_transfer(self, PENDING_CALL, false);
	if (accept(self, "cob="))
		return scan_name(self, self->object_names, &self->transfer.object);
	if (accept(self, "cfi=") || accept(self, "cfl="))
		return scan_name(self, self->file_names, &ignored);
	return scan_header(self);
}

static bool scan_jump(Scanner *self)
{
	uint32_t ignored;

	if (accept(self, "jcnd="))
		return scan_transfer(self, PENDING_JUMP, true);
	if (accept(self, "jump="))
		return scan_transfer(self, PENDING_JUMP, false);
	if (accept(self, "jfi="))
		return scan_name(self, self->file_names, &ignored);
	if (accept(self, "jfn="))
		return scan_name(self, self->function_names, &self->transfer.function);
	return scan_header(self);
}

static bool scan_place(Scanner *self)
{
	/* A `cfn=` that no `calls=` followed ends with its place. */
	self->transfer.function = NO_INDEX;
	self->transfer.object = NO_INDEX;
	self->is_new_place = true;
	if (accept(self, "fn="))
		return scan_name(self, self->function_names, &self->function);
	if (accept(self, "fl=") || accept(self, "fi=") || accept(self, "fe="))
		return scan_name(self, self->file_names, &self->file);
	return scan_header(self);
}

static bool scan_word_line(Scanner *self)
{
	if (self->transfer.pending != PENDING_NOTHING)
		return corrupt(self, "expected the position of the jump or call above");
	switch (*self->at) {
	case 'c':
		return scan_callee(self);
	case 'j':
		return scan_jump(self);
	case 'f':
		return scan_place(self);
	case 'o':
		self->is_new_place = true;
		return accept(self, "ob=") ? scan_name(self, self->object_names, &self->object)
		                           : scan_header(self);
	case '#':
		skip_line(self);
		return true;
	default:
		return scan_header(self);
	}
}

static bool report(Scanner *self, const char *end)
{
	self->next_report = end - self->at > 1 << 22 ? self->at + (1 << 22) : end;
	lode_progress_report(self->progress, "reading callgrind output",
		(double)(self->at - self->text), (double)self->size, NULL);
	if (!lode_progress_is_cancelled(self->progress))
		return true;
	return fail(self, LODE_ERROR_CANCELLED, "stopped");
}

/* Whole lines only. */
static bool scan_lines(Scanner *self, const char *begin, const char *end)
{
	bool is_ok = true;

	self->text = self->at = self->next_report = begin;
	while (self->at < end && is_ok) {
		char first = *self->at;
		self->line = self->at;
		if (G_UNLIKELY(self->at >= self->next_report) && !report(self, end))
			return false;
		if (first == '+' || first == '*' || first == '-' || (first >= '0' && first <= '9'))
			is_ok = scan_position_line(self);
		else if (first == '\n')
			self->at++;
		else
			is_ok = scan_word_line(self);
	}
	self->line = self->at;
	return is_ok;
}

static bool end_text(Scanner *self)
{
	if (!close_part(self))
		return false;
	return self->n_events > 0 || corrupt(self, "no events line: not a callgrind file");
}

/* The last line may lack its newline: it is scanned in a copy that has one. */
static bool scan_text(Scanner *self, const char *text, size_t size)
{
	const char *last = size > 0 ? memrchr(text, '\n', size) : NULL;
	const char *end = last != NULL ? last + 1 : text;
	size_t rest = size - (size_t)(end - text);

	self->first_line = 1;
	if (!scan_lines(self, text, end))
		return false;
	if (rest == 0)
		return end_text(self);
	for (const char *at = text; at < end; at++)
		self->first_line += *at == '\n';
	g_autofree char *copy = g_try_malloc(rest + 1);
	if (copy == NULL)
		return fail(self, LODE_ERROR_LIMIT, "no memory for the last line");
	memcpy(copy, end, rest);
	copy[rest] = '\n';
	return scan_lines(self, copy, copy + rest + 1) && end_text(self);
}

bool lode_callgrind_scan(LodeCallgrindRecords *records, const char *text, size_t size,
	const LodeProgress *progress, GError **error)
{
	Scanner self = {
		.records = records,
		.progress = progress,
		.error = error,
		.size = size,
		.object_names = g_array_new(FALSE, TRUE, sizeof(uint32_t)),
		.file_names = g_array_new(FALSE, TRUE, sizeof(uint32_t)),
		.function_names = g_array_new(FALSE, TRUE, sizeof(uint32_t)),
		.is_new_place = true,
		.object = NO_INDEX,
		.file = NO_INDEX,
		.function = NO_INDEX,
		.transfer = {.object = NO_INDEX, .function = NO_INDEX},
	};
	bool is_ok = scan_text(&self, text, size);

	g_array_unref(self.function_names);
	g_array_unref(self.file_names);
	g_array_unref(self.object_names);
	return is_ok;
}
