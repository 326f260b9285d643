/* SPDX-License-Identifier: MIT */
/* Samples of context switches, with what looks saw at the same call. */
#include "ingest/sampled/waits/switch_looks.h"

#include "base/bits.h"

#include <asm/perf_regs.h>
#include <linux/futex.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/syscall.h>

enum { PID = 7, IP = 0x401000, FUTEX = 0x5000 };

#define REGISTERS                                                                                  \
	(LODE_BIT(PERF_REG_X86_SI) | LODE_BIT(PERF_REG_X86_DI) | LODE_BIT(PERF_REG_X86_SP) |       \
		LODE_BIT(PERF_REG_X86_IP))

typedef struct {
	LodeCodeImages *images;
	LodePlaces *places;
	LodeSwitchLooks *looks;
	LodeWaitLook found;
	LodePerfRecord record;
} Made;

static void made_init(Made *self)
{
	*self = (Made){
		.images = lode_code_images_new(NULL, false), .looks = lode_switch_looks_new()};
	const LodePlacesOptions options = {.images = self->images};

	self->places = lode_places_new(&options);
	lode_places_begin(self->places);
	lode_places_freeze(self->places, NULL, "none", NULL);
}

static void made_clear(Made *self)
{
	lode_switch_looks_free(self->looks);
	lode_places_free(self->places);
	lode_code_images_free(self->images);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Made, made_clear)

static void look(Made *self, uint64_t time_ns, int64_t call, const char *target, uint32_t word)
{
	const LodePerfRecord record = {.pid = PID, .tid = PID, .sample = {.ip = IP}};
	const LodeWaitLook seen = {.call = call,
		.arguments = {FUTEX},
		.timeout_ns = word,
		.n_words = 1,
		.words = {word},
		.target = target,
		.kernel_function = ""};

	lode_switch_looks_note(self->looks, &record, &seen, time_ns);
}

static bool find(Made *self, uint64_t time_ns, uint64_t argument, const char *functions)
{
	/* si, di, sp, ip */
	const uint64_t registers[] = {FUTEX_WAIT, argument, 0x7000, IP};
	const LodePerfEvent event = {.user_registers = REGISTERS};
	const LodePerfRecord record = {
		.kind = LODE_PERF_SAMPLE,
		.mode = LODE_PERF_MODE_KERNEL,
		.pid = PID,
		.sample = {.ip = 0xffffffff81000000,
			.user_abi = PERF_SAMPLE_REGS_ABI_64,
			.user_registers = registers},
	};
	g_auto(GStrv) words = g_strsplit(functions, " ", -1);
	g_autoptr(GPtrArray) all = g_ptr_array_new();

	for (size_t i = 0; words[i] != NULL; i++)
		g_ptr_array_add(all, (char *)g_intern_string(words[i]));
	const LodeSwitchSample sample = {&record, &event, time_ns, all, self->places};
	return lode_switch_looks_find(self->looks, &sample, &self->found, &self->record);
}

static void test_calls(void)
{
	g_auto(Made) made;

	made_init(&made);
	g_assert_true(find(&made, 1, FUTEX,
		"__schedule schedule futex_wait_queue do_futex __x64_sys_futex do_syscall_64"));
	g_assert_cmpint(made.found.call, ==, SYS_futex);
	g_assert_cmphex(made.found.arguments[0], ==, FUTEX);
	g_assert_cmphex(made.found.arguments[1], ==, FUTEX_WAIT);
	g_assert_cmpstr(made.found.kernel_function, ==, "futex_wait_queue");
	g_assert_cmpstr(made.found.target, ==, "");
	g_assert_cmpint(made.record.mode, ==, LODE_PERF_MODE_USER);
	g_assert_cmphex(made.record.sample.ip, ==, IP);
	g_assert_true(find(&made, 1, 0, "schedule do_statx __x64_sys_newfstatat do_syscall_64"));
	g_assert_cmpint(made.found.call, ==, SYS_newfstatat);
	g_assert_true(find(&made, 1, 0, "schedule __x64_sys_newstat do_syscall_64"));
	g_assert_cmpint(made.found.call, ==, SYS_stat);
	g_assert_true(
		find(&made, 1, 0, "io_schedule folio_wait_bit filemap_fault asm_exc_page_fault"));
	g_assert_cmpint(made.found.call, ==, LODE_LOOK_NO_CALL);
	g_assert_cmpstr(made.found.kernel_function, ==, "folio_wait_bit");
	g_assert_cmphex(made.found.arguments[0], ==, 0);
	g_assert_cmpint(made.found.state, ==, 'S');
	g_assert_true(
		find(&made, 1, 0, "schedule ptrace_stop get_signal __x64_sys_time do_syscall_64"));
	g_assert_cmpint(made.found.state, ==, 'T');
	g_assert_true(find(&made, 1, 0, "schedule ptrace_stop get_signal exc_debug asm_exc_debug"));
	g_assert_cmpint(made.found.state, ==, 'T');
	g_assert_cmpint(made.found.call, ==, LODE_LOOK_NO_CALL);
	/* a preemption, a call that is not known, a kernel that is not known */
	g_assert_false(
		find(&made, 1, 0, "__schedule irqentry_exit asm_sysvec_apic_timer_interrupt"));
	g_assert_false(find(&made, 1, 0, "schedule __x64_sys_of_tomorrow do_syscall_64"));
	g_assert_false(find(&made, 1, 0, "[kernel]"));
}

/* What the last look before saw, else the first; of the same call and argument. */
static void test_seen(void)
{
	static const char waits[] = "schedule __x64_sys_futex do_syscall_64";
	static const char reads[] = "schedule __x64_sys_read do_syscall_64";
	g_auto(Made) made;

	made_init(&made);
	look(&made, 100, SYS_futex, "", 2);
	look(&made, 200, SYS_futex, "", 2);
	look(&made, 300, SYS_futex, "", 3);
	look(&made, 250, SYS_futex, "", 9); /* too late */
	look(&made, 100, SYS_read, "pipe:[5]", 0);
	const struct {
		uint64_t time_ns;
		uint32_t word;
	} cases[] = {{50, 2}, {100, 2}, {299, 2}, {300, 3}, {1000, 3}};
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_assert_true(find(&made, cases[i].time_ns, FUTEX, waits));
		g_assert_cmpuint(made.found.n_words, ==, 1);
		g_assert_cmpuint(made.found.words[0], ==, cases[i].word);
		g_assert_cmpuint(made.found.timeout_ns, ==, cases[i].word);
	}
	g_assert_true(find(&made, 100, FUTEX + 4, waits));
	g_assert_cmpuint(made.found.n_words, ==, 0);
	g_assert_true(find(&made, 100, FUTEX, reads));
	g_assert_cmpstr(made.found.target, ==, "pipe:[5]");
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/ingest/switch-looks/calls", test_calls);
	g_test_add_func("/ingest/switch-looks/seen", test_seen);
	return g_test_run();
}
