/* SPDX-License-Identifier: MIT */
#include "views/calls/service_lines.h"

#include "base/text/number_format.h"
#include "model/index.h"
#include "views/calls/call_lines.h"
#include "views/figures/profile_figures.h"
#include "views/form/display_text.h"
#include "views/form/function_name.h"
#include "views/form/table.h"

#include <math.h>

enum { SHOWN_CALLERS = 3, MOST_ROWS = 20, NAME_WIDTH = 40 };

#define LEAST_SHARE 0.01

/* So much of a service is all of it. */
#define ALL 0.995

static const LodeService *service_at(const LodeServiceLines *self, size_t i)
{
	return &g_array_index(self->services->services, LodeService, i);
}

void lode_service_lines_name(const LodeServiceLines *self, const LodeService *service,
	const LodeTerminal *terminal, GString *out)
{
	if (service->function == LODE_NONE) {
		g_string_append_printf(out, "%s (family)",
			lode_families_at(self->families, service->family)->name);
		return;
	}
	g_autofree char *called = lode_service_called_name(
		lode_function_cost_at(self->costs, service->function));
	g_autoptr(GString) name = g_string_new(NULL);
	lode_function_name_append(name, called, terminal);
	if (!terminal->has_full_names)
		lode_display_shorten(name, NAME_WIDTH, terminal->is_ascii);
	g_string_append(out, name->str);
}

static void put_caller(const LodeServiceLines *self, const LodeService *service,
	const LodeServiceCaller *caller, const LodeTerminal *terminal, GString *out)
{
	const char *name = lode_function_cost_at(self->costs, caller->function)->name;
	g_autofree char *bare = terminal->has_full_names ? g_strdup(name)
	                                                 : lode_function_name_bare(name);

	lode_display_append(out, bare, terminal->is_ascii);
	if (caller->file != NULL) {
		g_autofree char *base = g_path_get_basename(caller->file);
		g_string_append_c(out, ' ');
		lode_display_append(out, base, terminal->is_ascii);
		g_string_append_printf(out, ":%u", caller->line);
	}
	if (caller->cost >= ALL * service->inclusive)
		g_string_append(out, " (all of it)");
	else
		g_string_append_printf(
			out, " %s", LODE_SHARE_TEXT(lode_share_of(caller->cost, self->total)));
}

static void put_callers(const LodeServiceLines *self, const LodeService *service,
	const LodeTerminal *terminal, GString *out)
{
	guint n = MIN(service->n_callers, SHOWN_CALLERS);

	for (guint i = 0; i < n; i++) {
		g_string_append(out, i > 0 ? ", " : "");
		put_caller(self, service, lode_service_caller(self->services, service, i), terminal,
			out);
	}
	if (service->n_callers > n)
		g_string_append_printf(out, " +%u", service->n_callers - n);
	if (service->unknown >= LEAST_SHARE * self->total)
		g_string_append_printf(out, "%snot known %s", n > 0 ? ", " : "",
			LODE_SHARE_TEXT(lode_share_of(service->unknown, self->total)));
}

typedef struct {
	const LodeServiceLines *lines;
	const LodeTerminal *terminal;
} Body;

static LodeStyle cell(size_t row, unsigned column, GString *out, const void *user_data)
{
	const Body *self = user_data;
	const LodeService *service = service_at(self->lines, row);

	switch (column) {
	case 0:
		lode_call_lines_share(out, service->inclusive, self->lines->total);
		return LODE_STYLE_PLAIN;
	case 1:
		if (!isnan(service->error))
			g_string_append_printf(out, "%.1f",
				100 * lode_share_of(service->error, self->lines->total));
		return LODE_STYLE_FAINT;
	case 2:
		lode_service_lines_name(self->lines, service, self->terminal, out);
		return LODE_STYLE_STRONG;
	default:
		put_callers(self->lines, service, self->terminal, out);
		return LODE_STYLE_PLAIN;
	}
}

void lode_service_lines_write(const LodeServiceLines *self, const LodeTerminal *terminal, FILE *out)
{
	static const char *const titles[] = {
		[LODE_CALLS_UNKNOWN] = "called from",
		[LODE_CALLS_FROM_STACKS] = "called from (by stacks)",
		[LODE_CALLS_FROM_COUNTS] = "called from (by counted calls)",
		[LODE_CALLS_FROM_TOPS] = "called from (by the top of the stack)",
		[LODE_CALLS_INFERRED] = "called from (by inferred calls)",
	};
	const LodeTableColumn columns[] = {{"inclusive"}, {"±", .dropped = 1},
		{"service", .is_text = true}, {titles[self->services->source], .is_text = true}};
	const Body body = {self, terminal};
	LodeTable table = {columns, G_N_ELEMENTS(columns), 0, cell, &body, NULL};

	while (table.n_rows < MIN(self->services->services->len, MOST_ROWS) &&
		service_at(self, table.n_rows)->inclusive >= LEAST_SHARE * self->total)
		table.n_rows++;
	if (table.n_rows == 0)
		return;
	fputc('\n', out);
	lode_table_write(&table, terminal, out);
}

static void put_json(const LodeServiceLines *self, const LodeService *service, LodeJsonStream *json)
{
	lode_json_line_begin(json, '{');
	if (service->function != LODE_NONE) {
		const LodeFunctionCost *one = lode_function_cost_at(self->costs, service->function);
		g_autofree char *called = lode_service_called_name(one);
		lode_json_member_string(json, "function", one->name);
		lode_json_member_string(json, "called", called);
		lode_json_member_string(json, "image", one->image);
	}
	lode_json_member_string(json, "family",
		service->family != LODE_NONE
			? lode_families_at(self->families, service->family)->name
			: NULL);
	lode_json_member_number(json, "weight", service->self);
	lode_json_member_number(json, "inclusive", service->inclusive);
	lode_json_member_number(json, "error", service->error);
	lode_json_member_number(json, "unknown", service->unknown);
	lode_json_member_begin(json, "callers", '[');
	for (guint i = 0; i < service->n_callers; i++) {
		const LodeServiceCaller *caller = lode_service_caller(self->services, service, i);
		lode_json_begin(json, '{');
		lode_function_name_json(json, "function",
			lode_function_cost_at(self->costs, caller->function)->name);
		lode_json_member_string(json, "file", caller->file);
		lode_json_member_number(json, "line", caller->line);
		lode_json_member_number(json, "weight", caller->cost);
		lode_json_member_number(json, "samples", caller->samples);
		lode_json_member_number(json, "calls", caller->calls);
		lode_json_end(json, '}');
	}
	lode_json_end(json, ']');
	lode_json_end(json, '}');
}

void lode_service_lines_json(const LodeServiceLines *self, LodeJsonStream *json)
{
	lode_json_member_string(
		json, "services_from", lode_call_source_to_text(self->services->source));
	lode_json_member_begin(json, "services", '[');
	for (guint i = 0; i < self->services->services->len; i++)
		if (service_at(self, i)->inclusive >= LEAST_SHARE * self->total)
			put_json(self, service_at(self, i), json);
	lode_json_end(json, ']');
}
