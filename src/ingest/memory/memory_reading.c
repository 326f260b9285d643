/* SPDX-License-Identifier: MIT */
#include "ingest/memory/memory_reading.h"

#include "base/large_array.h"
#include "base/own_library.h"
#include "images/data_access.h"
#include "model/profile.h"

#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
	RED_ZONE = 128,        /* below the stack pointer, by the System V ABI */
	STACK_LIMIT = 8 << 20, /* of a stack that no mapping tells of */
	PAGE_SIZE = 4096,
	/* of Linux, and more than there are */
	MAX_CPUS = 1 << 16,
	MAX_NODES = 1 << 10,
};

/* PERF_MEM_OP of a data source. */
enum { DATA_SOURCE_LOAD = 1 << 1, DATA_SOURCE_STORE = 1 << 2 };

typedef struct {
	LodeAddressSpaces *spaces; /* of all mappings; a file is an index of `mappings` */
	GArray *cpu_nodes;         /* uint32_t × CPUs */
	GHashTable *lost_stacks;   /* pid → mapping + 1 */
} Input;

struct LodeMemoryReading {
	LodeCodeImages *images;
	LodeThreads threads;
	GStringChunk *strings;
	GArray *inputs;   /* Input */
	GArray *mappings; /* LodeReadMapping */
	GPtrArray *event_names;
	GHashTable *event_ids; /* name → index + 1 */
	LodeAllocations *logs;
	GArray *accesses; /* LodeReadAccess */
	uint32_t input;
	bool has_addresses, is_stall_weighted, has_fixed_addresses;
	bool is_full; /* an access was left out */
};

static void clear_input(void *data)
{
	Input *self = data;

	lode_address_spaces_free(self->spaces);
	g_array_unref(self->cpu_nodes);
	g_hash_table_unref(self->lost_stacks);
}

LodeMemoryReading *lode_memory_reading_new(bool allow_debuginfod)
{
	LodeMemoryReading *self = g_new0(LodeMemoryReading, 1);

	self->images = lode_code_images_new(allow_debuginfod);
	lode_threads_init(&self->threads);
	self->strings = g_string_chunk_new(1 << 12);
	self->inputs = g_array_new(FALSE, TRUE, sizeof(Input));
	g_array_set_clear_func(self->inputs, clear_input);
	self->mappings = g_array_new(FALSE, TRUE, sizeof(LodeReadMapping));
	self->event_names = g_ptr_array_new();
	self->event_ids = g_hash_table_new(g_str_hash, g_str_equal);
	self->logs = lode_allocations_new();
	self->accesses = g_array_new(FALSE, TRUE, sizeof(LodeReadAccess));
	return self;
}

void lode_memory_reading_free(LodeMemoryReading *self)
{
	if (self == NULL)
		return;
	lode_code_images_free(self->images);
	lode_threads_clear(&self->threads);
	g_array_unref(self->inputs);
	g_array_unref(self->mappings);
	g_ptr_array_unref(self->event_names);
	g_hash_table_unref(self->event_ids);
	lode_allocations_free(self->logs);
	g_array_unref(self->accesses);
	g_string_chunk_free(self->strings);
	g_free(self);
}

void lode_memory_reading_select(LodeMemoryReading *self, uint32_t input)
{
	self->input = input;
	while (self->inputs->len <= input) {
		Input added = {lode_address_spaces_new(),
			g_array_new(FALSE, FALSE, sizeof(uint32_t)), g_hash_table_new(NULL, NULL)};
		g_array_append_val(self->inputs, added);
	}
}

static LodeMemoryMapping *mapping_at(LodeMemoryReading *self, uint32_t index)
{
	return &LODE_AT(self->mappings, LodeReadMapping, index).mapping;
}

static Input *selected(LodeMemoryReading *self)
{
	return &g_array_index(self->inputs, Input, self->input);
}

/* As the kernel's own maps would say. */
static char *mapping_name(LodeMemoryReading *self, const char *path)
{
	bool is_anonymous = path[0] == '\0' || g_str_has_prefix(path, "//anon") ||
	                    strcmp(path, "anon_inode:") == 0;

	return g_string_chunk_insert_const(self->strings, is_anonymous ? "[anon]" : path);
}

/* Where programs and stacks begin when nothing is random. */
static bool is_fixed_place(const LodeMemoryMapping *mapping)
{
	static const uint64_t program = UINT64_C(0x555555554000), stack = UINT64_C(0x7ffffffff000);

	return mapping->start == program || mapping->end == stack;
}

static void add_mapping(LodeMemoryReading *self, const LodePerfRecord *record, uint64_t time_ns)
{
	const LodePerfMapping *source = &record->mapping;
	uint64_t end = source->size <= UINT64_MAX - source->start ? source->start + source->size
	                                                          : UINT64_MAX;
	LodeReadMapping mapping = {{record->pid, source->protection, source->start, end, time_ns,
					   mapping_name(self, source->path)},
		source->offset, self->input, LODE_NONE};
	const LodeMappedRange range = {
		.start = source->start, .end = end, .offset = 0, .file = self->mappings->len};

	if (record->pid == UINT32_MAX || record->mode == LODE_PERF_MODE_KERNEL ||
		self->mappings->len == LODE_NONE - 1)
		return;
	self->has_fixed_addresses |= is_fixed_place(&mapping.mapping);
	g_array_append_val(self->mappings, mapping);
	lode_address_spaces_map(selected(self)->spaces, record->pid, time_ns, &range);
}

void lode_memory_reading_note(
	LodeMemoryReading *self, const LodePerfRecord *record, uint64_t time_ns)
{
	lode_threads_note(&self->threads, record, time_ns);
	switch (record->kind) {
	case LODE_PERF_MAPPING:
		add_mapping(self, record, time_ns);
		break;
	case LODE_PERF_COMMAND:
		if (record->is_exec)
			lode_address_spaces_exec(selected(self)->spaces, record->pid, time_ns);
		break;
	case LODE_PERF_FORK:
		lode_address_spaces_fork(
			selected(self)->spaces, record->pid, record->parent_pid, time_ns);
		break;
	default:
		break;
	}
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

bool lode_memory_reading_freeze(LodeMemoryReading *self, const LodePerfInfo *info, GError **error)
{
	Input *input = selected(self);

	for (guint i = 0; info != NULL && i < MIN(info->numa_nodes->len, MAX_NODES); i++) {
		const LodePerfNumaNode *node = &g_array_index(
			info->numa_nodes, LodePerfNumaNode, i);
		add_cpus(input->cpu_nodes, node->cpus, node->node);
	}
	lode_threads_freeze(&self->threads);
	return lode_address_spaces_freeze(input->spaces, error);
}

/* What is_valid() needs to know of the sample. */
typedef struct {
	LodeMemoryReading *reading;
	uint32_t pid;
	uint64_t time_ns, stack_pointer;
	bool has_stack_pointer;
	LodeCodeImage *image;
	LodeUserRegisters registers;
	LodeDataAccessQuestion question; /* without registers: none were recorded */
} Place;

static uint32_t find_mapping(const Place *self, uint64_t address)
{
	const LodeMappedRange *range = lode_address_spaces_find(
		selected(self->reading)->spaces, self->pid, address, self->time_ns, NULL);

	return range != NULL ? range->file : LODE_NONE;
}

static uint32_t lost_stack(Place *self)
{
	LodeMemoryReading *reading = self->reading;
	GHashTable *lost_stacks = selected(reading)->lost_stacks;
	void *found = g_hash_table_lookup(lost_stacks, GUINT_TO_POINTER(self->pid));

	if (found != NULL)
		return GPOINTER_TO_UINT(found) - 1;
	LodeReadMapping mapping = {
		{self->pid, PROT_READ | PROT_WRITE, self->stack_pointer, self->stack_pointer, 0,
			mapping_name(reading, "[stack]")},
		0, reading->input, LODE_NONE};
	g_array_append_val(reading->mappings, mapping);
	g_hash_table_insert(
		lost_stacks, GUINT_TO_POINTER(self->pid), GUINT_TO_POINTER(reading->mappings->len));
	return reading->mappings->len - 1;
}

/*
 * The kernel does not tell of the stack that an exec makes, only of its growth: where the stack
 * pointer is in no mapping, what lies above it up to the next mapping must be that stack.
 */
static uint32_t find_in_lost_stack(Place *self, uint64_t address)
{
	uint64_t low = self->stack_pointer - RED_ZONE;

	if (!self->has_stack_pointer || address < low || address - low > STACK_LIMIT ||
		find_mapping(self, self->stack_pointer) != LODE_NONE)
		return LODE_NONE;
	uint32_t found = lost_stack(self);
	LodeMemoryMapping *mapping = mapping_at(self->reading, found);
	mapping->start = MIN(mapping->start, low & ~(uint64_t)(PAGE_SIZE - 1));
	mapping->end = MAX(mapping->end, (address | (PAGE_SIZE - 1)) + 1);
	return found;
}

static uint32_t find_any_mapping(Place *self, uint64_t address)
{
	uint32_t found = find_mapping(self, address);

	return found != LODE_NONE ? found : find_in_lost_stack(self, address);
}

static bool has_permission(const Place *self, uint32_t mapping, uint8_t access)
{
	uint32_t protection = mapping_at(self->reading, mapping)->protection;

	return ((access & LODE_ACCESS_LOAD) == 0 || (protection & PROT_READ) != 0) &&
	       ((access & LODE_ACCESS_STORE) == 0 || (protection & PROT_WRITE) != 0);
}

static bool is_valid(void *data, uint64_t address, uint32_t size, uint8_t access)
{
	Place *self = data;
	uint64_t last = address + (size > 0 ? size - 1 : 0);
	uint32_t mapping = find_any_mapping(self, address);

	if (mapping == LODE_NONE || last < address || !has_permission(self, mapping, access))
		return false;
	if (last < mapping_at(self->reading, mapping)->end)
		return true;
	mapping = find_any_mapping(self, last);
	return mapping != LODE_NONE && has_permission(self, mapping, access);
}

static const uint8_t *code_bytes(void *data, uint64_t address, size_t *out_n)
{
	const Place *self = data;

	if (self->image == NULL || self->image->binary == NULL)
		return NULL;
	return lode_binary_image_bytes(self->image->binary, address, out_n);
}

static bool is_trigger_before(const LodePerfEvent *event)
{
	bool is_counter = event->type != PERF_TYPE_SOFTWARE && event->type != PERF_TYPE_TRACEPOINT;

	return is_counter && event->precise < 2;
}

/* A sample's registers have no %fs base; the thread itself may have told it. */
static void add_thread_pointer(
	const Place *self, const LodePerfRecord *record, LodeUserRegisters *registers)
{
	LodeMemoryReading *reading = self->reading;
	LodeAddressSpaceBirth birth = lode_memory_reading_find_birth(
		reading, reading->input, self->pid, self->time_ns);
	uint32_t log = lode_allocations_find(
		reading->logs, self->pid, birth.time_ns, self->time_ns);

	registers->has_fs_base = log != LODE_NONE &&
	                         lode_allocations_find_thread_pointer(reading->logs, log,
					 record->tid, self->time_ns, &registers->fs_base);
}

/* What lode has programs run with; their work is not the program's. */
static bool is_recorder(const char *path)
{
	return path != NULL && lode_is_own_library(path);
}

/* Also what the dynamic linker does to them. */
static bool is_of_recorder(Place *self, const LodeDataAccess *access)
{
	uint32_t mapping = access->n_operands > 0
	                           ? find_any_mapping(self, access->operands[0].address)
	                           : LODE_NONE;

	return mapping != LODE_NONE && is_recorder(mapping_at(self->reading, mapping)->name);
}

static LodeDataAccess resolve(Place *place, const LodeSampledAccess *sampled)
{
	const LodePerfSample *sample = &sampled->record->sample;
	LodeUserRegisters *registers = &place->registers;
	LodeDataAccess access = {.reason = LODE_REASON_NO_REGISTERS};
	const LodeDataAccessContext context = {code_bytes, is_valid, place};

	if (sample->user_registers == NULL)
		return access;
	/* Also those of a program that nothing can be said of: its samples have their reason. */
	place->reading->has_addresses = true;
	if (!lode_user_registers_from_perf(registers, sampled->event->user_registers,
		    sample->user_abi, sample->user_registers))
		return access;
	place->stack_pointer = registers->values[LODE_REGISTER_RSP];
	place->has_stack_pointer = (registers->known >> LODE_REGISTER_RSP & 1) != 0;
	add_thread_pointer(place, sampled->record, registers);
	if (sampled->path == NULL) {
		access.reason = LODE_REASON_NOT_USER_CODE;
		return access;
	}
	place->question = (LodeDataAccessQuestion){
		.pc = sampled->image_pc,
		.bias = sample->ip - sampled->image_pc,
		.registers = registers,
		.stack = sample->stack,
		.stack_size = sample->stack_size,
		.flow = place->image->binary != NULL
	                        ? lode_code_image_flow(place->image, sampled->image_pc)
	                        : NULL,
		.targets = lode_code_image_targets(place->image),
		.is_trigger_before = is_trigger_before(sampled->event),
	};
	lode_data_access_find(&context, &place->question, &access);
	return access;
}

/* The processor's or the kernel's own word beats all rules, which may still know the operand. */
static void prefer_hardware(const LodeSampledAccess *sampled, LodeDataAccess *access)
{
	const LodePerfSample *sample = &sampled->record->sample;
	LodeDataOperand operand = {.address = sample->address};

	for (size_t i = 0; i < access->n_operands; i++) {
		bool is_same_page = access->rule == LODE_RULE_AT_PC &&
		                    access->operands[i].address / PAGE_SIZE ==
		                            sample->address / PAGE_SIZE;
		if (is_same_page) {
			operand.size = access->operands[i].size;
			operand.access = access->operands[i].access;
			operand.operand = access->operands[i].operand;
		}
	}
	if ((sample->data_source & DATA_SOURCE_LOAD) != 0)
		operand.access |= LODE_ACCESS_LOAD;
	if ((sample->data_source & DATA_SOURCE_STORE) != 0)
		operand.access |= LODE_ACCESS_STORE;
	*access = (LodeDataAccess){.rule = LODE_RULE_HARDWARE,
		.pc = sampled->image_pc,
		.operands = {operand},
		.n_operands = 1};
}

uint32_t lode_memory_reading_event(LodeMemoryReading *self, const char *name)
{
	void *found = g_hash_table_lookup(self->event_ids, name);

	if (found != NULL)
		return GPOINTER_TO_UINT(found) - 1;
	char *kept = g_string_chunk_insert_const(self->strings, name);
	g_ptr_array_add(self->event_names, kept);
	g_hash_table_insert(self->event_ids, kept, GUINT_TO_POINTER(self->event_names->len));
	return self->event_names->len - 1;
}

static uint32_t node_of(const LodeMemoryReading *self, uint32_t cpu)
{
	const GArray *nodes = g_array_index(self->inputs, Input, self->input).cpu_nodes;

	return cpu < nodes->len ? g_array_index(nodes, uint32_t, cpu) : UINT32_MAX;
}

/* A thread's stack is memory like any other until something shows it. */
static void name_stack(LodeMemoryReading *self, uint32_t found, uint32_t thread)
{
	const LodeThread *owner = &LODE_AT(self->threads.threads, LodeThread, thread);
	LodeReadMapping *mapping = &LODE_AT(self->mappings, LodeReadMapping, found);

	if (owner->tid != owner->pid && mapping->stack_of == LODE_NONE &&
		strcmp(mapping->mapping.name, "[anon]") == 0)
		mapping->stack_of = thread;
}

static void name_thread_stack(Place *self, uint32_t thread)
{
	uint32_t found = self->has_stack_pointer ? find_mapping(self, self->stack_pointer)
	                                         : LODE_NONE;

	if (found != LODE_NONE)
		name_stack(self->reading, found, thread);
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
				.latency = sample->weight,
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
		.image = sampled->path != NULL ? lode_code_images_add(self->images, sampled->path,
							 sampled->build_id)
	                                       : LODE_NONE,
		.input = self->input,
		.image_pc = sampled->image_pc,
	};
}

/* The sample is charged to the access that waited, even where its address is lost. */
static void charge(LodeReadAccess *row, const LodeDataAccess *access, uint8_t operand)
{
	bool is_waiting = access->waiting_pc != 0;

	if (access->rule == LODE_RULE_NONE && !is_waiting)
		return;
	row->image_access_pc = is_waiting ? access->waiting_pc : access->pc;
	row->operand = is_waiting ? access->waiting_operand : operand;
	row->sample.access_pc = row->sample.pc - row->image_pc + row->image_access_pc;
	row->sample.is_next = is_waiting && access->rule != LODE_RULE_NONE;
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

/* What the registers and the stack, which are not kept, tell of where an address is: in which
 * frame, and how far from the thread pointer. */
static void find_frame(Place *place, LodeReadAccess *row)
{
	const LodeUserRegisters *registers = &place->registers;
	LodeDataTypes *types = place->question.registers != NULL
	                               ? lode_code_image_types(place->image)
	                               : NULL;

	if (registers->has_fs_base)
		row->from_thread_pointer = (int64_t)(row->sample.address - registers->fs_base);
	if (types == NULL || !lode_data_types_find_frame(
				     types, &place->question, row->sample.address, &row->frame))
		return;
	row->has_frame = true;
	/* the scopes that the access was in */
	if (!row->frame.is_caller && lode_code_image_function(place->image, row->image_access_pc) ==
					     lode_code_image_function(place->image, row->image_pc))
		row->frame.pc = row->image_access_pc;
}

static void add_operand(
	Place *place, const LodeReadAccess *row, const LodeDataAccess *access, size_t i)
{
	LodeReadAccess added = *row;
	const LodeDataOperand *operand = &access->operands[i];

	charge(&added, access, operand->operand);
	added.sample.weight /= access->n_operands;
	added.sample.rule = (uint8_t)access->rule;
	added.sample.address = operand->address;
	added.sample.size = operand->size;
	added.sample.access = operand->access;
	added.sample.operand = (uint8_t)i;
	added.sample.is_unverified = access->is_unverified;
	added.sample.mapping = find_any_mapping(place, operand->address);
	find_frame(place, &added);
	append_access(place->reading, &added);
}

void lode_memory_reading_add(LodeMemoryReading *self, const LodeSampledAccess *sampled)
{
	const LodePerfRecord *record = sampled->record;
	LodeReadAccess row = new_row(self, sampled);
	Place place = {.reading = self,
		.pid = record->pid,
		.time_ns = sampled->time_ns,
		.image = row.image != LODE_NONE ? lode_code_images_at(self->images, row.image)
	                                        : NULL};
	LodeDataAccess access = resolve(&place, sampled);

	self->is_stall_weighted |= g_str_has_suffix(sampled->event_name, "-clock");
	name_thread_stack(&place, row.sample.thread);
	if (record->sample.address != 0) {
		self->has_addresses = true;
		prefer_hardware(sampled, &access);
	}
	if (is_recorder(sampled->path) || is_of_recorder(&place, &access))
		access = (LodeDataAccess){.reason = LODE_REASON_RECORDER};
	for (size_t i = 0; i < access.n_operands; i++)
		add_operand(&place, &row, &access, i);
	if (access.n_operands > 0)
		return;
	row.sample.reason = (uint8_t)access.reason;
	charge(&row, &access, 0);
	append_access(self, &row);
}

void lode_memory_reading_add_traced(
	LodeMemoryReading *self, uint32_t pid, const LodeReadAccess *access)
{
	const Place place = {.reading = self, .pid = pid, .time_ns = access->sample.time_ns};
	LodeReadAccess row = *access;

	row.input = self->input;
	row.sample.mapping = find_mapping(&place, row.sample.address);
	if (row.is_push && row.sample.mapping != LODE_NONE)
		name_stack(self, row.sample.mapping, row.sample.thread);
	self->has_addresses = true;
	append_access(self, &row);
}

void lode_memory_reading_set_fixed_addresses(LodeMemoryReading *self)
{
	self->has_fixed_addresses = true;
}

void lode_memory_reading_take_log(LodeMemoryReading *self, LodeAllocationLog *log)
{
	lode_allocations_take(self->logs, log);
}

bool lode_memory_reading_has_addresses(const LodeMemoryReading *self)
{
	return self->has_addresses;
}

const GArray *lode_memory_reading_accesses(const LodeMemoryReading *self)
{
	return self->accesses;
}

bool lode_memory_reading_is_full(const LodeMemoryReading *self)
{
	return self->is_full;
}

const GPtrArray *lode_memory_reading_event_names(const LodeMemoryReading *self)
{
	return self->event_names;
}

const GArray *lode_memory_reading_mappings(const LodeMemoryReading *self)
{
	return self->mappings;
}

LodeAllocations *lode_memory_reading_logs(LodeMemoryReading *self)
{
	return self->logs;
}

LodeCodeImages *lode_memory_reading_images(LodeMemoryReading *self)
{
	return self->images;
}

LodeThreads *lode_memory_reading_threads(LodeMemoryReading *self)
{
	return &self->threads;
}

bool lode_memory_reading_is_stall_weighted(const LodeMemoryReading *self)
{
	return self->is_stall_weighted;
}

bool lode_memory_reading_has_fixed_addresses(const LodeMemoryReading *self)
{
	return self->has_fixed_addresses;
}

uint32_t lode_memory_reading_find_mapping(
	LodeMemoryReading *self, uint32_t pid, uint64_t address, uint64_t time_ns)
{
	for (guint i = 0; i < self->inputs->len; i++) {
		LodeAddressSpaces *spaces = g_array_index(self->inputs, Input, i).spaces;
		const LodeAddressSpaceBirth birth = lode_address_spaces_find_birth(
			spaces, pid, time_ns);
		const LodeMappedRange *range = lode_address_spaces_find(
			spaces, pid, address, birth.end_ns - 1, NULL);
		if (range != NULL)
			return range->file;
	}
	return LODE_NONE;
}

LodeAddressSpaceBirth lode_memory_reading_find_birth(
	LodeMemoryReading *self, uint32_t input, uint32_t pid, uint64_t time_ns)
{
	return lode_address_spaces_find_birth(
		g_array_index(self->inputs, Input, input).spaces, pid, time_ns);
}
