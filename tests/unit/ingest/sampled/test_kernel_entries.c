/* SPDX-License-Identifier: MIT */
/* The entries into the kernel, by stacks and registers as they are and as they cannot be. */
#include "ingest/sampled/kernel_entries.h"
#include "sources/code/system_calls.h"

#include "sampled_program.h"

#include <asm/perf_regs.h>
#include <sys/mman.h>

/* Functions separated by blanks, the innermost first; `event` NULL: nothing is to be said. */
typedef struct {
	const char *functions, *event;
} Case;

enum { ALL_REGISTERS = 0xff0fff };

static void check(const Case *expected, uint64_t abi, uint64_t mask, const uint64_t *registers)
{
	const LodePlacesOptions options = {.images = lode_code_images_new(NULL, false)};
	LodePlaces *places = lode_places_new(&options);
	const LodePerfEvent event = {.user_registers = mask};
	const LodePerfRecord record = {
		.kind = LODE_PERF_SAMPLE,
		.mode = LODE_PERF_MODE_KERNEL,
		.sample = {.ip = 0xffffffff81000000, .user_abi = abi, .user_registers = registers},
	};
	g_auto(GStrv) words = g_strsplit(expected->functions, " ", -1);
	g_autoptr(GPtrArray) functions = g_ptr_array_new();
	LodeKernelEntry entry;

	for (size_t i = 0; words[i] != NULL && words[i][0] != '\0'; i++)
		g_ptr_array_add(functions, words[i]);
	lode_places_begin(places);
	lode_places_freeze(places, NULL, "none", NULL);
	bool is_found = lode_kernel_entry_find(places, &record, &event, 1, functions, &entry);
	g_assert_cmpint(is_found, ==, expected->event != NULL);
	if (is_found)
		g_assert_cmpstr(entry.event, ==, expected->event);
	lode_places_free(places);
	lode_code_images_free(options.images);
}

static void test_stacks(void)
{
	static const Case cases[] = {
		{"clear_page_erms handle_mm_fault exc_page_fault asm_exc_page_fault",
			"kernel:page-fault"},
		{"vfs_write ksys_write __x64_sys_write do_syscall_64 "
		 "entry_SYSCALL_64_after_hwframe",
			"kernel:syscall:write"},
		/* a page that the kernel itself touched for the program */
		{"exc_page_fault asm_exc_page_fault copy_to_user __x64_sys_read do_syscall_64",
			"kernel:syscall:read"},
		/* an interrupt meanwhile */
		{"tick sysvec_apic_timer_interrupt asm_sysvec_apic_timer_interrupt vfs_read "
		 "__x64_sys_read do_syscall_64",
			"kernel:syscall:read"},
		{"do_syscall_64", "kernel:syscall"},
		{"update_process_times sysvec_apic_timer_interrupt asm_sysvec_apic_timer_interrupt",
			"kernel:interrupt"},
		{"exc_debug asm_exc_debug", "kernel:interrupt"},
		{"schedule_tail ret_from_fork ret_from_fork_asm", "kernel:syscall"},
		{"[kernel]", "kernel:unknown"},
		{"", "kernel:unknown"},
		{"__x64_sys_", "kernel:syscall:"},
		{"__x64_sys_a_name_that_is_much_longer_than_any_that_a_system_call_ever_had_in_"
		 "linux",
			"kernel:syscall:a_name_that_is_much_longer_than_any_that_a_syste"},
	};
	const uint64_t registers[20] = {0};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++)
		check(&cases[i], PERF_SAMPLE_REGS_ABI_64, ALL_REGISTERS, registers);
}

/* A kernel thread has none; 32-bit programs enter in another way; some recordings lack a few. */
static void test_registers(void)
{
	const Case none = {"do_syscall_64", NULL};
	const Case some = {"do_syscall_64", "kernel:syscall"};
	uint64_t registers[20];

	for (size_t i = 0; i < G_N_ELEMENTS(registers); i++)
		registers[i] = UINT64_MAX;
	check(&none, PERF_SAMPLE_REGS_ABI_NONE, ALL_REGISTERS, NULL);
	check(&none, PERF_SAMPLE_REGS_ABI_32, ALL_REGISTERS, registers);
	check(&none, PERF_SAMPLE_REGS_ABI_64, 0, registers);
	check(&none, PERF_SAMPLE_REGS_ABI_64, 1 << PERF_REG_X86_AX, registers);
	check(&some, PERF_SAMPLE_REGS_ABI_64, 1 << PERF_REG_X86_IP, registers);
	check(&some, PERF_SAMPLE_REGS_ABI_64, ALL_REGISTERS, registers);
}

/* Code right before a system call; never executed. */
#define BEFORE_SYSCALL(name, code)                                                                 \
	__asm__(".pushsection .text\n.type " name ", @function\n" name ":\n" code                  \
		"\nsyscall\n.size " name ", . - " name "\n.popsection")
BEFORE_SYSCALL("a_number", "mov $1, %eax");
BEFORE_SYSCALL("nothing", "xor %eax, %eax");
BEFORE_SYSCALL("a_whole_nothing", "xor %rax, %rax");
BEFORE_SYSCALL("other_number", "mov $1, %eax\nmov $0, %r8d");
BEFORE_SYSCALL("other_nothing", "mov $1, %eax\nxor %r8d, %r8d");
BEFORE_SYSCALL("other_source", "xor %r8d, %eax");

/* Without the names of the kernel's functions. */
static void test_constants(void)
{
	static const struct {
		const char *function, *event;
	} cases[] = {
		{"a_number", "kernel:syscall:write"},
		{"nothing", "kernel:syscall:read"},
		{"a_whole_nothing", "kernel:syscall:read"},
		{"other_number", "kernel:syscall"},
		{"other_nothing", "kernel:syscall"},
		{"other_source", "kernel:syscall"},
	};
	const LodePlacesOptions options = {.images = lode_code_images_new(NULL, false)};
	LodePlaces *places = lode_places_new(&options);
	g_autoptr(GPtrArray) functions = g_ptr_array_new();
	const LodePerfEvent event = {.user_registers = ALL_REGISTERS};
	g_auto(SampledProgram) program;
	g_autofree char *path = g_file_read_link("/proc/self/exe", NULL);

	sampled_program_open(&program, path);
	LodePerfRecord map = {.kind = LODE_PERF_MAPPING,
		.mode = LODE_PERF_MODE_USER,
		.pid = 7,
		.tid = 7,
		.mapping = program.mapping};
	map.mapping.protection = PROT_READ | PROT_EXEC;
	lode_places_begin(places);
	lode_places_note(places, &map, 1);
	lode_places_freeze(places, NULL, NULL, NULL);
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		const LodeBinaryFunction *code = sampled_program_function(
			&program, cases[i].function);
		uint64_t address = code->address + code->size + program.bias;
		const uint64_t registers[20] = {
			[PERF_REG_X86_IP] = address, [PERF_REG_X86_CX] = address};
		const LodePerfRecord record = {
			.kind = LODE_PERF_SAMPLE,
			.mode = LODE_PERF_MODE_KERNEL,
			.pid = 7,
			.tid = 7,
			.sample = {.user_abi = PERF_SAMPLE_REGS_ABI_64,
				.user_registers = registers},
		};
		LodeKernelEntry entry;
		g_test_message("%s", cases[i].function);
		g_assert_true(
			lode_kernel_entry_find(places, &record, &event, 2, functions, &entry));
		g_assert_cmpstr(entry.event, ==, cases[i].event);
		g_assert_cmphex(entry.address, ==, address - 2);
	}
	lode_places_free(places);
	lode_code_images_free(options.images);
}

static void test_system_calls(void)
{
	g_assert_cmpstr(lode_system_call_name(0), ==, "read");
	g_assert_cmpstr(lode_system_call_name(1), ==, "write");
	g_assert_cmpstr(lode_system_call_name(231), ==, "exit_group");
	g_assert_null(lode_system_call_name(400));
	g_assert_null(lode_system_call_name(UINT64_MAX));
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/ingest/kernel_entries/stacks", test_stacks);
	g_test_add_func("/ingest/kernel_entries/registers", test_registers);
	g_test_add_func("/ingest/kernel_entries/constants", test_constants);
	g_test_add_func("/ingest/kernel_entries/system_calls", test_system_calls);
	return g_test_run();
}
