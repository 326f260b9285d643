/* SPDX-License-Identifier: MIT */
/*
 * The file:
 *
 *   style, answers (JSON: {"/api/findings?…": {…}, …}), the script of the page, the worker's text
 *
 * Everything from the profile is in the JSON, whose '<' are escaped, so that nothing in it can end
 * its element. A policy in the file lets only its own script and style act, known by their hashes.
 */
#include "serve/html_report.h"

#include "base/error.h"
#include "serve/page_asset.h"
#include "serve/query.h"

#include <string.h>

enum {
	MAX_ANSWERS_BYTES = 4500 << 10,
	FINDINGS = 64,
	FINDING_PLACES = 5,
	SEQUENCES = 1000,
	SEQUENCE_CODES = 30, /* whose places are there */
	FUNCTIONS = 1000,
	FUNCTION_CODES = 60, /* likewise */
};

typedef struct {
	const LodeServedFiles *files; /* one profile */
	const char *run;
	const LodeProgress *progress;
	GString *answers; /* members of the object */
	GString *left_out;
} Html;

/* Whether it was left out, because it did not fit or the profile has none. */
typedef enum { ADDED, TOO_LARGE, FAILED } Outcome;

/* Adds the answer to a query with parameters such as "finding=1&limit=5", in which no value needs
 * escapes. */
static Outcome add_answer(Html *self, const char *query, const char *parameters)
{
	g_auto(LodeServeParameters) given;
	g_auto(GStrv) words = g_strsplit(parameters, "&", -1);
	LodeServedState state;
	char *text = NULL;
	size_t size = 0;

	lode_serve_parameters_init(&given);
	for (size_t i = 0; words[i] != NULL; i++) {
		char *equals = strchr(words[i], '=');
		if (equals == NULL)
			continue;
		*equals = '\0';
		lode_serve_parameters_add(&given, words[i], equals + 1);
	}
	if (self->run != NULL)
		lode_serve_parameters_add(&given, "run", self->run);
	FILE *out = open_memstream(&text, &size);
	if (out == NULL)
		return FAILED;
	bool is_answered = lode_serve_query_run(lode_serve_query_find(query), &given, self->files,
		self->progress, out, &state, NULL);
	fclose(out);
	Outcome outcome = !is_answered                                    ? FAILED
	                  : self->answers->len + size > MAX_ANSWERS_BYTES ? TOO_LARGE
	                                                                  : ADDED;
	if (outcome == ADDED)
		g_string_append_printf(self->answers, "%s\"/api/%s?%s\":%s",
			self->answers->len > 0 ? "," : "", query, parameters, text);
	free(text);
	return outcome;
}

/* Adds answers for numbers from `first` until one fails or does not fit; gives how many. */
static unsigned add_range(
	Html *self, const char *query, const char *format_before, const char *after, unsigned n)
{
	unsigned first = strcmp(format_before, "function=") == 0 ? 0 : 1;
	unsigned added = 0;

	for (unsigned i = 0; i < n && !lode_progress_is_cancelled(self->progress); i++) {
		g_autofree char *parameters = g_strdup_printf(
			"%s%u%s", format_before, first + i, after);
		lode_progress_report(self->progress, "writing the page", i, n, NULL);
		Outcome outcome = add_answer(self, query, parameters);
		if (outcome == TOO_LARGE)
			break;
		added += outcome == ADDED;
	}
	return added;
}

/* The types that the page lists, and the members of those that cost most. */
static void add_types(Html *self)
{
	add_answer(self, "pivot", "sort=weight&top=50&by=type");
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

/* The code and the control flow of the functions that cost most. */
static unsigned add_functions(Html *self, const LodeProfile *profile)
{
	g_autoptr(GArray) weighed = g_array_new(FALSE, FALSE, sizeof(Weighed));
	unsigned n = 0;

	for (uint32_t i = 0; i < profile->functions->len; i++) {
		const LodeFunction *function = lode_profile_function(profile, i);
		Weighed one = {i, 0};
		for (uint32_t j = 0; j < function->n_instructions; j++)
			if (profile->weight_event != LODE_NONE)
				one.weight += lode_profile_event_value(profile,
					profile->weight_event, function->first_instruction + j);
		g_array_append_val(weighed, one);
	}
	g_array_sort(weighed, heaviest_first);
	for (guint i = 0; i < MIN(weighed->len, FUNCTION_CODES); i++) {
		g_autofree char *parameters = g_strdup_printf(
			"function=%u", g_array_index(weighed, Weighed, i).function);
		if (lode_progress_is_cancelled(self->progress) ||
			add_answer(self, "annotate", parameters) == TOO_LARGE ||
			add_answer(self, "graph", parameters) == TOO_LARGE)
			break;
		n++;
	}
	return n;
}

static void collect(Html *self, const LodeProfile *profile)
{
	g_autofree char *places = g_strdup_printf("&limit=%d&context=4", FINDING_PLACES);
	g_autofree char *sequences = g_strdup_printf("offset=0&limit=%d", SEQUENCES);
	g_autofree char *functions = g_strdup_printf("offset=0&limit=%d", FUNCTIONS);

	add_answer(self, "profiles", "");
	add_answer(self, "findings", "");
	unsigned n_findings = add_range(self, "annotate", "finding=", places, FINDINGS);
	add_answer(self, "functions", functions);
	if (profile->memory != NULL) {
		add_answer(self, "heat", "");
		add_answer(self, "pivot", "sort=weight&top=50&by=object");
		add_types(self);
		add_answer(self, "sharing", "");
		add_answer(self, "placement", "");
	}
	add_answer(self, "sequences", sequences);
	unsigned n_functions = add_functions(self, profile);
	unsigned n_sequences = add_range(
		self, "annotate", "sequence=", "&limit=10&context=3", SEQUENCE_CODES);
	g_string_append_printf(self->left_out,
		"This file has the first %d sequences, the first %d functions, the code of %u "
		"findings (%d places each), of the %u functions that cost most and of %u "
		"sequences, and no other order or filter.",
		SEQUENCES, FUNCTIONS, n_findings, FINDING_PLACES, n_functions, n_sequences);
}

/* As the policy names a script: "'sha256-…'". */
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

/* Text in which no element can end, for a script that reads it as JSON or makes it a string. */
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

bool lode_html_report_write(
	const char *path, const char *run, const LodeProgress *progress, FILE *out, GError **error)
{
	LodeServedState state;

	if (!lode_page_is_built()) {
		g_set_error_literal(
			error, LODE_ERROR, LODE_ERROR_UNSUPPORTED, LODE_PAGE_IS_MISSING);
		return false;
	}
	LodeServedProfile *served = lode_served_profile_open(path, progress, error);
	if (served == NULL)
		return false;
	g_autoptr(GPtrArray) profiles = g_ptr_array_new_with_free_func(close_profile);
	g_autoptr(GPtrArray) traces = g_ptr_array_new();
	g_ptr_array_add(profiles, served);
	g_autoptr(LodeProfileSnapshot)
		snapshot = lode_served_profile_take(served, progress, &state, error);
	if (snapshot == NULL ||
		lode_profile_snapshot_run(snapshot, run, false, progress, error) == NULL)
		return false;
	const LodeServedFiles files = {.profiles = profiles, .traces = traces};
	Html self = {.files = &files, .run = run, .progress = progress};
	self.answers = g_string_new(NULL);
	self.left_out = g_string_new(NULL);
	collect(&self, lode_profile_snapshot_profile(snapshot));
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
