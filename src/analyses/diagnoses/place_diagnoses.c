/* SPDX-License-Identifier: MIT */
/*
 *   instructions ──▶ rules ──▶ causes ──▶ time by function ──┬─▶ one over functions
 *                                                            └─▶ one for each function
 */
#include "analyses/diagnoses/code_diagnoses.h"

#include "analyses/diagnoses/diagnosis_evidence.h"
#include "base/arrays/sort_order.h"
#include "base/arrays/sum_table.h"
#include "model/findings.h"
#include "model/profile.h"

#include <math.h>
#include <string.h>

/* The least that a diagnosis has: of the processor time, in its errors, and of what as many other
 * instructions around take. */
static const double LEAST_TIME = 0.02, LEAST_ERRORS = 3, LEAST_RATIO = 2;

/* A processor retires several instructions at once, so that equal instructions have unequal
 * samples: the variance is so many times that of independent samples. */
static const double DISPERSION = 2;

/* Functions with a cause are one diagnosis where they count for as many of equal time: two of which
 * neither has twice the other's time count for 1.8. */
static const double LEAST_SPREAD = 1.8;

/* A loop that has this much of a cause is its scope. */
static const double MOST_OF_IT = 0.8;

/* Where a cause limits the loop, samples show a part of its time at other instructions. */
static const double MOST_OF_LIMIT = 3;

/* So many functions are named in evidence, each with this much. */
enum { MOST_NAMED = 3 };
static const double LEAST_NAMED = 0.1;

/* A cause's instructions in one function. */
typedef struct {
	uint32_t function;
	double weight, base; /* base: what as many others around take */
	uint32_t n;
} Part;

LODE_ORDER(compare_parts, Part, LODE_DESCENDING(weight), LODE_ASCENDING(function))
typedef struct {
	LodeDiagnoses *out;
	const LodeCostedCode *code;
	const LodeCauseRules *rules;
	const LodeCauseRule **found; /* of each instruction, NULL: none */
	GHashTable *instructions_of; /* cause → GArray of uint32_t, ascending */
	double *others;              /* of each block, the mean weight of its instructions without
	                                a cause */
	/* The cause at hand. */
	const char *cause;
	const GArray *instructions;
} Search;

/* --- rules --- */

/* Whether a function is diagnosed by what is called: of families, all but interpreters' main loops,
 * which are programs themselves. */
static bool is_service(const LodeDiagnosisContext *context, uint32_t function)
{
	uint32_t family = context->family_of[function];
	const LodeFunction *one = lode_profile_function(context->profile, function);

	return (family != LODE_NONE && strcmp(lode_families_at(context->families, family)->name,
					       "interpreter") != 0) ||
	       lode_profile_image(context->profile, one->image)->kind == LODE_IMAGE_KERNEL;
}

/* The words of each set of attributes, and of each fact. */
static LodeCauseWords *words_of_sets(const LodeProfile *profile, const LodeCauseRules *rules)
{
	guint n_attributes = profile->code.attributes->len, n = profile->code.attribute_sets->len;
	LodeCauseWords *sets = g_new0(LodeCauseWords, n + 1);
	g_autofree LodeCauseWords *words = g_new0(LodeCauseWords, n_attributes + 1);

	for (guint i = 0; i < n_attributes; i++)
		lode_cause_rules_add_words(
			rules, g_ptr_array_index(profile->code.attributes, i), &words[i]);
	for (guint i = 0; i < n; i++) {
		uint32_t n_members;
		const uint32_t *members = lode_profile_set_members(profile, i, &n_members);
		for (uint32_t k = 0; k < n_members; k++)
			lode_cause_words_join(&sets[i], &words[members[k]]);
	}
	return sets;
}

typedef struct {
	const LodeCostedCode *code;
	LodeCauseWords *sets;
	LodeCauseWords facts[LODE_N_CODE_FACTS];
} Words;

static LodeCauseWords words_at(const Words *self, uint32_t instruction)
{
	uint64_t facts = self->code->facts[instruction];
	LodeCauseWords words =
		self->sets[lode_profile_instruction(self->code->context->profile, instruction)
				   ->attribute_set];

	for (unsigned i = 0; i < LODE_N_CODE_FACTS; i++)
		if ((facts >> i & 1) != 0)
			lode_cause_words_join(&words, &self->facts[i]);
	return words;
}

/* Ways that are less often taken than this say nothing of what was waited for. */
static const double LEAST_WAY = 0.25;
enum { MOST_WAYS = 8 };

static size_t words_before(const Words *self, uint32_t instruction, LodeCauseWords *out)
{
	const LodeCostedCode *code = self->code;
	size_t n = 0;
	double all = 0;

	for (uint32_t w = code->way_starts[instruction]; w < code->way_starts[instruction + 1]; w++)
		all += code->ways[w].count;
	for (uint32_t w = code->way_starts[instruction];
		w < code->way_starts[instruction + 1] && n < MOST_WAYS; w++)
		if (code->ways[w].count >= LEAST_WAY * all && code->ways[w].count > 0)
			out[n++] = words_at(self, code->ways[w].source);
	return n;
}

/* The rules that a function's code can be diagnosed by. */
typedef enum {
	BY_ALL_RULES,
	BY_INSTRUCTIONS, /* code of the run-time environment: by those below */
	BY_NONE,
} Diagnosed;

/* Causes that are one instruction's, whoever has written the code around. */
static const char *const causes_of_instructions[] = {"system-call", "service-random", NULL};

static Diagnosed *find_diagnosed(const LodeDiagnosisContext *context)
{
	guint n = context->profile->code.functions->len;
	Diagnosed *diagnosed = g_new0(Diagnosed, MAX(n, 1));

	for (uint32_t i = 0; i < n; i++)
		diagnosed[i] = is_service(context, i)                     ? BY_NONE
		               : lode_costed_code_is_run_time(context, i) ? BY_INSTRUCTIONS
		                                                          : BY_ALL_RULES;
	return diagnosed;
}

static void take_rule(Search *self, uint32_t instruction, const LodeCauseRule *rule)
{
	GArray *instructions = g_hash_table_lookup(self->instructions_of, rule->cause);

	if (instructions == NULL) {
		instructions = g_array_new(FALSE, FALSE, sizeof(uint32_t));
		g_hash_table_insert(self->instructions_of, (char *)rule->cause, instructions);
	}
	g_array_append_val(instructions, instruction);
	self->found[instruction] = rule;
}

static void find_rules(Search *self)
{
	const LodeProfile *profile = self->code->context->profile;
	g_autofree Diagnosed *diagnosed = find_diagnosed(self->code->context);
	g_autofree LodeCauseWords *sets = words_of_sets(profile, self->rules);
	Words words = {self->code, sets, {{{0}}}};
	LodeCauseWords before[MOST_WAYS];

	for (unsigned i = 0; i < LODE_N_CODE_FACTS; i++) {
		g_autofree char *name = lode_code_fact_name(i);
		lode_cause_rules_add_words(self->rules, name, &words.facts[i]);
	}
	for (uint32_t i = 0; i < profile->code.instructions->len; i++) {
		Diagnosed by = diagnosed[lode_profile_instruction(profile, i)->function];
		if (by == BY_NONE)
			continue;
		LodeCauseWords focus = words_at(&words, i);
		size_t n = words_before(&words, i, before);
		const LodeCauseRule *rule = lode_cause_rules_match(
			self->rules, &focus, before, n, NULL, 0);
		if (rule != NULL && rule->cause != NULL &&
			(by == BY_ALL_RULES ||
				g_strv_contains(causes_of_instructions, rule->cause)))
			take_rule(self, i, rule);
	}
}

/* --- time --- */

/* Sums over the instructions of a block or function that have no cause, and the number of those
 * that have one. */
typedef struct {
	double weight, executions;
	uint32_t n, n_causes;
} Around;

static void add_around(Around *around, const Search *self, uint32_t instruction)
{
	if (self->found[instruction] != NULL) {
		around->n_causes++;
		return;
	}
	around->n++;
	around->weight += self->code->weights[instruction];
	around->executions +=
		lode_profile_instruction(self->code->context->profile, instruction)->count;
}

/* A call ends a run of instructions that execute equally often, but blocks are what is known. Where
 * a block has fewer instructions without a cause than with one, they tell little, and may wait for
 * these: others of the function count instead, by their executions, if they take less. */
static void find_others(Search *self)
{
	const LodeProfile *profile = self->code->context->profile;
	g_autofree Around *blocks = g_new0(Around, MAX(profile->code.blocks->len, 1));
	g_autofree Around *functions = g_new0(Around, MAX(profile->code.functions->len, 1));

	for (uint32_t i = 0; i < profile->code.instructions->len; i++) {
		const LodeInstruction *one = lode_profile_instruction(profile, i);
		if (one->block == LODE_NONE)
			continue;
		add_around(&blocks[one->block], self, i);
		add_around(&functions[one->function], self, i);
	}
	for (guint i = 0; i < profile->code.blocks->len; i++) {
		const LodeBlock *block = &LODE_AT(profile->code.blocks, LodeBlock, i);
		const Around *around = &blocks[i], *function = &functions[block->function];
		if (around->n == 0)
			continue;
		self->others[i] = around->weight / around->n;
		if (around->n < around->n_causes && function->executions > 0)
			self->others[i] = MIN(self->others[i],
				function->weight / function->executions * block->count);
	}
}

/* The cause's instructions by function; the caller unrefs it. */
static GArray *parts_of(const Search *self)
{
	const LodeProfile *profile = self->code->context->profile;
	GArray *parts = g_array_new(FALSE, FALSE, sizeof(Part));

	for (guint i = 0; i < self->instructions->len; i++) {
		uint32_t at = g_array_index(self->instructions, uint32_t, i);
		const LodeInstruction *one = lode_profile_instruction(profile, at);
		Part *last = parts->len > 0 ? &g_array_index(parts, Part, parts->len - 1) : NULL;
		if (last == NULL || last->function != one->function) {
			Part part = {.function = one->function};
			g_array_append_val(parts, part);
			last = &g_array_index(parts, Part, parts->len - 1);
		}
		last->weight += self->code->weights[at];
		last->base += one->block != LODE_NONE ? self->others[one->block] : 0;
		last->n++;
	}
	g_array_sort(parts, compare_parts);
	return parts;
}

static double error_of(const LodeDiagnosisContext *context, double weight)
{
	double samples = lode_profile_equal_samples(context->profile);
	double unit = samples > 0 ? context->total / samples : 0;

	return sqrt(weight * unit * DISPERSION);
}

/* Whether the parts from first to end are worth a diagnosis together. */
static bool is_enough(const Search *self, const GArray *parts, guint first, guint end)
{
	const LodeDiagnosisContext *context = self->code->context;
	double weight = 0, base = 0;

	for (guint i = first; i < end; i++) {
		weight += g_array_index(parts, Part, i).weight;
		base += g_array_index(parts, Part, i).base;
	}
	double time = weight - base;
	return time >= LEAST_TIME / context->user * context->total &&
	       time >= LEAST_ERRORS * error_of(context, weight) && weight >= LEAST_RATIO * base;
}

/* --- diagnoses --- */

/* The rule with most of the weight gives the words. */
static const LodeCauseRule *main_rule(const Search *self, const LodeDiagnosis *diagnosis)
{
	g_autoptr(GHashTable) times = g_hash_table_new_full(NULL, NULL, NULL, g_free);
	const LodeCauseRule *best = NULL;
	double most = -1;

	for (guint i = 0; i < diagnosis->at->len; i++) {
		const LodeFindingPlace *place = &g_array_index(diagnosis->at, LodeFindingPlace, i);
		const LodeCauseRule *rule = self->found[place->instruction];
		double *time = lode_sum_at(times, rule);
		*time += place->time;
		if (*time > most) {
			most = *time;
			best = rule;
		}
	}
	return best;
}

static void take_places(const Search *self, LodeDiagnosis *diagnosis, const bool *is_of)
{
	const LodeDiagnosisContext *context = self->code->context;
	const LodeProfile *profile = context->profile;

	for (guint i = 0; i < self->instructions->len; i++) {
		uint32_t at = g_array_index(self->instructions, uint32_t, i);
		if (!is_of[lode_profile_instruction(profile, at)->function] ||
			self->code->weights[at] <= 0)
			continue;
		LodeFindingPlace place = {
			at, self->code->weights[at] / context->total * context->user};
		g_array_append_val(diagnosis->at, place);
	}
	diagnosis->places = diagnosis->at->len;
	lode_diagnosis_sort_places(diagnosis);
}

/* The loop of the costliest place, if most of the time is in it; LODE_NONE: not. */
static uint32_t loop_of(const Search *self, const LodeDiagnosis *diagnosis)
{
	double all = 0, in = 0;
	uint32_t loop = LODE_NONE;

	for (guint i = 0; i < diagnosis->at->len; i++) {
		const LodeFindingPlace *place = &g_array_index(diagnosis->at, LodeFindingPlace, i);
		uint32_t its = self->code->loops[place->instruction];
		if (i == 0)
			loop = its;
		all += place->time;
		in += its == loop ? place->time : 0;
	}
	return in >= MOST_OF_IT * all ? loop : LODE_NONE;
}

/*
 * All time of the loops that the places are in, or of the functions outside of loops, and what is
 * left of it when the cause is gone, as far as the other bounds of each loop tell.
 */
/* What a function takes outside of loops: what waits there for a cause may be any of it. */
static double weight_outside_loops(const LodeCostedCode *code, uint32_t function)
{
	const LodeFunction *one = lode_profile_function(code->context->profile, function);
	double weight = 0;

	for (uint32_t i = 0; i < one->n_instructions; i++)
		if (code->loops[one->first_instruction + i] == LODE_NONE)
			weight += code->weights[one->first_instruction + i];
	return weight;
}

static double most_saved(const Search *self, const LodeDiagnosis *diagnosis)
{
	const LodeCostedCode *code = self->code;
	const LodeProfile *profile = code->context->profile;
	g_autoptr(GHashTable) seen = g_hash_table_new(NULL, NULL);
	g_autoptr(GHashTable) functions = g_hash_table_new(NULL, NULL);
	double saved = 0;

	for (guint i = 0; i < diagnosis->at->len; i++) {
		uint32_t at = g_array_index(diagnosis->at, LodeFindingPlace, i).instruction;
		uint32_t loop = code->loops[at];
		if (loop == LODE_NONE) {
			uint32_t function = lode_profile_instruction(profile, at)->function;
			if (g_hash_table_add(functions, GUINT_TO_POINTER(function + 1)))
				saved += weight_outside_loops(code, function);
			continue;
		}
		if (!g_hash_table_add(seen, GUINT_TO_POINTER(loop + 1)))
			continue;
		saved += code->loop_weights[loop] *
		         (1 - lode_rest_of_loop(code, &LODE_AT(profile->loops, LodeLoop, loop),
				      diagnosis->cause));
	}
	return MIN(saved / code->context->total, 1) * code->context->user;
}

/* Whether most of it is in loops that take as long as they do for this cause alone. */
static bool is_limit(const Search *self, const LodeDiagnosis *diagnosis)
{
	const GArray *loops = self->code->context->profile->loops;
	double all = 0, limited = 0;

	for (guint i = 0; i < diagnosis->at->len; i++) {
		const LodeFindingPlace *place = &g_array_index(diagnosis->at, LodeFindingPlace, i);
		uint32_t loop = self->code->loops[place->instruction];
		all += place->time;
		if (loop != LODE_NONE && lode_is_limit_of_loop(self->code,
						 &LODE_AT(loops, LodeLoop, loop), diagnosis->cause))
			limited += place->time;
	}
	return limited >= MOST_OF_IT * all;
}

/* "57 % of it in sum, 43 % in count": where few functions have most of it. */
static void add_functions(const Search *self, LodeDiagnosis *diagnosis, const GArray *parts,
	guint first, guint end, double weight)
{
	g_autoptr(GString) text = g_string_new(NULL);
	double named = 0;

	for (guint i = first; i < end && i < first + MOST_NAMED; i++) {
		const Part *part = &g_array_index(parts, Part, i);
		if (part->weight < LEAST_NAMED * weight)
			break;
		named += part->weight;
		g_string_append_printf(text, "%s%.0f %% %sin %s", i > first ? ", " : "",
			100 * part->weight / weight, i > first ? "" : "of it ",
			lode_profile_function(self->code->context->profile, part->function)->name);
	}
	if (end - first > 1 && named >= MOST_OF_IT * weight)
		lode_diagnosis_add_evidence(diagnosis, 100 * named / weight, "%", "%s", text->str);
}

/* Adds one of the parts from first to end. */
static void add_diagnosis(Search *self, const GArray *parts, guint first, guint end)
{
	const LodeDiagnosisContext *context = self->code->context;
	g_autofree bool *is_of = g_new0(bool, context->profile->code.functions->len + 1);
	g_autoptr(LodeDiagnosis) diagnosis = lode_diagnosis_new(
		self->cause, end - first == 1 ? LODE_SCOPE_FUNCTION : LODE_SCOPE_FUNCTIONS);
	double weight = 0, base = 0;

	for (guint i = first; i < end; i++) {
		const Part *part = &g_array_index(parts, Part, i);
		is_of[part->function] = true;
		weight += part->weight;
		base += part->base;
		diagnosis->functions += part->weight > 0;
	}
	take_places(self, diagnosis, is_of);
	const LodeCauseRule *rule = main_rule(self, diagnosis);
	diagnosis->title = g_strdup(rule->title);
	lode_diagnosis_set_texts(diagnosis, rule->explanation, rule->remedy, rule->source);
	diagnosis->time = (weight - base) / context->total * context->user;
	diagnosis->time_error = error_of(context, weight) / context->total * context->user;
	double most = is_limit(self, diagnosis) ? MAX(rule->most, MOST_OF_LIMIT) : rule->most;
	double limit = most_saved(self, diagnosis);
	lode_diagnosis_set_saves(diagnosis, rule->least, most, limit);
	if (diagnosis->scope == LODE_SCOPE_FUNCTION && loop_of(self, diagnosis) != LODE_NONE)
		diagnosis->scope = LODE_SCOPE_LOOP;
	lode_place_evidence_add(diagnosis, self->code, weight, base);
	add_functions(self, diagnosis, parts, first, end, weight);
	if (MIN(limit, most * diagnosis->time) >= LEAST_TIME)
		g_ptr_array_add(self->out->diagnoses, g_steal_pointer(&diagnosis));
}

static double spread_of(const GArray *parts)
{
	double sum = 0, squares = 0;

	for (guint i = 0; i < parts->len; i++) {
		const Part *part = &g_array_index(parts, Part, i);
		double time = MAX(part->weight - part->base, 0);
		sum += time;
		squares += time * time;
	}
	return squares > 0 ? sum * sum / squares : 0;
}

static void diagnose_cause(Search *self)
{
	g_autoptr(GArray) parts = parts_of(self);

	if (spread_of(parts) >= LEAST_SPREAD) {
		if (is_enough(self, parts, 0, parts->len))
			add_diagnosis(self, parts, 0, parts->len);
		return;
	}
	for (guint i = 0; i < parts->len; i++)
		if (is_enough(self, parts, i, i + 1))
			add_diagnosis(self, parts, i, i + 1);
}

/* The innermost loop of the costliest place; LODE_NONE: none. */
static uint32_t first_loop(const LodeCostedCode *code, const LodeDiagnosis *self)
{
	return self->at->len > 0
	               ? code->loops[g_array_index(self->at, LodeFindingPlace, 0).instruction]
	               : LODE_NONE;
}

static bool has_fact(const LodeCostedCode *code, const LodeDiagnosis *self, unsigned fact)
{
	bool has = false;

	for (guint i = 0; i < self->at->len && !has; i++)
		has = (code->facts[g_array_index(self->at, LodeFindingPlace, i).instruction] >>
				      fact &
			      1) != 0;
	return has;
}

/* Whether a diagnosis is of sums that wait for themselves in a loop that walks across lines: when
 * the loops are exchanged, each goes to an element of its own. */
static bool is_sum_of_walk(
	const LodeCostedCode *code, const LodeDiagnosis *sum, const LodeDiagnosis *walk)
{
	uint32_t loop = first_loop(code, walk);

	return loop != LODE_NONE && loop == first_loop(code, sum) &&
	       has_fact(code, walk, LODE_CODE_ACROSS) &&
	       (strcmp(sum->cause, "recurrence-fp") == 0 ||
		       strcmp(sum->cause, "recurrence-alu") == 0);
}

static void join_sums_with_walks(LodeDiagnoses *out, const LodeCostedCode *code)
{
	for (guint i = out->diagnoses->len; i-- > 0;) {
		const LodeDiagnosis *sum = lode_diagnoses_at(out, i);
		LodeDiagnosis *found = NULL;
		for (guint k = 0; k < out->diagnoses->len; k++)
			if (k != i && is_sum_of_walk(code, sum, lode_diagnoses_at(out, k)))
				found = lode_diagnoses_at(out, k);
		if (found == NULL)
			continue;
		found->high = MAX(found->high, sum->high);
		found->time = MAX(found->time, sum->time);
		lode_diagnosis_add_evidence(found, 100 * sum->time, "%",
			"in the same loop %s; exchanged loops have none", sum->title);
		g_ptr_array_remove_index(out->diagnoses, i);
	}
}

void lode_place_diagnoses_add(
	LodeDiagnoses *out, const LodeCostedCode *code, const LodeCauseRules *rules)
{
	const LodeProfile *profile = code->context->profile;
	g_autoptr(GHashTable) instructions_of = g_hash_table_new_full(
		g_str_hash, g_str_equal, NULL, (GDestroyNotify)g_array_unref);
	g_autofree const LodeCauseRule **found = g_new0(
		const LodeCauseRule *, MAX(profile->code.instructions->len, 1));
	g_autofree double *others = g_new0(double, MAX(profile->code.blocks->len, 1));
	Search self = {out, code, rules, found, instructions_of, others, NULL, NULL};

	if (!(code->context->total > 0))
		return;
	find_rules(&self);
	find_others(&self);
	for (size_t i = 0; i < lode_cause_rules_n(rules); i++) {
		self.cause = lode_cause_rules_at(rules, i)->cause;
		self.instructions = self.cause != NULL
		                            ? g_hash_table_lookup(instructions_of, self.cause)
		                            : NULL;
		if (self.instructions == NULL)
			continue;
		diagnose_cause(&self);
		g_hash_table_remove(instructions_of, self.cause);
	}
	join_sums_with_walks(out, code);
}
