/* SPDX-License-Identifier: MIT */
#include "sources/perf_data/wait_look.h"

#include "base/byte_append.h"
#include "base/byte_cursor.h"

/* The text up to its 0; NULL: there is none. */
static const char *read_text(LodeByteCursor *cursor)
{
	size_t left = lode_byte_cursor_left(cursor);
	const char *text = (const char *)cursor->at;
	const char *end = left > 0 ? memchr(text, '\0', left) : NULL;

	if (end == NULL)
		return NULL;
	lode_byte_cursor_skip(cursor, (uint64_t)(end - text) + 1);
	return text;
}

bool lode_wait_look_read(LodeWaitLook *out_look, const void *raw, size_t size)
{
	LodeByteCursor cursor;
	LodeWaitLook look = {0};

	lode_byte_cursor_init(&cursor, raw, size, false);
	uint32_t version = lode_byte_cursor_u32(&cursor);
	look.flags = lode_byte_cursor_u32(&cursor);
	look.holder = lode_byte_cursor_u32(&cursor);
	look.n_words = lode_byte_cursor_u32(&cursor);
	look.n_words = MIN(look.n_words, LODE_LOOK_WORDS);
	look.call = (int64_t)lode_byte_cursor_u64(&cursor);
	for (unsigned i = 0; i < G_N_ELEMENTS(look.arguments); i++)
		look.arguments[i] = lode_byte_cursor_u64(&cursor);
	look.interval_ns = lode_byte_cursor_u64(&cursor);
	look.delay_ns = lode_byte_cursor_u64(&cursor);
	look.timeout_ns = lode_byte_cursor_u64(&cursor);
	look.holder_call = (int64_t)lode_byte_cursor_u64(&cursor);
	look.state = (char)lode_byte_cursor_u64(&cursor);
	for (unsigned i = 0; i < LODE_LOOK_WORDS; i++)
		look.words[i] = lode_byte_cursor_u32(&cursor);
	look.target = read_text(&cursor);
	look.kernel_function = read_text(&cursor);
	bool is_known = version == LODE_LOOK_VERSION ||
	                (version == LODE_LOOK_VERSION_RUNS && look.state == LODE_LOOK_STATE_RUNS);
	if (cursor.is_overrun || !is_known || look.target == NULL || look.kernel_function == NULL)
		return false;
	*out_look = look;
	return true;
}

static void add_text(GByteArray *out, const char *text)
{
	static const guint8 zero = 0;

	g_byte_array_append(
		out, (const guint8 *)text, (guint)strnlen(text, LODE_LOOK_MAX_TEXT - 1));
	g_byte_array_append(out, &zero, 1);
}

void lode_wait_look_append(const LodeWaitLook *self, GByteArray *out)
{
	guint first = out->len;

	lode_append_u32(out,
		self->state == LODE_LOOK_STATE_RUNS ? LODE_LOOK_VERSION_RUNS : LODE_LOOK_VERSION);
	lode_append_u32(out, self->flags);
	lode_append_u32(out, self->holder);
	lode_append_u32(out, self->n_words);
	lode_append_u64(out, (uint64_t)self->call);
	for (unsigned i = 0; i < G_N_ELEMENTS(self->arguments); i++)
		lode_append_u64(out, self->arguments[i]);
	lode_append_u64(out, self->interval_ns);
	lode_append_u64(out, self->delay_ns);
	lode_append_u64(out, self->timeout_ns);
	lode_append_u64(out, (uint64_t)self->holder_call);
	lode_append_u64(out, (uint8_t)self->state);
	for (unsigned i = 0; i < LODE_LOOK_WORDS; i++)
		lode_append_u32(out, self->words[i]);
	add_text(out, self->target);
	add_text(out, self->kernel_function);
	/* With the size before it, the next field is aligned (perf_event_open(2)). */
	while ((out->len - first + sizeof(uint32_t)) % sizeof(uint64_t) != 0)
		add_text(out, "");
}
