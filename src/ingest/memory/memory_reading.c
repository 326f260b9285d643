/* SPDX-License-Identifier: MIT */
#include "ingest/memory/memory_reading.h"

#include "base/arrays/id_cache.h"
#include "base/arrays/large_array.h"
#include "base/arrays/name_table.h"
#include "base/arrays/partition_point.h"
#include "process/access_resolver.h"
#include "process/thread_stacks.h"

#include <linux/perf_event.h>
#include <string.h>

/* Limits of Linux, above the numbers of real machines. */
enum { MAX_CPUS = 1 << 16, MAX_NODES = 1 << 10 };

typedef struct {
	GArray *cpu_nodes;       /* uint32_t × CPUs */
	GHashTable *lost_stacks; /* pid → mapping + 1 */
} Input;

static void clear_input(void *data)
{
	Input *self = data;

	g_array_unref(self->cpu_nodes);
	g_hash_table_unref(self->lost_stacks);
}

static void free_heap(void *data)
{
	lode_heap_log_free(data);
}

LodeMemoryReading *lode_memory_reading_new(const LodeMemoryReadingOptions *options)
{
	LodeMemoryReading *self = g_new0(LodeMemoryReading, 1);

	self->options = *options;
	lode_threads_init(&self->threads, 0);
	self->inputs = g_array_new(FALSE, TRUE, sizeof(Input));
	g_array_set_clear_func(self->inputs, clear_input);
	self->stacks = lode_thread_stacks_new();
	lode_name_table_init(&self->events);
	self->logs = lode_allocations_new();
	self->heaps = g_ptr_array_new_with_free_func(free_heap);
	self->pages = g_array_new(FALSE, FALSE, sizeof(LodeMemoryPages));
	self->accesses = g_array_new(FALSE, TRUE, sizeof(LodeReadAccess));
	self->line_stores = g_array_new(FALSE, FALSE, sizeof(LodeReadLineStore));
	self->ways = g_array_new(FALSE, FALSE, sizeof(LodeReadWay));
	self->way_rows = g_array_new(FALSE, FALSE, sizeof(LodeReadAccess));
	return self;
}

void lode_memory_reading_free(LodeMemoryReading *self)
{
	if (self == NULL)
		return;
	lode_threads_clear(&self->threads);
	g_array_unref(self->inputs);
	lode_thread_stacks_free(self->stacks);
	lode_name_table_clear(&self->events);
	lode_allocations_free(self->logs);
	g_ptr_array_unref(self->heaps);
	g_array_unref(self->pages);
	g_array_unref(self->line_stores);
	g_array_unref(self->accesses);
	g_array_unref(self->ways);
	g_array_unref(self->way_rows);
	g_free(self);
}

void lode_memory_reading_select(LodeMemoryReading *self, uint32_t recording)
{
	self->input = recording;
	lode_places_select(self->options.places, recording);
	while (self->inputs->len <= recording) {
		Input added = {
			g_array_new(FALSE, FALSE, sizeof(uint32_t)), g_hash_table_new(NULL, NULL)};
		g_array_append_val(self->inputs, added);
	}
}

static GArray *mappings_of(const LodeMemoryReading *self)
{
	return lode_places_mappings(self->options.places);
}

static LodeMemoryMapping *mapping_at(const LodeMemoryReading *self, uint32_t index)
{
	return &LODE_AT(mappings_of(self), LodePlacedMapping, index).mapping;
}

static Input *selected(const LodeMemoryReading *self)
{
	return &g_array_index(self->inputs, Input, self->input);
}

bool lode_memory_reading_is_fixed(uint64_t start, uint64_t end)
{
	static const uint64_t program = UINT64_C(0x555555554000), stack = UINT64_C(0x7ffffffff000);

	return start == program || end == stack;
}

void lode_memory_reading_note(
	LodeMemoryReading *self, const LodePerfRecord *record, uint64_t time_ns)
{
	lode_threads_note(&self->threads, record, time_ns);
	if (record->kind == LODE_PERF_MAPPING && record->mode != LODE_PERF_MODE_KERNEL)
		self->has_fixed_addresses |= lode_memory_reading_is_fixed(
			record->mapping.start, record->mapping.start + record->mapping.size);
}

/* "0-3,8": adds CPUs to a node. */
static void add_cpus(GArray *cpu_nodes, const char *list, uint32_t node)
{
	guint64 next = 0; /* they ascend */
	g_auto(GStrv) parts = g_strsplit(list != NULL ? list : "", ",", -1);
	const uint32_t unknown = UINT32_MAX;

	for (size_t i = 0; parts[i] != NULL; i++) {
		char *rest = NULL;
		guint64 first = g_ascii_strtoull(parts[i], &rest, 10);
		guint64 last = *rest == '-' ? g_ascii_strtoull(rest + 1, NULL, 10) : first;
		if (rest == parts[i] || last >= MAX_CPUS || first < next)
			continue;
		next = last + 1;
		while (cpu_nodes->len <= last)
			g_array_append_val(cpu_nodes, unknown);
		for (guint64 cpu = first; cpu <= last; cpu++)
			g_array_index(cpu_nodes, uint32_t, cpu) = node;
	}
}

void lode_memory_reading_freeze(LodeMemoryReading *self, const LodePerfInfo *info)
{
	Input *input = selected(self);

	for (guint i = 0; info != NULL && i < MIN(info->numa_nodes->len, MAX_NODES); i++) {
		const LodePerfNumaNode *node = &g_array_index(
			info->numa_nodes, LodePerfNumaNode, i);
		add_cpus(input->cpu_nodes, node->cpus, node->node);
	}
	lode_threads_freeze(&self->threads);
}

static uint32_t find_mapping(
	const LodeMemoryReading *self, uint32_t pid, uint64_t address, uint64_t time_ns)
{
	const LodeMappedRange *range = lode_places_find_mapping(
		self->options.places, pid, time_ns, address);

	return range != NULL ? range->file : LODE_NONE;
}

/* One for each process, which grows as more of it is found. */
static uint32_t lost_stack(LodeMemoryReading *self, uint32_t pid, const LodeMappedRange *place)
{
	GHashTable *lost_stacks = selected(self)->lost_stacks;
	guint found = GPOINTER_TO_UINT(g_hash_table_lookup(lost_stacks, GUINT_TO_POINTER(pid)));
	const LodePlacedMapping added = {
		.mapping = {pid, place->protection, place->start, place->end, 0,
			(char *)place->name},
		.recording = self->input,
		.file = LODE_NONE,
		.stack_of = LODE_NONE,
	};
	GArray *mappings = mappings_of(self);

	if (found == 0) {
		g_array_append_val(mappings, added);
		found = mappings->len;
		g_hash_table_insert(lost_stacks, GUINT_TO_POINTER(pid), GUINT_TO_POINTER(found));
	}
	LodeMemoryMapping *mapping = mapping_at(self, found - 1);
	mapping->start = MIN(mapping->start, place->start);
	mapping->end = MAX(mapping->end, place->end);
	return found - 1;
}

static uint32_t mapping_of(LodeMemoryReading *self, uint32_t pid, const LodeMappedRange *place)
{
	if (place->end == 0)
		return LODE_NONE;
	return place->file != LODE_NONE ? place->file : lost_stack(self, pid, place);
}

uint32_t lode_memory_reading_event(LodeMemoryReading *self, const char *name)
{
	return lode_name_table_add(&self->events, name);
}

static uint32_t node_of(const LodeMemoryReading *self, uint32_t cpu)
{
	const GArray *nodes = g_array_index(self->inputs, Input, self->input).cpu_nodes;

	return cpu < nodes->len ? g_array_index(nodes, uint32_t, cpu) : UINT32_MAX;
}

/* A thread's stack is memory like any other until something shows it. */
static void note_stack(
	LodeMemoryReading *self, uint32_t mapping, const LodeReadAccess *row, uint64_t pointer)
{
	if (mapping != LODE_NONE && strcmp(mapping_at(self, mapping)->name, "[anon]") == 0)
		lode_thread_stacks_note(
			self->stacks, mapping, row->sample.thread, pointer, row->sample.time_ns);
}

/* The kernel's own events wait for nothing; a structured weight has the latency in its low half. */
static uint64_t latency_of(const LodeSampledAccess *sampled)
{
	uint64_t weight = sampled->record->sample.weight;

	if (sampled->event->type == PERF_TYPE_SOFTWARE)
		return 0;
	return (sampled->event->sample_type & PERF_SAMPLE_WEIGHT_STRUCT) != 0 ? weight & UINT32_MAX
	                                                                      : weight;
}

static LodeReadAccess new_row(LodeMemoryReading *self, const LodeSampledAccess *sampled)
{
	const LodePerfRecord *record = sampled->record;
	const LodePerfSample *sample = &record->sample;

	return (LodeReadAccess){
		.sample =
			{
				.weight = sampled->weight,
				.time_ns = record->time_ns,
				.pc = sample->ip,
				.data_source = sample->data_source,
				.latency = latency_of(sampled),
				.thread = lode_threads_find(
					&self->threads, record->pid, record->tid, sampled->time_ns),
				.event = lode_memory_reading_event(self, sampled->event_name),
				.instruction = LODE_NONE,
				.access_instruction = LODE_NONE,
				.access_function = LODE_NONE,
				.access_location = LODE_NONE,
				.object = LODE_NONE,
				.mapping = LODE_NONE,
				.allocation = LODE_NONE,
				.cpu = sample->cpu,
				.node = node_of(self, sample->cpu),
			},
		.image = sampled->place.image,
		.input = self->input,
		.caller = sampled->caller,
		.base_mapping = LODE_NONE,
		.image_pc = sampled->place.address,
	};
}

/* The sample is charged to the access that waited, even where its address is lost. */
static void charge(LodeMemoryReading *self, uint32_t pid, LodeReadAccess *row,
	const LodeDataAccess *access, uint8_t operand)
{
	bool is_lost = access->rule == LODE_RULE_NONE;

	if (is_lost && access->waiting_pc == 0)
		return;
	row->image_access_pc = is_lost ? access->waiting_pc : access->pc;
	row->operand = is_lost ? access->waiting_operand : operand;
	row->sample.access_pc = row->sample.pc - row->image_pc + row->image_access_pc;
	if (!is_lost)
		return;
	row->sample.access = access->waiting_access;
	row->sample.size = access->waiting_size;
	if (access->base == 0)
		return;
	row->base = access->base;
	row->base_mapping = find_mapping(self, pid, row->base, row->sample.time_ns);
}

/* The array doubles when it is full; GLib would end the program where it cannot. */
static void append_access(LodeMemoryReading *self, const LodeReadAccess *access)
{
	enum { SMALL = 1 << 16 };
	guint n = self->accesses->len;

	if (n >= SMALL && (n & (n - 1)) == 0)
		self->is_full |= !lode_large_array_has_room(sizeof(*access), (size_t)n * 2);
	if (!self->is_full)
		g_array_append_vals(self->accesses, access, 1);
}

static LodeReadAccess operand_row(LodeMemoryReading *self, uint32_t pid, const LodeReadAccess *row,
	const LodeResolvedAccess *resolved, const LodeDataAccess *access, size_t i)
{
	LodeReadAccess added = *row;
	const LodeDataOperand *operand = &access->operands[i];

	charge(self, pid, &added, access, operand->operand);
	added.sample.weight /= access->n_operands;
	added.sample.rule = (uint8_t)access->rule;
	added.sample.reason = LODE_REASON_NONE;
	added.sample.address = operand->address;
	added.sample.size = operand->size;
	added.sample.access = operand->access;
	added.sample.operand = (uint8_t)i;
	added.sample.is_unverified = access->is_unverified;
	/* registers and stack are not kept */
	added.frame = lode_resolved_access_frame(resolved,
		row->image != LODE_NONE
			? lode_code_images_at(lode_places_images(self->options.places), row->image)
			: NULL,
		added.image_access_pc, operand->address);
	return added;
}

static void add_ways(LodeMemoryReading *self, uint32_t pid, LodeReadAccess *row,
	const LodeResolvedAccess *resolved)
{
	row->first_way = self->ways->len;
	row->n_ways = resolved->n_ways;
	for (unsigned i = 0; i < resolved->n_ways; i++) {
		const LodeDataAccess *access = &resolved->ways[i].access;
		LodeReadWay way = {resolved->ways[i].source, self->way_rows->len, 0};
		for (size_t k = 0; k < access->n_operands; k++) {
			LodeReadAccess added = operand_row(self, pid, row, resolved, access, k);
			added.sample.mapping = mapping_of(self, pid, &resolved->way_places[i][k]);
			g_array_append_val(self->way_rows, added);
		}
		if (access->n_operands == 0) {
			LodeReadAccess added = *row;
			added.sample.reason = (uint8_t)access->reason;
			charge(self, pid, &added, access, 0);
			g_array_append_val(self->way_rows, added);
		}
		way.n_rows = self->way_rows->len - way.first;
		g_array_append_val(self->ways, way);
	}
}

/*
 * A function of Go's runtime that searches maps of all types knows the type by an argument, of
 * which the call in the program's code tells: that is looked for in the dumped stack.
 */
static void find_map_call(
	LodeMemoryReading *self, const LodeResolvedAccess *resolved, LodeReadAccess *row)
{
	enum { MAX_FRAMES = 6 }; /* mapassign, growWork, evacuate */
	const LodeDataAccessQuestion *question = &resolved->question;
	const LodeStackDump dump = {question->stack, question->stack_size,
		resolved->registers.values[LODE_REGISTER_RSP]};
	LodeUserRegisters registers = resolved->registers;
	uint64_t pc = row->image_pc;
	LodeGoMapRole role = LODE_GO_MAP_NONE;

	if (row->image == LODE_NONE || question->registers == NULL || dump.size == 0)
		return;
	LodeCodeImage *image = lode_code_images_at(
		lode_places_images(self->options.places), row->image);
	const LodeBinaryFunction *function = lode_code_image_function(image, pc);
	for (int i = 0; i < MAX_FRAMES; i++) {
		const LodeGoMapRole inner = role;
		uint64_t back;

		role = function != NULL ? lode_go_map_role(function->symbol) : LODE_GO_MAP_NONE;
		if (role == LODE_GO_MAP_NONE) {
			if (i > 0 && inner != LODE_GO_MAP_INNER)
				row->map_call = pc + 1;
			return;
		}
		if (i == 0)
			row->is_of_strings = role == LODE_GO_MAP_CALLED_FOR_STRINGS;
		LodeStackFrames *frames = lode_code_image_frames(image);
		if (frames == NULL || lode_stack_frames_step(frames, pc, &dump, &registers,
					      &back) != LODE_FRAME_CALLED)
			return;
		pc = back - question->bias - 1; /* inside the call */
		function = lode_code_image_function(image, pc);
	}
}

/* Notes whose stack the stack pointer is in, and adds the rows of an access with an address. */
static void add_resolved(LodeMemoryReading *self, const LodeSampledAccess *sampled,
	const LodeReadAccess *row, const LodeResolvedAccess *resolved)
{
	uint32_t pid = sampled->record->pid;
	uint64_t pointer = resolved->registers.values[LODE_REGISTER_RSP];
	uint32_t stack = (resolved->registers.known >> LODE_REGISTER_RSP & 1) != 0
	                         ? find_mapping(self, pid, pointer, sampled->time_ns)
	                         : LODE_NONE;

	note_stack(self, stack, row, pointer);
	for (size_t i = 0; i < resolved->access.n_operands; i++) {
		LodeReadAccess added = operand_row(self, pid, row, resolved, &resolved->access, i);
		added.sample.mapping = mapping_of(self, pid, &resolved->places[i]);
		append_access(self, &added);
	}
}

void lode_memory_reading_expect(LodeMemoryReading *self, uint64_t n_samples)
{
	uint64_t max = self->options.max_accesses;

	self->stride = max > 0 && n_samples > max ? (n_samples + max - 1) / max : 1;
}

void lode_memory_reading_add(LodeMemoryReading *self, const LodeSampledAccess *sampled)
{
	const LodePerfRecord *record = sampled->record;

	if (self->stride > 1 && self->n_seen++ % self->stride != 0) {
		self->n_left_out++;
		return;
	}
	LodeReadAccess row = new_row(self, sampled);
	row.sample.weight *= (double)MAX(self->stride, 1);
	const LodeAccessResolver resolver = {
		.places = self->options.places,
		.allocations = self->logs,
		.patience_us = -1,
		.wants_next = self->options.charges_next_access,
	};
	const LodeSampledCode code = {record, sampled->event, sampled->time_ns, sampled->place};
	LodeResolvedAccess resolved;

	/* Also of a program that nothing can be said of: its samples have their reason. */
	self->has_addresses |= record->sample.user_registers != NULL || record->sample.address != 0;
	self->is_stall_weighted |= lode_perf_event_is_time(
		sampled->event->type, sampled->event->config);
	lode_access_resolver_find(&resolver, &code, &resolved);
	find_map_call(self, &resolved, &row);
	add_resolved(self, sampled, &row, &resolved);
	if (resolved.access.n_operands > 0)
		return;
	row.sample.reason = (uint8_t)resolved.access.reason;
	charge(self, record->pid, &row, &resolved.access, 0);
	add_ways(self, record->pid, &row, &resolved);
	append_access(self, &row);
}

void lode_memory_reading_add_stepped(LodeMemoryReading *self, const LodeSteppedSample *stepped)
{
	const LodePerfEvent event = {.type = PERF_TYPE_SOFTWARE};
	const LodePerfRecord record = {
		.kind = LODE_PERF_SAMPLE,
		.pid = stepped->pid,
		.tid = stepped->tid,
		.time_ns = stepped->time_ns,
		.sample = {.ip = stepped->pc, .cpu = UINT32_MAX},
	};
	const LodeSampledAccess sampled = {
		.record = &record,
		.event = &event,
		.event_name = LODE_WINDOW_ACCESSES,
		.time_ns = stepped->time_ns,
		.weight = stepped->weight,
		.place = stepped->place,
		.caller = LODE_NONE,
	};
	const LodeAccessResolver resolver = {.places = self->options.places};
	const LodeSampledCode code = {&record, &event, sampled.time_ns, sampled.place};
	LodeResolvedAccess resolved = {.registers = *stepped->registers};
	LodeReadAccess row = new_row(self, &sampled);

	self->has_addresses = true;
	row.has_no_operand = stepped->has_no_operand;
	if (stepped->reason == LODE_REASON_NONE) {
		resolved.access = (LodeDataAccess){
			.rule = LODE_RULE_WINDOW,
			.pc = stepped->place.address,
			.operands = {stepped->operand},
			.n_operands = 1,
		};
		lode_access_resolver_locate(&resolver, &code, &resolved);
	} else {
		resolved.access = (LodeDataAccess){
			.reason = stepped->reason,
			.waiting_pc = stepped->place.address,
			.waiting_operand = stepped->operand.operand,
			.waiting_access = stepped->operand.access,
			.waiting_size = stepped->operand.size,
		};
	}
	add_resolved(self, &sampled, &row, &resolved);
	if (resolved.access.n_operands > 0)
		return;
	row.sample.reason = (uint8_t)resolved.access.reason;
	charge(self, stepped->pid, &row, &resolved.access, 0);
	append_access(self, &row);
}

void lode_memory_reading_settle(LodeMemoryReading *self,
	uint32_t (*choose)(const LodeReadAccess *row, const LodeReadWay *ways, void *data),
	void *data)
{
	g_autoptr(GArray) unsettled = NULL;

	if (self->ways->len == 0)
		return;
	unsettled = g_steal_pointer(&self->accesses);
	self->accesses = g_array_new(FALSE, TRUE, sizeof(LodeReadAccess));
	for (guint i = 0; i < unsettled->len; i++) {
		const LodeReadAccess *row = &LODE_AT(unsettled, LodeReadAccess, i);
		const LodeReadWay *ways = &LODE_AT(self->ways, LodeReadWay, row->first_way);
		uint32_t chosen = row->n_ways > 0 ? choose(row, ways, data) : LODE_NONE;
		if (chosen == LODE_NONE) {
			append_access(self, row);
			continue;
		}
		for (uint32_t k = 0; k < ways[chosen].n_rows; k++) {
			LodeReadAccess added = LODE_AT(
				self->way_rows, LodeReadAccess, ways[chosen].first + k);
			added.sample.is_unverified = true;
			append_access(self, &added);
		}
	}
}

void lode_memory_reading_add_traced(
	LodeMemoryReading *self, uint32_t pid, const LodeReadAccess *access)
{
	LodeReadAccess row = *access;

	row.input = self->input;
	row.caller = LODE_NONE;
	row.sample.mapping = find_mapping(self, pid, row.sample.address, access->sample.time_ns);
	if (row.is_push)
		note_stack(self, row.sample.mapping, &row, row.sample.address);
	self->has_addresses = self->names_operands = true;
	append_access(self, &row);
}

static LodeStackMapping stack_mapping(void *data, uint32_t mapping, uint64_t time_ns)
{
	LodeMemoryReading *self = data;
	const LodePlacedMapping *row = &LODE_AT(mappings_of(self), LodePlacedMapping, mapping);

	lode_places_select(self->options.places, row->recording);
	const LodeMappedRange *below = lode_places_find_mapping(
		self->options.places, row->mapping.pid, time_ns, row->mapping.start - 1);

	return (LodeStackMapping){
		row->mapping.start, row->mapping.end, below != NULL && below->protection == 0};
}

/* A mapping for each owner after its first; their numbers, in the order of the owners. */
static uint32_t *split_mappings(LodeMemoryReading *self, const GArray *owners)
{
	uint32_t *rows = g_new(uint32_t, MAX(owners->len, 1));
	GArray *mappings = mappings_of(self);

	for (guint i = 0; i < owners->len; i++) {
		const LodeThreadStack *owner = &g_array_index(owners, LodeThreadStack, i);
		LodePlacedMapping mapping = LODE_AT(mappings, LodePlacedMapping, owner->mapping);
		bool is_first = i == 0 ||
		                owner->mapping !=
		                        g_array_index(owners, LodeThreadStack, i - 1).mapping;

		mapping.stack_of = owner->thread;
		rows[i] = is_first ? owner->mapping : mappings->len;
		if (is_first) {
			LODE_AT(mappings, LodePlacedMapping, owner->mapping) = mapping;
		} else {
			mapping.mapping.begin_ns = owner->since_ns;
			g_array_append_val(mappings, mapping);
		}
	}
	return rows;
}

/* Makes the number of a mapping that of its owner at a time. */
static void find_owner(
	const GArray *owners, const uint32_t *rows, uint64_t time_ns, uint32_t *inout_mapping)
{
	const LodeThreadStack *stacks = (const LodeThreadStack *)(const void *)owners->data;
	uint32_t mapping = *inout_mapping;
	guint after = LODE_PARTITION_POINT(owners->len, i,
		stacks[i].mapping < mapping ||
			(stacks[i].mapping == mapping && stacks[i].since_ns <= time_ns));

	if (mapping != LODE_NONE && after > 0 && stacks[after - 1].mapping == mapping)
		*inout_mapping = rows[after - 1];
}

void lode_memory_reading_name_stacks(LodeMemoryReading *self)
{
	g_autoptr(GArray) owners = lode_thread_stacks_find(
		self->stacks, self->threads.threads, stack_mapping, self);
	const GArray *mappings = mappings_of(self);
	guint n_mappings = mappings->len;
	g_autofree uint32_t *rows = split_mappings(self, owners);

	for (guint i = 0; i < self->accesses->len && mappings->len > n_mappings; i++) {
		LodeReadAccess *access = &LODE_AT(self->accesses, LodeReadAccess, i);

		find_owner(owners, rows, access->sample.time_ns, &access->sample.mapping);
		find_owner(owners, rows, access->sample.time_ns, &access->base_mapping);
	}
}
