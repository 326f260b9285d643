/* SPDX-License-Identifier: MIT */
#include "record/programs/v8_survey.h"

#include "base/arrays/partition_point.h"
#include "base/arrays/sort_order.h"
#include "base/bits.h"
#include "base/monotonic_clock.h"
#include "base/text/maps_line.h"
#include "images/elf/elf_file.h"
#include "sources/allocations/heap_log_format.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum {
	FIRST_US = G_USEC_PER_SEC / 4,
	INTERVAL_US = G_USEC_PER_SEC / 2,
	COST_FACTOR = 20,   /* the pause after a walk is so many times as long */
	BLOCK_BYTES = 4096, /* of objects that are compared together */
	PAGE = 1 << 18,     /* V8's page size and alignment */
	MAX_NAME = 256,
	MAX_SYMBOLS = 1 << 20,
	MAX_CHAIN = 256, /* of maps, from transition to transition */
	MAX_DATA = 1 << 16,
	TAG_MASK = 3,
	TAG = 1,
};

#define MAX_WALK_BYTES ((uint64_t)512 << 20)
#define MAX_LOG_BYTES ((uint64_t)256 << 20)

/* The symbols v8dbg_…, by name without that prefix. */
typedef struct {
	GHashTable *values;     /* char * → int32_t */
	GHashTable *type_names; /* type of an instance → "FixedArray" */
	int32_t instance_type, constructor, shared, shared_name, chars, length;
	int32_t first_non_string, string_mask, one_byte, shared_type;
	int32_t data, data_bytes, external, external_bytes, buffer_type, array_type;
} Layout;

typedef struct {
	uint64_t start, end;
	uint64_t offset; /* in the walk's bytes */
} Mapped;

typedef struct {
	uint64_t address, size;
	uint32_t name;
	bool is_buffer; /* of an ArrayBuffer */
} Found;

/* A set of tagged addresses. `pages` has a bit for pages that hold one: most words point to no such
 * page, and need no look-up. */
typedef struct {
	GHashTable *values; /* tagged address → a value of the user's, not 0 */
	uint64_t pages[1 << 10];
} Wanted;

typedef struct {
	pid_t pid;
	Layout layout;
	FILE *file;         /* NULL: the process is not read, or no longer */
	GHashTable *names;  /* text → number + 1 */
	Wanted maps;        /* of this walk → number of the name + 1 */
	GHashTable *ranges; /* written: start → end */
	uint64_t n_written;
	GArray *mapped; /* Mapped, of this walk, by start */
	uint8_t *bytes;
	uint64_t meta;   /* the tagged map of maps */
	GArray *objects; /* Found, of the heap */
} Process;

struct LodeV8Survey {
	char *directory;
	GHashTable *processes; /* pid → Process */
	GThread *thread;
	GArray *pids;    /* for the thread */
	gint is_running; /* atomic */
	gint64 due_us;   /* written by the thread before is_running */
};

static uint64_t now_ns(void)
{
	return (uint64_t)g_get_monotonic_time() * 1000;
}

/* --- V8's published symbols --- */

/* The value of a symbol, from the file; 0 if it has no bytes there. */
static int32_t value_of(const LodeElfFile *file, const Elf64_Sym *symbol)
{
	int32_t value;

	return lode_elf_file_read_loaded(file, symbol->st_value, &value, sizeof(value)) ? value : 0;
}

static void take_symbol(
	Layout *self, const LodeElfFile *file, const char *name, const Elf64_Sym *symbol)
{
	static const char prefix[] = "v8dbg_", type[] = "type_";
	int32_t value;

	if (name == NULL || !g_str_has_prefix(name, prefix))
		return;
	name += strlen(prefix);
	value = value_of(file, symbol);
	g_hash_table_insert(self->values, g_strdup(name), GINT_TO_POINTER(value));
	const char *end = strstr(name, "__");
	if (g_str_has_prefix(name, type) && end != NULL)
		g_hash_table_insert(self->type_names, GINT_TO_POINTER(value),
			g_strndup(name + strlen(type), (gsize)(end - name) - strlen(type)));
}

static void read_symbols(Layout *self, const LodeElfFile *file)
{
	const LodeElfSection *table = lode_elf_file_find_type(file, SHT_DYNSYM);
	LodeElfSymbols symbols;

	if (table == NULL || !lode_elf_file_symbols(file, table, &symbols))
		return;
	for (size_t i = 1; i < MIN(symbols.n, MAX_SYMBOLS); i++)
		take_symbol(self, file, lode_elf_symbol_name(&symbols, &symbols.all[i]),
			&symbols.all[i]);
}

/* False: this V8 does not publish all that is needed here. */
static bool find_offsets(Layout *self)
{
	const struct {
		const char *name;
		int32_t *out;
	} wanted[] = {
		{"class_Map__instance_type__uint16_t", &self->instance_type},
		{"class_Map__constructor_or_back_pointer__Object", &self->constructor},
		{"class_JSFunction__shared__SharedFunctionInfo", &self->shared},
		{"class_SharedFunctionInfo__name_or_scope_info__Object", &self->shared_name},
		{"class_SeqOneByteString__chars__char", &self->chars},
		{"class_String__length__int32_t", &self->length},
		{"FirstNonstringType", &self->first_non_string},
		{"StringEncodingMask", &self->string_mask},
		{"OneByteStringTag", &self->one_byte},
		{"type_SharedFunctionInfo__SHARED_FUNCTION_INFO_TYPE", &self->shared_type},
		{"class_JSArrayBuffer__backing_store__uintptr_t", &self->data},
		{"class_JSArrayBuffer__byte_length__size_t", &self->data_bytes},
		{"class_JSTypedArray__external_pointer__uintptr_t", &self->external},
		{"class_JSArrayBufferView__byte_length__size_t", &self->external_bytes},
		{"type_JSArrayBuffer__JS_ARRAY_BUFFER_TYPE", &self->buffer_type},
		{"type_JSTypedArray__JS_TYPED_ARRAY_TYPE", &self->array_type},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(wanted); i++) {
		void *value;
		if (!g_hash_table_lookup_extended(self->values, wanted[i].name, NULL, &value) ||
			GPOINTER_TO_INT(value) < 0)
			return false;
		*wanted[i].out = GPOINTER_TO_INT(value);
	}
	return true;
}

static bool read_layout(Layout *self, const char *executable)
{
	g_autoptr(LodeElfFile) file = lode_elf_file_open_tables(executable, NULL);

	if (file != NULL && !file->is_32 && !file->is_big_endian)
		read_symbols(self, file);
	return find_offsets(self);
}

/* --- memory of the process, as it was read --- */

static const Mapped *mapped_at(const Process *self, uint64_t address)
{
	guint n = LODE_PARTITION_POINT(
		self->mapped->len, i, g_array_index(self->mapped, Mapped, i).start <= address);
	const Mapped *at = n > 0 ? &g_array_index(self->mapped, Mapped, n - 1) : NULL;

	return at != NULL && address < at->end ? at : NULL;
}

/* A word of the memory that was read; 0: it was not read. */
static uint64_t word_at(const Process *self, uint64_t address)
{
	const Mapped *at = mapped_at(self, address);
	uint64_t word = 0;

	if (at != NULL && at->end - address >= sizeof(word))
		memcpy(&word, self->bytes + at->offset + (address - at->start), sizeof(word));
	return word;
}

static uint64_t field(const Process *self, uint64_t tagged, int32_t offset)
{
	return word_at(self, tagged - TAG + (uint64_t)offset);
}

static bool is_pointer(uint64_t word)
{
	return (word & TAG_MASK) == TAG && word > TAG;
}

static uint32_t instance_type(const Process *self, uint64_t map)
{
	uint64_t address = map - TAG + (uint64_t)self->layout.instance_type;

	return (uint32_t)(word_at(self, address & ~(uint64_t)7) >> (address % 8 * 8)) & 0xffff;
}

static void read_mapping(Process *self, const LodeMapsLine *line, GArray *mapped, uint64_t *inout_n)
{
	enum { AT_ONCE = 1 << 20 };

	for (uint64_t at = line->start; at < line->end && *inout_n < MAX_WALK_BYTES;
		at += AT_ONCE) {
		size_t size = MIN(AT_ONCE, line->end - at);
		struct iovec local = {self->bytes + *inout_n, size};
		struct iovec remote = {(void *)(uintptr_t)at, size};
		ssize_t n = *inout_n + size <= MAX_WALK_BYTES
		                    ? process_vm_readv(self->pid, &local, 1, &remote, 1, 0)
		                    : -1;
		if (n < 8)
			return;
		const Mapped row = {at, at + (uint64_t)n / 8 * 8, *inout_n};
		Mapped *last = mapped->len > 0 ? &g_array_index(mapped, Mapped, mapped->len - 1)
		                               : NULL;
		if (last != NULL && last->end == row.start &&
			last->offset + (last->end - last->start) == row.offset)
			last->end = row.end;
		else
			g_array_append_val(mapped, row);
		*inout_n += (uint64_t)n / 8 * 8;
	}
}

/* Reads the mappings for data that have neither file nor name, so not the C library's heap. */
static void read_memory(Process *self)
{
	g_autofree char *path = g_strdup_printf("/proc/%d/maps", (int)self->pid);
	g_autofree char *text = NULL;
	uint64_t n = 0;

	g_array_set_size(self->mapped, 0);
	if (!g_file_get_contents(path, &text, NULL, NULL))
		return;
	g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
	for (size_t i = 0; lines[i] != NULL; i++) {
		LodeMapsLine line;
		if (lode_maps_line_read(lines[i], &line) && line.inode == 0 &&
			line.access[0] == 'r' && line.access[2] != 'x' &&
			lines[i][line.path] == '\0')
			read_mapping(self, &line, self->mapped, &n);
	}
}

/* --- names --- */

static char *read_string(const Process *self, uint64_t tagged)
{
	uint32_t type = is_pointer(tagged) ? instance_type(self, field(self, tagged, 0)) : 0xffff;
	uint64_t length = field(self, tagged, self->layout.length / 8 * 8) >>
	                  (self->layout.length % 8 * 8);
	GString *text;

	length &= 0xffffffff;
	if (type >= (uint32_t)self->layout.first_non_string ||
		(type & (uint32_t)self->layout.string_mask) != (uint32_t)self->layout.one_byte ||
		length == 0 || length > MAX_NAME)
		return NULL;
	text = g_string_new(NULL);
	for (uint64_t i = 0; i < length; i++) {
		uint64_t at = tagged - TAG + (uint64_t)self->layout.chars + i;
		char character = (char)(word_at(self, at & ~(uint64_t)7) >> (at % 8 * 8));
		if (!g_ascii_isalnum(character) && character != '_' && character != '$') {
			g_string_free(text, TRUE);
			return NULL;
		}
		g_string_append_c(text, character);
	}
	return g_string_free(text, FALSE);
}

/* The name of an object that may be a function, of which there are several types: its own, or that
 * in its scope, which comes after those of local variables. NULL: not a function, or no name. */
static char *function_name(const Process *self, uint64_t function)
{
	enum { N_LOCALS = 24, FIRST = 32, SLOTS = 24 };
	uint64_t shared = field(self, function, self->layout.shared);
	bool is_function = is_pointer(shared) && instance_type(self, field(self, shared, 0)) ==
	                                                 (uint32_t)self->layout.shared_type;
	uint64_t holder = is_function ? field(self, shared, self->layout.shared_name) : 0;
	char *name = is_pointer(holder) ? read_string(self, holder) : NULL;

	if (name != NULL || !is_pointer(holder))
		return name;
	uint64_t n_skipped = field(self, holder, N_LOCALS) >> 32;
	for (int i = 0; i < SLOTS; i++) {
		uint64_t slot = field(self, holder, FIRST + 8 * i);
		name = is_pointer(slot) ? read_string(self, slot) : NULL;
		if (name != NULL && n_skipped-- == 0)
			return name;
		g_free(name);
	}
	return NULL;
}

/* Maps of one class are a tree of transitions, whose root has the constructor. */
static char *class_name(const Process *self, uint64_t map)
{
	uint64_t at = map;

	for (int i = 0; i < MAX_CHAIN && is_pointer(at) && field(self, at, 0) == self->meta; i++)
		at = field(self, at, self->layout.constructor);
	return is_pointer(at) && field(self, at, 0) != self->meta ? function_name(self, at) : NULL;
}

static void write_record(Process *self, uint32_t type, const void *first, size_t n_first,
	const void *rest, size_t n_rest)
{
	uint32_t head[] = {GUINT32_TO_LE(type), GUINT32_TO_LE((uint32_t)(8 + n_first + n_rest))};

	if (self->file == NULL)
		return;
	fwrite(head, sizeof(head), 1, self->file);
	fwrite(first, n_first, 1, self->file);
	if (n_rest > 0)
		fwrite(rest, n_rest, 1, self->file);
	self->n_written += 8 + n_first + n_rest;
}

static uint32_t number_of(Process *self, const char *name)
{
	void *found = g_hash_table_lookup(self->names, name);
	uint32_t id = g_hash_table_size(self->names);

	if (found != NULL)
		return GPOINTER_TO_UINT(found) - 1;
	g_hash_table_insert(self->names, g_strdup(name), GUINT_TO_POINTER(id + 1));
	id = GUINT32_TO_LE(id);
	write_record(self, LODE_HEAP_RECORD_NAME, &id, sizeof(id), name, strlen(name));
	return GUINT32_FROM_LE(id);
}

/* The number, from 1, of the name of objects with this map. */
static uint32_t describe_map(Process *self, uint64_t map)
{
	uint32_t type = instance_type(self, map);
	const char *type_name = g_hash_table_lookup(
		self->layout.type_names, GUINT_TO_POINTER(type));
	g_autofree char *class = type < (uint32_t)self->layout.first_non_string ? g_strdup("String")
	                                                                        : NULL;

	if (class == NULL && (type_name == NULL || g_str_has_prefix(type_name, "JS")))
		class = class_name(self, map);
	return number_of(self, class != NULL       ? class
			       : type_name != NULL ? type_name
						   : "(other object)") +
	       1;
}

/* --- a walk --- */

static void want(Wanted *self, uint64_t tagged, uint32_t value)
{
	uint64_t page = tagged >> 18;

	g_hash_table_insert(self->values, GSIZE_TO_POINTER(tagged), GUINT_TO_POINTER(value));
	self->pages[page >> 6 & 1023] |= LODE_BIT(page & 63);
}

static inline uint32_t wanted_value(const Wanted *self, uint64_t word)
{
	uint64_t page = word >> 18;

	if ((word & TAG_MASK) != TAG || (self->pages[page >> 6 & 1023] >> (page & 63) & 1) == 0)
		return 0;
	return GPOINTER_TO_UINT(g_hash_table_lookup(self->values, GSIZE_TO_POINTER(word)));
}

/* The map of maps is its own map. Other words may look so, but fewer maps point to them. */
static uint64_t find_meta(const Process *self)
{
	g_autoptr(GHashTable) counts = g_hash_table_new(NULL, NULL);
	Wanted wanted = {.values = counts};
	uint64_t best = 0;
	guint most = 0;

	for (guint i = 0; i < self->mapped->len; i++) {
		const Mapped *mapped = &g_array_index(self->mapped, Mapped, i);
		const uint64_t *words = (const void *)(self->bytes + mapped->offset);
		for (uint64_t k = 0; k < (mapped->end - mapped->start) / 8; k++)
			if (words[k] == (mapped->start + 8 * k) + TAG)
				want(&wanted, words[k], 1);
	}
	for (guint i = 0; i < self->mapped->len && g_hash_table_size(counts) > 0; i++) {
		const Mapped *mapped = &g_array_index(self->mapped, Mapped, i);
		const uint64_t *words = (const void *)(self->bytes + mapped->offset);
		for (uint64_t k = 0; k < (mapped->end - mapped->start) / 8; k++) {
			uint32_t n = wanted_value(&wanted, words[k]);
			if (n == 0)
				continue;
			want(&wanted, words[k], n + 1);
			if (n > most) {
				most = n;
				best = words[k];
			}
		}
	}
	return best;
}

static void find_maps(Process *self)
{
	for (guint i = 0; i < self->mapped->len; i++) {
		const Mapped *mapped = &g_array_index(self->mapped, Mapped, i);
		const uint64_t *words = (const void *)(self->bytes + mapped->offset);
		for (uint64_t k = 0; k < (mapped->end - mapped->start) / 8; k++) {
			uint64_t map = mapped->start + 8 * k + TAG;
			if (words[k] == self->meta)
				want(&self->maps, map, describe_map(self, map));
		}
	}
}

/* Memory outside the heap that holds an object's elements. */
static void add_data(const Process *self, const Found *object, uint32_t type, GArray *data)
{
	bool is_array = type == (uint32_t)self->layout.array_type;
	Found found = {.name = object->name, .is_buffer = !is_array};

	if (!is_array && type != (uint32_t)self->layout.buffer_type)
		return;
	found.address = word_at(self,
		object->address + (uint64_t)(is_array ? self->layout.external : self->layout.data));
	found.size = word_at(self,
			     object->address + (uint64_t)(is_array ? self->layout.external_bytes
								   : self->layout.data_bytes)) &
	             ~(uint64_t)7;
	const Mapped *mapped = mapped_at(self, found.address);
	if (found.address % 8 == 0 && found.size > 0 && mapped != NULL &&
		found.size <= mapped->end - found.address)
		g_array_append_val(data, found);
}

/* V8's pages lie at multiples of their size and begin with a head. An object ends with its page at
 * the latest. One right after the head may be larger: it ends where the page of the next begins. */
static uint64_t end_of(uint64_t start, uint64_t next)
{
	enum { MAX_HEAD = 4096 };
	uint64_t page_end = start / PAGE * PAGE + PAGE;

	if (next <= page_end)
		return next;
	return start % PAGE < MAX_HEAD ? next / PAGE * PAGE : page_end;
}

/* Finds objects, each up to the next, and the data of buffers and arrays. */
static void find_objects(Process *self, GArray *data)
{
	GArray *objects = self->objects;

	for (guint i = 0; i < self->mapped->len; i++) {
		const Mapped *mapped = &g_array_index(self->mapped, Mapped, i);
		const uint64_t *words = (const void *)(self->bytes + mapped->offset);
		guint first = objects->len;
		for (uint64_t k = 0; k < (mapped->end - mapped->start) / 8; k++) {
			uint32_t id = wanted_value(&self->maps, words[k]);
			if (id == 0)
				continue;
			Found found = {.address = mapped->start + 8 * k, .name = id - 1};
			if (objects->len > first) {
				Found *last = &g_array_index(objects, Found, objects->len - 1);
				last->size = end_of(last->address, found.address) - last->address;
			}
			g_array_append_val(objects, found);
			if (data->len < MAX_DATA)
				add_data(self, &found, instance_type(self, words[k]), data);
		}
		if (objects->len > first) {
			Found *last = &g_array_index(objects, Found, objects->len - 1);
			last->size = end_of(last->address, mapped->end) - last->address;
		}
	}
}

static void put_number(GByteArray *self, uint64_t value)
{
	uint8_t byte;

	for (; value >= 128; value >>= 7) {
		byte = (uint8_t)(value | 128);
		g_byte_array_append(self, &byte, 1);
	}
	byte = (uint8_t)value;
	g_byte_array_append(self, &byte, 1);
}

static void write_block(Process *self, const Found *found, guint n)
{
	g_autoptr(GByteArray) runs = g_byte_array_new();
	const uint64_t fields[] = {GUINT64_TO_LE(found->address), 0};

	for (guint i = 0, k; i < n; i += k) {
		for (k = 1; i + k < n && found[i + k].name == found[i].name &&
			    found[i + k].size == found[i].size;
			k++)
			;
		put_number(runs, found[i].name);
		put_number(runs, found[i].size / 8);
		put_number(runs, k);
	}
	write_record(self, LODE_HEAP_RECORD_BLOCK, fields, sizeof(fields), runs->data, runs->len);
}

static void write_range(Process *self, uint64_t start, uint64_t end)
{
	const uint64_t range[] = {GUINT64_TO_LE(start), GUINT64_TO_LE(end)};

	if (GPOINTER_TO_SIZE(g_hash_table_lookup(self->ranges, GSIZE_TO_POINTER(start))) >= end)
		return;
	g_hash_table_insert(self->ranges, GSIZE_TO_POINTER(start), GSIZE_TO_POINTER(end));
	write_record(self, LODE_HEAP_RECORD_RANGE, range, sizeof(range), NULL, 0);
}

/* Writes objects without gaps between them as one block, up to the end of a page. */
static void write_blocks(Process *self, const GArray *all, bool is_heap)
{
	for (guint i = 0, n; i < all->len; i += n) {
		const Found *found = &g_array_index(all, Found, i);
		uint64_t end = found->address + found->size;
		for (n = 1; i + n < all->len && found[n].address == end &&
			    end / BLOCK_BYTES == found->address / BLOCK_BYTES;
			n++)
			end += found[n].size;
		write_block(self, found, n);
		if (is_heap && n > 0)
			write_range(
				self, found->address / PAGE * PAGE, (end + PAGE - 1) / PAGE * PAGE);
	}
}

/* At one address the largest first, then arrays before buffers. */
LODE_ORDER(compare_found, Found, LODE_ASCENDING(address), LODE_DESCENDING(size),
	LODE_ASCENDING(is_buffer), LODE_ASCENDING(name))

/* A buffer and the arrays over it share memory, which is named after the first array that covers
 * it. */
static void drop_covered(GArray *data)
{
	guint n = 0;

	for (guint i = 0; i < data->len; i++) {
		const Found found = g_array_index(data, Found, i);
		const Found *last = n > 0 ? &g_array_index(data, Found, n - 1) : NULL;
		if (last == NULL || found.address >= last->address + last->size)
			g_array_index(data, Found, n++) = found;
	}
	g_array_set_size(data, n);
}

static void write_move(Process *self)
{
	const uint64_t now = GUINT64_TO_LE(now_ns()), times[] = {now, now};

	write_record(self, LODE_HEAP_RECORD_MOVE, times, sizeof(times), NULL, 0);
}

/* Objects may move between two walks: a move is logged before and after each. */
static void walk(Process *self)
{
	g_autoptr(GArray) data = g_array_new(FALSE, FALSE, sizeof(Found));

	write_move(self);
	read_memory(self);
	uint64_t time_ns = GUINT64_TO_LE(now_ns());
	if (self->meta == 0 || field(self, self->meta, 0) != self->meta)
		self->meta = find_meta(self);
	if (self->meta == 0)
		return;
	g_hash_table_remove_all(self->maps.values);
	memset(self->maps.pages, 0, sizeof(self->maps.pages));
	find_maps(self);
	g_array_set_size(self->objects, 0);
	find_objects(self, data);
	write_record(self, LODE_HEAP_RECORD_WALK, &time_ns, sizeof(time_ns), NULL, 0);
	write_blocks(self, self->objects, true);
	g_array_sort(data, compare_found);
	drop_covered(data);
	write_blocks(self, data, false);
	write_move(self);
}

/* --- processes --- */

static void end_log(Process *self)
{
	const uint64_t now = GUINT64_TO_LE(now_ns());

	if (self->file == NULL)
		return;
	fseek(self->file, 24, SEEK_SET);
	fwrite(&now, sizeof(now), 1, self->file);
	fclose(g_steal_pointer(&self->file));
}

static void free_process(void *data)
{
	Process *self = data;

	end_log(self);
	g_hash_table_unref(self->layout.values);
	g_hash_table_unref(self->layout.type_names);
	g_hash_table_unref(self->names);
	g_hash_table_unref(self->maps.values);
	g_hash_table_unref(self->ranges);
	g_array_unref(self->mapped);
	g_array_unref(self->objects);
	g_free(self);
}

static void begin_log(Process *self, const char *directory)
{
	static const char heap[16] = "[Node heap]";
	g_autofree char *path = g_strdup_printf("%s/heap-%d.log", directory, (int)self->pid);
	int descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	const uint32_t numbers[] = {GUINT32_TO_LE(1), GUINT32_TO_LE((uint32_t)self->pid)};
	const uint64_t times[] = {GUINT64_TO_LE(now_ns()), 0};

	if (descriptor < 0)
		return;
	self->file = fdopen(descriptor, "wb");
	fwrite("lodeheap", 8, 1, self->file);
	fwrite(numbers, sizeof(numbers), 1, self->file);
	fwrite(times, sizeof(times), 1, self->file);
	fwrite(heap, sizeof(heap), 1, self->file);
}

static bool is_node(const char *executable)
{
	g_autofree char *path = g_file_read_link(executable, NULL);
	g_autofree char *name = path != NULL ? g_path_get_basename(path) : NULL;

	return g_strcmp0(name, "node") == 0 || g_strcmp0(name, "nodejs") == 0;
}

/* A process that is not Node.js gets no file. */
static Process *process_of(LodeV8Survey *self, pid_t pid)
{
	Process *found = g_hash_table_lookup(self->processes, GINT_TO_POINTER(pid));
	g_autofree char *executable = g_strdup_printf("/proc/%d/exe", (int)pid);

	if (!is_node(executable))
		return NULL;
	if (found != NULL)
		return found;
	found = g_new0(Process, 1);
	found->pid = pid;
	found->layout.values = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	found->layout.type_names = g_hash_table_new_full(NULL, NULL, NULL, g_free);
	found->names = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	found->maps.values = g_hash_table_new(NULL, NULL);
	found->ranges = g_hash_table_new(NULL, NULL);
	found->mapped = g_array_new(FALSE, FALSE, sizeof(Mapped));
	found->objects = g_array_new(FALSE, FALSE, sizeof(Found));
	g_hash_table_insert(self->processes, GINT_TO_POINTER(pid), found);
	if (read_layout(&found->layout, executable))
		begin_log(found, self->directory);
	return found;
}

static void *run(void *data)
{
	LodeV8Survey *self = data;
	uint64_t start_ns = lode_thread_ns();
	/* only what is read takes memory */
	void *bytes = mmap(NULL, MAX_WALK_BYTES, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	for (guint i = 0; i < self->pids->len && bytes != MAP_FAILED; i++) {
		Process *process = process_of(self, g_array_index(self->pids, pid_t, i));
		if (process == NULL || process->file == NULL)
			continue;
		process->bytes = bytes;
		walk(process);
		if (ferror(process->file) != 0 || process->n_written > MAX_LOG_BYTES)
			end_log(process);
	}
	if (bytes != MAP_FAILED)
		munmap(bytes, MAX_WALK_BYTES);
	self->due_us = g_get_monotonic_time() +
	               MAX(INTERVAL_US,
			       COST_FACTOR * (gint64)((lode_thread_ns() - start_ns) / 1000));
	g_atomic_int_set(&self->is_running, 0);
	return NULL;
}

LodeV8Survey *lode_v8_survey_new(const char *directory)
{
	LodeV8Survey *self = g_new0(LodeV8Survey, 1);

	self->directory = g_strdup(directory);
	self->processes = g_hash_table_new_full(NULL, NULL, NULL, free_process);
	self->pids = g_array_new(FALSE, FALSE, sizeof(pid_t));
	self->due_us = g_get_monotonic_time() + FIRST_US;
	return self;
}

static void wait_for_thread(LodeV8Survey *self)
{
	if (self->thread != NULL)
		g_thread_join(g_steal_pointer(&self->thread));
}

void lode_v8_survey_free(LodeV8Survey *self)
{
	if (self == NULL)
		return;
	wait_for_thread(self);
	g_hash_table_unref(self->processes);
	g_array_unref(self->pids);
	g_free(self->directory);
	g_free(self);
}

bool lode_v8_survey_is_due(LodeV8Survey *self)
{
	return g_atomic_int_get(&self->is_running) == 0 && g_get_monotonic_time() >= self->due_us;
}

void lode_v8_survey_run(LodeV8Survey *self, const GArray *pids)
{
	wait_for_thread(self);
	g_array_set_size(self->pids, 0);
	g_array_append_vals(self->pids, pids->data, pids->len);
	g_atomic_int_set(&self->is_running, 1);
	self->thread = g_thread_new("heaps", run, self);
}
