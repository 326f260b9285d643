/* SPDX-License-Identifier: MIT */
/*
 * The notes below every view of data addresses: what the weights mean, how many samples have no
 * address and why, and how many the filters left out.
 */
#pragma once

#include "analyses/memory/coverage.h"
#include "base/text/json_stream.h"
#include "model/address_rule.h"
#include "views/form/format.h"

typedef struct LodeProfile LodeProfile;

/* Samples are counted once, also those with a row for each of two operands. Page faults are only in
 * n_recorded, n_chosen and n_faults. */
typedef struct {
	const LodeProfile *profile; /* borrowed */
	LodeAddressLosses losses;   /* freed by clear */
	uint64_t n_recorded;        /* in the profile */
	uint64_t n_chosen;          /* of those, that passed the filters */
	uint64_t n_faults;          /* of those, page faults: no accesses */
	uint64_t n_rows;            /* accesses of the others: an instruction may have two */
	uint64_t by_rule[LODE_N_RULES], by_reason[LODE_N_REASONS]; /* _NONE counts no sample */
	double weight;            /* of the chosen, but page faults */
	double unresolved_weight; /* of those without an address */
	double reason_weight[LODE_N_REASONS];
	uint64_t n_unverified; /* with an address that indirect jumps leave in doubt */
	uint64_t n_next;       /* with the address of another access than the one charged */
	uint32_t n_events;     /* whose weights are added up; page faults apart */
	uint32_t event;        /* the first of them; LODE_NONE */
	uint32_t n_processes;  /* of the chosen samples */
	bool is_stall_weighted, has_fixed_addresses;
	char *event_names;  /* "cpu-clock, cycles"; freed by clear */
	char *other_names;  /* likewise, of simulated misses, or of accesses in windows, of which no
	                       sample was chosen */
	bool is_of_windows; /* the chosen are accesses in windows, and nothing else */
	bool are_others_of_windows; /* those of other_names */
} LodeMemoryNotes;

/* Counts the samples whose numbers are given, ascending; the profile has memory. */
void lode_memory_notes_init(LodeMemoryNotes *self, const LodeProfile *profile,
	const uint32_t *samples, size_t n_samples);
void lode_memory_notes_clear(LodeMemoryNotes *self);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(LodeMemoryNotes, lode_memory_notes_clear)

/* Writes the first lines of a text view of pages, lines or objects: the share of the weight that
 * has an address, and where the rest is; then the losses. */
void lode_memory_notes_head(const LodeMemoryNotes *self, const LodeTerminal *terminal, FILE *out);

/* Writes what loads and stores lost (lode_memory_loss_lines()), in a view without that head. */
void lode_memory_notes_losses(const LodeMemoryNotes *self, const LodeTerminal *terminal, FILE *out);

/* The footer of a text view, wrapped to the terminal. */
void lode_memory_notes_text(const LodeMemoryNotes *self, const LodeTerminal *terminal, FILE *out);

/* The member "notes" of an open JSON object. */
void lode_memory_notes_json(const LodeMemoryNotes *self, LodeJsonStream *json);

/* How a view of data addresses is written. */
typedef struct {
	LodeViewFormat format;
	LodeTerminal terminal;
	const LodeMemoryNotes *notes;
} LodeMemoryViewOptions;
