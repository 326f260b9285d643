/* SPDX-License-Identifier: MIT */
/*
 * Families of functions, by their names and images: the allocator, string functions, the kernel by
 * what entered it. Their patterns are in families.ini, which says how one is written.
 */
#pragma once

#include "analyses/calls/function_costs.h"
#include "base/text/rule_file.h"

typedef struct LodeFamilies LodeFamilies;

typedef struct {
	const char *name, *description;
	bool is_self_only; /* its time is that of its functions, without what they call */
	bool is_kernel; /* on stacks, its time is that of all that was entered by its functions */
} LodeFamily;

/* The families that are compiled in; never NULL. */
LodeFamilies *lode_families_new(void);

/* From text in the form of families.ini. Errors: _CORRUPT, which names the group. */
LodeFamilies *lode_families_parse(const char *text, GError **error);

void lode_families_free(LodeFamilies *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeFamilies, lode_families_free)

uint32_t lode_families_n(const LodeFamilies *self);
const LodeFamily *lode_families_at(const LodeFamilies *self, uint32_t family);

/* Adds the names that are for a service. *names may be NULL. */
void lode_families_add_names(const LodeFamilies *self, const char *service, LodeGlobs **names);

/* The family of a function, by the first pattern that matches; LODE_NONE: it has none. For the
 * user's own code names are not tried that programs have in common with libraries. */
uint32_t lode_families_find(
	const LodeFamilies *self, const char *function, const char *image, bool is_own);

typedef struct {
	uint32_t family;
	double self;         /* of its functions */
	double inclusive;    /* NaN: not known */
	uint32_t n;          /* functions with a cost of their own; 0: of what entered the kernel */
	uint32_t members[3]; /* of them the costliest, of LodeFunctionCosts; else LODE_NONE */
} LodeFamilyCost;

/* inclusive, or self where that is not known. */
double lode_family_cost_time(const LodeFamilyCost *self);

/*
 * The costs of all families that have any, by falling time: GArray of LodeFamilyCost, which the
 * caller unrefs. *out_of has the family of each of the functions, or LODE_NONE; the caller frees
 * it. Inlined functions have that of groups that say so.
 */
GArray *lode_families_costs(
	const LodeFamilies *self, const LodeFunctionCosts *costs, uint32_t **out_of);
