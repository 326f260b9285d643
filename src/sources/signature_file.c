/* SPDX-License-Identifier: MIT */
#include "sources/signature_file.h"

#include "base/arrays/sort_order.h"
#include "base/error.h"
#include "model/index.h"
#include "sources/text_lines.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <string.h>

/*
 * The reader takes nothing on trust: sections come in their order, each has as many lines as it
 * says, and the file ends with "end", so that one that was cut short or put together from two is
 * not taken for a smaller one.
 */

enum { MAX_FILE_BYTES = 256 << 20 };

/* Six digits leave each number off by a part in 10^6. */
static const double rounding = 1e-5;

/* --- writing --- */

static void append_number(GString *text, double value)
{
	char number[G_ASCII_DTOSTR_BUF_SIZE];

	g_string_append(text, g_ascii_formatd(number, sizeof(number), "%.6g", value));
}

static void append_figure(GString *text, const char *key, const LodeSignatureFigure *figure)
{
	if (!figure->is_known)
		return;
	g_string_append_printf(text, "%s ", key);
	append_number(text, figure->mean);
	g_string_append_c(text, ' ');
	append_number(text, figure->deviation);
	g_string_append_c(text, '\n');
}

static void append_section(const LodeSignature *self, unsigned kind, unsigned length, GString *text)
{
	const GArray *sequences = self->sequences[kind][length - 1];

	g_string_append_printf(text, "%s %u %u ",
		lode_sequence_kind_to_text((LodeSequenceKind)kind), length, sequences->len);
	append_number(text, self->totals[kind][length - 1]);
	g_string_append_c(text, '\n');
	for (guint i = 0; i < sequences->len; i++) {
		const LodeSignatureSequence *one = &LODE_AT(sequences, LodeSignatureSequence, i);
		append_number(text, one->support);
		g_string_append_c(text, ' ');
		append_number(text, one->deviation);
		g_string_append_printf(text, " %s\n", one->text);
	}
}

void lode_signature_file_append(const LodeSignature *self, GString *text)
{
	g_string_append_printf(text,
		"lode-signature %d\n"
		"# support, standard deviation over the profiles, sequence; see lode-signature(1)\n"
		"name %s\n"
		"profiles %u\n"
		"frequency %s\n"
		"executions ",
		LODE_SIGNATURE_VERSION, self->name, self->n_profiles,
		lode_frequency_to_text(self->frequency));
	append_number(text, self->executions);
	g_string_append(text, "\nmin-support ");
	append_number(text, self->min_support);
	g_string_append_printf(text, "\nattributes %s\n", self->attributes);
	append_figure(text, "seconds-per-execution", &self->seconds_per_execution);
	append_figure(text, "seconds-per-unit", &self->seconds_per_unit);
	for (unsigned kind = 0; kind < LODE_N_SEQUENCE_KINDS; kind++)
		for (unsigned length = 1; length <= LODE_SIGNATURE_LENGTHS; length++)
			append_section(self, kind, length, text);
	g_string_append_printf(text, "files %u\n", self->files->len);
	for (guint i = 0; i < self->files->len; i++) {
		const LodeSignatureFile *one = &LODE_AT(self->files, LodeSignatureFile, i);
		append_number(text, one->share);
		g_string_append_printf(text, " %s\n", one->text);
	}
	g_string_append(text, "end\n");
}

/* --- reading --- */

typedef struct {
	LodeTextLines *lines;
	const char *line; /* the one we are at; NULL: the file has ended */
	guint64 version;
	GError **error;
} Reader;

static bool G_GNUC_PRINTF(2, 3) fail(Reader *self, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	g_autofree char *message = g_strdup_vprintf(format, arguments);
	va_end(arguments);
	uint64_t number = lode_text_lines_number(self->lines);
	return lode_text_lines_error_at(
		self->lines, MAX(number, 1), self->error, LODE_ERROR_CORRUPT, "%s", message);
}

/* The current line, short enough for a message. */
static char *shown_line(const Reader *self)
{
	return g_utf8_make_valid(self->line, (gssize)strnlen(self->line, 40));
}

static bool fail_expected(Reader *self, const char *wanted)
{
	if (self->line == NULL)
		return fail(self, "the file ends, expected %s: it was cut short", wanted);
	g_autofree char *shown = shown_line(self);
	return fail(self, "'%s', expected %s", shown, wanted);
}

/* Goes to the next line that is not blank and no comment. */
static bool next(Reader *self)
{
	size_t length;

	do {
		int found = lode_text_lines_next(self->lines, &self->line, &length, self->error);
		if (found < 0)
			return false;
		if (found == 0) {
			self->line = NULL;
			return true;
		}
		if (strlen(self->line) != length || !g_utf8_validate(self->line, -1, NULL))
			return fail(self, "bytes that are not text");
		for (const char *at = self->line; *at != '\0'; at++)
			if (g_ascii_iscntrl(*at))
				return fail(self, "a control character");
	} while (*self->line == '\0' || *self->line == '#');
	return true;
}

/* The value of "KEY VALUE", valid until the next line; NULL where another key stands. */
static const char *value_of(const Reader *self, const char *key)
{
	size_t length = strlen(key);

	if (self->line == NULL || strncmp(self->line, key, length) != 0 ||
		self->line[length] != ' ' || self->line[length + 1] == '\0')
		return NULL;
	return self->line + length + 1;
}

/* A number from 0 to `max` that a blank or the line's end follows; goes after it. */
static bool take_number(Reader *self, const char **at, double max, double *out_value)
{
	char *end;
	bool begins = g_ascii_isdigit(**at);
	double value = g_ascii_strtod(*at, &end);

	if (!begins || !(value >= 0) || value > max || (*end != '\0' && *end != ' ') ||
		strspn(*at, "0123456789.eE+-") < (size_t)(end - *at)) {
		g_autofree char *shown = g_utf8_make_valid(*at, (gssize)strcspn(*at, " "));
		return fail(self, "'%s', expected a number from 0 to %g", shown, max);
	}
	*at = *end == ' ' ? end + 1 : end;
	*out_value = value;
	return true;
}

static bool take_end(Reader *self, const char *at)
{
	return *at == '\0' || fail(self, "'%s' is too much", at);
}

static bool read_number(Reader *self, const char *key, double max, double *out_value)
{
	const char *at = value_of(self, key);

	if (at == NULL) {
		g_autofree char *wanted = g_strdup_printf("'%s' and a number", key);
		return fail_expected(self, wanted);
	}
	return take_number(self, &at, max, out_value) && take_end(self, at) && next(self);
}

static bool read_positive(Reader *self, const char *key, double max, double *out_value)
{
	uint64_t number = lode_text_lines_number(self->lines);

	if (!read_number(self, key, max, out_value))
		return false;
	return *out_value > 0 || lode_text_lines_error_at(self->lines, number, self->error,
					 LODE_ERROR_CORRUPT, "%s must not be 0", key);
}

static bool read_whole_number(Reader *self, const char *key, double max, uint32_t *out_value)
{
	double value;
	uint64_t number = lode_text_lines_number(self->lines);

	if (!read_positive(self, key, max, &value))
		return false;
	if (value != floor(value))
		return lode_text_lines_error_at(self->lines, number, self->error,
			LODE_ERROR_CORRUPT, "%s: not a whole number", key);
	*out_value = (uint32_t)value;
	return true;
}

static bool read_text(Reader *self, const char *key, char **out_text)
{
	const char *value = value_of(self, key);

	if (value == NULL) {
		g_autofree char *wanted = g_strdup_printf("'%s' and a text", key);
		return fail_expected(self, wanted);
	}
	*out_text = g_strdup(value);
	return next(self);
}

static bool read_version(Reader *self)
{
	const char *value = value_of(self, "lode-signature");

	if (value == NULL ||
		!g_ascii_string_to_unsigned(value, 10, 1, UINT32_MAX, &self->version, NULL))
		return fail_expected(self, "'lode-signature 2': not a signature");
	if (self->version > LODE_SIGNATURE_VERSION)
		return lode_text_lines_error_at(self->lines, lode_text_lines_number(self->lines),
			self->error, LODE_ERROR_UNSUPPORTED,
			"a signature of version %" G_GUINT64_FORMAT
			", made by a newer lode; this one reads version %d",
			self->version, LODE_SIGNATURE_VERSION);
	return next(self);
}

static bool read_figure(Reader *self, const char *key, LodeSignatureFigure *figure)
{
	const char *at = value_of(self, key);

	if (at == NULL)
		return true;
	figure->is_known = true;
	if (!take_number(self, &at, 1e15, &figure->mean) ||
		!take_number(self, &at, 1e15, &figure->deviation) || !take_end(self, at))
		return false;
	return figure->mean > 0 ? next(self) : fail(self, "%s must not be 0", key);
}

static bool read_frequency(Reader *self, LodeFrequency *out_frequency)
{
	const char *value = value_of(self, "frequency");
	int frequency = value != NULL ? lode_frequency_from_text(value) : -1;

	if (frequency < 0)
		return fail_expected(self, "'frequency' and exact, sampled, inferred or given");
	*out_frequency = (LodeFrequency)frequency;
	return next(self);
}

static unsigned count_elements(const char *text)
{
	unsigned n = *text != '\0';

	for (; *text != '\0'; text++) {
		if (*text != ' ')
			continue;
		n++;
		if (text[1] == ' ' || text[1] == '\0')
			return 0;
	}
	return n;
}

/* A line of a section: "0.0731 0.0021 mov add". */
static bool read_sequence(Reader *self, LodeSignature *signature, unsigned kind, unsigned length)
{
	GArray *sequences = signature->sequences[kind][length - 1];
	const char *at = self->line;
	double support, deviation;

	if (!take_number(self, &at, 1, &support) || !take_number(self, &at, 1, &deviation))
		return false;
	/* As it is kept, so that what is written of it passes too. */
	support = lode_signature_round(support);
	if (!(support > 0) || support < signature->min_support * (1 - rounding))
		return fail(self, "a support below min-support");
	if (count_elements(at) != length)
		return fail(self, "expected a sequence of %u", length);
	lode_signature_add(signature, (LodeSequenceKind)kind, length, at, support, deviation);
	if (sequences->len > 1 &&
		lode_signature_sequence_compare(
			&LODE_AT(sequences, LodeSignatureSequence, sequences->len - 2),
			&LODE_AT(sequences, LodeSignatureSequence, sequences->len - 1)) >= 0)
		return fail(self, "out of order: sequences come by falling support, then by bytes");
	return true;
}

static bool read_sequences(
	Reader *self, LodeSignature *signature, unsigned kind, unsigned length, double n)
{
	g_autoptr(GHashTable) known = g_hash_table_new(g_str_hash, g_str_equal);
	GArray *sequences = signature->sequences[kind][length - 1];
	double sum = 0;

	for (double i = 0; i < n; i++) {
		if (!next(self))
			return false;
		if (self->line == NULL)
			return fail_expected(self, "a sequence");
		if (!g_ascii_isdigit(*self->line))
			return fail_expected(
				self, "a sequence: the section has fewer than it says");
		if (!read_sequence(self, signature, kind, length))
			return false;
		const LodeSignatureSequence *one = &LODE_AT(
			sequences, LodeSignatureSequence, sequences->len - 1);
		if (!g_hash_table_add(known, (char *)one->text))
			return fail(self, "'%s' comes a second time", one->text);
		sum += one->support;
	}
	if (sum > signature->totals[kind][length - 1] * (1 + rounding) + rounding)
		return fail(self, "the supports of the section add up to more than it says");
	return next(self);
}

static bool read_section(Reader *self, LodeSignature *signature, unsigned kind, unsigned length)
{
	const char *word = lode_sequence_kind_to_text((LodeSequenceKind)kind);
	g_autofree char *key = g_strdup_printf("%s %u", word, length);
	const char *at = value_of(self, key);
	double n;

	if (at == NULL) {
		g_autofree char *wanted = g_strdup_printf("the section '%s'", key);
		return fail_expected(self, wanted);
	}
	if (!take_number(self, &at, UINT32_MAX, &n) ||
		!take_number(self, &at, 1.00001, &signature->totals[kind][length - 1]) ||
		!take_end(self, at))
		return false;
	signature->totals[kind][length - 1] = lode_signature_round(
		signature->totals[kind][length - 1]);
	return read_sequences(self, signature, kind, length, n);
}

/* A line of the files: "0.0731 93ac61ec libc.so.6". */
static bool read_file(Reader *self, LodeSignature *signature)
{
	const GArray *files = signature->files;
	const char *at = self->line;
	double share;

	if (!take_number(self, &at, 1, &share))
		return false;
	if (!(lode_signature_round(share) > 0))
		return fail(self, "a share of 0");
	size_t length = strspn(at, "0123456789abcdef");
	bool is_named = length > 0 ? at[length] == ' ' : g_str_has_prefix(at, "- ");
	if (count_elements(at) != 2 || !is_named)
		return fail(self, "expected a build-id or '-', and a name");
	lode_signature_add_file(signature, at, share);
	if (files->len > 1 &&
		lode_signature_file_compare(&LODE_AT(files, LodeSignatureFile, files->len - 2),
			&LODE_AT(files, LodeSignatureFile, files->len - 1)) >= 0)
		return fail(self, "out of order: files come by falling share, then by bytes");
	return true;
}

static bool read_files(Reader *self, LodeSignature *signature)
{
	g_autoptr(GHashTable) known = g_hash_table_new(g_str_hash, g_str_equal);
	const char *at = value_of(self, "files");
	double n;

	if (at == NULL)
		return fail_expected(self, "the section 'files'");
	if (!take_number(self, &at, UINT32_MAX, &n) || !take_end(self, at))
		return false;
	for (double i = 0; i < n; i++) {
		if (!next(self))
			return false;
		if (self->line == NULL)
			return fail_expected(self, "a file");
		if (!g_ascii_isdigit(*self->line))
			return fail_expected(self, "a file: the section has fewer than it says");
		if (!read_file(self, signature))
			return false;
		const LodeSignatureFile *one = &LODE_AT(
			signature->files, LodeSignatureFile, signature->files->len - 1);
		if (!g_hash_table_add(known, (char *)one->text))
			return fail(self, "'%s' comes a second time", one->text);
	}
	return next(self);
}

static bool read_head(Reader *self, LodeSignature **out_signature)
{
	g_autofree char *name = NULL, *attributes = NULL;
	LodeSignature head = {0};

	if (!next(self) || !read_version(self) || !read_text(self, "name", &name) ||
		!read_whole_number(self, "profiles", 1e9, &head.n_profiles) ||
		!read_frequency(self, &head.frequency) ||
		!read_number(self, "executions", 1e300, &head.executions) ||
		!read_positive(self, "min-support", 1, &head.min_support) ||
		!read_text(self, "attributes", &attributes) ||
		!read_figure(self, "seconds-per-execution", &head.seconds_per_execution) ||
		!read_figure(self, "seconds-per-unit", &head.seconds_per_unit))
		return false;
	LodeSignature *signature = *out_signature = lode_signature_new(name, attributes);
	signature->n_profiles = head.n_profiles;
	signature->frequency = head.frequency;
	signature->executions = lode_signature_round(head.executions);
	signature->min_support = lode_signature_round(head.min_support);
	signature->seconds_per_execution = head.seconds_per_execution;
	signature->seconds_per_unit = head.seconds_per_unit;
	return true;
}

LodeSignature *lode_signature_file_read(const char *path, GError **error)
{
	g_autoptr(LodeTextLines) lines = lode_text_lines_open(path, MAX_FILE_BYTES, NULL, error);
	g_autoptr(LodeSignature) signature = NULL;
	Reader self = {.lines = lines, .error = error};

	if (lines == NULL || !read_head(&self, &signature))
		return NULL;
	for (unsigned kind = 0; kind < LODE_N_SEQUENCE_KINDS; kind++)
		for (unsigned length = 1; length <= LODE_SIGNATURE_LENGTHS; length++)
			if (!read_section(&self, signature, kind, length))
				return NULL;
	if (self.version > 1 && !read_files(&self, signature))
		return NULL;
	if (self.line == NULL || strcmp(self.line, "end") != 0) {
		fail_expected(&self, "'end'");
		return NULL;
	}
	if (!next(&self))
		return NULL;
	if (self.line != NULL) {
		fail_expected(&self, "nothing after 'end'");
		return NULL;
	}
	return g_steal_pointer(&signature);
}

/* Paths of the signatures of a directory, in the order of their names. */
static GPtrArray *list_signatures(const char *directory, GError **error)
{
	g_autoptr(GPtrArray) paths = g_ptr_array_new_with_free_func(g_free);
	DIR *listing = opendir(directory);
	const struct dirent *entry;

	if (listing == NULL) {
		int code = errno;
		g_set_error(
			error, LODE_ERROR, LODE_ERROR_IO, "%s: %s", directory, g_strerror(code));
		return NULL;
	}
	while ((entry = readdir(listing)) != NULL)
		if (g_str_has_suffix(entry->d_name, ".sig"))
			g_ptr_array_add(paths, g_build_filename(directory, entry->d_name, NULL));
	closedir(listing);
	g_ptr_array_sort(paths, lode_compare_texts);
	if (paths->len == 0) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_NOT_FOUND,
			"%s: no signature (*.sig); lode signature makes one", directory);
		return NULL;
	}
	return g_steal_pointer(&paths);
}

GPtrArray *lode_signature_directory_read(const char *path, GError **error)
{
	g_autoptr(GPtrArray) paths = list_signatures(path, error);
	g_autoptr(GPtrArray)
		signatures = g_ptr_array_new_with_free_func((GDestroyNotify)lode_signature_free);
	g_autoptr(GHashTable) names = g_hash_table_new(g_str_hash, g_str_equal);

	for (guint i = 0; paths != NULL && i < paths->len; i++) {
		const char *file = g_ptr_array_index(paths, i);
		LodeSignature *signature = lode_signature_file_read(file, error);
		if (signature == NULL)
			return NULL;
		g_ptr_array_add(signatures, signature);
		const char *other = g_hash_table_lookup(names, signature->name);
		if (other != NULL) {
			g_set_error(error, LODE_ERROR, LODE_ERROR_USAGE,
				"%s: the name '%s' is also that of %s", file, signature->name,
				other);
			return NULL;
		}
		g_hash_table_insert(names, signature->name, (char *)file);
	}
	return paths != NULL ? g_steal_pointer(&signatures) : NULL;
}
