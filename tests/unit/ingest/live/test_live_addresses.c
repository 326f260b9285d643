/* SPDX-License-Identifier: MIT */
/*
 * Records as a kernel would write them, of this program itself: its mappings are the real ones, the
 * code in a library of its own is what was sampled, with registers as given here. So the address is
 * known.
 */
#include "ingest/live/live_addresses.h"

#include "known_code.h"
#include "model/address_rule.h"
#include "model/process.h"
#include "record/events/perf_existing.h"

#include <asm/perf_regs.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { SAMPLE_ID = 77, FAULT_ID = 78, OTHER_TID = 4000000 };

enum {
	SAMPLE_TYPE = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
	              PERF_SAMPLE_ADDR | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD |
	              PERF_SAMPLE_REGS_USER,
	REGISTERS = 1 << PERF_REG_X86_SI | 1 << PERF_REG_X86_DI | 1 << PERF_REG_X86_SP |
	            1 << PERF_REG_X86_FLAGS,
};

static uint64_t words[64];
static const char constant[4096] = "of the file";

typedef struct {
	LodeLiveAddresses *addresses;
	GByteArray *records;
	GArray *samples; /* LodeLiveSample */
} Fixture;

static void take(const LodeLiveSample *sample, void *user_data)
{
	g_array_append_val((GArray *)user_data, *sample);
}

static void add_event(Fixture *self, uint64_t config, uint64_t id)
{
	const struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = config,
		.sample_type = SAMPLE_TYPE,
		.sample_regs_user = REGISTERS,
		.sample_id_all = 1,
	};
	const LodePerfObservedEvent event = {
		.name = "event",
		.attr = &attr,
		.ids = &id,
		.n_ids = 1,
	};

	lode_live_addresses_add_event(self->addresses, &event);
}

static void set_up(Fixture *self, const void *data)
{
	const char *proc = data;

	self->samples = g_array_new(FALSE, FALSE, sizeof(LodeLiveSample));
	const LodeLiveAddressesOptions options = {
		.take = take,
		.user_data = self->samples,
		.proc = proc,
		.patience_us = -1,
		.charges_next_access = true,
	};
	self->addresses = lode_live_addresses_new(&options);
	self->records = g_byte_array_new();
	add_event(self, PERF_COUNT_SW_CPU_CLOCK, SAMPLE_ID);
	add_event(self, PERF_COUNT_SW_PAGE_FAULTS, FAULT_ID);
}

static void tear_down(Fixture *self, const void *data)
{
	(void)data;
	g_byte_array_unref(self->records);
	lode_live_addresses_free(self->addresses);
	g_array_unref(self->samples);
}

static void add_mappings(Fixture *self)
{
	const LodePerfExisting wanted = {
		.pid = getpid(),
		.sample_type = SAMPLE_TYPE,
		.has_data = true,
		.proc = "/proc",
	};
	g_autoptr(GByteArray) records = lode_perf_existing_records(&wanted);

	g_byte_array_append(self->records, records->data, records->len);
}

typedef struct {
	const char *pc;
	uint64_t rdi, rsi, rsp, time_ns, address;
	uint64_t id;  /* 0: SAMPLE_ID */
	uint32_t tid; /* 0: the first thread */
	uint16_t misc;
} Sampled;

static void add_sample(Fixture *self, const Sampled *sampled)
{
	const struct {
		struct perf_event_header header;
		uint64_t id, ip;
		uint32_t pid, tid;
		uint64_t time, address, cpu, period, abi, rsi, rdi, rsp, flags;
	} record = {
		.header = {PERF_RECORD_SAMPLE,
			sampled->misc != 0 ? sampled->misc : PERF_RECORD_MISC_USER, sizeof(record)},
		.id = sampled->id != 0 ? sampled->id : SAMPLE_ID,
		.ip = (uintptr_t)sampled->pc,
		.pid = (uint32_t)getpid(),
		.tid = sampled->tid != 0 ? sampled->tid : (uint32_t)getpid(),
		.time = sampled->time_ns,
		.address = sampled->address,
		.period = 1000,
		.abi = PERF_SAMPLE_REGS_ABI_64,
		.rsi = sampled->rsi,
		.rdi = sampled->rdi,
		.rsp = sampled->rsp,
	};

	g_byte_array_append(self->records, (const guint8 *)&record, sizeof(record));
}

static const LodeLiveSample *give(Fixture *self, guint n_expected)
{
	lode_live_addresses_add(self->addresses, self->records->data, self->records->len);
	g_byte_array_set_size(self->records, 0);
	g_assert_cmpuint(self->samples->len, ==, n_expected);
	return (const LodeLiveSample *)self->samples->data;
}

static void test_rules(Fixture *self, const void *data)
{
	const uint64_t base = (uintptr_t)words;
	const Sampled all[] = {
		{.pc = known_code.load, .rdi = base, .time_ns = 1},
		{.pc = known_code.store, .rdi = base, .rsi = 3, .time_ns = 2},
		{.pc = known_code.forward, .rdi = base, .time_ns = 3},
	};

	(void)data;
	add_mappings(self);
	for (size_t i = 0; i < G_N_ELEMENTS(all); i++)
		add_sample(self, &all[i]);
	const LodeLiveSample *samples = give(self, 3);
	g_assert_cmpint(samples[0].rule, ==, LODE_RULE_AT_PC);
	g_assert_cmpint(samples[0].access, ==, LODE_ACCESS_LOAD);
	g_assert_cmphex(samples[0].address, ==, base + 16);
	g_assert_cmpstr(samples[0].function, ==, "known_load");
	g_assert_cmpfloat(samples[0].weight, ==, 1000);
	g_assert_cmpint(samples[1].access, ==, LODE_ACCESS_STORE);
	g_assert_cmphex(samples[1].address, ==, base + 24);
	g_assert_cmpint(samples[2].rule, ==, LODE_RULE_FORWARD);
	g_assert_cmphex(samples[2].address, ==, base + 40);
	g_assert_cmphex(samples[2].pc, >, (uintptr_t)known_code.forward);
	g_assert_nonnull(samples[0].mapping);
	g_assert_true(lode_live_addresses_is_by_time(self->addresses));
}

/* movsb loads and stores: two accesses, that share the weight. */
static void test_two_operands(Fixture *self, const void *data)
{
	const uint64_t base = (uintptr_t)words;
	const Sampled sampled = {
		.pc = known_code.copy, .rdi = base, .rsi = base + 100, .time_ns = 1};

	(void)data;
	add_mappings(self);
	add_sample(self, &sampled);
	const LodeLiveSample *samples = give(self, 2);
	uint8_t both = samples[0].access | samples[1].access;
	g_assert_cmpint(both, ==, LODE_ACCESS_LOAD | LODE_ACCESS_STORE);
	g_assert_cmphex(samples[0].address ^ samples[1].address, ==, base ^ (base + 100));
	g_assert_cmpfloat(samples[0].weight + samples[1].weight, ==, 1000);
	g_assert_cmpint(samples[1].operand, ==, 1);
}

static void test_reasons(Fixture *self, const void *data)
{
	const Sampled all[] = {
		{.pc = known_code.store,
			.rdi = (uintptr_t)constant,
			.time_ns = 1}, /* is read-only */
		{.pc = known_code.load, .rdi = 8, .time_ns = 2},
		{.pc = known_code.back, .time_ns = 3},
		{.pc = known_code.tls, .time_ns = 4},
		{.pc = (const char *)8, .time_ns = 5},
		{.pc = (const char *)words, .time_ns = 6},
		{.pc = known_code.load, .misc = PERF_RECORD_MISC_KERNEL, .time_ns = 7},
	};
	static const LodeAddressReason reasons[] = {
		LODE_REASON_INVALID_ADDRESS,
		LODE_REASON_INVALID_ADDRESS,
		LODE_REASON_BLOCKED,
		LODE_REASON_TLS,
		LODE_REASON_NOT_USER_CODE,
		LODE_REASON_NO_DECODE,
		LODE_REASON_NOT_USER_CODE,
	};

	(void)data;
	add_mappings(self);
	for (size_t i = 0; i < G_N_ELEMENTS(all); i++)
		add_sample(self, &all[i]);
	const LodeLiveSample *samples = give(self, G_N_ELEMENTS(all));
	for (size_t i = 0; i < G_N_ELEMENTS(all); i++) {
		g_assert_cmpint(samples[i].rule, ==, LODE_RULE_NONE);
		g_assert_cmpint(samples[i].reason, ==, reasons[i]);
		g_assert_cmphex(samples[i].address, ==, 0);
	}
}

/* An address of the hardware's stands; a page's first touch is no access to be counted. */
static void test_given_addresses(Fixture *self, const void *data)
{
	const Sampled known = {.pc = known_code.back, .address = 0x1234, .time_ns = 1};
	const Sampled fault = {
		.pc = known_code.load, .id = FAULT_ID, .address = 0x1234, .time_ns = 2};

	(void)data;
	add_mappings(self);
	add_sample(self, &known);
	add_sample(self, &fault);
	const LodeLiveSample *samples = give(self, 1);
	g_assert_cmpint(samples[0].rule, ==, LODE_RULE_HARDWARE);
	g_assert_cmphex(samples[0].address, ==, 0x1234);
	g_assert_cmpstr(samples[0].function, ==, "known_return");
	g_assert_null(samples[0].mapping);
}

/* The mappings' records have time 0, and stand behind the sample: another CPU wrote them. */
static void test_order(Fixture *self, const void *data)
{
	const Sampled late = {.pc = known_code.load, .rdi = (uintptr_t)words, .time_ns = 9};
	const Sampled early = {.pc = known_code.load, .rdi = (uintptr_t)(words + 8), .time_ns = 5};

	(void)data;
	add_sample(self, &late);
	add_mappings(self);
	add_sample(self, &early);
	const LodeLiveSample *samples = give(self, 2);
	g_assert_cmphex(samples[0].address, ==, (uintptr_t)(words + 10));
	g_assert_cmphex(samples[1].address, ==, (uintptr_t)(words + 2));
}

/* While jumps are being read that is the reason, which may be over at once; then a rule holds. */
static void test_not_yet_read(Fixture *self, const void *data)
{
	const Sampled sampled = {.pc = known_code.load, .rdi = (uintptr_t)words, .time_ns = 1};
	const LodeLiveAddressesOptions options = {
		.take = take,
		.user_data = self->samples,
		.charges_next_access = true,
	};

	(void)data;
	lode_live_addresses_free(self->addresses);
	self->addresses = lode_live_addresses_new(&options);
	add_event(self, PERF_COUNT_SW_PAGE_FAULTS_MIN, FAULT_ID);
	add_event(self, PERF_COUNT_SW_CPU_CLOCK, SAMPLE_ID);
	add_mappings(self);
	for (guint n = 1;; n++) {
		add_sample(self, &sampled);
		const LodeLiveSample *last = &give(self, n)[n - 1];
		if (last->rule == LODE_RULE_AT_PC)
			break;
		g_assert_cmpint(last->reason, ==, LODE_REASON_NOT_YET_READ);
		g_usleep(1000);
	}
}

/* No record told of anything, but /proc knows. */
static void test_ask(Fixture *self, const void *data)
{
	const Sampled sampled = {.pc = known_code.load, .rdi = (uintptr_t)words, .time_ns = 1};

	(void)data;
	add_sample(self, &sampled);
	g_assert_cmpint(give(self, 1)->rule, ==, LODE_RULE_AT_PC);
}

static void test_ask_nobody(Fixture *self, const void *data)
{
	const Sampled sampled = {.pc = known_code.load, .rdi = (uintptr_t)words, .time_ns = 1};

	(void)data;
	add_sample(self, &sampled);
	g_assert_cmpint(give(self, 1)->reason, ==, LODE_REASON_NOT_USER_CODE);
}

static void add_task(Fixture *self, uint32_t type, uint32_t tid, uint64_t time_ns)
{
	uint32_t pid = (uint32_t)getpid();
	const struct {
		struct perf_event_header header;
		uint32_t pid, parent_pid, tid, parent_tid;
		uint64_t time;
		uint32_t trailer_pid, trailer_tid;
		uint64_t trailer_time, trailer_cpu, trailer_id;
	} record = {
		.header = {type, 0, sizeof(record)},
		.pid = pid,
		.parent_pid = pid,
		.tid = tid,
		.parent_tid = pid,
		.time = time_ns,
		.trailer_time = time_ns,
		.trailer_id = SAMPLE_ID,
	};

	g_byte_array_append(self->records, (const guint8 *)&record, sizeof(record));
}

static void test_threads(Fixture *self, const void *data)
{
	/* Not by malloc(), which may take it from the heap. */
	void *memory = mmap(
		NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	g_assert_true(memory != MAP_FAILED);
	uint64_t anonymous = (uintptr_t)memory;
	const Sampled sampled = {.pc = known_code.load,
		.rdi = anonymous,
		.rsp = anonymous + 64,
		.time_ns = 3,
		.tid = OTHER_TID};
	const LodeThread *threads;

	(void)data;
	add_mappings(self);
	add_task(self, PERF_RECORD_FORK, OTHER_TID, 2);
	add_sample(self, &sampled);
	add_task(self, PERF_RECORD_EXIT, OTHER_TID, 4);
	add_task(self, PERF_RECORD_FORK, OTHER_TID, 5);
	const LodeLiveSample *samples = give(self, 1);
	munmap(memory, 1 << 20);
	const GArray *all = lode_live_addresses_threads(self->addresses);
	g_assert_cmpuint(all->len, ==, 3);
	threads = (const LodeThread *)all->data;
	g_assert_cmpuint(threads[0].ordinal, ==, 0);
	g_assert_cmpuint(samples[0].thread, ==, 1);
	g_assert_cmpuint(threads[1].ordinal, ==, 1);
	g_assert_cmpuint(threads[1].end_ns, ==, 4);
	g_assert_cmpuint(threads[2].ordinal, ==, 2);
	g_assert_cmpuint(threads[2].end_ns, ==, UINT64_MAX);
	/* Named as the process is, until it names itself. */
	g_assert_nonnull(threads[1].name);
	g_assert_cmpstr(threads[1].name, ==, threads[0].name);
	g_assert_cmpstr(samples[0].mapping, ==, "[stack of thread 1]");
}

static void test_cut_short(Fixture *self, const void *data)
{
	const Sampled sampled = {.pc = known_code.load, .rdi = (uintptr_t)words, .time_ns = 1};

	(void)data;
	add_mappings(self);
	add_sample(self, &sampled);
	g_autoptr(GByteArray) whole = g_byte_array_new();
	g_byte_array_append(whole, self->records->data, self->records->len);
	for (guint size = 0; size < 64; size++)
		lode_live_addresses_add(self->addresses, whole->data, whole->len - 1 - size);
	g_assert_cmpuint(lode_live_addresses_n_unreadable(self->addresses), ==, 64);
	g_assert_cmpuint(self->samples->len, ==, 0);
}

static void add_test(
	const char *path, const char *proc, void (*test)(Fixture *self, const void *data))
{
	g_test_add(path, Fixture, proc, set_up, test, tear_down);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	add_test("/live_addresses/rules", NULL, test_rules);
	add_test("/live_addresses/two_operands", NULL, test_two_operands);
	add_test("/live_addresses/reasons", NULL, test_reasons);
	add_test("/live_addresses/given_addresses", NULL, test_given_addresses);
	add_test("/live_addresses/order", NULL, test_order);
	add_test("/live_addresses/not_yet_read", NULL, test_not_yet_read);
	add_test("/live_addresses/ask", "/proc", test_ask);
	add_test("/live_addresses/ask_nobody", NULL, test_ask_nobody);
	add_test("/live_addresses/threads", NULL, test_threads);
	add_test("/live_addresses/cut_short", NULL, test_cut_short);
	return g_test_run();
}
