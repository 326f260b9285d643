/* SPDX-License-Identifier: MIT */
/*
 * Who touched each page first, against who uses it: where the system puts a page into the memory of
 * the thread that touches it first, a page that others use is far from them.
 *
 *   page faults ─▶ first thread, time, instruction ─┐
 *                                                   ├─▶ pages ─▶ ranges of equal pages
 *   other samples ─▶ weight by thread afterwards ───┘
 *
 * A page of a process is known by (pid, page). The first fault in time counts; a page without a
 * fault was mapped together with a neighbour (file pages, huge pages) or before recording.
 */
#pragma once

#include <glib.h>
#include <stdint.h>

typedef struct LodeProfile LodeProfile;

typedef struct {
	uint64_t address; /* of the page */
	uint64_t time_ns; /* of the first fault; 0: not recorded */
	uint64_t n_faults;
	uint64_t n_accesses, n_by_others; /* from the first fault on; of threads other than its */
	double weight, weight_by_others;
	double main_weight;
	uint32_t pid;
	uint32_t thread;    /* that touched first; LODE_NONE: no fault was seen */
	uint32_t main_user; /* the thread with most weight, the lowest of equals; LODE_NONE */
	uint32_t first_use, n_users; /* threads with accesses, in uses */
	uint32_t instruction;        /* that touched; LODE_NONE */
	uint32_t function, location; /* of it; LODE_NONE */
	uint32_t site;               /* of the allocation, if an allocator touched; LODE_NONE */
	uint32_t object, mapping;    /* LODE_NONE */
} LodePageTouch;

/* The accesses of a thread to a page from its first touch on. */
typedef struct {
	uint32_t thread;
	uint64_t n_accesses;
	double weight;
} LodeTouchUse;

/* An object on pages whose first toucher is known. */
typedef struct {
	uint32_t object;
	double weight, weight_by_others; /* than the first toucher of each page */
} LodeTouchedObject;

/* Neighbouring pages of one mapping with the same first toucher, and the same main user as far as a
 * few accesses a page can show. */
typedef struct {
	uint64_t first, last;         /* the first and last byte */
	uint32_t first_page, n_pages; /* in pages */
	uint32_t pid, thread, main_user;
	uint32_t function, location, site, object, mapping; /* of the page touched first */
	uint64_t time_ns, last_time_ns; /* of its first and last first touch; 0: none */
	uint64_t n_accesses, n_by_others;
	double weight, weight_by_others, main_weight;
} LodeTouchRange;

typedef struct {
	uint64_t page_bytes;
	GArray *pages;     /* LodePageTouch by (pid, address) */
	GArray *uses;      /* LodeTouchUse by (page, thread) */
	GArray *ranges;    /* LodeTouchRange, likewise */
	GArray *objects;   /* LodeTouchedObject, most weight of others first */
	uint64_t n_faults; /* with an address, on these pages */
	uint64_t n_early;  /* accesses before the first fault of their page: in neither sum */
	/* Pages with a known first toucher: */
	uint64_t n_touched, n_accesses, n_by_others;
	double weight, weight_by_others;
	/* The other pages: */
	uint64_t n_untouched, n_untouched_accesses;
	double untouched_weight;
} LodeFirstTouch;

/*
 * Pages of the samples whose numbers are given, ascending. All faults of the profile decide who was
 * first, whatever was chosen; `page_bytes` is a power of two, `own` as of lode_own_lines_new().
 */
LodeFirstTouch *lode_first_touch_new(const LodeProfile *profile, const uint32_t *samples,
	size_t n_samples, uint64_t page_bytes, const char *const *own);
void lode_first_touch_free(LodeFirstTouch *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeFirstTouch, lode_first_touch_free)
