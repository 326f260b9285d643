/* SPDX-License-Identifier: MIT */
/*
 * The text of valgrind's lackey:
 *
 *   ==4711== Command: gzip -9 x        chatter, passed over; here and at the end
 *   I  0401ab70,3
 *    S 1fff000718,8
 *   SB 0401b770                        start of a superblock, passed over
 *   ==lode== thread 1                  ours: from here on it is thread 1
 *   I  0401c000,5
 *
 * lackey does not distinguish threads. Other output of valgrind to the same descriptor begins with
 * "==PID==", "--PID--" or "**PID**"; so does our line, which other readers of lackey's text
 * therefore pass over.
 */
#include "sources/references/reference_form.h"

#include <string.h>

static const char thread_mark[] = "==lode== thread ";

enum {
	HEAD = 3,        /* of a reference's line, before the address */
	MIN_DIGITS = 8,  /* that lackey pads an address to */
	MAX_DIGITS = 16, /* of an address */
	FAST_LINE = 48,  /* more than the longest line that scan_fast() takes */
};

/* A reference's first three bytes, by the union of the first two; elsewhere what cannot be equal.
 */
static const struct {
	char head[HEAD + 1];
	uint8_t kind;
} kinds[8] = {
	[0] = {"I  ", 0},
	[('I' | ' ') & 7] = {"I  ", LODE_REFERENCE_FETCH}, /* 1 */
	[2] = {"I  ", 0},
	[('S' | ' ') & 7] = {" S ", LODE_REFERENCE_STORE},  /* 3 */
	[('L' | ' ') & 7] = {" L ", LODE_REFERENCE_LOAD},   /* 4 */
	[('M' | ' ') & 7] = {" M ", LODE_REFERENCE_MODIFY}, /* 5 */
	[6] = {"I  ", 0},
	[7] = {"I  ", 0},
};

/* Index into kinds; its head is to be compared. */
static inline unsigned kind_index(const char *line)
{
	return (uint8_t)(line[0] | line[1]) & 7U;
}

static inline bool has_head(const char *line, unsigned index)
{
	return memcmp(line, kinds[index].head, HEAD) == 0;
}

static bool is_chatter(const char *line, size_t length)
{
	return length >= 2 && line[0] == line[1] &&
	       (line[0] == '=' || line[0] == '-' || line[0] == '*');
}

/* "0x30a: [0]={ 56(r3) …": valgrind goes on so about debug information, below a line of chatter. */
static bool is_more_chatter(const char *line, size_t length)
{
	return length >= 2 && line[0] == '0' && line[1] == 'x';
}

static bool is_superblock(const char *line, size_t length)
{
	return length >= HEAD && memcmp(line, "SB ", HEAD) == 0;
}

static bool is_form(const char *data, size_t size)
{
	return is_chatter(data, size) || is_superblock(data, size) ||
	       (size >= HEAD && has_head(data, kind_index(data)));
}

/* The rest of a line of chatter after "==4711== TEXT"; NULL: the line has a different text. */
static const char *rest_after(const char *line, size_t length, const char *text, size_t *out_rest)
{
	const char *end = line + length;
	const char *at = memmem(line + 2, length - 2, "== ", 3);
	size_t n = strlen(text);

	if (at == NULL || (size_t)(end - at - 3) < n || memcmp(at + 3, text, n) != 0)
		return NULL;
	*out_rest = (size_t)(end - at - 3) - n;
	return at + 3 + n;
}

/* "128,558" */
static uint64_t grouped_number(const char *text, size_t length)
{
	uint64_t value = 0;

	for (size_t i = 0; i < length && value < UINT64_MAX / 100; i++)
		if (g_ascii_isdigit(text[i]))
			value = value * 10 + (uint64_t)(text[i] - '0');
	return value;
}

static char *text_of(const char *data, size_t length)
{
	g_autofree char *text = g_strndup(data, length);

	return g_utf8_make_valid(text, -1);
}

static void take_chatter(LodeReferenceScan *self, const char *line, size_t length)
{
	const char *rest;
	size_t n;

	if (self->command == NULL && (rest = rest_after(line, length, "Command: ", &n)) != NULL)
		self->command = text_of(rest, n);
	else if (self->version == NULL &&
		 (rest = rest_after(line, length, "Using Valgrind-", &n)) != NULL)
		self->version = text_of(rest, strcspn(rest, " \r\n"));
	else if ((rest = rest_after(line, length, "  guest instrs:", &n)) != NULL)
		self->n_instructions = grouped_number(rest, n);
}

static bool take_thread(LodeReferenceScan *self, const char *line, size_t length, GError **error)
{
	const char *at = line + sizeof(thread_mark) - 1, *end = line + length;
	uint64_t thread;

	if (!lode_reference_decimal(&at, end, LODE_MAX_TRACE_THREADS - 1, &thread) || at != end)
		return lode_reference_scan_fail(self, line, length, error,
			"a number of a thread was expected, up to 65534");
	self->thread = (uint16_t)thread;
	return true;
}

static bool take_reference(LodeReferenceScan *self, const char *line, size_t length, GError **error)
{
	const char *at = line + HEAD, *end = line + length;
	uint64_t address, size;
	unsigned index = length > HEAD ? kind_index(line) : 0;

	if (length <= HEAD || !has_head(line, index))
		return lode_reference_scan_fail(self, line, length, error,
			"neither a reference nor output of valgrind (give valgrind "
			"--log-fd=9 9>&1 >/dev/null to keep the program's apart)");
	if (!lode_reference_hex(&at, end, UINT64_MAX, &address) || at == end || *at != ',')
		return lode_reference_scan_fail(self, line, length, error, "no address");
	at++;
	if (!lode_reference_decimal(&at, end, UINT32_MAX, &size) || at != end)
		return lode_reference_scan_fail(self, line, length, error, "no size");
	lode_reference_scan_add(self, kinds[index].kind, address, (uint32_t)size);
	return true;
}

static bool take_line(LodeReferenceScan *self, const char *line, size_t length, GError **error)
{
	if (length >= sizeof(thread_mark) - 1 &&
		memcmp(line, thread_mark, sizeof(thread_mark) - 1) == 0)
		return take_thread(self, line, length, error);
	if (is_chatter(line, length))
		take_chatter(self, line, length);
	else if (length > 0 && !is_superblock(line, length) && !is_more_chatter(line, length))
		return take_reference(self, line, length, error);
	return true;
}

/* Size and line feed after a comma, of one or two digits; NULL: something else stands there. */
static inline const char *scan_size(const char *at, uint32_t *out)
{
	unsigned first = (unsigned)(uint8_t)at[0] - '0', second = (unsigned)(uint8_t)at[1] - '0';

	if (first > 9)
		return NULL;
	*out = first;
	if (at[1] == '\n')
		return at + 2;
	*out = first * 10 + second;
	return second <= 9 && at[2] == '\n' ? at + 3 : NULL;
}

/* Address and comma; NULL: something else, or less than eight digits. */
static inline const char *scan_address(const char *at, uint64_t *out)
{
	const uint8_t *digits = lode_reference_hex_digits;
	const uint8_t *bytes = (const uint8_t *)at;
	uint64_t value = 0;
	unsigned wrong = 0;
	size_t n = MIN_DIGITS;

	for (size_t i = 0; i < MIN_DIGITS; i++) {
		unsigned digit = digits[bytes[i]];
		wrong |= digit;
		value = value << 4 | digit;
	}
	if (wrong > 15)
		return NULL;
	for (unsigned digit; n <= MAX_DIGITS && (digit = digits[bytes[n]]) < 16; n++)
		value = value << 4 | digit;
	*out = value;
	return n <= MAX_DIGITS && at[n] == ',' ? at + n + 1 : NULL;
}

/* Lines as lackey itself writes them, as long as nothing else comes. */
static void scan_fast(LodeReferenceScan *self)
{
	const char *at = self->at;
	LodeReference *out = self->out + self->n, *last = self->out + self->room;
	LodeReference *first = out;

	while (out < last && self->end - at >= FAST_LINE) {
		unsigned index = kind_index(at);
		const char *next;
		if (!has_head(at, index) ||
			(next = scan_address(at + HEAD, &out->address)) == NULL ||
			(next = scan_size(next, &out->size)) == NULL)
			break;
		out->kind = kinds[index].kind;
		out->thread = self->thread;
		out++;
		at = next;
	}
	self->at = at;
	self->n += (size_t)(out - first);
	self->line += (uint64_t)(out - first);
}

static bool scan(LodeReferenceScan *self, GError **error)
{
	const char *line;
	size_t length;

	while (self->n < self->room) {
		scan_fast(self);
		if (self->n == self->room || !lode_reference_scan_line(self, &line, &length))
			break;
		if (!take_line(self, line, length, error))
			return false;
	}
	return true;
}

static char *put_thread(char *at, uint16_t thread)
{
	memcpy(at, thread_mark, sizeof(thread_mark) - 1);
	at = lode_reference_put_decimal(at + sizeof(thread_mark) - 1, thread);
	*at++ = '\n';
	return at;
}

static bool write_reference(
	LodeReferenceWriter *self, const LodeReference *reference, GError **error)
{
	static const char heads[LODE_N_REFERENCE_KINDS][HEAD + 1] = {"I  ", " L ", " S ", " M "};
	char *first = lode_reference_writer_room(self, error), *at = first;

	if (at == NULL)
		return false;
	if (reference->thread != self->thread)
		at = put_thread(at, self->thread = reference->thread);
	memcpy(at, heads[reference->kind], HEAD);
	at = lode_reference_put_hex(at + HEAD, reference->address, MIN_DIGITS);
	*at++ = ',';
	at = lode_reference_put_decimal(at, reference->size);
	*at++ = '\n';
	self->used += (size_t)(at - first);
	return true;
}

const LodeReferenceFormRow lode_lackey_text = {
	.name = "lackey",
	.is_form = is_form,
	.scan = scan,
	.write = write_reference,
};
