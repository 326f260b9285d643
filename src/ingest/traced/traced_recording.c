/* SPDX-License-Identifier: MIT */
/*
 * Frames are read once, each cut where mappings of code change; a slice is counted, then replayed:
 *
 *   frame ─▶ slices ─▶ traced_counts: executions, transfers
 *                  └─▶ simulated caches ─▶ misses: a column of their instruction, a sampled access
 *                  └─▶ without caches: every access, sampled
 *
 * Counting comes first, because a miss is assigned to an instruction by the counts.
 */
#include "ingest/traced/traced_recording.h"

#include "base/error.h"
#include "base/text/number_format.h"
#include "caches/frame_slices.h"
#include "caches/hierarchy/hierarchy_text.h"
#include "ingest/memory/memory_reading.h"
#include "ingest/traced/traced_counts.h"
#include "ingest/traced/traced_events.h"
#include "ingest/traced/traced_functions.h"
#include "ingest/traced/traced_memory.h"
#include "model/profile.h"
#include "model/run/unresolved.h"
#include "traces/frames/frame_turns.h"
#include "traces/trace_reader.h"

#include <stddef.h>
#include <string.h>

/* Shared by all traces. */
typedef struct {
	uint64_t interval; /* the longest: 1 of so many is kept */
	uint64_t left_out;
} StreamSum;

typedef struct {
	LodeTracedRecordingOptions options;
	LodeRecording *recording;
	LodeTracedPlacesOptions placing;
	bool is_live; /* programs run still: code made at run time is looked for at the end */
	LodeTracedRows rows;
	LodeTracedMisses misses;
	LodeTracedBranchSums branches;
	GArray *intervals;                           /* StreamSum, of the streams */
	GPtrArray *stream_names;                     /* char *, of the memory's streams */
	uint32_t streams[LODE_HIERARCHY_MAX_CACHES]; /* of each cache; LODE_NONE */
	uint32_t class_streams[LODE_N_MISS_CLASSES]; /* likewise */
	uint64_t first_time_ns; /* the references of the traces that are finished */
	bool has_function;      /* that is wanted, one of the traces */
} Reading;

/* One of them. */
typedef struct {
	Reading *reading;
	const char *path; /* of its file; NULL: it has none */
	uint32_t number;
	const LodeTraceDescription *description; /* borrowed */
	uint64_t first;                          /* reference; before it caches warm up */
	LodeTracedPlaces *places;
	LodeTracedCounts *counts;
	LodeTracedBranches *branches;    /* NULL: not predicted */
	LodeCacheSimulation *simulation; /* NULL: none */
	LodeTracedMemory *memory;
	uint64_t n_references;       /* up to the last one that was read */
	const LodeTraceFrame *frame; /* that is replayed */
	bool is_warming_up;          /* misses are not counted */
} Trace;

/* Among the references of its kind that the instruction makes. */
static uint8_t ordinal_of(const LodeTraceBlock *block, unsigned slot)
{
	const LodeTraceSlot *own = &block->slots[slot];
	uint8_t ordinal = 0;

	for (unsigned i = slot; i > 0 && block->slots[i - 1].instruction == own->instruction; i--)
		ordinal = (uint8_t)(ordinal + (block->slots[i - 1].kind == own->kind));
	return ordinal;
}

/* Lines that cores take from each other are few; all their misses are kept. */
static bool is_counted(int miss_class)
{
	return miss_class == LODE_MISS_TRUE_SHARING || miss_class == LODE_MISS_FALSE_SHARING;
}

static void keep_miss(
	Trace *self, const LodeCacheMiss *miss, uint32_t stream, uint32_t instruction, bool counted)
{
	const LodeTraceBlock *block = lode_block_dictionary_at(
		self->frame->dictionary, miss->block);

	if (!counted && lode_traced_memory_distance(self->memory, stream) > 0) {
		lode_traced_memory_pass(self->memory, stream, 1);
		return;
	}
	const LodeTracedAccess access = {
		.address = miss->address,
		.reference = miss->reference,
		.size = miss->size,
		.instruction = instruction,
		.thread = miss->thread,
		.kind = miss->kind,
		.ordinal = ordinal_of(block, miss->slot),
	};
	if (counted)
		lode_traced_memory_count(self->memory, stream, &access);
	else
		lode_traced_memory_keep(self->memory, stream, &access);
}

static void keep_store(Trace *self, const LodeCacheMiss *miss, uint32_t stream)
{
	const LodeCacheStore *from = &miss->store;
	const LodeTracedStore store = {
		.address = miss->lost_line + from->first,
		.size = (uint16_t)(from->last - from->first + 1),
		.instruction = lode_traced_counts_find_address(self->counts, from->instruction),
		.thread = from->thread,
	};

	lode_traced_memory_count_store(self->memory, stream, &store);
}

static bool is_first_level_data(const Trace *self, const LodeCacheMiss *miss)
{
	const LodeCache *cache = &g_array_index(
		self->reading->options.replay.hierarchy->caches, LodeCache, miss->cache);

	return cache->level == 1 && !cache->is_tlb && miss->kind != LODE_REFERENCE_FETCH;
}

static void add_miss(const LodeCacheMiss *miss, void *user_data)
{
	Trace *self = user_data;

	if (self->is_warming_up)
		return;
	const Reading *reading = self->reading;
	const LodeTracedPlace place = {miss->reference, miss->block, miss->instruction};
	uint32_t instruction = lode_traced_counts_find(self->counts, &place);
	uint32_t column = reading->misses.columns[miss->cache][miss->kind];
	uint32_t stream = reading->streams[miss->cache];

	if (column != LODE_NONE)
		lode_traced_counts_count(self->counts, instruction, column);
	if (stream != LODE_NONE && miss->kind != LODE_REFERENCE_FETCH)
		keep_miss(self, miss, stream, instruction, false);
	if (miss->miss_class == LODE_N_MISS_CLASSES || !is_first_level_data(self, miss))
		return;
	lode_traced_counts_count(
		self->counts, instruction, reading->misses.class_columns[miss->miss_class]);
	keep_miss(self, miss, reading->class_streams[miss->miss_class], instruction,
		is_counted(miss->miss_class));
	if (is_counted(miss->miss_class) && miss->has_store)
		keep_store(self, miss, reading->class_streams[miss->miss_class]);
}

/* An invocation of a block, and the addresses of its slots. */
typedef struct {
	LodeTracedPlace place;
	const LodeTraceBlock *block;
	const uint64_t *addresses;
	uint16_t thread;
} Invocation;

static void keep_access(Trace *self, const Invocation *invocation, unsigned slot)
{
	const LodeTraceBlock *block = invocation->block;
	LodeTracedPlace place = invocation->place;

	place.instruction = block->slots[slot].instruction;
	/* After the fetches up to its own, and the slots before it. */
	place.reference += slot + (block->n_instructions > 0 ? place.instruction + 1u : 0);
	const LodeTracedAccess access = {
		.address = invocation->addresses[slot],
		.reference = place.reference,
		.size = block->slots[slot].size,
		.instruction = lode_traced_counts_find(self->counts, &place),
		.thread = invocation->thread,
		.kind = block->slots[slot].kind,
		.ordinal = ordinal_of(block, slot),
	};
	lode_traced_memory_keep(self->memory, 0, &access);
}

static void sample_invocation(Trace *self, const Invocation *invocation)
{
	uint64_t left = invocation->block->n_slots, distance;

	while ((distance = lode_traced_memory_distance(self->memory, 0)) < left) {
		lode_traced_memory_pass(self->memory, 0, distance);
		left -= distance;
		keep_access(self, invocation, (unsigned)(invocation->block->n_slots - left));
		left--;
	}
	lode_traced_memory_pass(self->memory, 0, left);
}

/* Without caches: of all data accesses, those that are kept. */
static void sample_accesses(Trace *self, const LodeTraceFrame *frame)
{
	Invocation at = {
		.place = {.reference = frame->first_reference}, .addresses = frame->addresses};
	size_t next_switch = 0;

	for (size_t i = 0; i < frame->n_invocations; i++) {
		if (next_switch < frame->n_switches && frame->switches[next_switch].invocation == i)
			at.thread = frame->switches[next_switch++].thread;
		at.place.block = frame->blocks[i];
		at.block = lode_block_dictionary_at(frame->dictionary, at.place.block);
		sample_invocation(self, &at);
		at.addresses += at.block->n_slots;
		at.place.reference += (uint64_t)at.block->n_instructions + at.block->n_slots;
	}
}

static bool add_slice(Trace *self, const LodeTraceFrame *slice, GError **error)
{
	g_autoptr(LodeTraceFrame) turns = NULL;
	bool is_counted = !self->is_warming_up;

	if (is_counted && !lode_traced_counts_add(self->counts, slice, error))
		return false;
	if (self->simulation != NULL && self->reading->options.replay.quantum > 0)
		slice = turns = lode_frame_turns_new(slice, self->reading->options.replay.quantum);
	if (is_counted && self->branches != NULL &&
		!lode_traced_branches_add(self->branches, slice, error))
		return false;
	self->frame = slice;
	if (self->simulation != NULL)
		return lode_cache_simulation_replay(self->simulation, slice, error);
	if (is_counted)
		sample_accesses(self, slice);
	return true;
}

/*
 * In pieces, in the middle of which no mapping of code changes: the counts of a block are summed up
 * before they are given to instructions, which is only right while it is the same code.
 */
static bool add_slices(Trace *self, const LodeTraceFrame *frame, GError **error)
{
	g_auto(LodeFrameSlices) slices = {0};
	uint64_t reference = frame->first_reference;
	uint64_t left = lode_traced_places_next_change(self->places, reference) - reference;
	const LodeTraceFrame *slice;

	lode_frame_slices_init(&slices, frame);
	while ((slice = lode_frame_slices_next(&slices, left)) != NULL) {
		if (!add_slice(self, slice, error))
			return false;
		reference += slice->n_references;
		left = lode_traced_places_next_change(self->places, reference) - reference;
	}
	return true;
}

static bool add_frame(Trace *self, const LodeTraceFrame *frame, GError **error)
{
	self->n_references = frame->first_reference + frame->n_references;
	self->is_warming_up = frame->first_reference < self->first;
	if (self->is_warming_up ? add_slice(self, frame, error) : add_slices(self, frame, error))
		return true;
	if (self->path != NULL)
		g_prefix_error(error, "%s: ", self->path);
	return false;
}

/* One for each sum that misses of data are in; without caches, one for all accesses. */
static void name_streams(Reading *self)
{
	const GArray *sums = self->recording->sums;
	g_autofree uint32_t *streams = g_new(uint32_t, MAX(sums->len, 1));

	memset(streams, 0xff, MAX(sums->len, 1) * sizeof(uint32_t));
	memset(self->streams, 0xff, sizeof(self->streams));
	if (self->options.replay.hierarchy == NULL)
		g_ptr_array_add(self->stream_names, (char *)LODE_TRACED_ACCESSES);
	for (size_t i = 0; i < LODE_HIERARCHY_MAX_CACHES; i++) {
		uint32_t sum = self->misses.sums[i];
		if (sum == LODE_NONE)
			continue;
		if (streams[sum] == LODE_NONE) {
			streams[sum] = self->stream_names->len;
			g_ptr_array_add(
				self->stream_names, g_array_index(sums, LodeRecordedSum, sum).name);
		}
		self->streams[i] = streams[sum];
	}
	for (int i = 0; i < LODE_N_MISS_CLASSES; i++) {
		self->class_streams[i] = self->stream_names->len;
		if (self->misses.class_sums[i] != LODE_NONE)
			g_ptr_array_add(self->stream_names,
				g_array_index(sums, LodeRecordedSum, self->misses.class_sums[i])
					.name);
	}
}

/* ", references 1,000 to 1,999" of so many; the caller frees it. */
static char *part_text(const LodeTraceRange *range, uint64_t n_references)
{
	uint64_t begin = range != NULL ? MIN(range->first, n_references) : 0;
	uint64_t count = range != NULL ? MIN(range->count, n_references - begin) : n_references;

	if (count == n_references)
		return g_strdup("");
	return g_strdup_printf(", references %s to %s", LODE_COUNT_TEXT(begin),
		LODE_COUNT_TEXT((double)(begin + count - MIN(count, 1))));
}

/* Names the tool that made the trace, and the caches through which it was replayed. */
static void name_recording(
	Reading *self, const LodeTraceDescription *description, uint64_t n_references)
{
	const LodeHierarchy *hierarchy = self->options.replay.hierarchy;
	LodeRecording *recording = self->recording;
	g_autofree char *caches = hierarchy != NULL ? lode_hierarchy_to_text(hierarchy) : NULL;
	g_autofree char *part = part_text(self->options.replay.range, n_references);
	const char *function = self->options.replay.function;
	g_autofree char *creator = g_strconcat(
		description->tool != NULL ? description->tool : "unknown tool",
		description->is_partial ? " trace of a part" : " trace", part,
		function != NULL ? ", in " : "", function != NULL ? function : "",
		caches != NULL ? ", through " : "", caches, NULL);

	if (recording->programs.creator == NULL)
		recording->programs.creator = g_string_chunk_insert(recording->strings, creator);
	if (description->command != NULL)
		lode_recording_add_command(
			recording, description->command, strlen(description->command));
}

/* Makes the part that all traces share. */
static void reading_init(Reading *self, const LodeTracedRecordingOptions *options)
{
	*self = (Reading){
		.options = *options,
		.recording = lode_recording_new(),
		.stream_names = g_ptr_array_new(),
		.intervals = g_array_new(FALSE, FALSE, sizeof(StreamSum)),
	};
	self->recording->is_trace = true;
	self->recording->frequency = LODE_FREQUENCY_EXACT;
	lode_traced_misses_init(&self->misses, self->recording, options->replay.hierarchy,
		options->replay.classifies);
	name_streams(self);
	if (options->replay.predicts_branches) {
		const LodeTracedBranchesOptions predicting = {
			.model = options->replay.branches,
			.n_cores = options->replay.hierarchy != NULL
		                           ? options->replay.hierarchy->n_cores
		                           : 1,
		};
		lode_traced_branch_sums_init(&self->branches, &predicting, self->recording,
			lode_places_images(options->memory->options.places));
	}
	self->placing = (LodeTracedPlacesOptions){
		self->recording, lode_places_images(options->memory->options.places), options->jit};
	lode_traced_rows_init(&self->rows, self->recording);
}

static void reading_clear(Reading *self)
{
	lode_traced_branch_sums_clear(&self->branches);
	lode_traced_rows_clear(&self->rows);
	g_clear_pointer(&self->stream_names, g_ptr_array_unref);
	g_clear_pointer(&self->intervals, g_array_unref);
	g_clear_pointer(&self->recording, lode_recording_free);
}

static void add_pid(LodeRecording *recording, uint32_t pid)
{
	for (guint i = 0; i < recording->pids->len; i++)
		if (g_array_index(recording->pids, uint32_t, i) == pid)
			return;
	g_array_append_val(recording->pids, pid);
}

static void trace_free(Trace *self)
{
	if (self == NULL)
		return;
	lode_cache_simulation_free(self->simulation);
	lode_traced_branches_free(self->branches);
	lode_traced_counts_free(self->counts);
	lode_traced_places_free(self->places);
	lode_traced_memory_free(self->memory);
	g_free(self);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Trace, trace_free)

/* Borrows the description. Errors: those of lode_cache_simulation_new(). */
static Trace *trace_new(Reading *reading, const LodeTraceDescription *description, GError **error)
{
	const LodeTracedRecordingOptions *options = &reading->options;
	uint32_t pid = lode_traced_places_find_pid(description);
	g_autoptr(Trace) self = g_new0(Trace, 1);
	const LodeCacheSimulationOptions simulating = {.threads = 1,
		.classifies = options->replay.classifies,
		.names_stores = options->replay.names_stores,
		.on_miss = add_miss,
		.user_data = self};

	self->reading = reading;
	self->description = description;
	self->places = reading->is_live
	                       ? lode_traced_places_new_live(description, pid, &reading->placing)
	                       : lode_traced_places_new_process(
					 description, pid, &reading->placing);
	add_pid(reading->recording, pid);
	self->counts = lode_traced_counts_new(self->places, &reading->rows);
	if (options->replay.predicts_branches)
		self->branches = lode_traced_branches_new(
			&reading->branches, self->counts, &reading->rows);
	self->memory = lode_traced_memory_new(reading->stream_names->len);
	for (int i = 0; options->replay.classifies && i < LODE_N_MISS_CLASSES; i++)
		if (is_counted(i) && options->replay.hierarchy != NULL)
			lode_traced_memory_set_counted(self->memory, reading->class_streams[i]);
	if (options->replay.hierarchy != NULL)
		self->simulation = lode_cache_simulation_new(
			&options->replay.hierarchy, 1, &simulating, error);
	return options->replay.hierarchy == NULL || self->simulation != NULL
	               ? g_steal_pointer(&self)
	               : NULL;
}

/* No more frames will come: their memory is freed, except for the kept addresses. */
static void trace_end(Trace *self)
{
	lode_traced_counts_end(self->counts);
	g_clear_pointer(&self->simulation, lode_cache_simulation_free);
	g_clear_pointer(&self->branches, lode_traced_branches_free);
	g_clear_pointer(&self->counts, lode_traced_counts_free);
}

/* Adds up the streams of a trace. */
static void sum_streams(const Trace *self)
{
	const Reading *reading = self->reading;

	for (guint i = 0; i < reading->stream_names->len; i++) {
		if (reading->intervals->len <= i) {
			const StreamSum none = {0};
			g_array_append_val(reading->intervals, none);
		}
		StreamSum *sum = &g_array_index(reading->intervals, StreamSum, i);
		sum->interval = MAX(sum->interval, lode_traced_memory_interval(self->memory, i));
		sum->left_out += lode_traced_memory_left_out(self->memory, i);
	}
}

/* Its times are those of the trace. A fault of the log does not affect the trace. */
static void take_allocations(const Trace *self, const char *path)
{
	Reading *reading = self->reading;
	g_autoptr(GError) why = NULL;

	if (!g_file_test(path, G_FILE_TEST_IS_REGULAR))
		return;
	g_autoptr(LodeAllocationLog)
		log = lode_allocation_log_read_traced(path, reading->first_time_ns, &why);
	if (log == NULL)
		lode_allocations_note_unreadable(reading->options.memory->logs, why);
	else if (lode_allocation_log_pid(log) == lode_traced_places_pid(self->places))
		lode_allocations_take(reading->options.memory->logs, g_steal_pointer(&log));
}

/* Gives the kept addresses; one trace after the other, after its end. */
static void trace_finish(Trace *self, bool is_one_of_many)
{
	Reading *reading = self->reading;
	const LodeTracedMemoryContext context = {
		.description = self->description,
		.rows = &reading->rows,
		.recording = reading->recording,
		.stream_names = (const char *const *)reading->stream_names->pdata,
		.pid = lode_traced_places_pid(self->places),
		.input = self->number,
		.first_time_ns = reading->first_time_ns,
		.end_time_ns = reading->first_time_ns + self->n_references + 1,
		.is_one_of_many = is_one_of_many,
	};

	sum_streams(self);
	reading->first_time_ns = context.end_time_ns + 1;
	lode_traced_memory_finish(self->memory, &context, reading->options.memory);
}

/* The description of the event says "1 of N", for several traces at least. */
static void describe_streams(Reading *self)
{
	LodeRecording *recording = self->recording;

	for (guint i = 0; i < recording->sums->len; i++) {
		LodeRecordedSum *sum = &g_array_index(recording->sums, LodeRecordedSum, i);
		for (guint j = 0; j < self->stream_names->len; j++) {
			const StreamSum *kept = &g_array_index(self->intervals, StreamSum, j);
			bool is_all = kept->interval <= 1 && kept->left_out == 0;
			if (is_all || strcmp(sum->name, self->stream_names->pdata[j]) != 0)
				continue;
			g_autofree char *text = g_strdup_printf(
				kept->left_out > 0
					? "%s; data addresses: all but %" G_GUINT64_FORMAT
					: "%s; data addresses: 1 of %" G_GUINT64_FORMAT,
				sum->description,
				kept->left_out > 0 ? kept->left_out : kept->interval);
			sum->description = g_string_chunk_insert(recording->strings, text);
		}
	}
}

/* After all traces. */
static LodeRecording *reading_finish(Reading *self, GError **error)
{
	lode_allocations_account(self->options.memory->logs, self->recording);
	describe_streams(self);
	lode_traced_branch_sums_finish(&self->branches);
	return lode_traced_rows_write(&self->rows, error) ? g_steal_pointer(&self->recording)
	                                                  : NULL;
}

/* ---- of files ---- */

/* At least one of several traces must have it: a shell has not the functions of the programs that
 * it starts. */
static bool choose_function(Reading *self, LodeTraceReader *reader, bool is_last, GError **error)
{
	g_autoptr(GError) why = NULL;
	g_autoptr(GArray) none = g_array_new(FALSE, FALSE, sizeof(uint64_t));

	if (self->options.replay.function == NULL)
		return true;
	if (lode_traced_functions_choose(reader, self->options.replay.function, &why)) {
		self->has_function = true;
		return true;
	}
	lode_trace_reader_set_functions(reader, none);
	if (self->has_function || !is_last)
		return true;
	g_propagate_error(error, g_steal_pointer(&why));
	return false;
}

/* A file that is cut inside its first frame has no frames. */
static bool has_frames(const LodeTraceReader *reader, const char *path, GError **error)
{
	const char *damage = lode_trace_reader_damage(reader);

	if (damage == NULL || lode_trace_reader_n_frames(reader) > 0)
		return true;
	g_set_error(error, LODE_ERROR, LODE_ERROR_CORRUPT, "%s: %s; nothing of it is whole", path,
		damage);
	return false;
}

/* A damaged frame does not affect those before it. */
static bool end_at_damage(const Trace *self, GError *damage, GError **error)
{
	bool is_partial = damage->code == LODE_ERROR_CORRUPT && self->n_references > 0;

	if (is_partial)
		lode_recording_add_unresolved(
			self->reading->recording, LODE_TRACED_DAMAGE, damage->message, 0, 0);
	else
		g_propagate_error(error, g_error_copy(damage));
	return is_partial;
}

static bool read_frames(
	Trace *self, LodeTraceReader *reader, const LodeProgress *progress, GError **error)
{
	g_autoptr(GError) damage = NULL;
	const char *stage = self->simulation != NULL ? "simulating caches" : "reading the trace";
	const LodeTraceRange range = lode_trace_reader_range(reader);
	const LodeTraceFrame *frame;
	int found;

	while ((found = lode_trace_reader_next(reader, &frame, &damage)) > 0) {
		if (!add_frame(self, frame, error))
			return false;
		lode_progress_report(progress, stage,
			(double)(range.warm_up + frame->first_reference + frame->n_references -
				 range.first),
			(double)(range.warm_up + range.count), NULL);
		if (!lode_progress_is_cancelled(progress))
			continue;
		g_set_error(error, LODE_ERROR, LODE_ERROR_CANCELLED, "stopped");
		return false;
	}
	if (found < 0)
		return end_at_damage(self, damage, error);
	if (!has_frames(reader, self->path, error))
		return false;
	const char *cut = lode_trace_reader_damage(reader);
	if (cut != NULL)
		lode_recording_add_unresolved(
			self->reading->recording, LODE_TRACED_DAMAGE, cut, 0, 0);
	return true;
}

/* The references of all traces; for a single one they are not needed: 0. */
static bool sum_references(
	const LodeTracedRecordingOptions *options, uint64_t *out_n, GError **error)
{
	const LodeTraceReaderOptions reading = {.threads = 1};

	*out_n = 0;
	for (size_t i = 0; i < options->n_paths && options->n_paths > 1; i++) {
		g_autoptr(LodeTraceReader)
			reader = lode_trace_reader_open(options->paths[i], &reading, error);
		if (reader == NULL)
			return false;
		*out_n += lode_trace_reader_n_references(reader);
	}
	return true;
}

static bool read_trace(
	Reading *self, size_t number, uint64_t n_all, const LodeProgress *progress, GError **error)
{
	const LodeTracedRecordingOptions *options = &self->options;
	const LodeTraceReaderOptions reading = {
		.threads = options->threads, .range = options->replay.range};
	g_autoptr(LodeTraceReader)
		reader = lode_trace_reader_open(options->paths[number], &reading, error);

	if (reader == NULL || !choose_function(self, reader, number + 1 == options->n_paths, error))
		return false;
	const LodeTraceDescription *description = lode_trace_reader_description(reader);
	uint64_t n_references = lode_trace_reader_n_references(reader);
	name_recording(self, description, n_references);
	g_autoptr(Trace) trace = trace_new(self, description, error);
	if (trace == NULL)
		return false;
	trace->path = options->paths[number];
	trace->number = (uint32_t)number;
	trace->first = lode_trace_reader_range(reader).first;
	if (n_all > 0)
		lode_traced_memory_set_share(trace->memory, (double)n_references / (double)n_all);
	if (!read_frames(trace, reader, progress, error))
		return false;
	trace->n_references = n_references;
	trace_end(trace);
	/* The references inside a function have numbers of their own. */
	g_autofree char *log = g_strconcat(trace->path, LODE_TRACE_LOG_SUFFIX, NULL);
	if (options->replay.function == NULL)
		take_allocations(trace, log);
	trace_finish(trace, options->n_paths > 1);
	return true;
}

LodeRecording *lode_traced_recording_read(
	const LodeTracedRecordingOptions *options, const LodeProgress *progress, GError **error)
{
	LodeRecording *recording = NULL;
	uint64_t n_references;
	bool is_read = true;
	Reading self;

	if (!sum_references(options, &n_references, error))
		return NULL;
	reading_init(&self, options);
	for (size_t i = 0; i < options->n_paths && is_read; i++)
		is_read = read_trace(&self, i, n_references, progress, error);
	if (is_read && (recording = reading_finish(&self, error)) == NULL)
		g_prefix_error(error, "%s: ", options->paths[options->n_paths - 1]);
	reading_clear(&self);
	return recording;
}

/* ---- of a program that runs ---- */

struct LodeLiveTraces {
	Reading reading;
	LodeTraceTaker taker;
	GPtrArray *traces;     /* Trace, as they began */
	GArray *ended;         /* Trace *, borrowed */
	uint64_t n_kept, most; /* rows of those that have ended, and how many there may be */
	uint64_t n_references; /* of those */
};

static void live_trace_free(void *data)
{
	Trace *trace = data;
	/* Its own, once it has ended. */
	LodeTraceDescription *description = trace->counts == NULL
	                                            ? (LodeTraceDescription *)trace->description
	                                            : NULL;

	trace_free(trace);
	lode_trace_description_free(description);
}

static void *begin_live(const LodeTraceDescription *description, void *user_data, GError **error)
{
	LodeLiveTraces *self = user_data;
	Trace *trace = trace_new(&self->reading, description, error);

	if (trace == NULL)
		return NULL;
	trace->number = self->traces->len;
	trace->first = self->reading.options.replay.range != NULL
	                       ? self->reading.options.replay.range->first
	                       : 0;
	g_ptr_array_add(self->traces, trace);
	return trace;
}

static bool take_live(void *trace, LodeTraceFrame **frame, GError **error)
{
	Trace *self = trace;

	lode_traced_places_update(self->places);
	return add_frame(self, *frame, error);
}

/* Each trace that has ended keeps no more of its addresses than its share of all references. */
static void thin_out(LodeLiveTraces *self)
{
	self->n_kept = 0;
	for (guint i = 0; i < self->ended->len; i++) {
		const Trace *trace = g_array_index(self->ended, Trace *, i);
		lode_traced_memory_set_share(trace->memory,
			(double)trace->n_references / (double)MAX(self->n_references, 1));
		self->n_kept += lode_traced_memory_n_rows(trace->memory);
	}
	/* Many small ones may each have their least. */
	self->most = MAX(2 * (uint64_t)LODE_TRACED_MEMORY_ROWS, 2 * self->n_kept);
}

static bool end_live(void *trace, const LodeTraceDescription *description, GError **error)
{
	Trace *self = trace;
	LodeLiveTraces *all = (LodeLiveTraces *)(void *)self->reading;

	(void)error;
	lode_traced_places_update(self->places);
	trace_end(self);
	self->description = lode_trace_description_copy(description);
	g_array_append_val(all->ended, self);
	all->n_references += self->n_references;
	all->n_kept += lode_traced_memory_n_rows(self->memory);
	if (all->n_kept > all->most)
		thin_out(all);
	return true;
}

LodeLiveTraces *lode_live_traces_new(const LodeTracedRecordingOptions *options)
{
	LodeLiveTraces *self = g_new0(LodeLiveTraces, 1);

	G_STATIC_ASSERT(offsetof(LodeLiveTraces, reading) == 0);
	reading_init(&self->reading, options);
	self->reading.is_live = true;
	self->taker = (LodeTraceTaker){
		.begin = begin_live,
		.take = take_live,
		.end = end_live,
		.user_data = self,
		.range = options->replay.range,
		/* Turns are cut where a frame ends. */
		.frame_references = options->replay.quantum > 0 ? UINT64_MAX : 0,
	};
	self->traces = g_ptr_array_new_with_free_func(live_trace_free);
	self->ended = g_array_new(FALSE, FALSE, sizeof(Trace *));
	self->most = 2 * (uint64_t)LODE_TRACED_MEMORY_ROWS;
	return self;
}

const LodeTraceTaker *lode_live_traces_taker(const LodeLiveTraces *self)
{
	return &self->taker;
}

unsigned lode_live_traces_n(const LodeLiveTraces *self)
{
	return self->ended->len;
}

/* Runtimes write what code they made while they run, and the last of it at their end. */
static void find_code(LodeLiveTraces *self)
{
	const LodeTracedPlacesOptions *placing = &self->reading.placing;
	const LodePlacesOptions options = {.images = placing->images, .jit = placing->jit};
	g_autoptr(LodePlaces) places = lode_places_new(&options);
	const LodeTracedRows *rows = &self->reading.rows;

	/* Only records of code: nothing is looked up by these mappings. */
	lode_places_begin(places);
	for (guint i = 0; i < self->ended->len; i++) {
		const Trace *trace = g_array_index(self->ended, Trace *, i);
		const GArray *mappings = trace->description->mappings;
		for (guint j = 0; j < mappings->len; j++)
			lode_places_note_traced(places, lode_traced_places_pid(trace->places),
				&g_array_index(mappings, LodeTraceMapping, j), 0);
	}
	lode_places_freeze(places, NULL, NULL, NULL);
	lode_places_select(places, lode_places_begin(places));
	for (guint i = 0; i < rows->instructions->len; i++) {
		LodeTracedInstruction *instruction = &g_array_index(
			rows->instructions, LodeTracedInstruction, i);
		const LodeRecordedObject *object = &g_array_index(
			self->reading.recording->objects, LodeRecordedObject, instruction->object);
		LodePlace place;
		if (object->image != LODE_NONE ||
			lode_places_find_at(places, object->pid, 0, LODE_JIT_TIME_LAST,
				instruction->run_time_address, &place) != LODE_PLACE_FOUND)
			continue;
		instruction->object = lode_code_images_object_of(
			placing->images, self->reading.recording, place.image);
		instruction->address = place.address;
	}
}

LodeRecording *lode_live_traces_finish(LodeLiveTraces *self, GError **error)
{
	find_code(self);
	thin_out(self);
	for (guint i = 0; i < self->traces->len; i++) {
		Trace *trace = self->traces->pdata[i];
		/* One that did not end has no description any more. */
		if (trace->counts != NULL)
			continue;
		name_recording(&self->reading, trace->description, trace->n_references);
		if (trace->description->allocations != NULL)
			take_allocations(trace, trace->description->allocations);
		trace_finish(trace, self->traces->len > 1);
	}
	return reading_finish(&self->reading, error);
}

void lode_live_traces_free(LodeLiveTraces *self)
{
	if (self == NULL)
		return;
	g_ptr_array_unref(self->traces);
	g_array_unref(self->ended);
	reading_clear(&self->reading);
	g_free(self);
}

const char *lode_traced_damage(const LodeProfile *profile)
{
	for (guint i = 0; i < profile->unresolved->len; i++) {
		const LodeUnresolved *row = &LODE_AT(profile->unresolved, LodeUnresolved, i);
		if (strcmp(row->reason, LODE_TRACED_DAMAGE) == 0)
			return row->example;
	}
	return NULL;
}
