/* SPDX-License-Identifier: MIT */
#include "model/waits.h"

#include "model/profile.h"

LodeWaits *lode_waits_of(const LodeProfile *profile)
{
	return profile->waits;
}

LodeWaits *lode_waits_new(void)
{
	LodeWaits *self = g_new0(LodeWaits, 1);

	self->rows = g_array_new(FALSE, TRUE, sizeof(LodeWait));
	self->causes = g_array_new(FALSE, TRUE, sizeof(LodeWaitCause));
	self->slices = g_array_new(FALSE, TRUE, sizeof(LodeWaitSlice));
	self->programs = g_array_new(FALSE, TRUE, sizeof(LodeWaitProgram));
	self->processes = g_array_new(FALSE, TRUE, sizeof(LodeWaitProcess));
	self->starts = g_array_new(FALSE, TRUE, sizeof(LodeWaitStart));
	return self;
}

void lode_waits_free(LodeWaits *self)
{
	if (self == NULL)
		return;
	g_array_unref(self->rows);
	g_array_unref(self->causes);
	g_array_unref(self->slices);
	g_array_unref(self->programs);
	g_array_unref(self->processes);
	g_array_unref(self->starts);
	g_free(self);
}

bool lode_waits_have_programs(const LodeWaits *self)
{
	static const double least = 0.01;
	double running = 0;

	for (guint i = 0; self != NULL && i < self->programs->len; i++)
		running += g_array_index(self->programs, LodeWaitProgram, i).running_ns;
	return running > 0 && self->clock_ns > 0 && self->programs->len > 1 &&
	       g_array_index(self->programs, LodeWaitProgram, 1).running_ns >= least * running;
}

bool lode_waits_have_processes(const LodeWaits *self)
{
	double processes = 0;

	for (guint i = 0; self != NULL && i < self->programs->len; i++)
		processes += g_array_index(self->programs, LodeWaitProgram, i).processes;
	return processes > 1 && self->clock_ns > 0;
}

bool lode_wait_program_is_estimated(const LodeWaits *self, const LodeWaitProgram *program)
{
	static const double nearly_all = 0.95;
	double processes = 0, running_ns = 0;

	for (guint i = 0; i < self->processes->len; i++) {
		const LodeWaitProcess *one = &g_array_index(self->processes, LodeWaitProcess, i);
		if (g_strcmp0(one->name, program->name) != 0)
			continue;
		processes++;
		running_ns += one->running_ns;
	}
	/* beyond the most that are kept it is not known of which these are */
	return processes > 0 && processes >= program->processes &&
	       running_ns < nearly_all * program->running_ns;
}

static const char *const reason_words[LODE_N_WAIT_REASONS] = {
	[LODE_WAIT_LOCK] = "lock",
	[LODE_WAIT_CONDITION] = "condition",
	[LODE_WAIT_JOIN] = "join",
	[LODE_WAIT_CHILD] = "child",
	[LODE_WAIT_SLEEP] = "sleep",
	[LODE_WAIT_POLL] = "poll",
	[LODE_WAIT_READ] = "read",
	[LODE_WAIT_WRITE] = "write",
	[LODE_WAIT_SYNC] = "sync",
	[LODE_WAIT_PIPE] = "pipe",
	[LODE_WAIT_SOCKET] = "socket",
	[LODE_WAIT_PAGE] = "page",
	[LODE_WAIT_PROCESSOR] = "processor",
	[LODE_WAIT_STOPPED] = "stopped",
	[LODE_WAIT_OTHER] = "other",
	[LODE_WAIT_UNSEEN] = "unseen",
};

const char *lode_wait_reason_to_text(LodeWaitReason reason)
{
	return reason < LODE_N_WAIT_REASONS ? reason_words[reason] : "unknown";
}

LodeWaitReason lode_wait_reason_from_text(const char *text)
{
	unsigned reason = 0;

	while (reason < LODE_N_WAIT_REASONS && g_strcmp0(text, reason_words[reason]) != 0)
		reason++;
	return (LodeWaitReason)reason;
}

const char *lode_wait_slice_kind_to_text(uint32_t kind)
{
	return kind == LODE_SLICE_RUNNING ? "running"
	                                  : lode_wait_reason_to_text((LodeWaitReason)kind);
}

int lode_wait_slice_kind_from_text(const char *text)
{
	LodeWaitReason reason = lode_wait_reason_from_text(text);

	if (g_strcmp0(text, "running") == 0)
		return LODE_SLICE_RUNNING;
	return reason < LODE_N_WAIT_REASONS ? (int)reason : -1;
}
