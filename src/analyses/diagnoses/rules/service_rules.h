/* SPDX-License-Identifier: MIT */
/*
 * Rules from functions to causes: which service a function is, what usually makes it cost, and what
 * people do about it. Rules and texts are in services.ini, which says how a rule is written.
 * Private to analyses/diagnoses/.
 */
#pragma once

#include "analyses/calls/function_families.h"

typedef struct LodeServiceRules LodeServiceRules;

typedef struct LodeServiceRule {
	const char *name;
	const char *cause;   /* the catalogue's word; NULL: it is no diagnosis */
	const char *title;   /* NULL: the names of the functions alone */
	const char *service; /* of several functions: "allocator" */
	const char *explanation, *remedy, *source; /* source NULL: none is given */
	const char *enters; /* globs of system calls that its functions make; NULL: none */
	double factor;      /* the part of the time that a remedy saves at most */
	double least;       /* share of the time below which it is no diagnosis */
	double most;        /* and above which it is none: what the program is for */
	double alone;       /* 1: its texts are those where no other part has much */
	double in_scripts;  /* 0: at a script's line it is of the interpreter's steps */
	const struct LodeServiceRule *whole; /* whose diagnosis it is a part of; itself */
	const struct LodeServiceRule *rest;  /* takes it where it has too little alone; NULL */
	const LodeGlobs *where;              /* functions that have a part of its time; NULL: any */
	/* Takes its place where a loop does not change the arguments of the calls, which then give
	 * what the call before gave; NULL: they may give something else. */
	const struct LodeServiceRule *repeated;
	/* Likewise, where its loops go over many nodes that share a bucket. */
	const struct LodeServiceRule *chains;
	const struct LodeServiceRule *makers; /* whose callers are its place where it has none */
	const struct LodeServiceRule *unseen; /* in its place at lines of scripts, where these
	                                       * functions do not have it */
	const struct LodeServiceRule *inside; /* in its place where the functions of its `where`
	                                       * have a tenth of the time; NULL: none */
	/* Whose diagnosis it is in, where most of the time is in copies of objects. */
	const struct LodeServiceRule *copies;
	/* Takes its place where its functions are called often. */
	const struct LodeServiceRule *often;
	/* Whose diagnosis it is in, at lines that call that one's functions, too. */
	const struct LodeServiceRule *with;
	/* Whose diagnosis it is in, where comparisons of a sort call it much. */
	const struct LodeServiceRule *keys;
} LodeServiceRule;

/* The rules that are compiled in; never NULL. */
LodeServiceRules *lode_service_rules_new(const LodeFamilies *families);

/* From text in the form of services.ini. Errors: _CORRUPT, which names the group. */
LodeServiceRules *lode_service_rules_parse(
	const char *text, const LodeFamilies *families, GError **error);

void lode_service_rules_free(LodeServiceRules *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeServiceRules, lode_service_rules_free)

guint lode_service_rules_n(const LodeServiceRules *self);
const LodeServiceRule *lode_service_rules_at(const LodeServiceRules *self, guint index);

/* The first rule of a function, by the name it is called by. `family` and `file`, of the line that
 * calls, may be NULL. NULL: there is none. */
const LodeServiceRule *lode_service_rules_find(const LodeServiceRules *self, const char *function,
	const char *image, const char *family, const char *file);

/* Whether a function goes over what shares a bucket of the rule's tables. */
bool lode_service_rules_walk(
	const LodeServiceRules *self, const LodeServiceRule *rule, const char *function);
