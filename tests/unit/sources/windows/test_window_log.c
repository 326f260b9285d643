/* SPDX-License-Identifier: MIT */
/* The reader gives the windows that were written, and no others where the log is damaged. */
#include "base/error.h"
#include "seeds.h"
#include "window_log_writer.h"

#include <string.h>

enum { PID = 7, MAX_STEPS = 200 };

typedef struct {
	LodeWindowHead head;
	LodeWindowStep *steps;
} Written;

static void written_clear(void *data)
{
	g_free(((Written *)data)->steps);
}

static uint64_t random_word(void)
{
	uint64_t word = (uint64_t)(uint32_t)random_int() << 32 | (uint32_t)random_int();

	return word >> random_int_range(0, 64);
}

static LodeWindowStep random_step(const LodeWindowStep *before, bool has_registers)
{
	LodeWindowStep step = *before;

	step.address += (uint64_t)random_int_range(-20, 20);
	if (random_int_range(0, 8) == 0)
		step.address = random_word();
	for (unsigned i = 0; has_registers && i < LODE_WINDOW_REGISTERS; i++)
		if (random_int_range(0, 6) == 0)
			step.registers[i] = random_bit() ? random_word() : step.registers[i] + 8;
	step.raised = random_int_range(0, 9) == 0 ? (uint8_t)random_int_range(1, 64) : 0;
	step.is_gap = random_int_range(0, 30) == 0;
	return step;
}

static Written random_window(uint64_t begin_ns)
{
	Written written = {
		.head =
			{
				.n_steps = (uint32_t)random_int_range(1, MAX_STEPS),
				.tid = (uint32_t)random_int(),
				.end = (uint8_t)random_int_range(0, LODE_N_WINDOW_ENDS),
				.flags = (uint8_t)random_int_range(0, 4),
				.begin_ns = begin_ns,
				.end_ns = begin_ns + (uint64_t)random_int_range(0, 1000000),
				.thread_pointer = random_word(),
			},
		.steps = g_new0(LodeWindowStep, MAX_STEPS),
	};
	bool has_registers = (written.head.flags & LODE_WINDOW_HAS_REGISTERS) != 0;
	LodeWindowStep before = {0};

	for (uint32_t i = 0; i < written.head.n_steps; i++)
		before = written.steps[i] = random_step(&before, has_registers);
	return written;
}

static GBytes *write_windows(GArray *out_windows, unsigned n)
{
	g_auto(WindowLogWriter) writer = {0};

	window_log_init(&writer, PID);
	for (unsigned i = 0; i < n; i++) {
		Written window = random_window(i * UINT64_C(2000000));
		window_log_begin(&writer, &window.head);
		for (uint32_t k = 0; k < window.head.n_steps; k++)
			window_log_add(&writer, &window.steps[k]);
		window_log_end(&writer);
		window.head.size = writer.head.size;
		g_array_append_val(out_windows, window);
	}
	return window_log_finish(&writer);
}

static LodeWindowLog *open_log(GBytes *bytes)
{
	g_autoptr(GError) error = NULL;
	LodeWindowLog *log = lode_window_log_new(bytes, "a.log", &error);

	g_assert_no_error(error);
	g_assert_nonnull(log);
	return log;
}

static void check_step(const LodeWindowStep *step, const LodeWindowStep *expected)
{
	g_assert_cmphex(step->address, ==, expected->address);
	g_assert_true(memcmp(step->registers, expected->registers, sizeof(step->registers)) == 0);
	g_assert_cmphex(step->raised, ==, expected->raised);
	g_assert_true(step->is_gap == expected->is_gap);
}

static void check_window(LodeWindow *window, const Written *expected)
{
	g_assert_true(memcmp(&window->head, &expected->head, sizeof(window->head)) == 0);
	for (uint32_t k = 0; k < expected->head.n_steps; k++) {
		g_assert_true(lode_window_next(window));
		check_step(&window->step, &expected->steps[k]);
	}
	g_assert_false(lode_window_next(window));
}

static GArray *new_windows(void)
{
	GArray *windows = g_array_new(FALSE, FALSE, sizeof(Written));

	g_array_set_clear_func(windows, written_clear);
	return windows;
}

static void test_round_trip(void)
{
	for (unsigned round = 0; round < random_rounds(30, 3000); round++) {
		g_autoptr(GArray) windows = new_windows();
		g_autoptr(GBytes) bytes = write_windows(windows, (unsigned)random_int_range(0, 6));
		g_autoptr(LodeWindowLog) log = open_log(bytes);
		LodeWindow window;
		g_assert_cmpuint(lode_window_log_header(log)->pid, ==, PID);
		g_assert_cmpuint(lode_window_log_header(log)->n_windows, ==, windows->len);
		for (unsigned pass = 0; pass < 2; pass++, lode_window_log_rewind(log)) {
			for (guint i = 0; i < windows->len; i++) {
				g_assert_true(lode_window_log_next(log, &window));
				check_window(&window, &g_array_index(windows, Written, i));
			}
			g_assert_false(lode_window_log_next(log, &window));
			g_assert_cmpuint(lode_window_log_damaged(log), ==, 0);
		}
	}
}

/* A log that ends anywhere has the windows that are whole before that. */
static void test_cut_short(void)
{
	g_autoptr(GArray) windows = new_windows();
	g_autoptr(GBytes) bytes = write_windows(windows, 4);

	for (size_t size = 0; size <= g_bytes_get_size(bytes); size++) {
		g_autoptr(GBytes) part = g_bytes_new_from_bytes(bytes, 0, size);
		g_autoptr(GError) error = NULL;
		g_autoptr(LodeWindowLog) log = lode_window_log_new(part, "a.log", &error);
		size_t at = LODE_WINDOW_LOG_PAGE;
		guint n = 0;
		LodeWindow window;
		if (size < LODE_WINDOW_LOG_PAGE) {
			g_assert_error(error, LODE_ERROR, LODE_ERROR_CORRUPT);
			continue;
		}
		g_assert_no_error(error);
		while (lode_window_log_next(log, &window)) {
			check_window(&window, &g_array_index(windows, Written, n));
			at += g_array_index(windows, Written, n++).head.size;
		}
		g_assert_cmpuint(at, <=, size);
		g_assert_true(n == windows->len ||
			      at + g_array_index(windows, Written, n).head.size > size);
		g_assert_cmpuint(lode_window_log_damaged(log), ==, g_bytes_get_size(bytes) - at);
	}
}

static uint64_t read_all(GBytes *bytes)
{
	g_autoptr(LodeWindowLog) log = lode_window_log_new(bytes, "a.log", NULL);
	uint64_t n_steps = 0;
	LodeWindow window;

	while (log != NULL && lode_window_log_next(log, &window))
		while (lode_window_next(&window))
			n_steps++;
	return n_steps;
}

/* Whatever is changed: no more steps than bytes, and an end. */
static void test_damaged(void)
{
	for (unsigned round = 0; round < random_rounds(300, 30000); round++) {
		g_autoptr(GArray) windows = new_windows();
		g_autoptr(GBytes) whole = write_windows(windows, 3);
		gsize size;
		guint8 *bytes = g_bytes_unref_to_data(g_steal_pointer(&whole), &size);
		for (int i = random_int_range(1, 9); i > 0; i--) {
			/* most often in the windows */
			gsize from = random_int_range(0, 4) == 0 ? 0 : LODE_WINDOW_LOG_PAGE;
			gsize at = from + (gsize)random_int_range(0, (gint32)(size - from));
			bytes[at] ^= (guint8)(1 << random_int_range(0, 8));
		}
		g_autoptr(GBytes) damaged = g_bytes_new_take(bytes, size);
		g_assert_cmpuint(read_all(damaged), <=, size);
	}
}

static void check_refused(const WindowLogWriter *writer, int code)
{
	g_autoptr(GBytes) bytes = window_log_finish((WindowLogWriter *)writer);
	g_autoptr(GError) error = NULL;

	g_assert_null(lode_window_log_new(bytes, "a.log", &error));
	g_assert_error(error, LODE_ERROR, code);
	g_assert_true(g_str_has_prefix(error->message, "a.log: "));
}

static void test_headers(void)
{
	g_auto(WindowLogWriter) writer = {0};

	window_log_init(&writer, PID);
	LodeWindowLogHeader header = writer.header;
	writer.header.magic[0] = 'L', check_refused(&writer, LODE_ERROR_CORRUPT);
	writer.header = header;
	writer.header.version = 4, check_refused(&writer, LODE_ERROR_UNSUPPORTED);
	writer.header = header;
	writer.header.page = 8, check_refused(&writer, LODE_ERROR_CORRUPT);
	writer.header.page = 4100, check_refused(&writer, LODE_ERROR_CORRUPT);
	writer.header.page = UINT32_MAX / 8 * 8, check_refused(&writer, LODE_ERROR_CORRUPT);
	writer.header = header;
	writer.header.used = 4088, check_refused(&writer, LODE_ERROR_CORRUPT);
}

/* A head that no window has ends the log there. */
static void check_head(void (*change)(LodeWindowHead *head))
{
	g_auto(WindowLogWriter) writer = {0};
	const LodeWindowHead head = {.tid = PID, .begin_ns = 5, .end_ns = 9};
	const LodeWindowStep step = {.address = 100};
	LodeWindow window;

	window_log_init(&writer, PID);
	window_log_begin(&writer, &head);
	window_log_add(&writer, &step);
	window_log_end(&writer);
	change((LodeWindowHead *)(void *)(writer.bytes->data + LODE_WINDOW_LOG_PAGE));
	g_autoptr(GBytes) bytes = window_log_finish(&writer);
	g_autoptr(LodeWindowLog) log = open_log(bytes);
	g_assert_false(lode_window_log_next(log, &window));
	g_assert_cmpuint(
		lode_window_log_damaged(log), ==, writer.bytes->len - LODE_WINDOW_LOG_PAGE);
}

static void make_empty(LodeWindowHead *head)
{
	head->n_steps = 0;
}

static void make_full(LodeWindowHead *head)
{
	head->n_steps = LODE_WINDOW_MAX_STEPS + 1;
}

static void make_short(LodeWindowHead *head)
{
	head->size = sizeof(*head) - 8;
}

static void make_long(LodeWindowHead *head)
{
	head->size += 8;
}

static void make_odd(LodeWindowHead *head)
{
	head->size -= 1;
}

static void make_endless(LodeWindowHead *head)
{
	head->end = LODE_N_WINDOW_ENDS;
}

static void make_backward(LodeWindowHead *head)
{
	head->end_ns = head->begin_ns - 1;
}

static void test_heads(void)
{
	check_head(make_empty);
	check_head(make_full);
	check_head(make_short);
	check_head(make_long);
	check_head(make_odd);
	check_head(make_endless);
	check_head(make_backward);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	add_random_test("/window-log/round-trip", test_round_trip,
		"R02S5f1d6c2ab84e09d73a61c58e20f7b94d", "R02S0a9be37c41d258f66e93b1c7d4805f2a",
		NULL);
	g_test_add_func("/window-log/cut-short", test_cut_short);
	add_random_test("/window-log/damaged", test_damaged, "R02Sc3e8a1f07b6d49258d14f09ce7b3a265",
		"R02S71f0d2b96ac34e8854b7e1390dfc862a", NULL);
	g_test_add_func("/window-log/headers", test_headers);
	g_test_add_func("/window-log/heads", test_heads);
	return g_test_run();
}
