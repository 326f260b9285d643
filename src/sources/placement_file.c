/* SPDX-License-Identifier: MIT */
#include "sources/placement_file.h"

#include "base/error.h"
#include "sources/text_lines.h"

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* --- placement tokens --- */

/*
 * The words and numbers of a placement file, one at a time: commands end with their line unless a
 * backslash continues it, and what follows a # is a comment.
 */

typedef enum {
	PLACEMENT_TOKEN_END,      /* of the command */
	PLACEMENT_TOKEN_WORD,     /* memories, cube */
	PLACEMENT_TOKEN_NUMBER,   /* 12, 0x7f00 */
	PLACEMENT_TOKEN_VARIABLE, /* $NAME; its text is the name */
	PLACEMENT_TOKEN_TEXT,     /* "in quotes"; its text is without them */
	PLACEMENT_TOKEN_SIGN,     /* one of + - * / % ( ) : */
	PLACEMENT_TOKEN_NAME,     /* only placement_tokens_next_name() gives one */
} PlacementTokenKind;

typedef struct {
	PlacementTokenKind kind;
	const char *text; /* NUL-terminated; valid until the next token is taken */
	uint64_t number;
	uint64_t line;   /* from 1 */
	uint64_t column; /* in bytes, from 1 */
} PlacementToken;

typedef struct PlacementTokens PlacementTokens;

struct PlacementTokens {
	char *path;
	LodeTextLines *lines;
	const char *start, *at; /* in the line that was read last */
	PlacementToken token;
	GString *text; /* of the token */
};

/* Errors: _IO. */
static PlacementTokens *placement_tokens_open(const char *path, GError **error)
{
	LodeTextLines *lines = lode_text_lines_open(path, 0, NULL, error);

	if (lines == NULL)
		return NULL;
	PlacementTokens *self = g_new0(PlacementTokens, 1);
	self->path = g_strdup(path);
	self->lines = lines;
	self->start = self->at = "";
	self->text = g_string_new(NULL);
	self->token.text = self->text->str;
	return self;
}

static void placement_tokens_close(PlacementTokens *self)
{
	if (self == NULL)
		return;
	lode_text_lines_close(self->lines);
	g_string_free(self->text, TRUE);
	g_free(self->path);
	g_free(self);
}

/* Sets "PATH: line 3, column 7: MESSAGE", the place being the token's; gives false. */
static bool placement_tokens_fail(const PlacementTokens *self, const PlacementToken *token,
	GError **error, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	g_autofree char *message = g_strdup_vprintf(format, arguments);
	va_end(arguments);
	g_set_error(error, LODE_ERROR, LODE_ERROR_CORRUPT,
		"%s: line %" G_GUINT64_FORMAT ", column %" G_GUINT64_FORMAT ": %s", self->path,
		token->line, token->column, message);
	return false;
}

/* The token we are at. */
static const PlacementToken *placement_tokens_at(const PlacementTokens *self)
{
	return &self->token;
}

/* Gives 1, 0 at the end of the file, −1 with an error. A NUL inside a line is not text. */
static int read_line(PlacementTokens *self, GError **error)
{
	const char *line;
	size_t length;
	int found = lode_text_lines_next(self->lines, &line, &length, error);

	self->start = self->at = found > 0 ? line : "";
	if (found <= 0 || memchr(line, '\0', length) == NULL)
		return found;
	lode_text_lines_error_at(self->lines, lode_text_lines_number(self->lines), error,
		LODE_ERROR_CORRUPT, "a NUL character, expected text");
	return -1;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

static void skip_blanks(PlacementTokens *self)
{
	while (is_blank(*self->at))
		self->at++;
}

/* Where a line ends with a backslash (blanks and a comment may follow it). */
static bool is_continuation(const char *at)
{
	if (*at != '\\')
		return false;
	for (at++; is_blank(*at);)
		at++;
	return *at == '\0' || *at == '#';
}

/* To the next token's first byte; a NUL there: the command's end. */
static bool skip_to_token(PlacementTokens *self, GError **error)
{
	skip_blanks(self);
	while (is_continuation(self->at)) {
		int found = read_line(self, error);
		if (found < 0)
			return false;
		skip_blanks(self);
		if (found == 0)
			break;
	}
	return true;
}

static void begin_token(PlacementTokens *self, PlacementTokenKind kind)
{
	self->token.kind = kind;
	self->token.line = lode_text_lines_number(self->lines);
	self->token.column = (uint64_t)(self->at - self->start) + 1;
	g_string_truncate(self->text, 0);
}

static void take_bytes(PlacementTokens *self, size_t n)
{
	g_string_append_len(self->text, self->at, (gssize)n);
	self->at += n;
}

static size_t word_length(const char *at)
{
	size_t n = 0;

	while (g_ascii_isalnum(at[n]) || at[n] == '_')
		n++;
	return n;
}

static bool scan_number(PlacementTokens *self, GError **error)
{
	begin_token(self, PLACEMENT_TOKEN_NUMBER);
	take_bytes(self, word_length(self->at));
	const char *text = self->text->str;
	bool is_hexadecimal = g_ascii_strncasecmp(text, "0x", 2) == 0;
	if (g_ascii_string_to_unsigned(text + (is_hexadecimal ? 2 : 0), is_hexadecimal ? 16 : 10, 0,
		    UINT64_MAX, &self->token.number, NULL))
		return true;
	return placement_tokens_fail(
		self, &self->token, error, "'%s' is not a number below 2^64", text);
}

static bool take_variable(PlacementTokens *self, GError **error)
{
	begin_token(self, PLACEMENT_TOKEN_VARIABLE);
	self->at++;
	bool is_braced = *self->at == '{';
	self->at += is_braced;
	take_bytes(self, word_length(self->at));
	if (self->text->len == 0 || (is_braced && *self->at != '}'))
		return placement_tokens_fail(
			self, &self->token, error, "'$', expected a variable such as $NAME");
	self->at += is_braced;
	return true;
}

static bool take_text(PlacementTokens *self, GError **error)
{
	begin_token(self, PLACEMENT_TOKEN_TEXT);
	for (self->at++; *self->at != '"'; self->at++) {
		if (*self->at == '\\' && self->at[1] != '\0')
			self->at++;
		if (*self->at == '\0')
			return placement_tokens_fail(self, &self->token, error,
				"a quoted name does not end on its line");
		g_string_append_c(self->text, *self->at);
	}
	self->at++;
	return true;
}

static bool take_sign(PlacementTokens *self, GError **error)
{
	begin_token(self, PLACEMENT_TOKEN_SIGN);
	if (strchr("+-*/%():", *self->at) != NULL) {
		take_bytes(self, 1);
		return true;
	}
	if (g_ascii_isprint(*self->at))
		return placement_tokens_fail(
			self, &self->token, error, "'%c' has no meaning here", *self->at);
	return placement_tokens_fail(
		self, &self->token, error, "a byte that is not text (0x%02x)", (uint8_t)*self->at);
}

static bool take(PlacementTokens *self, GError **error)
{
	char c = *self->at;

	if (c == '\0' || c == '#')
		begin_token(self, PLACEMENT_TOKEN_END);
	else if (g_ascii_isdigit(c))
		return scan_number(self, error);
	else if (c == '$')
		return take_variable(self, error);
	else if (c == '"')
		return take_text(self, error);
	else if (word_length(self->at) == 0)
		return take_sign(self, error);
	else {
		begin_token(self, PLACEMENT_TOKEN_WORD);
		take_bytes(self, word_length(self->at));
	}
	return true;
}

/* Goes to the next one; stays at an END. Errors name file, line and column: _CORRUPT, _IO. */
static bool placement_tokens_next(PlacementTokens *self, GError **error)
{
	bool is_taken = skip_to_token(self, error) && take(self, error);

	self->token.text = self->text->str;
	return is_taken;
}

/* Likewise, but all up to the next blank is one token of kind NAME, unless it is in quotes. */
static bool placement_tokens_next_name(PlacementTokens *self, GError **error)
{
	if (!skip_to_token(self, error))
		return false;
	bool is_plain = *self->at != '\0' && *self->at != '#' && *self->at != '"';
	if (!is_plain)
		return placement_tokens_next(self, error);
	begin_token(self, PLACEMENT_TOKEN_NAME);
	while (*self->at != '\0' && !is_blank(*self->at))
		take_bytes(self, 1);
	self->token.text = self->text->str;
	return true;
}

/* Goes to the first token of the next command that has one. Gives 1, 0 at the end of the file, −1
 * with an error. */
static int placement_tokens_next_command(PlacementTokens *self, GError **error)
{
	for (;;) {
		int found = read_line(self, error);
		if (found <= 0)
			return found;
		if (!placement_tokens_next(self, error))
			return -1;
		if (self->token.kind != PLACEMENT_TOKEN_END)
			return 1;
	}
}

/* Skips to the command's end. Gives the skipped text, including the current token; the caller frees
 * it. NULL with an error. */
static char *placement_tokens_skip_command(PlacementTokens *self, GError **error)
{
	g_autoptr(GString) passed = g_string_new(self->text->str);

	for (;;) {
		if (!skip_to_token(self, error))
			return NULL;
		if (*self->at == '\0' || *self->at == '#')
			break;
		g_string_append_c(passed, ' ');
		while (*self->at != '\0' && *self->at != '#' && !is_blank(*self->at))
			g_string_append_c(passed, *self->at++);
	}
	begin_token(self, PLACEMENT_TOKEN_END);
	self->token.text = self->text->str;
	return g_utf8_make_valid(passed->str, -1);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC(PlacementTokens, placement_tokens_close)

/* --- placement file --- */

/* --- numbers --- */

/* Numbers of a placement file, which may be arithmetic: ( $MP_SET_NUMTHREADS + 1 ) / 2 */

enum { MAX_DEPTH = 64 };

/* Wide enough for every address and its negative. */
__extension__ typedef __int128 Wide;

typedef struct {
	PlacementTokens *tokens;
	unsigned depth; /* of parentheses and signs */
	GError **error;
} Parser;

static bool parse_infix(Parser *self, unsigned level, Wide *out_value);

static bool is_sign(const Parser *self, const char *signs)
{
	const PlacementToken *token = placement_tokens_at(self->tokens);

	return token->kind == PLACEMENT_TOKEN_SIGN && strchr(signs, *token->text) != NULL;
}

static bool parse_variable(Parser *self, Wide *out_value)
{
	const PlacementToken *token = placement_tokens_at(self->tokens);
	const char *value = g_getenv(token->text);
	guint64 number;

	if (value == NULL)
		return placement_tokens_fail(self->tokens, token, self->error,
			"the variable '%s' is not set in the environment", token->text);
	bool is_negative = *value == '-';
	const char *digits = value + is_negative;
	bool is_hexadecimal = g_ascii_strncasecmp(digits, "0x", 2) == 0;
	if (!g_ascii_string_to_unsigned(digits + (is_hexadecimal ? 2 : 0), is_hexadecimal ? 16 : 10,
		    0, UINT64_MAX, &number, NULL))
		return placement_tokens_fail(self->tokens, token, self->error,
			"the variable '%s' is '%s', expected a number", token->text, value);
	*out_value = is_negative ? -(Wide)number : (Wide)number;
	return placement_tokens_next(self->tokens, self->error);
}

static bool parse_factor(Parser *self, Wide *out_value)
{
	const PlacementToken *token = placement_tokens_at(self->tokens);
	bool is_end = token->kind == PLACEMENT_TOKEN_END;

	if (token->kind == PLACEMENT_TOKEN_NUMBER) {
		*out_value = (Wide)token->number;
		return placement_tokens_next(self->tokens, self->error);
	}
	if (token->kind == PLACEMENT_TOKEN_VARIABLE)
		return parse_variable(self, out_value);
	if (!is_sign(self, "(+-"))
		return placement_tokens_fail(self->tokens, token, self->error,
			"%s%s%s, expected a number", is_end ? "the command ends" : "'",
			is_end ? "" : token->text, is_end ? "" : "'");
	if (self->depth == MAX_DEPTH)
		return placement_tokens_fail(self->tokens, token, self->error,
			"more than %d parentheses and signs inside each other", MAX_DEPTH);
	bool is_parenthesis = is_sign(self, "("), is_negative = is_sign(self, "-");
	self->depth++;
	if (!placement_tokens_next(self->tokens, self->error) ||
		!(is_parenthesis ? parse_infix(self, 0, out_value) : parse_factor(self, out_value)))
		return false;
	self->depth--;
	if (is_negative)
		*out_value = -*out_value;
	if (is_parenthesis && !is_sign(self, ")"))
		return placement_tokens_fail(self->tokens, placement_tokens_at(self->tokens),
			self->error, "expected ')'");
	return !is_parenthesis || placement_tokens_next(self->tokens, self->error);
}

/* Applies one operator; false: it has no result. The smallest value has no negative: kept out. */
static bool apply(char sign, Wide a, Wide b, Wide *out_value)
{
	const Wide limit = (Wide)1 << 100;
	bool is_lost = false;

	if (sign == '+')
		is_lost = __builtin_add_overflow(a, b, out_value);
	else if (sign == '-')
		is_lost = __builtin_sub_overflow(a, b, out_value);
	else if (sign == '*')
		is_lost = __builtin_mul_overflow(a, b, out_value);
	else if (b == 0)
		return false;
	else
		*out_value = sign == '/' ? a / b : a % b;
	return !is_lost && -limit < *out_value && *out_value < limit;
}

/* Operands joined by the signs of a level, from the left; later levels bind tighter. */
static bool parse_infix(Parser *self, unsigned level, Wide *out_value)
{
	static const char *const signs[] = {"+-", "*/%"};
	Wide value, right;

	if (level == G_N_ELEMENTS(signs))
		return parse_factor(self, out_value);
	if (!parse_infix(self, level + 1, &value))
		return false;
	while (is_sign(self, signs[level])) {
		/* A copy: its text is gone with the next token. */
		PlacementToken sign = *placement_tokens_at(self->tokens);
		char character = *sign.text;
		if (!placement_tokens_next(self->tokens, self->error) ||
			!parse_infix(self, level + 1, &right))
			return false;
		if (!apply(character, value, right, &value))
			return placement_tokens_fail(self->tokens, &sign, self->error, "%s",
				right == 0 ? "a division by zero" : "too large a number");
	}
	*out_value = value;
	return true;
}

static bool parse(PlacementTokens *tokens, Wide *out_value, GError **error)
{
	Parser parser = {.tokens = tokens, .error = error};

	return parse_infix(&parser, 0, out_value);
}

/*
 * The value of the expression that starts at the token we are at; goes to the token after it.
 *
 *   sum     = product { ("+" | "-") product }
 *   product = factor { ("*" | "/" | "%") factor }
 *   factor  = NUMBER | $VARIABLE | "(" sum ")" | ("+" | "-") factor
 *
 * Whole numbers; a division drops its remainder. Variables are of the environment. `what` names the
 * number in messages. Errors name file, line and column: _CORRUPT for a value outside min … max.
 */
static bool parse_number(PlacementTokens *tokens, const char *what, uint64_t min, uint64_t max,
	uint64_t *out_value, GError **error)
{
	PlacementToken start = *placement_tokens_at(tokens);
	Wide value;

	if (!parse(tokens, &value, error))
		return false;
	if (value >= (Wide)min && value <= (Wide)max) {
		*out_value = (uint64_t)value;
		return true;
	}
	bool is_shown = value >= -(Wide)INT64_MAX && value <= (Wide)INT64_MAX;
	g_autofree char *shown = is_shown ? g_strdup_printf("%" G_GINT64_FORMAT, (int64_t)value)
	                                  : g_strdup("a number of more than 63 bits");
	return placement_tokens_fail(tokens, &start, error,
		"%s: %s, expected %" G_GUINT64_FORMAT " to %" G_GUINT64_FORMAT, what, shown, min,
		max);
}

/* Likewise for a step: any number but 0, of at most 2^31. */
static bool parse_step(PlacementTokens *tokens, int64_t *out_value, GError **error)
{
	PlacementToken start = *placement_tokens_at(tokens);
	Wide value;

	if (!parse(tokens, &value, error))
		return false;
	if (value == 0)
		return placement_tokens_fail(tokens, &start, error, "the step must not be 0");
	if (value > INT32_MAX || value < -(Wide)INT32_MAX)
		return placement_tokens_fail(tokens, &start, error, "a step of more than 2^31");
	*out_value = (int64_t)value;
	return true;
}

/* --- commands --- */

/* Steps of all distributions of a file together; each line may cost as many as there are threads.
 */
enum { MAX_DISTRIBUTED = 1 << 24 };

typedef struct {
	const char *path;
	PlacementTokens *tokens;
	LodePlacement *placement; /* NULL: `memories` and `threads` did not come yet */
	uint32_t n_memories, n_threads;
	char *topology;
	GPtrArray *ignored;
	uint64_t n_distributed;
	GError **error;
} Reader;

static const PlacementToken *at(const Reader *self)
{
	return placement_tokens_at(self->tokens);
}

static bool next(Reader *self)
{
	return placement_tokens_next(self->tokens, self->error);
}

/* "expected MESSAGE", with what stands there. */
static bool fail_expected(Reader *self, const char *wanted)
{
	if (at(self)->kind == PLACEMENT_TOKEN_END)
		return placement_tokens_fail(self->tokens, at(self), self->error,
			"the command ends, expected %s", wanted);
	return placement_tokens_fail(
		self->tokens, at(self), self->error, "'%s', expected %s", at(self)->text, wanted);
}

static bool is_word(const Reader *self, const char *word)
{
	return at(self)->kind == PLACEMENT_TOKEN_WORD && strcmp(at(self)->text, word) == 0;
}

/* Either spelling. */
static bool expect(Reader *self, const char *word, const char *other)
{
	if (is_word(self, word) || (other != NULL && is_word(self, other)))
		return next(self);
	g_autofree char *wanted = g_strdup_printf("'%s'", word);
	return fail_expected(self, wanted);
}

static bool take_end(Reader *self)
{
	if (at(self)->kind == PLACEMENT_TOKEN_END)
		return true;
	return fail_expected(self, "the command's end");
}

static bool take_number(
	Reader *self, const char *what, uint64_t min, uint64_t max, uint64_t *out_value)
{
	return parse_number(self->tokens, what, min, max, out_value, self->error);
}

static bool take_memory(Reader *self, uint32_t *out_memory)
{
	uint64_t memory;

	if (!expect(self, "memory", "memories") ||
		!take_number(self, "memory", 0, self->n_memories - 1, &memory))
		return false;
	*out_memory = (uint32_t)memory;
	return true;
}

static bool take_on_memory(Reader *self, uint32_t *out_memory)
{
	return expect(self, "on", NULL) && take_memory(self, out_memory);
}

/* The rest of a command, which has no meaning on Linux. */
static bool ignore_rest(Reader *self)
{
	uint64_t line = at(self)->line;
	g_autofree char *rest = placement_tokens_skip_command(self->tokens, self->error);

	if (rest == NULL)
		return false;
	if (self->ignored != NULL)
		g_ptr_array_add(self->ignored,
			g_strdup_printf("line %" G_GUINT64_FORMAT ": %s", line, rest));
	return true;
}

/* [[in] [topology] cube] */
static bool take_topology(Reader *self)
{
	bool is_announced = is_word(self, "in");

	if (is_announced && !next(self))
		return false;
	if (is_word(self, "topology")) {
		is_announced = true;
		if (!next(self))
			return false;
	}
	if (is_word(self, "near") && !is_announced)
		return true;
	if (at(self)->kind != PLACEMENT_TOKEN_WORD)
		return is_announced ? fail_expected(self, "a topology such as cube") : true;
	self->topology = g_strdup(at(self)->text);
	return next(self);
}

static bool read_memories(Reader *self)
{
	uint64_t n;

	if (self->n_memories > 0)
		return placement_tokens_fail(
			self->tokens, at(self), self->error, "memories are given a second time");
	if (!next(self) || !take_number(self, "memories", 1, LODE_PLACEMENT_MAX_MEMORIES, &n) ||
		!take_topology(self))
		return false;
	self->n_memories = (uint32_t)n;
	return is_word(self, "near") ? ignore_rest(self) : take_end(self);
}

static bool read_threads(Reader *self)
{
	uint64_t n;

	if (self->n_threads > 0)
		return placement_tokens_fail(
			self->tokens, at(self), self->error, "threads are given a second time");
	if (!next(self) || !take_number(self, "threads", 1, LODE_PLACEMENT_MAX_THREADS, &n))
		return false;
	self->n_threads = (uint32_t)n;
	return take_end(self);
}

/* run thread T on memory M [using cpu C] */
static bool read_run(Reader *self)
{
	uint64_t thread, cpu = LODE_NONE;
	uint32_t memory;

	if (!next(self) || !expect(self, "thread", "threads") ||
		!take_number(self, "thread", 0, self->n_threads - 1, &thread) ||
		!take_on_memory(self, &memory))
		return false;
	if (is_word(self, "using") && (!next(self) || !expect(self, "cpu", NULL) ||
					      !take_number(self, "cpu", 0, UINT16_MAX, &cpu)))
		return false;
	LODE_AT(self->placement->thread_memories, uint32_t, thread) = memory;
	LODE_AT(self->placement->thread_cpus, uint32_t, thread) = (uint32_t)cpu;
	return take_end(self);
}

/* first, first + step, … up to last */
typedef struct {
	int64_t first, last, step;
	uint64_t n;
} Series;

static uint32_t series_at(const Series *self, uint64_t i)
{
	return (uint32_t)(self->first + self->step * (int64_t)i);
}

static bool is_at_colon(const Reader *self)
{
	return at(self)->kind == PLACEMENT_TOKEN_SIGN && strcmp(at(self)->text, ":") == 0;
}

/* [A:B[:S]], from A to B in steps of S; nothing: all of them. */
static bool take_series(Reader *self, const char *what, uint32_t n, Series *out_series)
{
	PlacementToken start = *at(self);
	uint64_t first, last;
	Series series = {.first = 0, .last = (int64_t)n - 1, .step = 1, .n = n};

	*out_series = series;
	if (at(self)->kind == PLACEMENT_TOKEN_END || at(self)->kind == PLACEMENT_TOKEN_WORD)
		return true;
	if (!take_number(self, what, 0, n - 1, &first))
		return false;
	if (!is_at_colon(self))
		return fail_expected(self, "':' and where they end");
	if (!next(self) || !take_number(self, what, 0, n - 1, &last))
		return false;
	if (is_at_colon(self) &&
		(!next(self) || !parse_step(self->tokens, &series.step, self->error)))
		return false;
	series.first = (int64_t)first;
	series.last = (int64_t)last;
	int64_t distance = series.last - series.first;
	if (distance != 0 && (distance > 0) != (series.step > 0))
		return placement_tokens_fail(self->tokens, &start, self->error,
			"steps of %" G_GINT64_FORMAT " from %" G_GINT64_FORMAT
			" never reach %" G_GINT64_FORMAT,
			series.step, series.first, series.last);
	series.n = (uint64_t)(distance / series.step) + 1;
	*out_series = series;
	return true;
}

/* [block [N] | cyclic [N]]: how many threads follow each other on one memory, and whether those of
 * a memory come again after the last memory. */
static bool take_pattern(
	Reader *self, const Series *threads, const Series *memories, uint64_t *out_group)
{
	bool is_cyclic = is_word(self, "cyclic");

	*out_group = is_cyclic ? 1 : (threads->n + memories->n - 1) / memories->n;
	if (!is_cyclic && !is_word(self, "block"))
		return take_end(self);
	if (!next(self))
		return false;
	if (at(self)->kind == PLACEMENT_TOKEN_END)
		return true;
	return take_number(self, is_cyclic ? "cyclic" : "block", 1, LODE_PLACEMENT_MAX_THREADS,
		       out_group) &&
	       take_end(self);
}

/* distribute threads [A:B[:S]] across memories [C:D[:S]] [block [N] | cyclic [N]] */
static bool read_distribute(Reader *self)
{
	PlacementToken start = *at(self);
	Series threads, memories;
	uint64_t group;

	if (!next(self) || !expect(self, "threads", "thread") ||
		!take_series(self, "thread", self->n_threads, &threads) ||
		!expect(self, "across", NULL) || !expect(self, "memories", "memory") ||
		!take_series(self, "memory", self->n_memories, &memories) ||
		!take_pattern(self, &threads, &memories, &group))
		return false;
	self->n_distributed += threads.n;
	if (self->n_distributed > MAX_DISTRIBUTED)
		return placement_tokens_fail(self->tokens, &start, self->error,
			"more than %d threads are distributed by all commands together",
			MAX_DISTRIBUTED);
	for (uint64_t i = 0; i < threads.n; i++) {
		uint32_t thread = series_at(&threads, i);
		LODE_AT(self->placement->thread_memories, uint32_t, thread) = series_at(
			&memories, i / group % memories.n);
		LODE_AT(self->placement->thread_cpus, uint32_t, thread) = LODE_NONE;
	}
	return true;
}

/* range A to B: the last address is in it, as with dplace */
static bool take_range(Reader *self, LodePlacedRange *range)
{
	PlacementToken start;
	uint64_t last;

	if (!expect(self, "range", NULL))
		return false;
	start = *at(self);
	if (!take_number(self, "address", 0, UINT64_MAX - 1, &range->start) ||
		!expect(self, "to", NULL) ||
		!take_number(self, "address", 0, UINT64_MAX - 1, &last))
		return false;
	if (last < range->start)
		return placement_tokens_fail(self->tokens, &start, self->error,
			"the range ends (0x%" G_GINT64_MODIFIER
			"x) before it starts (0x%" G_GINT64_MODIFIER "x)",
			last, range->start);
	range->end = last + 1;
	return true;
}

/* object NAME; a name of more than one word in quotes */
static bool read_place_object(Reader *self)
{
	LodePlacedRange range = {.kind = LODE_PLACE_OBJECT};

	if (!placement_tokens_next_name(self->tokens, self->error))
		return false;
	if (at(self)->kind == PLACEMENT_TOKEN_END || *at(self)->text == '\0')
		return fail_expected(self, "the name of an object");
	if (!g_utf8_validate(at(self)->text, -1, NULL))
		return placement_tokens_fail(
			self->tokens, at(self), self->error, "a name that is not UTF-8");
	g_autofree char *name = g_strdup(at(self)->text);
	range.object = name;
	if (!next(self) || !take_on_memory(self, &range.memory) || !take_end(self))
		return false;
	lode_placement_add(self->placement, &range);
	return true;
}

/* place range A to B on memory M [with pagesize N] */
static bool read_place(Reader *self)
{
	LodePlacedRange range = {.kind = LODE_PLACE_RANGE};

	if (!next(self))
		return false;
	if (is_word(self, "object"))
		return read_place_object(self);
	if (!is_word(self, "range"))
		return fail_expected(self, "'range' or 'object'");
	if (!take_range(self, &range) || !take_on_memory(self, &range.memory))
		return false;
	lode_placement_add(self->placement, &range);
	return is_word(self, "with") ? ignore_rest(self) : take_end(self);
}

/* interleave range A to B */
static bool read_interleave(Reader *self)
{
	LodePlacedRange range = {.kind = LODE_PLACE_INTERLEAVE};

	if (!next(self) || !take_range(self, &range) || !take_end(self))
		return false;
	lode_placement_add(self->placement, &range);
	return true;
}

/* A new command is a new row. */
static const struct {
	const char *word;
	bool (*read)(Reader *self);
	bool needs_placement; /* comes after `memories` and `threads` */
} commands[] = {
	{"memories", read_memories, false},
	{"memory", read_memories, false},
	{"threads", read_threads, false},
	{"thread", read_threads, false},
	{"run", read_run, true},
	{"distribute", read_distribute, true},
	{"place", read_place, true},
	{"interleave", read_interleave, true},
	{"migrate", ignore_rest, false},
	{"migration", ignore_rest, false},
	{"mode", ignore_rest, false},
	{"move", ignore_rest, false},
	{"page", ignore_rest, false},
	{"pagesize", ignore_rest, false},
	{"policy", ignore_rest, false},
};

static bool begin_placement(Reader *self)
{
	if (self->placement != NULL)
		return true;
	if (self->n_memories == 0 || self->n_threads == 0)
		return placement_tokens_fail(self->tokens, at(self), self->error,
			"'%s' comes before '%s'", at(self)->text,
			self->n_memories == 0 ? "memories" : "threads");
	self->placement = lode_placement_new(self->n_memories, self->n_threads);
	return true;
}

static bool read_command(Reader *self)
{
	for (size_t i = 0; i < G_N_ELEMENTS(commands); i++) {
		if (!is_word(self, commands[i].word))
			continue;
		if (commands[i].needs_placement && !begin_placement(self))
			return false;
		return commands[i].read(self);
	}
	return fail_expected(self, "memories, threads, run, distribute, place or interleave");
}

static bool read_commands(Reader *self)
{
	int found;

	while ((found = placement_tokens_next_command(self->tokens, self->error)) > 0)
		if (!read_command(self))
			return false;
	if (found < 0)
		return false;
	if (self->n_memories > 0 && self->n_threads > 0)
		return begin_placement(self);
	g_set_error(self->error, LODE_ERROR, LODE_ERROR_CORRUPT, "%s: the file ends without '%s'",
		self->path, self->n_memories == 0 ? "memories" : "threads");
	return false;
}

LodePlacement *lode_placement_file_read(const char *path, GPtrArray *ignored, GError **error)
{
	g_autoptr(PlacementTokens) tokens = placement_tokens_open(path, error);

	if (tokens == NULL)
		return NULL;
	Reader reader = {.path = path, .tokens = tokens, .ignored = ignored, .error = error};
	bool is_read = read_commands(&reader);
	if (is_read)
		reader.placement->topology = g_steal_pointer(&reader.topology);
	g_free(reader.topology);
	if (is_read)
		return reader.placement;
	lode_placement_free(reader.placement);
	return NULL;
}
