/* SPDX-License-Identifier: MIT */
/*
 * Whose waits those of an event loop are. While it waits, no code of the user's is on the stack;
 * what the thread runs in between says who asks.
 *
 *   wait ─▶ run-time environment ─▶ loadUser() ─▶ fetch() ─▶ wait ─▶ …
 */
#include "analyses/diagnoses/waits/wait_bundles.h"

#include "base/arrays/sum_table.h"
#include "model/code.h"
#include "model/lines/own_lines.h"
#include "model/process.h"
#include "model/stacks.h"

#include <string.h>

/* Of the samples between the waits that have own code: so many, and this part, are of one. */
enum { FEWEST_SAMPLES = 4 };
static const double MUCH = 0.2;

static bool does_wait(const LodeWaitBundle *bundle, uint32_t pid, uint32_t tid)
{
	uint64_t key = (uint64_t)pid << 32 | tid;

	return g_hash_table_contains(bundle->threads, &key);
}

/* When the first of the waits begins; 0: not known. What ran before is the program's start. */
static uint64_t first_wait_ns(const LodeWaitDiagnosing *self, const LodeWaitBundle *bundle)
{
	uint64_t first_ns = 0;

	for (guint i = 0; i < self->waits->slices->len; i++) {
		const LodeWaitSlice *slice = &LODE_AT(self->waits->slices, LodeWaitSlice, i);
		if (slice->kind == bundle->first->reason &&
			does_wait(bundle, slice->pid, slice->tid) &&
			(first_ns == 0 || slice->begin_ns < first_ns))
			first_ns = slice->begin_ns;
	}
	return first_ns;
}

/* Whether code at a path was made at run time. */
static bool is_made(const LodeProfile *profile, const char *path)
{
	for (uint32_t i = 0; i < lode_code_of(profile)->images->len; i++) {
		const LodeImage *image = lode_profile_image(profile, i);
		if (image->kind == LODE_IMAGE_JIT && strcmp(image->path, path) == 0)
			return true;
	}
	return false;
}

/* The outermost frame of the user's code that a virtual machine made; NULL: none. */
static const LodeFrame *outermost_own(const LodeWaitDiagnosing *self, uint32_t stack)
{
	const LodeStacks *stacks = lode_stacks_of(self->profile);
	const LodeFrame *found = NULL;

	while (stack < stacks->stacks->len) {
		const LodeStack *at = &LODE_AT(stacks->stacks, LodeStack, stack);
		const LodeFrame *frame = &LODE_AT(stacks->frames, LodeFrame, at->frame);
		if (frame->function != NULL && frame->image != NULL &&
			lode_own_lines_is_own_frame(self->own, frame) &&
			is_made(self->profile, frame->image))
			found = frame;
		stack = at->outer;
	}
	return found;
}

/* Of one function, or with NULL of all, the frame with most weight. */
static const LodeFrame *find_most(const GPtrArray *frames, const GArray *weights,
	const char *function, double *out_best, double *out_all)
{
	g_autoptr(GHashTable) sums = g_hash_table_new_full(NULL, NULL, NULL, g_free);
	const LodeFrame *most = NULL;

	*out_best = *out_all = 0;
	for (guint i = 0; i < frames->len; i++) {
		const LodeFrame *frame = g_ptr_array_index(frames, i);
		if (function != NULL && (frame->function != function || frame->line == 0))
			continue;
		double weight = g_array_index(weights, double, i);
		double *sum = lode_sum_at(
			sums, function != NULL ? GUINT_TO_POINTER(frame->line) : frame->function);
		*sum += weight;
		*out_all += weight;
		if (*sum > *out_best) {
			*out_best = *sum;
			most = frame;
		}
	}
	return most;
}

LodeWaitPlace lode_wait_loop_place(const LodeWaitDiagnosing *self, const LodeWaitBundle *bundle)
{
	const LodeStacks *stacks = lode_stacks_of(self->profile);
	LodeWaitReason reason = bundle->first->reason;
	g_autoptr(GPtrArray) frames = g_ptr_array_new();
	g_autoptr(GArray) weights = g_array_new(FALSE, FALSE, sizeof(double));
	uint32_t event = lode_wait_sampled_event(self);
	double best, all, ignored;

	if (stacks == NULL || (reason != LODE_WAIT_POLL && reason != LODE_WAIT_SOCKET &&
				      reason != LODE_WAIT_SLEEP))
		return (LodeWaitPlace){0};
	uint64_t first_ns = first_wait_ns(self, bundle);
	for (guint i = 0; i < stacks->samples->len; i++) {
		const LodeStackSample *sample = &LODE_AT(stacks->samples, LodeStackSample, i);
		const LodeStackThread *thread = sample->thread < stacks->threads->len
		                                        ? &LODE_AT(stacks->threads, LodeStackThread,
								  sample->thread)
		                                        : NULL;
		if (sample->event != event || thread == NULL || sample->time_ns < first_ns ||
			!does_wait(bundle, thread->pid, thread->tid))
			continue;
		const LodeFrame *frame = outermost_own(self, sample->stack);
		if (frame == NULL)
			continue;
		g_ptr_array_add(frames, (void *)frame);
		g_array_append_val(weights, sample->weight);
	}
	const LodeFrame *most = find_most(frames, weights, NULL, &best, &all);
	if (frames->len < FEWEST_SAMPLES || best < MUCH * all)
		return (LodeWaitPlace){0};
	const LodeFrame *line = find_most(frames, weights, most->function, &ignored, &ignored);
	most = line != NULL ? line : most;
	return (LodeWaitPlace){.function = most->function,
		.file = most->line > 0 ? most->file : NULL,
		.line = most->line,
		.image = most->image};
}

LodeWaitPlace lode_wait_asking_place(const LodeWaitBundle *bundle, const GArray *groups)
{
	LodeWaitReason reason = bundle->first->reason;

	for (guint i = 0;
		i < groups->len && (reason == LODE_WAIT_POLL || reason == LODE_WAIT_SOCKET); i++) {
		const LodeWaitGroup *group = lode_wait_group_at(groups, i);
		if (!group->is_idle && group->place.function != NULL &&
			group->reason == LODE_WAIT_CONDITION &&
			group->most_ns >= LODE_WAIT_MOSTLY * bundle->most_ns)
			return group->place;
	}
	return (LodeWaitPlace){0};
}
