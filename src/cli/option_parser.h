/* SPDX-License-Identifier: MIT */
/* A verb's command line by its tables of options, and values that GOption has no kind for. */
#pragma once

#include "cli/verb.h"
#include "views/format.h"

#include <stdint.h>
#include <sys/types.h>

/*
 * Parses `arguments` (NULL-terminated, without the verb) into the targets of the verb's tables.
 * *out_rest is what is not an option, without a leading "--"; the caller frees it with
 * g_strfreev(); of a verb that may wrap it ends with "--" and the program. Errors: _USAGE, with
 * "did you mean" for an unknown option.
 */
bool lode_options_parse(const LodeVerb *verb, char **arguments, bool *out_wants_help,
	char ***out_rest, GError **error);

/*
 * Values that were taken as text; NULL leaves *out_value as it is. `option` ("--gap") is for the
 * message. Errors: _USAGE. Points, never commas, whatever the locale.
 */
/* A share: "0.01" or "1%"; 0 … 1. */
bool lode_option_share(const char *option, const char *text, double *out_value, GError **error);
/* A range of whole numbers from 1: "3", "2-4", "2-", "-4"; an end that is open is 0. */
bool lode_option_range(const char *option, const char *text, uint32_t *out_least,
	uint32_t *out_most, GError **error);
/* A number of percent ≥ 0, as a share: "5", "5%" and "5 %" are 0.05. */
bool lode_option_percent(const char *option, const char *text, double *out_share, GError **error);
/* A number ≥ 0. */
bool lode_option_number(const char *option, const char *text, double *out_value, GError **error);
/* A whole number ≤ max. */
bool lode_option_count(
	const char *option, const char *text, uint64_t max, uint64_t *out_value, GError **error);
/* The same from 1. */
bool lode_option_positive(
	const char *option, const char *text, uint64_t max, uint64_t *out_value, GError **error);
/* Bytes: "4G", "512 MiB", "1000000"; K, M, G, T are powers of 1024. */
bool lode_option_size(const char *option, const char *text, uint64_t *out_value, GError **error);

/* A time: "10", "0.5"; at least a millisecond, up to 1,000,000 seconds. */
bool lode_option_seconds(const char *option, const char *text, unsigned *out_ms, GError **error);
/* The number of a process, from 1. */
bool lode_option_pid(const char *option, const char *text, pid_t *out_pid, GError **error);

/* Gives false, and a _USAGE with this message. */
bool lode_option_refuse(GError **error, const char *format, ...) G_GNUC_PRINTF(2, 3);

/* --format: "text", "json" or "csv"; NULL leaves it. Errors: _USAGE. */
bool lode_option_format(const char *text, LodeViewFormat *out_format, GError **error);

/* Exactly one argument, or _USAGE that says what is missing ("PROFILE.lode") or too much. */
bool lode_options_take_one(char **rest, const char *what, GError **error);
