/* SPDX-License-Identifier: MIT */
#include "cli/option_parser.h"

#include "base/byte_size.h"
#include "base/error.h"
#include "base/suggestion.h"
#include "cli/verb_table.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *suggest_option(const LodeVerb *verb, const char *name)
{
	g_autoptr(GPtrArray) names = g_ptr_array_new();
	const LodeParameterGroup *groups = lode_verb_groups(verb);
	const LodeParameter *option;

	for (size_t i = 0; (option = lode_parameter_row(groups, i)) != NULL; i++)
		g_ptr_array_add(names, (void *)option->name);
	g_ptr_array_add(names, NULL);
	return lode_suggestion(name, (const char *const *)names->pdata);
}

/* GOption's own messages are for its kinds of faults; ours say what was meant. */
static void set_usage_error(const LodeVerb *verb, const GError *cause, GError **error)
{
	const char *dashes = strstr(cause->message, "--");

	if (g_error_matches(cause, G_OPTION_ERROR, G_OPTION_ERROR_UNKNOWN_OPTION) &&
		dashes != NULL) {
		g_autofree char *name = g_strndup(dashes + 2, strcspn(dashes + 2, "= "));
		const char *nearest = suggest_option(verb, name);
		g_set_error(error, LODE_ERROR, LODE_ERROR_USAGE, "unknown option '--%s'%s%s%s",
			name, nearest != NULL ? "; did you mean '--" : "",
			nearest != NULL ? nearest : "", nearest != NULL ? "'?" : "");
		return;
	}
	g_autofree char *message = g_strdup(cause->message);
	message[0] = g_ascii_tolower(message[0]);
	g_set_error_literal(error, LODE_ERROR, LODE_ERROR_USAGE, message);
}

static GOptionContext *make_context(const LodeVerb *verb, const GOptionEntry *help)
{
	GOptionContext *context = g_option_context_new(NULL);

	g_option_context_set_help_enabled(context, FALSE);
	g_option_context_set_strict_posix(context, verb->is_wrapper);
	g_option_context_add_main_entries(context, help, NULL);
	if (verb->old_options != NULL)
		g_option_context_add_main_entries(context, verb->old_options, NULL);
	for (size_t i = 0; verb->old_groups != NULL && verb->old_groups[i].title != NULL; i++)
		g_option_context_add_main_entries(context, verb->old_groups[i].options, NULL);
	return context;
}

/* NULL: there is none. */
static char **find_separator(char **arguments)
{
	for (; *arguments != NULL; arguments++)
		if (strcmp(*arguments, "--") == 0)
			return arguments;
	return NULL;
}

/* The first "--" is ours; GOption leaves it where other arguments stand before it. */
static void drop_separator(char **rest)
{
	size_t i = 0;

	while (rest[i] != NULL && strcmp(rest[i], "--") != 0)
		i++;
	if (rest[i] == NULL)
		return;
	g_free(rest[i]);
	for (; rest[i + 1] != NULL; i++)
		rest[i] = rest[i + 1];
	rest[i] = NULL;
}

bool lode_options_parse(const LodeVerb *verb, char **arguments, bool *out_wants_help,
	char ***out_rest, GError **error)
{
	gboolean wants_help = FALSE;
	const GOptionEntry help[] = {
		{"help", 'h', 0, G_OPTION_ARG_NONE, &wants_help, NULL, NULL},
		G_OPTION_ENTRY_NULL,
	};
	g_autoptr(GOptionContext) context = make_context(verb, help);
	g_autoptr(GError) cause = NULL;
	g_autoptr(GStrvBuilder) builder = g_strv_builder_new();

	char **program = verb->may_wrap ? find_separator(arguments) : NULL;
	/* GOption takes the first word for the program's name. */
	g_strv_builder_add(builder, verb->name);
	for (char **at = arguments; *at != NULL && at != program; at++)
		g_strv_builder_add(builder, *at);
	g_auto(GStrv) line = g_strv_builder_end(builder);
	if (!g_option_context_parse_strv(context, &line, &cause)) {
		set_usage_error(verb, cause, error);
		return false;
	}
	g_autoptr(GStrvBuilder) rest_builder = g_strv_builder_new();
	g_strv_builder_addv(rest_builder, (const char **)line + 1);
	if (program != NULL)
		g_strv_builder_addv(rest_builder, (const char **)program);
	char **rest = g_strv_builder_end(rest_builder);
	if (verb->may_wrap) {
		*out_wants_help = wants_help;
		*out_rest = rest;
		return true;
	}
	if (!verb->is_wrapper || (rest[0] != NULL && strcmp(rest[0], "--") == 0))
		drop_separator(rest);
	*out_wants_help = wants_help;
	*out_rest = rest;
	return true;
}

bool lode_option_refuse(GError **error, const char *format, ...)
{
	va_list values;

	va_start(values, format);
	g_autofree char *message = g_strdup_vprintf(format, values);
	va_end(values);
	g_set_error_literal(error, LODE_ERROR, LODE_ERROR_USAGE, message);
	return false;
}

static bool refuse(const char *option, const char *text, const char *expected, GError **error)
{
	g_set_error(
		error, LODE_ERROR, LODE_ERROR_USAGE, "%s: '%s' is not %s", option, text, expected);
	return false;
}

/* A finite decimal number ≥ 0; *out_end is what follows it, white space skipped. */
static bool scan_number(const char *text, double *out_value, const char **out_end)
{
	char *end;

	if (!g_ascii_isdigit(*text) && *text != '.')
		return false;
	errno = 0;
	double value = g_ascii_strtod(text, &end);
	if (end == text || errno != 0 || !isfinite(value))
		return false;
	while (g_ascii_isspace(*end))
		end++;
	*out_value = value;
	*out_end = end;
	return true;
}

bool lode_option_format(const char *text, LodeViewFormat *out_format, GError **error)
{
	return text == NULL || lode_view_format_from_text(text, out_format) ||
	       refuse("--format", text, "text, json or csv", error);
}

bool lode_option_share(const char *option, const char *text, double *out_value, GError **error)
{
	const char *expected = "a share between 0 and 1, or 0% and 100%";
	const char *end;
	double value;

	if (text == NULL)
		return true;
	if (!scan_number(text, &value, &end))
		return refuse(option, text, expected, error);
	if (strcmp(end, "%") == 0)
		value /= 100;
	else if (*end != '\0')
		return refuse(option, text, expected, error);
	if (value > 1)
		return refuse(option, text, expected, error);
	*out_value = value;
	return true;
}

bool lode_option_percent(const char *option, const char *text, double *out_share, GError **error)
{
	const char *end;
	double value;

	if (text == NULL)
		return true;
	if (!scan_number(text, &value, &end) || (*end != '\0' && strcmp(end, "%") != 0))
		return refuse(option, text, "a number of percent", error);
	*out_share = value / 100;
	return true;
}

bool lode_option_number(const char *option, const char *text, double *out_value, GError **error)
{
	const char *end;
	double value;

	if (text == NULL)
		return true;
	if (!scan_number(text, &value, &end) || *end != '\0')
		return refuse(option, text, "a number of 0 or more", error);
	*out_value = value;
	return true;
}

bool lode_option_count(
	const char *option, const char *text, uint64_t max, uint64_t *out_value, GError **error)
{
	guint64 value;

	if (text == NULL)
		return true;
	if (!g_ascii_string_to_unsigned(text, 10, 0, max, &value, NULL)) {
		g_autofree char *expected = g_strdup_printf(
			"a whole number from 0 to %" G_GUINT64_FORMAT, max);
		return refuse(option, text, expected, error);
	}
	*out_value = value;
	return true;
}

bool lode_option_positive(
	const char *option, const char *text, uint64_t max, uint64_t *out_value, GError **error)
{
	uint64_t value = 1;

	if (!lode_option_count(option, text, max, &value, error))
		return false;
	if (value == 0) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_USAGE, "%s: 0 is too little", option);
		return false;
	}
	if (text != NULL)
		*out_value = value;
	return true;
}

bool lode_option_range(const char *option, const char *text, uint32_t *out_least,
	uint32_t *out_most, GError **error)
{
	static const char expected[] = "a range such as 3, 2-4, 2- or -4";
	guint64 ends[2] = {0, 0};

	if (text == NULL)
		return true;
	g_auto(GStrv) parts = g_strsplit(text, "-", 2);
	size_t n = g_strv_length(parts), n_given = 0;
	for (size_t i = 0; i < n; i++) {
		if (*parts[i] == '\0')
			continue;
		if (!g_ascii_string_to_unsigned(parts[i], 10, 1, UINT32_MAX, &ends[i], NULL))
			return refuse(option, text, expected, error);
		n_given++;
	}
	if (n_given == 0)
		return refuse(option, text, expected, error);
	*out_least = (uint32_t)ends[0];
	*out_most = (uint32_t)ends[n - 1];
	return true;
}

bool lode_option_size(const char *option, const char *text, uint64_t *out_value, GError **error)
{
	const char *end;
	double value;

	if (text == NULL)
		return true;
	if (!scan_number(text, &value, &end))
		return refuse(option, text, "a size such as 4G or 512M", error);
	unsigned shift = lode_byte_size_shift(*end);
	if (shift > 0) {
		value = ldexp(value, (int)shift);
		end += end[1] == 'i' ? 2 : 1;
	}
	if ((*end != '\0' && strcmp(end, "B") != 0) || value < 1 || value >= 0x1p63)
		return refuse(option, text, "a size such as 4G or 512M", error);
	*out_value = (uint64_t)value;
	return true;
}

bool lode_option_seconds(const char *option, const char *text, unsigned *out_ms, GError **error)
{
	const char *end;
	double value;

	if (text == NULL)
		return true;
	if (!scan_number(text, &value, &end) || *end != '\0' || value < 0.001 || value > 1e6)
		return refuse(option, text, "a number of seconds from 0.001 to 1000000", error);
	*out_ms = (unsigned)lround(value * 1000);
	return true;
}

bool lode_option_pid(const char *option, const char *text, pid_t *out_pid, GError **error)
{
	uint64_t value = (uint64_t)*out_pid;

	if (!lode_option_positive(option, text, G_MAXINT32, &value, error))
		return false;
	*out_pid = (pid_t)value;
	return true;
}

bool lode_options_take_one(char **rest, const char *what, GError **error)
{
	if (rest[0] == NULL)
		g_set_error(error, LODE_ERROR, LODE_ERROR_USAGE, "%s is missing", what);
	else if (rest[1] != NULL)
		g_set_error(error, LODE_ERROR, LODE_ERROR_USAGE, "one %s, not also '%s'", what,
			rest[1]);
	return rest[0] != NULL && rest[1] == NULL;
}
