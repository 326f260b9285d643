/* SPDX-License-Identifier: MIT */
#include "views/code/annotation.h"

#include "base/text/number_format.h"
#include "model/causes.h"
#include "model/findings.h"
#include "model/mining_run.h"
#include "model/profile.h"
#include "views/code/code_lines.h"
#include "views/code/source_text.h"
#include "views/figures/event_values.h"
#include "views/figures/inlined_lines.h"
#include "views/figures/profile_figures.h"
#include "views/findings/diagnosis_lines.h"
#include "views/findings/finding_figures.h"
#include "views/form/display_text.h"
#include "views/form/function_name.h"
#include "views/form/shell_word.h"
#include "views/form/table.h"
#include "views/observed/fact_attributes.h"
#include "views/observed/loop_facts.h"
#include "views/observed/mispredictions.h"
#include "views/observed/observed_facts.h"
#include "views/profile/profile_lines.h"

#include <string.h>

/* Findings that explain less of all weight in the shown code have no line of their own. */
#define LEAST_EXPLAINED 0.005

typedef LodeAnnotatedPlace Place;

/* From so many bytes on, addresses are apart, as on the heap and on a stack: a size says nothing.
 */
#define LARGEST_EXTENT ((uint64_t)1 << 32)

/* "struct node.next 96.0 %, 2 more, 64 KiB at 0x7f0012345000" */
static void append_data(const LodeAnnotation *self, const LodeInstructionDatum *datum, GString *out)
{
	char address[LODE_NUMBER_SIZE];

	if (datum->n_objects == 0) {
		g_string_append(out, "no address");
		return;
	}
	const LodeInstructionObject *first = lode_annotation_object(self, datum, 0);
	const char *name = lode_annotation_object_name(self, first);
	double named = 0;
	for (uint32_t i = 0; i < datum->n_objects; i++)
		named += lode_annotation_object(self, datum, i)->weight;
	g_autofree char *shown = lode_function_name_text(
		name != NULL ? name : "?", &self->options->terminal);
	g_string_append(out, shown);
	if (datum->n_objects > 1)
		g_string_append_printf(out, " %s, %u more",
			LODE_SHARE_TEXT(lode_share_of(first->weight, named)), datum->n_objects - 1);
	if (!lode_annotation_has_address(datum)) {
		g_string_append(out, ", no address");
		return;
	}
	uint64_t bytes = datum->most - datum->least;
	lode_number_format_address(datum->least, address);
	if (bytes >= LARGEST_EXTENT)
		g_string_append_printf(
			out, ", from %s to %s", address, LODE_ADDRESS_TEXT(datum->most));
	else
		g_string_append_printf(out, ", %s at %s", LODE_BYTES_TEXT(bytes + 1), address);
}

enum { FIRST_EVENT_COLUMN = 2, MAX_EVENT_COLUMNS = 8, DATA_WIDTH = 56, CODE_WIDTH = 60 };

/* On a narrow terminal the columns from here on are left out first, so that the code has room. */
enum {
	DROP_ADDRESS = 1,
	DROP_EXECUTIONS,
	DROP_EVENT,
	DROP_OBSERVED = DROP_EVENT + MAX_EVENT_COLUMNS,
	DROP_DATA,
};

typedef enum { ROW_GAP, ROW_SOURCE, ROW_LOOP, ROW_CODE } RowKind;

typedef struct {
	RowKind kind;
	const LodeAnnotationLine *line;
	const LodeInstruction *instruction; /* NULL: never executed */
} Row;

typedef struct {
	const LodeAnnotation *annotation;
	const LodeCodeLines *code;
	LodeSourceText *sources;
	GArray *rows; /* Row */
	bool is_graph;
	LodeMispredictions mispredictions;
	uint32_t events[MAX_EVENT_COLUMNS];
	uint32_t n_events;
	unsigned data_column;     /* the first of three; 0: none, no data is known here */
	unsigned observed_column; /* 0: none, windows saw nothing of it */
	LodeTableColumn columns[LODE_TABLE_MAX_COLUMNS];
	unsigned n_columns;
	GPtrArray *titles;
} PlaceTable;

static const LodeInstruction *instruction_of(
	const LodeAnnotation *annotation, const LodeCodeLines *code, uint32_t line)
{
	uint32_t instruction = LODE_AT(code->lines, LodeCodeLine, line).instruction;

	if (instruction == LODE_NONE)
		return NULL;
	return lode_profile_instruction(annotation->profile, instruction);
}

static uint32_t instruction_id(const PlaceTable *self, const Row *row)
{
	return LODE_AT(self->code->lines, LodeCodeLine, row->line->line).instruction;
}

/* Puts source lines before the code that they were compiled to, as far as it is known. */
static void gather_rows(PlaceTable *self, const GArray *lines)
{
	const LodeProfile *profile = self->annotation->profile;
	uint32_t location = LODE_NONE, inlining = LODE_NONE;

	for (guint i = 0; i < lines->len; i++) {
		const LodeAnnotationLine *line = &g_array_index(lines, LodeAnnotationLine, i);
		Row row = {.line = line};
		row.instruction = instruction_of(self->annotation, self->code, line->line);
		if (line->follows_gap) {
			row.kind = ROW_GAP;
			g_array_append_val(self->rows, row);
		}
		uint32_t here = row.instruction != NULL ? lode_profile_inlining_of(profile,
								  instruction_id(self, &row))
		                                        : LODE_NONE;
		if (row.instruction != NULL &&
			(row.instruction->location != location || here != inlining)) {
			location = row.instruction->location;
			inlining = here;
			row.kind = ROW_SOURCE;
			g_array_append_val(self->rows, row);
		}
		const LodeLoop *loop = row.instruction != NULL ? lode_loops_find(profile,
									 instruction_id(self, &row))
		                                               : NULL;
		if (loop != NULL && (loop->is_innermost || loop->recurrence != NULL ||
					    loop->iteration_ns >= 0)) {
			row.kind = ROW_LOOP;
			g_array_append_val(self->rows, row);
		}
		row.kind = ROW_CODE;
		g_array_append_val(self->rows, row);
	}
}

static double event_of_row(const PlaceTable *self, uint32_t event, const Row *row)
{
	uint32_t instruction = instruction_id(self, row);

	if (instruction == LODE_NONE)
		return 0;
	return lode_profile_event_value(self->annotation->profile, event, instruction);
}

/* Whether two events have the same values here; LODE_NONE: an event of zeros. */
static bool is_same(const PlaceTable *self, uint32_t event, uint32_t other)
{
	for (guint i = 0; i < self->rows->len; i++) {
		const Row *row = &g_array_index(self->rows, Row, i);
		double value = other != LODE_NONE ? event_of_row(self, other, row) : 0;
		if (event_of_row(self, event, row) != value)
			return false;
	}
	return true;
}

static bool has_column(const PlaceTable *self, uint32_t event)
{
	for (uint32_t i = 0; i < self->n_events; i++)
		if (is_same(self, event, self->events[i]))
			return true;
	return false;
}

/* The weight, where it was sampled if wanted, and the events that make attributes where they happen
 * here. Events of two names, such as D1mr and l1d-miss, have one column. */
static void choose_events(PlaceTable *self)
{
	const LodeProfile *profile = self->annotation->profile;
	uint32_t weight = self->annotation->found.weight_event;
	uint32_t sampled = lode_profile_event_as_sampled(profile, weight);

	if (weight < profile->code.events->len)
		self->events[self->n_events++] = weight;
	if (sampled != LODE_NONE && self->annotation->options->shows_sampled)
		self->events[self->n_events++] = sampled;
	for (uint32_t i = 0; i < profile->code.events->len; i++) {
		bool is_shown = i != weight && lode_profile_event(profile, i)->is_attribute &&
		                self->n_events < MAX_EVENT_COLUMNS;
		if (is_shown && !is_same(self, i, LODE_NONE) && !has_column(self, i))
			self->events[self->n_events++] = i;
	}
}

static bool has_data(const PlaceTable *self)
{
	for (guint i = 0; i < self->rows->len; i++)
		if (lode_annotation_datum(self->annotation,
			    instruction_id(self, &g_array_index(self->rows, Row, i))) != NULL)
			return true;
	return false;
}

static bool is_observed(const PlaceTable *self)
{
	const LodeProfile *profile = self->annotation->profile;
	g_autoptr(GString) text = g_string_new(NULL);

	for (guint i = 0; profile->windows != NULL && i < self->rows->len; i++) {
		uint32_t instruction = instruction_id(self, &g_array_index(self->rows, Row, i));
		if (instruction != LODE_NONE &&
			lode_observed_facts_append(profile, instruction, text))
			return true;
	}
	return false;
}

static void choose_columns(PlaceTable *self)
{
	const LodeProfile *profile = self->annotation->profile;
	unsigned n = 0;

	self->columns[n++] = (LodeTableColumn){"", .is_text = true};
	self->columns[n++] = (LodeTableColumn){"executions", .dropped = DROP_EXECUTIONS};
	for (uint32_t i = 0; i < self->n_events; i++) {
		char *title = lode_display_text(lode_profile_event(profile, self->events[i])->name,
			self->annotation->options->terminal.is_ascii);
		g_ptr_array_add(self->titles, title);
		self->columns[n++] = (LodeTableColumn){
			title, .dropped = i > 0 ? (uint8_t)(DROP_EVENT + i) : 0};
	}
	if (has_data(self)) {
		self->data_column = n;
		bool is_of_windows = self->annotation->data->is_of_windows;
		self->columns[n++] = (LodeTableColumn){
			is_of_windows ? "accesses" : "memory", .dropped = DROP_DATA};
		self->columns[n++] = (LodeTableColumn){
			is_of_windows ? "kept" : "samples", .dropped = DROP_DATA + 2};
		self->columns[n++] = (LodeTableColumn){
			"data", .is_text = true, .dropped = DROP_DATA + 1};
	}
	if (is_observed(self)) {
		self->observed_column = n;
		self->columns[n++] = (LodeTableColumn){
			"windows", .is_text = true, .dropped = DROP_OBSERVED};
	}
	if (!self->is_graph)
		self->columns[n++] = (LodeTableColumn){"address", .dropped = DROP_ADDRESS};
	self->columns[n++] = (LodeTableColumn){self->is_graph ? "vertex" : "code", .is_text = true};
	self->n_columns = n;
}

/* "  (inlined Cache::find → std::operator== basic_string.h:3587)": the function of the line, if
 * that is inlined, and what is inlined into it. */
static void put_inlined(const PlaceTable *self, uint32_t instruction, GString *out)
{
	const LodeTerminal *terminal = &self->annotation->options->terminal;
	g_autoptr(GArray) chain = lode_own_lines_chain(self->annotation->own, instruction);
	g_autoptr(GString) text = g_string_new(NULL);
	guint own = 0;

	while (!g_array_index(chain, LodeInlinedLine, own).is_own)
		own++;
	const LodeInlinedLine *line = &g_array_index(chain, LodeInlinedLine, own);
	if (line->location->inlined != NULL) {
		g_autofree char *name = terminal->has_full_names
		                                ? g_strdup(line->function)
		                                : lode_function_name_bare(line->function);
		g_string_append(text, name);
	}
	if (own + 1 < chain->len) {
		g_string_append(text, text->len > 0 ? " → " : "");
		lode_inlined_lines_append(text, chain, own + 1, terminal);
	}
	if (text->len == 0)
		return;
	g_string_append(out, "  (inlined ");
	lode_display_append(out, text->str, terminal->is_ascii);
	g_string_append_c(out, ')');
}

static LodeStyle put_source(const PlaceTable *self, const Row *row, GString *out)
{
	uint32_t instruction = instruction_id(self, row);
	bool is_ascii = self->annotation->options->terminal.is_ascii;
	const LodeLocation *location = lode_annotation_location(self->annotation, instruction);

	if (location == NULL)
		g_string_append(out, "(line not known)");
	if (location == NULL || location->file == NULL)
		return LODE_STYLE_FAINT;
	lode_display_append_line(out, location->file, location->line, is_ascii);
	const char *path = lode_source_text_admit(self->sources, row->instruction, location->file);
	const char *text = path != NULL ? lode_source_text_line(self->sources, path, location->line)
	                                : NULL;
	if (text != NULL) {
		g_string_append(out, "  ");
		lode_display_append(out, text, is_ascii);
	}
	put_inlined(self, instruction, out);
	return LODE_STYLE_FAINT;
}

/* In a function, what the findings explain. */
static bool is_marked(const PlaceTable *self, const Row *row)
{
	uint32_t n = 0;

	if (self->annotation->options->subject == LODE_ANNOTATE_FUNCTION)
		lode_annotated_places_marks(
			&self->annotation->found, instruction_id(self, row), &n);
	return n > 0 || row->line->elements != 0;
}

/* "▶ 2": the element that a sequence or finding matches; of a finding only the focus has the sign.
 * Else "▶ F1 F7": a line that matches, and the findings. */
static void put_margin(const PlaceTable *self, const Row *row, GString *out)
{
	const LodeAnnotation *annotation = self->annotation;
	const LodeFinding *finding = annotation->finding;
	uint32_t elements = row->line->elements;
	bool has_number = annotation->options->subject == LODE_ANNOTATE_SEQUENCE ||
	                  (finding != NULL && finding->n_elements > 1);
	bool has_sign = finding != NULL ? (elements >> MIN(finding->focus, 31) & 1) != 0
	                                : elements != 0;

	if (has_sign)
		lode_display_append(
			out, has_number ? "▶ " : "▶", annotation->options->terminal.is_ascii);
	else if (elements != 0)
		g_string_append(out, "  ");
	if (has_number)
		lode_annotation_append_elements(elements, out);
	if (annotation->options->subject < LODE_ANNOTATE_FUNCTION)
		return;
	gsize length = out->len;
	lode_annotation_append_marks(annotation, instruction_id(self, row), out);
	if (out->len > length && has_sign)
		g_string_insert_c(out, (gssize)length, ' ');
}

static LodeStyle put_code(const PlaceTable *self, const Row *row, GString *out)
{
	g_autoptr(GString) text = g_string_new(NULL);

	lode_code_lines_text(self->code, row->line->line, text);
	gsize length = text->len;
	/* a vertex of a graph has all its attributes as its text */
	if (!self->is_graph && row->instruction != NULL) {
		lode_fact_attributes_append(
			self->annotation->profile, instruction_id(self, row), "  ; ", text);
		lode_mispredictions_append(&self->mispredictions, self->annotation->profile,
			instruction_id(self, row), text->len > length ? ", " : "  ; ", text);
	}
	lode_display_append(out, text->str, self->annotation->options->terminal.is_ascii);
	return is_marked(self, row) ? LODE_STYLE_STRONG : LODE_STYLE_PLAIN;
}

static void put_figure(const PlaceTable *self, const Row *row, unsigned column, GString *out)
{
	const LodeCodeLine *line = &LODE_AT(self->code->lines, LodeCodeLine, row->line->line);
	unsigned event = column - FIRST_EVENT_COLUMN;

	if (column == 1) {
		double count = row->instruction != NULL ? row->instruction->count : 0;
		g_string_append(out, LODE_COUNT_TEXT(count));
		return;
	}
	if (event >= self->n_events) {
		g_string_append_printf(out, "%" G_GINT64_MODIFIER "x", line->address);
		return;
	}
	double value = event_of_row(self, self->events[event], row);
	if (value != 0)
		lode_event_value_append(out, self->annotation->profile, self->events[event], value);
}

/* The share of the function's memory time, or of its accesses in windows; samples; or objects and
 * addresses. */
static LodeStyle put_datum(const PlaceTable *self, const Row *row, unsigned column, GString *out)
{
	const LodeInstructionDatum *datum = lode_annotation_datum(
		self->annotation, instruction_id(self, row));
	bool is_ascii = self->annotation->options->terminal.is_ascii;

	if (datum == NULL)
		return LODE_STYLE_PLAIN;
	if (column == 0) {
		g_string_append(
			out, LODE_SHARE_TEXT(lode_annotation_datum_share(self->annotation, datum)));
	} else if (column == 1) {
		g_string_append(out, LODE_COUNT_TEXT(datum->totals.n_samples));
	} else {
		g_autoptr(GString) data = g_string_new(NULL), shown = g_string_new(NULL);
		append_data(self->annotation, datum, data);
		lode_display_append(shown, data->str, is_ascii);
		lode_display_shorten_middle(shown, DATA_WIDTH, is_ascii);
		g_string_append(out, shown->str);
	}
	return column == 2 ? LODE_STYLE_NAME : LODE_STYLE_PLAIN;
}

static LodeStyle place_cell(size_t index, unsigned column, GString *out, const void *user_data)
{
	const PlaceTable *self = user_data;
	const Row *row = &g_array_index(self->rows, Row, index);
	bool is_last = column + 1 == self->n_columns;
	bool is_ascii = self->annotation->options->terminal.is_ascii;

	if (row->kind == ROW_GAP && column == 0)
		lode_display_append(out, "⋮", is_ascii);
	if (row->kind == ROW_GAP && is_last && row->line->n_unrun > 0)
		g_string_append_printf(out, "%u never ran", row->line->n_unrun);
	if (row->kind == ROW_SOURCE && is_last)
		return put_source(self, row, out);
	if (row->kind == ROW_LOOP && is_last)
		lode_loop_facts_append(self->annotation->profile,
			lode_loops_find(self->annotation->profile, instruction_id(self, row)), out);
	if (row->kind == ROW_LOOP)
		return LODE_STYLE_NAME;
	if (row->kind != ROW_CODE)
		return LODE_STYLE_FAINT;
	if (is_last)
		return put_code(self, row, out);
	if (self->data_column != 0 && column >= self->data_column && column < self->data_column + 3)
		return put_datum(self, row, column - self->data_column, out);
	if (self->observed_column != 0 && column == self->observed_column) {
		uint32_t instruction = instruction_id(self, row);
		if (instruction != LODE_NONE)
			lode_observed_facts_append(self->annotation->profile, instruction, out);
		return LODE_STYLE_NAME;
	}
	if (column > 0) {
		put_figure(self, row, column, out);
		return LODE_STYLE_PLAIN;
	}
	put_margin(self, row, out);
	return LODE_STYLE_ALARM;
}

/* The name of the event that orders the places; "weight" where the profile has none. */
static const char *event_name(const LodeAnnotation *self)
{
	const char *name = lode_profile_event_name(self->profile, self->found.weight_event);

	return name != NULL ? name : "weight";
}

/* "3.2 % of cycles, 1,234 executions" */
static void put_place_figures(const LodeAnnotation *self, const Place *place, GString *out)
{
	const char *event = event_name(self);
	char share[LODE_NUMBER_SIZE], executions[LODE_NUMBER_SIZE];

	lode_number_format_share(place->share, share);
	if (self->finding != NULL)
		g_string_append_printf(out, "F%u explains %s of %s, of the %s here",
			self->found.index + 1, LODE_SHARE_TEXT(place->time), event, share);
	else
		g_string_append_printf(out, "%s of %s", share, event);
	bool is_function = lode_annotated_place_is_whole(&self->found, place);
	/* Inferred calls stay far below the executions of what they call. */
	bool has_calls = place->executions > 0 &&
	                 self->profile->run.frequency != LODE_FREQUENCY_INFERRED;
	if (!is_function || has_calls)
		g_string_append_printf(out, ", %s %s",
			lode_number_format_count(place->executions, executions),
			is_function ? "calls" : "executions");
}

/* "; memory: 1,234 samples, 3.2 % without an address": what its shares are of. Accesses in windows
 * do not stand for time. */
static void put_data_figures(const LodeAnnotation *self, uint32_t function, GString *out)
{
	if (self->data == NULL || self->data->functions[function].n_samples == 0)
		return;
	const LodeAccessTotals *totals = &self->data->functions[function];
	if (self->data->is_of_windows) {
		g_string_append_printf(out, "; data: %s access%s in windows",
			LODE_COUNT_TEXT(totals->weight), totals->weight > 1 ? "es" : "");
		return;
	}
	g_string_append_printf(out,
		"; memory: %s sample%s of loads and stores, %s without an address",
		LODE_COUNT_TEXT(totals->n_samples), totals->n_samples == 1 ? "" : "s",
		LODE_SHARE_TEXT(lode_share_of(self->data->unresolved[function], totals->weight)));
}

/* The inlined functions at the instruction that a finding or a sequence is about. */
static void put_place_chain(const LodeAnnotation *self, const Place *place, FILE *out)
{
	if (self->options->subject >= LODE_ANNOTATE_FUNCTION || place->instruction == LODE_NONE ||
		lode_profile_inlining_of(self->profile, place->instruction) == LODE_NONE)
		return;
	g_autoptr(GArray) chain = lode_own_lines_chain(self->own, place->instruction);
	g_autoptr(GString) text = g_string_new(NULL), shown = g_string_new(NULL);
	lode_inlined_lines_append(text, chain, 0, &self->options->terminal);
	lode_display_append(shown, text->str, self->options->terminal.is_ascii);
	lode_display_print_indented(&self->options->terminal, 3, out, "%s", shown->str);
}

/* ", version 2 of 3": in which order a compiler made them while the program ran; of code that ran.
 */
static void put_version(const LodeAnnotation *self, const LodeFunction *function, GString *out)
{
	const LodeProfile *profile = self->profile;
	guint n = 0, version = 0;

	for (uint32_t i = 0; i < profile->code.functions->len; i++) {
		const LodeFunction *one = lode_profile_function(profile, i);
		bool is_version = lode_function_is_version(profile, one, function);
		n += is_version;
		version += is_version && one->address <= function->address;
	}
	if (n > 1)
		g_string_append_printf(out, ", version %u of %u", version, n);
}

static void put_place_title(const LodeAnnotation *self, const Place *place, guint number, FILE *out)
{
	const LodeProfile *profile = self->profile;
	const LodeTerminal *terminal = &self->options->terminal;
	const LodeFunction *function = lode_profile_function(profile, place->function);
	const LodeLocation *location = lode_annotation_location(self, place->instruction);
	g_autoptr(GString) name = g_string_new(NULL);
	g_autoptr(GString) rest = g_string_new(NULL), figures = g_string_new(NULL);

	lode_function_name_append(name, function->name, terminal);
	put_version(self, function, name);
	lode_display_append(
		rest, lode_profile_image(profile, function->image)->path, terminal->is_ascii);
	if (location != NULL) {
		g_string_append(rest, "  ");
		if (location->file != NULL)
			lode_display_append(rest, location->file, terminal->is_ascii);
		g_string_append_printf(rest, ":%u", location->line);
	}
	put_place_figures(self, place, figures);
	put_data_figures(self, place->function, figures);
	g_autofree char *shown = lode_display_text(figures->str, terminal->is_ascii);
	fprintf(out, "\n%u. ", number);
	lode_style_write(out, terminal, LODE_STYLE_STRONG, name->str);
	fprintf(out, "  %s\n", rest->str);
	put_place_chain(self, place, out);
	lode_display_print_indented(terminal, 3, out, "%s", shown);
}

/* How much of a function is not shown as it never ran. */
static void put_unrun(const PlaceTable *self, guint n_lines, FILE *out)
{
	guint n = self->code->lines->len;

	if (self->annotation->options->subject == LODE_ANNOTATE_FUNCTION && n_lines < n)
		lode_display_print_indented(&self->annotation->options->terminal, 3, out,
			"%s of %s %s never ran and are left out; --all shows them.",
			LODE_COUNT_TEXT(n - n_lines), LODE_COUNT_TEXT(n),
			self->is_graph ? "vertices" : "instructions");
}

static void put_place(LodeAnnotation *self, LodeSourceText *sources, guint index, FILE *out)
{
	const Place *place = lode_annotated_places_at(&self->found, index);
	const LodeFunction *function = lode_profile_function(self->profile, place->function);
	g_autoptr(GArray) lines = lode_annotation_lines(self, place);
	g_autoptr(GArray) rows = g_array_new(FALSE, FALSE, sizeof(Row));
	g_autoptr(GPtrArray) titles = g_ptr_array_new_with_free_func(g_free);
	PlaceTable place_table = {
		.annotation = self,
		.code = lode_annotation_code(self, place->function),
		.sources = sources,
		.rows = rows,
		.titles = titles,
		.mispredictions = lode_mispredictions_of(self->profile),
		.is_graph = lode_profile_image(self->profile, function->image)->kind ==
	                    LODE_IMAGE_GRAPHS,
	};

	gather_rows(&place_table, lines);
	choose_events(&place_table);
	choose_columns(&place_table);
	put_place_title(self, place, index + 1, out);
	put_unrun(&place_table, lines->len, out);
	LodeTable table = {
		.columns = place_table.columns,
		.n_columns = place_table.n_columns,
		.n_rows = rows->len,
		.cell = place_cell,
		.user_data = &place_table,
		.last_width = CODE_WIDTH,
	};
	uint32_t left_out = lode_table_write(&table, &self->options->terminal, out);
	lode_table_write_left_out(&table, left_out, &self->options->terminal, out);
}

static void put_sequence_lines(const LodeAnnotation *self, FILE *out)
{
	const LodeSequence *sequence = &g_array_index(
		self->run->sequences, LodeSequence, self->found.index);
	const LodeTerminal *terminal = &self->options->terminal;
	const LodeOccurrences *occurrences = self->found.occurrences;
	g_autofree char *text = lode_mining_run_sequence_text(self->run, self->found.index);

	lode_display_print(terminal, out, "Sequence %u of run '%s': %s", self->found.index + 1,
		self->run->name, text);
	if (self->run->parameters.is_instruction_mode)
		lode_display_print(terminal, out,
			"%s occurrences in the code; below are those that were executed inside "
			"one function: %s places.",
			LODE_COUNT_TEXT(sequence->count),
			LODE_COUNT_TEXT(occurrences->places->len));
	else
		lode_display_print(terminal, out,
			"%s of %s, %s of executions. Places: %s, functions: %s; costliest first:",
			LODE_SHARE_TEXT(occurrences->weight), event_name(self),
			LODE_SHARE_TEXT(occurrences->frequency),
			LODE_COUNT_TEXT(occurrences->places->len),
			LODE_COUNT_TEXT(occurrences->functions));
}

static void put_finding_lines(const LodeAnnotation *self, FILE *out)
{
	const LodeFinding *finding = self->finding;
	const LodeFindings *findings = self->run->findings;
	const LodeTerminal *terminal = &self->options->terminal;
	g_autofree char *text = lode_finding_text(findings, finding);
	g_autoptr(GString) time = g_string_new(NULL), each = g_string_new(NULL);

	lode_finding_append_time(time, finding);
	lode_finding_append_each(each, findings, finding,
		lode_event_value_unit(self->profile, self->found.weight_event),
		lode_finding_is_least(self->profile, self->found.weight_event, findings, finding));
	lode_display_print(terminal, out, "Finding F%u of run '%s': %s", self->found.index + 1,
		self->run->name, text);
	lode_display_print(terminal, out,
		"%s of %s, %s each%s%s%s. Places: %s, functions: %s; costliest first:", time->str,
		event_name(self), each->str, finding->executed >= 0 ? ", " : "",
		finding->executed >= 0 ? LODE_SHARE_TEXT(finding->executed) : "",
		finding->executed >= 0 ? " of executions" : "", LODE_COUNT_TEXT(finding->places),
		LODE_COUNT_TEXT(finding->functions));
}

static void put_diagnosis_lines(const LodeAnnotation *self, FILE *out)
{
	const LodeTerminal *terminal = &self->options->terminal;
	guint n = self->found.places->len;

	lode_diagnosis_lines_write(
		self->options->diagnoses, self->profile, self->found.index, terminal, out);
	if (n == 0)
		lode_display_print(terminal, out, "No code of the profile is known to call it.");
	else
		lode_display_print(terminal, out,
			"Places: %u, functions: %u; costliest first:", self->diagnosis->places,
			self->diagnosis->functions);
}

/* What the inlined instances of a function cost together. */
static void put_inlined_line(const LodeAnnotation *self, FILE *out)
{
	const LodeTerminal *terminal = &self->options->terminal;
	g_autofree char *name = lode_function_name_text(self->found.inlined, terminal);
	double sum = 0;
	guint n = 0;

	for (guint i = 0; i < self->found.places->len; i++) {
		const Place *place = lode_annotated_places_at(&self->found, i);
		if (lode_annotated_place_is_whole(&self->found, place))
			continue;
		sum += place->share;
		n++;
	}
	lode_display_print(terminal, out,
		"%s is inlined into %u function%s: %s of %s, with all that is inlined into it",
		name, n, n == 1 ? "" : "s", LODE_SHARE_TEXT(sum), event_name(self));
}

/* Writes the legend of the margin: the findings that are here, and the share of the weight that
 * each explains. */
static void put_margin_lines(const LodeAnnotation *self, FILE *out)
{
	const LodeTerminal *terminal = &self->options->terminal;
	const LodeFindings *findings = self->run->findings;
	g_autoptr(GArray) explained = lode_annotated_places_explained(&self->found);
	g_autoptr(GString) small = g_string_new(NULL);
	bool has_any = false;

	if (self->options->subject == LODE_ANNOTATE_LINE)
		lode_display_print(terminal, out, "Line %u of %s; functions: %u",
			self->options->line, self->options->name, self->found.places->len);
	if (self->found.inlined != NULL)
		put_inlined_line(self, out);
	for (guint i = 0; i < explained->len; i++) {
		double time = g_array_index(explained, double, i);
		g_autofree char *text = lode_finding_text(findings, lode_findings_at(findings, i));
		if (!(time > 0))
			continue;
		if (!has_any)
			lode_display_print(terminal, out,
				"Findings in the margin, with what they explain here of %s:",
				event_name(self));
		has_any = true;
		if (time < LEAST_EXPLAINED)
			g_string_append_printf(small, " F%u", i + 1);
		else
			lode_display_print(
				terminal, out, "  F%u  %s  %s", i + 1, LODE_SHARE_TEXT(time), text);
	}
	if (small->len > 0)
		lode_display_print(terminal, out, "  less than %s each: %s",
			LODE_SHARE_TEXT(LEAST_EXPLAINED), small->str);
	if (findings == NULL && self->options->has_no_run)
		lode_display_print(
			terminal, out, "Nothing was mined yet: 'lode mine' finds what costs.");
	else if (findings == NULL)
		lode_display_print(terminal, out,
			"Run '%s' has no findings to mark; 'lode mine' makes them.",
			self->run->name);
	else if (!has_any)
		lode_display_print(terminal, out, "No finding explains any of it.");
}

/* The words after PROFILE on the command line. */
static char *subject_words(const LodeAnnotation *self)
{
	const LodeAnnotateOptions *options = self->options;
	g_autofree char *line = NULL, *word = NULL;

	switch (options->subject) {
	case LODE_ANNOTATE_FINDING:
		return g_strdup_printf("F%u", self->found.index + 1);
	case LODE_ANNOTATE_DIAGNOSIS:
		return g_strdup_printf("D%u", self->found.index + 1);
	case LODE_ANNOTATE_FUNCTION:
		word = lode_shell_word(options->name);
		return g_strdup_printf("function %s", word);
	case LODE_ANNOTATE_LINE:
		line = g_strdup_printf("%s:%u", options->name, options->line);
		word = lode_shell_word(line);
		return g_strdup_printf("line %s", word);
	case LODE_ANNOTATE_SEQUENCE:
		break;
	}
	return g_strdup_printf("%u", self->found.index + 1);
}

/* The command that shows every place. */
static void put_rest(const LodeAnnotation *self, FILE *out)
{
	const LodeAnnotateOptions *options = self->options;
	guint n = self->found.places->len;
	g_autofree char *path = lode_shell_profile(
		options->profile_path, options->origins, self->profile->part_options);
	g_autofree char *run = lode_shell_word(self->run->name);
	g_autofree char *words = subject_words(self);

	if (self->finding != NULL && n == LODE_FINDING_PLACES && self->finding->places > n)
		lode_display_print(&options->terminal, out,
			"A profile keeps the costliest %u places of a finding; this one has %s.", n,
			LODE_COUNT_TEXT(self->finding->places));
	if (self->found.n_shown == n)
		return;
	lode_display_print(&options->terminal, out,
		"%s of %s places are shown; all of them: lode annotate %s %s%s%s --limit %u",
		LODE_COUNT_TEXT(self->found.n_shown), LODE_COUNT_TEXT(n), path, words,
		options->names_run ? " --run " : "", options->names_run ? run : "", n);
}

static void put_footer(const LodeAnnotation *self, const LodeSourceAccess *access, FILE *out)
{
	const LodeTerminal *terminal = &self->options->terminal;
	g_autoptr(GPtrArray) refusals = lode_source_access_refusals(access);

	fputc('\n', out);
	put_rest(self, out);
	for (guint i = 0; i < refusals->len; i++) {
		const char *line = refusals->pdata[i];
		lode_display_print(terminal, out, "%c%s.", g_ascii_toupper(line[0]), line + 1);
	}
	lode_profile_lines_incomplete(self->run, terminal, out);
	lode_profile_lines_unresolved(self->profile, terminal, out);
}

void lode_annotation_write_text(LodeAnnotation *self, FILE *out)
{
	g_autoptr(GHashTable)
		refused = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	const LodeSourceAccess access = {
		.folders = self->options->source != NULL ? self->options->source->folders : NULL,
		.refused = refused,
	};
	g_autoptr(LodeSourceText) sources = lode_source_text_new(self->profile, &access);

	lode_profile_lines_head(
		self->profile, self->found.weight_event, &self->options->terminal, out);
	lode_profile_lines_inferred(self->profile, &self->options->terminal, out);
	fputc('\n', out);
	if (self->options->subject == LODE_ANNOTATE_SEQUENCE)
		put_sequence_lines(self, out);
	else if (self->finding != NULL)
		put_finding_lines(self, out);
	else if (self->diagnosis != NULL)
		put_diagnosis_lines(self, out);
	else
		put_margin_lines(self, out);
	for (guint i = 0; i < self->found.n_shown; i++)
		put_place(self, sources, i, out);
	put_footer(self, &access, out);
}
