/* SPDX-License-Identifier: MIT */
/* What is one thing to change is one diagnosis. */
#include "analyses/diagnoses/services/service_parts.h"

#include "analyses/calls/sort_comparisons.h"
#include "analyses/calls/special_members.h"
#include "model/index.h"

#include <string.h>

bool lode_service_part_copies(const LodeServicePart *part)
{
	return part->caller.work == LODE_OBJECT_WORK_COPY;
}

bool lode_service_part_frees(const LodeServicePart *part)
{
	static const char *const names[] = {
		"free", "operator delete", "operator delete[]", "munmap", NULL};

	return !lode_service_part_copies(part) &&
	       (part->caller.work == LODE_OBJECT_WORK_END || g_strv_contains(names, part->said));
}

/* The part of the time in comparisons that makes or takes apart keys. */
static const double MADE_KEYS = 0.25;
/* The part of known callers by which the unknown ones are comparisons, too. */
static const double MOST_COMPARED = 0.8;

static bool is_compared(const LodeSortComparisons *comparisons, const LodeServicePart *part)
{
	bool is_of = part->caller.function != LODE_NONE &&
	             comparisons->is_of[part->caller.function];

	for (guint i = 0; i < comparisons->lines->len && !is_of; i++) {
		const LodeSortComparison *line = &g_array_index(
			comparisons->lines, LodeSortComparison, i);
		is_of = line->function == part->caller.function && line->line == part->caller.line;
	}
	return is_of;
}

/* Whether a part is of comparisons; one without a known caller where others of its
 * diagnosis are. */
static bool is_in_comparisons(const LodeServiceParts *self, const LodeSortComparisons *comparisons,
	const LodeServicePart *part)
{
	double known = 0, compared = 0;

	if (part->caller.function != LODE_NONE)
		return is_compared(comparisons, part);
	for (guint i = 0; i < self->parts->len; i++) {
		const LodeServicePart *other = lode_service_part_at(self, i);
		if (other->whole != part->whole || other->caller.function == LODE_NONE)
			continue;
		known += other->caller.cost;
		compared += is_compared(comparisons, other) ? other->caller.cost : 0;
	}
	return compared > 0 && compared >= MOST_COMPARED * known;
}

static void add_comparisons(
	LodeServiceParts *self, const LodeSortComparisons *comparisons, double cost)
{
	for (guint i = 0; i < comparisons->lines->len; i++) {
		const LodeSortComparison *line = &g_array_index(
			comparisons->lines, LodeSortComparison, i);
		const LodeServiceCaller caller = {.function = line->function,
			.file = line->file,
			.line = line->line,
			.cost = line->cost / comparisons->cost * cost};
		const char *name = lode_service_parts_function_name(self, line->function);
		const LodeServicePart part = {
			self->keys, self->keys, line->function, name, name, caller, LODE_NONE};
		g_array_append_val(self->parts, part);
	}
}

/* Puts comparisons of sorts, with all that they call, in the place of what those call that compute
 * keys for them. */
static void take_comparisons(LodeServiceParts *self)
{
	const LodeSortComparisons *comparisons = &self->context->services->comparisons;
	g_autoptr(GArray) others = g_array_new(FALSE, FALSE, sizeof(LodeServicePart));

	double cost = comparisons->cost;
	for (guint i = 0; comparisons->lines->len > 0 && i < self->parts->len; i++) {
		const LodeServicePart *part = lode_service_part_at(self, i);
		if (!is_in_comparisons(self, comparisons, part)) {
			g_array_append_val(others, *part);
			continue;
		}
		cost += part->caller.function == LODE_NONE ? part->caller.cost : 0;
		self->made_keys += part->rule->keys != NULL ? part->caller.cost : 0;
		self->keys = part->rule->keys != NULL ? part->rule->keys : self->keys;
	}
	if (self->keys == NULL || self->made_keys < MADE_KEYS * cost) {
		self->keys = NULL;
		return;
	}
	g_array_unref(self->parts);
	self->parts = g_steal_pointer(&others);
	add_comparisons(self, comparisons, cost);
}

/* What the parts of one diagnosis do with objects. */
typedef struct {
	const LodeServiceRule *rule; /* of copies; NULL: the parts have none */
	double all, copied, freed;
} ObjectWork;

static guint sum_work(const LodeServiceParts *self, guint begin, ObjectWork *out)
{
	double most = 0;

	*out = (ObjectWork){0};
	guint end = lode_service_parts_end(self, begin, &out->all);
	for (guint i = begin; i < end; i++) {
		const LodeServicePart *part = lode_service_part_at(self, i);
		out->copied += lode_service_part_copies(part) ? part->caller.cost : 0;
		out->freed += lode_service_part_frees(part) ? part->caller.cost : 0;
		if (part->rule->copies != NULL && part->caller.cost > most) {
			out->rule = part->rule->copies;
			most = part->caller.cost;
		}
	}
	return end;
}

static void give_to(LodeServiceParts *self, guint begin, guint end, const LodeServiceRule *rule)
{
	for (guint i = begin; i < end; i++) {
		LodeServicePart *part = &g_array_index(self->parts, LodeServicePart, i);
		part->rule = rule;
		part->whole = rule;
	}
}

/* Divides parts without a known caller as those of the same function that have one. */
static void spread_work(LodeServiceParts *self)
{
	const guint n = self->parts->len;

	for (guint i = 0; i < n; i++) {
		const LodeServicePart part = *lode_service_part_at(self, i);
		double all = 0, of[LODE_OBJECT_WORK_END + 1] = {0};
		if (part.caller.function != LODE_NONE || part.caller.work != LODE_OBJECT_WORK_NONE)
			continue;
		for (guint k = 0; k < n; k++) {
			const LodeServicePart *other = lode_service_part_at(self, k);
			if (other->service != part.service || other->caller.function == LODE_NONE)
				continue;
			of[other->caller.work] += other->caller.cost;
			all += other->caller.cost;
		}
		if (all < LODE_SERVICE_NAMED * (all + part.caller.cost))
			continue;
		g_array_index(self->parts, LodeServicePart, i).caller.cost *=
			of[LODE_OBJECT_WORK_NONE] / all;
		for (unsigned work = LODE_OBJECT_WORK_COPY; work <= LODE_OBJECT_WORK_END; work++) {
			LodeServicePart added = part;
			added.caller.work = work;
			added.caller.cost *= of[work] / all;
			if (added.caller.cost > 0)
				g_array_append_val(self->parts, added);
		}
	}
}

/* Gives to a rule of copies what is mostly copies of objects and their ends: what they allocate,
 * move and hash is one thing to change. What only frees is of the copies, if these are as much. */
static void join_copies(LodeServiceParts *self)
{
	const LodeServiceRule *rule = NULL;
	double copied = 0;
	ObjectWork work;

	for (guint i = 0, end; i < self->parts->len; i = end) {
		end = sum_work(self, i, &work);
		if (work.rule == NULL || work.all - work.freed < LODE_SERVICE_MUCH * work.all ||
			work.copied < LODE_SERVICE_MOST * (work.all - work.freed))
			continue;
		rule = work.rule;
		copied += work.copied;
		give_to(self, i, end, rule);
	}
	for (guint i = 0, end; rule != NULL && i < self->parts->len; i = end) {
		end = sum_work(self, i, &work);
		if (work.rule != NULL && work.all - work.freed < LODE_SERVICE_MUCH * work.all &&
			copied >= LODE_SERVICE_MOST * work.freed)
			give_to(self, i, end, rule);
	}
	lode_service_parts_sort(self);
}

static double cost_at_line(
	const LodeServiceParts *self, const LodeServiceRule *whole, const LodeServiceCaller *caller)
{
	double cost = 0;

	for (guint i = 0; i < self->parts->len; i++) {
		const LodeServicePart *part = lode_service_part_at(self, i);
		if (part->whole == whole && part->caller.function == caller->function &&
			part->caller.line == caller->line &&
			g_strcmp0(part->caller.file, caller->file) == 0)
			cost += part->caller.cost;
	}
	return cost;
}

/* Gives to a rule what its functions are called with: a string that is made of a text takes its
 * length and a block, which ends with it. */
static void join_lines(LodeServiceParts *self)
{
	for (guint i = 0; i < self->parts->len; i++) {
		LodeServicePart *part = &g_array_index(self->parts, LodeServicePart, i);
		const LodeServiceRule *with = part->whole->with;
		if (with != NULL && part->caller.file != NULL &&
			cost_at_line(self, with->whole, &part->caller) >=
				LODE_SERVICE_MUCH * part->caller.cost) {
			part->rule = with;
			part->whole = with->whole;
		}
	}
	lode_service_parts_sort(self);
}

/* Gives to the rest of a family what has too little time of its own. */
static void join_small(LodeServiceParts *self)
{
	double cost;

	lode_service_parts_sort(self);
	for (guint i = 0, end; i < self->parts->len; i = end) {
		const LodeServiceRule *whole = lode_service_part_at(self, i)->whole;
		end = lode_service_parts_end(self, i, &cost);
		for (guint k = i; k < end; k++)
			if (lode_service_parts_share(self, cost) < whole->least &&
				whole->rest != NULL)
				g_array_index(self->parts, LodeServicePart, k).whole = whole->rest;
	}
	lode_service_parts_sort(self);
}

void lode_service_parts_join(LodeServiceParts *self)
{
	take_comparisons(self);
	spread_work(self);
	join_lines(self);
	join_small(self);
	join_copies(self);
}
