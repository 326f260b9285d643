/* SPDX-License-Identifier: MIT */
/* Pages with their first touches as rows; only first_touch….c include it. */
#pragma once

#include "analyses/memory/first_touch.h"
#include "views/first_touch.h"
#include "views/memory_notes.h"

typedef struct {
	const LodeProfile *profile;
	const LodeFirstTouchOptions *options;
	const LodeFirstTouch *touch;
	const LodeMemoryNotes *notes;
} LodeFirstTouchView;

/* Names of what lies there; NULL where unknown. */
const char *lode_first_touch_object_name(const LodeProfile *profile, uint32_t object);
const char *lode_first_touch_mapping_name(const LodeProfile *profile, uint32_t mapping);

/* The numbers of pages in the order asked for, cut at the limit; GArray of uint32_t. */
GArray *lode_first_touch_sorted_pages(const LodeFirstTouchView *self);

void lode_first_touch_json(const LodeFirstTouchView *self, FILE *out);
void lode_first_touch_csv(const LodeFirstTouchView *self, FILE *out);
