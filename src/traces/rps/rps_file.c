/* SPDX-License-Identifier: MIT */
/*
 * Nothing of a file is believed: each section's head has a checksum, sizes are bounded before they
 * are allocated, and frames must follow each other without a gap. A file whose end is missing is
 * read up to its last whole section.
 */
#include "traces/rps/rps_file.h"

#include "base/error.h"
#include "traces/rps/rps_description.h"
#include "traces/rps/rps_fields.h"
#include "traces/rps/rps_format.h"

#include <errno.h>
#include <lzma.h>
#include <string.h>
#include <unistd.h>

static bool fail(GError **error, LodeErrorCode code, const char *what)
{
	g_set_error(error, LODE_ERROR, (gint)code, "%s", what);
	return false;
}

static void clear_entry(void *data)
{
	lode_rps_summary_clear(&((LodeRpsEntry *)data)->summary);
}

static GArray *entries_new(void)
{
	GArray *entries = g_array_new(FALSE, FALSE, sizeof(LodeRpsEntry));

	g_array_set_clear_func(entries, clear_entry);
	return entries;
}

static bool read_into(
	const LodeRpsFile *self, uint64_t offset, uint8_t *out, uint64_t size, GError **error)
{
	while (size > 0) {
		ssize_t n = pread(self->file->fd, out, size, (off_t)offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return fail(error, LODE_ERROR_IO, g_strerror(errno));
		if (n == 0)
			return fail(error, LODE_ERROR_CORRUPT, "the file is cut short");
		out += n;
		offset += (uint64_t)n;
		size -= (uint64_t)n;
	}
	return true;
}

uint8_t *lode_rps_file_read(const LodeRpsFile *self, uint64_t offset, uint64_t size, GError **error)
{
	g_autofree uint8_t *bytes = NULL;

	if (offset > self->size || size > self->size - offset) {
		fail(error, LODE_ERROR_CORRUPT, "the file is cut short");
		return NULL;
	}
	bytes = g_try_malloc(size + 1);
	if (bytes == NULL) {
		fail(error, LODE_ERROR_LIMIT, "no memory to read it");
		return NULL;
	}
	return read_into(self, offset, bytes, size, error) ? g_steal_pointer(&bytes) : NULL;
}

uint8_t *lode_rps_file_read_head(
	const LodeRpsFile *self, uint64_t offset, LodeRpsSection *out_section, GError **error)
{
	g_autofree uint8_t *header = lode_rps_file_read(
		self, offset, LODE_RPS_SECTION_HEADER_BYTES, error);
	LodeRpsSection section;

	if (header == NULL || !lode_rps_section_parse(header, &section, error))
		return NULL;
	g_autofree uint8_t *head = lode_rps_file_read(
		self, offset + LODE_RPS_SECTION_HEADER_BYTES, section.head_bytes, error);
	if (head == NULL || !lode_rps_section_check(&section, head, section.head_bytes, error))
		return NULL;
	*out_section = section;
	return g_steal_pointer(&head);
}

/* --- where the sections are --- */

/* A section that is one piece, as it is in the file. */
typedef struct {
	LodeRpsSection section;
	uint8_t *head, *body; /* owned */
} Text;

static void text_clear(Text *self)
{
	g_free(self->head);
	g_free(self->body);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Text, text_clear)

static bool read_section(
	const LodeRpsFile *self, uint64_t offset, uint32_t type, Text *out, GError **error)
{
	out->head = lode_rps_file_read_head(self, offset, &out->section, error);
	if (out->head == NULL)
		return false;
	if (out->section.type != type)
		return fail(error, LODE_ERROR_CORRUPT, "another section than expected");
	out->body = lode_rps_file_read(self,
		offset + LODE_RPS_SECTION_HEADER_BYTES + out->section.head_bytes,
		out->section.body_bytes, error);
	return out->body != NULL;
}

static GByteArray *read_text(
	const LodeRpsFile *self, uint64_t offset, uint32_t type, size_t limit, GError **error)
{
	g_auto(Text) text = {0};

	if (!read_section(self, offset, type, &text, error))
		return NULL;
	return lode_rps_section_unpack(&text.section, text.head, text.body, limit, error);
}

/* The first damage is the one that is reported. */
static void note_damaged_description(LodeRpsFile *self, uint64_t offset, const GError *cause)
{
	if (self->damage == NULL)
		self->damage = g_strdup_printf(
			"description at offset %" G_GUINT64_FORMAT ": %s", offset, cause->message);
}

/* False: it is not whole. */
static bool read_description(LodeRpsFile *self, uint64_t offset)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(GByteArray) body = read_text(
		self, offset, LODE_RPS_DESCRIPTION, LODE_RPS_MAX_TEXT_BYTES, &error);
	LodeTraceDescription *description = body != NULL ? lode_rps_description_decode(body, &error)
	                                                 : NULL;

	if (description == NULL) {
		note_damaged_description(self, offset, error);
		return false;
	}
	lode_trace_description_free(self->description);
	self->description = description;
	return true;
}

static void check_description(LodeRpsFile *self, uint64_t offset)
{
	g_autoptr(GError) error = NULL;
	g_auto(Text) text = {0};

	if (!read_section(self, offset, LODE_RPS_DESCRIPTION, &text, &error) ||
		!lode_rps_section_check_body(&text.section, text.head, text.body, &error))
		note_damaged_description(self, offset, error);
}

/* The last whole description is taken; only the checksums of those before it are read, as they may
 * be many and large. */
static void read_descriptions(LodeRpsFile *self, const GArray *offsets)
{
	bool is_taken = false;

	for (guint i = offsets->len; i-- > 0;) {
		uint64_t offset = g_array_index(offsets, uint64_t, i);

		if (is_taken)
			check_description(self, offset);
		else
			is_taken = read_description(self, offset);
	}
}

/* Whether the frame may follow those that are there. */
static bool follows(const LodeRpsFile *self, const LodeRpsSummary *summary)
{
	const LodeFrameHead *head = &summary->head, *last;
	const LodeRpsSummary *before;

	if (self->frames->len == 0)
		return head->first_reference == 0 && head->first_instruction == 0 &&
		       head->first_new_block == 0 && summary->dictionary == 0;
	before = &g_array_index(self->frames, LodeRpsEntry, self->frames->len - 1).summary;
	last = &before->head;
	if (head->first_reference != last->first_reference + last->n_references ||
		head->first_instruction != last->first_instruction + last->n_instructions)
		return false;
	return before->dictionary == summary->dictionary
	               ? head->first_new_block == last->n_blocks
	               : summary->dictionary == before->dictionary + 1 &&
	                         head->first_new_block == 0;
}

/* Takes the summary when it is in order. */
static bool add_frame(LodeRpsFile *self, uint64_t offset, uint64_t bytes, LodeRpsSummary *summary)
{
	LodeRpsEntry entry = {offset, bytes, *summary};

	if (self->frames->len >= LODE_RPS_MAX_FRAMES || !follows(self, summary)) {
		lode_rps_summary_clear(summary);
		return false;
	}
	g_array_append_val(self->frames, entry);
	return true;
}

/* One section of the index, which begins at `offset`; its bytes, 0: no sense. */
static uint64_t take_entry(LodeRpsFile *self, LodeByteCursor *cursor, uint64_t offset, uint64_t end,
	GArray *descriptions)
{
	uint32_t type = lode_byte_cursor_u32(cursor);
	uint64_t bytes = lode_rps_take_bounded(cursor, end - offset);
	LodeRpsSummary summary = {0};

	if (cursor->is_overrun || bytes < LODE_RPS_SECTION_HEADER_BYTES)
		return 0;
	if (type == LODE_RPS_DESCRIPTION) {
		g_array_append_val(descriptions, offset);
		return descriptions->len <= LODE_RPS_MAX_TEXT_SECTIONS ? bytes : 0;
	}
	if (type != LODE_RPS_FRAME)
		return 0;
	lode_rps_summary_decode(cursor, &summary);
	if (!cursor->is_overrun)
		return add_frame(self, offset, bytes, &summary) ? bytes : 0;
	lode_rps_summary_clear(&summary);
	return 0;
}

/* The sections must cover the file without a gap. */
static bool take_entries(LodeRpsFile *self, const GByteArray *index, uint64_t end,
	GArray *descriptions, GError **error)
{
	LodeByteCursor cursor;
	uint64_t offset = LODE_RPS_HEADER_BYTES;

	lode_rps_cursor_init(&cursor, index->data, index->len);
	uint64_t n = lode_rps_take_varint(&cursor);
	for (; n > 0 && !cursor.is_overrun; n--) {
		uint64_t bytes = take_entry(self, &cursor, offset, end, descriptions);

		if (bytes == 0)
			break;
		offset += bytes;
	}
	if (n == 0 && !cursor.is_overrun && lode_byte_cursor_left(&cursor) == 0 && offset == end)
		return true;
	return fail(error, LODE_ERROR_CORRUPT, "the index is damaged");
}

/* Gives where the index is, by the footer. */
static bool read_footer(
	const LodeRpsFile *self, uint64_t *out_index, uint64_t *out_references, GError **error)
{
	LodeByteCursor cursor;

	if (self->size < LODE_RPS_HEADER_BYTES + LODE_RPS_FOOTER_BYTES)
		return fail(error, LODE_ERROR_CORRUPT, "no footer");
	g_autofree uint8_t *footer = lode_rps_file_read(
		self, self->size - LODE_RPS_FOOTER_BYTES, LODE_RPS_FOOTER_BYTES, error);
	if (footer == NULL)
		return false;
	lode_rps_cursor_init(&cursor, footer, LODE_RPS_FOOTER_BYTES);
	uint64_t index = lode_byte_cursor_u64(&cursor);
	uint64_t references = lode_byte_cursor_u64(&cursor);
	if (memcmp(footer + LODE_RPS_FOOTER_BYTES - LODE_RPS_MAGIC_BYTES, LODE_RPS_END_MAGIC,
		    LODE_RPS_MAGIC_BYTES) != 0)
		return fail(error, LODE_ERROR_CORRUPT, "no footer");
	if (lode_byte_cursor_u64(&cursor) != lzma_crc64(footer, 2 * sizeof(uint64_t), 0))
		return fail(error, LODE_ERROR_CORRUPT, "the footer's checksum does not match");
	*out_index = index;
	*out_references = references;
	return true;
}

static uint64_t end_of_references(const LodeRpsFile *self)
{
	const LodeFrameHead *head;

	if (self->frames->len == 0)
		return 0;
	head = &g_array_index(self->frames, LodeRpsEntry, self->frames->len - 1).summary.head;
	return head->first_reference + head->n_references;
}

static bool read_index(LodeRpsFile *self, GError **error)
{
	g_autoptr(GArray) descriptions = g_array_new(FALSE, FALSE, sizeof(uint64_t));
	uint64_t offset, n_references;
	LodeRpsSection section;

	if (!read_footer(self, &offset, &n_references, error))
		return false;
	g_autofree uint8_t *head = lode_rps_file_read_head(self, offset, &section, error);
	if (head == NULL)
		return false;
	if (offset + lode_rps_section_bytes(&section) + LODE_RPS_FOOTER_BYTES != self->size)
		return fail(error, LODE_ERROR_CORRUPT, "the index does not end at the footer");
	g_autoptr(GByteArray)
		body = read_text(self, offset, LODE_RPS_INDEX, LODE_RPS_MAX_INDEX_BYTES, error);
	if (body == NULL || !take_entries(self, body, offset, descriptions, error))
		return false;
	if (end_of_references(self) != n_references)
		return fail(error, LODE_ERROR_CORRUPT, "index and footer disagree");
	read_descriptions(self, descriptions);
	return true;
}

/* Takes in the section; false: it is not whole, or none. */
static bool scan_section(LodeRpsFile *self, uint64_t offset, GArray *descriptions,
	uint64_t *out_bytes, GError **error)
{
	g_auto(LodeRpsFrame) frame = {0};
	LodeRpsSection section;
	g_autofree uint8_t *head = lode_rps_file_read_head(self, offset, &section, error);

	if (head == NULL)
		return false;
	*out_bytes = lode_rps_section_bytes(&section);
	if (*out_bytes > self->size - offset)
		return fail(error, LODE_ERROR_CORRUPT, "the file is cut short");
	if (section.type == LODE_RPS_DESCRIPTION)
		g_array_append_val(descriptions, offset);
	if (descriptions->len > LODE_RPS_MAX_TEXT_SECTIONS)
		return fail(error, LODE_ERROR_CORRUPT, "more descriptions than a file has");
	if (section.type != LODE_RPS_FRAME)
		return true;
	if (!lode_rps_frame_decode(head, section.head_bytes, section.body_bytes, &frame, error))
		return false;
	LodeRpsSummary summary = frame.summary;
	frame.summary = (LodeRpsSummary){0};
	return add_frame(self, offset, *out_bytes, &summary) ||
	       fail(error, LODE_ERROR_CORRUPT, "the frame does not follow the one before");
}

/* Goes through the sections; `cause` is why there is no index. */
static void scan(LodeRpsFile *self, const GError *cause)
{
	g_autoptr(GArray) descriptions = g_array_new(FALSE, FALSE, sizeof(uint64_t));
	g_autoptr(GError) error = NULL;
	uint64_t offset = LODE_RPS_HEADER_BYTES, bytes;

	g_array_set_size(self->frames, 0);
	while (self->size - offset > LODE_RPS_FOOTER_BYTES &&
		scan_section(self, offset, descriptions, &bytes, &error))
		offset += bytes;
	read_descriptions(self, descriptions);
	g_clear_pointer(&self->damage, g_free);
	self->damage = g_strdup_printf("%s; read up to frame %u, whose end is at offset "
				       "%" G_GUINT64_FORMAT "%s%s",
		cause->message, self->frames->len, offset, error != NULL ? ": " : "",
		error != NULL ? error->message : "");
}

/*
 * Sets frames and description of a file whose header is right: by the index, or else by going
 * through the sections from the front, up to what is not whole. Damage is noted, and no error.
 */
static void read_contents(LodeRpsFile *self)
{
	g_autoptr(GError) cause = NULL;

	if (!read_index(self, &cause))
		scan(self, cause);
}

/* --- the file --- */

static bool check_header(const LodeRpsFile *self, GError **error)
{
	uint8_t header[LODE_RPS_HEADER_BYTES];
	LodeByteCursor cursor;

	if (self->size < sizeof(header))
		return fail(error, LODE_ERROR_CORRUPT,
			"too short for a packed trace, which 'lode trace record' writes");
	if (!read_into(self, 0, header, sizeof(header), error))
		return false;
	lode_rps_cursor_init(&cursor, header, sizeof(header));
	if (memcmp(lode_byte_cursor_bytes(&cursor, LODE_RPS_MAGIC_BYTES), LODE_RPS_MAGIC,
		    LODE_RPS_MAGIC_BYTES) != 0)
		return fail(error, LODE_ERROR_CORRUPT,
			"not a packed trace; 'lode trace pack' makes one of other tools' traces");
	uint32_t version = lode_byte_cursor_u32(&cursor);
	if (version == LODE_RPS_VERSION && lode_byte_cursor_u32(&cursor) == 0)
		return true;
	g_set_error(error, LODE_ERROR, LODE_ERROR_UNSUPPORTED,
		"a packed trace of version %u; this lode reads version %d", version,
		LODE_RPS_VERSION);
	return false;
}

LodeRpsFile *lode_rps_file_open(const char *path, GError **error)
{
	g_autoptr(LodeRpsFile) self = g_new0(LodeRpsFile, 1);

	self->path = g_strdup(path);
	self->frames = entries_new();
	self->description = lode_trace_description_new();
	self->file = lode_input_file_open_unpacked(path, error);
	if (self->file == NULL)
		return NULL;
	self->size = self->file->size;
	if (!check_header(self, error)) {
		g_prefix_error(error, "%s: ", path);
		return NULL;
	}
	read_contents(self);
	return g_steal_pointer(&self);
}

void lode_rps_file_close(LodeRpsFile *self)
{
	if (self == NULL)
		return;
	lode_input_file_close(self->file);
	g_array_unref(self->frames);
	lode_trace_description_free(self->description);
	g_free(self->damage);
	g_free(self->path);
	g_free(self);
}

const LodeRpsEntry *lode_rps_file_frame(const LodeRpsFile *self, uint64_t number)
{
	return &g_array_index(self->frames, LodeRpsEntry, number);
}
