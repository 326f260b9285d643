/* SPDX-License-Identifier: MIT */
/* What entered the kernel, by stacks and registers as they are and as they cannot be. */
#include "ingest/sampled/kernel_entries.h"
#include "sources/code/system_calls.h"

#include <asm/perf_regs.h>

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
	g_test_add_func("/ingest/kernel_entries/system_calls", test_system_calls);
	return g_test_run();
}
