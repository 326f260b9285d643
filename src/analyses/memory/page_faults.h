/* SPDX-License-Identifier: MIT */
/*
 * Samples of page faults: complete and free of any bias, but not accesses. They show which thread
 * touched a page first; everything that counts accesses leaves them out.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct LodeProfile LodeProfile;

/* Whether an event counts page faults: "page-faults", "minor-faults", "major-faults" or "faults",
 * with or without a modifier ("page-faults:u"). */
bool lode_page_faults_is_event(const LodeProfile *profile, uint32_t event);

/* The same for each event of a profile; the caller frees it. */
bool *lode_page_faults_events(const LodeProfile *profile);

/* The numbers of samples without those of page faults, unless there is nothing else: then all of
 * them. The caller unrefs the GArray of uint32_t. */
GArray *lode_page_faults_exclude(
	const LodeProfile *profile, const uint32_t *samples, size_t n_samples);
