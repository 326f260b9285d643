/* SPDX-License-Identifier: MIT */
/*
 * perf.data files that are made here, whose samples have registers or data addresses: which rule
 * or reason each comes to, in which mapping, thread and object it ends.
 */
#include "base/error.h"
#include "images/types/data_types.h"
#include "ingest/import.h"
#include "model/memory.h"
#include "model/run/unresolved.h"
#include "profile_sums.h"
#include "sample_file.h"
#include "sampled_program.h"
#include "sources/code/load_map_segments.h"

#include <glib/gstdio.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/mman.h>

enum { PID = 7, CHILD = 8, OTHER = 9, PAGE = 4096, ABI_32 = 1, ABI_64 = 2, FEATURE_NUMA = 14 };

static const uint64_t HEAP = UINT64_C(0x555555800000), STACK = UINT64_C(0x7ffffffde000),
		      THREAD_STACK = UINT64_C(0x7ffff0000000), NOWHERE = UINT64_C(0x123456789000);

/* A program in memory with a heap, a stack and memory that cannot be written, and samples of it. */
typedef struct {
	SampledProgram program;
	SampleFile file;
	uint64_t time_ns; /* of the next sample */
} Scene;

static void map_data(Scene *self, uint32_t pid, const char *path, uint64_t start, uint64_t size)
{
	const LodePerfMapping map = {.start = start,
		.size = size,
		.path = path,
		.protection = strcmp(path, "/constants") == 0 ? PROT_READ : PROT_READ | PROT_WRITE};

	sample_file_map_data(&self->file, pid, self->time_ns++, &map);
}

static uint64_t page_down(uint64_t address)
{
	return address / PAGE * PAGE;
}

/* Its initialised data from the file, and zeros behind, as the kernel does. */
static void map_program_data(Scene *self, uint32_t pid)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(GArray) segments = lode_load_map_segments_read_all(self->program.path, &error);

	g_assert_no_error(error);
	const LodeLoadMapSegment *last = &g_array_index(
		segments, LodeLoadMapSegment, segments->len - 1);
	uint64_t bias = self->program.bias, start = page_down(last->address + bias);
	uint64_t zeros = page_down(last->address + last->file_size_bytes + bias + PAGE - 1);
	uint64_t end = page_down(last->address + last->size_bytes + bias + PAGE - 1);
	const LodePerfMapping data = {.start = start,
		.size = zeros - start,
		.offset = page_down(last->offset),
		.path = self->program.path,
		.protection = PROT_READ | PROT_WRITE};
	sample_file_map_data(&self->file, pid, self->time_ns++, &data);
	map_data(self, pid, "//anon", zeros, end - zeros);
}

static void scene_init_empty(Scene *self)
{
	*self = (Scene){.time_ns = 1};
	sampled_program_open(&self->program, PROGRAM_ACCESSES);
	sample_file_init(&self->file);
	self->file.has_branches = false;
	self->file.has_registers = self->file.has_cpus = true;
}

static void add_timer(Scene *self)
{
	sample_file_add_event(&self->file, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, 1000);
}

static void begin(Scene *self, uint32_t pid)
{
	sample_file_exec(&self->file, pid, self->time_ns++);
	sample_file_map(&self->file, pid, self->time_ns++, &self->program.mapping);
	map_program_data(self, pid);
	map_data(self, pid, "[heap]", HEAP, 0x10000);
	map_data(self, pid, "[stack]", STACK, 0x21000);
	map_data(self, pid, "/constants", HEAP + 0x20000, PAGE);
}

static void scene_init(Scene *self)
{
	scene_init_empty(self);
	add_timer(self);
	begin(self, PID);
}

static void scene_clear(Scene *self)
{
	sampled_program_close(&self->program);
	sample_file_clear(&self->file);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Scene, scene_clear)

/* In a function, with all registers 0 but the stack pointer. */
static Sample sample_at(Scene *self, const char *function, uint64_t offset)
{
	Sample sample = {.mode = PERF_RECORD_MISC_USER,
		.pid = PID,
		.time_ns = self->time_ns++,
		.period = 1000,
		.abi = ABI_64};

	sample.ip = sampled_program_function(&self->program, function)->address +
	            self->program.bias + offset;
	sample.registers[SAMPLE_SP] = STACK + 0x8000;
	return sample;
}

static uint64_t code_at(const Scene *self, const char *function, uint64_t offset)
{
	return sampled_program_function(&self->program, function)->address + self->program.bias +
	       offset;
}

/* load_here with its address in rdi. */
static void add_load(Scene *self, uint32_t pid, uint32_t tid, uint64_t address)
{
	Sample sample = sample_at(self, "load_here", 0);

	sample.pid = pid;
	sample.tid = tid;
	sample.registers[SAMPLE_DI] = address;
	sample_file_add(&self->file, &sample);
}

enum { MAX_FILES = 4 };

/* The files as one recording; removes them. */
/* Most tests look for an address near the sample, whatever waited. */
static bool charges_what_waited;

static LodeProfile *import_files(const char *const *paths, size_t n)
{
	g_autoptr(GError) error = NULL;
	const LodeImportOptions options = {.paths = paths,
		.n_paths = n,
		.charges_next_access = !charges_what_waited,
		.threads = 2};
	LodeProfile *profile = lode_import(&options, NULL, &error);

	g_assert_no_error(error);
	for (size_t i = 0; i < n; i++)
		g_unlink(paths[i]);
	check_weight_is_whole(profile);
	check_samples_are_costs(profile);
	return profile;
}

static LodeProfile *import_scenes(Scene *const *scenes, size_t n)
{
	g_autofree char *directory = g_dir_make_tmp("lode-XXXXXX", NULL);
	const char *paths[MAX_FILES];

	g_assert_cmpuint(n, <=, MAX_FILES);
	for (size_t i = 0; i < n; i++) {
		paths[i] = g_strdup_printf("%s/%u.data", directory, (unsigned)i);
		sample_file_write(&scenes[i]->file, paths[i]);
	}
	LodeProfile *profile = import_files(paths, n);
	for (size_t i = 0; i < n; i++)
		g_free((char *)paths[i]);
	g_rmdir(directory);
	return profile;
}

static LodeProfile *import(Scene *self)
{
	return import_scenes(&self, 1);
}

static const LodeMemorySample *row(const LodeProfile *profile, guint index)
{
	g_assert_nonnull(profile->memory);
	g_assert_cmpuint(index, <, profile->memory->samples->len);
	return &LODE_AT(profile->memory->samples, LodeMemorySample, index);
}

static void check_rule(
	const LodeProfile *profile, guint index, LodeAddressRule rule, uint64_t address)
{
	const LodeMemorySample *sample = row(profile, index);

	g_assert_cmpstr(
		lode_address_rule_to_text(sample->rule), ==, lode_address_rule_to_text(rule));
	g_assert_cmphex(sample->address, ==, address);
	g_assert_cmpint(sample->reason, ==, LODE_REASON_NONE);
	g_assert_cmpuint(sample->object, !=, LODE_NONE);
}

static void check_reason(const LodeProfile *profile, guint index, LodeAddressReason reason)
{
	const LodeMemorySample *sample = row(profile, index);

	g_assert_cmpstr(lode_address_reason_to_text(sample->reason), ==,
		lode_address_reason_to_text(reason));
	g_assert_cmpint(sample->rule, ==, LODE_RULE_NONE);
	g_assert_cmpuint(sample->object, ==, LODE_NONE);
	g_assert_cmpuint(sample->mapping, ==, LODE_NONE);
}

static const char *mapping_of(const LodeProfile *profile, guint index)
{
	const LodeMemorySample *sample = row(profile, index);

	return sample->mapping == LODE_NONE
	               ? NULL
	               : LODE_AT(profile->memory->mappings, LodeMemoryMapping, sample->mapping)
	                         .name;
}

static const LodeThread *thread_of(const LodeProfile *profile, guint index)
{
	return &LODE_AT(profile->memory->threads, LodeThread, row(profile, index)->thread);
}

static const LodeDataObject *object_of(const LodeProfile *profile, guint index)
{
	return &LODE_AT(profile->memory->objects, LodeDataObject, row(profile, index)->object);
}

static void test_rules(void)
{
	g_auto(Scene) scene;

	scene_init(&scene);
	Sample sample = sample_at(&scene, "load_here", 0);
	sample.registers[SAMPLE_DI] = HEAP + 16;
	sample_file_add(&scene.file, &sample);
	sample = sample_at(&scene, "store_here", 0);
	sample.registers[SAMPLE_DI] = HEAP + 32;
	sample_file_add(&scene.file, &sample);
	sample = sample_at(&scene, "add_here", 0);
	sample.registers[SAMPLE_DI] = HEAP;
	sample.registers[SAMPLE_CX] = 5;
	sample_file_add(&scene.file, &sample);
	sample = sample_at(&scene, "store_later", 0);
	sample.registers[SAMPLE_DI] = STACK + 0x8000;
	sample_file_add(&scene.file, &sample);
	sample = sample_at(&scene, "load_before", 3);
	sample.registers[SAMPLE_BX] = HEAP + 64;
	sample_file_add(&scene.file, &sample);
	g_autoptr(LodeProfile) profile = import(&scene);
	check_rule(profile, 0, LODE_RULE_AT_PC, HEAP + 16);
	check_rule(profile, 1, LODE_RULE_AT_PC, HEAP + 40);
	check_rule(profile, 2, LODE_RULE_AT_PC, HEAP + 40);
	check_rule(profile, 3, LODE_RULE_FORWARD, STACK + 0x8010);
	check_rule(profile, 4, LODE_RULE_BACKWARD, HEAP + 64);
	g_assert_cmpuint(row(profile, 0)->access, ==, LODE_ACCESS_LOAD);
	g_assert_cmpuint(row(profile, 1)->access, ==, LODE_ACCESS_STORE);
	g_assert_cmpuint(row(profile, 2)->access, ==, LODE_ACCESS_LOAD | LODE_ACCESS_STORE);
	g_assert_cmpuint(row(profile, 2)->size, ==, 8);
	g_assert_cmpuint(row(profile, 3)->size, ==, 1);
	g_assert_cmphex(row(profile, 3)->access_pc, ==, row(profile, 3)->pc + 8);
	g_assert_cmphex(row(profile, 4)->access_pc, ==, row(profile, 4)->pc - 3);
	g_assert_cmpstr(mapping_of(profile, 0), ==, "[heap]");
	g_assert_cmpstr(mapping_of(profile, 3), ==, "[stack]");
	g_assert_true(profile->memory->is_stall_weighted);
	g_assert_false(profile->memory->has_allocations);
	g_assert_true(profile->memory->has_fixed_addresses);
}

/* Charged to the instruction before the sampled one, or to no access. */
static void test_waited(void)
{
	g_auto(Scene) scene;

	scene_init(&scene);
	Sample sample = sample_at(&scene, "load_before", 3);
	sample.registers[SAMPLE_BX] = HEAP + 64;
	sample_file_add(&scene.file, &sample);
	sample = sample_at(&scene, "store_later", 8);
	sample.registers[SAMPLE_DI] = STACK + 0x8000;
	sample_file_add(&scene.file, &sample);
	sample = sample_at(&scene, "forget", 3);
	sample_file_add(&scene.file, &sample);
	sample = sample_at(&scene, "store_here", 0);
	sample.registers[SAMPLE_DI] = HEAP + 32;
	sample_file_add(&scene.file, &sample);
	charges_what_waited = true;
	g_autoptr(LodeProfile) profile = import(&scene);
	charges_what_waited = false;
	check_rule(profile, 0, LODE_RULE_BACKWARD, HEAP + 64);
	check_reason(profile, 1, LODE_REASON_NOT_MEMORY);
	check_reason(profile, 2, LODE_REASON_CLOBBERED);
	check_reason(profile, 3, LODE_REASON_BLOCKED); /* whoever called */
	g_assert_cmphex(row(profile, 1)->access_pc, ==, 0);
	g_assert_cmphex(row(profile, 2)->access_pc, !=, 0);
	g_assert_cmpuint(row(profile, 2)->access, ==, LODE_ACCESS_LOAD);
	g_assert_cmpuint(row(profile, 2)->address, ==, 0);
	for (guint i = 0; i < 4; i++)
		g_assert_false(row(profile, i)->is_next);
}

/* Nothing in the sample tells on which way it came to the beginning of the loop: the executions do.
 */
static void test_ways(void)
{
	g_auto(Scene) scene;

	scene_init(&scene);
	Sample sample = sample_at(&scene, "loop_head", 3);
	sample.registers[SAMPLE_BX] = HEAP + 64;
	/* the flags that both ways would leave: no carry, odd parity */
	sample.registers[SAMPLE_CX] = 1; /* the last round: registers tell that, too */
	sample.registers[SAMPLE_DX] = 8;
	sample_file_add(&scene.file, &sample);
	for (unsigned i = 0; i < 40; i++) {
		sample = sample_at(&scene, "loop_head", 0);
		sample.registers[SAMPLE_CX] = 1;
		sample_file_add(&scene.file, &sample);
	}
	charges_what_waited = true;
	g_autoptr(LodeProfile) profile = import(&scene);
	charges_what_waited = false;
	check_rule(profile, 0, LODE_RULE_BACKWARD, HEAP + 64);
	g_assert_true(row(profile, 0)->is_unverified);
}

/* The newest branch tells on which way: it led to the sampled instruction, or it did not. One that
 * comes from where no jump is tells nothing. */
static void test_branch_stacks(void)
{
	g_auto(Scene) scene;

	scene_init_empty(&scene);
	scene.file.has_branches = true;
	add_timer(&scene);
	begin(&scene, PID);
	uint64_t load = code_at(&scene, "loop_head", 0), sampled = load + 3, jump = load + 9;
	const LodePerfBranch branches[] = {
		{code_at(&scene, "nothing", 0), load, 0},
		{jump, sampled, 0},
		{load + 4, sampled, 0},
	};
	Sample sample = sample_at(&scene, "loop_head", 3);
	sample.registers[SAMPLE_BX] = HEAP + 64;
	/* the flags that both ways would leave: no carry, odd parity */
	sample.registers[SAMPLE_CX] = 4;
	sample.registers[SAMPLE_DX] = 8;
	for (size_t i = 0; i < G_N_ELEMENTS(branches); i++) {
		sample.branches = &branches[i];
		sample.n_branches = 1;
		sample_file_add(&scene.file, &sample);
	}
	charges_what_waited = true;
	g_autoptr(LodeProfile) profile = import(&scene);
	charges_what_waited = false;
	check_rule(profile, 0, LODE_RULE_BACKWARD, HEAP + 64);
	g_assert_false(row(profile, 0)->is_unverified);
	check_reason(profile, 1, LODE_REASON_NOT_MEMORY);
	/* executions may tell, not the branch */
	g_assert_true(
		row(profile, 2)->reason == LODE_REASON_AMBIGUOUS || row(profile, 2)->is_unverified);
}

/* Whatever register is missing, there is no address but the right one. */
static void test_partly_sampled_registers(void)
{
	for (unsigned missing = 0; missing <= SAMPLE_N_REGISTERS; missing++) {
		g_auto(Scene) scene;
		uint64_t left = SAMPLE_REGISTERS;
		scene_init_empty(&scene);
		for (unsigned i = 0; i < missing; i++)
			left &= left - 1;
		scene.file.register_mask = missing < SAMPLE_N_REGISTERS
		                                   ? SAMPLE_REGISTERS & ~(left & -left)
		                                   : 0;
		add_timer(&scene);
		begin(&scene, PID);
		add_load(&scene, PID, PID, HEAP + 16);
		Sample sample = sample_at(&scene, "add_here", 0);
		sample.registers[SAMPLE_DI] = HEAP;
		sample.registers[SAMPLE_CX] = 5;
		sample_file_add(&scene.file, &sample);
		sample = sample_at(&scene, "nothing", 0);
		sample_file_add(&scene.file, &sample);
		g_autoptr(LodeProfile) profile = import(&scene);
		if (missing == SAMPLE_N_REGISTERS) {
			g_assert_null(profile->memory);
			continue;
		}
		if (missing == SAMPLE_DI)
			check_reason(profile, 0, LODE_REASON_CLOBBERED);
		else
			check_rule(profile, 0, LODE_RULE_AT_PC, HEAP + 16);
		if (missing == SAMPLE_DI || missing == SAMPLE_CX)
			check_reason(profile, 1, LODE_REASON_CLOBBERED);
		else
			check_rule(profile, 1, LODE_RULE_AT_PC, HEAP + 40);
		check_reason(profile, 2, LODE_REASON_NO_ACCESS_IN_RANGE);
	}
}

/* The access and its callers: "load_here < nothing < store_later"; "-": no path. */
static char *path_text(const LodeProfile *profile, guint index)
{
	const LodeMemory *memory = profile->memory;
	uint32_t call = LODE_AT(memory->access_paths, LodeAccessPathOf, index).call;
	GString *text = g_string_new(call == LODE_NONE ? "-" : "");

	while (call != LODE_NONE) {
		const LodeAccessCall *row = &LODE_AT(memory->access_calls, LodeAccessCall, call);
		call = row->outer;
		g_string_append_printf(text, "%s%s",
			row->function != NULL ? row->function : row->place,
			call != LODE_NONE ? " < " : "");
	}
	return g_string_free(text, FALSE);
}

static void check_path(const LodeProfile *profile, guint index, const char *expected)
{
	g_autofree char *found = path_text(profile, index);

	g_assert_cmpstr(found, ==, expected);
}

/* A chain's markers, and the sampled address itself, are no callers; it ends where no code is. */
static void test_callers(void)
{
	enum { LONG = 5000 };
	g_auto(Scene) scene;
	uint64_t longest[LONG];

	scene_init_empty(&scene);
	scene.file.has_chains = true;
	add_timer(&scene);
	begin(&scene, PID);
	uint64_t here = code_at(&scene, "load_here", 0), one = code_at(&scene, "nothing", 8),
		 /* a call that is its function's last instruction */
		two = code_at(&scene, "return_only", 1);
	const uint64_t chains[][6] = {
		{PERF_CONTEXT_USER, here, one, two},
		{PERF_CONTEXT_KERNEL, one, one, PERF_CONTEXT_USER, here, two},
		{PERF_CONTEXT_USER, here, one, HEAP, two},
		{PERF_CONTEXT_USER, here, one, UINT64_C(0xffffffffffffff00), two},
		{PERF_CONTEXT_USER, here},
		{PERF_CONTEXT_KERNEL, one, one, PERF_CONTEXT_GUEST_USER, one},
		{0},
	};
	const size_t lengths[] = {4, 6, 5, 5, 2, 5, 0};
	Sample sample = sample_at(&scene, "load_here", 0);
	sample.registers[SAMPLE_DI] = HEAP;
	for (size_t i = 0; i < G_N_ELEMENTS(chains); i++) {
		sample.chain = chains[i];
		sample.n_chain = lengths[i];
		sample_file_add(&scene.file, &sample);
	}
	for (unsigned i = 0; i < LONG; i++)
		longest[i] = one;
	longest[0] = PERF_CONTEXT_USER;
	sample.chain = longest;
	sample.n_chain = LONG;
	sample_file_add(&scene.file, &sample);
	g_autoptr(LodeProfile) profile = import(&scene);
	g_assert_cmpuint(profile->memory->access_paths->len, ==, profile->memory->samples->len);
	check_path(profile, 0, "load_here < nothing < return_only");
	check_path(profile, 1, "load_here < return_only");
	check_path(profile, 2, "load_here < nothing");
	check_path(profile, 3, "load_here < nothing");
	check_path(profile, 4, "load_here");
	check_path(profile, 5, "load_here");
	check_path(profile, 6, "load_here");
	g_autofree char *deep = path_text(profile, 7);
	g_assert_cmpuint(strlen(deep), ==, strlen("load_here") + 1024 * strlen(" < nothing"));
}

/* What the kernel called in itself is no caller of user code. */
static void test_callers_in_kernel(void)
{
	const uint64_t kernel = UINT64_C(0xffffffff81000000);
	g_auto(Scene) scene;

	scene_init_empty(&scene);
	scene.file.has_chains = true;
	add_timer(&scene);
	begin(&scene, PID);
	uint64_t here = code_at(&scene, "load_here", 0), one = code_at(&scene, "nothing", 8);
	const uint64_t chains[][7] = {
		{PERF_CONTEXT_KERNEL, kernel, kernel + 64, kernel + 128, PERF_CONTEXT_USER, here,
			one},
		{PERF_CONTEXT_KERNEL, kernel, kernel + 64, kernel + 128},
		{PERF_CONTEXT_HV, kernel, PERF_CONTEXT_KERNEL, kernel, PERF_CONTEXT_USER, here,
			one},
		{PERF_CONTEXT_GUEST, kernel, PERF_CONTEXT_GUEST_KERNEL, kernel,
			PERF_CONTEXT_GUEST_USER, here, one},
		{PERF_CONTEXT_USER, here, one},
	};
	const size_t lengths[] = {7, 4, 7, 7, 3};
	const uint16_t modes[] = {PERF_RECORD_MISC_KERNEL, PERF_RECORD_MISC_KERNEL,
		PERF_RECORD_MISC_HYPERVISOR, PERF_RECORD_MISC_GUEST_KERNEL, PERF_RECORD_MISC_USER};
	Sample sample = sample_at(&scene, "load_here", 0);
	sample.registers[SAMPLE_DI] = HEAP;
	for (size_t i = 0; i < G_N_ELEMENTS(chains); i++) {
		sample.mode = modes[i];
		sample.ip = modes[i] == PERF_RECORD_MISC_USER ? here : kernel;
		sample.chain = chains[i];
		sample.n_chain = lengths[i];
		sample_file_add(&scene.file, &sample);
	}
	g_autoptr(LodeProfile) profile = import(&scene);
	g_assert_cmpuint(profile->memory->samples->len, ==, G_N_ELEMENTS(chains));
	for (guint i = 0; i + 1 < G_N_ELEMENTS(chains); i++)
		check_path(profile, i, "-");
	check_path(profile, G_N_ELEMENTS(chains) - 1, "load_here < nothing");
}

/* One row for each operand, which share the weight. */
static void test_two_operands(void)
{
	g_auto(Scene) scene;

	scene_init(&scene);
	Sample sample = sample_at(&scene, "copy_one", 0);
	sample.registers[SAMPLE_SI] = HEAP + 0x20000;
	sample.registers[SAMPLE_DI] = HEAP;
	sample_file_add(&scene.file, &sample);
	sample = sample_at(&scene, "copy_many", 0);
	sample.registers[SAMPLE_SI] = HEAP + 0x20000;
	sample.registers[SAMPLE_DI] = HEAP;
	sample_file_add(&scene.file, &sample);
	g_autoptr(LodeProfile) profile = import(&scene);
	g_assert_cmpuint(profile->memory->samples->len, ==, 3);
	for (guint i = 0; i < 2; i++) {
		const LodeMemorySample *one = row(profile, i);
		bool is_load = one->access == LODE_ACCESS_LOAD;
		check_rule(profile, i, LODE_RULE_AT_PC, is_load ? HEAP + 0x20000 : HEAP);
		g_assert_cmpstr(mapping_of(profile, i), ==, is_load ? "/constants" : "[heap]");
		g_assert_cmpfloat(one->weight, ==, 500);
		g_assert_cmpuint(one->operand, ==, i);
	}
	g_assert_cmpuint(row(profile, 0)->access + row(profile, 1)->access, ==, 3);
	g_assert_cmpint(row(profile, 2)->rule, ==, LODE_RULE_NONE);
	g_assert_cmpfloat(row(profile, 2)->weight, ==, 1000);
}

static void test_reasons(void)
{
	static const LodeAddressReason expected[] = {
		LODE_REASON_INVALID_ADDRESS,
		LODE_REASON_INVALID_ADDRESS,
		LODE_REASON_TLS,
		LODE_REASON_VECTOR_INDEX,
		LODE_REASON_NO_ACCESS_IN_RANGE,
		LODE_REASON_BLOCKED,
		LODE_REASON_CLOBBERED,
		LODE_REASON_NO_REGISTERS,
		LODE_REASON_NO_REGISTERS,
		LODE_REASON_NOT_USER_CODE,
		LODE_REASON_NOT_USER_CODE,
	};
	static const char *const functions[] = {
		"load_of_thread", "gather", "nothing", "return_only"};
	g_auto(Scene) scene;

	scene_init(&scene);
	add_load(&scene, PID, 0, NOWHERE);
	Sample sample = sample_at(&scene, "store_here", 0);
	sample.registers[SAMPLE_DI] = HEAP + 0x20000;
	sample_file_add(&scene.file, &sample);
	for (size_t i = 0; i < G_N_ELEMENTS(functions); i++) {
		sample = sample_at(&scene, functions[i], i == 2 ? 40 : 0);
		sample_file_add(&scene.file, &sample);
	}
	sample = sample_at(&scene, "forget", 3);
	sample_file_add(&scene.file, &sample);
	sample = sample_at(&scene, "load_here", 0);
	sample.abi = ABI_32;
	sample_file_add(&scene.file, &sample);
	sample.abi = PERF_SAMPLE_REGS_ABI_NONE;
	sample_file_add(&scene.file, &sample);
	sample = sample_at(&scene, "load_here", 0);
	sample.registers[SAMPLE_DI] = HEAP;
	sample.mode = PERF_RECORD_MISC_KERNEL;
	sample_file_add(&scene.file, &sample);
	sample.mode = PERF_RECORD_MISC_USER;
	sample.ip = NOWHERE;
	sample_file_add(&scene.file, &sample);
	g_autoptr(LodeProfile) profile = import(&scene);
	g_assert_cmpuint(profile->memory->samples->len, ==, G_N_ELEMENTS(expected));
	for (guint i = 0; i < G_N_ELEMENTS(expected); i++)
		check_reason(profile, i, expected[i]);
}

/* Of a 32-bit program nothing can be said, but its samples are counted. */
static void test_only_32_bit(void)
{
	g_auto(Scene) scene;

	scene_init(&scene);
	Sample sample = sample_at(&scene, "load_here", 0);
	sample.abi = ABI_32;
	sample_file_add(&scene.file, &sample);
	g_autoptr(LodeProfile) profile = import(&scene);
	check_reason(profile, 0, LODE_REASON_NO_REGISTERS);
}

/* An access that begins in one mapping may end in the next, not in none. */
static void test_borders(void)
{
	g_auto(Scene) scene;
	uint64_t end = HEAP + 0x10000;

	scene_init(&scene);
	add_load(&scene, PID, 0, end - 4);
	add_load(&scene, PID, 0, end - 2);
	map_data(&scene, PID, "//anon", end, PAGE);
	add_load(&scene, PID, 0, end - 2);
	add_load(&scene, PID, 0, UINT64_MAX - 1);
	g_autoptr(LodeProfile) profile = import(&scene);
	check_rule(profile, 0, LODE_RULE_AT_PC, end - 4);
	check_reason(profile, 1, LODE_REASON_INVALID_ADDRESS);
	check_rule(profile, 2, LODE_RULE_AT_PC, end - 2);
	g_assert_cmpstr(mapping_of(profile, 2), ==, "[heap]");
	check_reason(profile, 3, LODE_REASON_INVALID_ADDRESS);
}

static void test_mappings_in_time(void)
{
	g_auto(Scene) scene;
	const uint64_t place = UINT64_C(0x7fff00000000);

	scene_init(&scene);
	add_load(&scene, PID, 0, place);
	map_data(&scene, PID, "//anon", place, PAGE);
	add_load(&scene, PID, 0, place);
	map_data(&scene, PID, "/some/file", place, PAGE);
	add_load(&scene, PID, 0, place);
	sample_file_fork(&scene.file, CHILD, PID, scene.time_ns++);
	map_data(&scene, PID, "/of/the/parent", place, PAGE);
	add_load(&scene, CHILD, 0, place);
	add_load(&scene, OTHER, 0, place);
	begin(&scene, CHILD);
	add_load(&scene, CHILD, 0, place);
	add_load(&scene, CHILD, 0, HEAP);
	g_autoptr(LodeProfile) profile = import(&scene);
	check_reason(profile, 0, LODE_REASON_INVALID_ADDRESS);
	g_assert_cmpstr(mapping_of(profile, 1), ==, "[anon]");
	g_assert_cmpstr(mapping_of(profile, 2), ==, "/some/file");
	g_assert_cmpstr(mapping_of(profile, 3), ==, "/some/file");
	check_reason(profile, 4, LODE_REASON_NOT_USER_CODE);
	check_reason(profile, 5, LODE_REASON_INVALID_ADDRESS);
	g_assert_cmpstr(mapping_of(profile, 6), ==, "[heap]");
	const LodeMemoryMapping *heap = &LODE_AT(
		profile->memory->mappings, LodeMemoryMapping, row(profile, 6)->mapping);
	g_assert_cmpuint(heap->pid, ==, CHILD);
	g_assert_cmpuint(heap->protection, ==, PROT_READ | PROT_WRITE);
}

static void test_variables(void)
{
	g_auto(Scene) scene;
	g_autofree char *zeros = NULL;

	scene_init(&scene);
	Sample sample = sample_at(&scene, "load_counted", 0);
	sample_file_add(&scene.file, &sample);
	sample = sample_at(&scene, "store_cleared", 0);
	sample_file_add(&scene.file, &sample);
	g_autoptr(LodeProfile) profile = import(&scene);
	zeros = g_strconcat(scene.program.path, " [bss]", NULL);
	g_assert_cmpstr(object_of(profile, 0)->variable, ==, "counted");
	g_assert_cmpint(object_of(profile, 0)->layer, <=, LODE_LAYER_VARIABLE);
	g_assert_cmpstr(mapping_of(profile, 0), ==, scene.program.path);
	g_assert_cmpstr(object_of(profile, 1)->variable, ==, "cleared");
	g_assert_cmpuint(row(profile, 1)->access, ==, LODE_ACCESS_STORE);
	/* All of it may fit into the last page of initialised data. */
	if (strcmp(mapping_of(profile, 1), scene.program.path) != 0)
		g_assert_cmpstr(mapping_of(profile, 1), ==, zeros);
}

/* Two programs, one after the other in one process at the same addresses: each has its zeros. */
static void test_executed_again(void)
{
	const LodePerfMapping other_code = {.path = PROGRAM_BRANCHES};
	g_auto(Scene) scene;

	scene_init_empty(&scene);
	add_timer(&scene);
	LodePerfMapping code = other_code;
	code.start = scene.program.mapping.start;
	code.offset = scene.program.mapping.offset;
	code.size = 0x40000;
	sample_file_exec(&scene.file, PID, scene.time_ns++);
	sample_file_map(&scene.file, PID, scene.time_ns++, &code);
	begin(&scene, PID);
	Sample sample = sample_at(&scene, "load_counted", 0);
	sample_file_add(&scene.file, &sample);
	g_autoptr(LodeProfile) profile = import(&scene);
	g_assert_cmpstr(object_of(profile, 0)->variable, ==, "counted");
	g_assert_cmpstr(mapping_of(profile, 0), ==, scene.program.path);
}

/* Where a variable lay that begins as zeros; the linker orders them. */
static uint64_t find_variable(const SampledProgram *program, const char *name)
{
	g_autoptr(GArray) segments = lode_load_map_segments_read_all(program->path, NULL);
	const LodeLoadMapSegment *last = &g_array_index(
		segments, LodeLoadMapSegment, segments->len - 1);
	LodeDataSymbol symbol;

	for (uint64_t at = last->size_bytes & ~UINT64_C(7); at > 0; at -= 8)
		if (lode_binary_image_find_data_symbol(
			    program->image, last->address + at - 8, &symbol) &&
			strcmp(symbol.name, name) == 0)
			return last->address + at - 8 + program->bias;
	g_error("no variable '%s'", name);
}

/* The same again and again: to look through all programs that lay at an address, for each sample,
 * would take minutes. */
static void test_executed_often(void)
{
	enum { TIMES = 100000 };
	g_auto(Scene) scene;

	scene_init(&scene);
	uint64_t data = find_variable(&scene.program, "cleared");
	LodePerfMapping other = scene.program.mapping;
	other.path = PROGRAM_BRANCHES;
	for (unsigned i = 0; i < TIMES; i++) {
		sample_file_map(&scene.file, PID, scene.time_ns++, &other);
		sample_file_map(&scene.file, PID, scene.time_ns++, &scene.program.mapping);
		add_load(&scene, PID, 0, data);
	}
	g_autoptr(LodeProfile) profile = import(&scene);
	for (unsigned i = 0; i < TIMES; i++)
		g_assert_cmpstr(object_of(profile, i)->variable, ==, "cleared");
}

static void test_threads(void)
{
	g_auto(Scene) scene;

	scene_init(&scene);
	sample_file_clone(&scene.file, PID, 20, scene.time_ns++);
	sample_file_name(&scene.file, PID, 20, scene.time_ns++, "worker");
	sample_file_clone(&scene.file, PID, 10, scene.time_ns++);
	add_load(&scene, PID, 10, HEAP);
	add_load(&scene, PID, 20, HEAP);
	uint64_t end = scene.time_ns++;
	sample_file_exit(&scene.file, PID, 20, end);
	sample_file_clone(&scene.file, PID, 20, scene.time_ns++);
	add_load(&scene, PID, 20, HEAP);
	uint64_t seen = scene.time_ns;
	add_load(&scene, PID, 30, HEAP);
	add_load(&scene, PID, 0, HEAP);
	sample_file_exit(&scene.file, PID, 30, scene.time_ns);
	g_autoptr(LodeProfile) profile = import(&scene);
	static const uint32_t ordinals[] = {2, 1, 3, 4, 0};
	for (guint i = 0; i < G_N_ELEMENTS(ordinals); i++) {
		g_assert_cmpuint(thread_of(profile, i)->ordinal, ==, ordinals[i]);
		g_assert_cmpuint(thread_of(profile, i)->pid, ==, PID);
		g_assert_cmpuint(row(profile, i)->thread, ==, ordinals[i]);
	}
	g_assert_cmpstr(thread_of(profile, 1)->name, ==, "worker");
	g_assert_cmpuint(thread_of(profile, 1)->end_ns, ==, end);
	g_assert_cmpuint(thread_of(profile, 2)->tid, ==, 20);
	g_assert_cmpuint(thread_of(profile, 2)->end_ns, ==, UINT64_MAX);
	g_assert_cmpstr(thread_of(profile, 4)->name, ==, "program");
	/* Nothing told of its beginning. */
	g_assert_cmpuint(thread_of(profile, 3)->begin_ns, <=, seen);
	g_assert_cmpuint(thread_of(profile, 3)->end_ns, ==, scene.time_ns);
}

/* A thread's stack is named after it, by the number that it has in its own process. */
static void test_thread_stacks(void)
{
	g_auto(Scene) scene;

	scene_init(&scene);
	begin(&scene, OTHER);
	for (uint32_t pid = PID; pid <= OTHER; pid += OTHER - PID) {
		map_data(&scene, pid, "//anon", THREAD_STACK, 0x100000);
		if (pid == PID)
			sample_file_clone(&scene.file, pid, 1, scene.time_ns++);
		sample_file_clone(&scene.file, pid, 20, scene.time_ns++);
		Sample sample = sample_at(&scene, "load_here", 0);
		sample.pid = pid;
		sample.tid = 20;
		sample.registers[SAMPLE_SP] = THREAD_STACK + 0xff000;
		sample.registers[SAMPLE_DI] = THREAD_STACK + 0xff010;
		sample_file_add(&scene.file, &sample);
	}
	g_autoptr(LodeProfile) profile = import(&scene);
	g_assert_cmpstr(mapping_of(profile, 0), ==, "[stack of thread 2]");
	g_assert_cmpstr(mapping_of(profile, 1), ==, "[stack of thread 1]");
}

static void add_on_stack(Scene *scene, uint32_t tid, uint64_t pointer)
{
	Sample sample = sample_at(scene, "load_here", 0);

	sample.tid = tid;
	sample.registers[SAMPLE_SP] = pointer;
	sample.registers[SAMPLE_DI] = pointer + 0x10;
	sample_file_add(&scene->file, &sample);
}

/* A stack is of one thread after the other; memory that several have stacks in is of none. */
static void test_reused_stacks(void)
{
	const uint64_t pointer = THREAD_STACK + 0xff000, arena = THREAD_STACK + 0x200000;
	g_auto(Scene) scene;

	scene_init(&scene);
	map_data(&scene, PID, "//anon", THREAD_STACK, 0x100000);
	map_data(&scene, PID, "//anon", arena, 0x100000);
	sample_file_clone(&scene.file, PID, 20, scene.time_ns++);
	add_on_stack(&scene, 20, pointer);
	sample_file_exit(&scene.file, PID, 20, scene.time_ns++);
	sample_file_clone(&scene.file, PID, 30, scene.time_ns++);
	add_load(&scene, PID, 0, pointer);
	add_on_stack(&scene, 30, pointer);
	sample_file_clone(&scene.file, PID, 40, scene.time_ns++);
	add_on_stack(&scene, 40, arena + 0xff000);
	add_on_stack(&scene, 30, arena + 0xf0000);
	add_on_stack(&scene, 40, arena + 0xff000);
	g_autoptr(LodeProfile) profile = import(&scene);
	g_assert_cmpstr(mapping_of(profile, 0), ==, "[stack of thread 1]");
	g_assert_cmpstr(mapping_of(profile, 1), ==, "[stack of thread 2]");
	g_assert_cmpstr(mapping_of(profile, 2), ==, "[stack of thread 2]");
	for (uint32_t i = 3; i < 6; i++)
		g_assert_cmpstr(mapping_of(profile, i), ==, "[anon]");
}

/* perf's files have no mapping of the stack that an exec makes. */
static void test_lost_stack(void)
{
	g_auto(Scene) scene;
	uint64_t pointer = STACK + 0x8000;

	scene_init_empty(&scene);
	add_timer(&scene);
	sample_file_exec(&scene.file, PID, scene.time_ns++);
	sample_file_map(&scene.file, PID, scene.time_ns++, &scene.program.mapping);
	add_load(&scene, PID, 0, pointer + 24);
	add_load(&scene, PID, 0, pointer - 128);
	add_load(&scene, PID, 0, pointer - 129);
	add_load(&scene, PID, 0, pointer + (64 << 20));
	add_load(&scene, PID, 0, pointer + 0x3000);
	g_autoptr(LodeProfile) profile = import(&scene);
	check_rule(profile, 0, LODE_RULE_AT_PC, pointer + 24);
	check_rule(profile, 1, LODE_RULE_AT_PC, pointer - 128);
	check_reason(profile, 2, LODE_REASON_INVALID_ADDRESS);
	check_reason(profile, 3, LODE_REASON_INVALID_ADDRESS);
	g_assert_cmpstr(mapping_of(profile, 4), ==, "[stack]");
	g_assert_cmpuint(profile->memory->mappings->len, ==, 1);
	const LodeMemoryMapping *stack = &LODE_AT(profile->memory->mappings, LodeMemoryMapping, 0);
	g_assert_cmphex(stack->start, <=, pointer - 128);
	g_assert_cmphex(stack->end, >, pointer + 0x3000);
}

static void test_hardware_addresses(void)
{
	enum { OPERATION_LOAD = 2, OPERATION_STORE = 4 };
	g_auto(Scene) scene;

	scene_init_empty(&scene);
	scene.file.has_addresses = true;
	sample_file_add_event(&scene.file, PERF_TYPE_RAW, 0x1cd, 100);
	sample_file_add_event(&scene.file, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, 1);
	begin(&scene, PID);
	Sample sample = sample_at(&scene, "return_only", 0);
	sample.address = HEAP + 8;
	sample.latency = 321;
	sample.data_source = OPERATION_LOAD | 0x400;
	sample_file_add(&scene.file, &sample);
	/* The operand at the sampled instruction has the size. */
	sample = sample_at(&scene, "store_here", 0);
	sample.registers[SAMPLE_DI] = HEAP;
	sample.address = HEAP + 8;
	sample.event = 1;
	sample.period = 1;
	sample_file_add(&scene.file, &sample);
	sample.abi = PERF_SAMPLE_REGS_ABI_NONE;
	sample.address = NOWHERE;
	sample_file_add(&scene.file, &sample);
	sample.mode = PERF_RECORD_MISC_KERNEL;
	sample.ip = UINT64_C(0xffffffff81000000);
	sample.address = HEAP;
	sample_file_add(&scene.file, &sample);
	g_autoptr(LodeProfile) profile = import(&scene);
	check_rule(profile, 0, LODE_RULE_HARDWARE, HEAP + 8);
	g_assert_cmpuint(row(profile, 0)->latency, ==, 321);
	g_assert_cmphex(row(profile, 0)->data_source, ==, OPERATION_LOAD | 0x400);
	g_assert_cmpuint(row(profile, 0)->access, ==, LODE_ACCESS_LOAD);
	check_rule(profile, 1, LODE_RULE_HARDWARE, HEAP + 8);
	g_assert_cmpuint(row(profile, 1)->size, ==, 4);
	g_assert_cmpuint(row(profile, 1)->access, ==, LODE_ACCESS_STORE);
	check_rule(profile, 2, LODE_RULE_HARDWARE, NOWHERE);
	g_assert_null(mapping_of(profile, 2));
	check_rule(profile, 3, LODE_RULE_HARDWARE, HEAP);
	g_assert_cmpuint(row(profile, 3)->instruction, ==, LODE_NONE);
	uint32_t faults = lode_profile_find_event(profile, "page-faults");
	g_assert_cmpuint(row(profile, 1)->event, ==, faults);
	g_assert_cmpuint(row(profile, 0)->event, !=, faults);
	g_assert_false(profile->memory->is_stall_weighted);
}

/* Without registers and data addresses, there is nothing to tell. */
static void test_no_memory(void)
{
	g_auto(Scene) scene;

	scene_init_empty(&scene);
	scene.file.has_registers = false;
	add_timer(&scene);
	begin(&scene, PID);
	add_load(&scene, PID, 0, HEAP);
	g_autoptr(LodeProfile) profile = import(&scene);
	g_assert_null(profile->memory);
}

static void test_nodes(void)
{
	static const char *const cpus[] = {"0-1,9", "2,4-3,x,70000,3-"};
	g_auto(Scene) scene;

	scene_init(&scene);
	PerfDataWriter *feature = perf_data_file_feature(&scene.file.file, FEATURE_NUMA);
	put32(feature, G_N_ELEMENTS(cpus));
	for (uint32_t i = 0; i < G_N_ELEMENTS(cpus); i++) {
		put32(feature, i == 0 ? 0 : 7);
		put64(feature, 1000);
		put64(feature, 500);
		put_counted_text(feature, cpus[i]);
	}
	static const uint32_t asked[] = {0, 1, 9, 2, 8, 70000, UINT32_MAX};
	static const uint32_t nodes[] = {0, 0, 0, 7, UINT32_MAX, UINT32_MAX, UINT32_MAX};
	for (size_t i = 0; i < G_N_ELEMENTS(asked); i++) {
		Sample sample = sample_at(&scene, "load_here", 0);
		sample.registers[SAMPLE_DI] = HEAP;
		sample.cpu = asked[i];
		sample_file_add(&scene.file, &sample);
	}
	g_autoptr(LodeProfile) profile = import(&scene);
	for (guint i = 0; i < G_N_ELEMENTS(asked); i++) {
		g_assert_cmpuint(row(profile, i)->cpu, ==, asked[i]);
		g_assert_cmpuint(row(profile, i)->node, ==, nodes[i]);
	}
}

/* Each file has its own address spaces; the later run may come first. */
static void test_several_files(void)
{
	g_auto(Scene) early;
	g_auto(Scene) late;

	scene_init(&early);
	sample_file_name(&early.file, PID, PID, early.time_ns++, "early");
	add_load(&early, PID, 0, HEAP);
	sample_file_exit(&early.file, PID, PID, early.time_ns++);
	scene_init_empty(&late);
	add_timer(&late);
	late.time_ns = 1000;
	sample_file_exec(&late.file, PID, late.time_ns++);
	sample_file_map(&late.file, PID, late.time_ns++, &late.program.mapping);
	sample_file_name(&late.file, PID, PID, late.time_ns++, "late");
	add_load(&late, PID, 0, HEAP);
	add_load(&late, PID, 0, STACK + 0x8000);
	Scene *const scenes[] = {&late, &early};
	g_autoptr(LodeProfile) profile = import_scenes(scenes, G_N_ELEMENTS(scenes));
	check_reason(profile, 0, LODE_REASON_INVALID_ADDRESS);
	check_rule(profile, 1, LODE_RULE_AT_PC, STACK + 0x8000);
	check_rule(profile, 2, LODE_RULE_AT_PC, HEAP);
	g_assert_cmpstr(thread_of(profile, 0)->name, ==, "late");
	g_assert_cmpstr(thread_of(profile, 2)->name, ==, "early");
	g_assert_cmpuint(thread_of(profile, 0)->ordinal, ==, 1);
	g_assert_cmpuint(thread_of(profile, 2)->ordinal, ==, 0);
}

/* A log of what a process allocated, with one chunk; docs/reference/formats/allocation-log.md. */
typedef struct {
	PerfDataWriter bytes;
	const char *path;
} Log;

enum {
	RECORD_ALLOCATION = 1,
	RECORD_FREE = 2,
	RECORD_STACK = 4,
	RECORD_THREAD = 5,
	LOG_CHUNK = 0x4b4e4843
};

static void fill_page(PerfDataWriter *self)
{
	while (self->bytes->len % PAGE != 0)
		put8(self, 0);
}

static void log_begin(Log *self, uint32_t pid, uint32_t tid, uint64_t time_ns)
{
	PerfDataWriter *bytes = &self->bytes;

	*bytes = (PerfDataWriter){.bytes = g_byte_array_new()};
	put_text(bytes, "lodealoc");
	g_byte_array_set_size(bytes->bytes, 8);
	put32(bytes, 2);
	put32(bytes, PAGE);
	put32(bytes, pid);
	put32(bytes, 1);
	put64(bytes, time_ns);
	put64(bytes, 2 * PAGE);
	put64(bytes, 0);
	put64(bytes, 0);
	put32(bytes, 0);
	put32(bytes, 16);
	fill_page(bytes);
	put32(bytes, LOG_CHUNK);
	put32(bytes, tid);
	put32(bytes, PAGE);
	put32(bytes, 0);
}

/* From a place in a function, of 64 bytes. */
static void log_allocate(
	Log *self, uint32_t stack, uint64_t caller, uint64_t time_ns, uint64_t address)
{
	put64(&self->bytes, RECORD_STACK | 1 << 16 | (uint64_t)stack << 32);
	put64(&self->bytes, caller);
	put64(&self->bytes, RECORD_ALLOCATION | (uint64_t)stack << 32);
	put64(&self->bytes, time_ns);
	put64(&self->bytes, address);
	put64(&self->bytes, 64);
}

static void log_thread(Log *self, uint32_t tid, uint64_t time_ns, uint64_t pointer)
{
	put64(&self->bytes, RECORD_THREAD | (uint64_t)tid << 32);
	put64(&self->bytes, time_ns);
	put64(&self->bytes, pointer);
}

static void log_free(Log *self, uint64_t time_ns, uint64_t address)
{
	put64(&self->bytes, RECORD_FREE);
	put64(&self->bytes, time_ns);
	put64(&self->bytes, address);
}

static void log_write(Log *self)
{
	g_autoptr(GError) error = NULL;

	fill_page(&self->bytes);
	g_file_set_contents(
		self->path, (const char *)self->bytes.bytes->data, self->bytes.bytes->len, &error);
	g_assert_no_error(error);
	g_byte_array_unref(self->bytes.bytes);
}

static LodeProfile *import_with_logs(Scene *scene, Log *logs, size_t n)
{
	g_autofree char *directory = g_dir_make_tmp("lode-XXXXXX", NULL);
	g_autofree char *samples = g_build_filename(directory, "x.data", NULL);
	const char *paths[MAX_FILES] = {samples};

	sample_file_write(&scene->file, samples);
	for (size_t i = 0; i < n; i++) {
		logs[i].path = paths[i + 1] = g_strdup_printf("%s/%zu.log", directory, i);
		log_write(&logs[i]);
	}
	LodeProfile *profile = import_files(paths, n + 1);
	for (size_t i = 0; i < n; i++)
		g_free((char *)logs[i].path);
	g_rmdir(directory);
	return profile;
}

static const LodeAllocation *allocation_of(const LodeProfile *profile, guint index)
{
	const LodeMemorySample *sample = row(profile, index);

	return sample->allocation == LODE_NONE
	               ? NULL
	               : &LODE_AT(profile->memory->allocations, LodeAllocation, sample->allocation);
}

static uint64_t place_of(const Scene *self, const char *function)
{
	return sampled_program_function(&self->program, function)->address + self->program.bias;
}

/* Freed, allocated anew, by another thread: each sample belongs to what was there then. */
static void test_allocations(void)
{
	g_auto(Scene) scene;
	Log log;

	scene_init(&scene);
	sample_file_clone(&scene.file, PID, 20, scene.time_ns++);
	log_begin(&log, PID, 20, scene.time_ns++);
	add_load(&scene, PID, 0, HEAP);
	log_allocate(&log, 1, place_of(&scene, "load_here") + 2, scene.time_ns++, HEAP);
	add_load(&scene, PID, 0, HEAP + 63);
	add_load(&scene, PID, 0, HEAP + 64);
	log_free(&log, scene.time_ns++, HEAP);
	add_load(&scene, PID, 0, HEAP);
	log_allocate(&log, 2, place_of(&scene, "forget") + 3, scene.time_ns++, HEAP);
	log_allocate(&log, 3, NOWHERE, scene.time_ns++, HEAP + 0x1000);
	add_load(&scene, PID, 0, HEAP + 0x1000);
	add_load(&scene, PID, 20, HEAP);
	g_autoptr(LodeProfile) profile = import_with_logs(&scene, &log, 1);
	static const int expected[] = {-1, 0, -1, -1, 2, 1};
	for (guint i = 0; i < G_N_ELEMENTS(expected); i++)
		g_assert_cmpint((int)row(profile, i)->allocation, ==, expected[i]);
	const LodeAllocation *first = allocation_of(profile, 1);
	g_assert_cmphex(first->address, ==, HEAP);
	g_assert_cmpuint(first->size, ==, 64);
	g_assert_cmpuint(LODE_AT(profile->memory->threads, LodeThread, first->thread).tid, ==, 20);
	g_assert_cmpuint(first->end_ns, <, row(profile, 3)->time_ns);
	g_assert_cmpuint(allocation_of(profile, 4)->end_ns, ==, UINT64_MAX);
	g_assert_cmpuint(first->site, !=, allocation_of(profile, 5)->site);
	const LodeAllocationSite *sites = (LodeAllocationSite *)profile->memory->sites->data;
	g_assert_true(g_str_has_prefix(sites[first->site].name, "malloc@program_accesses+0x"));
	g_assert_cmpstr(sites[allocation_of(profile, 4)->site].name, ==, "malloc@?");
	g_assert_cmpuint(sites[first->site].n, ==, 1);
	g_assert_cmpuint(sites[first->site].n_bytes, ==, 64);
	g_assert_cmpstr(object_of(profile, 4)->name, ==, "malloc@?");
	g_assert_true(profile->memory->has_allocations);
}

/* What a log lacks is said. */
static void test_lossy_log(void)
{
	enum { UNSEEN_AT = 40, DROPPED_AT = 48, FLAGS_AT = 56 };
	g_auto(Scene) scene;
	Log log;

	scene_init(&scene);
	sample_file_clone(&scene.file, PID, 20, scene.time_ns++);
	log_begin(&log, PID, 20, scene.time_ns++);
	log_allocate(&log, 1, NOWHERE, scene.time_ns++, HEAP);
	add_load(&scene, PID, 0, HEAP);
	log.bytes.bytes->data[UNSEEN_AT] = 7;
	log.bytes.bytes->data[DROPPED_AT] = 9;
	log.bytes.bytes->data[FLAGS_AT] = 1;
	g_autoptr(LodeProfile) profile = import_with_logs(&scene, &log, 1);
	g_assert_cmpfloat(
		find_unresolved(profile, "allocation calls that the recorder could not note")
			->samples,
		==, 7);
	g_assert_cmpfloat(
		find_unresolved(profile, "allocation records that there was no room for")->samples,
		==, 9);
	g_assert_nonnull(find_unresolved(
		profile, "allocations by a malloc of the program's own, which is not followed"));
	g_assert_null(find_unresolved(profile, "allocation log that is cut short"));
	g_assert_null(allocation_of(profile, 0));
}

/* One damaged log costs what stood in it where that is asked for, else the import. */
static void test_damaged_log(void)
{
	g_autofree char *directory = g_dir_make_tmp("lode-XXXXXX", NULL);
	g_autofree char *samples = g_build_filename(directory, "x.data", NULL);
	g_autofree char *damaged = g_build_filename(directory, "allocations-1.log", NULL);
	const char *const paths[] = {samples, damaged};
	LodeImportOptions options = {.paths = paths, .n_paths = 2, .threads = 2};
	g_autoptr(GError) error = NULL;
	g_auto(Scene) scene;
	Log log = {.path = damaged};

	scene_init(&scene);
	log_begin(&log, PID, 20, scene.time_ns++);
	put64(&log.bytes, 99);
	log_write(&log);
	add_load(&scene, PID, 0, HEAP);
	sample_file_write(&scene.file, samples);
	g_assert_null(lode_import(&options, NULL, &error));
	g_assert_error(error, LODE_ERROR, LODE_ERROR_CORRUPT);
	g_clear_error(&error);
	options.skips_damaged_logs = true;
	g_autoptr(LodeProfile) profile = lode_import(&options, NULL, &error);
	g_assert_no_error(error);
	const LodeUnresolved *row = find_unresolved(profile, "allocation log that is damaged");
	g_assert_nonnull(row);
	g_assert_nonnull(strstr(row->example, damaged));
	g_assert_cmpfloat(row->samples, ==, 1);
	g_unlink(samples);
	g_unlink(damaged);
	g_rmdir(directory);
}

/* A child has what its parent allocated before, and its own; what it executes has its own alone. */
static void test_allocations_of_families(void)
{
	g_auto(Scene) scene;
	Log logs[3];

	scene_init(&scene);
	log_begin(&logs[0], PID, PID, scene.time_ns++);
	log_allocate(&logs[0], 1, place_of(&scene, "load_here") + 2, scene.time_ns++, HEAP);
	sample_file_fork(&scene.file, CHILD, PID, scene.time_ns++);
	log_free(&logs[0], scene.time_ns++, HEAP);
	add_load(&scene, CHILD, 0, HEAP);
	log_begin(&logs[1], CHILD, CHILD, scene.time_ns++);
	log_allocate(&logs[1], 1, place_of(&scene, "forget") + 3, scene.time_ns++, HEAP + 0x100);
	add_load(&scene, CHILD, 0, HEAP + 0x100);
	add_load(&scene, CHILD, 0, HEAP);
	add_load(&scene, PID, 0, HEAP);
	begin(&scene, CHILD);
	log_begin(&logs[2], CHILD, CHILD, scene.time_ns++);
	add_load(&scene, CHILD, 0, HEAP);
	add_load(&scene, CHILD, 0, HEAP + 0x100);
	g_autoptr(LodeProfile) profile = import_with_logs(&scene, logs, G_N_ELEMENTS(logs));
	g_assert_cmpuint(allocation_of(profile, 0)->pid, ==, PID);
	g_assert_cmpuint(allocation_of(profile, 1)->pid, ==, CHILD);
	g_assert_cmpuint(row(profile, 2)->allocation, ==, row(profile, 0)->allocation);
	for (guint i = 3; i < 6; i++)
		g_assert_null(allocation_of(profile, i));
}

/* What a child freed is no longer its own, nor its child's; it is still its parent's. */
static void test_freed_after_fork(void)
{
	g_auto(Scene) scene;
	Log logs[2];

	scene_init(&scene);
	log_begin(&logs[0], PID, PID, scene.time_ns++);
	log_allocate(&logs[0], 1, place_of(&scene, "load_here") + 2, scene.time_ns++, HEAP);
	sample_file_fork(&scene.file, CHILD, PID, scene.time_ns++);
	add_load(&scene, CHILD, 0, HEAP);
	log_begin(&logs[1], CHILD, CHILD, scene.time_ns++);
	log_free(&logs[1], scene.time_ns++, HEAP);
	add_load(&scene, CHILD, 0, HEAP);
	sample_file_fork(&scene.file, OTHER, CHILD, scene.time_ns++);
	map_data(&scene, OTHER, "[heap]", HEAP, 0x20000);
	add_load(&scene, OTHER, 0, HEAP);
	add_load(&scene, PID, 0, HEAP);
	g_autoptr(LodeProfile) profile = import_with_logs(&scene, logs, G_N_ELEMENTS(logs));
	g_assert_nonnull(allocation_of(profile, 0));
	g_assert_null(allocation_of(profile, 1));
	g_assert_null(allocation_of(profile, 2));
	g_assert_cmpuint(row(profile, 3)->allocation, ==, row(profile, 0)->allocation);
}

static void add_load_of_thread(Scene *self, uint32_t pid, uint32_t tid)
{
	Sample sample = sample_at(self, "load_of_thread", 0);

	sample.pid = pid;
	sample.tid = tid;
	sample_file_add(&self->file, &sample);
}

/* By the thread pointer of that thread, then, in that program: %fs:16. */
static void test_thread_pointers(void)
{
	g_auto(Scene) scene;
	Log logs[2];

	scene_init(&scene);
	add_load_of_thread(&scene, PID, PID);
	log_begin(&logs[0], PID, PID, scene.time_ns++);
	log_thread(&logs[0], PID, scene.time_ns++, HEAP);
	log_thread(&logs[0], 20, scene.time_ns++, HEAP + 0x100);
	add_load_of_thread(&scene, PID, PID);
	add_load_of_thread(&scene, PID, 20);
	add_load_of_thread(&scene, PID, 21);
	log_thread(&logs[0], 20, scene.time_ns++, HEAP + 0x200);
	add_load_of_thread(&scene, PID, 20);
	begin(&scene, PID);
	add_load_of_thread(&scene, PID, PID);
	log_begin(&logs[1], PID, PID, scene.time_ns++);
	log_thread(&logs[1], PID, scene.time_ns++, NOWHERE);
	add_load_of_thread(&scene, PID, PID);
	g_autoptr(LodeProfile) profile = import_with_logs(&scene, logs, G_N_ELEMENTS(logs));
	check_reason(profile, 0, LODE_REASON_TLS);
	check_rule(profile, 1, LODE_RULE_AT_PC, HEAP + 16);
	check_rule(profile, 2, LODE_RULE_AT_PC, HEAP + 0x110);
	check_reason(profile, 3, LODE_REASON_TLS);
	check_rule(profile, 4, LODE_RULE_AT_PC, HEAP + 0x210);
	check_reason(profile, 5, LODE_REASON_TLS);
	check_reason(profile, 6, LODE_REASON_INVALID_ADDRESS);
}

/* What the libraries do that lode puts into programs is none of the program's. */
static void test_recorder(void)
{
	static const char *const libraries[] = {"/usr/lib/lode/liblode-allocations.so",
		"/usr/lib/lode/liblode-placement.so", "/usr/lib/lode/liblode-allocations.so.old"};
	const uint64_t place = UINT64_C(0x220000000000);
	g_auto(Scene) scene;

	scene_init_empty(&scene);
	scene.file.has_addresses = true;
	sample_file_add_event(&scene.file, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, 1);
	begin(&scene, PID);
	for (size_t i = 0; i < G_N_ELEMENTS(libraries); i++) {
		const LodePerfMapping map = {
			.start = place + i * PAGE, .size = PAGE, .path = libraries[i]};
		sample_file_map(&scene.file, PID, scene.time_ns++, &map);
		Sample sample = sample_at(&scene, "load_here", 0);
		sample.ip = map.start;
		sample.address = HEAP;
		sample_file_add(&scene.file, &sample);
		sample = sample_at(&scene, "load_here", 0);
		sample.address = map.start;
		sample_file_add(&scene.file, &sample);
	}
	g_autoptr(LodeProfile) profile = import(&scene);
	/* Those in the libraries are left out. */
	g_assert_cmpuint(profile->memory->samples->len, ==, 4);
	for (guint i = 0; i < 2; i++)
		check_reason(profile, i, LODE_REASON_RECORDER);
	check_rule(profile, 2, LODE_RULE_HARDWARE, HEAP);
	check_rule(profile, 3, LODE_RULE_HARDWARE, place + 2 * PAGE);
}

/* What a program allocated is not what the next one finds there that the process executes; it may
 * have no log. What a parent allocated is its grandchild's, too, in a heap that all of them grew.
 */
static void test_logs_and_births(void)
{
	g_auto(Scene) scene;
	Log logs[2];

	scene_init(&scene);
	sample_file_fork(&scene.file, CHILD, PID, scene.time_ns++);
	log_begin(&logs[0], CHILD, CHILD, scene.time_ns++);
	log_allocate(&logs[0], 1, place_of(&scene, "load_here") + 2, scene.time_ns++, HEAP);
	sample_file_fork(&scene.file, OTHER, CHILD, scene.time_ns++);
	map_data(&scene, OTHER, "[heap]", HEAP, 0x20000);
	add_load(&scene, OTHER, 0, HEAP);
	begin(&scene, OTHER);
	add_load(&scene, OTHER, 0, HEAP);
	add_load(&scene, CHILD, 0, HEAP);
	begin(&scene, CHILD);
	add_load(&scene, CHILD, 0, HEAP);
	log_begin(&logs[1], PID, PID, scene.time_ns++);
	add_load(&scene, PID, 0, HEAP);
	g_autoptr(LodeProfile) profile = import_with_logs(&scene, logs, G_N_ELEMENTS(logs));
	g_assert_nonnull(allocation_of(profile, 0));
	g_assert_null(allocation_of(profile, 1));
	g_assert_cmpuint(row(profile, 2)->allocation, ==, row(profile, 0)->allocation);
	g_assert_null(allocation_of(profile, 3));
	g_assert_null(allocation_of(profile, 4));
}

/* Sizes and addresses that no machine has. */
static void test_absurd_values(void)
{
	g_auto(Scene) scene;

	scene_init(&scene);
	map_data(&scene, PID, "//anon", UINT64_MAX - PAGE, UINT64_MAX);
	map_data(&scene, PID, "", 0, UINT64_MAX);
	map_data(&scene, UINT32_MAX, "//anon", HEAP, PAGE);
	for (unsigned i = 0; i < SAMPLE_N_REGISTERS; i++) {
		Sample sample = sample_at(&scene, "load_here", 0);
		memset(sample.registers, 0xff, sizeof(sample.registers));
		sample.registers[i] = 0;
		sample.period = i == 0 ? 0 : 1;
		sample_file_add(&scene.file, &sample);
	}
	g_autoptr(LodeProfile) profile = import(&scene);
	g_assert_cmpuint(profile->memory->samples->len, ==, SAMPLE_N_REGISTERS);
	for (guint i = 0; i < profile->memory->mappings->len; i++) {
		const LodeMemoryMapping *mapping = &LODE_AT(
			profile->memory->mappings, LodeMemoryMapping, i);
		g_assert_cmphex(mapping->start, <=, mapping->end);
	}
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	if (PROGRAM_ACCESSES[0] == '\0') {
		g_print("1..0 # SKIP no program of this machine's accesses\n");
		return 0;
	}
	g_test_add_func("/memory_import/rules", test_rules);
	g_test_add_func("/memory_import/two_operands", test_two_operands);
	g_test_add_func("/memory_import/waited", test_waited);
	g_test_add_func("/memory_import/ways", test_ways);
	g_test_add_func("/memory_import/callers", test_callers);
	g_test_add_func("/memory_import/callers-in-kernel", test_callers_in_kernel);
	g_test_add_func("/memory_import/branch_stacks", test_branch_stacks);
	g_test_add_func("/memory_import/partly_sampled", test_partly_sampled_registers);
	g_test_add_func("/memory_import/reasons", test_reasons);
	g_test_add_func("/memory_import/only_32_bit", test_only_32_bit);
	g_test_add_func("/memory_import/borders", test_borders);
	g_test_add_func("/memory_import/mappings_in_time", test_mappings_in_time);
	g_test_add_func("/memory_import/variables", test_variables);
	g_test_add_func("/memory_import/executed_again", test_executed_again);
	g_test_add_func("/memory_import/executed_often", test_executed_often);
	g_test_add_func("/memory_import/threads", test_threads);
	g_test_add_func("/memory_import/thread_stacks", test_thread_stacks);
	g_test_add_func("/memory_import/reused_stacks", test_reused_stacks);
	g_test_add_func("/memory_import/lost_stack", test_lost_stack);
	g_test_add_func("/memory_import/hardware_addresses", test_hardware_addresses);
	g_test_add_func("/memory_import/no_memory", test_no_memory);
	g_test_add_func("/memory_import/nodes", test_nodes);
	g_test_add_func("/memory_import/several_files", test_several_files);
	g_test_add_func("/memory_import/allocations", test_allocations);
	g_test_add_func("/memory_import/lossy_log", test_lossy_log);
	g_test_add_func("/memory_import/damaged_log", test_damaged_log);
	g_test_add_func("/memory_import/families", test_allocations_of_families);
	g_test_add_func("/memory_import/freed_after_fork", test_freed_after_fork);
	g_test_add_func("/memory_import/thread_pointers", test_thread_pointers);
	g_test_add_func("/memory_import/recorder", test_recorder);
	g_test_add_func("/memory_import/logs_and_births", test_logs_and_births);
	g_test_add_func("/memory_import/absurd_values", test_absurd_values);
	return g_test_run();
}
