/* SPDX-License-Identifier: MIT */
/*
 * An axis of addresses, low ones at the bottom, with the empty stretches between them cut out, so
 * that heap, mappings and stacks are all to be seen although terabytes lie between:
 *
 *   [stack]    ▐ 0x7ffd…      a segment: addresses that are near each other, to scale inside;
 *              ═              a cut
 *   [anon]     ▐              its height grows with the root of its size, so that a small one
 *              ▐ 0x7f00…      keeps some rows
 *   libc.so.6  ▐              a mapping that follows without a gap is a segment of its own
 */
#pragma once

#include "analyses/memory/cells/address_histogram.h"
#include "analyses/memory/cells/cell_contents.h"

#include <cairo.h>

typedef struct {
	uint64_t first, last; /* the first and last byte */
	uint64_t cells_per_row;
	uint32_t first_row, n_rows; /* row 0 is the lowest of all */
	double top, bottom;         /* y, from the axis' top */
	double weight;
	char *name; /* the mapping's, without folders; "libc.so.6 and 2 more" */
	/* The heaviest there that are not mappings, "int a[] 61.0 %", as many as there may be room
	 * for; "12 more objects" at their end. Char *; may be empty. */
	GPtrArray *objects;
	bool is_joined; /* follows the segment below without a gap */
} LodeAddressSegment;

typedef struct LodeAddressAxis {
	GArray *segments; /* LodeAddressSegment by address */
	uint64_t granularity;
	uint32_t n_rows, n_left_out; /* segments with < 0.1 % of the weight */
	double left_out_weight;
	double height;
} LodeAddressAxis;

/* `cells` are of all threads, by address. */
LodeAddressAxis *lode_address_axis_new(const LodeProfile *profile, const LodeHistogramCell *cells,
	size_t n_cells, const LodeCellContents *contents, uint64_t granularity);
/* The axis of a part, to scale and without gaps: one segment from `first` to `last`, of at most
 * `n_rows` rows, without names. Only for rows: it has no place on a picture. */
LodeAddressAxis *lode_address_axis_new_part(uint64_t first, uint64_t last, uint32_t n_rows);
void lode_address_axis_free(LodeAddressAxis *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeAddressAxis, lode_address_axis_free)

/* The row of an address of one of the cells; LODE_NONE for addresses that were cut or left out. */
uint32_t lode_address_axis_row(const LodeAddressAxis *self, uint64_t address);

/* The first and last byte of a row, and the segment that it is of. */
const LodeAddressSegment *lode_address_axis_range(
	const LodeAddressAxis *self, uint32_t row, uint64_t *out_first, uint64_t *out_last);

/* The top and height of a row, from the axis' top. */
void lode_address_axis_place(
	const LodeAddressAxis *self, uint32_t row, double *out_top, double *out_height);

enum { LODE_ADDRESS_LABEL_WIDTH = 400 };

/* Draws the segments' names and addresses to the left of a panel whose top left corner is (x, y);
 * they take LODE_ADDRESS_LABEL_WIDTH. */
void lode_address_axis_draw_labels(const LodeAddressAxis *self, cairo_t *cairo, double x, double y);

/* Draws the frames of the segments, as wide as the panel, with the cuts between them. */
void lode_address_axis_draw_frame(
	const LodeAddressAxis *self, cairo_t *cairo, double x, double y, double width);
