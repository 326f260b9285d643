/* SPDX-License-Identifier: MIT */
/* A sheet that becomes an SVG or PNG file. */
#include "views/plot/plot_canvas.h"

#include "base/error.h"
#include "views/form/display_text.h"
#include "views/form/format.h"
#include "views/plot/cairo_library.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

enum { PIXELS_PER_UNIT = 2 };

struct LodePlotCanvas {
	LodePlotFormat format;
	FILE *out;
	GByteArray *bytes; /* the whole file, since cairo's SVG needs a change, see below */
	cairo_surface_t *surface;
	cairo_t *cairo;
	GString *tooltips, *texts; /* elements of SVG, which come after what cairo draws */
};

/* The canvas that a cairo_t draws on. */
static const cairo_user_data_key_t canvas_key;

bool lode_plot_format_from_path(const char *path, LodePlotFormat *out_format, GError **error)
{
	g_autofree char *lower = g_ascii_strdown(path, -1);

	if (g_str_has_suffix(lower, ".svg")) {
		*out_format = LODE_PLOT_SVG;
		return true;
	}
	if (g_str_has_suffix(lower, ".png")) {
		*out_format = LODE_PLOT_PNG;
		return true;
	}
	g_set_error(error, LODE_ERROR, LODE_ERROR_USAGE,
		"'%s' is not a picture that lode draws; use a name that ends in .svg or "
		".png",
		path);
	return false;
}

static cairo_status_t write_bytes(void *closure, const unsigned char *bytes, unsigned n)
{
	g_byte_array_append(closure, bytes, n);
	return CAIRO_STATUS_SUCCESS;
}

static cairo_surface_t *make_surface(
	LodePlotFormat format, double width, double height, GByteArray *bytes)
{
	if (format == LODE_PLOT_SVG) {
		cairo_surface_t *svg = lode_cairo.svg_surface_create_for_stream(
			write_bytes, bytes, width, height);
		lode_cairo.svg_surface_set_document_unit(svg, CAIRO_SVG_UNIT_PX);
		return svg;
	}
	return lode_cairo.image_surface_create(CAIRO_FORMAT_RGB24,
		(int)ceil(width) * PIXELS_PER_UNIT, (int)ceil(height) * PIXELS_PER_UNIT);
}

LodePlotCanvas *lode_plot_canvas_new(
	LodePlotFormat format, double width, double height, FILE *out, GError **error)
{
	g_assert(width <= LODE_PLOT_MAX_SIZE && height <= LODE_PLOT_MAX_SIZE);
	if (!lode_cairo_open(error)) {
		g_prefix_error(error, "cannot draw: ");
		return NULL;
	}
	LodePlotCanvas *self = g_new0(LodePlotCanvas, 1);
	self->format = format;
	self->out = out;
	self->bytes = g_byte_array_new();
	self->surface = make_surface(format, width, height, self->bytes);
	self->cairo = lode_cairo.create(self->surface);
	self->tooltips = g_string_new(NULL);
	self->texts = g_string_new(NULL);
	lode_cairo.set_user_data(self->cairo, &canvas_key, self, NULL);
	if (format == LODE_PLOT_PNG)
		lode_cairo.scale(self->cairo, PIXELS_PER_UNIT, PIXELS_PER_UNIT);
	lode_cairo.set_source_rgb(self->cairo, 1, 1, 1);
	lode_cairo.paint(self->cairo);
	return self;
}

void lode_plot_canvas_free(LodePlotCanvas *self)
{
	if (self == NULL)
		return;
	lode_cairo.destroy(self->cairo);
	lode_cairo.surface_destroy(self->surface);
	g_byte_array_unref(self->bytes);
	g_string_free(self->tooltips, TRUE);
	g_string_free(self->texts, TRUE);
	g_free(self);
}

cairo_t *lode_plot_canvas_cairo(LodePlotCanvas *self)
{
	return self->cairo;
}

/* cairo 1.16 numbers the surfaces of a process, so that a second picture has other bytes. */
static void drop_surface_number(GByteArray *bytes)
{
	static const char mark[] = "<g id=\"surface";
	uint8_t *found = memmem(bytes->data, bytes->len, mark, strlen(mark));

	if (found == NULL)
		return;
	guint at = (guint)(found - bytes->data) + (guint)strlen(mark), n = 0;
	while (at + n < bytes->len && g_ascii_isdigit((char)bytes->data[at + n]))
		n++;
	if (n > 0)
		g_byte_array_remove_range(bytes, at, n);
}

/* Before the end of the document. */
static void add_elements(LodePlotCanvas *self)
{
	static const char end[] = "</svg>";
	guint at = self->bytes->len;

	while (at > 0 && (self->bytes->len - at < strlen(end) ||
				 memcmp(self->bytes->data + at, end, strlen(end)) != 0))
		at--;
	if (at == 0)
		return;
	g_autofree char *tail = g_strndup(
		(const char *)self->bytes->data + at, self->bytes->len - at);
	g_byte_array_set_size(self->bytes, at);
	g_byte_array_append(
		self->bytes, (const guint8 *)self->tooltips->str, (guint)self->tooltips->len);
	g_byte_array_append(self->bytes, (const guint8 *)self->texts->str, (guint)self->texts->len);
	g_byte_array_append(self->bytes, (const guint8 *)tail, (guint)strlen(tail));
}

bool lode_plot_canvas_finish(LodePlotCanvas *self, GError **error)
{
	cairo_status_t status = lode_cairo.status(self->cairo);

	if (status == CAIRO_STATUS_SUCCESS && self->format == LODE_PLOT_PNG)
		status = lode_cairo.surface_write_to_png_stream(
			self->surface, write_bytes, self->bytes);
	lode_cairo.surface_finish(self->surface);
	if (status == CAIRO_STATUS_SUCCESS)
		status = lode_cairo.surface_status(self->surface);
	if (status != CAIRO_STATUS_SUCCESS) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_IO, "cannot draw the plot: %s",
			lode_cairo.status_to_string(status));
		return false;
	}
	if (self->format == LODE_PLOT_SVG) {
		drop_surface_number(self->bytes);
		add_elements(self);
	}
	fwrite(self->bytes->data, 1, self->bytes->len, self->out);
	return lode_view_flush(self->out, error);
}

static void choose_font(cairo_t *cairo, const LodePlotTextStyle *style)
{
	lode_cairo.select_font_face(cairo, "sans-serif", CAIRO_FONT_SLANT_NORMAL,
		style->is_bold ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL);
	lode_cairo.set_font_size(cairo, style->size);
}

static double measure(cairo_t *cairo, const char *text)
{
	cairo_text_extents_t extents;

	lode_cairo.text_extents(cairo, text, &extents);
	return extents.x_advance;
}

double lode_plot_text_width(cairo_t *cairo, const LodePlotTextStyle *style, const char *text)
{
	g_autofree char *plain = lode_display_text(text, false);

	choose_font(cairo, style);
	return measure(cairo, plain);
}

/* Halves the steps, so that an endless name takes few measurements. */
static void shorten(cairo_t *cairo, GString *text, double width)
{
	g_autofree char *whole = g_strdup(text->str);
	size_t low = 1, high = MIN(lode_display_width(whole), 400);

	if (text->len < 400 && measure(cairo, whole) <= width)
		return;
	while (low < high) {
		size_t middle = (low + high + 1) / 2;
		g_string_assign(text, whole);
		lode_display_shorten_middle(text, middle, false);
		if (measure(cairo, text->str) <= width)
			low = middle;
		else
			high = middle - 1;
	}
	g_string_assign(text, whole);
	lode_display_shorten_middle(text, low, false);
}

static LodePlotCanvas *svg_of(cairo_t *cairo)
{
	LodePlotCanvas *canvas = lode_cairo.get_user_data(cairo, &canvas_key);

	return canvas != NULL && canvas->format == LODE_PLOT_SVG ? canvas : NULL;
}

/* Independent of the locale. */
static void append_number(GString *out, const char *name, double value)
{
	char text[G_ASCII_DTOSTR_BUF_SIZE];

	g_string_append_printf(
		out, " %s=\"%s\"", name, g_ascii_formatd(text, sizeof(text), "%.2f", value));
}

static void append_colour(GString *out, double grey)
{
	unsigned level = (unsigned)lround(CLAMP(grey, 0, 1) * 255);

	g_string_append_printf(out, " fill=\"#%02x%02x%02x\"", level, level, level);
}

/* As long as cairo measured it, whatever font the viewer has. */
static void write_text(LodePlotCanvas *canvas, double x, double y, const LodePlotTextStyle *style,
	const char *text)
{
	double width = measure(canvas->cairo, text);
	g_autofree char *escaped = g_markup_escape_text(text, -1);
	GString *out = canvas->texts;

	if (text[0] == '\0')
		return;
	g_string_append(out, "<text font-family=\"sans-serif\" xml:space=\"preserve\"");
	append_number(out, "x", x);
	append_number(out, "y", y);
	append_number(out, "font-size", style->size);
	if (style->is_bold)
		g_string_append(out, " font-weight=\"bold\"");
	append_colour(out, style->grey);
	append_number(out, "textLength", width);
	g_string_append_printf(out, " lengthAdjust=\"spacingAndGlyphs\">%s</text>\n", escaped);
}

void lode_plot_tooltip(
	cairo_t *cairo, double x, double y, double width, double height, const char *text)
{
	LodePlotCanvas *canvas = svg_of(cairo);

	if (canvas == NULL)
		return;
	g_autofree char *plain = lode_display_text(text, false);
	g_autofree char *escaped = g_markup_escape_text(plain, -1);
	g_string_append(canvas->tooltips, "<rect fill=\"none\" pointer-events=\"all\"");
	append_number(canvas->tooltips, "x", x);
	append_number(canvas->tooltips, "y", y);
	append_number(canvas->tooltips, "width", width);
	append_number(canvas->tooltips, "height", height);
	g_string_append_printf(canvas->tooltips, "><title>%s</title></rect>\n", escaped);
}

void lode_plot_text(
	cairo_t *cairo, double x, double y, const LodePlotTextStyle *style, const char *text)
{
	g_autoptr(GString) plain = g_string_new(NULL);
	cairo_font_extents_t font;

	lode_display_append(plain, text, false);
	choose_font(cairo, style);
	if (style->width > 0)
		shorten(cairo, plain, style->width);
	lode_cairo.font_extents(cairo, &font);
	if (svg_of(cairo) != NULL && style->angle == 0) {
		write_text(svg_of(cairo), x - measure(cairo, plain->str) * (int)style->anchor / 2,
			y + (font.ascent - font.descent) / 2, style, plain->str);
		return;
	}
	lode_cairo.save(cairo);
	lode_cairo.translate(cairo, x, y);
	lode_cairo.rotate(cairo, style->angle);
	lode_cairo.set_source_rgb(cairo, style->grey, style->grey, style->grey);
	lode_cairo.move_to(cairo, -measure(cairo, plain->str) * (int)style->anchor / 2,
		(font.ascent - font.descent) / 2);
	lode_cairo.show_text(cairo, plain->str);
	lode_cairo.restore(cairo);
	lode_cairo.new_path(cairo);
}
