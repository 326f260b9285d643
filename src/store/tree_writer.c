/* SPDX-License-Identifier: MIT */
/*
 * One page of each level is being filled. When it is full it is written, and a cell that refers to
 * it goes to the level above: with the number of its last row in a table, with its last record in
 * an index, where each record stands once and that one moves up.
 */
#include "store/tree_writer.h"

#include "base/error.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum {
	FILE_HEADER_SIZE = 100,
	PAGE_SIZE_AT = 16,
	RESERVED_AT = 20,
	PAGE_COUNT_AT = 28,
	AUTO_VACUUM_AT = 52,
	LOCK_BYTE = 1 << 30,

	TABLE_LEAF = 0x0d,
	TABLE_INTERIOR = 0x05,
	INDEX_LEAF = 0x0a,
	INDEX_INTERIOR = 0x02,
	LEAF_HEADER_SIZE = 8,
	INTERIOR_HEADER_SIZE = 12,
	N_CELLS_AT = 3,
	CONTENT_AT = 5,
	RIGHT_CHILD_AT = 8,
	CHILD_SIZE = 4,
	LONGEST_VARINT = 9,
	LARGEST_CELL = CHILD_SIZE + 2 * LONGEST_VARINT + LODE_TREE_LONGEST_RECORD,

	/* Interior pages have three cells or more: 3^20 pages are more than a file can have. */
	MAX_LEVELS = 20,
	BUFFERED_PAGES = 64,
};

/* Cells are put from its end, their places after its header. */
typedef struct {
	uint8_t bytes[LODE_TREE_PAGE_SIZE];
	size_t content, last_size; /* where the last cell begins, and its size */
	unsigned n_cells;
} Page;

struct LodeTreeWriter {
	int descriptor;
	int failure;      /* errno of the first write that failed; 0: none */
	uint32_t n_pages; /* of the file */
	uint8_t *buffer;  /* pages that follow each other and are not written yet */
	uint32_t n_buffered;

	uint32_t root;
	bool is_index;
	uint64_t last_id;
	unsigned n_levels;
	Page *levels[MAX_LEVELS]; /* from the leaves */
};

static void put_16(uint8_t *place, unsigned value)
{
	place[0] = (uint8_t)(value >> 8);
	place[1] = (uint8_t)value;
}

static void put_32(uint8_t *place, uint32_t value)
{
	value = GUINT32_TO_BE(value);
	memcpy(place, &value, sizeof(value));
}

static uint32_t get_32(const uint8_t *place)
{
	uint32_t value;

	memcpy(&value, place, sizeof(value));
	return GUINT32_FROM_BE(value);
}

/* Groups of seven bits from the highest on. Neither a row number nor a size has more than eight. */
static size_t put_varint(uint8_t *place, uint64_t value)
{
	size_t n = 1;

	for (uint64_t rest = value >> 7; rest != 0; rest >>= 7)
		n++;
	g_assert(n < LONGEST_VARINT);
	for (size_t i = n; i-- > 0; value >>= 7)
		place[i] = (uint8_t)((value & 0x7f) | (i + 1 < n ? 0x80 : 0));
	return n;
}

static void write_at(LodeTreeWriter *self, const uint8_t *bytes, size_t size, uint32_t page)
{
	off_t at = (off_t)(page - 1) * LODE_TREE_PAGE_SIZE;

	while (size > 0 && self->failure == 0) {
		ssize_t n = pwrite(self->descriptor, bytes, size, at);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			self->failure = n < 0 ? errno : ENOSPC;
			return;
		}
		bytes += n;
		size -= (size_t)n;
		at += n;
	}
}

static void flush(LodeTreeWriter *self)
{
	write_at(self, self->buffer, (size_t)self->n_buffered * LODE_TREE_PAGE_SIZE,
		self->n_pages - self->n_buffered + 1);
	self->n_buffered = 0;
}

uint32_t lode_tree_writer_next_page(uint32_t page)
{
	return page + 1 == LOCK_BYTE / LODE_TREE_PAGE_SIZE + 1 ? page + 2 : page + 1;
}

static uint32_t append_page(LodeTreeWriter *self, const Page *page)
{
	uint32_t number = lode_tree_writer_next_page(self->n_pages);

	if (self->n_buffered == BUFFERED_PAGES || number != self->n_pages + 1)
		flush(self);
	memcpy(self->buffer + (size_t)self->n_buffered++ * LODE_TREE_PAGE_SIZE, page->bytes,
		LODE_TREE_PAGE_SIZE);
	return self->n_pages = number;
}

static void clear_page(LodeTreeWriter *self, unsigned level)
{
	Page *page = self->levels[level];

	memset(page->bytes, 0, sizeof(page->bytes));
	page->bytes[0] = level == 0 ? (self->is_index ? INDEX_LEAF : TABLE_LEAF)
	                            : (self->is_index ? INDEX_INTERIOR : TABLE_INTERIOR);
	page->content = LODE_TREE_PAGE_SIZE;
	page->n_cells = 0;
}

static size_t header_size(unsigned level)
{
	return level == 0 ? LEAF_HEADER_SIZE : INTERIOR_HEADER_SIZE;
}

static void complete_page(Page *page)
{
	put_16(page->bytes + N_CELLS_AT, page->n_cells);
	put_16(page->bytes + CONTENT_AT, (unsigned)page->content);
}

static void add_cell(LodeTreeWriter *self, unsigned level, const uint8_t *cell, size_t size);

/* Writes a full page and tells the level above. */
static void split(LodeTreeWriter *self, unsigned level)
{
	Page *page = self->levels[level];
	uint8_t cell[LARGEST_CELL];
	size_t size = 0;

	if (level == 0 && !self->is_index) {
		size = put_varint(cell + CHILD_SIZE, self->last_id);
	} else {
		const uint8_t *last = page->bytes + page->content;
		size_t skipped = level > 0 ? CHILD_SIZE : 0;
		if (level > 0)
			memcpy(page->bytes + RIGHT_CHILD_AT, last, CHILD_SIZE);
		size = page->last_size - skipped;
		memcpy(cell + CHILD_SIZE, last + skipped, size);
		page->content += page->last_size;
		page->n_cells--;
	}
	complete_page(page);
	put_32(cell, append_page(self, page));
	clear_page(self, level);
	if (level + 1 == self->n_levels) {
		g_assert(self->n_levels < MAX_LEVELS);
		if (self->levels[self->n_levels] == NULL)
			self->levels[self->n_levels] = g_new(Page, 1);
		clear_page(self, self->n_levels++);
	}
	add_cell(self, level + 1, cell, CHILD_SIZE + size);
}

static void add_cell(LodeTreeWriter *self, unsigned level, const uint8_t *cell, size_t size)
{
	Page *page = self->levels[level];

	if (header_size(level) + 2 * (page->n_cells + 1) + size > page->content)
		split(self, level);
	page->content -= size;
	page->last_size = size;
	memcpy(page->bytes + page->content, cell, size);
	put_16(page->bytes + header_size(level) + 2 * page->n_cells, (unsigned)page->content);
	page->n_cells++;
}

void lode_tree_writer_begin(LodeTreeWriter *self, uint32_t root, bool is_index)
{
	self->root = root;
	self->is_index = is_index;
	self->last_id = 0;
	self->n_levels = 1;
	clear_page(self, 0);
}

void lode_tree_writer_add(LodeTreeWriter *self, uint64_t id, const uint8_t *record, size_t size)
{
	uint8_t cell[LARGEST_CELL];
	size_t at = put_varint(cell, size);

	g_assert(size <= LODE_TREE_LONGEST_RECORD);
	if (!self->is_index)
		at += put_varint(cell + at, id);
	memcpy(cell + at, record, size);
	add_cell(self, 0, cell, at + size);
	self->last_id = id;
}

static bool check(const LodeTreeWriter *self, GError **error)
{
	if (self->failure != 0)
		g_set_error(error, LODE_ERROR, LODE_ERROR_IO, "cannot write: %s",
			g_strerror(self->failure));
	return self->failure == 0;
}

/* The last page of each level is the right child of the level above; the highest is the root. */
bool lode_tree_writer_end(LodeTreeWriter *self, GError **error)
{
	for (unsigned level = 0; level + 1 < self->n_levels; level++) {
		complete_page(self->levels[level]);
		put_32(self->levels[level + 1]->bytes + RIGHT_CHILD_AT,
			append_page(self, self->levels[level]));
	}
	complete_page(self->levels[self->n_levels - 1]);
	write_at(self, self->levels[self->n_levels - 1]->bytes, LODE_TREE_PAGE_SIZE, self->root);
	return check(self, error);
}

bool lode_tree_writer_finish(LodeTreeWriter *self, GError **error)
{
	uint8_t count[sizeof(uint32_t)];

	flush(self);
	put_32(count, self->n_pages);
	if (self->failure == 0 &&
		pwrite(self->descriptor, count, sizeof(count), PAGE_COUNT_AT) != sizeof(count))
		self->failure = errno;
	return check(self, error);
}

static bool read_header(LodeTreeWriter *self, GError **error)
{
	uint8_t header[FILE_HEADER_SIZE];
	ssize_t n = pread(self->descriptor, header, sizeof(header), 0);

	if (n < 0) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_IO, "cannot read: %s", g_strerror(errno));
		return false;
	}
	if (n < FILE_HEADER_SIZE ||
		(header[PAGE_SIZE_AT] << 8 | header[PAGE_SIZE_AT + 1]) != LODE_TREE_PAGE_SIZE ||
		header[RESERVED_AT] != 0 || get_32(header + AUTO_VACUUM_AT) != 0) {
		g_set_error_literal(error, LODE_ERROR, LODE_ERROR_UNSUPPORTED,
			"this SQLite makes files of another form");
		return false;
	}
	self->n_pages = get_32(header + PAGE_COUNT_AT);
	return true;
}

LodeTreeWriter *lode_tree_writer_open(const char *path, GError **error)
{
	g_autoptr(LodeTreeWriter) self = g_new0(LodeTreeWriter, 1);

	self->levels[0] = g_new(Page, 1);
	self->buffer = g_malloc((size_t)BUFFERED_PAGES * LODE_TREE_PAGE_SIZE);
	self->descriptor = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	if (self->descriptor < 0) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_IO, "cannot open: %s", g_strerror(errno));
		return NULL;
	}
	return read_header(self, error) ? g_steal_pointer(&self) : NULL;
}

void lode_tree_writer_close(LodeTreeWriter *self)
{
	if (self == NULL)
		return;
	if (self->descriptor >= 0)
		close(self->descriptor);
	for (unsigned i = 0; i < MAX_LEVELS; i++)
		g_free(self->levels[i]);
	g_free(self->buffer);
	g_free(self);
}
