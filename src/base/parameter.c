/* SPDX-License-Identifier: MIT */
#include "base/parameter.h"

#include "base/error.h"
#include "base/text/byte_size.h"
#include "base/text/suggestion.h"

#include <errno.h>
#include <math.h>
#include <string.h>

/* --- names and values --- */

void lode_parameter_pairs_init(LodeParameterPairs *self)
{
	self->names = g_ptr_array_new_with_free_func(g_free);
	self->values = g_ptr_array_new_with_free_func(g_free);
}

void lode_parameter_pairs_clear(LodeParameterPairs *self)
{
	g_clear_pointer(&self->names, g_ptr_array_unref);
	g_clear_pointer(&self->values, g_ptr_array_unref);
}

void lode_parameter_pairs_add(LodeParameterPairs *self, const char *name, const char *value)
{
	g_ptr_array_add(self->names, g_strdup(name));
	g_ptr_array_add(self->values, g_strdup(value != NULL ? value : ""));
}

const char *lode_parameter_pairs_text(const LodeParameterPairs *self, const char *name)
{
	for (guint i = self->names->len; i-- > 0;) {
		const char *value = self->values->pdata[i];
		if (strcmp(self->names->pdata[i], name) == 0 && *value != '\0')
			return value;
	}
	return NULL;
}

const LodeParameter *lode_parameter_row(const LodeParameterGroup *groups, size_t n)
{
	for (; groups != NULL && groups->title != NULL; groups++)
		for (const LodeParameter *row = groups->rows; row->name != NULL; row++)
			if (n-- == 0)
				return row;
	return NULL;
}

const LodeParameter *lode_parameter_find(const LodeParameterGroup *groups, const char *name)
{
	const LodeParameter *row;

	for (size_t i = 0; (row = lode_parameter_row(groups, i)) != NULL; i++)
		if (strcmp(row->name, name) == 0)
			return row;
	return NULL;
}

bool lode_parameter_refuse(GError **error, const char *format, ...)
{
	va_list values;

	va_start(values, format);
	g_autofree char *message = g_strdup_vprintf(format, values);
	va_end(values);
	g_set_error_literal(error, LODE_ERROR, LODE_ERROR_USAGE, message);
	return false;
}

char *lode_parameter_join(const char *const *list)
{
	return list != NULL ? g_strjoinv(",", (char **)list) : NULL;
}

bool lode_parameter_take_one(
	char *const *arguments, const char *what, const char *example, GError **error)
{
	if (arguments[0] == NULL)
		return lode_parameter_refuse(
			error, "the name of a %s is missing, such as %s", what, example);
	return arguments[1] == NULL ||
	       lode_parameter_refuse(error, "one %s, not also '%s'", what, arguments[1]);
}

static bool is_list(const LodeParameter *row)
{
	return row->kind == LODE_PARAMETER_TEXTS || row->kind == LODE_PARAMETER_FILES;
}

static bool is_for(const LodeParameter *row, LodeParameterAudience audience)
{
	return row->audience == LODE_PARAMETER_FOR_ALL ||
	       row->audience == LODE_PARAMETER_FOR_WORDS || row->audience == audience;
}

bool lode_parameter_is_option(const LodeParameter *row)
{
	return row->audience == LODE_PARAMETER_FOR_ALL ||
	       row->audience == LODE_PARAMETER_FOR_TERMINAL;
}

/* The prefix of a name in a message: options have dashes. */
static const char *dashes(LodeParameterAudience audience)
{
	return audience == LODE_PARAMETER_FOR_PAGE ? "" : "--";
}

/* The prefix of a row's name: words have none. */
static const char *dashes_of(const LodeParameter *row, LodeParameterAudience audience)
{
	return row->audience == LODE_PARAMETER_FOR_WORDS ? "" : dashes(audience);
}

static bool refuse_unknown(const LodeParameterGroup *groups, const char *name,
	LodeParameterAudience audience, GError **error)
{
	g_autoptr(GPtrArray) names = g_ptr_array_new();
	const char *before = dashes(audience);
	const LodeParameter *row;

	for (size_t i = 0; (row = lode_parameter_row(groups, i)) != NULL; i++)
		if (audience == LODE_PARAMETER_FOR_PAGE ? is_for(row, audience)
							: lode_parameter_is_option(row))
			g_ptr_array_add(names, (void *)row->name);
	if (audience == LODE_PARAMETER_FOR_TERMINAL)
		g_ptr_array_add(names, (void *)"help");
	g_ptr_array_add(names, NULL);
	const char *nearest = lode_suggestion(name, (const char *const *)names->pdata);
	if (nearest == NULL)
		return lode_parameter_refuse(error, "unknown option '%s%s'", before, name);
	return lode_parameter_refuse(error, "unknown option '%s%s'; did you mean '%s%s'?", before,
		name, before, nearest);
}

/* --- a command line --- */

typedef struct {
	const LodeParameterGroup *groups;
	LodeParameterPairs *pairs;
	LodeHelp help;
} Line;

static gboolean take_help(const char *name, const char *value, void *user_data, GError **error)
{
	Line *self = user_data;

	(void)name;
	(void)error;
	self->help = g_strcmp0(value, "all") == 0 ? LODE_HELP_ALL : LODE_HELP_BRIEF;
	return TRUE;
}

static gboolean take_option(const char *name, const char *value, void *user_data, GError **error)
{
	const Line *self = user_data;
	const LodeParameter *row;

	for (size_t i = 0; (row = lode_parameter_row(self->groups, i)) != NULL; i++) {
		bool is_it = g_str_has_prefix(name, "--") ? strcmp(name + 2, row->name) == 0
		                                          : name[1] == row->letter;
		if (!is_it || !lode_parameter_is_option(row))
			continue;
		/* "-o -- PROGRAM": "--", which ends the options, is not a value. */
		if (row->kind != LODE_PARAMETER_FLAG && strcmp(value, "--") == 0) {
			g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
				"Missing argument for %s", name);
			return FALSE;
		}
		lode_parameter_pairs_add(
			self->pairs, row->name, row->kind == LODE_PARAMETER_FLAG ? "1" : value);
		break;
	}
	return TRUE;
}

static GOptionContext *make_context(const LodeParameterLine *self, Line *line)
{
	GOptionContext *context = g_option_context_new(NULL);
	GOptionGroup *main_group = g_option_group_new("main", "", "", line, NULL);
	g_autoptr(GArray) entries = g_array_new(TRUE, TRUE, sizeof(GOptionEntry));
	const GOptionEntry first = {"help", 'h', G_OPTION_FLAG_OPTIONAL_ARG, G_OPTION_ARG_CALLBACK,
		(void *)take_help, NULL, NULL};
	const LodeParameter *row;

	g_array_append_val(entries, first);
	for (size_t i = 0; (row = lode_parameter_row(self->groups, i)) != NULL; i++) {
		bool is_file = row->kind == LODE_PARAMETER_FILE ||
		               row->kind == LODE_PARAMETER_FILES;
		const GOptionEntry entry = {row->name, row->letter,
			row->kind == LODE_PARAMETER_FLAG ? G_OPTION_FLAG_NO_ARG
			: is_file                        ? G_OPTION_FLAG_FILENAME
							 : 0,
			G_OPTION_ARG_CALLBACK, (void *)take_option, NULL, NULL};
		if (lode_parameter_is_option(row))
			g_array_append_val(entries, entry);
	}
	g_option_context_set_help_enabled(context, FALSE);
	g_option_context_set_strict_posix(context, self->ends_at_first);
	g_option_group_add_entries(main_group, (GOptionEntry *)(void *)entries->data);
	g_option_context_set_main_group(context, main_group);
	return context;
}

/* An unknown option gets our message with a suggestion; other messages are GOption's. */
static bool refuse_line(const LodeParameterLine *self, const GError *cause, GError **error)
{
	const char *name = strstr(cause->message, "--");

	if (g_error_matches(cause, G_OPTION_ERROR, G_OPTION_ERROR_UNKNOWN_OPTION) && name != NULL) {
		g_autofree char *word = g_strndup(name + 2, strcspn(name + 2, "= "));
		return refuse_unknown(self->groups, word, LODE_PARAMETER_FOR_TERMINAL, error);
	}
	g_autofree char *message = g_strdup(cause->message);
	message[0] = g_ascii_tolower(message[0]);
	return lode_parameter_refuse(error, "%s", message);
}

/* Removes the first "--": GOption keeps it if other arguments precede it. */
static void drop_separator(char **rest)
{
	while (*rest != NULL && strcmp(*rest, "--") != 0)
		rest++;
	if (*rest == NULL)
		return;
	g_free(*rest);
	for (; *rest != NULL; rest++)
		rest[0] = rest[1];
}

bool lode_parameter_line_split(const LodeParameterLine *self, char **arguments,
	LodeParameterPairs *out_pairs, LodeHelp *out_help, char ***out_rest, GError **error)
{
	Line line = {self->groups, out_pairs, LODE_HELP_NONE};
	g_autoptr(GOptionContext) context = make_context(self, &line);
	g_autoptr(GStrvBuilder) builder = g_strv_builder_new();
	g_autoptr(GStrvBuilder) rest_builder = g_strv_builder_new();
	g_autoptr(GError) cause = NULL;
	char **at = arguments;

	/* GOption treats the first word as the program's name. */
	g_strv_builder_add(builder, "lode");
	for (; *at != NULL && !(self->keeps_separator && strcmp(*at, "--") == 0); at++)
		g_strv_builder_add(builder, *at);
	g_auto(GStrv) words = g_strv_builder_end(builder);
	if (!g_option_context_parse_strv(context, &words, &cause))
		return refuse_line(self, cause, error);
	g_strv_builder_addv(rest_builder, (const char **)words + 1);
	g_strv_builder_addv(rest_builder, (const char **)at);
	*out_rest = g_strv_builder_end(rest_builder);
	*out_help = line.help;
	bool begins_with_separator = (*out_rest)[0] != NULL && strcmp((*out_rest)[0], "--") == 0;
	if (!self->keeps_separator && (!self->ends_at_first || begins_with_separator))
		drop_separator(*out_rest);
	return true;
}

/* --- values --- */

/* Reads a finite decimal number ≥ 0; *out_end: the text after it and white space. */
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

/* "text|json|csv" as "text, json or csv". */
static char *list_words(const char *words)
{
	g_auto(GStrv) parts = g_strsplit(words, "|", -1);
	GString *list = g_string_new(NULL);

	for (size_t i = 0; parts[i] != NULL; i++)
		g_string_append_printf(list, "%s%s",
			i == 0                 ? ""
			: parts[i + 1] == NULL ? " or "
					       : ", ",
			parts[i]);
	return g_string_free(list, FALSE);
}

static int find_word(const char *words, const char *text)
{
	g_auto(GStrv) parts = g_strsplit(words, "|", -1);

	for (int i = 0; parts[i] != NULL; i++)
		if (strcmp(parts[i], text) == 0)
			return i;
	return -1;
}

static bool read_word(const LodeParameter *row, const char *text, void *field)
{
	int value = row->read != NULL ? row->read(text) : find_word(row->value, text);

	if (value < 0)
		return false;
	memcpy(field, &value, sizeof(value));
	return true;
}

/* The largest value that a COUNT takes. */
static uint64_t most_of(const LodeParameter *row)
{
	return row->most > 0 ? row->most : row->bytes == sizeof(uint64_t) ? UINT64_MAX : UINT32_MAX;
}

static bool read_count(const LodeParameter *row, const char *text, void *field)
{
	guint64 value;

	if (!g_ascii_string_to_unsigned(text, 10, row->least, most_of(row), &value, NULL))
		return false;
	if (row->bytes == sizeof(uint64_t))
		*(uint64_t *)field = value;
	else
		*(uint32_t *)field = (uint32_t)value;
	return true;
}

static bool read_address(const LodeParameter *row, const char *text, void *field)
{
	(void)row;
	return g_str_has_prefix(text, "0x") &&
	       g_ascii_string_to_unsigned(text + 2, 16, 0, UINT64_MAX, (guint64 *)field, NULL);
}

static bool read_range(const LodeParameter *row, const char *text, void *field)
{
	g_auto(GStrv) parts = g_strsplit(text, "-", 2);
	size_t n = g_strv_length(parts), n_given = 0;
	guint64 ends[2] = {0, 0};
	uint32_t *range = field;

	(void)row;
	for (size_t i = 0; i < n; i++) {
		if (*parts[i] == '\0')
			continue;
		if (!g_ascii_string_to_unsigned(parts[i], 10, 1, UINT32_MAX, &ends[i], NULL))
			return false;
		n_given++;
	}
	if (n_given == 0)
		return false;
	range[0] = (uint32_t)ends[0];
	range[1] = (uint32_t)ends[n - 1];
	return true;
}

bool lode_share_from_text(const char *text, double *out_share)
{
	const char *end;
	double value;

	if (!scan_number(text, &value, &end) || (*end != '\0' && strcmp(end, "%") != 0))
		return false;
	if (*end == '%')
		value /= 100;
	if (value > 1)
		return false;
	*out_share = value;
	return true;
}

static bool read_share(const LodeParameter *row, const char *text, void *field)
{
	(void)row;
	return lode_share_from_text(text, field);
}

static bool read_percent(const LodeParameter *row, const char *text, void *field)
{
	const char *end;
	double value;

	(void)row;
	if (!scan_number(text, &value, &end) || (*end != '\0' && strcmp(end, "%") != 0))
		return false;
	*(double *)field = value / 100;
	return true;
}

static bool read_number(const LodeParameter *row, const char *text, void *field)
{
	const char *end;
	double value;

	(void)row;
	if (!scan_number(text, &value, &end) || *end != '\0')
		return false;
	*(double *)field = value;
	return true;
}

bool lode_size_from_text(const char *text, uint64_t *out_bytes)
{
	const char *end;
	double value;

	if (!scan_number(text, &value, &end))
		return false;
	unsigned shift = lode_byte_size_shift(*end);
	if (shift > 0) {
		value = ldexp(value, (int)shift);
		end += end[1] == 'i' ? 2 : 1;
	}
	if ((*end != '\0' && strcmp(end, "B") != 0) || value < 1 || value >= 0x1p63)
		return false;
	*out_bytes = (uint64_t)value;
	return true;
}

static bool read_size(const LodeParameter *row, const char *text, void *field)
{
	(void)row;
	return lode_size_from_text(text, field);
}

static bool read_seconds(const LodeParameter *row, const char *text, void *field)
{
	const char *end;
	double value;

	(void)row;
	if (!scan_number(text, &value, &end) || *end != '\0' || value < 0.001 || value > 1e6)
		return false;
	*(unsigned *)field = (unsigned)lround(value * 1000);
	return true;
}

static bool read_flag(const LodeParameter *row, const char *text, void *field)
{
	(void)row;
	*(bool *)field = strcmp(text, "1") == 0;
	return *(bool *)field || strcmp(text, "0") == 0;
}

static bool read_text(const LodeParameter *row, const char *text, void *field)
{
	(void)row;
	*(const char **)field = text;
	return true;
}

/* `expected` NULL: the text is generated, or every value is valid. */
static const struct {
	bool (*read)(const LodeParameter *row, const char *text, void *field);
	const char *expected;
} kinds[] = {
	[LODE_PARAMETER_FLAG] = {read_flag, "0 or 1"},
	[LODE_PARAMETER_TEXT] = {read_text, NULL},
	[LODE_PARAMETER_FILE] = {read_text, NULL},
	[LODE_PARAMETER_TEXTS] = {read_text, NULL},
	[LODE_PARAMETER_FILES] = {read_text, NULL},
	[LODE_PARAMETER_COUNT] = {read_count, NULL},
	[LODE_PARAMETER_ADDRESS] = {read_address, "an address such as 0x7f00"},
	[LODE_PARAMETER_RANGE] = {read_range, "a range such as 3, 2-4, 2- or -4"},
	[LODE_PARAMETER_SHARE] = {read_share, "a share between 0 and 1, or 0% and 100%"},
	[LODE_PARAMETER_PERCENT] = {read_percent, "a number of percent"},
	[LODE_PARAMETER_NUMBER] = {read_number, "a number of 0 or more"},
	[LODE_PARAMETER_SIZE] = {read_size, "a size such as 4G or 512M"},
	[LODE_PARAMETER_SECONDS] = {read_seconds, "a number of seconds from 0.001 to 1000000"},
	[LODE_PARAMETER_WORD] = {read_word, NULL},
};

static char *expected_of(const LodeParameter *row)
{
	if (row->kind == LODE_PARAMETER_WORD)
		return list_words(row->value);
	if (row->kind == LODE_PARAMETER_COUNT)
		return g_strdup_printf("a whole number from %" G_GUINT64_FORMAT
				       " to %" G_GUINT64_FORMAT,
			row->least, most_of(row));
	return g_strdup(kinds[row->kind].expected);
}

static bool read_value(const LodeParameter *row, const char *text, LodeParameterAudience audience,
	void *field, GError **error)
{
	if (*text == '\0' && kinds[row->kind].read == read_text)
		return lode_parameter_refuse(
			error, "%s%s: the value is empty", dashes_of(row, audience), row->name);
	if (kinds[row->kind].read(row, text, field))
		return true;
	g_autofree char *expected = expected_of(row);
	return lode_parameter_refuse(
		error, "%s%s: '%s' is not %s", dashes_of(row, audience), row->name, text, expected);
}

/* --- all of them --- */

typedef struct {
	const LodeParameterGroup *groups;
	const LodeParameterPairs *pairs;
	LodeParameterAudience audience;
	char *target;
	GPtrArray *lists;
} Filling;

/* Whether a pair gives a value for `name`: in an address an empty value is that of an empty field
 * of a form. */
static bool is_value_of(const Filling *self, guint pair, const char *name)
{
	const char *value = self->pairs->values->pdata[pair];

	return strcmp(self->pairs->names->pdata[pair], name) == 0 &&
	       (*value != '\0' || self->audience == LODE_PARAMETER_FOR_TERMINAL);
}

static bool is_given(const Filling *self, const char *name)
{
	for (guint i = 0; i < self->pairs->names->len; i++)
		if (is_value_of(self, i, name))
			return true;
	return false;
}

static bool has_name(const char *names, const char *name)
{
	g_auto(GStrv) list = g_strsplit(names, " ", -1);

	return g_strv_contains((const char *const *)list, name);
}

static bool is_any_given(const Filling *self, const char *names)
{
	g_auto(GStrv) list = g_strsplit(names, " ", -1);

	for (size_t i = 0; list[i] != NULL; i++)
		if (is_given(self, list[i]))
			return true;
	return false;
}

/* A given parameter that is excluded by `row`; NULL: none. */
static const LodeParameter *find_excluded(const Filling *self, const LodeParameter *row)
{
	const LodeParameter *other;

	for (size_t i = 0; (other = lode_parameter_row(self->groups, i)) != NULL; i++) {
		bool is_all = strcmp(row->excludes, "*") == 0;
		bool is_part = other->audience == LODE_PARAMETER_FOR_WORDS ||
		               (other->needs != NULL && has_name(other->needs, row->name));
		if (other != row && is_given(self, other->name) &&
			(is_all ? !is_part : has_name(row->excludes, other->name)))
			return other;
	}
	return NULL;
}

/* "--by, --branches or --sharing" */
static char *list_needed(const Filling *self, const char *names)
{
	g_autoptr(GString) words = g_string_new(NULL);
	g_auto(GStrv) list = g_strsplit(names, " ", -1);

	for (size_t i = 0; list[i] != NULL; i++)
		g_string_append_printf(
			words, "%s%s%s", i > 0 ? "|" : "", dashes(self->audience), list[i]);
	return list_words(words->str);
}

static bool check_row(const Filling *self, const LodeParameter *row, GError **error)
{
	const char *before = dashes_of(row, self->audience);

	if (!is_given(self, row->name))
		return true;
	const LodeParameter *other = row->excludes != NULL ? find_excluded(self, row) : NULL;
	if (other != NULL)
		return lode_parameter_refuse(error, "%s%s cannot be used with %s%s", before,
			row->name, dashes_of(other, self->audience), other->name);
	if (row->needs == NULL || is_any_given(self, row->needs))
		return true;
	g_autofree char *needed = list_needed(self, row->needs);
	return lode_parameter_refuse(error, "%s%s needs %s", before, row->name, needed);
}

static bool fill_list(const Filling *self, const LodeParameter *row, void *field, GError **error)
{
	g_autoptr(GPtrArray) list = g_ptr_array_new();

	for (guint i = 0; i < self->pairs->names->len; i++) {
		const char *text;
		if (!is_value_of(self, i, row->name))
			continue;
		if (!read_value(row, self->pairs->values->pdata[i], self->audience, &text, error))
			return false;
		g_ptr_array_add(list, (void *)text);
	}
	if (list->len == 0)
		return true;
	g_ptr_array_add(list, NULL);
	*(void **)field = g_ptr_array_steal(list, NULL);
	g_ptr_array_add(self->lists, *(void **)field);
	return true;
}

static bool fill_row(const Filling *self, const LodeParameter *row, char *part, GError **error)
{
	const char *text = row->standard;

	/* Several rows may share the bool. */
	if (row->given > 0 && is_given(self, row->name))
		*(bool *)(part + row->given) = true;
	if (is_list(row))
		return fill_list(self, row, part + row->offset, error);
	for (guint i = 0; i < self->pairs->names->len; i++)
		if (is_value_of(self, i, row->name))
			text = self->pairs->values->pdata[i];
	return text == NULL || read_value(row, text, self->audience, part + row->offset, error);
}

static bool check_names(const Filling *self, GError **error)
{
	for (guint i = 0; i < self->pairs->names->len; i++) {
		const char *name = self->pairs->names->pdata[i];
		const LodeParameter *row = lode_parameter_find(self->groups, name);
		if (row == NULL || !is_for(row, self->audience))
			return refuse_unknown(self->groups, name, self->audience, error);
	}
	return true;
}

bool lode_parameters_fill(const LodeParameterGroup *groups, const LodeParameterPairs *pairs,
	LodeParameterAudience audience, void *target, GPtrArray **out_lists, GError **error)
{
	g_autoptr(GPtrArray) lists = g_ptr_array_new_with_free_func(g_free);
	const Filling self = {groups, pairs, audience, target, lists};
	const LodeParameter *row;

	if (!check_names(&self, error))
		return false;
	for (size_t i = 0; (row = lode_parameter_row(groups, i)) != NULL; i++)
		if (!check_row(&self, row, error))
			return false;
	for (; groups != NULL && groups->title != NULL; groups++)
		for (row = groups->rows; row->name != NULL; row++)
			if (!fill_row(&self, row, self.target + groups->offset, error))
				return false;
	*out_lists = g_steal_pointer(&lists);
	return true;
}

/* The row whose "--NAME" is at `at`; NULL: none. */
static const LodeParameter *find_option(const LodeParameterGroup *groups, const char *at)
{
	const LodeParameter *row;

	for (size_t i = 0; (row = lode_parameter_row(groups, i)) != NULL; i++) {
		size_t n = strlen(row->name);
		if (g_str_has_prefix(at, "--") && strncmp(at + 2, row->name, n) == 0 &&
			!g_ascii_isalnum(at[2 + n]) && at[2 + n] != '-')
			return row;
	}
	return NULL;
}

char *lode_parameters_undash(const LodeParameterGroup *groups, const char *message)
{
	GString *text = g_string_new(NULL);
	bool is_quoted = false;

	for (const char *at = message; *at != '\0'; at++) {
		bool is_apostrophe = at > message && g_ascii_isalnum(at[-1]) &&
		                     g_ascii_isalnum(at[1]);
		if (*at == '\'' && !is_apostrophe)
			is_quoted = !is_quoted;
		if (!is_quoted && find_option(groups, at) != NULL)
			at += 2;
		g_string_append_c(text, *at);
	}
	return g_string_free(text, FALSE);
}
