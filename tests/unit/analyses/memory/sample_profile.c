/* SPDX-License-Identifier: MIT */
/* A profile with data addresses made by hand. */
#include "sample_profile.h"
#include "made_profile.h"
#include "model/memory.h"
#include "seeds.h"

#include <sys/mman.h>

enum { PID = 100, TEXT = 0x400000, NODE_SIZE = 24, TICK_NS = 1000000 };

static const char *const function_names[] = {"fill", "walk", "main"};

static void add_code(LodeProfile *profile)
{
	made_image(profile, "/bin/sample");
	for (uint32_t i = 0; i < SAMPLE_N_FUNCTIONS; i++) {
		uint64_t address = 0x1000 + i * 0x100;
		made_function(profile, (LodeFunction){.name = (char *)function_names[i],
					       .address = address,
					       .size = 0x100,
					       .calls = 1});
		for (uint32_t k = 0; k < SAMPLE_INSTRUCTIONS_EACH; k++) {
			made_instruction(profile,
				(LodeInstruction){
					.address = address + k * 4, .count = 1, .size = 4},
				k % 2 == 0 ? "kind:load" : "kind:store", 0);
			made_line(profile, "/src/sample.c", (i + 1) * 10 + k, NULL);
		}
	}
}

static void add_thread(LodeProfile *profile, uint32_t ordinal)
{
	LodeThread thread = {
		.pid = PID,
		.tid = PID + ordinal,
		.ordinal = ordinal,
		.name = lode_profile_intern(profile, ordinal == 0 ? "sample" : "worker"),
		.begin_ns = ordinal * TICK_NS,
		.end_ns = UINT64_MAX,
	};

	g_array_append_val(profile->memory->threads, thread);
}

static void add_mapping(
	LodeProfile *profile, uint64_t start, uint64_t size, uint32_t protection, const char *name)
{
	LodeMemoryMapping mapping = {
		.pid = PID,
		.protection = protection,
		.start = start,
		.end = start + size,
		.name = lode_profile_intern(profile, name),
	};

	g_array_append_val(profile->memory->mappings, mapping);
}

static void add_mappings(LodeProfile *profile, uint32_t n_threads, uint64_t anon_bytes)
{
	const uint32_t data = PROT_READ | PROT_WRITE;

	add_mapping(profile, TEXT, 0x2000, PROT_READ | PROT_EXEC, "/bin/sample");
	add_mapping(profile, SAMPLE_DATA, SAMPLE_DATA_SIZE, data, "/bin/sample");
	add_mapping(profile, SAMPLE_NODES, SAMPLE_NODES_SIZE + SAMPLE_BUFFER_SIZE, data, "[heap]");
	add_mapping(profile, SAMPLE_ANON, anon_bytes, data, "[anon]");
	for (uint32_t i = 1; i < n_threads; i++) {
		g_autofree char *name = g_strdup_printf("[stack of thread %u]", i);
		add_mapping(profile, SAMPLE_STACKS + i * SAMPLE_STACK_SIZE, SAMPLE_STACK_SIZE, data,
			name);
	}
	add_mapping(profile, SAMPLE_MAIN_STACK, SAMPLE_STACK_SIZE, data, "[stack]");
}

static void add_allocations(LodeProfile *profile)
{
	LodeAllocationSite sites[] = {
		{lode_profile_intern(profile, "malloc@sample.c:20"),
			lode_profile_intern(profile, "build_list < main"), 1, SAMPLE_NODES_SIZE},
		{lode_profile_intern(profile, "malloc@sample.c:12"),
			lode_profile_intern(profile, "fill < main"), 1, SAMPLE_BUFFER_SIZE},
	};
	LodeAllocation allocations[] = {
		{PID, 0, 0, SAMPLE_NODES, SAMPLE_NODES_SIZE, 0, UINT64_MAX},
		{PID, 1, 0, SAMPLE_BUFFER, SAMPLE_BUFFER_SIZE, 1, UINT64_MAX},
	};

	g_array_append_vals(profile->memory->sites, sites, G_N_ELEMENTS(sites));
	g_array_append_vals(profile->memory->allocations, allocations, G_N_ELEMENTS(allocations));
	profile->memory->has_allocations = true;
}

static void add_types(LodeProfile *profile)
{
	LodeDataType types[] = {
		{lode_profile_intern(profile, "struct node"), NODE_SIZE, 0, 3},
		{lode_profile_intern(profile, "int"), 4, 3, 0},
	};
	LodeDataMember members[] = {
		{lode_profile_intern(profile, "next"),
			lode_profile_intern(profile, "struct node *"), 0, 8, 0, 0},
		{lode_profile_intern(profile, "key"), lode_profile_intern(profile, "long"), 8, 8, 0,
			0},
		{lode_profile_intern(profile, "is_hot"), lode_profile_intern(profile, "unsigned"),
			16, 4, 0, 1},
	};

	g_array_append_vals(profile->memory->types, types, G_N_ELEMENTS(types));
	g_array_append_vals(profile->memory->members, members, G_N_ELEMENTS(members));
}

static void add_object(LodeProfile *profile, const char *name, LodeDataObject object)
{
	object.name = lode_profile_intern(profile, name);
	object.variable = lode_profile_intern(profile, object.variable);
	object.mapping = lode_profile_intern(profile, object.mapping);
	g_array_append_val(profile->memory->objects, object);
}

static void add_objects(LodeProfile *profile, uint32_t n_threads)
{
	LodeDataObject node = {NULL, LODE_LAYER_TYPE, SAMPLE_TYPE_NODE, 0, 0, NULL, "[heap]"};
	LodeDataObject bare = {
		NULL, LODE_LAYER_MAPPING, LODE_NONE, LODE_NONE, LODE_NONE, NULL, "[anon]"};

	add_object(profile, "struct node.next", node);
	node.member = 1;
	add_object(profile, "struct node.key", node);
	add_object(profile, "int counts[]",
		(LodeDataObject){NULL, LODE_LAYER_VARIABLE, SAMPLE_TYPE_INT, LODE_NONE, LODE_NONE,
			"counts", "/bin/sample"});
	add_object(profile, "malloc@sample.c:12",
		(LodeDataObject){
			NULL, LODE_LAYER_ALLOCATION, LODE_NONE, LODE_NONE, 1, NULL, "[heap]"});
	add_object(profile, "[anon]", bare);
	for (uint32_t i = 0; i < n_threads; i++) {
		g_autofree char *name = i == 0 ? g_strdup("[stack]")
		                               : g_strdup_printf("[stack of thread %u]", i);
		bare.mapping = name;
		add_object(profile, name, bare);
	}
}

LodeProfile *sample_profile_new(uint32_t n_threads, uint64_t anon_bytes)
{
	LodeProfile *profile = lode_profile_new();

	profile->run.program = lode_profile_intern(profile, "./sample --fast");
	profile->run.creator = lode_profile_intern(profile, "hand");
	profile->run.frequency = LODE_FREQUENCY_SAMPLED;
	profile->memory = lode_memory_new();
	profile->memory->is_stall_weighted = true;
	profile->memory->has_fixed_addresses = true;
	profile->code.weight_event = lode_profile_add_event(
		profile, "cpu-clock", "time", LODE_EVENT_SAMPLED, NULL, 0);
	lode_profile_add_event(profile, "page-faults", NULL, LODE_EVENT_SAMPLED, NULL, 0);
	add_code(profile);
	for (uint32_t i = 0; i < n_threads; i++)
		add_thread(profile, i);
	add_mappings(profile, n_threads, anon_bytes);
	add_allocations(profile);
	add_types(profile);
	add_objects(profile, n_threads);
	return profile;
}

uint32_t sample_profile_inline_vector(LodeProfile *profile, uint32_t instruction)
{
	LodeInstruction *row = &LODE_AT(profile->code.instructions, LodeInstruction, instruction);
	uint32_t own = row->location;

	row->location = lode_profile_location(
		profile, "/usr/include/c++/12/bits/stl_vector.h", 1123, "std::vector::at");
	lode_profile_set_inlining(
		profile, instruction, lode_profile_inlining(profile, own, LODE_NONE));
	return own;
}

static uint32_t find_mapping(const LodeMemory *memory, uint64_t address)
{
	for (guint i = 0; i < memory->mappings->len; i++) {
		const LodeMemoryMapping *row = &LODE_AT(memory->mappings, LodeMemoryMapping, i);
		if (address >= row->start && address < row->end)
			return i;
	}
	return LODE_NONE;
}

static uint32_t find_allocation(const LodeMemory *memory, uint64_t address)
{
	for (guint i = 0; i < memory->allocations->len; i++) {
		const LodeAllocation *row = &LODE_AT(memory->allocations, LodeAllocation, i);
		if (address >= row->address && address - row->address < row->size)
			return i;
	}
	return LODE_NONE;
}

static uint32_t find_object(uint64_t address)
{
	if (address >= SAMPLE_MAIN_STACK)
		return SAMPLE_OBJECT_STACK;
	if (address >= SAMPLE_STACKS)
		return SAMPLE_OBJECT_STACK +
		       (uint32_t)((address - SAMPLE_STACKS) / SAMPLE_STACK_SIZE);
	if (address >= SAMPLE_ANON)
		return SAMPLE_OBJECT_ANON;
	if (address >= SAMPLE_BUFFER)
		return SAMPLE_OBJECT_BUFFER;
	if (address < SAMPLE_NODES)
		return SAMPLE_OBJECT_COUNTS;
	return (address - SAMPLE_NODES) % NODE_SIZE < 8 ? SAMPLE_OBJECT_NEXT : SAMPLE_OBJECT_KEY;
}

static LodeMemorySample *add_sample(LodeProfile *profile, uint32_t thread, uint32_t instruction)
{
	LodeMemory *memory = profile->memory;
	const LodeInstruction *row = lode_profile_instruction(profile, instruction);
	LodeMemorySample sample = {
		.weight = 1,
		.time_ns = (memory->samples->len + 1) * (uint64_t)TICK_NS,
		.pc = TEXT + row->address,
		.thread = thread,
		.instruction = instruction,
		.access_instruction = LODE_NONE,
		.access_function = LODE_NONE,
		.access_location = LODE_NONE,
		.object = LODE_NONE,
		.mapping = LODE_NONE,
		.allocation = LODE_NONE,
		.cpu = thread % 4,
		.node = thread % 4 / 2,
	};

	g_array_append_val(memory->samples, sample);
	return &LODE_AT(memory->samples, LodeMemorySample, memory->samples->len - 1);
}

LodeMemorySample *sample_profile_access(LodeProfile *profile, uint32_t thread, uint64_t address,
	uint8_t access, uint32_t instruction)
{
	const LodeInstruction *row = lode_profile_instruction(profile, instruction);
	LodeMemorySample *sample = add_sample(profile, thread, instruction);

	sample->access_pc = sample->pc;
	sample->address = address;
	sample->access_instruction = instruction;
	sample->access_function = row->function;
	sample->access_location = row->location;
	sample->mapping = find_mapping(profile->memory, address);
	sample->allocation = find_allocation(profile->memory, address);
	sample->object = sample->mapping != LODE_NONE ? find_object(address) : LODE_NONE;
	sample->size = 8;
	sample->rule = LODE_RULE_AT_PC;
	sample->access = access;
	return sample;
}

LodeMemorySample *sample_profile_fault(LodeProfile *profile, uint32_t thread, uint64_t address,
	uint64_t time_ns, uint32_t instruction)
{
	LodeMemorySample *sample = sample_profile_access(profile, thread, address, 0, instruction);

	sample->event = SAMPLE_EVENT_FAULTS;
	sample->rule = LODE_RULE_HARDWARE;
	sample->time_ns = time_ns;
	sample->size = 0;
	return sample;
}

LodeMemorySample *sample_profile_unresolved(
	LodeProfile *profile, uint32_t thread, LodeAddressReason reason)
{
	LodeMemorySample *sample = add_sample(profile, thread, 0);

	sample->reason = (uint8_t)reason;
	return sample;
}

/* Each thread mostly in its own slice of [anon], and all in the rest. */
static uint64_t random_address(GRand *rand, uint32_t thread, const SampleProfileOptions *options)
{
	uint64_t slice = options->anon_bytes / options->n_threads;
	double at = g_rand_double(rand);

	switch (g_rand_int_range(rand, 0, 8)) {
	case 0:
		return SAMPLE_DATA + (uint64_t)(at * (double)SAMPLE_DATA_SIZE);
	case 1:
		return SAMPLE_NODES + (uint64_t)(at * (double)SAMPLE_NODES_SIZE);
	case 2:
		return SAMPLE_BUFFER + (uint64_t)(at * (double)SAMPLE_BUFFER_SIZE);
	case 3:
		return (thread == 0 ? SAMPLE_MAIN_STACK
				    : SAMPLE_STACKS + thread * SAMPLE_STACK_SIZE) +
		       (uint64_t)(at * 4096);
	default:
		return SAMPLE_ANON + thread * slice + (uint64_t)(at * (double)slice);
	}
}

static LodeAddressReason random_reason(GRand *rand)
{
	return (LodeAddressReason)g_rand_int_range(rand, LODE_REASON_NO_REGISTERS, LODE_N_REASONS);
}

LodeProfile *sample_profile_random(const SampleProfileOptions *options)
{
	LodeProfile *profile = sample_profile_new(options->n_threads, options->anon_bytes);
	g_autoptr(GRand) rand = g_rand_new_with_seed(soak_seed(options->seed));
	const uint32_t n_instructions = profile->code.instructions->len;

	for (uint32_t i = 0; i < options->n_samples; i++) {
		uint32_t thread = (uint32_t)g_rand_int_range(rand, 0, (gint32)options->n_threads);
		uint32_t instruction = (uint32_t)g_rand_int_range(rand, 0, (gint32)n_instructions);
		uint64_t address = random_address(rand, thread, options);
		if (g_rand_double(rand) < options->faults)
			sample_profile_fault(
				profile, thread, address, (i + 1) * (uint64_t)TICK_NS, instruction);
		else if (g_rand_double(rand) < options->unresolved)
			sample_profile_unresolved(profile, thread, random_reason(rand));
		else
			sample_profile_access(profile, thread, address,
				(uint8_t)g_rand_int_range(rand, 1, 4), instruction);
	}
	return profile;
}
