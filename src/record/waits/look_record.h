/* SPDX-License-Identifier: MIT */
/*
 * Records of looks at threads: samples, as perf.data has them, with what was seen as raw data.
 *
 *   header │ id address pid tid time CPU period │ size of raw data, raw data │ registers, stack
 *
 * Private to record/.
 */
#pragma once

#include <glib.h>
#include <stdint.h>
#include <sys/types.h>

struct perf_event_attr;

/* The attribute of such samples, without registers and stacks. */
void lode_look_record_attribute(struct perf_event_attr *out_attr);

typedef struct {
	uint64_t id, address, time_ns;
	pid_t pid, tid;
} LodeLookRecord;

/* Begins a record, whose raw data is appended next; returns where it begins. */
guint lode_look_record_begin(GByteArray *records, const LodeLookRecord *of);
/* The raw data of the record that begins there is whole. */
void lode_look_record_end_raw(GByteArray *records, guint begin);
/* The record is. */
void lode_look_record_end(GByteArray *records, guint begin);
