/* SPDX-License-Identifier: MIT */
/* Numbers as people read them. */
#pragma once

#include <glib.h>
#include <stdint.h>

enum { LODE_NUMBER_SIZE = 32 };

/* 1234567 → "1,234,567"; fractions are rounded. Writes into `buffer` and returns it. */
char *lode_number_format_count(double value, char buffer[LODE_NUMBER_SIZE]);

/* Three digits or so: 1,234, 12.3, 1.23, 0.0012. */
char *lode_number_format_amount(double value, char buffer[LODE_NUMBER_SIZE]);

/* Nanoseconds in the unit that fits: "1.23 s", "45.6 ms", "7.89 µs"; "0"; of no number "–". */
char *lode_number_format_time(double ns, char buffer[LODE_NUMBER_SIZE]);

/* A share 0 … 1 as percent: 0.1234 → "12.3 %", 0.00012 → "0.012 %", 0 → "0 %". Signed. */
char *lode_number_format_share(double share, char buffer[LODE_NUMBER_SIZE]);

/* The shortest decimal that reads back as the same double, with a point and no exponent for
 * integers up to 2^53: 10 → "10", 0.1 → "0.1". Independent of the locale. */
char *lode_number_format_exact(double value, char buffer[LODE_NUMBER_SIZE]);

/* "0x7f0012345000"; writes into `buffer` and returns it. JSON and CSV have addresses as this text,
 * since a number there keeps 53 bits only. */
char *lode_number_format_address(uint64_t address, char buffer[LODE_NUMBER_SIZE]);

/* "4 KiB", "64 B", "1.5 MiB". */
char *lode_number_format_bytes(uint64_t bytes, char buffer[LODE_NUMBER_SIZE]);

/* The same as texts that last as long as the block in which they are made. */
#define LODE_COUNT_TEXT(value)                                                                     \
	lode_number_format_count((double)(value), (char[LODE_NUMBER_SIZE]){0})
#define LODE_AMOUNT_TEXT(value) lode_number_format_amount((value), (char[LODE_NUMBER_SIZE]){0})
#define LODE_TIME_TEXT(ns) lode_number_format_time((ns), (char[LODE_NUMBER_SIZE]){0})
#define LODE_SHARE_TEXT(share) lode_number_format_share((share), (char[LODE_NUMBER_SIZE]){0})
#define LODE_EXACT_TEXT(value) lode_number_format_exact((value), (char[LODE_NUMBER_SIZE]){0})
#define LODE_ADDRESS_TEXT(address)                                                                 \
	lode_number_format_address((address), (char[LODE_NUMBER_SIZE]){0})
#define LODE_BYTES_TEXT(bytes) lode_number_format_bytes((bytes), (char[LODE_NUMBER_SIZE]){0})
