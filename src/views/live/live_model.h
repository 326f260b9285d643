/* SPDX-License-Identifier: MIT */
/*
 * The state of a live picture: samples as they come, counted, with their threads, and the user's
 * choices. It belongs to the picture's thread.
 */
#pragma once

#include "ingest/live/live_addresses.h"
#include "model/address_rule.h"
#include "views/live/live_state.h"

typedef struct LodeLiveStatus LodeLiveStatus;

typedef struct {
	LodeLiveAddresses *addresses;
	LodeLiveCounts *counts;
	LodeLiveCounts *held; /* as they were when the picture was paused; NULL: it is not */
	GArray *threads;      /* LodeLiveThread, as many as the addresses have and in their order */
	LodeLiveState state;
	uint64_t n_samples, n_of_reason[LODE_N_REASONS];
	uint64_t n_accesses, n_lost; /* samples of loads and stores; those without an address */
	GHashTable *functions;    /* name, borrowed, or NULL → weight of its samples, double * */
	double weight;            /* of all samples */
	gint64 start_us, rate_us; /* of the recording; of the last look at the rate */
	uint64_t rate_samples;    /* then */
	double samples_per_second;
} LodeLiveModel;

/* Who takes, for how long to wait, and when logs are read again, is the model's own. It must not be
 * moved. */
void lode_live_model_init(LodeLiveModel *self, const LodeLiveAddressesOptions *options);
void lode_live_model_clear(LodeLiveModel *self);

/* Takes whole records. */
void lode_live_model_add(LodeLiveModel *self, const void *records, size_t size);

/* The scene for a screen of this size; `scene` is cleared by the caller. */
void lode_live_model_scene(
	LodeLiveModel *self, LodeLiveScene *scene, unsigned width, unsigned height);

/* Handles a key, as far as it concerns the model. */
LodeLiveWish lode_live_model_key(LodeLiveModel *self, const LodeLiveScene *scene, uint32_t key);

/* The figures of the status, as of now. */
void lode_live_model_status(LodeLiveModel *self, LodeLiveStatus *status);
