/* SPDX-License-Identifier: MIT */
/*
 * The file:
 *
 *   style, answers (JSON: {"/api/report?…": {…}, …}), the script of the page, the worker's text
 *
 * Everything from the profile is in the JSON, whose '<' are escaped, so that nothing in it can end
 * its element. A content security policy in the file allows only its own script and style, by their
 * hashes.
 */
#include "serve/html_report.h"

#include "analyses/memory/objects/pivot.h"
#include "analyses/memory/sample_filter.h"
#include "base/arrays/sort_order.h"
#include "base/error.h"
#include "base/text/number_format.h"
#include "model/code.h"
#include "model/memory.h"
#include "model/mining_run.h"
#include "model/observed/windows.h"
#include "model/waits.h"
#include "serve/page_asset.h"
#include "serve/query.h"
#include "serve/served_profile.h"
#include "views/pictures/address_axis.h"
#include "views/pictures/memory_grid.h"

#include <string.h>

enum {
	MAX_ANSWERS_BYTES = 4500 << 10,
	AFTER_FUNCTIONS_BYTES = 1300 << 10, /* reserved for the answers after the functions' code */
	FINDINGS = 64,
	FINDING_PLACES = 5,
	MINED = 3000, /* sequences, of which SEQUENCES are listed; most are not closed */
	SEQUENCES = 1000,
	SEQUENCE_CODES = 30, /* whose places are included */
	FUNCTIONS = 1000,
	ORDERED = 100,       /* of both, by each of the other columns */
	FUNCTION_CODES = 60, /* likewise */
	FUNCTION_CALLS = 20, /* whose callers and callees are */
	TYPES = 12,          /* whose members are included */
	STRETCHES = 8,       /* of addresses */
};

typedef struct {
	const LodeServedFiles *files; /* one profile */
	double min_support;           /* of its sequences; 0: they have none */
	const char *run;
	const LodeSourceAccess *source;
	const LodeProgress *progress;
	GString *answers; /* members of the object */
	size_t bytes;     /* that they take in the file */
	size_t max_bytes; /* the present limit for them */
	GString *left_out;
} Html;

#define FLAME_NODES 1500

/* Whether an answer was added, too large, or not available for the profile. */
typedef enum { ADDED, TOO_LARGE, FAILED } Outcome;

/* The text as it is between the quotes of a JSON string. */
static char *json_text(const char *text)
{
	g_autoptr(GString) quoted = g_string_new(NULL);
	LodeJsonStream json;

	lode_json_stream_init_text(&json, quoted);
	lode_json_string(&json, text);
	return g_strndup(quoted->str + 1, quoted->len - 2);
}

enum { ESCAPED_BYTES = 6 }; /* "\u003c", as put_json() writes '<' */

/* The size of text in the file: names of templates have many '<'. */
static size_t bytes_in_file(const char *text, size_t size)
{
	size_t bytes = size;

	for (size_t i = 0; i < size; i++)
		bytes += text[i] == '<' ? ESCAPED_BYTES - 1 : 0;
	return bytes;
}

static GHashTable *new_table(void)
{
	return g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
}

static void add_all(GHashTable *to, GHashTable *from)
{
	GHashTableIter at;
	gpointer name, value;

	g_hash_table_iter_init(&at, from);
	while (g_hash_table_iter_next(&at, &name, &value))
		g_hash_table_insert(to, g_strdup(name), value);
}

/* Adds the answer to a query with parameters such as "finding=1&limit=5", whose values are escaped
 * as in an address. */
static Outcome add_answer(Html *self, const char *query, const char *parameters)
{
	g_auto(LodeParameterPairs) given;
	g_auto(GStrv) words = g_strsplit(parameters, "&", -1);
	g_autoptr(GHashTable) shown = new_table();
	g_autoptr(GHashTable) refused = new_table();
	const LodeSourceAccess source = {self->source->folders, shown, refused};
	LodeServedFiles files = *self->files;
	LodeServedState state;
	char *text = NULL;
	size_t size = 0;

	/* an answer that is not added adds no source files */
	files.source = &source;
	lode_parameter_pairs_init(&given);
	for (size_t i = 0; words[i] != NULL; i++) {
		char *equals = strchr(words[i], '=');
		if (equals == NULL)
			continue;
		*equals = '\0';
		g_autofree char *value = g_uri_unescape_string(equals + 1, NULL);
		lode_parameter_pairs_add(&given, words[i], value);
	}
	if (self->run != NULL && lode_page_query_has_run(query))
		lode_parameter_pairs_add(&given, "run", self->run);
	FILE *out = open_memstream(&text, &size);
	if (out == NULL)
		return FAILED;
	bool is_answered = lode_page_query_run(
		query, &given, &files, self->progress, out, &state, NULL);
	fclose(out);
	size_t bytes = is_answered ? bytes_in_file(text, size) : 0;
	Outcome outcome = !is_answered                            ? FAILED
	                  : self->bytes + bytes > self->max_bytes ? TOO_LARGE
	                                                          : ADDED;
	g_autofree char *name = json_text(parameters);
	if (outcome == ADDED) {
		self->bytes += bytes;
		add_all(self->source->shown, shown);
		add_all(self->source->refused, refused);
		g_string_append_printf(self->answers, "%s\"/api/%s?%s\":%s",
			self->answers->len > 0 ? "," : "", query, name, text);
	}
	free(text);
	return outcome;
}

/* Adds the code of the first n numbers, except those that fail or do not fit; gives how many were
 * added. */
static unsigned add_range(Html *self, const char *before, const char *after, unsigned n)
{
	unsigned added = 0;

	for (unsigned i = 0; i < n && !lode_progress_is_cancelled(self->progress); i++) {
		g_autofree char *parameters = g_strdup_printf("%s%u%s", before, 1 + i, after);
		lode_progress_report(self->progress, "writing the page", i, n, NULL);
		added += add_answer(self, "annotate", parameters) == ADDED;
	}
	return added;
}

/* Adds the types that the page lists, and the members of the costliest; gives how many of these. */
static unsigned add_types(Html *self, const LodeProfile *profile, const GArray *samples)
{
	const LodePivotOptions options = {.by = {"type"}, .n_levels = 1, .top = TYPES};
	g_autoptr(LodePivot) pivot = lode_pivot_new(profile,
		(const uint32_t *)(const void *)samples->data, samples->len, &options, NULL);
	unsigned n = 0;

	add_answer(self, "memory", "sort=weight&top=50&by=type");
	for (guint i = 0; pivot != NULL && i < pivot->rows->len; i++) {
		const LodePivotRow *row = &g_array_index(pivot->rows, LodePivotRow, i);
		if (row->kind != LODE_PIVOT_VALUE || row->key.kind != LODE_VALUE_TEXT)
			continue;
		g_autofree char *type = g_uri_escape_string(row->key.text, NULL, FALSE);
		g_autofree char *parameters = g_strconcat("layout=", type, NULL);
		n += add_answer(self, "memory", parameters) == ADDED;
	}
	return n;
}

static int heaviest_segment_first(const void *a, const void *b)
{
	const LodeAddressSegment *left = a, *right = b;

	if (left->weight != right->weight)
		return left->weight > right->weight ? -1 : 1;
	return lode_number_order(left->first, right->first);
}

/* Adds the stretches of addresses that a picture can be zoomed to by name; gives how many. */
static unsigned add_stretches(Html *self, const LodeProfile *profile, const GArray *samples)
{
	g_autoptr(LodeMemoryGrid)
		grid = lode_memory_grid_new(profile, (const uint32_t *)(const void *)samples->data,
			samples->len, LODE_PAGE_BYTES, self->progress);
	unsigned n = 0;

	if (grid == NULL)
		return 0;
	g_array_sort(grid->axis->segments, heaviest_segment_first);
	for (guint i = 0; i < MIN(grid->axis->segments->len, STRETCHES); i++) {
		const LodeAddressSegment *one = &g_array_index(
			grid->axis->segments, LodeAddressSegment, i);
		g_autofree char *parameters = g_strdup_printf("address=%s-%s",
			LODE_ADDRESS_TEXT(one->first), LODE_ADDRESS_TEXT(one->last));
		n += add_answer(self, "heat", parameters) == ADDED;
	}
	return n;
}

static void add_memory(
	Html *self, const LodeProfile *profile, unsigned *out_types, unsigned *out_stretches)
{
	const LodeSampleFilterOptions options = {.progress = self->progress};
	g_autoptr(GArray) samples = lode_sample_filter_apply(profile, &options, NULL);

	add_answer(self, "heat", "");
	add_answer(self, "memory", "sort=weight&top=50&by=object");
	add_answer(self, "memory", "sharing=1");
	add_answer(self, "place", "");
	*out_types = samples != NULL ? add_types(self, profile, samples) : 0;
	*out_stretches = samples != NULL ? add_stretches(self, profile, samples) : 0;
}

typedef struct {
	uint32_t function;
	double weight;
} Weighed;

static int heaviest_first(const void *a, const void *b)
{
	const Weighed *left = a, *right = b;

	if (left->weight < right->weight || left->weight > right->weight)
		return left->weight > right->weight ? -1 : 1;
	return (left->function > right->function) - (left->function < right->function);
}

/* Adds code and control flow of the costliest functions, and the calls of the first of them. */
static unsigned add_functions(Html *self, const LodeProfile *profile)
{
	const LodeCode *code = lode_code_of(profile);
	g_autoptr(GArray) weighed = g_array_new(FALSE, FALSE, sizeof(Weighed));
	unsigned n = 0;

	for (uint32_t i = 0; i < code->functions->len; i++) {
		const LodeFunction *function = lode_profile_function(profile, i);
		Weighed one = {i, 0};
		for (uint32_t j = 0; j < function->n_instructions; j++)
			if (code->weight_event != LODE_NONE)
				one.weight += lode_profile_event_value(profile, code->weight_event,
					function->first_instruction + j);
		g_array_append_val(weighed, one);
	}
	g_array_sort(weighed, heaviest_first);
	for (guint i = 0; i < MIN(weighed->len, FUNCTION_CODES); i++) {
		uint32_t function = g_array_index(weighed, Weighed, i).function;
		g_autofree char *parameters = g_strdup_printf("function-number=%u", function);
		g_autofree char *calls = g_strdup_printf("function=%u&limit=50", function);
		if (lode_progress_is_cancelled(self->progress))
			break;
		/* An interpreter's loop may be too large, and is left out alone. */
		if (add_answer(self, "annotate", parameters) != TOO_LARGE &&
			add_answer(self, "graph", parameters) != TOO_LARGE)
			n++;
		if (i < FUNCTION_CALLS)
			add_answer(self, "calls", calls);
	}
	return n;
}

/* Adds the first `most` rows of a list, or as many as fit; gives how many. */
static int add_list(Html *self, const char *query, const char *before, int most)
{
	for (int n = most; n >= ORDERED; n /= 2) {
		g_autofree char *parameters = g_strdup_printf("%soffset=0&limit=%d", before, n);
		Outcome outcome = add_answer(self, query, parameters);
		if (outcome != TOO_LARGE)
			return outcome == ADDED ? n : 0;
	}
	return 0;
}

/* Adds the first sequences and functions in the order of their other columns; gives whether all
 * were added. */
static bool add_orders(Html *self)
{
	static const struct {
		const char *query, *before, *sort;
	} orders[] = {
		{"report", "sequences=1&", "weight"},
		{"report", "sequences=1&", "frequency"},
		{"report", "sequences=1&", "places"},
		{"report", "sequences=1&", "functions"},
		{"report", "sequences=1&", "executions"},
		{"report", "sequences=1&", "sequence"},
		{"functions", "", "executions"},
		{"functions", "", "calls"},
		{"functions", "", "name"},
		{"functions", "", "image"},
	};
	bool are_added = true;

	for (size_t i = 0; i < G_N_ELEMENTS(orders); i++) {
		g_autofree char *parameters = g_strdup_printf(
			"%ssort=%s&offset=0&limit=%d", orders[i].before, orders[i].sort, ORDERED);
		are_added = add_answer(self, orders[i].query, parameters) == ADDED && are_added;
	}
	return are_added;
}

static void collect(Html *self, const LodeProfile *profile)
{
	const LodeMemory *memory = lode_memory_of(profile);
	g_autofree char *places = g_strdup_printf("&limit=%d&context=4", FINDING_PLACES);

	add_answer(self, "profiles", "");
	add_answer(self, "report", "explain=1&places=2");
	unsigned n_types = 0, n_stretches = 0;
	unsigned n_findings = add_range(self, "finding=", places, FINDINGS);
	int n_listed = add_list(self, "functions", "", FUNCTIONS);
	add_answer(self, "flame", "limit=" G_STRINGIFY(FLAME_NODES));
	add_answer(self, "flame", "inverted=1&limit=" G_STRINGIFY(FLAME_NODES));
	if (lode_waits_of(profile) != NULL)
		add_answer(self, "waits", "");
	if (memory != NULL)
		add_memory(self, profile, &n_types, &n_stretches);
	int n_rows = add_list(self, "report", "sequences=1&", SEQUENCES);
	self->max_bytes = MAX_ANSWERS_BYTES - AFTER_FUNCTIONS_BYTES;
	unsigned n_functions = add_functions(self, profile);
	self->max_bytes = MAX_ANSWERS_BYTES;
	bool has_orders = add_orders(self);
	unsigned n_sequences = add_range(self, "sequence=", "&limit=10&context=3", SEQUENCE_CODES);
	g_string_append_printf(self->left_out, "This file has the first %d sequences", n_rows);
	if (self->min_support > 0)
		g_string_append_printf(self->left_out, " of those with a support from %s",
			LODE_SHARE_TEXT(self->min_support));
	g_string_append_printf(self->left_out, ", the first %d functions, ", n_listed);
	if (has_orders)
		g_string_append_printf(
			self->left_out, "the first %d of both by each other column, ", ORDERED);
	g_string_append_printf(self->left_out,
		"the code of %u findings (%d places each), of the %u functions that cost most "
		"(with their control flow) and of %u sequences, ",
		n_findings, FINDING_PLACES, n_functions, n_sequences);
	if (memory != NULL)
		g_string_append_printf(self->left_out,
			"the members of %u types, %u stretches of addresses by themselves, ",
			n_types, n_stretches);
	g_string_append_printf(self->left_out,
		"and no other order or filter, %sno comparison and no address trace.",
		lode_windows_of(profile) != NULL ? "no data addresses of windows, " : "");
}

/* The source expression of a script in the policy: "'sha256-…'". */
static char *hash_of(const char *text, size_t size)
{
	g_autoptr(GChecksum) checksum = g_checksum_new(G_CHECKSUM_SHA256);
	guint8 digest[32];
	gsize length = sizeof(digest);

	g_checksum_update(checksum, (const guchar *)text, (gssize)size);
	g_checksum_get_digest(checksum, digest, &length);
	g_autofree char *base64 = g_base64_encode(digest, length);
	return g_strdup_printf("'sha256-%s'", base64);
}

/* Escapes text so that it cannot end an element, for a script that reads it as JSON or a string. */
static void put_json(FILE *out, const char *text, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		if (text[i] == '<')
			fputs("\\u003c", out);
		else
			fputc(text[i], out);
	}
}

static void put_page(const Html *self, FILE *out)
{
	const char *type;
	g_autoptr(GBytes) style = lode_page_asset("/app.css", &type);
	g_autoptr(GBytes) script = lode_page_asset("/app.js", &type);
	g_autoptr(GBytes) layout = lode_page_asset("/layout.js", &type);
	g_autoptr(GBytes) licences = lode_page_asset("/licences.txt", &type);
	gsize style_size, script_size, layout_size, licences_size;
	const char *style_text = g_bytes_get_data(style, &style_size);
	const char *script_text = g_bytes_get_data(script, &script_size);
	const char *layout_text = g_bytes_get_data(layout, &layout_size);
	const char *licences_text = g_bytes_get_data(licences, &licences_size);
	g_autofree char *style_hash = hash_of(style_text, style_size);
	g_autofree char *script_hash = hash_of(script_text, script_size);
	g_autoptr(GString) rest = g_string_new(NULL);
	LodeJsonStream json;

	fprintf(out,
		"<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
		"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
		"script-src %s; style-src %s; worker-src blob:; img-src data:\">\n"
		"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
		"<meta name=\"color-scheme\" content=\"light dark\">\n"
		"<title>lode</title>\n<link rel=\"icon\" href=\"data:,\">\n<style>",
		script_hash, style_hash);
	fwrite(style_text, 1, style_size, out);
	fputs("</style>\n</head>\n<body>\n<div id=\"app\"></div>\n"
	      "<noscript>This page needs JavaScript.</noscript>\n"
	      "<script type=\"application/json\" id=\"answers\">{",
		out);
	put_json(out, self->answers->str, self->answers->len);
	lode_json_stream_init_text(&json, rest);
	lode_json_begin(&json, '{');
	lode_json_member_string(&json, "left_out", self->left_out->str);
	g_autoptr(GList) sources = g_list_sort(
		g_hash_table_get_keys(self->source->shown), (GCompareFunc)strcmp);
	lode_json_key(&json, "sources");
	lode_json_begin(&json, '[');
	for (GList *at = sources; at != NULL; at = at->next)
		lode_json_string(&json, at->data);
	lode_json_end(&json, ']');
	g_autofree char *layout_string = g_strndup(layout_text, layout_size);
	lode_json_member_string(&json, "layout", layout_string);
	g_autofree char *licences_string = g_strndup(licences_text, licences_size);
	lode_json_member_string(&json, "licences", licences_string);
	lode_json_end(&json, '}');
	fputs(",\"file\":", out);
	put_json(out, rest->str, rest->len);
	fputs("}</script>\n<script>", out);
	fwrite(script_text, 1, script_size, out);
	fputs("</script>\n</body>\n</html>\n", out);
}

static void close_profile(void *profile)
{
	lode_served_profile_close(profile);
}

bool lode_html_report_write(const LodeHtmlReportOptions *options, const LodeProgress *progress,
	FILE *out, GError **error)
{
	LodeServedState state;

	if (!lode_page_is_built()) {
		g_set_error_literal(
			error, LODE_ERROR, LODE_ERROR_UNSUPPORTED, LODE_PAGE_IS_MISSING);
		return false;
	}
	LodeServedProfile *served = lode_served_profile_open_to_publish(
		options->path, progress, error);
	if (served == NULL)
		return false;
	g_autoptr(GPtrArray) profiles = g_ptr_array_new_with_free_func(close_profile);
	g_autoptr(GPtrArray) traces = g_ptr_array_new();
	g_ptr_array_add(profiles, served);
	g_autoptr(LodeProfileSnapshot)
		snapshot = lode_served_profile_take(served, progress, &state, error);
	const LodeMiningRun *run = snapshot != NULL ? lode_profile_snapshot_run(snapshot,
							      options->run, false, progress, error)
	                                            : NULL;
	if (run == NULL)
		return false;
	/* Functions and data addresses on the page would be of the whole. */
	if (run->parameters.origins != NULL) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_UNSUPPORTED,
			"run '%s' is of a part of the profile (--origin); 'lode report' shows it",
			run->name);
		return false;
	}
	if (!lode_profile_snapshot_mine_costliest(snapshot, options->run, MINED, progress, error))
		return false;
	const LodeServedFiles files = {.profiles = profiles, .traces = traces};
	Html self = {
		.files = &files,
		.run = options->run,
		.source = options->source,
		.progress = progress,
		.max_bytes = MAX_ANSWERS_BYTES,
	};
	run = lode_profile_snapshot_run(snapshot, options->run, true, progress, error);
	if (run == NULL)
		return false;
	self.min_support = run->parameters.is_instruction_mode ? 0 : run->parameters.min_support;
	self.answers = g_string_new(NULL);
	self.left_out = g_string_new(NULL);
	collect(&self, lode_profile_snapshot_profile(snapshot));
	/* a file refused for one answer may be shown in a different one */
	GHashTableIter at;
	gpointer name;
	g_hash_table_iter_init(&at, options->source->shown);
	while (g_hash_table_iter_next(&at, &name, NULL))
		if (GPOINTER_TO_INT(g_hash_table_lookup(options->source->refused, name)) !=
			LODE_SOURCE_NEWER)
			g_hash_table_remove(options->source->refused, name);
	bool is_whole = !lode_progress_is_cancelled(progress);
	lode_progress_end(progress);
	if (is_whole)
		put_page(&self, out);
	else
		g_set_error_literal(error, LODE_ERROR, LODE_ERROR_CANCELLED, "stopped");
	g_string_free(self.answers, TRUE);
	g_string_free(self.left_out, TRUE);
	return is_whole && lode_view_flush(out, error);
}
