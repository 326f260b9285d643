/* SPDX-License-Identifier: MIT */
#include "process/interpreters/script_codes.h"

#include <string.h>

/* Of a process. */
enum { MAX_CODES = 1 << 18, MAX_TEXT_BYTES = 1 << 26 };

typedef struct {
	const char *function, *file;
	uint32_t first_line, last_line, number;
} Code;

static guint hash_code(const void *code)
{
	const Code *self = code;

	return (g_direct_hash(self->function) * 31 + g_direct_hash(self->file)) * 31 +
	       self->first_line;
}

static gboolean is_same_code(const void *a, const void *b)
{
	const Code *left = a, *right = b;

	return left->function == right->function && left->file == right->file &&
	       left->first_line == right->first_line;
}

void lode_script_codes_init(LodeScriptCodes *self, const char *language, uint32_t *next_code)
{
	*self = (LodeScriptCodes){language, next_code,
		g_hash_table_new_full(hash_code, is_same_code, g_free, NULL),
		g_string_chunk_new(4096), 0};
}

void lode_script_codes_clear(LodeScriptCodes *self)
{
	g_hash_table_unref(self->known);
	g_string_chunk_free(self->texts);
}

const char *lode_script_codes_keep(LodeScriptCodes *self, char *text)
{
	const char *kept = NULL;

	if (text != NULL && self->n_bytes < MAX_TEXT_BYTES) {
		kept = g_string_chunk_insert_const(self->texts, text);
		self->n_bytes += strlen(text) + 1;
	}
	g_free(text);
	return kept;
}

bool lode_script_codes_find(LodeScriptCodes *self, const LodeScriptPlace *place,
	LodeScriptFrame *out_frame, GArray *out_codes)
{
	const Code wanted = {place->function, place->file, MAX(place->first_line, 1), 0, 0};
	Code *known = g_hash_table_lookup(self->known, &wanted);

	if (place->line == 0 || place->line > LODE_SCRIPT_MAX_LINE ||
		wanted.first_line > LODE_SCRIPT_MAX_LINE ||
		(known == NULL && g_hash_table_size(self->known) >= MAX_CODES))
		return false;
	if (known == NULL) {
		known = g_memdup2(&wanted, sizeof(wanted));
		g_hash_table_add(self->known, known);
	}
	uint32_t line = MAX(place->line, wanted.first_line);
	if (known->last_line < line) {
		known->last_line = MAX(line, MIN(place->last_line, LODE_SCRIPT_MAX_LINE));
		known->number = (*self->next_code)++;
		const LodeScriptCode told = {known->number, wanted.first_line, known->last_line,
			self->language, place->function, place->file};
		g_array_append_val(out_codes, told);
	}
	*out_frame = (LodeScriptFrame){known->number, place->line};
	return true;
}
