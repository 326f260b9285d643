/* SPDX-License-Identifier: MIT */
#include "analyses/diagnoses/service_diagnoses.h"

#include "analyses/calls/script_lines.h"
#include "analyses/calls/sort_comparisons.h"
#include "analyses/calls/special_members.h"
#include "analyses/diagnoses/diagnosis_evidence.h"
#include "analyses/diagnoses/rules/service_rules.h"
#include "base/arrays/partition_point.h"
#include "base/arrays/sort_order.h"
#include "base/arrays/sum_table.h"
#include "model/findings.h"
#include "model/profile.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A remedy saves so much in proportion to what its rule says, in 8 of 10 pairs (bench/README.md):
 * what the callers do for the service and with its results mostly goes, too. Something stays. */
static const double LEAST_SAVED = 0.75, MOST_SAVED = 2.4, MOST_OF_ALL = 0.99;
/* In virtual machines what a function calls, makes and has compiled is less well known as its. */
static const double MOST_SAVED_IN_MACHINES = 4.5;

/* Services with a smaller share are left out. */
#define LEAST_PART 0.0002
/* The part of a diagnosis's time that a rule needs for its texts, and a fact to be said. */
#define MUCH 0.2
#define MOST 0.5
/* The part that a function needs for its name to be said. */
#define NAMED 0.1
enum { MOST_NAMES = 3, MOST_LETTERS = 34, TITLE_LETTERS = 60, MOST_CALLERS = 200 };

/* Facts of calls, by attributes. */
enum { IS_CALL = 1, IN_LOOP = 2, UNCHANGED = 4, SAME_ARGUMENTS = 8, SAME_RESULT = 16 };

/* The time of one service that one caller has. */
typedef struct {
	const LodeServiceRule *rule, *whole;
	uint32_t service;         /* of LodeFunctionCosts */
	const char *called;       /* interned */
	const char *said;         /* likewise: its short name */
	LodeServiceCaller caller; /* its function LODE_NONE: not known */
	uint32_t call;            /* that is known to lead there; LODE_NONE: to be looked for */
} Part;

/* A call of an implicit member. */
typedef struct {
	uint32_t function, instruction;
	double count;
} MemberCall;

LODE_ORDER(compare_member_calls, MemberCall, LODE_ASCENDING(function), LODE_ASCENDING(instruction))

/* A name, a line, or a rule with its time. */
typedef struct {
	const void *key;
	uint32_t line;     /* 0: of a function */
	uint32_t first, n; /* of the parts, the costliest, and how many */
	double cost;
	double copied; /* of it, by copies of objects */
} Sum;

typedef struct {
	LodeDiagnoses *out;
	const LodeCostedCode *code;
	const LodeDiagnosisContext *context; /* the code's */
	LodeServiceRules *rules;
	GStringChunk *strings;
	GArray *parts;      /* Part */
	GArray *members;    /* MemberCall, by function */
	uint16_t *facts_of; /* of each attribute set */
	double total;       /* of the costs' event */
	double samples;
	const LodeServiceRule *keys; /* of comparisons of sorts; NULL: of none */
	double made_keys; /* time of what comparisons of sorts call to make or take apart keys */
} Diagnosing;

static const Part *part_at(const Diagnosing *self, guint i)
{
	return &g_array_index(self->parts, Part, i);
}

static double share_of(const Diagnosing *self, double cost)
{
	return self->total > 0 ? cost / self->total * self->context->user : 0;
}

static const char *function_name(const Diagnosing *self, uint32_t function)
{
	return lode_function_cost_at(self->context->costs, function)->name;
}

/* --- names --- */

/* "T::method" of "<T as Trait>::method", as Rust has it; else a copy. The caller frees it. */
static char *without_trait(const char *name)
{
	const char *trait = NULL, *at = name;
	int depth = 0;

	for (; *name == '<' && *at != '\0'; at++) {
		depth += *at == '<';
		depth -= *at == '>' && at[-1] != '-';
		if (depth == 1 && trait == NULL && g_str_has_prefix(at, " as "))
			trait = at;
		if (depth <= 0)
			break;
	}
	return trait == NULL || *at == '\0'
	               ? g_strdup(name)
	               : g_strdup_printf("%.*s%s", (int)(trait - name) - 1, name + 1, at + 1);
}

/* "std::_Hashtable::find" of its whole name: without what it returns, parameters and template
 * arguments. The caller frees it. */
static char *short_name(const char *whole_name)
{
	g_autofree char *name = without_trait(whole_name);
	GString *out = g_string_new(NULL);
	int depth = 0;

	for (const char *at = name; *at != '\0'; at++) {
		bool is_operator = g_str_has_suffix(out->str, "operator") ||
		                   g_str_has_suffix(out->str, "operator<") ||
		                   (*at == '>' && g_str_has_suffix(out->str, "operator>"));
		bool is_local = g_str_has_prefix(at, "(anonymous ") || g_str_has_prefix(at, "(*");
		/* Java's constructors have a name in brackets: "java.lang.Object.<init>()". */
		is_operator |= depth == 0 && g_str_has_suffix(out->str, ".") &&
		               (g_str_has_prefix(at, "<init>") || g_str_has_prefix(at, "<clinit>"));
		if (depth == 0 && *at == '(' && !is_operator && !is_local && out->len > 0)
			break;
		/* The impl block of "map::<impl Map>::get" (Rust) is dropped. */
		if (depth == 0 && g_str_has_prefix(at, "::") && g_str_has_suffix(out->str, "::") &&
			at[-1] == '>')
			at++;
		else if (!is_operator && (*at == '<' || *at == '>') && at[1] != '=' &&
			 out->len > 0 && !(*at == '>' && depth == 0))
			depth += *at == '<' ? 1 : -1;
		else if (depth <= 0 && *at == ' ' && !g_str_has_suffix(out->str, "operator"))
			g_string_truncate(out, 0);
		else if (depth <= 0)
			g_string_append_c(out, *at);
	}
	if (out->len == 0)
		g_string_assign(out, name);
	return g_string_free(out, FALSE);
}

/* --- parts --- */

static const LodeServiceRule *find_rule(const Diagnosing *self, const char *called,
	const char *image, uint32_t family, const char *file)
{
	const char *name = family != LODE_NONE
	                           ? lode_families_at(self->context->families, family)->name
	                           : NULL;

	return lode_service_rules_find(self->rules, called, image, name, file);
}

static bool is_in_script(const Diagnosing *self, const LodeServiceCaller *caller)
{
	return caller->function != LODE_NONE &&
	       lode_function_cost_at(self->context->costs, caller->function)->language != NULL;
}

static void add_part(Diagnosing *self, uint32_t function, const char *called, uint32_t family,
	const LodeServiceCaller *caller, uint32_t call, double cost)
{
	const LodeFamilies *families = self->context->families;
	const LodeFunctionCost *one = lode_function_cost_at(self->context->costs, function);
	const LodeServiceRule *rule = NULL;

	/* A program's own library may call the service last, too. */
	if (caller->called != NULL) {
		rule = find_rule(self, caller->called, one->image,
			lode_families_find(families, caller->called, one->image, false),
			caller->file);
		called = rule != NULL ? caller->called : called;
	}
	if (rule == NULL)
		rule = find_rule(self, called, one->image, family, caller->file);
	if (rule == NULL || rule->cause == NULL ||
		(rule->in_scripts == 0 && is_in_script(self, caller)))
		return;
	/* Those that differ in their parameters alone are one name: operator new and its kin. */
	g_autofree char *name = short_name(called);
	Part part = {rule, rule->whole, function, called,
		g_string_chunk_insert_const(self->strings, name), *caller, call};

	part.caller.cost = cost;
	g_array_append_val(self->parts, part);
}

/* --- who makes and ends objects --- */

/* The calls of implicit members; the caller unrefs it. */
static GArray *list_members(const Diagnosing *self)
{
	const LodeProfile *profile = self->context->profile;
	GArray *calls = g_array_new(FALSE, FALSE, sizeof(MemberCall));
	g_autoptr(GHashTable) implicit = lode_implicit_members(profile, self->context->own);

	for (guint i = 0; i < profile->edges->len && g_hash_table_size(implicit) > 0; i++) {
		const LodeEdge *edge = &LODE_AT(profile->edges, LodeEdge, i);
		const MemberCall call = {lode_profile_instruction(profile, edge->target)->function,
			edge->source, edge->count};
		if (edge->kind == LODE_EDGE_CALL && edge->count > 0 &&
			g_hash_table_contains(
				implicit, lode_profile_function(profile, call.function)->name))
			g_array_append_val(calls, call);
	}
	g_array_sort(calls, compare_member_calls);
	return calls;
}

/* The function that a line of an instruction's is of, which may be inlined there. */
static uint32_t function_of_line(const Diagnosing *self, uint32_t instruction)
{
	const LodeFunctionCosts *costs = self->context->costs;
	g_autoptr(GArray) chain = lode_own_lines_chain(self->context->own, instruction);
	uint32_t around = lode_profile_instruction(self->context->profile, instruction)->function;

	for (guint i = 1; i < chain->len; i++) {
		const LodeInlinedLine *one = &g_array_index(chain, LodeInlinedLine, i);
		for (uint32_t k = 0; one->is_own && k < costs->functions->len; k++)
			if (lode_function_cost_at(costs, k)->is_inlined &&
				strcmp(lode_function_cost_at(costs, k)->name, one->function) == 0)
				return k;
	}
	return around;
}

/* Objects have objects in them: members that call each other are followed so far. */
enum { MOST_MEMBERS = 4 };

/* Adds a part; one that an implicit member calls is divided among those that call the member, by
 * how often they do. */
static void add_part_of_maker(Diagnosing *self, uint32_t service, const char *called,
	uint32_t family, const LodeServiceCaller *caller, uint32_t call, double cost,
	unsigned depth)
{
	const MemberCall *calls = (const MemberCall *)(void *)self->members->data;
	guint first = LODE_PARTITION_POINT(
		self->members->len, i, calls[i].function < caller->function);
	double all = 0;

	for (guint i = first; i < self->members->len && calls[i].function == caller->function; i++)
		all += calls[i].count;
	if (!(all > 0) || depth == MOST_MEMBERS) {
		add_part(self, service, called, family, caller, call, cost);
		return;
	}
	for (guint i = first; i < self->members->len && calls[i].function == caller->function;
		i++) {
		const LodeProfile *profile = self->context->profile;
		uint32_t at = calls[i].instruction,
			 line = lode_own_lines_find(self->context->own, at);
		LodeServiceCaller maker = *caller;
		maker.function = function_of_line(self, at);
		bool is_own = line != LODE_NONE && lode_own_lines_is_own(self->context->own, line);
		maker.file = is_own ? LODE_AT(profile->locations, LodeLocation, line).file : NULL;
		maker.line = is_own ? LODE_AT(profile->locations, LodeLocation, line).line : 0;
		add_part_of_maker(self, service, called, family, &maker, at,
			cost * calls[i].count / all, depth + 1);
	}
}

static void take_service(Diagnosing *self, const LodeService *service)
{
	const LodeDiagnosisContext *context = self->context;
	const LodeServiceCaller nobody = {.function = LODE_NONE};
	const LodeFunctionCost *one = lode_function_cost_at(context->costs, service->function);
	g_autofree char *name = lode_service_called_name(one);
	const char *called = g_string_chunk_insert_const(self->strings, name);
	double rest = service->nearest;

	for (guint i = 0; i < service->n_callers; i++) {
		const LodeServiceCaller *caller = lode_service_caller(
			context->services, service, i);
		rest -= caller->nearest;
		if (caller->nearest > 0)
			add_part_of_maker(self, service->function, called, service->family, caller,
				LODE_NONE, caller->nearest, 0);
	}
	for (guint i = 0; i < service->n_nameless; i++) {
		const LodeServiceCaller *caller = &g_array_index(context->services->nameless,
			LodeServiceCaller, service->first_nameless + i);
		rest -= caller->nearest;
		if (caller->nearest > 0)
			add_part(self, service->function, called, service->family, caller,
				LODE_NONE, caller->nearest);
	}
	if (rest > 1e-9 * self->total)
		add_part(
			self, service->function, called, service->family, &nobody, LODE_NONE, rest);
}

static uint64_t line_key(uint32_t function, uint32_t line)
{
	return (uint64_t)function << 32 | line;
}

/* What the interpreter does for lines of the user's scripts, without what is another service. */
static void take_steps(Diagnosing *self)
{
	g_autoptr(GArray) lines = lode_script_lines_costs(self->context->costs);
	g_autoptr(GHashTable)
		taken = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, g_free);

	for (guint i = 0; lines->len > 0 && i < self->parts->len; i++) {
		const LodeServiceCaller *caller = &part_at(self, i)->caller;
		const uint64_t key = line_key(caller->function, caller->line);
		*lode_sum_at_copy(taken, &key, sizeof key) += caller->cost;
	}
	for (guint i = 0; i < lines->len; i++) {
		const LodeScriptLine *line = &g_array_index(lines, LodeScriptLine, i);
		const uint64_t key = line_key(line->function, line->line);
		double rest = line->cost - *lode_sum_at_copy(taken, &key, sizeof key);
		const LodeServiceCaller caller = {
			.function = line->function, .file = line->file, .line = line->line};
		const char *language =
			lode_function_cost_at(self->context->costs, line->function)->language;
		if (rest > 0 && language != NULL)
			add_part(self, line->function, language, LODE_NONE, &caller, LODE_NONE,
				rest);
	}
}

LODE_ORDER(compare_parts, Part, strcmp(left->whole->name, right->whole->name),
	LODE_DESCENDING(caller.cost), LODE_ASCENDING(service), LODE_ASCENDING(caller.function),
	LODE_ASCENDING(caller.line))

static guint end_of_whole(const Diagnosing *self, guint begin, double *out_cost)
{
	const LodeServiceRule *whole = part_at(self, begin)->whole;
	guint end = begin;

	*out_cost = 0;
	for (; end < self->parts->len && part_at(self, end)->whole == whole; end++)
		*out_cost += part_at(self, end)->caller.cost;
	return end;
}

/* Gives to the rest of a family what has too little time of its own. */
static void join_small(Diagnosing *self)
{
	double cost;

	g_array_sort(self->parts, compare_parts);
	for (guint i = 0, end; i < self->parts->len; i = end) {
		const LodeServiceRule *whole = part_at(self, i)->whole;
		end = end_of_whole(self, i, &cost);
		for (guint k = i; k < end; k++)
			if (share_of(self, cost) < whole->least && whole->rest != NULL)
				g_array_index(self->parts, Part, k).whole = whole->rest;
	}
	g_array_sort(self->parts, compare_parts);
}

static bool copies(const Part *part)
{
	return part->caller.work == LODE_OBJECT_WORK_COPY;
}

static bool frees(const Part *part)
{
	static const char *const names[] = {
		"free", "operator delete", "operator delete[]", "munmap", NULL};

	return !copies(part) &&
	       (part->caller.work == LODE_OBJECT_WORK_END || g_strv_contains(names, part->said));
}

/* The part of the time in comparisons that makes or takes apart keys. */
static const double MADE_KEYS = 0.25;
/* The part of known callers by which the unknown ones are comparisons, too. */
static const double MOST_COMPARED = 0.8;

static bool is_compared(const LodeSortComparisons *comparisons, const Part *part)
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
static bool is_in_comparisons(
	const Diagnosing *self, const LodeSortComparisons *comparisons, const Part *part)
{
	double known = 0, compared = 0;

	if (part->caller.function != LODE_NONE)
		return is_compared(comparisons, part);
	for (guint i = 0; i < self->parts->len; i++) {
		const Part *other = part_at(self, i);
		if (other->whole != part->whole || other->caller.function == LODE_NONE)
			continue;
		known += other->caller.cost;
		compared += is_compared(comparisons, other) ? other->caller.cost : 0;
	}
	return compared > 0 && compared >= MOST_COMPARED * known;
}

static void add_comparisons(Diagnosing *self, const LodeSortComparisons *comparisons, double cost)
{
	for (guint i = 0; i < comparisons->lines->len; i++) {
		const LodeSortComparison *line = &g_array_index(
			comparisons->lines, LodeSortComparison, i);
		const LodeServiceCaller caller = {.function = line->function,
			.file = line->file,
			.line = line->line,
			.cost = line->cost / comparisons->cost * cost};
		const char *name = function_name(self, line->function);
		const Part part = {
			self->keys, self->keys, line->function, name, name, caller, LODE_NONE};
		g_array_append_val(self->parts, part);
	}
}

/* Puts comparisons of sorts, with all that they call, in the place of what those call that compute
 * keys for them. */
static void take_comparisons(Diagnosing *self)
{
	const LodeSortComparisons *comparisons = &self->context->services->comparisons;
	g_autoptr(GArray) others = g_array_new(FALSE, FALSE, sizeof(Part));

	double cost = comparisons->cost;
	for (guint i = 0; comparisons->lines->len > 0 && i < self->parts->len; i++) {
		const Part *part = part_at(self, i);
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

static guint sum_work(const Diagnosing *self, guint begin, ObjectWork *out)
{
	double most = 0;

	*out = (ObjectWork){0};
	guint end = end_of_whole(self, begin, &out->all);
	for (guint i = begin; i < end; i++) {
		const Part *part = part_at(self, i);
		out->copied += copies(part) ? part->caller.cost : 0;
		out->freed += frees(part) ? part->caller.cost : 0;
		if (part->rule->copies != NULL && part->caller.cost > most) {
			out->rule = part->rule->copies;
			most = part->caller.cost;
		}
	}
	return end;
}

static void give_to(Diagnosing *self, guint begin, guint end, const LodeServiceRule *rule)
{
	for (guint i = begin; i < end; i++) {
		Part *part = &g_array_index(self->parts, Part, i);
		part->rule = rule;
		part->whole = rule;
	}
}

/* Divides parts without a known caller as those of the same function that have one. */
static void spread_work(Diagnosing *self)
{
	const guint n = self->parts->len;

	for (guint i = 0; i < n; i++) {
		const Part part = *part_at(self, i);
		double all = 0, of[LODE_OBJECT_WORK_END + 1] = {0};
		if (part.caller.function != LODE_NONE || part.caller.work != LODE_OBJECT_WORK_NONE)
			continue;
		for (guint k = 0; k < n; k++) {
			const Part *other = part_at(self, k);
			if (other->service != part.service || other->caller.function == LODE_NONE)
				continue;
			of[other->caller.work] += other->caller.cost;
			all += other->caller.cost;
		}
		if (all < NAMED * (all + part.caller.cost))
			continue;
		g_array_index(self->parts, Part, i).caller.cost *= of[LODE_OBJECT_WORK_NONE] / all;
		for (unsigned work = LODE_OBJECT_WORK_COPY; work <= LODE_OBJECT_WORK_END; work++) {
			Part added = part;
			added.caller.work = work;
			added.caller.cost *= of[work] / all;
			if (added.caller.cost > 0)
				g_array_append_val(self->parts, added);
		}
	}
}

/* Gives to a rule of copies what is mostly copies of objects and their ends: what they allocate,
 * move and hash is one thing to change. What only frees is of the copies, if these are as much. */
static void join_copies(Diagnosing *self)
{
	const LodeServiceRule *rule = NULL;
	double copied = 0;
	ObjectWork work;

	for (guint i = 0, end; i < self->parts->len; i = end) {
		end = sum_work(self, i, &work);
		if (work.rule == NULL || work.all - work.freed < MUCH * work.all ||
			work.copied < MOST * (work.all - work.freed))
			continue;
		rule = work.rule;
		copied += work.copied;
		give_to(self, i, end, rule);
	}
	for (guint i = 0, end; rule != NULL && i < self->parts->len; i = end) {
		end = sum_work(self, i, &work);
		if (work.rule != NULL && work.all - work.freed < MUCH * work.all &&
			copied >= MOST * work.freed)
			give_to(self, i, end, rule);
	}
	g_array_sort(self->parts, compare_parts);
}

/* --- what is known of their calls --- */

static const LodeAttributeMark call_marks[] = {{"kind:call", IS_CALL}, {"loop:*", IN_LOOP},
	{"repeats:unchanged", UNCHANGED}, {"repeats:arguments", SAME_ARGUMENTS},
	{"repeats:result", SAME_RESULT}};

/* What is known of a call. */
typedef enum { CALLS_ANOTHER, MAY_CALL, DOES_CALL } Calling;

/* Whether an instruction calls a function of this name, directly or through its stub. Where it is
 * not known what it calls, it may. */
static Calling calling_of(const Diagnosing *self, uint32_t instruction, const char *called)
{
	const LodeProfile *profile = self->context->profile;
	const GArray *edges = profile->edges;
	guint at = LODE_PARTITION_POINT(
		edges->len, i, LODE_AT(edges, LodeEdge, i).source < instruction);
	Calling found = MAY_CALL;

	for (; at < edges->len && LODE_AT(edges, LodeEdge, at).source == instruction; at++) {
		const LodeEdge *edge = &LODE_AT(edges, LodeEdge, at);
		if (edge->kind != LODE_EDGE_CALL)
			continue;
		const LodeFunctionCost *target = lode_function_cost_at(self->context->costs,
			lode_profile_instruction(profile, edge->target)->function);
		g_autofree char *name = lode_service_called_name(target);
		if (strcmp(name, called) == 0 ||
			(g_str_has_prefix(name, called) && name[strlen(called)] == '@'))
			return DOES_CALL;
		found = CALLS_ANOTHER;
	}
	return found;
}

/* Whether it is of the line that calls. */
static bool is_in_line(
	const Diagnosing *self, uint32_t instruction, const LodeServiceCaller *caller)
{
	const LodeProfile *profile = self->context->profile;
	uint32_t location = lode_own_lines_find(self->context->own, instruction);

	if (location == LODE_NONE)
		return false;
	const LodeLocation *line = &LODE_AT(profile->locations, LodeLocation, location);
	return line->line == caller->line && g_strcmp0(line->file, caller->file) == 0;
}

/* The call of a part in its caller, and its facts; of what is inlined there, the costliest
 * instruction. A caller that is inlined has its line in others' code; in one without lines it must
 * be known what is called. LODE_NONE: none is known. */
static uint32_t find_call(const Diagnosing *self, const Part *part, uint16_t *out_facts)
{
	const LodeProfile *profile = self->context->profile;
	const LodeServiceCaller *caller = &part->caller;
	bool is_inlined = lode_function_cost_at(self->context->costs, part->service)->is_inlined;
	bool has_line = caller->file != NULL;
	bool has_code = caller->function < profile->functions->len;
	uint32_t begin = 0, end = profile->instructions->len, found = LODE_NONE;
	double most = 0;

	*out_facts = 0;
	if (part->call != LODE_NONE) {
		*out_facts = self->facts_of[lode_profile_instruction(profile, part->call)
						    ->attribute_set];
		return part->call;
	}
	if (!has_line && (!has_code || is_inlined))
		return LODE_NONE;
	if (has_code) {
		begin = lode_profile_function(profile, caller->function)->first_instruction;
		end = begin + lode_profile_function(profile, caller->function)->n_instructions;
	}
	for (uint32_t at = begin; at < end; at++) {
		uint32_t set = lode_profile_instruction(profile, at)->attribute_set;
		double cost = is_inlined
		                      ? lode_profile_event_value(profile, self->context->event, at)
		                      : 0;
		if (is_inlined ? cost <= most : (self->facts_of[set] & IS_CALL) == 0)
			continue;
		if ((has_line && !is_in_line(self, at, caller)) ||
			(!is_inlined && calling_of(self, at, part->called) <
						(has_line ? MAY_CALL : DOES_CALL)))
			continue;
		found = found == LODE_NONE || is_inlined ? at : found;
		most = cost;
		*out_facts |= self->facts_of[set];
	}
	return found;
}

/* --- one diagnosis --- */

LODE_ORDER(compare_sums, Sum, LODE_DESCENDING(cost), LODE_ASCENDING(first))

/* NULL: there are too many. */
static Sum *add_to_sums(GArray *sums, const void *key, uint32_t line, guint part, double cost)
{
	for (guint i = 0; i < sums->len; i++) {
		Sum *sum = &g_array_index(sums, Sum, i);
		if (sum->key == key && sum->line == line) {
			sum->cost += cost;
			sum->n++;
			return sum;
		}
	}
	const Sum added = {key, line, part, 1, cost, 0};
	if (sums->len >= MOST_CALLERS)
		return NULL;
	g_array_append_val(sums, added);
	return &g_array_index(sums, Sum, sums->len - 1);
}

/* A name as it is said: "runtime.gcBgMarkWorker" of runtime.gcBgMarkWorker.func2, and of long ones
 * without the outer namespaces. The caller frees it. */
static char *said_name(const char *key)
{
	char *name = g_strdup(key);
	const char *begin = name, *next;
	char *closure = strstr(name, ".func");

	if (closure != NULL && closure > name && g_ascii_isdigit(closure[strlen(".func")]))
		*closure = '\0';
	while (strlen(begin) > MOST_LETTERS && (next = strstr(begin, "::")) != NULL)
		begin = next + strlen("::");
	memmove(name, begin, strlen(begin) + 1);
	return name;
}

/* How many of the names have much enough of the time to be said, and room in so many letters; the
 * first always. */
static guint n_said(const GArray *names, double all, size_t room)
{
	size_t letters = 0;
	guint n = 0;

	for (; n < names->len && n < MOST_NAMES; n++) {
		const Sum *one = &g_array_index(names, Sum, n);
		g_autofree char *name = said_name(one->key);
		letters += strlen(name);
		if (n > 0 && (one->cost < NAMED * all || letters > room))
			break;
	}
	return n;
}

/* "malloc, free and others" */
static char *names_text(const GArray *names, double all, size_t room)
{
	GString *text = g_string_new(NULL);
	guint n = n_said(names, all, room);
	double rest = all;

	for (guint i = 0; i < n; i++) {
		const Sum *one = &g_array_index(names, Sum, i);
		g_autofree char *name = said_name(one->key);
		rest -= one->cost;
		bool has_more = i + 1 < n || rest >= NAMED * all;
		g_string_append_printf(text, "%s%s", i == 0 ? "" : has_more ? ", " : " and ", name);
	}
	if (rest >= NAMED * all)
		g_string_append(text, " and others");
	return g_string_free(text, FALSE);
}

/* "words.c:12 in count_words and 2 other functions" */
static char *line_text(const Diagnosing *self, const Sum *line)
{
	const LodeServiceCaller *caller = &part_at(self, line->first)->caller;
	g_autofree char *name = short_name(function_name(self, caller->function));

	if (caller->file == NULL || caller->file[0] == '<')
		return g_steal_pointer(&name);
	g_autofree char *base = g_path_get_basename(caller->file);
	return g_strdup_printf("%s:%u in %s", base, caller->line, name);
}

/* The first in the file that has much of the time; the diagnosis's, where that one is of functions
 * alone and others have much, too. */
static const LodeServiceRule *choose_rule(
	const Diagnosing *self, guint begin, guint end, double all)
{
	const LodeServiceRule *whole = part_at(self, begin)->whole, *first = NULL;

	for (guint i = 0; i < lode_service_rules_n(self->rules); i++) {
		const LodeServiceRule *rule = lode_service_rules_at(self->rules, i);
		double cost = 0;
		for (guint k = begin; k < end; k++)
			cost += part_at(self, k)->rule == rule ? part_at(self, k)->caller.cost : 0;
		if (rule->whole != whole || cost < MUCH * all)
			continue;
		if (first != NULL && first->alone > 0)
			return whole;
		first = first != NULL ? first : rule;
	}
	return first != NULL ? first : whole;
}

typedef struct {
	GArray *names, *lines, *functions; /* Sum */
	double all, unknown;
	double self; /* of the services' functions, without what they call */
	double saves;
	double in_loop, unchanged, observed; /* time from calls of which it is known */
	double repeated;                     /* of them, by functions that do nothing new then */
	bool is_own;                         /* it is in the lines that are said to call */
	bool is_compared;                    /* of these, by sorts; else an interpreter's */
	double copied, freed; /* time of copying objects, and of freeing them or others */
} Summary;

static bool has_inlined(const Diagnosing *self, uint32_t instruction, const char *function)
{
	g_autoptr(GArray) chain = lode_own_lines_chain(self->context->own, instruction);

	for (guint i = 0; i < chain->len; i++)
		if (strcmp(g_array_index(chain, LodeInlinedLine, i).function, function) == 0)
			return true;
	return false;
}

/* The code of a service that is inlined into a caller; `seen` are those that have been added. */
static void add_inlined(
	const Diagnosing *self, const Part *part, GHashTable *seen, LodeDiagnosis *diagnosis)
{
	const LodeProfile *profile = self->context->profile;
	const char *name = lode_function_cost_at(self->context->costs, part->service)->name;

	diagnosis->is_inlined = true;
	if (part->caller.function >= profile->functions->len)
		return;
	const LodeFunction *function = lode_profile_function(profile, part->caller.function);
	for (uint32_t i = 0; i < function->n_instructions; i++) {
		uint32_t at = function->first_instruction + i;
		double cost = lode_profile_event_value(profile, self->context->event, at);
		const LodeFindingPlace place = {at, share_of(self, cost)};
		if (cost > 0 && !g_hash_table_contains(seen, GUINT_TO_POINTER(at + 1)) &&
			has_inlined(self, at, name)) {
			g_hash_table_add(seen, GUINT_TO_POINTER(at + 1));
			g_array_append_val(diagnosis->at, place);
		}
	}
}

static void summarise(
	const Diagnosing *self, guint begin, guint end, LodeDiagnosis *diagnosis, Summary *out)
{
	out->names = g_array_new(FALSE, FALSE, sizeof(Sum));
	out->lines = g_array_new(FALSE, FALSE, sizeof(Sum));
	out->is_own = part_at(self, begin)->service == part_at(self, begin)->caller.function;
	out->is_compared = self->keys != NULL && part_at(self, begin)->rule == self->keys;
	out->functions = g_array_new(FALSE, FALSE, sizeof(Sum));
	g_autoptr(GHashTable) seen = g_hash_table_new(NULL, NULL);
	g_autoptr(GHashTable) services = g_hash_table_new(NULL, NULL);
	for (guint i = begin; i < end; i++) {
		const Part *part = part_at(self, i);
		const LodeServiceCaller *caller = &part->caller;
		uint16_t facts = 0;
		if (g_hash_table_add(services, GUINT_TO_POINTER(part->service + 1)))
			out->self +=
				lode_function_cost_at(self->context->costs, part->service)->self;
		out->all += caller->cost;
		out->saves += caller->cost * part->rule->factor;
		add_to_sums(out->names, part->said, 0, i, caller->cost);
		out->copied += copies(part) ? caller->cost : 0;
		out->freed += frees(part) ? caller->cost : 0;
		if (caller->function == LODE_NONE) {
			out->unknown += caller->cost;
			continue;
		}
		const void *function = function_name(self, caller->function);
		add_to_sums(out->functions, function, 0, i, caller->cost);
		Sum *line = add_to_sums(out->lines, caller->file != NULL ? caller->file : function,
			caller->line, i, caller->cost);
		if (line != NULL && copies(part))
			line->copied += caller->cost;
		uint32_t call = i - begin < MOST_CALLERS ? find_call(self, part, &facts)
		                                         : LODE_NONE;
		if (lode_function_cost_at(self->context->costs, part->service)->is_inlined) {
			add_inlined(self, part, seen, diagnosis);
		} else if (call != LODE_NONE) {
			const LodeFindingPlace place = {call, share_of(self, caller->cost)};
			g_array_append_val(diagnosis->at, place);
		}
		out->in_loop += (facts & IN_LOOP) != 0 ? caller->cost : 0;
		out->unchanged += (facts & UNCHANGED) != 0 ? caller->cost : 0;
		out->observed += (facts & SAME_ARGUMENTS) != 0 ? caller->cost : 0;
		if (part->rule->repeated != NULL && (facts & (UNCHANGED | SAME_ARGUMENTS)) != 0)
			out->repeated += caller->cost;
	}
	g_array_sort(out->names, compare_sums);
	g_array_sort(out->lines, compare_sums);
	g_array_sort(out->functions, compare_sums);
}

static void summary_clear(Summary *self)
{
	g_array_unref(self->names);
	g_array_unref(self->lines);
	g_array_unref(self->functions);
}

/* Whether most of what is not freed is of copies. */
static bool is_of_copies(const Summary *sums)
{
	return sums->copied >= MUCH * sums->all && sums->copied >= MOST * (sums->all - sums->freed);
}

/* The user's own line that calls most, if that is much; else what calls most. Copies end elsewhere
 * than they are made. */
static const Sum *main_line(const Diagnosing *self, const Summary *sums)
{
	const Sum *main = NULL;

	for (guint i = 0; i < sums->lines->len; i++) {
		const Sum *line = &g_array_index(sums->lines, Sum, i);
		if (part_at(self, line->first)->caller.file != NULL &&
			line->cost >= NAMED * sums->all &&
			(main == NULL || (is_of_copies(sums) && line->copied > main->copied)))
			main = line;
	}
	return main != NULL ? main : &g_array_index(sums->lines, Sum, 0);
}

/* A service whose cost is more than its own by this share calls others. */
#define CALLS_OTHERS 0.02

static bool calls_others(const Summary *sums)
{
	return sums->all > (1 + CALLS_OTHERS) * sums->self;
}

/* Stacks of a few frames do not reach from all that a function calls back to it. */
static bool is_least(const Diagnosing *self, const Summary *sums)
{
	LodeCallSource source = self->context->services->source;

	return (source == LODE_CALLS_FROM_TOPS || source == LODE_CALLS_INFERRED) &&
	       calls_others(sums);
}

/* Too little of it has a known caller to say who calls. */
static bool is_unknown(const Summary *sums)
{
	return sums->lines->len == 0 || sums->all - sums->unknown < NAMED * sums->all;
}

static void add_evidence(const Diagnosing *self, LodeDiagnosis *diagnosis, const Summary *sums)
{
	double percent = 100 * share_of(self, sums->all);
	g_autofree char *names = names_text(sums->names, sums->all, MOST_LETTERS);
	guint n_names = n_said(sums->names, sums->all, MOST_LETTERS);
	bool is_one = n_names == 1 && !g_str_has_suffix(names, " and others");
	guint n = sums->functions->len;

	g_autofree char *first = said_name(g_array_index(sums->names, Sum, 0).key);
	/* Evidence does not repeat the title. */
	bool is_told = strstr(diagnosis->title, first) != NULL;
	if (sums->is_compared)
		lode_diagnosis_add_evidence(diagnosis, percent, "%",
			"%.1f %% of the %s with all that they call, of it %.0f %% to make keys",
			percent, lode_diagnosis_weight(self->context),
			100 * self->made_keys / sums->all);
	else if (sums->is_own)
		lode_diagnosis_add_evidence(diagnosis, percent, "%",
			"%.1f %% of the %s, without what functions have that are diagnosed",
			percent, lode_diagnosis_weight(self->context));
	else
		lode_diagnosis_add_evidence(diagnosis, percent, "%", "%s%.1f %% of the %s%s%s%s",
			is_least(self, sums) ? "at least " : "", percent,
			lode_diagnosis_weight(self->context),
			!calls_others(sums) ? ""
			: is_one            ? " with all that it calls"
					    : " with all that they call",
			is_told ? "" : ": ", is_told ? "" : names);
	if (is_told && strstr(diagnosis->title, names) == NULL)
		lode_diagnosis_add_evidence(
			diagnosis, n_names, "functions", "called are %s", names);
	if (is_unknown(sums)) {
		lode_diagnosis_add_evidence(diagnosis, 0, "functions", "the callers are not known");
		return;
	}
	const Sum *line = main_line(self, sums);
	g_autofree char *place = line_text(self, line);
	double part = 100 * line->cost / sums->all;
	const char *from = sums->is_own ? "in" : "called from";
	if (n == 1)
		lode_diagnosis_add_evidence(
			diagnosis, part, "%", "%.0f %% of it is %s %s", part, from, place);
	else
		lode_diagnosis_add_evidence(diagnosis, part, "%",
			"%.0f %% of it is %s %s; %u functions %s", part, from, place, n,
			sums->is_own ? "have it" : "call");
	if (self->context->services->source == LODE_CALLS_INFERRED && sums->functions->len > 1)
		lode_diagnosis_add_evidence(diagnosis, sums->functions->len, "functions",
			"how the time is divided among the %u functions that call is an estimate",
			sums->functions->len);
	/* Other functions may have other results when what their arguments point at changes. */
	if (sums->repeated >= MOST * sums->all && sums->unchanged >= MOST * sums->all)
		lode_diagnosis_add_evidence(diagnosis, 100 * sums->unchanged / sums->all, "%",
			"%.0f %% of it is called in loops that do not change the arguments",
			100 * sums->unchanged / sums->all);
	else if (sums->in_loop >= MOST * sums->all)
		lode_diagnosis_add_evidence(diagnosis, 100 * sums->in_loop / sums->all, "%",
			"%.0f %% of it is called in loops", 100 * sums->in_loop / sums->all);
	if (sums->observed >= MOST * sums->all)
		lode_diagnosis_add_evidence(diagnosis, 100 * sums->observed / sums->all, "%",
			"%.0f %% of it is called with the arguments of the call before (windows)",
			100 * sums->observed / sums->all);
	if (sums->unknown >= MUCH * sums->all)
		lode_diagnosis_add_evidence(diagnosis, 100 * sums->unknown / sums->all, "%",
			"of %.0f %% of it the caller is not known",
			100 * sums->unknown / sums->all);
}

/* Whether a function is of code that a run-time compiler made, inlined or not. */
static bool is_compiled(const Diagnosing *self, uint32_t function)
{
	const char *path = lode_function_cost_at(self->context->costs, function)->image;
	const GArray *images = self->context->profile->images;

	for (guint i = 0; i < images->len; i++)
		if (LODE_AT(images, LodeImage, i).kind == LODE_IMAGE_JIT &&
			g_strcmp0(LODE_AT(images, LodeImage, i).path, path) == 0)
			return true;
	return false;
}

/* Whether a function is of the library of Java's virtual machine. */
static bool is_of_hotspot(const Diagnosing *self, uint32_t function)
{
	return g_str_has_suffix(
		lode_function_cost_at(self->context->costs, function)->image, "/libjvm.so");
}

/* The user's own line that calls most, and how many there are. Of Java's code most callers may not
 * be known, and those that are may be others. */
static void set_scope(const Diagnosing *self, LodeDiagnosis *diagnosis, const Summary *sums)
{
	diagnosis->places = sums->lines->len;
	diagnosis->functions = sums->functions->len;
	if (sums->lines->len == 0)
		return;
	const Part *part = part_at(self, main_line(self, sums)->first);
	if (is_unknown(sums) &&
		(is_compiled(self, part->service) || is_of_hotspot(self, part->service))) {
		g_array_set_size(diagnosis->at, 0);
		return;
	}
	uint16_t facts;
	/* A builtin without the user's code around says nothing of who calls. */
	if (part->caller.file == NULL &&
		lode_is_run_time_program(
			lode_function_cost_at(self->context->costs, part->caller.function)->image))
		return;
	diagnosis->instruction = find_call(self, part, &facts);
	diagnosis->function = g_strdup(function_name(self, part->caller.function));
	diagnosis->file = g_strdup(part->caller.file);
	diagnosis->line = part->caller.line;
}

static bool is_of(const Diagnosing *self, guint begin, guint end, uint32_t function)
{
	uint32_t family = self->context->family_of[function];

	for (guint i = begin; i < end; i++)
		if (part_at(self, i)->service == function)
			return true;
	return family != LODE_NONE &&
	       family == self->context->family_of[part_at(self, begin)->service] &&
	       lode_services_find(self->context->services, function, family) == NULL;
}

/* Findings that have half of their time in the services' functions. */
static void add_findings(const Diagnosing *self, guint begin, guint end, LodeDiagnosis *diagnosis)
{
	const LodeFindings *findings = self->context->findings;

	for (uint32_t i = 0; findings != NULL && i < findings->findings->len; i++) {
		const LodeFinding *finding = lode_findings_at(findings, i);
		double time = 0;
		for (uint32_t k = 0; k < finding->n_places; k++) {
			const LodeFindingPlace *place = &g_array_index(
				findings->places, LodeFindingPlace, finding->first_place + k);
			uint32_t function = lode_profile_instruction(
				self->context->profile, place->instruction)
			                            ->function;
			time += is_of(self, begin, end, function) ? place->time : 0;
		}
		if (time >= MOST * finding->time)
			g_array_append_val(diagnosis->findings, i);
	}
}

/* "memory allocation: malloc and free, called in loops", without what has no room in a line. The
 * caller frees it. */
static char *title_text(const char *title, const Summary *sums)
{
	static const char others[] = " and others";
	size_t used = title != NULL ? strlen(title) + strlen(": ") : 0;
	size_t room = used + strlen(others) < TITLE_LETTERS ? TITLE_LETTERS - strlen(others) - used
	                                                    : 0;
	g_autofree char *names = names_text(sums->names, sums->all, room);
	const char *loop = sums->in_loop < MOST * sums->all            ? ""
	                   : n_said(sums->names, sums->all, room) == 1 ? ", called in a loop"
	                                                               : ", called in loops";

	if (title == NULL)
		return g_strconcat(names, loop, NULL);
	if (used + strlen(names) > TITLE_LETTERS)
		return g_strdup(title);
	if (used + strlen(names) + strlen(loop) > TITLE_LETTERS)
		loop = "";
	return g_strconcat(title, ": ", names, loop, NULL);
}

/* Whether most of the services' time is in code of Java or Node.js. Their collectors and compilers
 * call nothing of others. */
static bool is_in_machine(const Diagnosing *self, guint begin, guint end, double all)
{
	const LodeProfile *profile = self->context->profile;
	double cost = 0;

	for (guint i = begin; i < end; i++) {
		const Part *part = part_at(self, i);
		const char *image =
			lode_function_cost_at(self->context->costs, part->service)->image;
		bool is_compiled = part->service < profile->functions->len &&
		                   lode_profile_image(profile,
					   lode_profile_function(profile, part->service)->image)
		                                   ->kind == LODE_IMAGE_JIT;
		if (is_compiled || lode_is_run_time_program(image))
			cost += part->caller.cost;
	}
	return cost >= MOST * all && strcmp(part_at(self, begin)->rule->cause, "service-gc") != 0 &&
	       strcmp(part_at(self, begin)->rule->cause, "service-compiler") != 0;
}

/* --- nodes that share a bucket --- */

/* With a hash that mixes all bits a look-up goes over two nodes on average at most, where a table
 * has as many buckets as elements. */
static const double LONG_CHAIN = 4;

typedef struct {
	const LodeServiceRules *rules;
	const LodeServiceRule *rule;
} Walks;

static bool walks(const char *function, const void *data)
{
	const Walks *self = data;

	return lode_service_rules_walk(self->rules, self->rule, function);
}

/* Gives the rule that takes the place of one whose look-ups go over many nodes; else that one. */
static const LodeServiceRule *rule_of_chains(const Diagnosing *self, const LodeServiceRule *rule,
	const Summary *sums, LodeDiagnosis *diagnosis)
{
	const Walks its = {self->rules, rule};

	if (rule->chains == NULL)
		return rule;
	LodeLongLoops chains = lode_costed_code_long_loops(self->code, LONG_CHAIN, walks, &its);
	if (chains.weight < MOST * sums->all)
		return rule;
	/* The comparisons of keys are the user's, but for the hash. */
	diagnosis->time = share_of(self, MAX(chains.weight, sums->all));
	lode_diagnosis_add_evidence(diagnosis, chains.rounds, "keys",
		"a look-up goes over %.3g%s keys of its bucket on average (%s); with a good hash, "
		"over two at most",
		chains.rounds, chains.is_least ? " or more" : "",
		self->context->profile->frequency == LODE_FREQUENCY_EXACT ? "counted" : "windows");
	return rule->chains;
}

/* The part of a diagnosis's time that the functions have by themselves that it is to be seen by. */
static const double SEEN_BY = 0.03;

static bool is_seen(const Diagnosing *self, const LodeServiceRule *rule, double all)
{
	double cost = 0;

	for (uint32_t i = 0; rule->where != NULL && i < self->context->costs->functions->len; i++) {
		const LodeFunctionCost *one = lode_function_cost_at(self->context->costs, i);
		cost += lode_globs_match(rule->where, one->name) ? one->self : 0;
	}
	return rule->where == NULL || cost >= SEEN_BY * all;
}

static void add_diagnosis(Diagnosing *self, guint begin, guint end, double cost)
{
	const LodeServiceRule *rule = choose_rule(self, begin, end, cost);
	const LodeServiceRule *whole = part_at(self, begin)->whole;
	double share = share_of(self, cost), part = self->total > 0 ? cost / self->total : 0;
	double error = self->samples > 0 ? sqrt(CLAMP(part * (1 - part), 0, 1) / self->samples) *
	                                           self->context->user
	                                 : 0;
	Summary sums = {0};

	if (share < rule->least || share > rule->most || share < 2 * error ||
		!is_seen(self, rule, cost))
		return;
	LodeDiagnosis *diagnosis = lode_diagnosis_new(rule->cause, LODE_SCOPE_SERVICE);
	diagnosis->time = share;
	summarise(self, begin, end, diagnosis, &sums);
	const LodeServiceRule *chained = rule_of_chains(self, rule, &sums, diagnosis);
	bool is_chained = chained != rule;
	rule = chained;
	if (is_of_copies(&sums)) {
		double copied = 100 * sums.copied / sums.all, freed = 100 * sums.freed / sums.all;
		lode_diagnosis_add_evidence(diagnosis, copied, "%",
			"%.0f %% of it makes copies, %.0f %% frees blocks", copied, freed);
	}
	if (rule->repeated != NULL && sums.repeated >= MOST * sums.all)
		rule = rule->repeated;
	g_free(diagnosis->cause);
	diagnosis->cause = g_strdup(rule->cause);
	diagnosis->title = sums.is_own && rule->title != NULL ? g_strdup(rule->title)
	                                                      : title_text(rule->title, &sums);
	diagnosis->service = rule->service != NULL
	                             ? g_strdup(rule->service)
	                             : g_strdup(g_array_index(sums.names, Sum, 0).key);
	/* Which function has most may change from one recording to the next. */
	diagnosis->name = g_strdup_printf(
		"%s@%s", diagnosis->cause, whole->service != NULL ? whole->service : whole->name);
	diagnosis->time_error = error;
	double most = is_in_machine(self, begin, end, cost) ? MOST_SAVED_IN_MACHINES : MOST_SAVED;
	/* The rules' of the functions, unless another one took their place for all. */
	double factor = is_chained ? rule->factor : share_of(self, sums.saves) / share;
	lode_diagnosis_set_saves(diagnosis, LEAST_SAVED * factor, most * factor, MOST_OF_ALL);
	diagnosis->explanation = g_strdup(rule->explanation);
	diagnosis->remedy = g_strdup(rule->remedy);
	diagnosis->source = g_strdup(rule->source);
	add_evidence(self, diagnosis, &sums);
	set_scope(self, diagnosis, &sums);
	add_findings(self, begin, end, diagnosis);
	lode_diagnosis_sort_places(diagnosis);
	g_array_set_size(diagnosis->at, MIN(diagnosis->at->len, LODE_FINDING_PLACES));
	g_ptr_array_add(self->out->diagnoses, diagnosis);
	summary_clear(&sums);
}

LODE_ORDER_OF_POINTERS(
	compare_diagnoses, LodeDiagnosis, LODE_DESCENDING(time), strcmp(left->name, right->name))

/* As samples of equal weight. */
static double equal_samples(const LodeFunctionCosts *costs)
{
	const LodeProfile *profile = costs->profile;
	double n = costs->samples > 0 ? costs->samples : profile->n_samples;

	return profile->n_samples > 0 ? n * lode_profile_equal_samples(profile) / profile->n_samples
	                              : n;
}

void lode_service_diagnoses_add(LodeDiagnoses *out, const LodeCostedCode *code)
{
	const LodeDiagnosisContext *context = code->context;
	const LodeFunctionCosts *costs = context->costs;
	Diagnosing self = {.out = out,
		.code = code,
		.context = context,
		.rules = lode_service_rules_new(context->families),
		.strings = g_string_chunk_new(1 << 10),
		.parts = g_array_new(FALSE, FALSE, sizeof(Part)),
		.total = costs->event != LODE_NONE
	                         ? lode_profile_event(costs->profile, costs->event)->total
	                         : 0,
		.samples = equal_samples(costs)};

	self.facts_of = lode_profile_mark_sets(
		context->profile, call_marks, G_N_ELEMENTS(call_marks));
	self.members = list_members(&self);
	for (guint i = 0; i < context->services->services->len; i++) {
		const LodeService *service = &g_array_index(
			context->services->services, LodeService, i);
		if (service->function != LODE_NONE && service->nearest > LEAST_PART * self.total)
			take_service(&self, service);
	}
	take_steps(&self);
	take_comparisons(&self);
	spread_work(&self);
	join_small(&self);
	join_copies(&self);
	double cost;
	guint first = out->diagnoses->len;
	for (guint i = 0, end; i < self.parts->len; i = end) {
		end = end_of_whole(&self, i, &cost);
		add_diagnosis(&self, i, end, cost);
	}
	if (out->diagnoses->len > first)
		qsort(out->diagnoses->pdata + first, out->diagnoses->len - first, sizeof(void *),
			compare_diagnoses);
	lode_service_rules_free(self.rules);
	g_string_chunk_free(self.strings);
	g_array_unref(self.parts);
	g_array_unref(self.members);
	g_free(self.facts_of);
}
