/* SPDX-License-Identifier: MIT */
#include "analyses/diagnoses/thread_diagnoses.h"

#include "analyses/memory/objects/line_sharing.h"
#include "model/findings.h"
#include "model/memory.h"
#include "model/profile.h"

#include <math.h>

/* The least of the processor time, and in its errors. */
static const double LEAST_TIME = 0.02, LEAST_ERRORS = 3;

/* Threads that hand a line over seldom do not wait for each other: so much less often than in a
 * random order of their samples, where there are enough of them to tell. */
static const double SELDOM = 0.5;
enum { MANY_TURNS = 8, NAMED_OBJECTS = 3 };

/* Lines of one kind together. */
typedef struct {
	double weight, square_error, other_bytes;
	uint32_t n_lines, n_threads; /* threads of the line with most */
	double turns, expected_turns;
	const LodeSharingAccess *heaviest;
	GPtrArray *objects; /* names, borrowed */
	GHashTable *places; /* of accesses: location + 1 */
} Sum;

static bool is_seldom(double turns, double expected)
{
	return expected >= MANY_TURNS && turns < SELDOM * expected;
}

static const LodeSharingAccess *access_at(
	const LodeLineSharing *sharing, const LodeSharedLine *line, uint32_t i)
{
	return &LODE_AT(sharing->accesses, LodeSharingAccess, line->first_access + i);
}

static void add_line(Sum *sum, const LodeProfile *profile, const LodeLineSharing *sharing,
	const LodeSharedLine *line)
{
	sum->weight += line->true_weight + line->false_weight;
	sum->square_error += line->weight_error * line->weight_error;
	sum->other_bytes += line->false_weight;
	sum->n_lines++;
	sum->turns += (double)line->turns;
	sum->expected_turns += line->expected_turns;
	sum->n_threads = MAX(sum->n_threads, line->n_threads);
	for (uint32_t i = 0; i < line->n_accesses; i++) {
		const LodeSharingAccess *access = access_at(sharing, line, i);
		const char *name = lode_memory_object_name(profile->memory, access->object);
		if (sum->heaviest == NULL)
			sum->heaviest = access;
		if (access->location != LODE_NONE)
			g_hash_table_add(sum->places, GUINT_TO_POINTER(access->location + 1));
		if (name != NULL && sum->objects->len < NAMED_OBJECTS &&
			!g_ptr_array_find_with_equal_func(sum->objects, name, g_str_equal, NULL))
			g_ptr_array_add(sum->objects, (char *)name);
	}
}

static void take_place(LodeDiagnosis *self, const LodeProfile *profile, const Sum *sum)
{
	const LodeSharingAccess *access = sum->heaviest;

	if (access->function < profile->code.functions->len)
		self->site.function = g_strdup(
			lode_profile_function(profile, access->function)->name);
	if (access->location < profile->code.locations->len) {
		const LodeLocation *location = &LODE_AT(
			profile->code.locations, LodeLocation, access->location);
		self->site.file = g_strdup(location->file);
		self->site.line = location->line;
	}
	if (sum->objects->len > 0) {
		g_ptr_array_add(sum->objects, NULL);
		self->object = g_strjoinv(", ", (char **)sum->objects->pdata);
	}
}

/* The instructions of the accesses' lines. */
static void take_instructions(
	LodeDiagnosis *self, const LodeDiagnosisContext *context, const Sum *sum)
{
	const LodeProfile *profile = context->profile;
	uint32_t last = LODE_NONE;

	for (uint32_t i = 0; i < profile->code.instructions->len; i++) {
		uint32_t function = lode_profile_instruction(profile, i)->function;
		uint32_t location = lode_profile_instruction(profile, i)->location;
		double weight = lode_profile_event_value(profile, context->event, i);
		LodeFindingPlace place = {i, weight / context->total * context->user};
		if (location == LODE_NONE || weight <= 0 ||
			!g_hash_table_contains(sum->places, GUINT_TO_POINTER(location + 1)))
			continue;
		g_array_append_val(self->at, place);
		self->places++;
		self->functions += function != last;
		last = function;
	}
	lode_diagnosis_sort_places(self);
}

static void take_texts(LodeDiagnosis *self, bool is_false)
{
	self->title = g_strdup(is_false ? "a cache line with different data of several threads"
					: "data that several threads change");
	self->explanation = g_strdup(
		is_false
			? "Threads use different bytes of the same cache line, and at least one "
			  "of them stores: each store takes the line away from the others, though "
			  "they share no data (false sharing)."
			: "Threads use the same bytes, and at least one of them stores: each store "
			  "takes the line away from the others.");
	self->remedy = g_strdup(
		is_false
			? "Align what each thread writes to a cache line of its own (alignas(64)); "
			  "or keep it in a local variable and store it at the end."
			: "Count per thread and add up at the end; write less often; keep what is "
			  "read often apart from what is written.");
	self->source = g_strdup("Linux kernel documentation, False Sharing; perf-c2c(1)");
}

static void add_sum(LodeDiagnoses *out, const LodeDiagnosisContext *context,
	const LodeLineSharing *sharing, const Sum *sum)
{
	double scale = context->user / sharing->total.weight;
	double time = sum->weight * scale, error = sqrt(sum->square_error) * scale;

	/* A task that moves between threads, as Go's do, takes its lines along. */
	if (time < LEAST_TIME || time < LEAST_ERRORS * error || sum->expected_turns < MANY_TURNS ||
		is_seldom(sum->turns, sum->expected_turns))
		return;
	LodeDiagnosis *one = lode_diagnosis_new("shared-line", LODE_SCOPE_OBJECT);
	bool is_false = 2 * sum->other_bytes >= sum->weight;
	take_texts(one, is_false);
	take_place(one, context->profile, sum);
	take_instructions(one, context, sum);
	one->time = one->high = time;
	one->time_error = error;
	lode_diagnosis_add_evidence(one, 100 * time, "%",
		"%.1f %% of the time in %u line%s that %u threads use at the same time", 100 * time,
		sum->n_lines, sum->n_lines == 1 ? "" : "s", sum->n_threads);
	lode_diagnosis_add_evidence(one, 100 * sum->other_bytes / sum->weight, "%",
		"%.0f %% of what may have taken the lines away was to other bytes of them",
		100 * sum->other_bytes / sum->weight);
	g_ptr_array_add(out->diagnoses, one);
}

void lode_sharing_diagnoses_add(LodeDiagnoses *out, const LodeDiagnosisContext *context)
{
	const LodeProfile *profile = context->profile;

	if (profile->memory == NULL || profile->memory->threads->len < 2 ||
		!profile->memory->is_stall_weighted || !(context->total > 0))
		return;
	guint n = profile->memory->samples->len;
	g_autofree uint32_t *all = g_new(uint32_t, MAX(n, 1));
	for (guint i = 0; i < n; i++)
		all[i] = i;
	const LodeLineSharingOptions options = {.line_bytes = 64};
	g_autoptr(GArray) samples = lode_line_sharing_choose(profile, all, n);
	g_autoptr(LodeLineSharing) sharing = lode_line_sharing_new(
		profile, (const uint32_t *)(const void *)samples->data, samples->len, &options);
	if (!(sharing->total.weight > 0))
		return;
	for (unsigned is_false = 0; is_false < 2; is_false++) {
		g_autoptr(GPtrArray) objects = g_ptr_array_new();
		g_autoptr(GHashTable) places = g_hash_table_new(NULL, NULL);
		Sum sum = {.objects = objects, .places = places};
		for (guint i = 0; i < sharing->lines->len; i++) {
			const LodeSharedLine *line = &LODE_AT(sharing->lines, LodeSharedLine, i);
			if ((line->false_weight >= line->true_weight) == is_false &&
				!is_seldom((double)line->turns, line->expected_turns))
				add_line(&sum, profile, sharing, line);
		}
		if (sum.heaviest != NULL)
			add_sum(out, context, sharing, &sum);
	}
}
