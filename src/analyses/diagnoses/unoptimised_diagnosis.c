/* SPDX-License-Identifier: MIT */
#include "analyses/diagnoses/code_diagnoses.h"

#include "analyses/diagnoses/code/code_shapes.h"
#include "images/instructions/register_use.h"
#include "model/code.h"
#include "model/findings.h"
#include "model/lines/own_lines.h"
#include "model/run/program_run.h"

#include <math.h>
#include <string.h>

/* --- functions --- */

/* gcc and clang set up a frame pointer, and each statement loads what it uses: next to no
 * instruction uses what another block has left in a register. So it is in 562 of 568 functions of
 * 32 programs by gcc 12 and clang 14 with -O0, and in 5 of 628 with -Og to -O2, also with
 * -fno-omit-frame-pointer; with two variables in the frame, too, in none of them. */
static const double MOST_CARRIED = 0.02;
/* rustc sets up none; then more of the instructions access the frame. */
static const double LEAST_FRAME = 0.3, MOST_CARRIED_OF_RUST = 0.06;
/* These use registers that only an allocator of them needs. */
static const double MOST_RARE = 0.05;
/* Short functions hand arguments on, and those of fewer variables may have volatile ones: they are
 * unoptimised where others with so much of the image's time are. */
static const double LEAST_OF_IMAGE = 0.1;
enum {
	LEAST_INSTRUCTIONS = 5,
	SHORT = 16,
	LEAST_VARIABLES = 3,
	FEW_VARIABLES = 2,
	MOST_PROLOGUE = 4,
	RSP = 4,
	RBP = 5
};

static const LodeRegisterMask frame_registers = LODE_BIT(RSP) | LODE_BIT(RBP);
/* Results of calls, and of conditional expressions. */
static const LodeRegisterMask result_registers = LODE_BIT(0) | LODE_BIT(2) |
                                                 LODE_BIT(LODE_BIT_VECTOR) |
                                                 LODE_BIT(LODE_BIT_VECTOR + 1);
/* r12 to r15, and the upper vector registers. */
static const LodeRegisterMask rare_registers = (LodeRegisterMask)0xf << 12 |
                                               (LodeRegisterMask)0xffffff << (LODE_BIT_VECTOR + 8);
static const LodeRegisterMask data_registers = 0xffff | (LodeRegisterMask)0xffffffff
                                                                << LODE_BIT_VECTOR;

/* Counts of the instructions of a function. */
typedef struct {
	double n, frame, carried, rare;
	bool has_pointer;   /* push rbp; mov rbp, rsp */
	GHashTable *stored; /* displacements in the frame, with the base */
	GHashTable *loaded; /* of them */
} Traits;

static gpointer variable_of(const LodeMemoryUse *memory)
{
	return GSIZE_TO_POINTER((gsize)memory->displacement << 4 | (gsize)(memory->base << 1) | 1);
}

static bool is_in_frame(const LodeMemoryUse *memory)
{
	return memory->size > 0 && (memory->base == RSP || memory->base == RBP);
}

/* `known` are the registers that the block has written. */
static void add_instruction(Traits *self, const LodeRegisterUse *use, LodeRegisterMask known)
{
	const LodeMemoryUse *memory = &use->memory;
	bool is_frame = is_in_frame(memory);
	LodeRegisterMask read = use->reads & data_registers & ~(known | frame_registers);

	/* Arguments are stored at entry, registers of the caller are pushed. */
	bool is_kept = (is_frame && memory->is_store && !memory->is_load) ||
	               (use->changes & LODE_BIT(RSP)) != 0;
	self->n++;
	self->frame += is_frame;
	self->carried += read != 0 && !is_kept;
	self->rare += ((use->reads | use->writes) & rare_registers) != 0;
	if (is_frame && memory->is_store)
		g_hash_table_add(self->stored, variable_of(memory));
	if (is_frame && memory->is_load && g_hash_table_contains(self->stored, variable_of(memory)))
		g_hash_table_add(self->loaded, variable_of(memory));
}

typedef enum {
	IS_NOT,
	IS_BESIDE, /* if others of the image are */
	IS_UNOPTIMISED,
} Verdict;

static Verdict judge_traits(const Traits *self)
{
	double most_carried = self->has_pointer ? MOST_CARRIED : MOST_CARRIED_OF_RUST;
	double least_frame = self->has_pointer ? 0 : LEAST_FRAME;
	bool is_short = self->n <= SHORT;
	guint least = self->has_pointer || is_short ? FEW_VARIABLES : LEAST_VARIABLES;

	if (self->rare > MOST_RARE * self->n)
		return IS_NOT;
	if (self->n >= LEAST_INSTRUCTIONS && self->carried <= most_carried * self->n &&
		self->frame >= least_frame * self->n && g_hash_table_size(self->stored) >= least &&
		g_hash_table_size(self->loaded) >= least)
		return IS_UNOPTIMISED;
	return self->has_pointer && (is_short || self->carried <= MOST_CARRIED * self->n)
	               ? IS_BESIDE
	               : IS_NOT;
}

/* Whether rbp is written with rsp, which push does not write. */
static bool sets_frame(const LodeRegisterUse *use)
{
	return use->writes == LODE_BIT(RBP) && use->reads == LODE_BIT(RSP);
}

static Verdict judge(
	const LodeProfile *profile, const LodeFunction *function, LodeRegisterUseCache *cache)
{
	g_autoptr(GHashTable) stored = g_hash_table_new(NULL, NULL);
	g_autoptr(GHashTable) loaded = g_hash_table_new(NULL, NULL);
	Traits traits = {.stored = stored, .loaded = loaded};
	uint32_t block = LODE_NONE;
	LodeRegisterMask known = 0;
	LodeRegisterUse use;
	size_t size;

	for (uint32_t i = 0; i < function->n_instructions; i++) {
		uint32_t at = function->first_instruction + i;
		const LodeInstruction *one = lode_profile_instruction(profile, at);
		const uint8_t *bytes = lode_code_bytes(profile, at, &size);
		if (bytes == NULL ||
			!lode_register_use_cache_decode(cache, &use, bytes, size, one->address))
			return IS_NOT;
		if (one->block != block)
			known = result_registers;
		block = one->block;
		add_instruction(&traits, &use, known);
		traits.has_pointer |= i < MOST_PROLOGUE && sets_frame(&use);
		known |= use.writes | use.kills;
	}
	return judge_traits(&traits);
}

/* Whether each function is. The caller frees it. */
static bool *find_functions(const LodeCostedCode *code)
{
	const LodeProfile *profile = code->context->profile;
	guint n = lode_code_of(profile)->functions->len;
	bool *found = g_new0(bool, MAX(n, 1));
	g_autofree Verdict *verdicts = g_new0(Verdict, MAX(n, 1));
	g_autofree double *all = g_new0(double, MAX(lode_code_of(profile)->images->len, 1));
	g_autofree double *sure = g_new0(double, MAX(lode_code_of(profile)->images->len, 1));
	LodeRegisterUseCache *cache = lode_register_use_cache_new();

	for (uint32_t i = 0; i < n; i++) {
		const LodeFunction *function = lode_profile_function(profile, i);
		const LodeImage *image = lode_profile_image(profile, function->image);
		if (image->kind != LODE_IMAGE_FILE || lode_is_system_library(image->path))
			continue;
		verdicts[i] = judge(profile, function, cache);
		for (uint32_t k = 0; k < function->n_instructions; k++) {
			double weight = code->weights[function->first_instruction + k];
			all[function->image] += weight;
			sure[function->image] += verdicts[i] == IS_UNOPTIMISED ? weight : 0;
		}
	}
	lode_register_use_cache_free(cache);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t image = lode_profile_function(profile, i)->image;
		found[i] = verdicts[i] == IS_UNOPTIMISED ||
		           (verdicts[i] == IS_BESIDE && sure[image] > 0 &&
				   sure[image] >= LEAST_OF_IMAGE * all[image]);
	}
	return found;
}

/* --- the diagnosis --- */

/* Less is a file that happens to be built for debugging. */
static const double LEAST_TIME = 0.1, MOST_SAVED = 0.99;

static const LodeCauseRule *find_rule(const LodeCauseRules *rules)
{
	for (size_t i = 0; i < lode_cause_rules_n(rules); i++) {
		const LodeCauseRule *rule = lode_cause_rules_at(rules, i);
		if (g_strcmp0(rule->cause, LODE_UNOPTIMISED) == 0)
			return rule;
	}
	return NULL;
}

/* The weight of the functions, and where it is. */
static double take_places(
	LodeDiagnosis *self, const LodeCostedCode *code, const bool *is_unoptimised)
{
	const LodeDiagnosisContext *context = code->context;
	const LodeProfile *profile = context->profile;
	uint32_t last = LODE_NONE;
	double weight = 0;

	for (uint32_t i = 0; i < lode_code_of(profile)->instructions->len; i++) {
		uint32_t function = lode_profile_instruction(profile, i)->function;
		if (!is_unoptimised[function] || code->weights[i] <= 0)
			continue;
		const LodeFindingPlace place = {
			i, code->weights[i] / context->total * context->user};
		g_array_append_val(self->at, place);
		weight += code->weights[i];
		self->functions += function != last;
		last = function;
	}
	self->places = self->at->len;
	lode_diagnosis_sort_places(self);
	return weight;
}

void lode_unoptimised_diagnosis_add(
	LodeDiagnoses *out, const LodeCostedCode *code, const LodeCauseRules *rules)
{
	const LodeDiagnosisContext *context = code->context;
	const LodeCauseRule *rule = find_rule(rules);
	g_autofree bool *is_unoptimised = find_functions(code);
	g_autoptr(LodeDiagnosis)
		diagnosis = lode_diagnosis_new(LODE_UNOPTIMISED, LODE_SCOPE_FUNCTIONS);

	if (rule == NULL || !(context->total > 0))
		return;
	double share = take_places(diagnosis, code, is_unoptimised) / context->total;
	double samples = lode_profile_equal_samples(context->profile);
	double error = samples > 0 ? sqrt(share * (1 - MIN(share, 1)) / samples) : 0;
	if (share < LEAST_TIME || share < 2 * error)
		return;
	diagnosis->time = share * context->user;
	diagnosis->time_error = error * context->user;
	diagnosis->title = g_strdup(rule->title);
	lode_diagnosis_set_texts(diagnosis, rule->explanation, rule->remedy, rule->source);
	lode_diagnosis_set_saves(diagnosis, rule->least, rule->most, MOST_SAVED);
	lode_diagnosis_add_evidence(diagnosis, 100 * diagnosis->time, "%",
		"%.1f %% of the time in %u function%s whose variables are in the frame, not in "
		"registers",
		100 * diagnosis->time, diagnosis->functions, diagnosis->functions == 1 ? "" : "s");
	g_ptr_array_add(out->diagnoses, g_steal_pointer(&diagnosis));
}
