/* SPDX-License-Identifier: MIT */
/*
 * An event of a profile, such as the simulated misses of a cache, added up by what the program is
 * made of: where code is, or what data is.
 *
 *   ll-miss by line        value  executions        by object    value  loads  stores
 *     list.c:21             9000       12000          node.next    9000   9000       0
 *     list.c:24              500       12000          [stack]        20      5      15
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct LodeProfile LodeProfile;

typedef enum {
	LODE_EVENT_BY_INSTRUCTION,
	LODE_EVENT_BY_FUNCTION,
	LODE_EVENT_BY_LINE,   /* the user's own, as of lode_own_lines_find() */
	LODE_EVENT_BY_OBJECT, /* by the rows of LodeProfile.memory, as… */
	LODE_EVENT_BY_THREAD, /* …this */
	LODE_N_EVENT_BYS,
} LodeEventBy;

/* "instruction", "function", "line", "object", "thread". */
const char *lode_event_by_to_text(LodeEventBy value);

/* Whether it is by accesses, of which each has a thread, and data, not by instructions. */
bool lode_event_by_is_of_data(LodeEventBy by);

typedef struct {
	char *name; /* "walk+0x12 list.c:21", "walk", "list.c:21", "struct node.next" */
	double value;
	double executions;    /* of the instruction with most of them; data have none */
	double loads, stores; /* of data: parts of the value; what does both is in loads */
} LodeEventGroup;

typedef struct {
	LodeEventBy by;
	uint32_t event;
	GArray *groups; /* LodeEventGroup, largest value first, then by name; none is 0 */
	double total;   /* of the event, including the part in no group */
	double grouped; /* Σ of the groups */
} LodeEventGroups;

/* Whether the event can be grouped this way: by data, if rows of data have it, which do not have a
 * second name for the misses of one level. */
bool lode_event_groups_are_known(const LodeProfile *profile, uint32_t event, LodeEventBy by);

/* By data, the profile must have memory. Never NULL. */
LodeEventGroups *lode_event_groups_new(const LodeProfile *profile, uint32_t event, LodeEventBy by);
void lode_event_groups_free(LodeEventGroups *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeEventGroups, lode_event_groups_free)
