/* SPDX-License-Identifier: MIT */
/*
 * Frames are read once, each cut where mappings of code change; a slice is counted, then replayed:
 *
 *   frame ─▶ slices ─▶ traced_counts: executions, transfers
 *                  └─▶ simulated caches ─▶ misses: a column of their instruction, a sampled access
 *                  └─▶ without caches: every access, sampled
 *
 * Counting comes first, because a miss is given to an instruction by what was counted.
 */
#include "ingest/traced/traced_recording.h"

#include "base/error.h"
#include "base/number_format.h"
#include "ingest/traced/traced_branches.h"
#include "ingest/traced/traced_counts.h"
#include "ingest/traced/traced_functions.h"
#include "ingest/traced/traced_memory.h"
#include "ingest/traced/traced_misses.h"
#include "traces/frame_turns.h"
#include "traces/trace_reader.h"

#include <string.h>

/* Of all traces. */
typedef struct {
	uint64_t interval; /* the longest: 1 of so many is kept */
	uint64_t left_out;
} StreamSum;

typedef struct {
	const LodeTracedRecordingOptions *options;
	const LodeProgress *progress;
	LodeRecording *recording;
	LodeSampledFiles files;
	LodeTracedCounts *counts;
	LodeTracedMisses misses;
	LodeTracedBranches *branches; /* NULL: not predicted */

	uint64_t n_references; /* of all traces; 0: of one alone */
	bool has_function;     /* that is asked for, one of them */

	/* Of the trace at hand. */
	const char *path;
	uint32_t number;
	uint64_t first_time_ns; /* the references of those before */
	LodeTraceReader *reader;
	LodeTracedPlaces *places;
	LodeCacheSimulation *simulation; /* NULL: none */
	LodeTracedMemory *memory;

	GArray *intervals;                           /* StreamSum, of the streams */
	GPtrArray *stream_names;                     /* char *, of the memory's streams */
	uint32_t streams[LODE_HIERARCHY_MAX_CACHES]; /* of each cache; LODE_NONE */
	uint32_t class_streams[LODE_N_MISS_CLASSES]; /* likewise */
	const LodeTraceFrame *frame;                 /* that is replayed */
	bool has_frame;                              /* one was */
	bool is_warming_up;                          /* misses are not counted */
	char *damage;                                /* of a frame, at which reading ended; NULL */
} Reading;

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

static void keep_miss(Reading *self, const LodeCacheMiss *miss, uint32_t stream,
	uint32_t instruction, bool counted)
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

static bool is_first_level_data(const Reading *self, const LodeCacheMiss *miss)
{
	const LodeCache *cache = &g_array_index(
		self->options->hierarchy->caches, LodeCache, miss->cache);

	return cache->level == 1 && !cache->is_tlb && miss->kind != LODE_REFERENCE_FETCH;
}

static void add_miss(const LodeCacheMiss *miss, void *user_data)
{
	Reading *self = user_data;

	if (self->is_warming_up)
		return;
	const LodeTracedPlace place = {miss->reference, miss->block, miss->instruction};
	uint32_t instruction = lode_traced_counts_find(self->counts, &place);
	uint32_t column = self->misses.columns[miss->cache][miss->kind];
	uint32_t stream = self->streams[miss->cache];

	if (column != LODE_NONE)
		lode_traced_counts_count(self->counts, instruction, column);
	if (stream != LODE_NONE && miss->kind != LODE_REFERENCE_FETCH)
		keep_miss(self, miss, stream, instruction, false);
	if (miss->miss_class == LODE_N_MISS_CLASSES || !is_first_level_data(self, miss))
		return;
	lode_traced_counts_count(
		self->counts, instruction, self->misses.class_columns[miss->miss_class]);
	keep_miss(self, miss, self->class_streams[miss->miss_class], instruction,
		is_counted(miss->miss_class));
}

/* An invocation of a block, and the addresses of its slots. */
typedef struct {
	LodeTracedPlace place;
	const LodeTraceBlock *block;
	const uint64_t *addresses;
	uint16_t thread;
} Invocation;

static void keep_access(Reading *self, const Invocation *invocation, unsigned slot)
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

static void sample_invocation(Reading *self, const Invocation *invocation)
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
static void sample_accesses(Reading *self, const LodeTraceFrame *frame)
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

/*
 * A frame in pieces, in the middle of which no mapping of code changes: the counts of a block are
 * summed up before they are given to instructions, which is only right while it is the same code.
 */
typedef struct {
	const LodeTraceFrame *frame;
	const LodeTracedPlaces *places;
	LodeTraceFrame slice;
	GArray *switches; /* LodeTraceSwitch, of the slice */
	size_t invocation, address, next_switch;
	uint64_t reference, instruction;
	uint16_t thread;
} Slices;

static void slices_init(Slices *self, const LodeTraceFrame *frame, const LodeTracedPlaces *places)
{
	*self = (Slices){
		.frame = frame,
		.places = places,
		.switches = g_array_new(FALSE, FALSE, sizeof(LodeTraceSwitch)),
		.reference = frame->first_reference,
		.instruction = frame->first_instruction,
	};
}

static void slices_clear(Slices *self)
{
	g_clear_pointer(&self->switches, g_array_unref);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Slices, slices_clear)

static void begin_slice(Slices *self)
{
	self->slice = (LodeTraceFrame){
		.dictionary = self->frame->dictionary,
		.first_new_block = self->frame->first_new_block,
		.n_blocks = self->frame->n_blocks,
		.first_reference = self->reference,
		.first_instruction = self->instruction,
		.blocks = self->frame->blocks + self->invocation,
		.addresses = self->frame->addresses + self->address,
	};
	g_array_set_size(self->switches, 0);
}

static void add_switch(Slices *self, size_t begin_invocation)
{
	const LodeTraceFrame *frame = self->frame;
	bool is_switch = self->next_switch < frame->n_switches &&
	                 frame->switches[self->next_switch].invocation == self->invocation;

	if (is_switch)
		self->thread = frame->switches[self->next_switch++].thread;
	if (!is_switch && self->invocation != begin_invocation)
		return;
	const LodeTraceSwitch added = {
		(uint32_t)(self->invocation - begin_invocation), self->thread};
	g_array_append_val(self->switches, added);
}

static void add_invocation(Slices *self)
{
	const LodeTraceBlock *block = lode_block_dictionary_at(
		self->frame->dictionary, self->frame->blocks[self->invocation]);
	uint64_t n_references = (uint64_t)block->n_instructions + block->n_slots;

	self->slice.n_invocations++;
	self->slice.n_addresses += block->n_slots;
	self->slice.n_references += n_references;
	self->slice.n_instructions += block->n_instructions;
	self->invocation++;
	self->address += block->n_slots;
	self->reference += n_references;
	self->instruction += block->n_instructions;
}

/* The next one, which is the frame itself where nothing changes; NULL: all were given. Valid until
 * the next call. */
static const LodeTraceFrame *next_slice(Slices *self)
{
	const LodeTraceFrame *frame = self->frame;
	size_t first = self->invocation;
	uint64_t change = lode_traced_places_next_change(self->places, self->reference);

	if (first == frame->n_invocations)
		return NULL;
	if (first == 0 && change - self->reference >= frame->n_references) {
		self->invocation = frame->n_invocations;
		return frame;
	}
	begin_slice(self);
	do {
		add_switch(self, first);
		add_invocation(self);
	} while (self->invocation < frame->n_invocations && self->reference < change);
	self->slice.switches = (LodeTraceSwitch *)self->switches->data;
	self->slice.n_switches = self->switches->len;
	return &self->slice;
}

static bool add_slice(Reading *self, const LodeTraceFrame *slice, GError **error)
{
	if (!lode_traced_counts_add(self->counts, slice, error))
		return false;
	g_autoptr(LodeTraceFrame) turns = NULL;
	if (self->simulation != NULL && self->options->quantum > 0)
		slice = turns = lode_frame_turns_new(slice, self->options->quantum);
	self->frame = slice;
	self->has_frame = true;
	if (self->branches != NULL &&
		!lode_traced_branches_add(self->branches, self->counts, slice, error))
		return false;
	if (self->simulation != NULL) {
		bool is_replayed = lode_cache_simulation_replay(self->simulation, slice, error);
		self->frame = NULL;
		return is_replayed;
	}
	sample_accesses(self, slice);
	return true;
}

static bool warm_up(Reading *self, const LodeTraceFrame *frame, GError **error)
{
	g_autoptr(LodeTraceFrame) turns = NULL;

	if (self->simulation == NULL)
		return true;
	if (self->options->quantum > 0)
		frame = turns = lode_frame_turns_new(frame, self->options->quantum);
	return lode_cache_simulation_replay(self->simulation, frame, error);
}

static bool add_frame(Reading *self, const LodeTraceFrame *frame, GError **error)
{
	g_auto(Slices) slices = {0};
	const LodeTraceFrame *slice;

	self->is_warming_up = frame->first_reference < lode_trace_reader_range(self->reader).first;
	if (self->is_warming_up)
		return warm_up(self, frame, error);
	slices_init(&slices, frame, self->places);
	while ((slice = next_slice(&slices)) != NULL)
		if (!add_slice(self, slice, error)) {
			g_prefix_error(error, "%s: ", self->path);
			return false;
		}
	return true;
}

/* Of a file that is cut inside its first frame, nothing can be told. */
static bool has_frames(const Reading *self, GError **error)
{
	const char *damage = lode_trace_reader_damage(self->reader);

	if (damage == NULL || lode_trace_reader_n_frames(self->reader) > 0)
		return true;
	g_set_error(error, LODE_ERROR, LODE_ERROR_CORRUPT, "%s: %s; nothing of it is whole",
		self->path, damage);
	return false;
}

/* What is wrong with a frame takes nothing from those before it. */
static bool end_at_damage(Reading *self, GError *damage, GError **error)
{
	bool is_partial = damage->code == LODE_ERROR_CORRUPT && self->has_frame;

	if (is_partial)
		self->damage = g_strdup(damage->message);
	else
		g_propagate_error(error, g_error_copy(damage));
	return is_partial;
}

static bool read_frames(Reading *self, GError **error)
{
	g_autoptr(GError) damage = NULL;
	const char *stage = self->simulation != NULL ? "simulating caches" : "reading the trace";
	const LodeTraceRange range = lode_trace_reader_range(self->reader);
	const LodeTraceFrame *frame;
	int found;

	while ((found = lode_trace_reader_next(self->reader, &frame, &damage)) > 0) {
		if (!add_frame(self, frame, error))
			return false;
		lode_progress_report(self->progress, stage,
			(double)(range.warm_up + frame->first_reference + frame->n_references -
				 range.first),
			(double)(range.warm_up + range.count), NULL);
		if (!lode_progress_is_cancelled(self->progress))
			continue;
		g_set_error(error, LODE_ERROR, LODE_ERROR_CANCELLED, "stopped");
		return false;
	}
	return found == 0 ? has_frames(self, error) : end_at_damage(self, damage, error);
}

/* One for each sum that misses of data are in; without caches, one for all accesses. */
static void name_streams(Reading *self)
{
	const GArray *sums = self->recording->sums;
	g_autofree uint32_t *streams = g_new(uint32_t, MAX(sums->len, 1));

	memset(streams, 0xff, MAX(sums->len, 1) * sizeof(uint32_t));
	memset(self->streams, 0xff, sizeof(self->streams));
	if (self->options->hierarchy == NULL)
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

/* ", references 1,000 to 1,999" */
static char *part_text(const LodeTraceReader *reader)
{
	const LodeTraceRange range = lode_trace_reader_range(reader);
	char first[LODE_NUMBER_SIZE], last[LODE_NUMBER_SIZE];

	if (range.count == lode_trace_reader_n_references(reader))
		return g_strdup("");
	return g_strdup_printf(", references %s to %s",
		lode_number_format_count((double)range.first, first),
		lode_number_format_count(
			(double)(range.first + range.count - MIN(range.count, 1)), last));
}

/* What made the trace, and what it was replayed through. */
static void name_recording(Reading *self)
{
	const LodeTraceDescription *description = lode_trace_reader_description(self->reader);
	const LodeHierarchy *hierarchy = self->options->hierarchy;
	LodeRecording *recording = self->recording;
	g_autofree char *caches = hierarchy != NULL ? lode_hierarchy_to_text(hierarchy) : NULL;
	g_autofree char *part = self->options->range != NULL ? part_text(self->reader)
	                                                     : g_strdup("");
	const char *function = self->options->function;
	g_autofree char *creator = g_strconcat(
		description->tool != NULL ? description->tool : "unknown tool",
		description->is_partial ? " trace of a part" : " trace", part,
		function != NULL ? ", in " : "", function != NULL ? function : "",
		caches != NULL ? ", through " : "", caches, NULL);

	recording->is_trace = true;
	recording->frequency = LODE_FREQUENCY_EXACT;
	if (recording->creator == NULL)
		recording->creator = g_string_chunk_insert(recording->strings, creator);
	if (description->command != NULL)
		lode_recording_add_command(
			recording, description->command, strlen(description->command));
}

/* What all traces share, with the first of them open. */
static void begin(Reading *self)
{
	const LodeTracedRecordingOptions *options = self->options;

	lode_traced_misses_init(
		&self->misses, self->recording, options->hierarchy, options->classifies);
	name_streams(self);
	if (options->predicts_branches) {
		const LodeTracedBranchesOptions predicting = {
			.model = options->branches,
			.n_cores = options->hierarchy != NULL ? options->hierarchy->n_cores : 1,
		};
		self->branches = lode_traced_branches_new(
			&predicting, self->recording, lode_memory_reading_images(options->memory));
	}
	lode_sampled_files_init(&self->files, self->recording, options->jit);
	self->counts = lode_traced_counts_new(NULL, self->recording);
}

static void add_pid(LodeRecording *recording, uint32_t pid)
{
	for (guint i = 0; i < recording->pids->len; i++)
		if (g_array_index(recording->pids, uint32_t, i) == pid)
			return;
	g_array_append_val(recording->pids, pid);
}

/* Of several traces one at least must know it: a shell has not what it starts has. */
static bool choose_function(Reading *self, GError **error)
{
	g_autoptr(GError) why = NULL;
	g_autoptr(GArray) none = g_array_new(FALSE, FALSE, sizeof(uint64_t));

	if (self->options->function == NULL)
		return true;
	if (lode_traced_functions_choose(self->reader, self->options->function, &why)) {
		self->has_function = true;
		return true;
	}
	lode_trace_reader_set_functions(self->reader, none);
	if (self->has_function || self->number + 1 < self->options->n_paths)
		return true;
	g_propagate_error(error, g_steal_pointer(&why));
	return false;
}

static bool open_trace(Reading *self, GError **error)
{
	const LodeTracedRecordingOptions *options = self->options;
	const LodeTraceReaderOptions reading = {
		.threads = options->threads, .range = options->range};
	const LodeCacheSimulationOptions simulating = {.threads = 1,
		.classifies = options->classifies,
		.on_miss = add_miss,
		.user_data = self};

	self->reader = lode_trace_reader_open(self->path, &reading, error);
	if (self->reader == NULL)
		return false;
	const LodeTraceDescription *description = lode_trace_reader_description(self->reader);
	if (!choose_function(self, error))
		return false;
	name_recording(self);
	if (self->counts == NULL)
		begin(self);
	self->places = lode_traced_places_new_process(
		description, lode_traced_places_find_pid(description), &self->files);
	add_pid(self->recording, lode_traced_places_pid(self->places));
	lode_traced_counts_begin(self->counts, self->places);
	self->has_frame = false;
	self->memory = lode_traced_memory_new(self->stream_names->len);
	if (self->n_references > 0)
		lode_traced_memory_set_share(
			self->memory, (double)lode_trace_reader_n_references(self->reader) /
					      (double)self->n_references);
	if (options->hierarchy == NULL)
		return true;
	for (int i = 0; options->classifies && i < LODE_N_MISS_CLASSES; i++)
		if (is_counted(i))
			lode_traced_memory_set_counted(self->memory, self->class_streams[i]);
	self->simulation = lode_cache_simulation_new(&options->hierarchy, 1, &simulating, error);
	return self->simulation != NULL;
}

static void close_trace(Reading *self)
{
	g_clear_pointer(&self->simulation, lode_cache_simulation_free);
	g_clear_pointer(&self->memory, lode_traced_memory_free);
	g_clear_pointer(&self->places, lode_traced_places_free);
	g_clear_pointer(&self->reader, lode_trace_reader_close);
	g_clear_pointer(&self->damage, g_free);
}

/* Of what the trace at hand has of each stream. */
static void sum_streams(Reading *self)
{
	for (guint i = 0; i < self->stream_names->len; i++) {
		if (self->intervals->len <= i) {
			const StreamSum none = {0};
			g_array_append_val(self->intervals, none);
		}
		StreamSum *sum = &g_array_index(self->intervals, StreamSum, i);
		sum->interval = MAX(sum->interval, lode_traced_memory_interval(self->memory, i));
		sum->left_out += lode_traced_memory_left_out(self->memory, i);
	}
}

/* An address in 1 of N, of several traces at least, is said where the event is described. */
static void describe_streams(Reading *self)
{
	LodeRecording *recording = self->recording;

	for (guint i = 0; i < recording->sums->len; i++) {
		LodeRecordedSum *sum = &g_array_index(recording->sums, LodeRecordedSum, i);
		for (guint j = 0; j < self->stream_names->len; j++) {
			const StreamSum *kept = &g_array_index(self->intervals, StreamSum, j);
			if (strcmp(sum->name, self->stream_names->pdata[j]) != 0)
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

static void account_damage(Reading *self)
{
	const char *damage = self->damage != NULL ? self->damage
	                                          : lode_trace_reader_damage(self->reader);

	if (damage != NULL)
		lode_recording_add_unresolved(self->recording, LODE_TRACED_DAMAGE, damage, 0, 0);
}

static void finish_trace(Reading *self)
{
	uint64_t n_references = lode_trace_reader_n_references(self->reader);
	const LodeTracedMemoryContext context = {
		.description = lode_trace_reader_description(self->reader),
		.counts = self->counts,
		.recording = self->recording,
		.stream_names = (const char *const *)self->stream_names->pdata,
		.pid = lode_traced_places_pid(self->places),
		.input = self->number,
		.first_time_ns = self->first_time_ns,
		.end_time_ns = self->first_time_ns + n_references + 1,
		.is_one_of_many = self->options->n_paths > 1,
	};

	sum_streams(self);
	account_damage(self);
	self->first_time_ns = context.end_time_ns + 1;
	lode_traced_memory_finish(self->memory, &context, self->options->memory);
}

/* Of all traces; of one alone nobody asks. */
static bool sum_references(Reading *self, GError **error)
{
	const LodeTraceReaderOptions reading = {.threads = 1};

	for (size_t i = 0; i < self->options->n_paths && self->options->n_paths > 1; i++) {
		g_autoptr(LodeTraceReader)
			reader = lode_trace_reader_open(self->options->paths[i], &reading, error);
		if (reader == NULL)
			return false;
		self->n_references += lode_trace_reader_n_references(reader);
	}
	return true;
}

static bool read_traces(Reading *self, GError **error)
{
	if (!sum_references(self, error))
		return false;
	for (size_t i = 0; i < self->options->n_paths; i++) {
		self->path = self->options->paths[i];
		self->number = (uint32_t)i;
		bool is_read = open_trace(self, error) && read_frames(self, error);
		if (is_read)
			finish_trace(self);
		/* Its blocks are still to be given to instructions. */
		if (is_read)
			lode_traced_counts_begin(self->counts, NULL);
		close_trace(self);
		if (!is_read)
			return false;
	}
	describe_streams(self);
	if (self->branches != NULL)
		lode_traced_branches_finish(self->branches);
	if (lode_traced_counts_finish(self->counts, error))
		return true;
	g_prefix_error(error, "%s: ", self->path);
	return false;
}

LodeRecording *lode_traced_recording_read(
	const LodeTracedRecordingOptions *options, const LodeProgress *progress, GError **error)
{
	Reading self = {
		.options = options,
		.progress = progress,
		.recording = lode_recording_new(),
		.stream_names = g_ptr_array_new(),
		.intervals = g_array_new(FALSE, FALSE, sizeof(StreamSum)),
	};
	LodeRecording *recording = NULL;

	if (read_traces(&self, error))
		recording = g_steal_pointer(&self.recording);
	lode_traced_branches_free(self.branches);
	lode_traced_counts_free(self.counts);
	lode_sampled_files_clear(&self.files);
	g_ptr_array_unref(self.stream_names);
	g_array_unref(self.intervals);
	lode_recording_free(self.recording);
	return recording;
}
