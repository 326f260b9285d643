/* SPDX-License-Identifier: MIT */
#include "base/text/number_format.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

char *lode_number_format_count(double value, char buffer[LODE_NUMBER_SIZE])
{
	char digits[LODE_NUMBER_SIZE];
	size_t out = 0;

	if (!(fabs(value) < 1e15)) {
		g_snprintf(buffer, LODE_NUMBER_SIZE, "%.3g", value);
		return buffer;
	}
	g_snprintf(digits, sizeof(digits), "%.0f", value);
	size_t length = strlen(digits);
	for (size_t i = 0; i < length; i++) {
		buffer[out++] = digits[i];
		size_t left = length - i - 1;
		if (left > 0 && left % 3 == 0 && g_ascii_isdigit(digits[i]))
			buffer[out++] = ',';
	}
	buffer[out] = '\0';
	return buffer;
}

char *lode_number_format_amount(double value, char buffer[LODE_NUMBER_SIZE])
{
	if (value >= 100)
		return lode_number_format_count(value, buffer);
	if (value > 0 && value < 0.01)
		g_snprintf(buffer, LODE_NUMBER_SIZE, "%.2g", value);
	else
		g_snprintf(buffer, LODE_NUMBER_SIZE, "%.*f", value >= 10 ? 1 : 2, value);
	return buffer;
}

char *lode_number_format_time(double ns, char buffer[LODE_NUMBER_SIZE])
{
	double scale = ns >= 1e8 ? 1e9 : ns >= 1e6 ? 1e6 : 1e3;

	if (ns > 0) {
		lode_number_format_amount(ns / scale, buffer);
		g_strlcat(buffer, ns >= 1e8 ? " s" : ns >= 1e6 ? " ms" : " µs", LODE_NUMBER_SIZE);
	} else {
		g_strlcpy(buffer, isnan(ns) ? "–" : "0", LODE_NUMBER_SIZE);
	}
	return buffer;
}

char *lode_number_format_share(double share, char buffer[LODE_NUMBER_SIZE])
{
	double percent = share * 100;
	double size = fabs(percent);

	if (size < 5e-7)
		g_strlcpy(buffer, "0 %", LODE_NUMBER_SIZE);
	else if (size < 1e-4)
		g_snprintf(buffer, LODE_NUMBER_SIZE, "%.4f %%", percent);
	else if (size < 0.1)
		g_snprintf(buffer, LODE_NUMBER_SIZE, "%.2g %%", percent);
	else
		g_snprintf(buffer, LODE_NUMBER_SIZE, "%.1f %%", percent);
	return buffer;
}

char *lode_number_format_exact(double value, char buffer[LODE_NUMBER_SIZE])
{
	if (value == floor(value) && fabs(value) <= 9007199254740992.0) {
		g_snprintf(buffer, LODE_NUMBER_SIZE, "%" G_GINT64_FORMAT, (gint64)value);
		return buffer;
	}
	for (int precision = 15; precision <= 17; precision++) {
		char format[8];
		g_snprintf(format, sizeof(format), "%%.%dg", precision);
		g_ascii_formatd(buffer, LODE_NUMBER_SIZE, format, value);
		if (g_ascii_strtod(buffer, NULL) == value)
			break;
	}
	return buffer;
}

char *lode_number_format_address(uint64_t address, char buffer[LODE_NUMBER_SIZE])
{
	g_snprintf(buffer, LODE_NUMBER_SIZE, "0x%" G_GINT64_MODIFIER "x", address);
	return buffer;
}

char *lode_number_format_bytes(uint64_t bytes, char buffer[LODE_NUMBER_SIZE])
{
	static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
	double value = (double)bytes;
	size_t unit = 0;

	while (value >= 1024 && unit + 1 < G_N_ELEMENTS(units)) {
		value /= 1024;
		unit++;
	}
	bool is_whole = value == floor(value) || value >= 100;
	g_snprintf(buffer, LODE_NUMBER_SIZE, is_whole ? "%.0f %s" : "%.1f %s", value, units[unit]);
	return buffer;
}
