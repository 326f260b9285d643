/* SPDX-License-Identifier: MIT */
#include "sources/flow_file_fields.h"

#include <math.h>

enum {
	ORDINARY = 0,
	HIGH = 1, /* part of a character beyond ASCII */
	STOP = 2, /* white space or control */
};

static const uint8_t byte_classes[256] = {
	[0x00 ... 0x20] = STOP,
	[0x7f] = STOP,
	[0x80 ... 0xff] = HIGH,
};

/* Goes on where the field's first byte beyond ASCII is. */
static const char *skip_non_ascii(LodeFlowFileFields *self, const char *start, const char *at)
{
	while (byte_classes[(uint8_t)*at] != STOP)
		at++;
	if (!g_utf8_validate_len(start, (gsize)(at - start), NULL))
		self->fault = "bytes that are not UTF-8, expected UTF-8";
	return at;
}

bool lode_flow_file_fields_next(LodeFlowFileFields *self, LodeFlowFileField *out_field)
{
	lode_flow_file_fields_skip_blanks(self);
	const char *start = self->next, *end = start;
	while (byte_classes[(uint8_t)*end] == ORDINARY)
		end++;
	if (byte_classes[(uint8_t)*end] == HIGH)
		end = skip_non_ascii(self, start, end);
	if (end != self->end && *end != ' ' && *end != '\t')
		self->fault = "a control character, expected none";
	if (end == start || self->fault != NULL)
		return false;
	*out_field = (LodeFlowFileField){.text = start, .length = (uint32_t)(end - start)};
	self->next = end;
	return true;
}

/* Digits of one run; false when there is none. `value` is right while there are at most 18. */
static bool scan_digits(const char **at, const char *end, uint64_t *value, int *n)
{
	const char *start = *at;

	for (; *at < end && g_ascii_isdigit(**at); (*at)++)
		*value = *value * 10 + (uint64_t)(**at - '0');
	*n += (int)(*at - start);
	return *at > start;
}

/* An exponent, or nothing; g_ascii_strtod() is to take it from there. */
static bool scan_exponent(const char **at, const char *end, bool *out_is_there)
{
	uint64_t value = 0;
	int n = 0;

	*out_is_there = *at < end && (**at == 'e' || **at == 'E');
	if (!*out_is_there)
		return true;
	(*at)++;
	if (*at < end && (**at == '-' || **at == '+'))
		(*at)++;
	return scan_digits(at, end, &value, &n);
}

bool lode_flow_file_field_number(LodeFlowFileField self, double *out_number)
{
	static const double powers[] = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10,
		1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18};
	const char *at = self.text, *end = self.text + self.length;
	uint64_t digits = 0;
	int n_digits = 0, n_whole;
	bool has_exponent;

	bool has_whole = scan_digits(&at, end, &digits, &n_digits);
	n_whole = n_digits;
	if (at < end && *at == '.') {
		at++;
		if (!scan_digits(&at, end, &digits, &n_digits) && !has_whole)
			return false;
	} else if (!has_whole) {
		return false;
	}
	if (!scan_exponent(&at, end, &has_exponent) || at != end)
		return false;
	/* Both are exact doubles, so that the one division rounds right. */
	if (!has_exponent && n_digits <= 18 && digits <= UINT64_C(1) << 53) {
		*out_number = (double)digits / powers[n_digits - n_whole];
		return true;
	}
	double number = g_ascii_strtod(self.text, NULL);
	if (!isfinite(number))
		return false;
	*out_number = number;
	return true;
}

char *lode_flow_file_field_shown(LodeFlowFileField self)
{
	enum { LONGEST = 60 };
	uint32_t length = MIN(self.length, LONGEST);

	while (length < self.length && length > LONGEST - 4 &&
		((uint8_t)self.text[length] & 0xc0) == 0x80)
		length--;
	char *shown = g_utf8_make_valid(self.text, (gssize)length);
	for (char *c = shown; *c != '\0'; c++)
		if (byte_classes[(uint8_t)*c] == STOP)
			*c = '?';
	if (length == self.length)
		return shown;
	char *cut = g_strconcat(shown, "…", NULL);
	g_free(shown);
	return cut;
}
