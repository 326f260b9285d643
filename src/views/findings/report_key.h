/* SPDX-License-Identifier: MIT */
/* The keys by which a report is sorted, and their value for each sequence. */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct LodeMiningRun LodeMiningRun;

typedef enum {
	LODE_REPORT_KEY_EXCESS,
	LODE_REPORT_KEY_WEIGHT,
	LODE_REPORT_KEY_FREQUENCY,
	LODE_REPORT_KEY_MAXIMAL,
	LODE_REPORT_KEY_DIFFERENTIAL,
	LODE_REPORT_KEY_PLACES,
	LODE_REPORT_KEY_FUNCTIONS,
	LODE_REPORT_KEY_EXECUTIONS,
	LODE_REPORT_KEY_COUNT, /* instruction runs */
	LODE_REPORT_KEY_SEQUENCE,
	LODE_REPORT_KEY_EVENT,
} LodeReportKeyKind;

typedef struct {
	LodeReportKeyKind kind;
	uint32_t event; /* of the run, for kind event */
} LodeReportKey;

/* `text` as on the command line; NULL: the run's default (excess; count in instruction runs).
 * _USAGE for an unknown word or event, or for a key that this kind of run does not have. */
bool lode_report_key_parse(
	const LodeMiningRun *run, const char *text, LodeReportKey *out_key, GError **error);

/* Whether its values are shares, 0 … 1. */
bool lode_report_key_is_share(const LodeMiningRun *run, const LodeReportKey *key);

/* 0 for kind sequence. */
double lode_report_key_value(const LodeMiningRun *run, const LodeReportKey *key, size_t index);

/*
 * Sorts indices of sequences, which are ascending, by falling values, kind sequence by the bytes of
 * its attributes; ties by larger size, then as in the run. `is_reversed` turns the whole order
 * round.
 */
void lode_report_key_sort(const LodeMiningRun *run, const LodeReportKey *key, bool is_reversed,
	uint32_t *indices, size_t n);
