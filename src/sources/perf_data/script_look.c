/* SPDX-License-Identifier: MIT */
#include "sources/perf_data/script_look.h"

#include "base/byte_append.h"
#include "base/byte_cursor.h"

static bool read_code(LodeByteCursor *cursor, LodeScriptCode *out)
{
	*out = (LodeScriptCode){.number = lode_byte_cursor_u32(cursor)};
	out->first_line = lode_byte_cursor_u32(cursor);
	out->last_line = lode_byte_cursor_u32(cursor);
	lode_byte_cursor_u32(cursor);
	out->language = lode_byte_cursor_text(cursor);
	out->function = lode_byte_cursor_text(cursor);
	out->file = lode_byte_cursor_text(cursor);
	return !cursor->is_overrun && out->first_line > 0 && out->last_line >= out->first_line &&
	       out->last_line <= LODE_SCRIPT_MAX_LINE && g_utf8_validate(out->language, -1, NULL) &&
	       g_utf8_validate(out->function, -1, NULL) && g_utf8_validate(out->file, -1, NULL);
}

static bool read_frames(LodeByteCursor *cursor, LodeScriptLook *out)
{
	out->flags = lode_byte_cursor_u32(cursor);
	out->n_frames = lode_byte_cursor_u32(cursor);
	if (out->n_frames > LODE_SCRIPT_MAX_FRAMES)
		return false;
	for (uint32_t i = 0; i < out->n_frames; i++) {
		out->frames[i].code = lode_byte_cursor_u32(cursor);
		out->frames[i].line = lode_byte_cursor_u32(cursor);
	}
	return !cursor->is_overrun;
}

static bool read_loop(LodeByteCursor *cursor, LodeScriptLook *out)
{
	out->loop = lode_byte_cursor_u64(cursor);
	return !cursor->is_overrun;
}

static const char *read_command_text(LodeByteCursor *cursor, bool *is_right)
{
	const char *text = lode_byte_cursor_text(cursor);

	*is_right = *is_right && !cursor->is_overrun && strlen(text) < LODE_COMMAND_MAX_TEXT &&
	            g_utf8_validate(text, -1, NULL);
	return text;
}

static bool read_command(LodeByteCursor *cursor, LodeCommandLook *out)
{
	bool is_right = true;

	out->flags = lode_byte_cursor_u32(cursor);
	out->environment = lode_byte_cursor_u32(cursor);
	out->command = read_command_text(cursor, &is_right);
	out->directory = read_command_text(cursor, &is_right);
	out->input = read_command_text(cursor, &is_right);
	out->output = read_command_text(cursor, &is_right);
	return is_right;
}

bool lode_script_look_read(LodeScriptLook *out_look, const void *raw, size_t size)
{
	LodeByteCursor cursor;

	lode_byte_cursor_init(&cursor, raw, size, false);
	if (lode_byte_cursor_u32(&cursor) != LODE_SCRIPT_VERSION)
		return false;
	uint32_t kind = lode_byte_cursor_u32(&cursor);
	out_look->kind = (LodeScriptKind)kind;
	return kind == LODE_SCRIPT_CODE      ? read_code(&cursor, &out_look->code)
	       : kind == LODE_SCRIPT_FRAMES  ? read_frames(&cursor, out_look)
	       : kind == LODE_SCRIPT_LOOP    ? read_loop(&cursor, out_look)
	       : kind == LODE_SCRIPT_COMMAND ? read_command(&cursor, &out_look->command)
	                                     : false;
}

/* A text that is too long is cut between two characters. */
static void add_text_of(GByteArray *out, const char *text, size_t size)
{
	static const guint8 zero = 0;
	size_t n = strnlen(text, size - 1);
	const char *end;

	g_utf8_validate(text, (gssize)n, &end);
	g_byte_array_append(out, (const guint8 *)text, (guint)(end - text));
	g_byte_array_append(out, &zero, 1);
}

static void add_text(GByteArray *out, const char *text)
{
	add_text_of(out, text, LODE_SCRIPT_MAX_TEXT);
}

/* With the size before it, the next field is aligned (perf_event_open(2)). */
static void align(GByteArray *out, guint first)
{
	while ((out->len - first + sizeof(uint32_t)) % sizeof(uint64_t) != 0)
		add_text(out, "");
}

void lode_script_code_append(const LodeScriptCode *code, GByteArray *out)
{
	guint first = out->len;

	lode_append_u32(out, LODE_SCRIPT_VERSION);
	lode_append_u32(out, LODE_SCRIPT_CODE);
	lode_append_u32(out, code->number);
	lode_append_u32(out, code->first_line);
	lode_append_u32(out, code->last_line);
	lode_append_u32(out, 0);
	add_text(out, code->language);
	add_text(out, code->function);
	add_text(out, code->file);
	align(out, first);
}

void lode_script_loop_append(uint64_t address, GByteArray *out)
{
	guint first = out->len;

	lode_append_u32(out, LODE_SCRIPT_VERSION);
	lode_append_u32(out, LODE_SCRIPT_LOOP);
	lode_append_u64(out, address);
	align(out, first);
}

void lode_command_look_append(const LodeCommandLook *look, GByteArray *out)
{
	const char *const texts[] = {look->command, look->directory, look->input, look->output};
	guint first = out->len;

	lode_append_u32(out, LODE_SCRIPT_VERSION);
	lode_append_u32(out, LODE_SCRIPT_COMMAND);
	lode_append_u32(out, look->flags);
	lode_append_u32(out, look->environment);
	for (size_t i = 0; i < G_N_ELEMENTS(texts); i++)
		add_text_of(out, texts[i], LODE_COMMAND_MAX_TEXT);
	align(out, first);
}

void lode_script_frames_append(
	const LodeScriptFrame *frames, uint32_t n, uint32_t flags, GByteArray *out)
{
	guint first = out->len;

	lode_append_u32(out, LODE_SCRIPT_VERSION);
	lode_append_u32(out, LODE_SCRIPT_FRAMES);
	lode_append_u32(out, flags);
	lode_append_u32(out, n);
	for (uint32_t i = 0; i < n; i++) {
		lode_append_u32(out, frames[i].code);
		lode_append_u32(out, frames[i].line);
	}
	align(out, first);
}
