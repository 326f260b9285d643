/* SPDX-License-Identifier: MIT */
/*
 * Records of the kernel other than samples (perf_event_open(2)). After their own fields, if the
 * event has sample_id_all, they have the identifying fields of a sample:
 *
 *   own fields, texts with NUL and padding │ pid tid │ time │ id │ stream │ cpu │ identifier
 */
#include "base/bits.h"
#include "sources/perf_data/deferred_chains.h"
#include "sources/perf_data/perf_data_reader.h"

#include <sys/mman.h>

/* --- samples --- */

/*
 * A sample: the fields that its event's sample_type names, one after the other, in the order of
 * perf_event_open(2).
 *
 *   identifier ip pid tid time addr id stream cpu period │ read callchain raw branches
 *   user registers, stack │ weight source transaction │ interrupt registers …
 *
 * Arrays are borrowed from the file where they stand as the machine wants them, and else copied to
 * a scratch area: no array is longer than the record, so that the area has a fixed size.
 */

enum { SCRATCH_WORDS = UINT16_MAX / sizeof(uint64_t) };

/* The next n words; NULL at the overrun and when n is 0. */
static const uint64_t *read_words(
	LodePerfData *self, LodeByteCursor *cursor, uint64_t n, bool must_copy)
{
	/* Saturated, so that the multiplication does not wrap. */
	const uint8_t *bytes = lode_byte_cursor_bytes(cursor, MIN(n, UINT32_MAX) * 8);

	if (bytes == NULL || n == 0)
		return NULL;
	if (!cursor->is_swapped && !must_copy && ((uintptr_t)bytes & 7) == 0)
		return (const uint64_t *)(const void *)bytes;
	if (self->scratch.words == NULL)
		self->scratch.words = g_new(uint64_t, SCRATCH_WORDS);
	uint64_t *words = self->scratch.words + self->scratch.n;
	self->scratch.n += n;
	memcpy(words, bytes, n * sizeof(uint64_t));
	for (uint64_t i = 0; i < n && cursor->is_swapped; i++)
		words[i] = GUINT64_SWAP_LE_BE(words[i]);
	return words;
}

/* A field of a perf_branch_entry's flags, where a big-endian machine has it and where we have it.
 */
typedef struct {
	uint8_t shift, width;
} BranchField;

static uint64_t little_endian_branch_flags(uint64_t flags)
{
	static const BranchField fields[] = {
		{0, 1}, {1, 1}, {2, 1}, {3, 1}, {4, 16}, {20, 4}, {24, 2}, {26, 4}, {30, 3}};
	uint64_t result = 0;

	for (size_t i = 0; i < G_N_ELEMENTS(fields); i++) {
		uint64_t mask = LODE_BIT(fields[i].width) - 1;
		unsigned from = 64u - fields[i].shift - fields[i].width;
		result |= (flags >> from & mask) << fields[i].shift;
	}
	return result;
}

static void read_branches(LodePerfData *self, const LodePerfLayout *layout, LodeByteCursor *cursor,
	LodePerfSample *out)
{
	uint64_t n = lode_byte_cursor_u64(cursor);

	if (layout->branch_sample_type & PERF_SAMPLE_BRANCH_HW_INDEX)
		out->branch_hw_index = lode_byte_cursor_u64(cursor);
	const uint64_t *words = read_words(
		self, cursor, MIN(n, UINT32_MAX / 3) * 3, self->is_big_endian);
	if (words == NULL)
		return;
	out->branches = (const LodePerfBranch *)words;
	out->n_branches = n;
	for (uint64_t i = 0; i < n && self->is_big_endian; i++) {
		LodePerfBranch *branch = (LodePerfBranch *)&out->branches[i];
		branch->flags = little_endian_branch_flags(branch->flags);
	}
	if (layout->branch_sample_type & LODE_PERF_BRANCH_COUNTERS)
		out->branch_counters = read_words(self, cursor, n, false);
}

static void read_counts(
	LodePerfData *self, uint64_t format, LodeByteCursor *cursor, LodePerfSample *out)
{
	const uint64_t times = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	const uint64_t beside = PERF_FORMAT_ID | LODE_PERF_FORMAT_LOST;
	unsigned n_times = (unsigned)__builtin_popcountll(format & times);
	unsigned n_of_one = 1 + (unsigned)__builtin_popcountll(format & beside);
	uint64_t n = n_times + n_of_one;

	if (format & PERF_FORMAT_GROUP) {
		LodeByteCursor ahead = *cursor;
		uint64_t n_members = lode_byte_cursor_u64(&ahead);
		n = 1 + n_times + MIN(n_members, UINT32_MAX / 4) * n_of_one;
	}
	out->read_values = read_words(self, cursor, n, false);
	out->n_read_values = out->read_values != NULL ? n : 0;
}

/*
 *   one counter   value │ enabled │ running │ id │ lost             each but the value as asked for
 *   a group       n │ enabled │ running │ value │ id │ lost │ value │ id │ lost …
 */
void lode_perf_data_read_counts(
	LodePerfData *self, const LodePerfRecord *record, GArray *out_counts)
{
	const LodePerfSample *sample = &record->sample;
	const uint64_t *words = sample->read_values;
	uint64_t format = g_array_index(self->layouts, LodePerfLayout, record->event).read_format;
	bool is_group = (format & PERF_FORMAT_GROUP) != 0, has_id = (format & PERF_FORMAT_ID) != 0;
	bool has_lost = (format & LODE_PERF_FORMAT_LOST) != 0;
	size_t n_times = (format & PERF_FORMAT_TOTAL_TIME_ENABLED ? 1 : 0) +
	                 (format & PERF_FORMAT_TOTAL_TIME_RUNNING ? 1 : 0);
	size_t n_of_one = (size_t)1 + has_id + has_lost;
	size_t n = sample->n_read_values == 0 ? 0 : is_group ? words[0] : 1;

	for (size_t i = 0; i < n; i++) {
		const uint64_t *value = is_group ? words + 1 + n_times + i * n_of_one : words;
		LodePerfCount count = {.value = *value, .event = record->event + (uint32_t)i};
		if (has_id)
			count.id = value[is_group ? 1 : 1 + n_times];
		if (has_id && !lode_perf_data_find_id(self, count.id, &count.event))
			count.event = UINT32_MAX;
		if (count.event >= self->events->len)
			count.event = UINT32_MAX;
		g_array_append_val(out_counts, count);
	}
}

static void read_raw(LodeByteCursor *cursor, LodePerfSample *out)
{
	uint32_t size = lode_byte_cursor_u32(cursor);

	out->raw = lode_byte_cursor_bytes(cursor, size);
	out->raw_size = out->raw != NULL ? size : 0;
}

static const uint64_t *read_registers(
	LodePerfData *self, LodeByteCursor *cursor, unsigned n, uint64_t *out_abi)
{
	/* a kernel thread has no user registers, and then no words follow */
	*out_abi = lode_byte_cursor_u64(cursor);
	return *out_abi != PERF_SAMPLE_REGS_ABI_NONE ? read_words(self, cursor, n, false) : NULL;
}

/* The requested number of bytes is there, and then how many of them are the stack. */
static void read_stack(LodeByteCursor *cursor, LodePerfSample *out)
{
	uint64_t size = lode_byte_cursor_u64(cursor);

	if (size == 0) /* without a user stack, how much is used is left out too */
		return;
	out->stack = lode_byte_cursor_bytes(cursor, size);
	uint64_t used = lode_byte_cursor_u64(cursor);
	out->stack_size = cursor->is_overrun ? 0 : MIN(used, size);
}

/* From `read` to the user's stack: what most samples do not have. */
static void read_middle(LodePerfData *self, const LodePerfLayout *layout, LodeByteCursor *cursor,
	LodePerfSample *out)
{
	const uint64_t type = layout->sample_type;

	if (type & PERF_SAMPLE_READ)
		read_counts(self, layout->read_format, cursor, out);
	if (type & PERF_SAMPLE_CALLCHAIN) {
		uint64_t n = lode_byte_cursor_u64(cursor);
		out->callchain = read_words(self, cursor, n, false);
		out->n_callchain = out->callchain != NULL ? n : 0;
	}
	if (type & PERF_SAMPLE_RAW)
		read_raw(cursor, out);
	if (type & PERF_SAMPLE_BRANCH_STACK)
		read_branches(self, layout, cursor, out);
	if (type & PERF_SAMPLE_REGS_USER)
		out->user_registers = read_registers(
			self, cursor, layout->n_user_registers, &out->user_abi);
	if (type & PERF_SAMPLE_STACK_USER)
		read_stack(cursor, out);
}

/* Reads the fields from the weight on. Fields that a newer kernel put after these are ignored. */
static void read_end(LodePerfData *self, const LodePerfLayout *layout, LodeByteCursor *cursor,
	LodePerfSample *out)
{
	const uint64_t type = layout->sample_type;

	if (type & (PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT))
		out->weight = lode_byte_cursor_u64(cursor);
	if (type & PERF_SAMPLE_DATA_SRC)
		out->data_source = lode_byte_cursor_u64(cursor);
	if (type & PERF_SAMPLE_TRANSACTION)
		out->transaction = lode_byte_cursor_u64(cursor);
	if (type & PERF_SAMPLE_REGS_INTR)
		out->interrupt_registers = read_registers(
			self, cursor, layout->n_interrupt_registers, &out->interrupt_abi);
	if (type & PERF_SAMPLE_PHYS_ADDR)
		out->physical_address = lode_byte_cursor_u64(cursor);
	if (type & PERF_SAMPLE_CGROUP)
		out->cgroup = lode_byte_cursor_u64(cursor);
	if (type & PERF_SAMPLE_DATA_PAGE_SIZE)
		out->data_page_size = lode_byte_cursor_u64(cursor);
	if (type & PERF_SAMPLE_CODE_PAGE_SIZE)
		out->code_page_size = lode_byte_cursor_u64(cursor);
	if (type & PERF_SAMPLE_AUX)
		lode_byte_cursor_skip(cursor, lode_byte_cursor_u64(cursor));
}

/* From the identifier to the period: what nearly all samples have. */
static inline void read_start(uint64_t type, LodeByteCursor *cursor, LodePerfRecord *out)
{
	LodePerfSample *sample = &out->sample;

	if (type & PERF_SAMPLE_IDENTIFIER)
		sample->id = lode_byte_cursor_u64(cursor);
	if (type & PERF_SAMPLE_IP)
		sample->ip = lode_byte_cursor_u64(cursor);
	if (type & PERF_SAMPLE_TID) {
		out->pid = lode_byte_cursor_u32(cursor);
		out->tid = lode_byte_cursor_u32(cursor);
	}
	if (type & PERF_SAMPLE_TIME)
		out->time_ns = lode_byte_cursor_u64(cursor);
	if (type & PERF_SAMPLE_ADDR)
		sample->address = lode_byte_cursor_u64(cursor);
	if (type & PERF_SAMPLE_ID)
		sample->id = lode_byte_cursor_u64(cursor);
	if (type & PERF_SAMPLE_STREAM_ID)
		sample->stream_id = lode_byte_cursor_u64(cursor);
	if (type & PERF_SAMPLE_CPU) {
		sample->cpu = lode_byte_cursor_u32(cursor);
		lode_byte_cursor_skip(cursor, 4);
	}
	if (type & PERF_SAMPLE_PERIOD)
		sample->period = lode_byte_cursor_u64(cursor);
}

/* An id of 0 is that of what perf made up itself: it belongs to the first event. */
static inline LodePerfParse find_event(
	LodePerfData *self, const LodePerfRawRecord *raw, uint32_t *out_event, GError **error)
{
	LodeByteCursor cursor = raw->payload;

	*out_event = 0;
	if (G_UNLIKELY(self->events->len == 0 || self->is_ambiguous)) {
		lode_perf_data_fail(self, raw->offset,
			self->is_ambiguous ? LODE_ERROR_UNSUPPORTED : LODE_ERROR_CORRUPT,
			self->is_ambiguous ? "events whose samples cannot be told apart"
					   : "a sample before any event",
			error);
		return LODE_PERF_FAILED;
	}
	if (self->events->len == 1 || self->ids.word < 0)
		return LODE_PERF_PARSED;
	lode_byte_cursor_skip(&cursor, 8 * (uint64_t)self->ids.word);
	uint64_t id = lode_byte_cursor_u64(&cursor);
	if (id == 0 || lode_perf_data_find_id(self, id, out_event))
		return LODE_PERF_PARSED;
	self->info.left_out.n_unknown_ids++;
	return LODE_PERF_SKIPPED;
}

/* Whether the user's frames of a sample come in a record of their own. */
static bool is_deferred(const LodePerfSample *sample)
{
	for (size_t i = 0; i < sample->n_callchain; i++)
		if (sample->callchain[i] == LODE_PERF_CONTEXT_USER_DEFERRED)
			return true;
	return false;
}

/* In the first reading the frames are still to come. */
static void complete_chain(LodePerfData *self, bool is_first_reading, LodePerfRecord *out)
{
	if (!is_deferred(&out->sample))
		return;
	if (is_first_reading || self->deferred == NULL) {
		self->info.left_out.n_missing_chains++;
		return;
	}
	self->info.left_out.n_missing_chains += !lode_deferred_chains_complete(self->deferred, out);
	self->info.left_out.n_unused_chains = lode_deferred_chains_n_unused(self->deferred);
}

static inline void clear_record(
	const LodePerfData *self, const LodePerfRawRecord *raw, uint32_t event, LodePerfRecord *out)
{
	/* With a constant size the compiler makes a loop that took half the time of all parsing;
	 * the C library's is faster. */
	memset(out, 0, self->record_size);
	out->kind = LODE_PERF_SAMPLE;
	out->mode = (LodePerfMode)MIN(
		raw->misc & PERF_RECORD_MISC_CPUMODE_MASK, LODE_PERF_MODE_GUEST_USER);
	out->event = event;
	out->pid = UINT32_MAX;
	out->tid = UINT32_MAX;
	out->offset = raw->offset;
	out->sample.cpu = UINT32_MAX;
	out->sample.branch_hw_index = UINT64_MAX;
}

LodePerfParse lode_perf_data_parse_sample(
	LodePerfData *self, LodePerfRawRecord *raw, LodePerfRecord *out, GError **error)
{
	enum {
		MIDDLE = PERF_SAMPLE_READ | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_RAW |
		         PERF_SAMPLE_BRANCH_STACK | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER,
	};
	uint32_t event;
	LodePerfParse parse = find_event(self, raw, &event, error);

	if (G_UNLIKELY(parse != LODE_PERF_PARSED))
		return parse;
	const LodePerfLayout *layout = &g_array_index(self->layouts, LodePerfLayout, event);
	clear_record(self, raw, event, out);
	self->scratch.n = 0;
	read_start(layout->sample_type, &raw->payload, out);
	if (layout->sample_type & MIDDLE)
		read_middle(self, layout, &raw->payload, &out->sample);
	if (layout->sample_type >= PERF_SAMPLE_WEIGHT)
		read_end(self, layout, &raw->payload, &out->sample);
	if (layout->sample_type & PERF_SAMPLE_CALLCHAIN)
		complete_chain(self, raw->is_first_reading, out);
	if (G_LIKELY(!raw->payload.is_overrun))
		return LODE_PERF_PARSED;
	lode_perf_data_fail(
		self, raw->offset, LODE_ERROR_CORRUPT, "a sample shorter than its fields", error);
	return LODE_PERF_FAILED;
}

/* --- mappings, processes, losses --- */

/* The record's event, which the trailer names: all events have its id at the same place. */
static uint32_t find_trailer_event(LodePerfData *self, const LodeByteCursor *payload)
{
	uint32_t event = 0;
	size_t id_and_after = 8 * (size_t)MAX(self->ids.trailer_word, 0);

	if (self->events->len < 2 || id_and_after == 0 ||
		lode_byte_cursor_left(payload) < id_and_after)
		return 0;
	LodeByteCursor cursor = *payload;
	cursor.at = cursor.end - id_and_after;
	uint64_t id = lode_byte_cursor_u64(&cursor);
	return id != 0 && lode_perf_data_find_id(self, id, &event) ? event : 0;
}

static bool has_own_ids(LodePerfRecordKind kind)
{
	return kind == LODE_PERF_MAPPING || kind == LODE_PERF_COMMAND || kind == LODE_PERF_FORK ||
	       kind == LODE_PERF_EXIT;
}

/* A record may lack its trailer: old perf left it out of what it made up itself. */
static void read_trailer(LodePerfData *self, LodeByteCursor *payload, LodePerfRecord *out)
{
	if (self->events->len == 0)
		return;
	out->event = find_trailer_event(self, payload);
	const LodePerfLayout *layout = &g_array_index(self->layouts, LodePerfLayout, out->event);
	LodeByteCursor cursor = *payload;
	if (layout->trailer_size == 0 || lode_byte_cursor_left(&cursor) < layout->trailer_size)
		return;
	cursor.at = cursor.end - layout->trailer_size;
	if (layout->sample_type & PERF_SAMPLE_TID) {
		uint32_t pid = lode_byte_cursor_u32(&cursor), tid = lode_byte_cursor_u32(&cursor);
		/* The record's own say whom it is about, the trailer's who caused it. */
		out->pid = has_own_ids(out->kind) ? out->pid : pid;
		out->tid = has_own_ids(out->kind) ? out->tid : tid;
	}
	if (layout->sample_type & PERF_SAMPLE_TIME)
		out->time_ns = lode_byte_cursor_u64(&cursor);
	if (layout->sample_type & PERF_SAMPLE_ID)
		out->sample.id = lode_byte_cursor_u64(&cursor);
	if (layout->sample_type & PERF_SAMPLE_STREAM_ID)
		out->sample.stream_id = lode_byte_cursor_u64(&cursor);
	if (layout->sample_type & PERF_SAMPLE_CPU) {
		out->sample.cpu = lode_byte_cursor_u32(&cursor);
		lode_byte_cursor_skip(&cursor, 4);
	}
	if (layout->sample_type & PERF_SAMPLE_IDENTIFIER)
		out->sample.id = lode_byte_cursor_u64(&cursor);
}

static void read_build_id(LodePerfMapping *mapping, LodeByteCursor *cursor)
{
	uint8_t size = lode_byte_cursor_u8(cursor);

	lode_byte_cursor_skip(cursor, 3);
	mapping->build_id = lode_byte_cursor_bytes(cursor, LODE_PERF_BUILD_ID_BYTES);
	if (mapping->build_id == NULL)
		return;
	mapping->is_build_id_padded = size == 0;
	mapping->build_id_size = (uint8_t)(size > 0 ? MIN(size, LODE_PERF_BUILD_ID_BYTES)
						    : lode_perf_data_guess_build_id_size(
							      mapping->build_id));
	if (mapping->build_id_size == 0)
		mapping->build_id = NULL;
}

static void read_identity(LodePerfMapping *mapping, LodeByteCursor *cursor)
{
	mapping->device_major = lode_byte_cursor_u32(cursor);
	mapping->device_minor = lode_byte_cursor_u32(cursor);
	mapping->inode = lode_byte_cursor_u64(cursor);
	mapping->generation = lode_byte_cursor_u64(cursor);
}

static void read_mapping(LodePerfRawRecord *raw, LodePerfRecord *out)
{
	LodeByteCursor *cursor = &raw->payload;
	LodePerfMapping *mapping = &out->mapping;

	out->kind = LODE_PERF_MAPPING;
	out->pid = lode_byte_cursor_u32(cursor);
	out->tid = lode_byte_cursor_u32(cursor);
	mapping->start = lode_byte_cursor_u64(cursor);
	mapping->size = lode_byte_cursor_u64(cursor);
	mapping->offset = lode_byte_cursor_u64(cursor);
	/* PERF_RECORD_MMAP does not say it: one without the bit is of code */
	mapping->protection = PROT_READ | (raw->misc & PERF_RECORD_MISC_MMAP_DATA ? 0 : PROT_EXEC);
	if (raw->type == PERF_RECORD_MMAP2) {
		if (raw->misc & LODE_PERF_MISC_MMAP_BUILD_ID)
			read_build_id(mapping, cursor);
		else
			read_identity(mapping, cursor);
		mapping->protection = lode_byte_cursor_u32(cursor);
		lode_byte_cursor_skip(cursor, 4);
	}
	mapping->path = lode_byte_cursor_text(cursor);
}

static void read_command(LodePerfRawRecord *raw, LodePerfRecord *out)
{
	out->kind = LODE_PERF_COMMAND;
	out->pid = lode_byte_cursor_u32(&raw->payload);
	out->tid = lode_byte_cursor_u32(&raw->payload);
	out->is_exec = (raw->misc & PERF_RECORD_MISC_COMM_EXEC) != 0;
	out->text = lode_byte_cursor_text(&raw->payload);
}

static void read_task(LodePerfRawRecord *raw, LodePerfRecord *out)
{
	out->kind = raw->type == PERF_RECORD_FORK ? LODE_PERF_FORK : LODE_PERF_EXIT;
	out->pid = lode_byte_cursor_u32(&raw->payload);
	out->parent_pid = lode_byte_cursor_u32(&raw->payload);
	out->tid = lode_byte_cursor_u32(&raw->payload);
	out->parent_tid = lode_byte_cursor_u32(&raw->payload);
	out->time_ns = lode_byte_cursor_u64(&raw->payload);
}

static void read_lost(LodePerfRawRecord *raw, LodePerfRecord *out)
{
	out->kind = LODE_PERF_LOST_SAMPLES;
	if (raw->type == PERF_RECORD_LOST) {
		out->kind = LODE_PERF_LOST;
		out->sample.id = lode_byte_cursor_u64(&raw->payload);
	}
	out->value = lode_byte_cursor_u64(&raw->payload);
}

static void read_throttle(LodePerfRawRecord *raw, LodePerfRecord *out)
{
	out->kind = raw->type == PERF_RECORD_THROTTLE ? LODE_PERF_THROTTLE : LODE_PERF_UNTHROTTLE;
	out->time_ns = lode_byte_cursor_u64(&raw->payload);
	out->sample.id = lode_byte_cursor_u64(&raw->payload);
	out->sample.stream_id = lode_byte_cursor_u64(&raw->payload);
}

/* The thread is the one of the trailer; the other one of that CPU has a record of its own. */
static void read_switch(LodePerfRawRecord *raw, LodePerfRecord *out)
{
	out->kind = LODE_PERF_SWITCH;
	out->is_out = (raw->misc & PERF_RECORD_MISC_SWITCH_OUT) != 0;
	out->is_preempted = (raw->misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT) != 0;
	if (raw->type == PERF_RECORD_SWITCH_CPU_WIDE)
		lode_byte_cursor_skip(&raw->payload, 8);
}

/* Whether it concerns the user. */
static bool read_fields(LodePerfRawRecord *raw, LodePerfRecord *out)
{
	switch (raw->type) {
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		read_mapping(raw, out);
		return true;
	case PERF_RECORD_COMM:
		read_command(raw, out);
		return true;
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		read_task(raw, out);
		return true;
	case PERF_RECORD_LOST:
	case PERF_RECORD_LOST_SAMPLES:
		read_lost(raw, out);
		return true;
	case PERF_RECORD_THROTTLE:
	case PERF_RECORD_UNTHROTTLE:
		read_throttle(raw, out);
		return true;
	case PERF_RECORD_SWITCH:
	case PERF_RECORD_SWITCH_CPU_WIDE:
		read_switch(raw, out);
		return true;
	default:
		return false;
	}
}

/* User frames for samples before it. */
static LodePerfParse keep_chain(
	LodePerfData *self, LodePerfRawRecord *raw, LodePerfRecord *out, GError **error)
{
	uint64_t cookie = lode_byte_cursor_u64(&raw->payload);
	uint64_t n = lode_byte_cursor_u64(&raw->payload);

	if (!raw->is_first_reading)
		return LODE_PERF_SKIPPED;
	self->scratch.n = 0;
	const uint64_t *addresses = read_words(self, &raw->payload, n, false);
	if (raw->payload.is_overrun) {
		lode_perf_data_fail(self, raw->offset, LODE_ERROR_CORRUPT,
			"a record shorter than its fields", error);
		return LODE_PERF_FAILED;
	}
	read_trailer(self, &raw->payload, out);
	if (self->deferred == NULL)
		self->deferred = lode_deferred_chains_new();
	if (addresses != NULL)
		lode_deferred_chains_add(self->deferred, out, cookie, addresses, n);
	self->info.left_out.n_unused_chains = lode_deferred_chains_n_unused(self->deferred);
	return LODE_PERF_SKIPPED;
}

/* The kernel reports a task by each event that reports mappings of code or data, too, with a time
 * of its own: a thread that ended would begin again for a microsecond. Tasks that were there before
 * the recording are written by perf itself, without a time, under whichever event. */
static bool is_told_twice(const LodePerfData *self, const LodePerfRecord *record)
{
	bool is_task = record->kind == LODE_PERF_FORK || record->kind == LODE_PERF_EXIT;

	return is_task && self->has_tasks && record->time_ns != 0 &&
	       !g_array_index(self->events, LodePerfEvent, record->event).has_tasks;
}

LodePerfParse lode_perf_data_parse_kernel_record(
	LodePerfData *self, LodePerfRawRecord *raw, LodePerfRecord *out, GError **error)
{
	*out = (LodePerfRecord){
		.mode = (LodePerfMode)MIN(
			raw->misc & PERF_RECORD_MISC_CPUMODE_MASK, LODE_PERF_MODE_GUEST_USER),
		.pid = UINT32_MAX,
		.tid = UINT32_MAX,
		.offset = raw->offset,
		.sample = {.cpu = UINT32_MAX, .branch_hw_index = UINT64_MAX},
	};
	if (raw->type == LODE_PERF_RECORD_CALLCHAIN_DEFERRED)
		return keep_chain(self, raw, out, error);
	if (!read_fields(raw, out)) {
		lode_perf_data_skip(self, raw);
		return LODE_PERF_SKIPPED;
	}
	if (raw->payload.is_overrun) {
		lode_perf_data_fail(self, raw->offset, LODE_ERROR_CORRUPT,
			"a record shorter than its fields", error);
		return LODE_PERF_FAILED;
	}
	read_trailer(self, &raw->payload, out);
	return is_told_twice(self, out) ? LODE_PERF_SKIPPED : LODE_PERF_PARSED;
}
