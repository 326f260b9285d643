/* SPDX-License-Identifier: MIT */
/*
 * Counts samples with a data address, by rule, and with a name, by layer. Weights of different
 * events mean different things, so each event is counted alone.
 *
 * Losses are the load and store samples without an address, by thread: views by address lack them.
 */
#pragma once

#include "analyses/memory/access_totals.h"
#include "model/memory.h"

#include <glib.h>
#include <stdbool.h>

typedef struct LodeProfile LodeProfile;

/* Whether a sample with this LodeAddressRule and LodeAddressReason counts as a load or store: not
 * if it is known that no load or store of the program waited (not-memory, no-access-in-range,
 * not-user-code, recorder). */
bool lode_address_loss_counts(uint8_t rule, uint8_t reason);

/* Samples of loads and stores, without page faults. */
typedef struct {
	uint32_t thread; /* LODE_NONE: all together */
	LodeAccessTotals total;
	LodeAccessTotals lost;        /* without an address */
	LodeAccessTotals lost_named;  /* of these, with an object */
	LodeAccessTotals lost_ranged; /* likewise, the pages of the object too (LodeLostRange) */
	LodeAccessTotals next_round;  /* with an address of the next round, one late */
	double reason_weight[LODE_N_REASONS];
} LodeAddressLoss;

/* The lost samples of an object whose pages are known. */
typedef struct {
	uint32_t object; /* LODE_NONE: it has no name */
	double weight;
	uint64_t n_pages; /* of 4096 bytes, of all such blocks or variables together */
} LodeLostObject;

typedef struct {
	LodeAddressLoss all;
	GArray *threads; /* LodeAddressLoss, of each thread that has such samples, by its number */
	GArray *objects; /* LodeLostObject, the heaviest first */
} LodeAddressLosses;

/* Counts the samples of `event`, LODE_NONE: of all events. `samples` are their numbers, ascending;
 * NULL: all of the profile's, which has memory. */
void lode_address_losses_init(LodeAddressLosses *self, const LodeProfile *profile, uint32_t event,
	const uint32_t *samples, size_t n_samples);
void lode_address_losses_clear(LodeAddressLosses *self);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(LodeAddressLosses, lode_address_losses_clear)

/* lost ÷ total, by weight; 0 where there is none. */
static inline double lode_address_loss_share(const LodeAddressLoss *self)
{
	return self->total.weight > 0 ? self->lost.weight / self->total.weight : 0;
}

/* The reason with the most lost weight; _NONE: nothing is lost. */
LodeAddressReason lode_address_loss_reason(const LodeAddressLoss *self);

/* Advice on how to lose fewer, to follow "…: ". `self` has lost some. */
const char *lode_address_loss_advice(const LodeAddressLoss *self, const LodeProfile *profile);

typedef struct {
	uint32_t event;
	LodeAddressLosses losses; /* of the event */
	LodeAccessTotals total;
	LodeAccessTotals resolved;             /* with an address */
	LodeAccessTotals unverified;           /* of those, with an unverified address */
	LodeAccessTotals named[LODE_N_LAYERS]; /* by the first layer that answered, be it without
	                                          an address */
	LodeAccessTotals known[LODE_N_LAYERS]; /* the layer answered, also after another one */
	LodeAccessTotals members;              /* down to a member of a type */
	LodeAccessTotals unnamed; /* no object: no address and nothing known of it, or an address in
	                             nothing known */
	LodeAccessTotals by_rule[LODE_N_RULES];     /* NONE: no address */
	LodeAccessTotals by_reason[LODE_N_REASONS]; /* NONE: with an address */
} LodeMemoryCoverage;

/* GArray of LodeMemoryCoverage, one for each event that has samples, by its number; the caller
 * unrefs it. `samples` are numbers, ascending; NULL: all of the profile's, which has memory. Page
 * faults are left out unless there is nothing else. */
GArray *lode_memory_coverage_new(
	const LodeProfile *profile, const uint32_t *samples, size_t n_samples);
