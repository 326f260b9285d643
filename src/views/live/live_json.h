/* SPDX-License-Identifier: MIT */
/*
 * A live picture as JSON: what live_drawing.h draws on a screen, with the functions that were
 * sampled most. Addresses are text.
 */
#pragma once

#include "base/text/json_stream.h"
#include "views/live/live_drawing.h"
#include "views/live/live_findings.h"
#include "views/live/live_model.h"

typedef struct {
	unsigned width, height;     /* columns and rows of a screen, which say how much there is */
	const LodeLiveState *state; /* the view; need not be the model's own */
	LodeLiveStatus status;      /* filled by the caller, and lode_live_model_status() */
	const LodeLiveFindings *findings; /* NULL: none yet */
	bool is_over;                     /* the program has ended */
} LodeLiveJsonOptions;

/* Writes one object. */
void lode_live_json_put(
	LodeJsonStream *json, const LodeLiveModel *model, const LodeLiveJsonOptions *options);
