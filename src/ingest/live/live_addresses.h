/* SPDX-License-Identifier: MIT */
/*
 * Data addresses while a program is being recorded:
 *
 *   records as the kernel writes them ─▶ mappings, threads
 *                                     └▶ samples ─ registers, code ─▶ thread, address, access
 *
 * By the same rules as an import later, and with the same names; but samples in code without a file
 * have no addresses, nor have those in a large file while its branch targets are being read, and
 * new blocks have no site yet. Not for several threads at once.
 */
#pragma once

#include "record/perf/perf_observer.h"

#include <glib.h>

typedef struct LodeLiveAddresses LodeLiveAddresses;

/* A sample; one with two operands comes twice, with a half of its weight each. */
typedef struct {
	uint32_t thread;  /* index into the threads */
	uint8_t rule;     /* LodeAddressRule; NONE: there is a reason and no address */
	uint8_t reason;   /* LodeAddressReason */
	uint8_t access;   /* LODE_ACCESS_… bits; 0: unknown */
	uint8_t operand;  /* 0; 1: the second of the same sample */
	uint64_t address; /* run-time */
	uint64_t pc;      /* that accesses; of one without address, that was sampled; run-time */
	double weight;
	/* Names live as long as the addresses do, equal ones are one pointer. NULL: unknown. */
	const char *mapping;  /* that the address is in */
	const char *object;   /* as an import would name it; NULL without an address */
	const char *function; /* that accesses; of one without address, that was sampled */
} LodeLiveSample;

typedef struct {
	void (*take)(const LodeLiveSample *sample, void *user_data);
	void *user_data;
	const char *proc;   /* "/proc", for mappings that no record announced; NULL: none */
	gint64 patience_us; /* to wait for the branch targets of an image; negative: until they are
	                       read */
	bool charges_next_access;  /* in place of the access that a timer waited for */
	const char *log_directory; /* where allocation logs are written to; NULL: nowhere */
	gint64 log_interval_us;    /* these are read again not sooner */
	const char *const
		*skipped_frames; /* that are not the site of an allocation, as globs; NULL */
} LodeLiveAddressesOptions;

/* The options' strings live on. */
LodeLiveAddresses *lode_live_addresses_new(const LodeLiveAddressesOptions *options);
void lode_live_addresses_free(LodeLiveAddresses *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeLiveAddresses, lode_live_addresses_free)

/* All events come before the first record. */
void lode_live_addresses_add_event(LodeLiveAddresses *self, const LodePerfObservedEvent *event);

/*
 * Takes whole records, one after the other, and gives samples in the order of time; between calls
 * that is the order of the calls. Records that cannot be read are skipped and counted.
 */
void lode_live_addresses_add(LodeLiveAddresses *self, const void *records, size_t size);

/* LodeThread, in the order in which they were first seen; one that has ended has an end. */
const GArray *lode_live_addresses_threads(const LodeLiveAddresses *self);

/* Whether samples come by time, so that they weigh waiting and not accesses. */
bool lode_live_addresses_is_by_time(const LodeLiveAddresses *self);

uint64_t lode_live_addresses_n_unreadable(const LodeLiveAddresses *self);
