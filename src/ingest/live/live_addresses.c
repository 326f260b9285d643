/* SPDX-License-Identifier: MIT */
#include "ingest/live/live_addresses.h"

#include "base/hash.h"
#include "images/data_access.h"
#include "process/live_code.h"
#include "process/live_mappings.h"
#include "record/perf_existing.h"
#include "sources/perf_data.h"

#include <string.h>
#include <sys/mman.h>

enum { CODE_CACHE = 4096, MAX_THREADS = 65536 };
/* A process is not asked for its mappings more often. */
enum { ASK_AGAIN_US = G_USEC_PER_SEC / 4 };

/* Where code that was sampled lies; image NULL: in no file. */
typedef struct {
	uint64_t generation, pc, address;
	const LodeLiveImage *image;
	uint32_t pid;
	bool is_mapped;
} CodePlace;

typedef struct {
	uint64_t time_ns;
	size_t offset, size;
} RecordPlace;

struct LodeLiveAddresses {
	LodeLiveAddressesOptions options;
	LodePerfData *reader;
	LodeLiveMappings *mappings;
	LodeLiveCode *code;
	GArray *threads;        /* LodeThread */
	GHashTable *thread_ids; /* tid ‖ pid → index + 1 */
	GHashTable *n_of_pid;   /* threads that a process had so far */
	GHashTable *asked_us;   /* pid → gint64 *: when it was asked for its mappings */
	GArray *order;          /* RecordPlace, of one call */
	CodePlace cache[CODE_CACHE];
	/* Of the sample at hand. */
	const LodeLiveImage *image;
	uint32_t pid;
	uint64_t n_unreadable;
	bool is_by_time;
};

static void clear_thread(void *data)
{
	g_free(((LodeThread *)data)->name);
}

LodeLiveAddresses *lode_live_addresses_new(const LodeLiveAddressesOptions *options)
{
	LodeLiveAddresses *self = g_new0(LodeLiveAddresses, 1);

	self->options = *options;
	self->reader = lode_perf_data_new("live");
	self->mappings = lode_live_mappings_new();
	self->code = lode_live_code_new();
	self->threads = g_array_new(FALSE, FALSE, sizeof(LodeThread));
	g_array_set_clear_func(self->threads, clear_thread);
	self->thread_ids = g_hash_table_new(lode_hash_pair, NULL);
	self->n_of_pid = g_hash_table_new(NULL, NULL);
	self->asked_us = g_hash_table_new_full(NULL, NULL, NULL, g_free);
	self->order = g_array_new(FALSE, FALSE, sizeof(RecordPlace));
	return self;
}

void lode_live_addresses_free(LodeLiveAddresses *self)
{
	if (self == NULL)
		return;
	g_array_unref(self->order);
	g_hash_table_unref(self->asked_us);
	g_hash_table_unref(self->n_of_pid);
	g_hash_table_unref(self->thread_ids);
	g_array_unref(self->threads);
	lode_live_code_free(self->code);
	lode_live_mappings_free(self->mappings);
	lode_perf_data_close(self->reader);
	g_free(self);
}

static bool is_time(uint32_t type, uint64_t config)
{
	if (type == PERF_TYPE_SOFTWARE)
		return config == PERF_COUNT_SW_CPU_CLOCK || config == PERF_COUNT_SW_TASK_CLOCK;
	return type == PERF_TYPE_HARDWARE &&
	       (config == PERF_COUNT_HW_CPU_CYCLES || config == PERF_COUNT_HW_REF_CPU_CYCLES);
}

void lode_live_addresses_add_event(LodeLiveAddresses *self, const LodePerfObservedEvent *event)
{
	lode_perf_data_add(self->reader, event->attr, event->name, event->ids, event->n_ids);
	self->is_by_time |= !event->is_tracking && is_time(event->attr->type, event->attr->config);
}

const GArray *lode_live_addresses_threads(const LodeLiveAddresses *self)
{
	return self->threads;
}

bool lode_live_addresses_is_by_time(const LodeLiveAddresses *self)
{
	return self->is_by_time;
}

uint64_t lode_live_addresses_n_unreadable(const LodeLiveAddresses *self)
{
	return self->n_unreadable;
}

/* --- threads --- */

static void *thread_key(uint32_t pid, uint32_t tid)
{
	return GSIZE_TO_POINTER((guint64)tid << 32 | pid);
}

static uint32_t add_thread(LodeLiveAddresses *self, uint32_t pid, uint32_t tid)
{
	guint n = GPOINTER_TO_UINT(g_hash_table_lookup(self->n_of_pid, GUINT_TO_POINTER(pid)));
	const LodeThread thread = {
		.pid = pid,
		.tid = tid,
		.ordinal = n,
		.end_ns = UINT64_MAX,
	};

	/* Of a program that starts ever more threads, the last ones are counted as one. */
	if (self->threads->len < MAX_THREADS)
		g_array_append_val(self->threads, thread);
	g_hash_table_insert(self->n_of_pid, GUINT_TO_POINTER(pid), GUINT_TO_POINTER(n + 1));
	g_hash_table_insert(
		self->thread_ids, thread_key(pid, tid), GUINT_TO_POINTER(self->threads->len));
	return self->threads->len - 1;
}

static uint32_t find_thread(LodeLiveAddresses *self, uint32_t pid, uint32_t tid)
{
	guint found = GPOINTER_TO_UINT(g_hash_table_lookup(self->thread_ids, thread_key(pid, tid)));

	if (found != 0)
		return found - 1;
	/* The main thread has ordinal 0, whichever thread is seen first. */
	if (tid != pid && g_hash_table_lookup(self->n_of_pid, GUINT_TO_POINTER(pid)) == NULL)
		add_thread(self, pid, pid);
	return add_thread(self, pid, tid);
}

static LodeThread *thread_of(LodeLiveAddresses *self, uint32_t pid, uint32_t tid)
{
	/* Found first, as that may move the array. */
	uint32_t thread = find_thread(self, pid, tid);

	return &g_array_index(self->threads, LodeThread, thread);
}

static void name_thread(LodeLiveAddresses *self, const LodePerfRecord *record, const char *name)
{
	LodeThread *thread = thread_of(self, record->pid, record->tid);
	char *copy = g_strdup(name);

	g_free(thread->name);
	thread->name = copy;
}

static void take_fork(LodeLiveAddresses *self, const LodePerfRecord *record)
{
	const LodeThread *parent = thread_of(self, record->parent_pid, record->parent_tid);
	g_autofree char *name = g_strdup(parent->name);

	lode_live_mappings_fork(self->mappings, record->pid, record->parent_pid);
	if (g_hash_table_contains(self->thread_ids, thread_key(record->pid, record->tid)))
		return;
	name_thread(self, record, name);
	thread_of(self, record->pid, record->tid)->begin_ns = record->time_ns;
}

static void take_exit(LodeLiveAddresses *self, const LodePerfRecord *record)
{
	thread_of(self, record->pid, record->tid)->end_ns = record->time_ns;
	/* The kernel gives the number to a later thread. */
	g_hash_table_remove(self->thread_ids, thread_key(record->pid, record->tid));
	if (record->pid != record->tid)
		return;
	lode_live_mappings_exit(self->mappings, record->pid);
	g_hash_table_remove(self->n_of_pid, GUINT_TO_POINTER(record->pid));
	g_hash_table_remove(self->asked_us, GUINT_TO_POINTER(record->pid));
}

/* --- records, one by one --- */

/* The size of the record at the front; 0: it is not all there. */
static size_t size_of_first(const char *records, size_t left)
{
	struct perf_event_header header;

	if (left < sizeof(header))
		return 0;
	memcpy(&header, records, sizeof(header));
	return header.size >= sizeof(header) && header.size <= left ? header.size : 0;
}

static bool parse(
	LodeLiveAddresses *self, const char *record, size_t size, LodePerfRecord *out_record)
{
	g_autoptr(GError) why = NULL;
	LodePerfNext next = lode_perf_data_parse(self->reader, record, size, out_record, &why);

	self->n_unreadable += next == LODE_PERF_NEXT_ERROR;
	return next == LODE_PERF_NEXT_RECORD;
}

/* --- mappings --- */

static void take_mapping(LodeLiveAddresses *self, const LodePerfRecord *record)
{
	const LodePerfMapping *given = &record->mapping;
	const LodeLiveMapping mapping = {
		.start = given->start,
		.end = given->start + MIN(given->size, UINT64_MAX - given->start),
		.offset = given->offset,
		.protection = given->protection,
		.name = given->path != NULL ? given->path : "",
	};

	lode_live_mappings_map(self->mappings, record->pid, &mapping);
}

static bool may_ask(LodeLiveAddresses *self, uint32_t pid)
{
	gint64 now_us = g_get_monotonic_time();
	gint64 *last = g_hash_table_lookup(self->asked_us, GUINT_TO_POINTER(pid));

	if (self->options.proc == NULL || (last != NULL && now_us - *last < ASK_AGAIN_US))
		return false;
	g_hash_table_insert(
		self->asked_us, GUINT_TO_POINTER(pid), g_memdup2(&now_us, sizeof(now_us)));
	return true;
}

/* No record tells of a stack that grows, nor of what mremap() moves. */
static void ask_for_mappings(LodeLiveAddresses *self, uint32_t pid)
{
	size_t n_events;
	const LodePerfEvent *events = lode_perf_data_events(self->reader, &n_events);
	const LodePerfExisting wanted = {
		.pid = (pid_t)pid,
		.sample_type = n_events > 0 ? events[0].sample_type : 0,
		.has_data = true,
		.proc = self->options.proc,
	};
	g_autoptr(GByteArray) records = g_byte_array_new();
	LodePerfRecord record;

	lode_perf_existing_add_mappings(&wanted, records);
	const char *bytes = (const char *)records->data;
	for (size_t at = 0, n; (n = size_of_first(bytes + at, records->len - at)) > 0; at += n)
		if (parse(self, bytes + at, n, &record) && record.kind == LODE_PERF_MAPPING)
			take_mapping(self, &record);
}

static bool find_mapping(
	LodeLiveAddresses *self, uint32_t pid, uint64_t address, LodeLiveMapping *out_mapping)
{
	if (lode_live_mappings_find(self->mappings, pid, address, out_mapping))
		return true;
	if (!may_ask(self, pid))
		return false;
	ask_for_mappings(self, pid);
	return lode_live_mappings_find(self->mappings, pid, address, out_mapping);
}

/* --- samples --- */

/* Most samples come from few places, so a direct-mapped cache saves most searches. What it holds is
 * valid while no mapping of any process has changed. */
static const CodePlace *find_code(LodeLiveAddresses *self, uint32_t pid, uint64_t pc)
{
	CodePlace *place = &self->cache[(pc ^ pc >> 12 ^ pid) % CODE_CACHE];
	LodeLiveMapping mapping;

	if (place->pc == pc && place->pid == pid && place->generation != 0 &&
		place->generation == lode_live_mappings_generation(self->mappings))
		return place;
	*place = (CodePlace){.pc = pc, .pid = pid};
	place->is_mapped = find_mapping(self, pid, pc, &mapping);
	if (place->is_mapped && mapping.name[0] == '/') {
		place->image = lode_live_code_image(self->code, mapping.name);
		if (place->image != NULL &&
			!lode_live_image_place(
				place->image, pc - mapping.start + mapping.offset, &place->address))
			place->image = NULL;
	}
	place->generation = lode_live_mappings_generation(self->mappings);
	return place;
}

static const uint8_t *code_bytes(void *data, uint64_t address, size_t *out_n)
{
	const LodeLiveAddresses *self = data;

	return lode_live_image_bytes(self->image, address, out_n);
}

static bool is_valid(void *data, uint64_t address, uint32_t size, uint8_t access)
{
	LodeLiveAddresses *self = data;
	uint32_t needed = (access & LODE_ACCESS_LOAD ? PROT_READ : 0) |
	                  (access & LODE_ACCESS_STORE ? PROT_WRITE : 0);
	LodeLiveMapping mapping;

	if (!find_mapping(self, self->pid, address, &mapping) ||
		(mapping.protection & needed) != needed)
		return false;
	/* The rest of it may lie in the next one. */
	return size <= mapping.end - address ||
	       find_mapping(self, self->pid, address + (size - 1), &mapping);
}

static void give_address(LodeLiveAddresses *self, LodeLiveSample *sample, uint64_t address)
{
	LodeLiveMapping mapping;

	sample->address = address;
	sample->mapping = find_mapping(self, self->pid, address, &mapping) ? mapping.name : NULL;
	self->options.take(sample, self->options.user_data);
}

static void give_access(LodeLiveAddresses *self, const LodeDataAccess *access, uint64_t bias,
	LodeLiveSample *sample)
{
	sample->rule = (uint8_t)access->rule;
	sample->reason = (uint8_t)access->reason;
	if (access->rule == LODE_RULE_NONE) {
		self->options.take(sample, self->options.user_data);
		return;
	}
	sample->pc = access->pc + bias;
	sample->function = lode_live_image_function(self->image, access->pc);
	sample->weight /= MAX(access->n_operands, 1);
	for (uint8_t i = 0; i < access->n_operands; i++) {
		sample->operand = i;
		sample->access = access->operands[i].access;
		give_address(self, sample, access->operands[i].address);
	}
}

static void give_nothing(LodeLiveAddresses *self, LodeLiveSample *sample, LodeAddressReason reason)
{
	sample->reason = (uint8_t)reason;
	self->options.take(sample, self->options.user_data);
}

static void set_stack(LodeLiveAddresses *self, uint32_t thread, const LodeUserRegisters *registers)
{
	const LodeThread *of = &g_array_index(self->threads, LodeThread, thread);

	if (of->ordinal > 0 && (registers->known & 1u << LODE_REGISTER_RSP))
		lode_live_mappings_set_stack(
			self->mappings, of->pid, registers->values[LODE_REGISTER_RSP], of->ordinal);
}

static void find_access(LodeLiveAddresses *self, const LodePerfRecord *record,
	const LodeUserRegisters *registers, LodeLiveSample *sample)
{
	const CodePlace *place = find_code(self, record->pid, record->sample.ip);
	const LodeDataAccessContext context = {code_bytes, is_valid, self};
	LodeDataAccess access;

	if (place->image == NULL) {
		give_nothing(self, sample,
			place->is_mapped ? LODE_REASON_NO_DECODE : LODE_REASON_NOT_USER_CODE);
		return;
	}
	const LodeDataAccessQuestion question = {
		.pc = place->address,
		.bias = record->sample.ip - place->address,
		.registers = registers,
		.stack = record->sample.stack,
		.stack_size = record->sample.stack_size,
	};
	self->image = place->image;
	lode_data_access_find(&context, &question, &access);
	give_access(self, &access, question.bias, sample);
}

/* As in PERF_SAMPLE_DATA_SRC. */
static uint8_t access_of(uint64_t data_source)
{
	uint64_t operation = data_source >> PERF_MEM_OP_SHIFT;

	return (uint8_t)((operation & PERF_MEM_OP_LOAD ? LODE_ACCESS_LOAD : 0) |
			 (operation & PERF_MEM_OP_STORE ? LODE_ACCESS_STORE : 0));
}

static void give_hardware(
	LodeLiveAddresses *self, const LodePerfSample *given, LodeLiveSample *sample)
{
	const CodePlace *place = find_code(self, self->pid, given->ip);

	sample->rule = LODE_RULE_HARDWARE;
	sample->access = access_of(given->data_source);
	if (place->image != NULL)
		sample->function = lode_live_image_function(place->image, place->address);
	give_address(self, sample, given->address);
}

static void take_sample(
	LodeLiveAddresses *self, const LodePerfRecord *record, const LodePerfEvent *event)
{
	const LodePerfSample *given = &record->sample;
	LodeUserRegisters registers;
	LodeLiveSample sample = {
		.thread = find_thread(self, record->pid, record->tid),
		.pc = given->ip,
		.weight = event->has_period ? (double)given->period
	                                    : (double)event->period_or_frequency,
	};

	self->pid = record->pid;
	if (record->mode != LODE_PERF_MODE_USER) {
		give_nothing(self, &sample, LODE_REASON_NOT_USER_CODE);
	} else if (given->address != 0) {
		give_hardware(self, given, &sample);
	} else if (given->user_registers == NULL ||
		   !lode_user_registers_from_perf(&registers, event->user_registers,
			   given->user_abi, given->user_registers)) {
		give_nothing(self, &sample, LODE_REASON_NO_REGISTERS);
	} else {
		set_stack(self, sample.thread, &registers);
		find_access(self, record, &registers, &sample);
	}
}

/* --- records, many --- */

static bool is_page_fault(const LodePerfEvent *event)
{
	return event->type == PERF_TYPE_SOFTWARE &&
	       (event->config == PERF_COUNT_SW_PAGE_FAULTS ||
		       event->config == PERF_COUNT_SW_PAGE_FAULTS_MIN ||
		       event->config == PERF_COUNT_SW_PAGE_FAULTS_MAJ);
}

static void take_record(LodeLiveAddresses *self, const LodePerfRecord *record)
{
	size_t n_events;
	const LodePerfEvent *events = lode_perf_data_events(self->reader, &n_events);

	switch (record->kind) {
	case LODE_PERF_MAPPING:
		take_mapping(self, record);
		return;
	case LODE_PERF_COMMAND:
		if (record->is_exec)
			lode_live_mappings_exec(self->mappings, record->pid);
		name_thread(self, record, record->text);
		return;
	case LODE_PERF_FORK:
		take_fork(self, record);
		return;
	case LODE_PERF_EXIT:
		take_exit(self, record);
		return;
	case LODE_PERF_SAMPLE:
		/* First touches say nothing of how often. */
		if (!is_page_fault(&events[record->event]))
			take_sample(self, record, &events[record->event]);
		return;
	default:
		return;
	}
}

static int compare_places(const void *a, const void *b)
{
	const RecordPlace *first = a, *second = b;

	if (first->time_ns != second->time_ns)
		return first->time_ns < second->time_ns ? -1 : 1;
	return first->offset < second->offset ? -1 : first->offset > second->offset;
}

/* CPUs write each for itself, so that of two the later record may come first. */
static void find_order(LodeLiveAddresses *self, const char *records, size_t size)
{
	LodePerfRecord record;
	size_t at = 0, n;

	g_array_set_size(self->order, 0);
	for (; (n = size_of_first(records + at, size - at)) > 0; at += n) {
		if (!parse(self, records + at, n, &record))
			continue;
		const RecordPlace place = {record.time_ns, at, n};
		g_array_append_val(self->order, place);
	}
	self->n_unreadable += at < size;
	g_array_sort(self->order, compare_places);
}

void lode_live_addresses_add(LodeLiveAddresses *self, const void *records, size_t size)
{
	const char *bytes = records;
	LodePerfRecord record;

	find_order(self, bytes, size);
	for (guint i = 0; i < self->order->len; i++) {
		const RecordPlace *place = &g_array_index(self->order, RecordPlace, i);
		if (parse(self, bytes + place->offset, place->size, &record))
			take_record(self, &record);
	}
}
