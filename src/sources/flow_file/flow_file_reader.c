/* SPDX-License-Identifier: MIT */
/*
 * Flow file → profile, a line at a time.
 *
 *   line ─▶ fields ─▶ record ─▶ LodeFlowFileGraph ──(next graph, or the end)──▶ LodeProfile
 *
 * Speed comes from not looking at attributes one by one: most vertices share their whole list with
 * others, so that the list's text is looked up first.
 */
#include "base/error.h"
#include "machine/memory_budget.h"
#include "model/observed/windows.h"
#include "model/profile.h"
#include "sources/flow_file/flow_file.h"
#include "sources/flow_file/flow_file_graph.h"
#include "sources/flow_file/flow_file_names.h"
#include "sources/text_lines.h"

#include <glib.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* --- fields --- */

/* The fields of a flow file's line, and the numbers in them. */

typedef struct {
	const char *text; /* in the line; not terminated */
	uint32_t length;
} FlowFileField;

typedef struct {
	const char *next, *end; /* the rest of the line; *end is a NUL */
	const char *fault;      /* the error of the last field; NULL: none */
} FlowFileFields;

/* Goes to the start of the next field, if there is one. */
static inline void flow_file_fields_skip_blanks(FlowFileFields *self)
{
	while (*self->next == ' ' || *self->next == '\t')
		self->next++;
}

/* Whether the field is this word. */
static inline bool flow_file_field_is(FlowFileField self, const char *word)
{
	return strlen(word) == self.length && memcmp(self.text, word, self.length) == 0;
}

enum {
	ORDINARY = 0,
	HIGH = 1, /* part of a character beyond ASCII */
	STOP = 2, /* white space or control */
};

static const uint8_t byte_classes[256] = {
	[0x00 ... 0x20] = STOP,
	[0x7f] = STOP,
	[0x80 ... 0xff] = HIGH,
};

/* Goes on where the field's first byte beyond ASCII is. */
static const char *skip_non_ascii(FlowFileFields *self, const char *start, const char *at)
{
	while (byte_classes[(uint8_t)*at] != STOP)
		at++;
	if (!g_utf8_validate_len(start, (gsize)(at - start), NULL))
		self->fault = "bytes that are not UTF-8, expected UTF-8";
	return at;
}

/* The next field; false at the line's end and on a fault (a control character, no UTF-8). */
static bool flow_file_fields_next(FlowFileFields *self, FlowFileField *out_field)
{
	flow_file_fields_skip_blanks(self);
	const char *start = self->next, *end = start;
	while (byte_classes[(uint8_t)*end] == ORDINARY)
		end++;
	if (byte_classes[(uint8_t)*end] == HIGH)
		end = skip_non_ascii(self, start, end);
	if (end != self->end && *end != ' ' && *end != '\t')
		self->fault = "a control character, expected none";
	if (end == start || self->fault != NULL)
		return false;
	*out_field = (FlowFileField){.text = start, .length = (uint32_t)(end - start)};
	self->next = end;
	return true;
}

/* Digits of one run; false when there is none. `value` is right while there are at most 18. */
static bool scan_digits(const char **at, const char *end, uint64_t *value, int *n)
{
	const char *start = *at;

	for (; *at < end && g_ascii_isdigit(**at); (*at)++)
		*value = *value * 10 + (uint64_t)(**at - '0');
	*n += (int)(*at - start);
	return *at > start;
}

/* An exponent, or nothing; g_ascii_strtod() is to take it from there. */
static bool scan_exponent(const char **at, const char *end, bool *out_is_there)
{
	uint64_t value = 0;
	int n = 0;

	*out_is_there = *at < end && (**at == 'e' || **at == 'E');
	if (!*out_is_there)
		return true;
	(*at)++;
	if (*at < end && (**at == '-' || **at == '+'))
		(*at)++;
	return scan_digits(at, end, &value, &n);
}

/* The field as a finite number ≥ 0: digits with or without a fraction or an exponent. */
static bool flow_file_field_number(FlowFileField self, double *out_number)
{
	static const double powers[] = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10,
		1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18};
	const char *at = self.text, *end = self.text + self.length;
	uint64_t digits = 0;
	int n_digits = 0, n_whole;
	bool has_exponent;

	bool has_whole = scan_digits(&at, end, &digits, &n_digits);
	n_whole = n_digits;
	if (at < end && *at == '.') {
		at++;
		if (!scan_digits(&at, end, &digits, &n_digits) && !has_whole)
			return false;
	} else if (!has_whole) {
		return false;
	}
	if (!scan_exponent(&at, end, &has_exponent) || at != end)
		return false;
	/* Both are exact doubles, so that the one division rounds right. */
	if (!has_exponent && n_digits <= 18 && digits <= UINT64_C(1) << 53) {
		*out_number = (double)digits / powers[n_digits - n_whole];
		return true;
	}
	double number = g_ascii_strtod(self.text, NULL);
	if (!isfinite(number))
		return false;
	*out_number = number;
	return true;
}

/* The field fit to be shown: cut at some length, nothing that a terminal obeys. The caller owns
 * it. */
static char *flow_file_field_shown(FlowFileField self)
{
	enum { LONGEST = 60 };
	uint32_t length = MIN(self.length, LONGEST);

	while (length < self.length && length > LONGEST - 4 &&
		((uint8_t)self.text[length] & 0xc0) == 0x80)
		length--;
	char *shown = g_utf8_make_valid(self.text, (gssize)length);
	for (char *c = shown; *c != '\0'; c++)
		if (byte_classes[(uint8_t)*c] == STOP)
			*c = '?';
	if (length == self.length)
		return shown;
	char *cut = g_strconcat(shown, "…", NULL);
	g_free(shown);
	return cut;
}

/* --- the reader --- */

/* Up to here a double holds each whole number. */
#define LARGEST_WHOLE (UINT64_C(1) << 53)

enum {
	COUNT_EVENT = 0,
	WEIGHT_EVENT = 1,
	FIRST_FURTHER_EVENT = 2,
	MAX_FURTHER_EVENTS = 4096,
	MAX_LISTS = 1 << 18,
	/* Bytes of an attribute's or event's name: each sequence that is mined repeats them. */
	MAX_NAME = 4096,
	/* The memory of records: arrays may be twice as large as their content. */
	VERTEX_BYTES = 2 * (sizeof(LodeInstruction) + sizeof(LodeCost) + sizeof(LodeBlock) +
				   sizeof(LodeFlowFileName) + 10 * sizeof(uint64_t)),
	EDGE_BYTES = 2 * (sizeof(LodeEdge) + sizeof(LodeFlowFileEdge)),
	OBSERVED_BYTES = 2 * (sizeof(LodeObservedEdge) + sizeof(LodeFlowFileObserved)),
	VALUE_BYTES = 2 * (sizeof(LodeCost) + sizeof(LodeFlowFileValue)),
	GRAPH_BYTES = 2 * sizeof(LodeFunction) + 128,
	NAME_BYTES = 256,
};

typedef struct {
	LodeTextLines *lines;
	FlowFileFields fields; /* of the current line */
	LodeProfile *profile;
	LodeFlowFileGraph graph;
	LodeMemoryBudget budget;
	uint64_t n_rows;

	LodeFlowFileNames events; /* further events, in the order of their ids */
	GArray *event_lines;      /* uint64_t: where each came first */
	FlowFileField weight;     /* its name, in `strings` */
	bool has_event;
	int version;

	GStringChunk *strings;        /* scratch */
	LodeFlowFileNames attributes; /* numbers are the profile's ids */
	LodeFlowFileNames lists;      /* texts of whole attribute lists */
	GStringChunk *list_strings;
	GArray *list_sets; /* uint32_t: the attribute set of each list */
	GArray *members;   /* uint32_t: scratch, ids of one list */
} Reader;

static void reader_clear(Reader *self)
{
	lode_flow_file_graph_clear(&self->graph);
	lode_flow_file_names_clear(&self->events);
	lode_flow_file_names_clear(&self->attributes);
	lode_flow_file_names_clear(&self->lists);
	g_clear_pointer(&self->event_lines, g_array_unref);
	g_clear_pointer(&self->list_sets, g_array_unref);
	g_clear_pointer(&self->members, g_array_unref);
	g_clear_pointer(&self->list_strings, g_string_chunk_free);
	g_clear_pointer(&self->strings, g_string_chunk_free);
	lode_profile_free(self->profile);
	lode_text_lines_close(self->lines);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Reader, reader_clear)

static void reader_init(Reader *self, LodeTextLines *lines, const char *path)
{
	g_autofree char *base = g_path_get_basename(path);
	LodeImage image = {.kind = LODE_IMAGE_GRAPHS};

	*self = (Reader){.lines = lines,
		.profile = lode_profile_new(),
		.budget = {.limit_bytes = lode_memory_budget_available()},
		.weight = {.text = "weight", .length = 6},
		.event_lines = g_array_new(FALSE, FALSE, sizeof(uint64_t)),
		.list_sets = g_array_new(FALSE, FALSE, sizeof(uint32_t)),
		.members = g_array_new(FALSE, FALSE, sizeof(uint32_t)),
		.strings = g_string_chunk_new(1 << 12),
		.list_strings = g_string_chunk_new(1 << 14)};
	lode_flow_file_graph_init(&self->graph, self->profile);
	lode_flow_file_names_init(&self->events, self->strings);
	lode_flow_file_names_init(&self->attributes, self->strings);
	lode_flow_file_names_init(&self->lists, self->list_strings);
	self->profile->run.creator = lode_profile_intern(self->profile, "flow file");
	self->profile->run.frequency = LODE_FREQUENCY_GIVEN;
	/* Both get their names when the whole file is known. */
	lode_profile_add_event(self->profile, "", "times executed", LODE_EVENT_COUNT, NULL, 0);
	lode_profile_add_event(self->profile, "", NULL, LODE_EVENT_RECORDED, NULL, 0);
	self->profile->code.weight_event = WEIGHT_EVENT;
	image.path = lode_profile_intern(self->profile, base);
	g_array_append_val(self->profile->code.images, image);
}

static bool G_GNUC_PRINTF(3, 4) fail(Reader *self, GError **error, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	g_autofree char *message = g_strdup_vprintf(format, arguments);
	va_end(arguments);
	return lode_text_lines_error_at(self->lines, lode_text_lines_number(self->lines), error,
		LODE_ERROR_CORRUPT, "%s", message);
}

/* Accounts for one more row of the profile before it is made. */
static bool charge(Reader *self, uint64_t bytes, GError **error)
{
	/* rows are numbered by 32 bits, of which the greatest number stands for none */
	if (lode_memory_budget_charge(&self->budget, bytes) && ++self->n_rows < LODE_NONE)
		return true;
	return lode_text_lines_error_at(self->lines, lode_text_lines_number(self->lines), error,
		LODE_ERROR_LIMIT,
		"the graphs up to here need more memory than the %" G_GUINT64_FORMAT
		" MiB that are available",
		self->budget.limit_bytes >> 20);
}

/* Takes the next field, which the record must have; `what` names it in the error. */
static bool take(Reader *self, const char *what, FlowFileField *out_field, GError **error)
{
	if (flow_file_fields_next(&self->fields, out_field))
		return true;
	if (self->fields.fault != NULL)
		return fail(self, error, "%s", self->fields.fault);
	return fail(self, error, "a field is missing, expected %s", what);
}

static bool take_number(Reader *self, const char *what, double *out_number, GError **error)
{
	FlowFileField field;

	if (!take(self, what, &field, error))
		return false;
	if (flow_file_field_number(field, out_number))
		return true;
	g_autofree char *shown = flow_file_field_shown(field);
	return fail(self, error, "%s is '%s', expected a finite decimal number ≥ 0", what, shown);
}

/* That the record has no more fields. */
static bool take_end(Reader *self, const char *form, GError **error)
{
	FlowFileField field;

	if (!flow_file_fields_next(&self->fields, &field)) {
		if (self->fields.fault != NULL)
			return fail(self, error, "%s", self->fields.fault);
		return true;
	}
	g_autofree char *shown = flow_file_field_shown(field);
	return fail(self, error, "surplus field '%s', expected '%s'", shown, form);
}

static bool is_name_short(Reader *self, const char *what, FlowFileField name, GError **error)
{
	if (name.length <= MAX_NAME)
		return true;
	return lode_text_lines_error_at(self->lines, lode_text_lines_number(self->lines), error,
		LODE_ERROR_LIMIT, "%s of %u bytes, at most %d are allowed", what, name.length,
		MAX_NAME);
}

static bool has_graph(Reader *self, const char *record, GError **error)
{
	if (self->graph.function != LODE_NONE)
		return true;
	return fail(self, error, "'%s' outside a graph, expected 'graph NAME' before it", record);
}

/* Sets the error of a graph that is now complete. */
static bool report_fault(Reader *self, const LodeFlowFault *fault, GError **error)
{
	const LodeFlowFileName *names =
		(const LodeFlowFileName *)(const void *)self->graph.names.names->data;
	const LodeFlowFileName *name = &names[fault->name], *other = &names[fault->target_name];
	g_autofree char *shown = flow_file_field_shown((FlowFileField){name->text, name->length});
	g_autofree char *target = flow_file_field_shown(
		(FlowFileField){other->text, other->length});
	g_autofree char *message = NULL;

	switch (fault->kind) {
	case LODE_FLOW_FAULT_NONE:
		g_assert_not_reached();
	case LODE_FLOW_FAULT_EDGE_TWICE:
		message = g_strdup_printf(
			"edge from '%s' to '%s' is there already, expected it once", shown, target);
		break;
	case LODE_FLOW_FAULT_VALUE_TWICE:
		message = g_strdup_printf(
			"vertex '%s' has a value of this event already, expected one", shown);
		break;
	case LODE_FLOW_FAULT_EDGE_VERTEX:
	case LODE_FLOW_FAULT_VALUE_VERTEX:
		message = g_strdup_printf(
			"%s vertex '%s', which its graph does not have; expected 'v %s' in it",
			fault->kind == LODE_FLOW_FAULT_EDGE_VERTEX ? "edge to or from" : "value of",
			shown, shown);
		break;
	}
	return lode_text_lines_error_at(
		self->lines, fault->line, error, LODE_ERROR_CORRUPT, "%s", message);
}

static bool close_graph(Reader *self, GError **error)
{
	LodeFlowFault fault = lode_flow_file_graph_close(&self->graph, WEIGHT_EVENT);

	if (fault.kind != LODE_FLOW_FAULT_NONE)
		return report_fault(self, &fault, error);
	bool is_finite = isfinite(self->profile->run.total_count);
	for (guint i = 0; i < self->profile->code.events->len; i++)
		is_finite &= isfinite(lode_profile_event(self->profile, i)->total) != 0;
	return is_finite ||
	       fail(self, error, "the numbers up to here add up to more than a double holds");
}

static bool read_graph(Reader *self, GError **error)
{
	FlowFileField name;

	if (!close_graph(self, error) || !take(self, "the graph's name", &name, error) ||
		!take_end(self, "graph NAME", error) ||
		!charge(self, GRAPH_BYTES + name.length, error))
		return false;
	g_autofree char *text = g_strndup(name.text, name.length);
	lode_flow_file_graph_start(&self->graph, text);
	return true;
}

static bool read_event(Reader *self, GError **error)
{
	FlowFileField name;

	if (self->has_event)
		return fail(self, error, "a second 'event', expected at most one");
	if (!take(self, "the event's name", &name, error) || !take_end(self, "event NAME", error) ||
		!is_name_short(self, "an event's name", name, error))
		return false;
	self->has_event = true;
	self->weight.text = g_string_chunk_insert_len(
		self->strings, name.text, (gssize)name.length);
	self->weight.length = name.length;
	return true;
}

/* The id of a further event. */
static bool find_event(Reader *self, FlowFileField name, uint32_t *out_event, GError **error)
{
	uint64_t line = lode_text_lines_number(self->lines);

	if (!is_name_short(self, "an event's name", name, error))
		return false;
	uint32_t number = lode_flow_file_names_add(&self->events, name.text, name.length);

	*out_event = FIRST_FURTHER_EVENT + number;
	if (number < self->event_lines->len)
		return true;
	if (number == MAX_FURTHER_EVENTS)
		return lode_text_lines_error_at(self->lines, line, error, LODE_ERROR_LIMIT,
			"more than %d different events", MAX_FURTHER_EVENTS);
	g_array_append_val(self->event_lines, line);
	lode_profile_add_event(self->profile, lode_flow_file_names_text(&self->events, number),
		NULL, LODE_EVENT_RECORDED, NULL, 0);
	return charge(self, NAME_BYTES + name.length, error);
}

/* The attributes that are left of the line, one by one. */
static bool read_attribute_list(Reader *self, uint32_t *out_set, GError **error)
{
	FlowFileField field;

	g_array_set_size(self->members, 0);
	while (flow_file_fields_next(&self->fields, &field)) {
		guint known = self->attributes.names->len;
		if (!is_name_short(self, "an attribute", field, error))
			return false;
		uint32_t id = lode_flow_file_names_add(&self->attributes, field.text, field.length);
		if (id == known) {
			if (!charge(self, NAME_BYTES + 3 * (uint64_t)field.length, error))
				return false;
			lode_profile_attribute(
				self->profile, lode_flow_file_names_text(&self->attributes, id));
		}
		if (!charge(self, 4 * sizeof(uint32_t), error))
			return false;
		g_array_append_val(self->members, id);
	}
	if (self->fields.fault != NULL)
		return fail(self, error, "%s", self->fields.fault);
	*out_set = lode_profile_attribute_set(
		self->profile, (const uint32_t *)(void *)self->members->data, self->members->len);
	return true;
}

/* The set of the attributes that are left of the line. */
static bool read_attributes(Reader *self, uint32_t *out_set, GError **error)
{
	flow_file_fields_skip_blanks(&self->fields);
	const char *text = self->fields.next;
	uint32_t length = (uint32_t)(self->fields.end - text);

	/* Where lists hardly repeat, to keep them saves nothing: begin again. */
	if (self->lists.names->len >= MAX_LISTS) {
		lode_flow_file_names_reset(&self->lists);
		g_string_chunk_clear(self->list_strings);
		g_array_set_size(self->list_sets, 0);
	}
	uint32_t list = lode_flow_file_names_add(&self->lists, text, length);
	if (list < self->list_sets->len) {
		*out_set = LODE_AT(self->list_sets, uint32_t, list);
		return true;
	}
	if (!charge(self, NAME_BYTES + length, error) || !read_attribute_list(self, out_set, error))
		return false;
	g_array_append_val(self->list_sets, *out_set);
	return true;
}

/* A vertex's count; −1 for "-". */
static bool read_count(Reader *self, double *out_count, GError **error)
{
	FlowFileField field;

	if (!take(self, "the vertex's execution count", &field, error))
		return false;
	*out_count = -1;
	if (flow_file_field_is(field, "-") || flow_file_field_number(field, out_count))
		return true;
	g_autofree char *shown = flow_file_field_shown(field);
	return fail(self, error,
		"the vertex's execution count is '%s', expected a finite decimal number ≥ 0 or '-'",
		shown);
}

static bool read_vertex(Reader *self, GError **error)
{
	FlowFileField id;
	double weight, count;
	uint32_t set;

	if (!has_graph(self, "v", error) || !take(self, "the vertex's id", &id, error) ||
		!take_number(self, "the vertex's weight", &weight, error) ||
		!read_count(self, &count, error) || !read_attributes(self, &set, error) ||
		!charge(self, VERTEX_BYTES + id.length, error))
		return false;
	uint32_t name = lode_flow_file_graph_name(&self->graph, id.text, id.length);
	if (lode_flow_file_graph_add_vertex(&self->graph, name, weight, count, set))
		return true;
	g_autofree char *shown = flow_file_field_shown(id);
	return fail(self, error, "vertex '%s' is there already, expected an id that is new", shown);
}

static bool read_edge(Reader *self, GError **error)
{
	LodeFlowFileEdge edge = {.line = lode_text_lines_number(self->lines)};
	FlowFileField source, target;

	if (!has_graph(self, "e", error) || !take(self, "the edge's source", &source, error) ||
		!take(self, "the edge's target", &target, error) ||
		!take_number(self, "the edge's count", &edge.count, error) ||
		!take_end(self, "e FROM TO COUNT", error) || !charge(self, EDGE_BYTES, error))
		return false;
	edge.source = lode_flow_file_graph_name(&self->graph, source.text, source.length);
	edge.target = lode_flow_file_graph_name(&self->graph, target.text, target.length);
	g_array_append_val(self->graph.edges, edge);
	return true;
}

static bool read_value(Reader *self, GError **error)
{
	LodeFlowFileValue value = {.line = lode_text_lines_number(self->lines)};
	FlowFileField id, event;

	if (!has_graph(self, "x", error) || !take(self, "the vertex's id", &id, error) ||
		!take(self, "the event's name", &event, error) ||
		!take_number(self, "the event's value", &value.value, error) ||
		!take_end(self, "x ID EVENT VALUE", error) || !charge(self, VALUE_BYTES, error) ||
		!find_event(self, event, &value.event, error))
		return false;
	value.vertex = lode_flow_file_graph_name(&self->graph, id.text, id.length);
	g_array_append_val(self->graph.values, value);
	return true;
}

/* A whole number of steps or windows. */
static bool take_whole(
	Reader *self, const char *what, uint64_t limit, uint64_t *out_number, GError **error)
{
	FlowFileField field;
	double number;

	if (!take(self, what, &field, error))
		return false;
	if (flow_file_field_number(field, &number) && number <= (double)limit &&
		number == floor(number)) {
		*out_number = (uint64_t)number;
		return true;
	}
	g_autofree char *shown = flow_file_field_shown(field);
	return fail(self, error, "%s is '%s', expected a whole number up to %" G_GUINT64_FORMAT,
		what, shown, limit);
}

static bool read_observed(Reader *self, GError **error)
{
	LodeFlowFileObserved row = {.edge.line = lode_text_lines_number(self->lines)};
	FlowFileField source, target;
	uint64_t steps, windows;

	if (!has_graph(self, "o", error) || !take(self, "the edge's source", &source, error) ||
		!take(self, "the edge's target", &target, error) ||
		!take_whole(self, "the edge's steps", UINT32_MAX, &steps, error) ||
		!take_whole(self, "the number of windows", steps, &windows, error) ||
		!take_end(self, "o FROM TO STEPS WINDOWS", error) ||
		!charge(self, OBSERVED_BYTES, error))
		return false;
	row.edge.source = lode_flow_file_graph_name(&self->graph, source.text, source.length);
	row.edge.target = lode_flow_file_graph_name(&self->graph, target.text, target.length);
	row.edge.count = (double)steps;
	row.windows = (uint32_t)windows;
	g_array_append_val(self->graph.observed, row);
	return true;
}

static bool read_windows(Reader *self, GError **error)
{
	LodeProfile *profile = self->profile;
	uint64_t windows, steps;

	if (profile->windows != NULL)
		return fail(self, error, "'windows' stands before the graphs, at most once");
	if (!take_whole(self, "the number of windows", LARGEST_WHOLE, &windows, error) ||
		!take_whole(self, "the number of steps", LARGEST_WHOLE, &steps, error) ||
		!take_end(self, "windows WINDOWS STEPS", error))
		return false;
	profile->windows = lode_windows_new();
	profile->windows->n_windows = windows;
	profile->windows->n_steps = steps;
	return true;
}

static const struct {
	char word[8];
	int version; /* from which on */
	bool (*read)(Reader *self, GError **error);
} records[] = {
	{"v", 1, read_vertex},
	{"e", 1, read_edge},
	{"o", 2, read_observed},
	{"x", 1, read_value},
	{"graph", 1, read_graph},
	{"event", 1, read_event},
	{"windows", 2, read_windows},
};

static bool read_record(Reader *self, GError **error)
{
	FlowFileField word;

	flow_file_fields_skip_blanks(&self->fields);
	if (*self->fields.next == '#' || self->fields.next == self->fields.end)
		return true;
	if (!take(self, "the record", &word, error))
		return false;
	for (size_t i = 0; i < G_N_ELEMENTS(records); i++)
		if (self->version >= records[i].version &&
			flow_file_field_is(word, records[i].word))
			return records[i].read(self, error);
	g_autofree char *shown = flow_file_field_shown(word);
	return fail(self, error,
		"unknown record '%s', expected 'event', 'graph', 'v', 'e'%s or 'x'", shown,
		self->version >= 2 ? ", 'o', 'windows'" : "");
}

/* As lode_text_lines_next(), and makes the line the current one. */
static int next_line(Reader *self, GError **error)
{
	const char *line;
	size_t length;
	int found = lode_text_lines_next(self->lines, &line, &length, error);

	if (found > 0)
		self->fields = (FlowFileFields){.next = line, .end = line + length};
	return found;
}

static bool read_first_line(Reader *self, GError **error)
{
	FlowFileField word, version;
	int found = next_line(self, error);

	if (found < 0)
		return false;
	if (found == 0)
		return lode_text_lines_error_at(self->lines, 1, error, LODE_ERROR_CORRUPT,
			"the file is empty, expected 'lode-flow 1'");
	if (!flow_file_fields_next(&self->fields, &word) ||
		!flow_file_field_is(word, "lode-flow") ||
		!flow_file_fields_next(&self->fields, &version))
		return fail(self, error, "not the start of a flow file, expected 'lode-flow 1'");
	self->version = flow_file_field_is(version, "1")   ? 1
	                : flow_file_field_is(version, "2") ? 2
	                                                   : 0;
	if (self->version == 0) {
		g_autofree char *shown = flow_file_field_shown(version);
		return lode_text_lines_error_at(self->lines, 1, error, LODE_ERROR_UNSUPPORTED,
			"flow file of version '%s', expected 'lode-flow 1' or 'lode-flow 2'",
			shown);
	}
	return take_end(self, self->version == 1 ? "lode-flow 1" : "lode-flow 2", error);
}

/* The line of the first x record that names the weight, 0 when there is none: then its value would
 * have two meanings. */
static uint64_t find_weight_among_events(const Reader *self)
{
	for (guint i = 0; i < self->events.names->len; i++)
		if (strcmp(lode_flow_file_names_text(&self->events, i), self->weight.text) == 0)
			return LODE_AT(self->event_lines, uint64_t, i);
	return 0;
}

/* The count event gets a name that the file leaves free. */
static void name_events(Reader *self)
{
	LodeProfile *profile = self->profile;
	g_autoptr(GString) name = g_string_new("executions");

	lode_profile_event(profile, WEIGHT_EVENT)->name = lode_profile_intern(
		profile, self->weight.text);
	while (lode_profile_find_event(profile, name->str) != LODE_NONE)
		g_string_append_c(name, '\'');
	LodeEvent *count = lode_profile_event(profile, COUNT_EVENT);
	count->name = lode_profile_intern(profile, name->str);
	count->total = profile->run.total_count;
}

static bool read_all(Reader *self, GError **error)
{
	int found;

	if (!read_first_line(self, error))
		return false;
	while ((found = next_line(self, error)) > 0)
		if (!read_record(self, error))
			return false;
	if (found < 0 || !close_graph(self, error))
		return false;
	uint64_t line = find_weight_among_events(self);
	if (line != 0) {
		g_autofree char *shown = flow_file_field_shown(self->weight);
		return lode_text_lines_error_at(self->lines, line, error, LODE_ERROR_CORRUPT,
			"'%s' is the weight's name, expected a further event", shown);
	}
	name_events(self);
	return true;
}

LodeProfile *lode_flow_file_read(const char *path, const LodeProgress *progress, GError **error)
{
	LodeTextLines *lines = lode_text_lines_open(path, 0, progress, error);

	if (lines == NULL)
		return NULL;
	g_auto(Reader) reader;
	reader_init(&reader, lines, path);
	if (!read_all(&reader, error))
		return NULL;
	return g_steal_pointer(&reader.profile);
}

bool lode_flow_file_is_format(const char *data, size_t size)
{
	static const char word[] = "lode-flow";
	size_t length = strlen(word);

	return size > length && memcmp(data, word, length) == 0 &&
	       (data[length] == ' ' || data[length] == '\t');
}
