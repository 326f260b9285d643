/* SPDX-License-Identifier: MIT */
#include "traces/trace_summary.h"

#include "base/error.h"

#include <sys/stat.h>

void lode_trace_summary_free(LodeTraceSummary *self)
{
	if (self == NULL)
		return;
	g_array_unref(self->classes);
	g_array_unref(self->n_by_thread);
	g_free(self->damage);
	g_free(self);
}

/* The first damage that is found is reported. Frees the error. */
static void take_damage(LodeTraceSummary *self, GError *error)
{
	if (self->damage == NULL)
		self->damage = g_strdup(error->message);
	g_error_free(error);
}

static bool report(const LodeProgress *progress, const char *stage, uint64_t done, uint64_t total,
	GError **error)
{
	if (lode_progress_is_cancelled(progress)) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_CANCELLED, "stopped on request");
		return false;
	}
	lode_progress_report(progress, stage, (double)done, (double)total, NULL);
	return true;
}

static void add_info(LodeTraceSummary *self, const LodeTraceFrameInfo *info)
{
	self->n_plain_frames += info->is_plain;
	self->n_blocks += info->head.n_blocks - info->head.first_new_block;
	self->n_invocations += info->head.n_invocations;
	/* Each frame begins with one, of the thread that it begins with. */
	self->n_switches += info->head.n_switches - MIN(info->head.n_switches, 1);
	for (unsigned i = 0; i < LODE_FRAME_MAX_STREAMS; i++) {
		self->stream_bytes[i] += info->stream_bytes[i];
		self->stream_packed_bytes[i] += info->stream_packed_bytes[i];
	}
}

static bool read_head(
	LodeTraceSummary *self, LodeTraceReader *reader, uint64_t frame, GError **error)
{
	LodeTraceFrameInfo info = {0};

	if (!lode_trace_reader_frame_info(reader, frame, &info, error))
		return false;
	add_info(self, &info);
	return info.is_plain ||
	       lode_trace_reader_count_classes(reader, frame, self->classes, error);
}

static bool read_heads(LodeTraceSummary *self, LodeTraceReader *reader,
	const LodeProgress *progress, GError **error)
{
	for (uint64_t i = 0; i < self->n_frames; i++) {
		GError *damage = NULL;
		if (!report(progress, "reading frames", i, self->n_frames, error))
			return false;
		if (!read_head(self, reader, i, &damage))
			take_damage(self, damage);
	}
	return true;
}

static void add_thread(LodeTraceSummary *self, uint16_t thread, uint64_t n)
{
	if (thread >= self->n_by_thread->len)
		g_array_set_size(self->n_by_thread, thread + 1U);
	g_array_index(self->n_by_thread, uint64_t, thread) += n;
}

static void add_block(LodeTraceSummary *self, const LodeTraceBlock *block, uint64_t n_invocations)
{
	self->n_by_kind[LODE_REFERENCE_FETCH] += block->n_instructions * n_invocations;
	for (unsigned i = 0; i < block->n_slots; i++)
		self->n_by_kind[block->slots[i].kind] += n_invocations;
}

static void add_first_switch(LodeTraceSummary *self, const LodeTraceFrame *frame)
{
	if (self->n_decoded > 0 && frame->n_switches > 0)
		self->n_switches += frame->switches[0].thread != self->last_thread;
}

static void add_frame(LodeTraceSummary *self, const LodeTraceFrame *frame)
{
	uint32_t n_blocks = frame->n_blocks;
	g_autofree uint32_t *invocations = g_new0(uint32_t, n_blocks);
	size_t next_switch = 0;
	uint16_t thread = 0;
	uint64_t n = 0;

	add_first_switch(self, frame);
	for (size_t i = 0; i < frame->n_invocations; i++) {
		if (next_switch < frame->n_switches &&
			frame->switches[next_switch].invocation == i) {
			add_thread(self, thread, n);
			n = 0;
			thread = frame->switches[next_switch++].thread;
		}
		const LodeTraceBlock *block = lode_block_dictionary_at(
			frame->dictionary, frame->blocks[i]);
		n += (uint64_t)block->n_instructions + block->n_slots;
		invocations[frame->blocks[i]]++;
	}
	add_thread(self, thread, n);
	self->last_thread = thread;
	for (uint32_t i = 0; i < n_blocks; i++)
		if (invocations[i] > 0)
			add_block(self, lode_block_dictionary_at(frame->dictionary, i),
				invocations[i]);
	self->n_decoded += frame->n_references;
}

static bool decode(LodeTraceSummary *self, LodeTraceReader *reader, const LodeProgress *progress,
	GError **error)
{
	const LodeTraceFrame *frame;
	GError *damage = NULL;
	int status;

	while ((status = lode_trace_reader_next(reader, &frame, &damage)) > 0) {
		add_frame(self, frame);
		if (!report(progress, "decoding", self->n_decoded,
			    lode_trace_reader_range(reader).count, error))
			return false;
	}
	if (status < 0)
		take_damage(self, damage);
	return true;
}

LodeTraceSummary *lode_trace_summary_new(LodeTraceReader *reader, const char *path, bool is_decoded,
	const LodeProgress *progress, GError **error)
{
	g_autoptr(LodeTraceSummary) self = g_new0(LodeTraceSummary, 1);
	const char *damage = lode_trace_reader_damage(reader);
	struct stat status;

	self->classes = g_array_new(FALSE, TRUE, sizeof(LodeSlotClassCount));
	self->n_by_thread = g_array_new(FALSE, TRUE, sizeof(uint64_t));
	if (damage != NULL)
		self->damage = g_strdup_printf("%s: %s", path, damage);
	if (stat(path, &status) == 0)
		self->file_bytes = (uint64_t)status.st_size;
	self->n_references = lode_trace_reader_n_references(reader);
	self->n_instructions = lode_trace_reader_n_instructions(reader);
	self->n_frames = lode_trace_reader_n_frames(reader);
	self->n_threads = lode_trace_reader_n_threads(reader);
	if (!read_heads(self, reader, progress, error) ||
		(is_decoded && !decode(self, reader, progress, error)))
		return NULL;
	return g_steal_pointer(&self);
}
