/* SPDX-License-Identifier: MIT */
#include "ingest/live/live_addresses.h"

#include "base/arrays/sort_order.h"
#include "ingest/memory/memory_reading.h"
#include "ingest/memory/memory_sites.h"
#include "ingest/memory/object_layers.h"
#include "model/memory.h"
#include "model/profile.h"
#include "process/allocations.h"
#include "process/images/code_images.h"
#include "process/threads.h"
#include "record/events/perf_existing.h"

#include <linux/perf_event.h>
#include <string.h>
#include <sys/mman.h>

/*
 * The allocation sites of the memory that a running program accesses. Its allocation logs grow
 * meanwhile: they are read again from time to time, as an import reads them, with the mappings
 * until then. Blocks allocated since then have no site yet.
 */

typedef struct {
	const char *name;                 /* equal ones are one pointer, of these sites */
	const LodeAllocation *allocation; /* valid until the next call, as the following */
	const LodeAllocatingCall *call;   /* NULL: not known */
} LiveSite;

enum {
	COST_FACTOR = 20,      /* 1 / this of the time at most is spent on reading */
	MAX_RECORDS = 1 << 16, /* that are kept; of a program that maps without end the first */
};

typedef struct {
	const LodeLiveAddressesOptions *options;
	gint64 next_us;
	LodeCodeImages *images;
	GArray *records;      /* LodePerfRecord; their texts are in `texts` */
	GStringChunk *texts;  /* also names of sites */
	LodeProfile *profile; /* that the sites are of; NULL: not read yet */
	LodePlaces *places;   /* over time, of the events so far */
	LodeMemoryReading *reading;
	LodeMemoryLoads *loads;
	LodeMemorySites *sites;
} LiveSites;

/* Borrows both. The logs are those in the options' directory, which may come to be there later.
 * They are read again so seldom that it takes little of the time. */
static LiveSites *live_sites_new(const LodeLiveAddressesOptions *options, LodeCodeImages *images)
{
	LiveSites *self = g_new0(LiveSites, 1);

	self->options = options;
	self->images = images;
	self->records = g_array_new(FALSE, FALSE, sizeof(LodePerfRecord));
	self->texts = g_string_chunk_new(4096);
	return self;
}

static void forget(LiveSites *self)
{
	g_clear_pointer(&self->sites, lode_memory_sites_free);
	g_clear_pointer(&self->loads, lode_memory_loads_free);
	g_clear_pointer(&self->reading, lode_memory_reading_free);
	g_clear_pointer(&self->places, lode_places_free);
	g_clear_pointer(&self->profile, lode_profile_free);
}

static void live_sites_free(LiveSites *self)
{
	if (self == NULL)
		return;
	forget(self);
	g_array_unref(self->records);
	g_string_chunk_free(self->texts);
	g_free(self);
}

/* A mapping, a fork, an exec or an exit; others are ignored. */
static void live_sites_note(LiveSites *self, const LodePerfRecord *record)
{
	LodePerfRecord kept = *record;

	if (record->kind > LODE_PERF_EXIT || record->kind == LODE_PERF_SAMPLE ||
		self->records->len >= MAX_RECORDS)
		return;
	if (kept.text != NULL)
		kept.text = g_string_chunk_insert_const(self->texts, kept.text);
	if (kept.mapping.path != NULL)
		kept.mapping.path = g_string_chunk_insert_const(self->texts, kept.mapping.path);
	kept.mapping.build_id = NULL;
	g_array_append_val(self->records, kept);
}

static void take_logs(LiveSites *self)
{
	g_autoptr(GDir) listing = g_dir_open(self->options->log_directory, 0, NULL);
	const char *name;

	while (listing != NULL && (name = g_dir_read_name(listing)) != NULL) {
		g_autofree char *path = g_build_filename(self->options->log_directory, name, NULL);
		LodeAllocationLog *log = NULL;
		if (g_str_has_prefix(name, "allocations-") && g_str_has_suffix(name, ".log"))
			log = lode_allocation_log_read(path, NULL);
		if (log != NULL)
			lode_allocations_take(self->reading->logs, log);
	}
}

static void read_again(LiveSites *self)
{
	forget(self);
	const LodePlacesOptions placing = {.images = self->images};
	self->places = lode_places_new(&placing);
	const LodeMemoryReadingOptions reading = {
		.places = self->places,
		.skipped_frames = self->options->skipped_frames,
	};
	self->reading = lode_memory_reading_new(&reading);
	lode_memory_reading_select(self->reading, 0);
	for (guint i = 0; i < self->records->len; i++) {
		const LodePerfRecord *record = &LODE_AT(self->records, LodePerfRecord, i);
		lode_places_note(self->places, record, record->time_ns);
		lode_memory_reading_note(self->reading, record, record->time_ns);
	}
	lode_places_freeze(self->places, NULL, NULL, NULL);
	lode_memory_reading_freeze(self->reading, NULL);
	take_logs(self);
	self->profile = lode_profile_new();
	self->profile->memory = lode_memory_new();
	self->loads = lode_memory_loads_new(self->places);
	self->sites = lode_memory_sites_new(self->profile, self->reading, self->loads);
}

/* Reads the logs again if it is time to. Earlier results are no longer valid. */
static void live_sites_refresh(LiveSites *self)
{
	gint64 begin_us = g_get_monotonic_time(), end_us;

	if (begin_us < self->next_us)
		return;
	read_again(self);
	end_us = g_get_monotonic_time();
	if (self->options->log_interval_us > 0)
		self->next_us = end_us + MAX(self->options->log_interval_us,
						 COST_FACTOR * (end_us - begin_us));
}

/* As they were read last; NULL: not yet. */
static LodeAllocations *live_sites_logs(LiveSites *self)
{
	return self->reading != NULL ? self->reading->logs : NULL;
}

/* In a log that is being written, blocks not yet freed seem to end with the last record. */
static uint64_t last_of(LiveSites *self, uint32_t pid, uint64_t time_ns)
{
	const GPtrArray *logs = lode_allocations_all(live_sites_logs(self));
	uint64_t last_ns = 0;

	for (guint i = 0; i < logs->len; i++) {
		const LodeAllocationLogSummary *log = lode_allocation_log_summary(logs->pdata[i]);
		if (log->pid == pid)
			last_ns = MAX(last_ns, log->last_ns);
	}
	return last_ns != 0 ? MIN(time_ns, last_ns) : time_ns;
}

/* The allocation that an address of a process was in then. False: none that is known. */
static bool live_sites_find(
	LiveSites *self, uint32_t pid, uint64_t time_ns, uint64_t address, LiveSite *out_site)
{
	if (self->sites == NULL)
		return false;
	const LodeMemoryPlace place = {.pid = pid, .time_ns = last_of(self, pid, time_ns)};
	uint32_t found = lode_memory_sites_find(self->sites, &place, address);
	const LodeMemory *memory = self->profile->memory;

	if (found == LODE_NONE)
		return false;
	out_site->allocation = &LODE_AT(memory->allocations, LodeAllocation, found);
	out_site->call = lode_memory_sites_call(self->sites, found);
	out_site->name = g_string_chunk_insert_const(self->texts,
		LODE_AT(memory->sites, LodeAllocationSite, out_site->allocation->site).name);
	return true;
}

enum { CODE_CACHE = 4096, MAX_THREADS = 65536 };
/* The mappings of a process are not read more often. */
enum { ASK_AGAIN_US = G_USEC_PER_SEC / 4 };

/* Where code that was sampled was found to lie. */
typedef struct {
	uint64_t generation, pc;
	uint32_t pid;
	LodePlace place;
} KnownCode;

typedef struct {
	uint64_t time_ns;
	size_t offset, size;
} RecordPlace;

struct LodeLiveAddresses {
	LodeLiveAddressesOptions options;
	LodePerfData *reader;
	LodePlaces *places;
	LodeCodeImages *images;
	LodeThreads threads;
	LiveSites *sites;     /* NULL: no logs are written */
	LodeProfile *profile; /* of objects alone */
	LodeMemoryObjects *known;
	LodeObjectLayers *layers;
	GHashTable *site_ids; /* name → index + 1, of the profile's memory */
	GHashTable *asked_us; /* pid → gint64 *: when its mappings were read */
	GArray *order;        /* RecordPlace, of one call */
	KnownCode cache[CODE_CACHE];
	uint64_t n_unreadable;
	bool is_by_time;
	bool are_sites_fresh; /* read for the current records */
};

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

/* No record announces a stack that grows, nor memory moved by mremap(). */
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
			lode_places_note(self->places, &record, LODE_TIME_NOW);
}

static bool ask(void *data, uint32_t pid)
{
	LodeLiveAddresses *self = data;

	if (!may_ask(self, pid))
		return false;
	ask_for_mappings(self, pid);
	return true;
}

LodeLiveAddresses *lode_live_addresses_new(const LodeLiveAddressesOptions *options)
{
	LodeLiveAddresses *self = g_new0(LodeLiveAddresses, 1);

	self->options = *options;
	self->reader = lode_perf_data_new("live");
	/* No servers are contacted: the program runs on meanwhile. */
	self->images = lode_code_images_new(NULL, false);
	const LodePlacesOptions placing = {
		.images = self->images,
		.is_live = true,
		.proc = options->proc,
		.ask = ask,
		.data = self,
	};
	self->places = lode_places_new(&placing);
	lode_threads_init(&self->threads, MAX_THREADS);
	if (options->log_directory != NULL)
		self->sites = live_sites_new(&self->options, self->images);
	self->profile = lode_profile_new();
	self->profile->memory = lode_memory_new();
	self->known = lode_memory_objects_new(self->profile, self->profile->memory, self->images);
	self->layers = lode_object_layers_new(self->profile->memory, self->known, self->images);
	self->site_ids = g_hash_table_new(NULL, NULL);
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
	lode_threads_clear(&self->threads);
	g_hash_table_unref(self->site_ids);
	lode_object_layers_free(self->layers);
	lode_memory_objects_free(self->known);
	lode_profile_free(self->profile);
	live_sites_free(self->sites);
	lode_places_free(self->places);
	lode_code_images_free(self->images);
	lode_perf_data_close(self->reader);
	g_free(self);
}

void lode_live_addresses_add_event(LodeLiveAddresses *self, const LodePerfObservedEvent *event)
{
	lode_perf_data_add(self->reader, event->attr, event->name, event->ids, event->n_ids);
	self->is_by_time |= !event->is_tracking &&
	                    lode_perf_event_is_time(event->attr->type, event->attr->config);
}

const GArray *lode_live_addresses_threads(const LodeLiveAddresses *self)
{
	return self->threads.threads;
}

bool lode_live_addresses_is_by_time(const LodeLiveAddresses *self)
{
	return self->is_by_time;
}

uint64_t lode_live_addresses_n_unreadable(const LodeLiveAddresses *self)
{
	return self->n_unreadable;
}

/* --- samples --- */

/* Most samples come from few places, so a direct-mapped cache saves most searches. Its entries are
 * valid while no mapping of any process has changed. */
static LodePlace find_code(LodeLiveAddresses *self, uint32_t pid, uint64_t pc)
{
	KnownCode *known = &self->cache[(pc ^ pc >> 12 ^ pid) % CODE_CACHE];

	if (known->pc == pc && known->pid == pid && known->generation != 0 &&
		known->generation == lode_places_generation(self->places))
		return known->place;
	*known = (KnownCode){.pc = pc, .pid = pid};
	lode_places_find(self->places, pid, LODE_TIME_NOW, pc, &known->place);
	known->generation = lode_places_generation(self->places);
	return known->place;
}

static const char *function_at(LodeLiveAddresses *self, uint32_t image, uint64_t address)
{
	const LodeBinaryFunction *function =
		image != LODE_NONE ? lode_code_image_function(
					     lode_code_images_at(self->images, image), address)
				   : NULL;

	return function != NULL ? function->name : NULL;
}

/* The mapping of an operand: not that of the answer, which may have been made before a stack had
 * its name.
 */
static const LodeMappedRange *find_now(
	LodeLiveAddresses *self, const LodeResolvedAccess *resolved, uint32_t pid, uint8_t number)
{
	const LodeMappedRange *range = lode_places_find_mapping(
		self->places, pid, LODE_TIME_NOW, resolved->access.operands[number].address);

	return range != NULL ? range : &resolved->places[number];
}

/* --- names --- */

static uint32_t add_site(LodeLiveAddresses *self, const char *name)
{
	GArray *sites = self->profile->memory->sites;
	void *found = g_hash_table_lookup(self->site_ids, name);
	const LodeAllocationSite site = {.name = (char *)name};

	if (found != NULL)
		return GPOINTER_TO_UINT(found) - 1;
	g_array_append_val(sites, site);
	g_hash_table_insert(self->site_ids, (void *)name, GUINT_TO_POINTER(sites->len));
	return sites->len - 1;
}

/* Variables that begin as zeros are of an image, though of no file. */
static char *mapping_name(
	LodeLiveAddresses *self, const LodeMappedRange *range, uint32_t load_image)
{
	const char *name = range != NULL && range->name != NULL ? range->name : "[unknown]";

	if (load_image == LODE_NONE || strcmp(name, "[anon]") != 0)
		return lode_profile_intern(self->profile, name);
	g_autofree char *bss = g_strconcat(
		lode_code_images_peek(self->images, load_image)->path, " [bss]", NULL);
	return lode_profile_intern(self->profile, bss);
}

/* The mapping and the object of operand `number` of an access, as join_memory.c finds them for a
 * recording. */
static void name_operand(LodeLiveAddresses *self, const LodeSampledCode *code,
	const LodeResolvedAccess *resolved, uint8_t number, LodeLiveSample *sample)
{
	const LodeDataAccess *access = &resolved->access;
	const LodeDataOperand *operand = &access->operands[number];
	uint32_t pid = code->record->pid;
	LodeCodeImage *image = code->place.image != LODE_NONE
	                               ? lode_code_images_at(self->images, code->place.image)
	                               : NULL;
	LodeAccessedAddress place = {
		.address = operand->address,
		.size = operand->size,
		.image = code->place.image,
		.pc = access->pc,
		.operand = operand->operand,
		.frame = lode_resolved_access_frame(resolved, image, access->pc, operand->address),
		.load_image = LODE_NONE,
	};
	LodeLayers layers = {.site = LODE_NONE};
	LiveSite site;

	if (image != NULL)
		layers.operand_object = lode_memory_objects_find(
			self->known, code->place.image, access->pc, operand->operand);
	if (self->sites != NULL &&
		live_sites_find(self->sites, pid, code->record->time_ns, operand->address, &site)) {
		place.allocation = site.allocation;
		place.call = site.call;
		layers.site = add_site(self, site.name);
	}
	LodePlace load;
	if (lode_places_find_data(self->places, pid, operand->address, &load)) {
		place.load_image = load.image;
		place.load_address = load.address;
	}
	const LodeMappedRange *range = find_now(self, resolved, pid, number);
	layers.mapping = mapping_name(self, range, place.load_image);
	lode_object_layers_find(self->layers, &place, &layers);
	uint32_t object = lode_object_layers_intern(self->layers, &layers);
	sample->object = LODE_AT(self->profile->memory->objects, LodeDataObject, object).name;
	sample->mapping = range != NULL && range->name != NULL ? layers.mapping : NULL;
}

static void give_access(LodeLiveAddresses *self, const LodeSampledCode *code,
	const LodeResolvedAccess *resolved, LodeLiveSample *sample)
{
	const LodeDataAccess *access = &resolved->access;

	sample->rule = (uint8_t)access->rule;
	sample->reason = (uint8_t)access->reason;
	if (access->rule == LODE_RULE_NONE) {
		sample->function = function_at(self, code->place.image, code->place.address);
		if (access->waiting_pc != 0) {
			sample->pc = access->waiting_pc +
			             (code->record->sample.ip - code->place.address);
			sample->access = access->waiting_access;
			sample->function = function_at(self, code->place.image, access->waiting_pc);
		}
		self->options.take(sample, self->options.user_data);
		return;
	}
	if (code->place.image != LODE_NONE)
		sample->pc = access->pc + (code->record->sample.ip - code->place.address);
	sample->function = function_at(self, code->place.image, access->pc);
	sample->weight /= MAX(access->n_operands, 1);
	for (uint8_t i = 0; i < access->n_operands; i++) {
		sample->operand = i;
		sample->access = access->operands[i].access;
		sample->address = access->operands[i].address;
		name_operand(self, code, resolved, i, sample);
		self->options.take(sample, self->options.user_data);
	}
}

static void set_stack(LodeLiveAddresses *self, uint32_t thread, uint64_t pointer)
{
	const LodeThread *of = &LODE_AT(self->threads.threads, LodeThread, thread);

	if (of->ordinal > 0)
		lode_places_set_stack(self->places, of->pid, pointer, of->ordinal);
}

static void take_sample(
	LodeLiveAddresses *self, const LodePerfRecord *record, const LodePerfEvent *event)
{
	const LodePerfSample *given = &record->sample;
	const LodeAccessResolver resolver = {
		.places = self->places,
		.allocations = self->sites != NULL ? live_sites_logs(self->sites) : NULL,
		.patience_us = self->options.patience_us,
		.wants_next = self->options.charges_next_access,
	};
	LodeSampledCode code = {record, event, LODE_TIME_NOW, {LODE_NONE, 0}};
	LodeResolvedAccess resolved;
	LodeLiveSample sample = {
		.thread = lode_threads_find(
			&self->threads, record->pid, record->tid, record->time_ns),
		.pc = given->ip,
		.weight = event->has_period ? (double)given->period
	                                    : (double)event->period_or_frequency,
	};

	if (record->mode == LODE_PERF_MODE_USER)
		code.place = find_code(self, record->pid, given->ip);
	lode_access_resolver_find(&resolver, &code, &resolved);
	if ((resolved.registers.known >> LODE_REGISTER_RSP & 1) != 0 &&
		record->mode == LODE_PERF_MODE_USER)
		set_stack(self, sample.thread, resolved.registers.values[LODE_REGISTER_RSP]);
	give_access(self, &code, &resolved, &sample);
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

	if (self->sites != NULL)
		live_sites_note(self->sites, record);
	if (record->kind != LODE_PERF_SAMPLE)
		lode_places_note(self->places, record, LODE_TIME_NOW);
	switch (record->kind) {
	case LODE_PERF_MAPPING:
		return;
	case LODE_PERF_COMMAND:
	case LODE_PERF_FORK:
		break;
	case LODE_PERF_EXIT:
		if (record->pid == record->tid)
			g_hash_table_remove(self->asked_us, GUINT_TO_POINTER(record->pid));
		break;
	case LODE_PERF_SAMPLE:
		/* First touches say nothing of how often. */
		if (is_page_fault(&events[record->event]))
			return;
		if (self->sites != NULL && !self->are_sites_fresh)
			live_sites_refresh(self->sites);
		self->are_sites_fresh = true;
		take_sample(self, record, &events[record->event]);
		return;
	default:
		return;
	}
	lode_threads_apply(&self->threads, record, record->time_ns);
}

LODE_ORDER(compare_places, RecordPlace, LODE_ASCENDING(time_ns), LODE_ASCENDING(offset))

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
	self->are_sites_fresh = false;
	for (guint i = 0; i < self->order->len; i++) {
		const RecordPlace *place = &g_array_index(self->order, RecordPlace, i);
		if (parse(self, bytes + place->offset, place->size, &record))
			take_record(self, &record);
	}
}
