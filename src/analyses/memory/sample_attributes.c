/* SPDX-License-Identifier: MIT */
/*
 * Values that take long to make, such as labels and names of places, are made once for a profile;
 * an attribute of a sample is then a look-up. References by number are checked in each, as a
 * profile is a file.
 */
#include "analyses/memory/sample_attributes.h"

#include "analyses/memory/data_source.h"
#include "base/arrays/partition_point.h"
#include "model/lines/own_lines.h"
#include "model/memory.h"
#include "model/profile.h"

#include <string.h>

/* Rows of the pages of a process that are of one time. */
typedef struct {
	uint32_t pid, first, n;
	uint64_t time_ns;
} PageSurvey;

struct LodeSampleAttributes {
	const LodeProfile *profile;
	const LodeMemory *memory;
	LodeOwnLines *own;
	uint64_t first_ns;     /* of the samples with a time */
	char **thread_labels;  /* per thread */
	const char **opcodes;  /* per attribute set; NULL: none */
	const char **places;   /* per location: "parse.c:120"; NULL: unknown */
	GArray *page_surveys;  /* PageSurvey, by (pid, time_ns) */
	GStringChunk *strings; /* owns the labels and places */
};

/* Threads are sorted by process. */
static void label_threads(LodeSampleAttributes *self)
{
	const LodeThread *threads = (const LodeThread *)(const void *)self->memory->threads->data;
	guint n = self->memory->threads->len;
	bool has_processes = n > 0 && threads[0].pid != threads[n - 1].pid;

	self->thread_labels = g_new(char *, n + 1);
	for (guint i = 0; i < n; i++) {
		g_autofree char *label = has_processes ? g_strdup_printf("%u.%u", threads[i].pid,
								 threads[i].ordinal)
		                                       : g_strdup_printf("%u", threads[i].ordinal);
		self->thread_labels[i] = g_string_chunk_insert(self->strings, label);
	}
}

static void find_opcodes(LodeSampleAttributes *self)
{
	const LodeProfile *profile = self->profile;

	self->opcodes = g_new0(const char *, profile->code.attribute_sets->len + 1);
	for (guint i = 0; i < profile->code.attribute_sets->len; i++)
		self->opcodes[i] = lode_profile_set_value(profile, i, "op:");
}

static void name_places(LodeSampleAttributes *self)
{
	const GArray *locations = self->profile->code.locations;

	self->places = g_new0(const char *, locations->len + 1);
	for (guint i = 0; i < locations->len; i++) {
		const LodeLocation *location = &LODE_AT(locations, LodeLocation, i);
		if (location->file == NULL || location->line == 0)
			continue;
		g_autofree char *place = g_strdup_printf("%s:%u", location->file, location->line);
		/* One string for code inlined from several places into one line. */
		self->places[i] = g_string_chunk_insert_const(self->strings, place);
	}
}

uint64_t lode_sample_first_time(const LodeMemory *memory)
{
	uint64_t first_ns = 0;

	for (guint i = 0; i < memory->samples->len; i++) {
		uint64_t time_ns = LODE_AT(memory->samples, LodeMemorySample, i).time_ns;
		if (time_ns != 0 && (first_ns == 0 || time_ns < first_ns))
			first_ns = time_ns;
	}
	return first_ns;
}

static void find_page_surveys(LodeSampleAttributes *self)
{
	const GArray *pages = self->memory->pages;

	self->page_surveys = g_array_new(FALSE, FALSE, sizeof(PageSurvey));
	for (guint i = 0; i < pages->len; i++) {
		const LodeMemoryPages *row = &LODE_AT(pages, LodeMemoryPages, i);
		const PageSurvey survey = {row->pid, i, 1, row->time_ns};
		PageSurvey *last = self->page_surveys->len > 0
		                           ? &g_array_index(self->page_surveys, PageSurvey,
						     self->page_surveys->len - 1)
		                           : NULL;
		if (last != NULL && last->pid == row->pid && last->time_ns == row->time_ns)
			last->n++;
		else
			g_array_append_val(self->page_surveys, survey);
	}
}

LodeSampleAttributes *lode_sample_attributes_new(const LodeProfile *profile, const char *const *own)
{
	LodeSampleAttributes *self = g_new0(LodeSampleAttributes, 1);

	g_assert(profile->memory != NULL);
	self->profile = profile;
	self->memory = profile->memory;
	self->own = lode_own_lines_new(profile, own);
	self->strings = g_string_chunk_new(1 << 12);
	label_threads(self);
	find_opcodes(self);
	name_places(self);
	self->first_ns = lode_sample_first_time(profile->memory);
	find_page_surveys(self);
	return self;
}

void lode_sample_attributes_free(LodeSampleAttributes *self)
{
	if (self == NULL)
		return;
	lode_own_lines_free(self->own);
	g_string_chunk_free(self->strings);
	g_array_unref(self->page_surveys);
	g_free(self->places);
	g_free(self->opcodes);
	g_free(self->thread_labels);
	g_free(self);
}

const char *lode_sample_attributes_thread_label(const LodeSampleAttributes *self, uint32_t thread)
{
	return self->thread_labels[thread];
}

/* --- one small function for each attribute, and the table of them --- */

typedef const LodeSampleAttributes *Self;
typedef const LodeMemorySample *Sample;

static LodeValue number(uint64_t value)
{
	return (LodeValue){.kind = LODE_VALUE_INTEGER, .integer = value};
}

/* 0 stands for "not recorded". */
static LodeValue number_unless_zero(uint64_t value)
{
	return value != 0 ? number(value) : lode_value_none();
}

static LodeValue number_unless_none(uint32_t value)
{
	return value != LODE_NONE ? number(value) : lode_value_none();
}

static const LodeThread *thread_of(Self self, Sample sample)
{
	if (sample->thread >= self->memory->threads->len)
		return NULL;
	return &LODE_AT(self->memory->threads, LodeThread, sample->thread);
}

static LodeValue get_thread(Self self, Sample sample)
{
	const LodeThread *thread = thread_of(self, sample);

	return thread != NULL ? number(thread->ordinal) : lode_value_none();
}

static LodeValue get_thread_label(Self self, Sample sample)
{
	if (thread_of(self, sample) == NULL)
		return lode_value_none();
	return lode_value_of_text(self->thread_labels[sample->thread]);
}

static LodeValue get_pid(Self self, Sample sample)
{
	const LodeThread *thread = thread_of(self, sample);

	return thread != NULL ? number(thread->pid) : lode_value_none();
}

static LodeValue get_tid(Self self, Sample sample)
{
	const LodeThread *thread = thread_of(self, sample);

	return thread != NULL ? number(thread->tid) : lode_value_none();
}

static LodeValue get_command(Self self, Sample sample)
{
	const LodeThread *thread = thread_of(self, sample);

	return thread != NULL ? lode_value_of_text(thread->name) : lode_value_none();
}

static LodeValue get_cpu(Self self, Sample sample)
{
	(void)self;
	return number_unless_none(sample->cpu);
}

static LodeValue get_node(Self self, Sample sample)
{
	(void)self;
	return number_unless_none(sample->node);
}

static LodeValue get_time(Self self, Sample sample)
{
	if (sample->time_ns == 0)
		return lode_value_none();
	return number(sample->time_ns - self->first_ns);
}

static LodeValue get_event(Self self, Sample sample)
{
	if (sample->event >= self->profile->code.events->len)
		return lode_value_none();
	return lode_value_of_text(lode_profile_event(self->profile, sample->event)->name);
}

static LodeValue get_pc(Self self, Sample sample)
{
	(void)self;
	return number_unless_zero(sample->access_pc != 0 ? sample->access_pc : sample->pc);
}

static LodeValue get_sampled_pc(Self self, Sample sample)
{
	(void)self;
	return number_unless_zero(sample->pc);
}

/* The accessing instruction; the sampled one where no access was found. */
static uint32_t instruction_number(Self self, Sample sample)
{
	uint32_t index = sample->access_instruction;

	if (sample->access_pc == 0 || sample->access_pc == sample->pc)
		index = index != LODE_NONE ? index : sample->instruction;
	return index < self->profile->code.instructions->len ? index : LODE_NONE;
}

static const LodeInstruction *instruction_of(Self self, Sample sample)
{
	uint32_t index = instruction_number(self, sample);

	return index != LODE_NONE ? lode_profile_instruction(self->profile, index) : NULL;
}

uint32_t lode_sample_attributes_function(
	const LodeSampleAttributes *self, const LodeMemorySample *sample)
{
	const LodeInstruction *instruction = instruction_of(self, sample);
	uint32_t index = sample->access_function;

	if (index == LODE_NONE && instruction != NULL)
		index = instruction->function;
	return index < self->profile->code.functions->len ? index : LODE_NONE;
}

static const LodeFunction *function_of(Self self, Sample sample)
{
	uint32_t index = lode_sample_attributes_function(self, sample);

	if (index == LODE_NONE)
		return NULL;
	return lode_profile_function(self->profile, index);
}

static LodeValue get_function(Self self, Sample sample)
{
	const LodeFunction *function = function_of(self, sample);

	return function != NULL ? lode_value_of_text(function->name) : lode_value_none();
}

static LodeValue get_image(Self self, Sample sample)
{
	const LodeFunction *function = function_of(self, sample);

	if (function == NULL || function->image >= self->profile->code.images->len)
		return lode_value_none();
	return lode_value_of_text(lode_profile_image(self->profile, function->image)->path);
}

static uint32_t location_of(Self self, Sample sample)
{
	uint32_t instruction = instruction_number(self, sample);
	uint32_t index = instruction != LODE_NONE ? lode_own_lines_find(self->own, instruction)
	                                          : sample->access_location;

	return index < self->profile->code.locations->len ? index : LODE_NONE;
}

static LodeValue get_file(Self self, Sample sample)
{
	uint32_t index = location_of(self, sample);

	if (index == LODE_NONE)
		return lode_value_none();
	return lode_value_of_text(LODE_AT(self->profile->code.locations, LodeLocation, index).file);
}

static LodeValue get_line(Self self, Sample sample)
{
	uint32_t index = location_of(self, sample);

	if (index == LODE_NONE)
		return lode_value_none();
	return number_unless_zero(LODE_AT(self->profile->code.locations, LodeLocation, index).line);
}

static LodeValue get_place(Self self, Sample sample)
{
	uint32_t index = location_of(self, sample);

	return index != LODE_NONE ? lode_value_of_text(self->places[index]) : lode_value_none();
}

static LodeValue get_opcode(Self self, Sample sample)
{
	const LodeInstruction *instruction = instruction_of(self, sample);

	if (instruction == NULL ||
		instruction->attribute_set >= self->profile->code.attribute_sets->len)
		return lode_value_none();
	return lode_value_of_text(self->opcodes[instruction->attribute_set]);
}

static bool has_address(Sample sample)
{
	return sample->rule != LODE_RULE_NONE;
}

static LodeValue address_in_units(Sample sample, uint64_t unit)
{
	return has_address(sample) ? number(sample->address & ~(unit - 1)) : lode_value_none();
}

static LodeValue get_address(Self self, Sample sample)
{
	(void)self;
	return address_in_units(sample, 1);
}

static LodeValue get_page(Self self, Sample sample)
{
	(void)self;
	return address_in_units(sample, LODE_SAMPLE_PAGE_BYTES);
}

static LodeValue get_cacheline(Self self, Sample sample)
{
	(void)self;
	return address_in_units(sample, LODE_SAMPLE_LINE_BYTES);
}

static const LodeDataObject *object_of(Self self, Sample sample)
{
	if (sample->object >= self->memory->objects->len)
		return NULL;
	return &LODE_AT(self->memory->objects, LodeDataObject, sample->object);
}

static LodeValue get_object(Self self, Sample sample)
{
	const LodeDataObject *object = object_of(self, sample);

	return object != NULL ? lode_value_of_text(object->name) : lode_value_none();
}

static LodeValue get_layer(Self self, Sample sample)
{
	const LodeDataObject *object = object_of(self, sample);

	if (object == NULL)
		return lode_value_none();
	return lode_value_of_text(lode_object_layer_to_text(object->layer));
}

static LodeValue get_type(Self self, Sample sample)
{
	const LodeDataObject *object = object_of(self, sample);

	if (object == NULL || object->type >= self->memory->types->len)
		return lode_value_none();
	return lode_value_of_text(LODE_AT(self->memory->types, LodeDataType, object->type).name);
}

static const LodeDataMember *member_of(Self self, Sample sample)
{
	const LodeDataObject *object = object_of(self, sample);

	if (object == NULL || object->member >= self->memory->members->len)
		return NULL;
	return &LODE_AT(self->memory->members, LodeDataMember, object->member);
}

static LodeValue get_member(Self self, Sample sample)
{
	const LodeDataMember *member = member_of(self, sample);

	return member != NULL ? lode_value_of_text(member->name) : lode_value_none();
}

static LodeValue get_offset(Self self, Sample sample)
{
	const LodeDataMember *member = member_of(self, sample);

	return member != NULL ? number(member->offset) : lode_value_none();
}

static LodeValue get_variable(Self self, Sample sample)
{
	const LodeDataObject *object = object_of(self, sample);

	return object != NULL ? lode_value_of_text(object->variable) : lode_value_none();
}

static const LodeAllocationSite *site_of(Self self, Sample sample)
{
	const LodeDataObject *object = object_of(self, sample);

	if (object == NULL || object->site >= self->memory->sites->len)
		return NULL;
	return &LODE_AT(self->memory->sites, LodeAllocationSite, object->site);
}

static LodeValue get_allocation(Self self, Sample sample)
{
	const LodeAllocationSite *site = site_of(self, sample);

	return site != NULL ? lode_value_of_text(site->name) : lode_value_none();
}

static LodeValue get_allocation_stack(Self self, Sample sample)
{
	const LodeAllocationSite *site = site_of(self, sample);

	return site != NULL ? lode_value_of_text(site->stack) : lode_value_none();
}

static const LodeAllocation *allocation_of(Self self, Sample sample)
{
	if (sample->allocation >= self->memory->allocations->len)
		return NULL;
	return &LODE_AT(self->memory->allocations, LodeAllocation, sample->allocation);
}

static LodeValue get_allocation_address(Self self, Sample sample)
{
	const LodeAllocation *allocation = allocation_of(self, sample);

	return allocation != NULL ? number(allocation->address) : lode_value_none();
}

static LodeValue get_allocation_size(Self self, Sample sample)
{
	const LodeAllocation *allocation = allocation_of(self, sample);

	return allocation != NULL ? number(allocation->size) : lode_value_none();
}

static LodeValue get_allocation_offset(Self self, Sample sample)
{
	const LodeAllocation *allocation = allocation_of(self, sample);

	if (allocation == NULL || !has_address(sample))
		return lode_value_none();
	return lode_value_of_integer((LodeInteger)sample->address - allocation->address);
}

static LodeValue get_mapping(Self self, Sample sample)
{
	const LodeDataObject *object = object_of(self, sample);

	if (object != NULL && object->mapping != NULL)
		return lode_value_of_text(object->mapping);
	if (sample->mapping >= self->memory->mappings->len)
		return lode_value_none();
	return lode_value_of_text(
		LODE_AT(self->memory->mappings, LodeMemoryMapping, sample->mapping).name);
}

static LodeValue get_mapping_offset(Self self, Sample sample)
{
	if (sample->mapping >= self->memory->mappings->len || !has_address(sample))
		return lode_value_none();
	const LodeMemoryMapping *mapping = &LODE_AT(
		self->memory->mappings, LodeMemoryMapping, sample->mapping);
	return lode_value_of_integer((LodeInteger)sample->address - mapping->start);
}

static LodeValue get_rule(Self self, Sample sample)
{
	(void)self;
	if (!has_address(sample) || sample->rule >= LODE_N_RULES)
		return lode_value_none();
	return lode_value_of_text(lode_address_rule_to_text((LodeAddressRule)sample->rule));
}

static LodeValue get_reason(Self self, Sample sample)
{
	(void)self;
	if (sample->reason == LODE_REASON_NONE || sample->reason >= LODE_N_REASONS)
		return lode_value_none();
	return lode_value_of_text(lode_address_reason_to_text((LodeAddressReason)sample->reason));
}

static LodeValue get_access(Self self, Sample sample)
{
	static const char *const words[] = {NULL, "load", "store", "load+store"};

	(void)self;
	return lode_value_of_text(words[sample->access & (LODE_ACCESS_LOAD | LODE_ACCESS_STORE)]);
}

static LodeValue get_is_load(Self self, Sample sample)
{
	(void)self;
	return lode_value_of_boolean((sample->access & LODE_ACCESS_LOAD) != 0);
}

static LodeValue get_is_store(Self self, Sample sample)
{
	(void)self;
	return lode_value_of_boolean((sample->access & LODE_ACCESS_STORE) != 0);
}

static LodeValue get_is_unverified(Self self, Sample sample)
{
	(void)self;
	return lode_value_of_boolean(sample->is_unverified);
}

static LodeValue get_operand(Self self, Sample sample)
{
	(void)self;
	return number(sample->operand);
}

static LodeValue get_size(Self self, Sample sample)
{
	(void)self;
	return number_unless_zero(sample->size);
}

static LodeValue get_weight(Self self, Sample sample)
{
	(void)self;
	return lode_value_of_real(sample->weight);
}

static LodeValue get_latency(Self self, Sample sample)
{
	(void)self;
	return number_unless_zero(sample->latency);
}

static LodeValue get_level(Self self, Sample sample)
{
	(void)self;
	return lode_value_of_text(lode_data_source_level(sample->data_source));
}

static LodeValue get_snoop(Self self, Sample sample)
{
	(void)self;
	return lode_value_of_text(lode_data_source_snoop(sample->data_source));
}

static LodeValue get_tlb(Self self, Sample sample)
{
	(void)self;
	return lode_value_of_text(lode_data_source_tlb(sample->data_source));
}

static LodeValue get_locked(Self self, Sample sample)
{
	bool is_locked;

	(void)self;
	return lode_data_source_lock(sample->data_source, &is_locked)
	               ? lode_value_of_boolean(is_locked)
	               : lode_value_none();
}

/* Finds in one reading of the pages of a process the row that holds an address; NULL: none does.
 */
static const LodeMemoryPages *find_in_survey(Self self, const PageSurvey *survey, uint64_t address)
{
	const LodeMemoryPages *rows =
		(const LodeMemoryPages *)(const void *)self->memory->pages->data;
	guint n = LODE_PARTITION_POINT(survey->n, i, rows[survey->first + i].start <= address);
	const LodeMemoryPages *row = n > 0 ? &rows[survey->first + n - 1] : NULL;

	return row != NULL && address < row->end ? row : NULL;
}

/* By the last reading before the access, else by the first one after it: untouched pages were on no
 * node. */
static const LodeMemoryPages *pages_of(Self self, Sample sample)
{
	const LodeThread *thread = thread_of(self, sample);
	const PageSurvey *surveys = (const PageSurvey *)(const void *)self->page_surveys->data;
	guint n = self->page_surveys->len;

	if (thread == NULL || sample->rule == LODE_RULE_NONE || n == 0)
		return NULL;
	guint after = LODE_PARTITION_POINT(n, i,
		surveys[i].pid < thread->pid ||
			(surveys[i].pid == thread->pid && surveys[i].time_ns <= sample->time_ns));
	const LodeMemoryPages *found = NULL;
	if (after > 0 && surveys[after - 1].pid == thread->pid)
		found = find_in_survey(self, &surveys[after - 1], sample->address);
	if (found == NULL && after < n && surveys[after].pid == thread->pid)
		found = find_in_survey(self, &surveys[after], sample->address);
	return found;
}

static LodeValue get_page_node(Self self, Sample sample)
{
	const LodeMemoryPages *pages = pages_of(self, sample);

	return pages != NULL ? number(pages->node) : lode_value_none();
}

static LodeValue get_page_size(Self self, Sample sample)
{
	const LodeMemoryPages *pages = pages_of(self, sample);

	return pages != NULL ? number_unless_zero(pages->page_size_bytes) : lode_value_none();
}

static const LodeSampleAttribute table[] = {
	{"access", LODE_VALUE_TEXT, false, NULL, get_access},
	{"address", LODE_VALUE_INTEGER, true, NULL, get_address},
	{"allocation", LODE_VALUE_TEXT, false, NULL, get_allocation},
	{"allocation_address", LODE_VALUE_INTEGER, true, NULL, get_allocation_address},
	{"allocation_offset", LODE_VALUE_INTEGER, false, NULL, get_allocation_offset},
	{"allocation_size", LODE_VALUE_INTEGER, false, NULL, get_allocation_size},
	{"allocation_stack", LODE_VALUE_TEXT, false, NULL, get_allocation_stack},
	{"cacheline", LODE_VALUE_INTEGER, true, NULL, get_cacheline},
	{"command", LODE_VALUE_TEXT, false, NULL, get_command},
	{"cpu", LODE_VALUE_INTEGER, false, NULL, get_cpu},
	{"event", LODE_VALUE_TEXT, false, NULL, get_event},
	{"file", LODE_VALUE_TEXT, false, NULL, get_file},
	{"function", LODE_VALUE_TEXT, false, NULL, get_function},
	{"image", LODE_VALUE_TEXT, false, NULL, get_image},
	{"is_load", LODE_VALUE_BOOLEAN, false, NULL, get_is_load},
	{"is_store", LODE_VALUE_BOOLEAN, false, NULL, get_is_store},
	{"is_unverified", LODE_VALUE_BOOLEAN, false, NULL, get_is_unverified},
	{"latency", LODE_VALUE_INTEGER, false, NULL, get_latency},
	{"layer", LODE_VALUE_TEXT, false, NULL, get_layer},
	{"level", LODE_VALUE_TEXT, false, NULL, get_level},
	{"line", LODE_VALUE_INTEGER, false, "place", get_line},
	{"locked", LODE_VALUE_BOOLEAN, false, NULL, get_locked},
	{"mapping", LODE_VALUE_TEXT, false, NULL, get_mapping},
	{"mapping_offset", LODE_VALUE_INTEGER, true, NULL, get_mapping_offset},
	{"member", LODE_VALUE_TEXT, false, NULL, get_member},
	{"node", LODE_VALUE_INTEGER, false, NULL, get_node},
	{"object", LODE_VALUE_TEXT, false, NULL, get_object},
	{"offset", LODE_VALUE_INTEGER, false, NULL, get_offset},
	{"opcode", LODE_VALUE_TEXT, false, NULL, get_opcode},
	{"operand", LODE_VALUE_INTEGER, false, NULL, get_operand},
	{"page", LODE_VALUE_INTEGER, true, NULL, get_page},
	{"page_node", LODE_VALUE_INTEGER, false, NULL, get_page_node},
	{"page_size", LODE_VALUE_INTEGER, false, NULL, get_page_size},
	{"pc", LODE_VALUE_INTEGER, true, NULL, get_pc},
	{"pid", LODE_VALUE_INTEGER, false, NULL, get_pid},
	{"place", LODE_VALUE_TEXT, false, NULL, get_place},
	{"reason", LODE_VALUE_TEXT, false, NULL, get_reason},
	{"rule", LODE_VALUE_TEXT, false, NULL, get_rule},
	{"sampled_pc", LODE_VALUE_INTEGER, true, NULL, get_sampled_pc},
	{"size", LODE_VALUE_INTEGER, false, NULL, get_size},
	{"snoop", LODE_VALUE_TEXT, false, NULL, get_snoop},
	{"thread", LODE_VALUE_INTEGER, false, "thread_label", get_thread},
	{"thread_label", LODE_VALUE_TEXT, false, NULL, get_thread_label},
	{"tid", LODE_VALUE_INTEGER, false, NULL, get_tid},
	{"time", LODE_VALUE_INTEGER, false, NULL, get_time},
	{"tlb", LODE_VALUE_TEXT, false, NULL, get_tlb},
	{"type", LODE_VALUE_TEXT, false, NULL, get_type},
	{"variable", LODE_VALUE_TEXT, false, NULL, get_variable},
	{"weight", LODE_VALUE_REAL, false, NULL, get_weight},
};

const LodeSampleAttribute *lode_sample_attribute_table(size_t *out_n)
{
	*out_n = G_N_ELEMENTS(table);
	return table;
}

int lode_sample_attribute_find(const char *name)
{
	for (size_t i = 0; i < G_N_ELEMENTS(table); i++)
		if (strcmp(table[i].name, name) == 0)
			return (int)i;
	return -1;
}

static LodeExpressionAttribute attribute_at(size_t number)
{
	const LodeSampleAttribute *row = &table[number];

	return (LodeExpressionAttribute){row->name, row->kind, row->is_hex, row->grouped_as};
}

static LodeValue value_at(const void *attributes, size_t number, const void *sample)
{
	return table[number].value(attributes, sample);
}

const LodeExpressionSource lode_sample_attribute_source = {
	G_N_ELEMENTS(table), attribute_at, value_at};
