/* SPDX-License-Identifier: MIT */
#include "record/qemu/trace_intake.h"

#include <stdio.h>

enum { REPORT_US = 200 * 1000 };

struct LodeTraceIntake {
	LodeTraceIntakeOptions options;
	LodeTraceDescription *description;
	LodeTraceStream *stream; /* NULL: closed */
	GHashTable *threads;     /* the recorder's number → ours + 1 */
	GHashTable *names; /* the recorder's number → char *, for threads without references yet */
	uint64_t n_skipped, n_instructions, n_references, n_dropped;
	uint64_t n_bytes; /* of the closed file */
	gint64 start_us, reported_us;
	bool is_complete;
	GError *error;
};

LodeTraceIntake *lode_trace_intake_open(const LodeTraceIntakeOptions *options, GError **error)
{
	g_autoptr(LodeTraceDescription) description = lode_trace_description_new();
	LodeTraceStream *stream = options->path != NULL
	                                  ? lode_trace_writer_open(options->path, options->writer,
						    description, error)
	                                  : lode_trace_stream_new(options->taker, description,
						    options->writer->group, error);

	if (stream == NULL)
		return NULL;
	LodeTraceIntake *self = g_new0(LodeTraceIntake, 1);
	self->options = *options;
	self->description = g_steal_pointer(&description);
	self->stream = stream;
	self->threads = g_hash_table_new(NULL, NULL);
	self->names = g_hash_table_new_full(NULL, NULL, NULL, g_free);
	self->start_us = g_get_monotonic_time();
	return self;
}

void lode_trace_intake_end(LodeTraceIntake *self)
{
	lode_trace_stream_end(self->stream);
}

bool lode_trace_intake_finish(LodeTraceIntake *self, bool is_kept, GError **error)
{
	bool is_well = !is_kept || lode_trace_stream_finish(self->stream, self->description, error);

	self->n_bytes = lode_trace_stream_n_bytes(self->stream);
	g_clear_pointer(&self->stream, lode_trace_stream_free);
	return is_well;
}

void lode_trace_intake_free(LodeTraceIntake *self)
{
	if (self == NULL)
		return;
	lode_trace_stream_free(self->stream);
	lode_trace_description_free(self->description);
	g_hash_table_unref(self->threads);
	g_hash_table_unref(self->names);
	g_clear_error(&self->error);
	g_free(self);
}

/* Our number of a thread, from 1; 0: too many threads. */
static guint number_of(LodeTraceIntake *self, uint32_t thread, uint32_t tid)
{
	GArray *threads = self->description->threads;
	guint number = GPOINTER_TO_UINT(
		g_hash_table_lookup(self->threads, GUINT_TO_POINTER(thread)));

	if (number != 0 || threads->len >= LODE_MAX_TRACE_THREADS)
		return number;
	const LodeTraceThread added = {
		.tid = tid,
		.name = lode_trace_description_intern(self->description,
			g_hash_table_lookup(self->names, GUINT_TO_POINTER(thread))),
	};
	g_array_append_val(threads, added);
	g_hash_table_insert(
		self->threads, GUINT_TO_POINTER(thread), GUINT_TO_POINTER(threads->len));
	return threads->len;
}

void lode_trace_intake_name_thread(LodeTraceIntake *self, uint32_t thread, const char *name)
{
	LodeTraceDescription *description = self->description;
	guint number = GPOINTER_TO_UINT(
		g_hash_table_lookup(self->threads, GUINT_TO_POINTER(thread)));

	if (number == 0)
		g_hash_table_insert(self->names, GUINT_TO_POINTER(thread), g_strdup(name));
	else
		g_array_index(description->threads, LodeTraceThread, number - 1).name =
			lode_trace_description_intern(description, name);
}

/* The number of references before the first instruction beyond `most`; counts the instructions
 * before it. */
static size_t count_up_to(
	const LodeReference *references, size_t n, uint64_t most, uint64_t *n_instructions)
{
	size_t i = 0;

	for (; i < n; i++) {
		if (references[i].kind != LODE_REFERENCE_FETCH)
			continue;
		if (*n_instructions == most)
			break;
		++*n_instructions;
	}
	return i;
}

bool lode_trace_intake_add(
	LodeTraceIntake *self, LodeReference *references, size_t n, uint32_t thread, uint32_t tid)
{
	const LodeTraceIntakeOptions *options = &self->options;
	uint64_t n_instructions = self->n_instructions;

	if (self->error != NULL || self->is_complete)
		return false;
	/* The accesses of skipped instructions are skipped, too. */
	if (n_instructions == 0 && options->skip > 0) {
		size_t n_left_out = count_up_to(references, n, options->skip, &self->n_skipped);
		references += n_left_out;
		n -= n_left_out;
	}
	size_t n_taken = count_up_to(
		references, n, options->limit > 0 ? options->limit : UINT64_MAX, &n_instructions);
	self->is_complete = n_taken < n;
	if (n_taken == 0)
		return !self->is_complete;
	guint number = number_of(self, thread, tid);
	if (number == 0) {
		self->n_dropped += n_taken;
		return true;
	}
	for (size_t i = 0; i < n_taken; i++)
		references[i].thread = (uint16_t)(number - 1);
	self->n_instructions = n_instructions;
	self->n_references += n_taken;
	if (!lode_trace_stream_add(self->stream, references, n_taken, &self->error))
		self->is_complete = self->error == NULL;
	return self->error == NULL && !self->is_complete;
}

/* Skips a whole group, if its instructions are all to be skipped; gives whether they were. */
static bool skip_group(LodeTraceIntake *self, const LodeWordGroup *group)
{
	if (self->n_instructions > 0 || !lode_word_group_is_whole(group) ||
		self->options.skip - self->n_skipped < group->piece->n_instructions)
		return false;
	self->n_skipped += group->piece->n_instructions;
	return true;
}

/* The slow path for words of which some are skipped: adds them reference by reference. */
static bool add_as_references(LodeTraceIntake *self, LodeCodePieces *pieces, const uint64_t *words,
	size_t n, uint32_t thread, uint32_t tid)
{
	LodeReference references[LODE_GROUP_MAX_REFERENCES];
	LodeWordGroup group;
	bool is_wanted = true;

	for (size_t at = 0; at < n && is_wanted;) {
		at += lode_word_group_read(pieces, words + at, n - at, &group);
		if (skip_group(self, &group))
			continue;
		size_t n_references = lode_word_group_references(&group, references);
		is_wanted = lode_trace_intake_add(self, references, n_references, thread, tid);
	}
	return is_wanted;
}

/* Whether instructions are skipped now, or the limit may be reached within `n_words` words. */
static bool is_partial(const LodeTraceIntake *self, size_t n_words)
{
	const LodeTraceIntakeOptions *options = &self->options;

	return (self->n_instructions == 0 && options->skip > 0) ||
	       (options->limit > 0 && options->limit - self->n_instructions <=
					      n_words * LODE_CODE_MAX_INSTRUCTIONS);
}

bool lode_trace_intake_add_words(LodeTraceIntake *self, LodeCodePieces *pieces,
	const uint64_t *words, size_t n, uint32_t thread, uint32_t tid)
{
	LodeWordsTaken taken = {0};

	if (self->error != NULL || self->is_complete)
		return false;
	if (n == 0)
		return true;
	guint number = is_partial(self, n) ? 0 : number_of(self, thread, tid);
	if (number == 0)
		return add_as_references(self, pieces, words, n, thread, tid);
	if (!lode_trace_stream_add_words(
		    self->stream, pieces, words, n, (uint16_t)(number - 1), &taken, &self->error))
		self->is_complete = self->error == NULL;
	self->n_references += taken.n_references;
	self->n_instructions += taken.n_instructions;
	return self->error == NULL && !self->is_complete;
}

void lode_trace_intake_report(LodeTraceIntake *self, uint64_t more_references, uint64_t more_bytes)
{
	double references = (double)(self->n_references + more_references);
	uint64_t bytes = lode_trace_intake_n_bytes(self) + more_bytes;
	const LodeProgress *progress = self->options.progress;
	gint64 now_us = g_get_monotonic_time();
	double seconds = (double)(now_us - self->start_us) / G_USEC_PER_SEC;
	char detail[128];

	if (progress == NULL || now_us - self->reported_us < REPORT_US)
		return;
	self->reported_us = now_us;
	int n = snprintf(detail, sizeof(detail), "%.1f M references, %.1f M a second",
		references / 1e6, seconds > 0 ? references / 1e6 / seconds : 0);
	if (bytes > 0)
		snprintf(detail + n, sizeof(detail) - (size_t)n, ", %.1f MB", (double)bytes / 1e6);
	/* The detail has the number of references. */
	lode_progress_report(progress, bytes > 0 ? "tracing" : "simulating", 0, 0, detail);
}

LodeTraceDescription *lode_trace_intake_description(const LodeTraceIntake *self)
{
	return self->description;
}

uint64_t lode_trace_intake_n_bytes(const LodeTraceIntake *self)
{
	return self->stream != NULL ? lode_trace_stream_n_bytes(self->stream) : self->n_bytes;
}

uint64_t lode_trace_intake_n_references(const LodeTraceIntake *self)
{
	return self->n_references;
}

uint64_t lode_trace_intake_n_instructions(const LodeTraceIntake *self)
{
	return self->n_instructions;
}

uint64_t lode_trace_intake_n_skipped(const LodeTraceIntake *self)
{
	return self->n_skipped;
}

uint64_t lode_trace_intake_n_dropped(const LodeTraceIntake *self)
{
	return self->n_dropped;
}

bool lode_trace_intake_is_complete(const LodeTraceIntake *self)
{
	return self->is_complete;
}

GError *lode_trace_intake_steal_error(LodeTraceIntake *self)
{
	return g_steal_pointer(&self->error);
}
