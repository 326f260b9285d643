/* SPDX-License-Identifier: MIT */
/*
 * Profile → flow file. The order of everything is fixed by names, never by ids, which a reader
 * would number anew: so what was written, read and written again has the same bytes.
 *
 *   graph main
 *   v 0x1139 12 4 kind:load op:mov     attributes by bytes
 *   e 0x1139 0x113c 4                  edges by source and target
 *   o 0x1139 0x113c 40 6               likewise, where windows were observed
 *   x 0x1139 l1d-miss 2                values by vertex and the event's name
 */
#include "sources/flow_file/flow_file.h"

#include "base/arrays/sort_order.h"
#include "base/error.h"
#include "base/text/number_format.h"
#include "model/causes.h"
#include "model/mined/event_grade.h"
#include "model/observed/windows.h"
#include "model/profile.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
	const LodeProfile *profile;
	uint32_t weight_event;
	double event_rate;
	FILE *out;
	GString *line;
	GPtrArray *attributes;       /* char *: their names as written */
	GPtrArray *event_names;      /* char *: likewise; */
	GPtrArray *event_attributes; /* char **: "ev:NAME" by grade; NULL for events that give none
	                              */
	GArray *event_order;         /* uint32_t: recorded events by name, not the weight */
	GPtrArray *words;            /* char *: scratch, borrowed */
	GArray *edges;               /* LodeEdge: scratch, of one graph */
} Writer;

static void writer_clear(Writer *self)
{
	g_string_free(self->line, TRUE);
	g_ptr_array_unref(self->attributes);
	g_ptr_array_unref(self->event_names);
	g_ptr_array_unref(self->event_attributes);
	g_array_unref(self->event_order);
	g_ptr_array_unref(self->words);
	g_array_unref(self->edges);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Writer, writer_clear)

/*
 * A name as one field: white space, control characters and what is not UTF-8 become %XX. A percent
 * sign stays as it is, so that a name that was written so once does not change any more.
 */
static char *field_of(const char *name)
{
	bool is_utf8 = g_utf8_validate(name, -1, NULL);
	GString *field = g_string_new(NULL);

	for (const char *c = name; *c != '\0'; c++) {
		uint8_t byte = (uint8_t)c[0], next = (uint8_t)c[1];
		/* U+0080 … U+009F, of two bytes in UTF-8, are control characters too. */
		bool is_c1 = byte == 0xc2 && next < 0xa0;
		if (is_c1 && is_utf8) {
			g_string_append_printf(field, "%%%02X%%%02X", byte, next);
			c++;
		} else if (byte <= ' ' || byte == 0x7f || (byte >= 0x80 && !is_utf8)) {
			g_string_append_printf(field, "%%%02X", byte);
		} else {
			g_string_append_c(field, *c);
		}
	}
	if (field->len == 0)
		g_string_append_c(field, '?');
	return g_string_free(field, FALSE);
}

static const char *word_at(const GPtrArray *words, uint32_t index)
{
	return g_ptr_array_index(words, index);
}

static int compare_event_names(const void *a, const void *b, void *user_data)
{
	const GPtrArray *names = user_data;

	return strcmp(word_at(names, *(const uint32_t *)a), word_at(names, *(const uint32_t *)b));
}

/* "ev:NAME" and what follows it. A rate per execution of what was sampled, or where executions are
 * estimated, is not known so well. */
static char **grade_names(const Writer *self, const LodeEvent *event, const char *attribute)
{
	bool is_rate = self->profile->run.frequency == LODE_FREQUENCY_EXACT &&
	               event->kind != LODE_EVENT_SAMPLED;
	char **names = g_new0(char *, LODE_N_EVENT_GRADES + 1);

	for (unsigned i = 0; i < (is_rate ? LODE_N_EVENT_GRADES : 1); i++) {
		g_autofree char *name = g_strconcat(attribute, lode_event_grade_suffix(i), NULL);
		names[i] = field_of(name);
	}
	return names;
}

static void prepare_events(Writer *self)
{
	for (guint i = 0; i < self->profile->code.events->len; i++) {
		const LodeEvent *event = lode_profile_event(self->profile, i);
		g_autofree char *attribute = lode_event_attribute(event);
		char *name = field_of(event->name);
		g_ptr_array_add(self->event_names, name);
		g_ptr_array_add(self->event_attributes,
			event->is_attribute ? grade_names(self, event, attribute) : NULL);
		if (lode_event_kind_has_costs(event->kind) && i != self->weight_event)
			g_array_append_val(self->event_order, i);
	}
	g_array_sort_with_data(self->event_order, compare_event_names, self->event_names);
}

static void writer_init(Writer *self)
{
	self->line = g_string_new(NULL);
	self->attributes = g_ptr_array_new_with_free_func(g_free);
	self->event_names = g_ptr_array_new_with_free_func(g_free);
	self->event_attributes = g_ptr_array_new_with_free_func((GDestroyNotify)g_strfreev);
	self->event_order = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	self->words = g_ptr_array_new();
	self->edges = g_array_new(FALSE, FALSE, sizeof(LodeEdge));
	for (guint i = 0; i < self->profile->code.attributes->len; i++)
		g_ptr_array_add(self->attributes,
			field_of(g_ptr_array_index(self->profile->code.attributes, i)));
	prepare_events(self);
}

static bool set_write_error(GError **error)
{
	g_set_error(error, LODE_ERROR, LODE_ERROR_IO, "writing the flow file failed: %s",
		g_strerror(errno));
	return false;
}

static bool put_line(Writer *self, GError **error)
{
	g_string_append_c(self->line, '\n');
	bool is_written = fwrite(self->line->str, 1, self->line->len, self->out) == self->line->len;
	g_string_truncate(self->line, 0);
	return is_written || set_write_error(error);
}

/* "1.5e-07" → "0.00000015": the format has no exponents. */
static void append_without_exponent(GString *line, const char *text)
{
	const char *exponent = strchr(text, 'e');
	int point = 1 + atoi(exponent + 1); /* digits before the decimal point */
	g_autoptr(GString) digits = g_string_new(NULL);

	for (const char *c = text; c < exponent; c++)
		if (*c != '.')
			g_string_append_c(digits, *c);
	if (point <= 0)
		g_string_append(line, "0.");
	for (int i = point; i < 0; i++)
		g_string_append_c(line, '0');
	g_string_append_len(line, digits->str, CLAMP(point, 0, (int)digits->len));
	for (int i = (int)digits->len; i < point; i++)
		g_string_append_c(line, '0');
	if (point > 0 && point < (int)digits->len)
		g_string_append_c(line, '.');
	if (point < (int)digits->len)
		g_string_append(line, digits->str + MAX(point, 0));
}

static bool append_number(Writer *self, double number, GError **error)
{
	char text[LODE_NUMBER_SIZE];

	if (!isfinite(number) || number < 0) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_CORRUPT,
			"the profile holds the number %g in '%s…', expected a finite one ≥ 0",
			number, self->line->str);
		return false;
	}
	lode_number_format_exact(number, text);
	if (strchr(text, 'e') == NULL)
		g_string_append(self->line, text);
	else
		append_without_exponent(self->line, text);
	return true;
}

static const LodeInstruction *instruction_at(const Writer *self, uint32_t index)
{
	return lode_profile_instruction(self->profile, index);
}

/* Adds a vertex's id and the blank after it. */
static void append_vertex(Writer *self, uint32_t index)
{
	const LodeInstruction *instruction = instruction_at(self, index);

	if (instruction->name == NULL) {
		g_string_append_printf(
			self->line, "0x%" G_GINT64_MODIFIER "x ", instruction->address);
		return;
	}
	g_autofree char *name = field_of(instruction->name);
	g_string_append(self->line, name);
	g_string_append_c(self->line, ' ');
}

/* An event is an attribute of an instruction by how often it happens there. */
static void add_event_attributes(Writer *self, uint32_t event, uint32_t index)
{
	const char *const *names = g_ptr_array_index(self->event_attributes, event);
	double count = instruction_at(self, index)->count;

	if (names == NULL)
		return;
	double value = lode_profile_event_value(self->profile, event, index);
	for (unsigned i = 0; names[i] != NULL && value > 0; i++)
		if (value >= lode_event_grade_rate(i, self->event_rate) * count)
			g_ptr_array_add(self->words, (char *)names[i]);
}

static void append_attributes(Writer *self, uint32_t index)
{
	uint32_t id = instruction_at(self, index)->attribute_set;
	const char *last = NULL;

	g_ptr_array_set_size(self->words, 0);
	if (id != LODE_NONE) {
		uint32_t n;
		const uint32_t *members = lode_profile_set_members(self->profile, id, &n);
		for (uint32_t i = 0; i < n; i++)
			g_ptr_array_add(
				self->words, g_ptr_array_index(self->attributes, members[i]));
	}
	for (guint i = 0; i < self->profile->code.events->len; i++)
		add_event_attributes(self, i, index);
	g_ptr_array_sort(self->words, lode_compare_texts);
	for (guint i = 0; i < self->words->len; i++) {
		const char *word = word_at(self->words, i);
		if (last == NULL || strcmp(last, word) != 0)
			g_string_append_printf(self->line, " %s", word);
		last = word;
	}
}

static bool write_vertex(Writer *self, uint32_t index, GError **error)
{
	double weight = lode_profile_event_value(self->profile, self->weight_event, index);

	g_string_append(self->line, "v ");
	append_vertex(self, index);
	if (!append_number(self, weight, error))
		return false;
	g_string_append_c(self->line, ' ');
	if (!append_number(self, instruction_at(self, index)->count, error))
		return false;
	append_attributes(self, index);
	return put_line(self, error);
}

static bool is_within(const LodeFunction *function, uint32_t instruction)
{
	return instruction >= function->first_instruction &&
	       instruction - function->first_instruction < function->n_instructions;
}

LODE_ORDER(compare_edges, LodeEdge, LODE_ASCENDING(source), LODE_ASCENDING(target))

/* The edges of a function's own graph; `first` goes on over the profile's edges. */
static void collect_edges(Writer *self, const LodeFunction *function, guint *first)
{
	const GArray *edges = self->profile->code.edges;

	g_array_set_size(self->edges, 0);
	for (uint32_t i = 0; i + 1 < function->n_instructions; i++) {
		uint32_t source = function->first_instruction + i;
		LodeEdge edge = {.source = source,
			.target = source + 1,
			.count = instruction_at(self, source)->next_count};
		if (edge.count >= 0)
			g_array_append_val(self->edges, edge);
	}
	while (*first < edges->len &&
		LODE_AT(edges, LodeEdge, *first).source < function->first_instruction)
		++*first;
	for (; *first < edges->len; ++*first) {
		const LodeEdge *edge = &LODE_AT(edges, LodeEdge, *first);
		if (!is_within(function, edge->source))
			break;
		if (edge->kind != LODE_EDGE_CALL && edge->kind != LODE_EDGE_RETURN &&
			is_within(function, edge->target))
			g_array_append_vals(self->edges, edge, 1);
	}
	g_array_sort(self->edges, compare_edges);
}

/* Edges with the same ends, such as a branch to the next instruction, become one. */
static bool write_edges(Writer *self, GError **error)
{
	for (guint i = 0; i < self->edges->len;) {
		LodeEdge edge = LODE_AT(self->edges, LodeEdge, i++);
		for (; i < self->edges->len; i++) {
			const LodeEdge *same = &LODE_AT(self->edges, LodeEdge, i);
			if (same->source != edge.source || same->target != edge.target)
				break;
			edge.count += same->count;
		}
		g_string_append(self->line, "e ");
		append_vertex(self, edge.source);
		append_vertex(self, edge.target);
		if (!append_number(self, edge.count, error) || !put_line(self, error))
			return false;
	}
	return true;
}

/* The steps of the edges within a function; `first` goes on over those of the profile. */
static bool write_observed(Writer *self, const LodeFunction *function, guint *first, GError **error)
{
	const LodeWindows *windows = self->profile->windows;

	for (; windows != NULL && *first < windows->edges->len; ++*first) {
		const LodeObservedEdge *edge = &LODE_AT(windows->edges, LodeObservedEdge, *first);
		if (!is_within(function, edge->source))
			break;
		if (!is_within(function, edge->target))
			continue;
		g_string_append(self->line, "o ");
		append_vertex(self, edge->source);
		append_vertex(self, edge->target);
		g_string_append_printf(self->line, "%u %u", edge->steps, edge->windows);
		if (!put_line(self, error))
			return false;
	}
	return true;
}

static bool write_values(Writer *self, uint32_t index, GError **error)
{
	const GArray *starts = self->profile->code.cost_starts;

	if (LODE_AT(starts, uint32_t, index) == LODE_AT(starts, uint32_t, index + 1))
		return true;
	for (guint i = 0; i < self->event_order->len; i++) {
		uint32_t event = LODE_AT(self->event_order, uint32_t, i);
		double value = lode_profile_event_value(self->profile, event, index);
		if (value == 0)
			continue;
		g_string_append(self->line, "x ");
		append_vertex(self, index);
		g_string_append_printf(self->line, "%s ", word_at(self->event_names, event));
		if (!append_number(self, value, error) || !put_line(self, error))
			return false;
	}
	return true;
}

static bool write_graph(Writer *self, const LodeFunction *function, guint *first_edge,
	guint *first_observed, GError **error)
{
	uint32_t end = function->first_instruction + function->n_instructions;
	g_autofree char *name = field_of(function->name);

	g_string_append_printf(self->line, "graph %s", name);
	if (!put_line(self, error))
		return false;
	for (uint32_t i = function->first_instruction; i < end; i++)
		if (!write_vertex(self, i, error))
			return false;
	collect_edges(self, function, first_edge);
	if (!write_edges(self, error) || !write_observed(self, function, first_observed, error))
		return false;
	for (uint32_t i = function->first_instruction; i < end; i++)
		if (!write_values(self, i, error))
			return false;
	return true;
}

bool lode_flow_file_write(const LodeProfile *profile, uint32_t weight_event, double event_rate,
	FILE *out, GError **error)
{
	g_auto(Writer) writer = {.profile = profile,
		.weight_event = weight_event,
		.event_rate = event_rate,
		.out = out};
	const LodeWindows *windows = profile->windows;
	guint first_edge = 0, first_observed = 0;

	writer_init(&writer);
	g_string_append(writer.line, windows != NULL ? "lode-flow 2\n" : "lode-flow 1\n");
	/* A flow file's own counts are all that can be read from one. */
	if (profile->run.frequency == LODE_FREQUENCY_SAMPLED ||
		profile->run.frequency == LODE_FREQUENCY_INFERRED)
		g_string_append_printf(writer.line, "# counts are estimates: %s\n",
			lode_frequency_to_text(profile->run.frequency));
	g_string_append_printf(writer.line, "event %s", word_at(writer.event_names, weight_event));
	if (windows != NULL)
		g_string_append_printf(writer.line,
			"\nwindows %" G_GUINT64_FORMAT " %" G_GUINT64_FORMAT, windows->n_windows,
			windows->n_steps);
	if (!put_line(&writer, error))
		return false;
	for (guint i = 0; i < profile->code.functions->len; i++)
		if (!write_graph(&writer, lode_profile_function(profile, i), &first_edge,
			    &first_observed, error))
			return false;
	return fflush(out) == 0 || set_write_error(error);
}
