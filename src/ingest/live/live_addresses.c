/* SPDX-License-Identifier: MIT */
#include "ingest/live/live_addresses.h"

#include "ingest/live/live_sites.h"
#include "ingest/memory/object_layers.h"
#include "record/perf_existing.h"

#include <linux/perf_event.h>
#include <string.h>
#include <sys/mman.h>

enum { CODE_CACHE = 4096, MAX_THREADS = 65536 };
/* A process is not asked for its mappings more often. */
enum { ASK_AGAIN_US = G_USEC_PER_SEC / 4 };

/* Where code that was sampled lies; image LODE_NONE: in no file. */
typedef struct {
	uint64_t generation, pc, address;
	uint32_t image, pid;
} CodePlace;

typedef struct {
	uint64_t time_ns;
	size_t offset, size;
} RecordPlace;

struct LodeLiveAddresses {
	LodeLiveAddressesOptions options;
	LodePerfData *reader;
	LodeAddressSpaces *spaces;
	LodeAddressSpaces *loads; /* where images lie as a whole; files are the images */
	LodeCodeImages *images;
	LodeThreads threads;
	LodeLiveSites *sites; /* NULL: no logs are written */
	LodeProfile *profile; /* of objects alone */
	LodeMemoryObjects *known;
	LodeObjectLayers *layers;
	GHashTable *site_ids; /* name → index + 1, of the profile's memory */
	GHashTable *asked_us; /* pid → gint64 *: when it was asked for its mappings */
	GArray *order;        /* RecordPlace, of one call */
	CodePlace cache[CODE_CACHE];
	uint64_t n_unreadable;
	bool is_by_time;
	bool are_sites_fresh; /* looked at for the records at hand */
};

LodeLiveAddresses *lode_live_addresses_new(const LodeLiveAddressesOptions *options)
{
	LodeLiveAddresses *self = g_new0(LodeLiveAddresses, 1);

	self->options = *options;
	self->reader = lode_perf_data_new("live");
	self->spaces = lode_address_spaces_new_live();
	self->loads = lode_address_spaces_new_live();
	/* Nothing is asked of servers: the program runs on meanwhile. */
	self->images = lode_code_images_new(false);
	lode_threads_init(&self->threads, MAX_THREADS);
	if (options->log_directory != NULL)
		self->sites = lode_live_sites_new(&self->options, self->images);
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
	lode_live_sites_free(self->sites);
	lode_code_images_free(self->images);
	lode_address_spaces_free(self->loads);
	lode_address_spaces_free(self->spaces);
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

/* Variables that begin as zeros are in memory of no file. */
static void take_load(LodeLiveAddresses *self, uint32_t pid, const LodeMappedRange *mapped)
{
	LodeCodeLoad load;

	if ((mapped->protection & PROT_EXEC) == 0 || mapped->name[0] != '/' ||
		mapped->name[1] == '/')
		return;
	uint32_t image = lode_code_images_add(self->images, mapped->name, NULL);
	if (!lode_code_images_find_load(self->images, image, mapped, &load))
		return;
	const LodeMappedRange whole = {
		.start = load.low,
		.end = load.high,
		.offset = load.low - load.bias,
		.file = image,
	};
	lode_address_spaces_map(self->loads, pid, LODE_TIME_NOW, &whole);
}

static void take_mapping(LodeLiveAddresses *self, const LodePerfRecord *record)
{
	const LodePerfMapping *given = &record->mapping;
	const LodeMappedRange range = {
		.start = given->start,
		.end = given->start + MIN(given->size, UINT64_MAX - given->start),
		.offset = given->offset,
		.protection = given->protection,
		.name = given->path != NULL ? given->path : "",
	};

	lode_address_spaces_map(self->spaces, record->pid, LODE_TIME_NOW, &range);
	take_load(self, record->pid, &range);
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

static bool ask(void *data, uint32_t pid)
{
	LodeLiveAddresses *self = data;

	if (!may_ask(self, pid))
		return false;
	ask_for_mappings(self, pid);
	return true;
}

static const LodeMappedRange *find_mapping(LodeLiveAddresses *self, uint32_t pid, uint64_t address)
{
	const LodeMappedRange *found = lode_address_spaces_find(
		self->spaces, pid, address, LODE_TIME_NOW, NULL);

	if (found != NULL || !ask(self, pid))
		return found;
	return lode_address_spaces_find(self->spaces, pid, address, LODE_TIME_NOW, NULL);
}

/* --- samples --- */

/* Most samples come from few places, so a direct-mapped cache saves most searches. What it holds is
 * valid while no mapping of any process has changed. */
static const CodePlace *find_code(LodeLiveAddresses *self, uint32_t pid, uint64_t pc)
{
	CodePlace *place = &self->cache[(pc ^ pc >> 12 ^ pid) % CODE_CACHE];

	if (place->pc == pc && place->pid == pid && place->generation != 0 &&
		place->generation == lode_address_spaces_generation(self->spaces))
		return place;
	const LodeMappedRange *range = find_mapping(self, pid, pc);
	*place = (CodePlace){.pc = pc, .pid = pid, .image = LODE_NONE};
	if (range != NULL && range->name[0] == '/') {
		uint32_t image = lode_code_images_add(self->images, range->name, NULL);
		if (lode_code_image_place(lode_code_images_at(self->images, image),
			    pc - range->start + range->offset, &place->address))
			place->image = image;
	}
	place->generation = lode_address_spaces_generation(self->spaces);
	return place;
}

static const char *function_at(LodeLiveAddresses *self, uint32_t image, uint64_t address)
{
	const LodeBinaryFunction *function =
		image != LODE_NONE ? lode_code_image_function(
					     lode_code_images_at(self->images, image), address)
				   : NULL;

	return function != NULL ? function->name : NULL;
}

/* What an operand lies in: not the answer's, which may have been made before a stack had its name.
 */
static const LodeMappedRange *find_now(
	LodeLiveAddresses *self, const LodeResolvedAccess *resolved, uint32_t pid, uint8_t number)
{
	const LodeMappedRange *range = lode_address_spaces_find(
		self->spaces, pid, resolved->access.operands[number].address, LODE_TIME_NOW, NULL);

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
	LodeLiveAddresses *self, const LodeMappedRange *range, const LodeMappedRange *load)
{
	const char *name = range != NULL && range->name != NULL ? range->name : "[unknown]";

	if (load == NULL || strcmp(name, "[anon]") != 0)
		return lode_profile_intern(self->profile, name);
	g_autofree char *bss = g_strconcat(
		lode_code_images_path(self->images, load->file), " [bss]", NULL);
	return lode_profile_intern(self->profile, bss);
}

/* The mapping and the object of operand `number` of what was accessed, as join_memory.c has them of
 * a recording. */
static void name_operand(LodeLiveAddresses *self, const LodeSampledCode *code,
	const LodeResolvedAccess *resolved, uint8_t number, LodeLiveSample *sample)
{
	const LodeDataAccess *access = &resolved->access;
	const LodeDataOperand *operand = &access->operands[number];
	uint32_t pid = code->record->pid;
	LodeCodeImage *image = code->image != LODE_NONE
	                               ? lode_code_images_at(self->images, code->image)
	                               : NULL;
	LodeDataPlace place = {
		.address = operand->address,
		.size = operand->size,
		.image = code->image,
		.frame = lode_resolved_access_frame(resolved, image, access->pc, operand->address),
		.load_image = LODE_NONE,
	};
	LodeLayers layers = {.site = LODE_NONE};
	LodeLiveSite site;

	if (image != NULL)
		layers.operand_object = lode_memory_objects_find(
			self->known, code->image, access->pc, operand->operand);
	if (self->sites != NULL && lode_live_sites_find(self->sites, pid, code->record->time_ns,
					   operand->address, &site)) {
		place.allocation = site.allocation;
		place.call = site.call;
		layers.site = add_site(self, site.name);
	}
	const LodeMappedRange *load = lode_address_spaces_find(
		self->loads, pid, operand->address, LODE_TIME_NOW, NULL);
	if (load != NULL) {
		place.load_image = load->file;
		place.load_address = operand->address - load->start + load->offset;
	}
	const LodeMappedRange *range = find_now(self, resolved, pid, number);
	layers.mapping = mapping_name(self, range, load);
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
		sample->function = function_at(self, code->image, code->image_pc);
		if (access->waiting_pc != 0) {
			sample->pc = access->waiting_pc +
			             (code->record->sample.ip - code->image_pc);
			sample->access = access->waiting_access;
			sample->function = function_at(self, code->image, access->waiting_pc);
		}
		self->options.take(sample, self->options.user_data);
		return;
	}
	if (code->image != LODE_NONE)
		sample->pc = access->pc + (code->record->sample.ip - code->image_pc);
	sample->function = function_at(self, code->image, access->pc);
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
		lode_address_spaces_set_stack(self->spaces, of->pid, pointer, of->ordinal);
}

static void take_sample(
	LodeLiveAddresses *self, const LodePerfRecord *record, const LodePerfEvent *event)
{
	const LodePerfSample *given = &record->sample;
	const LodeAccessResolver resolver = {
		.spaces = self->spaces,
		.images = self->images,
		.allocations = self->sites != NULL ? lode_live_sites_logs(self->sites) : NULL,
		.ask = ask,
		.data = self,
		.patience_us = self->options.patience_us,
		.wants_next = self->options.charges_next_access,
	};
	LodeSampledCode code = {record, event, LODE_TIME_NOW, LODE_NONE, 0};
	LodeResolvedAccess resolved;
	LodeLiveSample sample = {
		.thread = lode_threads_find(
			&self->threads, record->pid, record->tid, record->time_ns),
		.pc = given->ip,
		.weight = event->has_period ? (double)given->period
	                                    : (double)event->period_or_frequency,
	};

	if (record->mode == LODE_PERF_MODE_USER) {
		const CodePlace *place = find_code(self, record->pid, given->ip);
		code.image = place->image;
		code.image_pc = place->address;
	}
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

static void forget_mappings(LodeLiveAddresses *self, uint32_t pid)
{
	lode_address_spaces_exit(self->spaces, pid);
	lode_address_spaces_exit(self->loads, pid);
}

static void take_record(LodeLiveAddresses *self, const LodePerfRecord *record)
{
	size_t n_events;
	const LodePerfEvent *events = lode_perf_data_events(self->reader, &n_events);

	if (self->sites != NULL)
		lode_live_sites_note(self->sites, record);
	switch (record->kind) {
	case LODE_PERF_MAPPING:
		take_mapping(self, record);
		return;
	case LODE_PERF_COMMAND:
		if (record->is_exec)
			forget_mappings(self, record->pid);
		break;
	case LODE_PERF_FORK:
		lode_address_spaces_fork(
			self->spaces, record->pid, record->parent_pid, LODE_TIME_NOW);
		lode_address_spaces_fork(
			self->loads, record->pid, record->parent_pid, LODE_TIME_NOW);
		break;
	case LODE_PERF_EXIT:
		if (record->pid == record->tid) {
			forget_mappings(self, record->pid);
			g_hash_table_remove(self->asked_us, GUINT_TO_POINTER(record->pid));
		}
		break;
	case LODE_PERF_SAMPLE:
		/* First touches say nothing of how often. */
		if (is_page_fault(&events[record->event]))
			return;
		if (self->sites != NULL && !self->are_sites_fresh)
			lode_live_sites_refresh(self->sites);
		self->are_sites_fresh = true;
		take_sample(self, record, &events[record->event]);
		return;
	default:
		return;
	}
	lode_threads_apply(&self->threads, record, record->time_ns);
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
	self->are_sites_fresh = false;
	for (guint i = 0; i < self->order->len; i++) {
		const RecordPlace *place = &g_array_index(self->order, RecordPlace, i);
		if (parse(self, bytes + place->offset, place->size, &record))
			take_record(self, &record);
	}
}
