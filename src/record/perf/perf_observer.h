/* SPDX-License-Identifier: MIT */
/*
 * An observer of the records while they are written: a picture that is drawn while the program
 * runs. All of it is called in the recorder's thread, which does nothing else meanwhile: be quick.
 *
 *   begin ─▶ record, record … ─▶ round ─▶ record … ─▶ round … ─▶ (the recording's end)
 */
#pragma once

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
	const char *name; /* as it was opened: "cpu-clock:u" */
	const struct perf_event_attr *attr;
	const uint64_t *ids; /* its values of PERF_SAMPLE_IDENTIFIER */
	size_t n_ids;
	bool is_tracking; /* gives no samples */
} LodePerfObservedEvent;

/* Each may be NULL. Their arguments are valid during the call. */
typedef struct {
	/* Before the first record. All events have the same trailer after records that are not
	 * samples, and PERF_SAMPLE_IDENTIFIER before samples. */
	void (*begin)(const LodePerfObservedEvent *events, size_t n_events, void *user_data);
	/* Whole and aligned: a struct perf_event_header and its body. In the order of each CPU. */
	void (*record)(const void *record, size_t size, void *user_data);
	/* The rings are empty, at least four times a second. Returns whether sampling is to go on:
	 * `is_sampling` unchanged, or the wanted state. */
	bool (*round)(bool is_sampling, void *user_data);
	void *user_data;
} LodePerfObserver;
