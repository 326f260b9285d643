/* SPDX-License-Identifier: MIT */
/*
 * Services: functions of the system's libraries, of a run-time environment, or of a family
 * (families.ini) that the user's own code calls, each with all that it calls there:
 *
 *   count_words  words.c:12 ──▶ strlen            service strlen, called from words.c:12
 *   main  main.c:40 ──▶ qsort ──▶ msort_with_tmp  service qsort, called from main.c:40, with…
 *                         └──▶ by_name  list.c:8  …what its call back costs: inclusive in qsort,
 *                                └──▶ strcmp      but a service of its own, called from list.c:8
 *
 * A sample belongs to the outermost function of each such run on its stack. So malloc that
 * operator new calls is operator new's; the family has both. A family is a service, too. Inlined
 * functions are services where their family says so (families.ini): of those that are inlined in
 * each other, a sample belongs to each, and is nearest to the innermost.
 *
 * A copy, move or destructor that the compiler made is no caller where it is known who makes or
 * ends the object.
 *
 * Who calls is known, in this order, from stacks, from the recorded top of the stack, from counted
 * calls, or from calls that were inferred: then shares are estimates, unless there is one caller.
 */
#pragma once

#include "analyses/calls/function_families.h"
#include "analyses/calls/sort_comparisons.h"
#include "analyses/calls/special_members.h"

/* An own function and line that calls. */
typedef struct {
	uint32_t function; /* of LodeFunctionCosts */
	const char *file;  /* the profile's; NULL: no own line is known */
	uint32_t line;     /* 0 likewise */
	/* The name that it is called by there, where that is not its own: of strcmp "strcoll",
	 * which jumps to it in some locales. NULL: its own, or not known. */
	const char *called;
	LodeObjectWork work; /* that it is done for there */
	double cost;         /* of the event, that came from there */
	double samples;      /* likewise; NaN: from calls */
	double calls;        /* NaN: from stacks */
	double nearest;      /* of the cost, what has no service nearer: see LodeService */
} LodeServiceCaller;

typedef struct {
	uint32_t function; /* of LodeFunctionCosts; LODE_NONE: all functions of the family */
	uint32_t family;   /* LODE_NONE: none */
	double self;
	double inclusive; /* at least self of it; that alone where the rest is not known */
	double error;   /* of inclusive: one standard deviation, by the samples; NaN: no samples */
	double unknown; /* of inclusive, what has no known caller */
	double nearest; /* of inclusive, the samples in user mode whose innermost run of services
	                   begins with it: a sample has one such service. In the drawing all of
	                   strlen's and strcmp's, and qsort's without what it calls back. Only of
	                   functions; from calls it is the cost */
	guint first_caller, n_callers;    /* of LodeServices.callers */
	guint first_nameless, n_nameless; /* of LodeServices.nameless */
} LodeService;

typedef struct {
	LodeCallSource source;
	GArray *services; /* LodeService, by falling inclusive cost */
	GArray *callers;  /* LodeServiceCaller, of each service by falling cost */
	GArray *nameless; /* LodeServiceCaller: parts of `unknown` of which `called` or `work` is
	                     known */
	GStringChunk *strings;           /* `called` of callers */
	LodeSortComparisons comparisons; /* of sorts */
} LodeServices;

/* `family_of` is that of lode_families_costs(). `own`: see lode_own_lines_new(). Borrows strings of
 * the profile. Never NULL. */
LodeServices *lode_services_new(const LodeFunctionCosts *costs, const LodeFamilies *families,
	const uint32_t *family_of, const char *const *own);
void lode_services_free(LodeServices *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeServices, lode_services_free)

/* A function's, or with function LODE_NONE a family's; NULL: it is none, or has no cost. */
const LodeService *lode_services_find(const LodeServices *self, uint32_t function, uint32_t family);

static inline const LodeServiceCaller *lode_service_caller(
	const LodeServices *self, const LodeService *service, guint i)
{
	return &g_array_index(self->callers, LodeServiceCaller, service->first_caller + i);
}

/* The name by which a function is called: "strlen" of "__strlen_avx2", a variant in the C library,
 * "list.sort" of its parts, and of "fn_167ac0" where its callers say so; else its own. The caller
 * frees it. */
char *lode_service_called_name(const LodeFunctionCost *function);
