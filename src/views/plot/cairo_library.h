/* SPDX-License-Identifier: MIT */
/*
 * The functions of cairo, which brings 17 more libraries for windows and fonts, so that it is
 * opened when there is something to draw.
 */
#pragma once

#include <cairo-svg.h>
#include <glib.h>
#include <stdbool.h>

#define LODE_CAIRO_FUNCTIONS(X)                                                                    \
	X(arc)                                                                                     \
	X(create)                                                                                  \
	X(destroy)                                                                                 \
	X(fill)                                                                                    \
	X(fill_preserve)                                                                           \
	X(font_extents)                                                                            \
	X(get_user_data)                                                                           \
	X(image_surface_create)                                                                    \
	X(line_to)                                                                                 \
	X(move_to)                                                                                 \
	X(new_path)                                                                                \
	X(paint)                                                                                   \
	X(rectangle)                                                                               \
	X(rel_line_to)                                                                             \
	X(restore)                                                                                 \
	X(rotate)                                                                                  \
	X(save)                                                                                    \
	X(scale)                                                                                   \
	X(select_font_face)                                                                        \
	X(set_dash)                                                                                \
	X(set_font_size)                                                                           \
	X(set_line_join)                                                                           \
	X(set_line_width)                                                                          \
	X(set_source_rgb)                                                                          \
	X(set_user_data)                                                                           \
	X(show_text)                                                                               \
	X(status)                                                                                  \
	X(status_to_string)                                                                        \
	X(stroke)                                                                                  \
	X(surface_destroy)                                                                         \
	X(surface_finish)                                                                          \
	X(surface_status)                                                                          \
	X(surface_write_to_png_stream)                                                             \
	X(svg_surface_create_for_stream)                                                           \
	X(svg_surface_set_document_unit)                                                           \
	X(text_extents)                                                                            \
	X(translate)

typedef struct {
#define LODE_CAIRO_MEMBER(name) __typeof__(&cairo_##name) name;
	LODE_CAIRO_FUNCTIONS(LODE_CAIRO_MEMBER)
#undef LODE_CAIRO_MEMBER
} LodeCairo;

extern LodeCairo lode_cairo; /* for who has a cairo_t: empty before lode_cairo_open() */

/* As often as one likes, in any thread. Errors: _UNSUPPORTED. */
bool lode_cairo_open(GError **error);
