/* SPDX-License-Identifier: MIT */
#include "views/live/cell_grid.h"

void lode_cell_grid_init(LodeCellGrid *self, unsigned width, unsigned height)
{
	*self = (LodeCellGrid){
		.width = width,
		.height = height,
		.cells = g_new(LodeCell, (size_t)width * height),
	};
	for (size_t i = 0; i < (size_t)width * height; i++)
		self->cells[i] = (LodeCell){' ', LODE_CELL_PLAIN};
}

void lode_cell_grid_clear(LodeCellGrid *self)
{
	g_clear_pointer(&self->cells, g_free);
}

void lode_cell_grid_put(
	LodeCellGrid *self, unsigned x, unsigned y, gunichar character, LodeCellStyle style)
{
	if (x < self->width && y < self->height)
		self->cells[(size_t)y * self->width + x] = (LodeCell){character, style};
}

static gunichar showable(gunichar character, bool is_ascii)
{
	bool is_one_column = !g_unichar_iswide(character) && !g_unichar_iszerowidth(character) &&
	                     g_unichar_isprint(character);

	return is_one_column && (character < 0x7f || !is_ascii) ? character : '?';
}

unsigned lode_cell_grid_write(LodeCellGrid *self, const LodeCellPlace *place, const char *text)
{
	unsigned n = 0;

	for (const char *at = text; *at != '\0' && n < place->width; n++) {
		gunichar character = g_utf8_get_char_validated(at, -1);
		bool is_valid = character < 0x110000;
		at = is_valid ? g_utf8_next_char(at) : at + 1;
		lode_cell_grid_put(self, place->x + n, place->y,
			is_valid ? showable(character, place->is_ascii) : '?', place->style);
	}
	return n;
}

void lode_cell_grid_paint(
	LodeCellGrid *self, unsigned x, unsigned y, unsigned width, LodeCellStyle style)
{
	for (unsigned i = x; i - x < width && i < self->width && y < self->height; i++)
		self->cells[(size_t)y * self->width + i].style = style;
}

char *lode_cell_grid_text(const LodeCellGrid *self)
{
	GString *text = g_string_new(NULL);

	for (unsigned y = 0; y < self->height; y++) {
		gsize end = text->len;
		for (unsigned x = 0; x < self->width; x++) {
			gunichar character = self->cells[(size_t)y * self->width + x].character;
			g_string_append_unichar(text, character);
			end = character != ' ' ? text->len : end;
		}
		g_string_truncate(text, end);
		g_string_append_c(text, '\n');
	}
	return g_string_free(text, FALSE);
}
