/* SPDX-License-Identifier: MIT */
/*
 * Logs of heaps that are simulated: objects are allocated, moved and dropped at random, and walks
 * show some of them. No answer may be wrong, and there must be one where a walk had the object.
 */
#include "sources/allocations/heap_log.h"

#include "base/error.h"
#include "seeds.h"

#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

enum {
	NAME = 1,
	MOVE,
	WALK,
	BLOCK,
	RANGE,
	SITE,
	SAMPLES,
	PID = 7,
	BASE = 0x10000,
	BEGIN = 1000,
	CLASSES = 3
};

static void put(GByteArray *self, const void *bytes, size_t size)
{
	g_byte_array_append(self, bytes, (guint)size);
}

static void put_u64(GByteArray *self, uint64_t value)
{
	value = GUINT64_TO_LE(value);
	put(self, &value, sizeof(value));
}

static void put_u32(GByteArray *self, uint32_t value)
{
	value = GUINT32_TO_LE(value);
	put(self, &value, sizeof(value));
}

static void put_number(GByteArray *self, uint64_t value)
{
	for (; value >= 128; value >>= 7)
		put(self, &(uint8_t){(uint8_t)(value | 128)}, 1);
	put(self, &(uint8_t){(uint8_t)value}, 1);
}

static void put_record(GByteArray *self, uint32_t type, const GByteArray *payload)
{
	put_u32(self, type);
	put_u32(self, payload->len + 8);
	if (payload->len > 0)
		put(self, payload->data, payload->len);
}

static void put_times(GByteArray *self, uint32_t type, uint64_t first, uint64_t second, size_t n)
{
	g_autoptr(GByteArray) payload = g_byte_array_new();

	put_u64(payload, first);
	if (n > 1)
		put_u64(payload, second);
	put_record(self, type, payload);
}

static GByteArray *begin_log(void)
{
	static const char heap[16] = "[Java heap]";
	GByteArray *log = g_byte_array_new();

	put(log, "lodeheap", 8);
	put_u32(log, 1);
	put_u32(log, PID);
	put_u64(log, BEGIN);
	put_u64(log, 0);
	put(log, heap, sizeof(heap));
	for (uint32_t i = 1; i <= CLASSES; i++) {
		g_autoptr(GByteArray) name = g_byte_array_new();
		char text[] = "class ?";
		text[6] = (char)('0' + i);
		put_u32(name, i);
		put(name, text, strlen(text));
		put_record(log, NAME, name);
	}
	return log;
}

static void put_site(
	GByteArray *log, uint32_t number, uint32_t interval, const char *text, size_t size)
{
	g_autoptr(GByteArray) payload = g_byte_array_new();

	put_u32(payload, number);
	put_u32(payload, interval);
	put(payload, text, size);
	put_record(log, SITE, payload);
}

static LodeHeapLog *read_bytes(const void *bytes, size_t size, GError **error)
{
	g_autofree char *path = NULL;
	int fd = g_file_open_tmp("lode-heap-XXXXXX", &path, NULL);
	LodeHeapLog *log;

	g_assert_cmpint(write(fd, bytes, size), ==, (gssize)size);
	close(fd);
	log = lode_heap_log_read(path, error);
	g_unlink(path);
	return log;
}

typedef struct {
	uint32_t id, class;
	uint64_t address, size;
} Object;

typedef struct {
	GRand *random;
	GArray *objects; /* Object, by address */
	uint64_t top;
	uint32_t n_ids;
	GPtrArray *history; /* GArray of Object, at each time */
	GByteArray *log;
	GArray *covered; /* bool for each time and unit: a walk of this epoch, then or later, has it
	                  */
	guint epoch_start;
	guint last_move; /* the time at which the last collection was */
} Simulation;

enum { STEPS = 120, UNITS = 512 };

static void allocate(Simulation *self)
{
	Object object = {
		.id = ++self->n_ids,
		.class = (uint32_t)g_rand_int_range(self->random, 1, CLASSES + 1),
		.address = self->top,
		.size = 8 * (uint64_t)g_rand_int_range(self->random, 1, 6),
	};

	if (self->top + object.size > BASE + 8 * UNITS)
		return;
	g_array_append_val(self->objects, object);
	self->top += object.size;
}

/* Some survive where they are, up to a random one; the rest that survive are moved together. */
static void collect(Simulation *self, guint time)
{
	guint n_staying = self->objects->len > 0 ? (guint)g_rand_int_range(self->random, 0,
							   (gint)self->objects->len)
	                                         : 0;
	guint n = 0;

	for (guint i = 0; i < self->objects->len; i++) {
		Object object = g_array_index(self->objects, Object, i);
		if (i >= n_staying && g_rand_boolean(self->random))
			continue;
		if (i >= n_staying && n > 0) {
			const Object *last = &g_array_index(self->objects, Object, n - 1);
			object.address = last->address + last->size;
		} else if (i >= n_staying) {
			object.address = BASE;
		}
		g_array_index(self->objects, Object, n++) = object;
	}
	g_array_set_size(self->objects, n);
	self->top = n > 0 ? g_array_index(self->objects, Object, n - 1).address +
	                            g_array_index(self->objects, Object, n - 1).size
	                  : BASE;
	put_times(self->log, MOVE, BEGIN + 10 * time, BEGIN + 10 * time, 2);
	self->last_move = time;
}

static void write_block(Simulation *self, guint from, guint to)
{
	g_autoptr(GByteArray) payload = g_byte_array_new();
	const Object *first = &g_array_index(self->objects, Object, from);

	put_u64(payload, first->address);
	put_u64(payload, first->id);
	for (guint i = from, n; i < to; i += n) {
		const Object *at = &g_array_index(self->objects, Object, i);
		for (n = 1; i + n < to && at[n].class == at->class && at[n].size == at->size; n++)
			;
		put_number(payload, at->class);
		put_number(payload, at->size / 8);
		put_number(payload, n);
	}
	put_record(self->log, BLOCK, payload);
}

/* Objects of odd numbers are sampled, at one of two sites. */
static bool is_sampled(const Object *object)
{
	return object->id % 2 == 1;
}

static void write_samples(Simulation *self)
{
	g_autoptr(GByteArray) payload = g_byte_array_new();
	uint64_t last = 0;

	for (guint i = 0; i < self->objects->len; i++) {
		const Object *at = &g_array_index(self->objects, Object, i);
		if (!is_sampled(at))
			continue;
		put_number(payload, (at->address - last) / 8);
		put_number(payload, 1 + at->id / 2 % 2);
		last = at->address;
	}
	put_record(self->log, SAMPLES, payload);
}

/* Blocks of some objects; a few are left out. */
static void walk(Simulation *self, guint time)
{
	put_times(self->log, WALK, BEGIN + 10 * time, 0, 1);
	write_samples(self);
	for (guint from = 0, to; from < self->objects->len; from = to) {
		to = from + (guint)g_rand_int_range(self->random, 1, 9);
		to = MIN(to, self->objects->len);
		if (g_rand_int_range(self->random, 0, 4) == 0)
			continue;
		write_block(self, from, to);
		const Object *first = &g_array_index(self->objects, Object, from);
		const Object *last = &g_array_index(self->objects, Object, to - 1);
		for (uint64_t at = first->address; at < last->address + last->size; at += 8)
			g_array_index(
				self->covered, bool, time *UNITS + (guint)(at - BASE) / 8) = true;
	}
}

static const Object *object_at(const GArray *objects, uint64_t address)
{
	for (guint i = 0; i < objects->len; i++) {
		const Object *at = &g_array_index(objects, Object, i);
		if (address >= at->address && address < at->address + at->size)
			return at;
	}
	return NULL;
}

/* Gives whether there was an answer. */
static bool check_address(
	const Simulation *self, const LodeHeapLog *log, guint time, uint64_t address)
{
	const Object *truth = object_at(self->history->pdata[time], address);
	LodeHeapObject found;

	if (!lode_heap_log_find(log, address, BEGIN + 10 * time + 5, &found))
		return false;
	/* memory that nothing has been allocated in yet is not accessed */
	if (truth == NULL)
		return true;
	g_assert_cmpint(found.name[6], ==, '0' + (int)truth->class);
	g_assert_cmpuint(found.address, ==, truth->address);
	g_assert_cmpuint(found.size, ==, truth->size);
	g_assert_true((found.site != NULL) == is_sampled(truth));
	if (found.site == NULL)
		return true;
	g_assert_cmpuint(found.site->interval, ==, 1024U << truth->id / 2 % 2);
	g_assert_cmpstr(
		found.site->name, ==, truth->id / 2 % 2 == 0 ? "new@A.java:1" : "new@B.java:2");
	g_assert_cmpstr(found.site->stack, ==, truth->id / 2 % 2 == 0 ? NULL : "B.make() B.java:2");
	return true;
}

static GByteArray *simulate(Simulation *self, guint32 seed)
{
	self->random = g_rand_new_with_seed(seed);
	self->objects = g_array_new(FALSE, FALSE, sizeof(Object));
	self->history = g_ptr_array_new_with_free_func((GDestroyNotify)g_array_unref);
	self->covered = g_array_new(FALSE, TRUE, sizeof(bool));
	g_array_set_size(self->covered, STEPS * UNITS);
	self->top = BASE;
	self->log = begin_log();
	put_site(self->log, 1, 1024, "new@A.java:1", 12);
	put_site(self->log, 2, 2048, "new@B.java:2\0B.make() B.java:2", 30);
	for (guint time = 0; time < STEPS; time++) {
		int kind = g_rand_int_range(self->random, 0, 10);
		if (kind == 0)
			collect(self, time);
		else if (kind < 4)
			walk(self, time);
		else
			for (int i = 0; i < 4; i++)
				allocate(self);
		g_ptr_array_add(self->history, g_array_copy(self->objects));
	}
	return self->log;
}

static void end_simulation(Simulation *self)
{
	g_rand_free(self->random);
	g_array_unref(self->objects);
	g_array_unref(self->covered);
	g_ptr_array_unref(self->history);
	g_byte_array_unref(self->log);
}

static void test_simulated(void)
{
	guint n_answers = 0, n_agreeing = 0, rounds = random_rounds(20, 200);

	for (guint32 seed = 1; seed <= rounds; seed++) {
		Simulation simulation = {0};
		GByteArray *bytes = simulate(&simulation, seed);
		g_autoptr(GError) error = NULL;
		g_autoptr(LodeHeapLog) log = read_bytes(bytes->data, bytes->len, &error);

		g_assert_no_error(error);
		for (guint time = 0; time < STEPS; time++)
			for (guint unit = 0; unit < UNITS; unit++) {
				bool has_answer = check_address(
					&simulation, log, time, BASE + 8 * unit + 3);
				bool was_seen = g_array_index(
					simulation.covered, bool, time *UNITS + unit);
				g_assert_true(has_answer || !was_seen);
				n_answers += has_answer;
				n_agreeing += has_answer && !was_seen;
			}
		end_simulation(&simulation);
	}
	g_assert_cmpuint(n_answers, >, 2500 * rounds);
	g_assert_cmpuint(n_agreeing, >, 250 * rounds);
}

/* A log that ends early is right up to its end, and has no answers after it. */
static void test_cut(void)
{
	Simulation simulation = {0};
	GByteArray *bytes = simulate(&simulation, 99);
	guint step = 29 * 100 / random_rounds(100, 100 * 29);

	for (guint size = 0; size < bytes->len; size += step) {
		g_autoptr(GError) error = NULL;
		g_autoptr(LodeHeapLog) log = read_bytes(bytes->data, size, &error);

		if (log == NULL) {
			g_assert_true(error != NULL && size < 12);
			continue;
		}
		/* between two records nothing tells that it is cut: the process was killed */
		for (guint time = 0; time < STEPS && lode_heap_log_is_cut(log); time++)
			for (guint unit = 0; unit < UNITS; unit++)
				check_address(&simulation, log, time, BASE + 8 * unit);
	}
	end_simulation(&simulation);
}

static void test_garbage(void)
{
	Simulation simulation = {0};
	GByteArray *bytes = simulate(&simulation, 5);
	g_autoptr(GRand) random = g_rand_new_with_seed(1);

	for (guint i = random_rounds(400, 4000); i > 0; i--) {
		g_autofree uint8_t *copy = g_memdup2(bytes->data, bytes->len);
		g_autoptr(GError) error = NULL;
		LodeHeapObject found;

		for (guint k = 0; k < 20; k++)
			copy[g_rand_int_range(random, 12, (gint)bytes->len)] = (uint8_t)g_rand_int(
				random);
		g_autoptr(LodeHeapLog) log = read_bytes(copy, bytes->len, &error);
		g_assert_true((log == NULL) == (error != NULL));
		for (guint unit = 0; log != NULL && unit < UNITS; unit++)
			lode_heap_log_find(log, BASE + 8 * unit, BEGIN + unit, &found);
	}
	end_simulation(&simulation);
}

static void put_object(GByteArray *log, uint64_t address, uint32_t class, uint64_t size)
{
	g_autoptr(GByteArray) payload = g_byte_array_new();

	put_u64(payload, address);
	put_u64(payload, 0);
	put_number(payload, class);
	put_number(payload, size / 8);
	put_number(payload, 1);
	put_record(log, BLOCK, payload);
}

/* One object at 0x100000 in two walks, with a move in between; later memory there is of another. */
static void test_alone(void)
{
	const LodeHeapMemory memory = {0x100000, 0x110000, BEGIN + 5, BEGIN + 100},
			     wide = {0x100000, 0x200000, BEGIN + 5, BEGIN + 100},
			     longer = {0x100000, 0x110000, BEGIN + 5, UINT64_MAX},
			     later = {0x100000, 0x110000, BEGIN + 100, UINT64_MAX},
			     heap = {BASE, BASE + 4096, BEGIN, UINT64_MAX};
	g_autoptr(GByteArray) bytes = begin_log();
	g_autoptr(GError) error = NULL;
	LodeHeapObject found;

	put_times(bytes, RANGE, BASE, BASE + 4096, 2);
	put_times(bytes, WALK, BEGIN + 20, 0, 1);
	put_object(bytes, BASE, 3, 4096);
	put_object(bytes, 0x100000, 1, 0xf000);
	put_times(bytes, MOVE, BEGIN + 30, BEGIN + 30, 2);
	put_times(bytes, WALK, BEGIN + 40, 0, 1);
	put_object(bytes, 0x100000, 1, 0xf000);
	put_times(bytes, WALK, BEGIN + 120, 0, 1);
	put_object(bytes, 0x100000, 2, 0xf000);
	g_autoptr(LodeHeapLog) log = read_bytes(bytes->data, bytes->len, &error);
	g_assert_no_error(error);
	g_assert_true(lode_heap_log_find_alone(log, &memory, 0x10eff8, &found));
	g_assert_cmpstr(found.name, ==, "class 1");
	g_assert_cmphex(found.address, ==, 0x100000);
	g_assert_false(lode_heap_log_find_alone(log, &memory, 0x10f000, &found));
	g_assert_false(lode_heap_log_find_alone(log, &wide, 0x100008, &found));
	g_assert_false(lode_heap_log_find_alone(log, &longer, 0x100008, &found));
	g_assert_true(lode_heap_log_find_alone(log, &later, 0x100008, &found));
	g_assert_cmpstr(found.name, ==, "class 2");
	g_assert_false(lode_heap_log_find_alone(log, &heap, BASE, &found));
}

static void test_header(void)
{
	g_autoptr(GByteArray) bytes = begin_log();
	g_autoptr(GError) error = NULL;

	put_times(bytes, RANGE, BASE, BASE + 4096, 2);
	g_autoptr(LodeHeapLog) log = read_bytes(bytes->data, bytes->len, &error);
	g_assert_no_error(error);
	g_assert_true(lode_heap_log_is_format((const char *)bytes->data, bytes->len));
	g_assert_cmpuint(lode_heap_log_pid(log), ==, PID);
	g_assert_cmpuint(lode_heap_log_begin_ns(log), ==, BEGIN);
	g_assert_cmpstr(lode_heap_log_name(log), ==, "[Java heap]");
	g_assert_true(lode_heap_log_is_in(log, BASE + 4095, BASE + 8192));
	g_assert_false(lode_heap_log_is_in(log, BASE + 4096, BASE + 8192));
	bytes->data[8] = 2;
	g_assert_null(read_bytes(bytes->data, bytes->len, &error));
	g_assert_error(error, LODE_ERROR, LODE_ERROR_UNSUPPORTED);
	g_clear_error(&error);
	put_times(bytes, 77, 0, 0, 1);
	bytes->data[8] = 1;
	g_assert_null(read_bytes(bytes->data, bytes->len, &error));
	g_assert_error(error, LODE_ERROR, LODE_ERROR_CORRUPT);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/heap_log/simulated", test_simulated);
	g_test_add_func("/heap_log/cut", test_cut);
	g_test_add_func("/heap_log/garbage", test_garbage);
	g_test_add_func("/heap_log/alone", test_alone);
	g_test_add_func("/heap_log/header", test_header);
	return g_test_run();
}
