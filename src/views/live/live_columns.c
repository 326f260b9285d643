/* SPDX-License-Identifier: MIT */
#include "views/live/live_scene.h"

#include "base/arrays/partition_point.h"

#include <math.h>

/* Nothing between two accesses for so long is a gap. */
enum { GAP_UNITS = 16, GAP_BYTES = 1 << 20, GAPS_IN_VIEW = 4 };
/* So many places an extent should have on average. */
enum { PLACES_OF_EXTENT = 4 };

static uint64_t end_of(uint64_t address, uint64_t granularity)
{
	return address > UINT64_MAX - granularity ? UINT64_MAX : address + granularity;
}

static uint64_t units_of(const LodeLiveExtent *extent, uint64_t granularity)
{
	return MAX((extent->end - extent->start) / granularity, 1);
}

static void find_extents(GArray *extents, const LodeLiveTouch *touched, size_t n,
	uint64_t granularity, uint64_t max_gap, bool splits_mappings)
{
	LodeLiveExtent *last = NULL;

	g_array_set_size(extents, 0);
	for (size_t i = 0; i < n; i++) {
		uint64_t address = touched[i].address;
		bool is_same = last != NULL && address - last->end <= max_gap &&
		               (!splits_mappings || last->mapping == touched[i].mapping);
		if (is_same) {
			last->end = end_of(address, granularity);
			continue;
		}
		const LodeLiveExtent extent = {
			.start = address,
			.end = end_of(address, granularity),
			.mapping = touched[i].mapping,
		};
		g_array_append_val(extents, extent);
		last = &g_array_index(extents, LodeLiveExtent, extents->len - 1);
	}
}

/* Wider and wider gaps are bridged, until there is room for all extents. */
static void choose_extents(GArray *extents, const LodeLiveTouch *touched, size_t n,
	const LodeLiveColumnOptions *options)
{
	bool is_all = options->start == 0 && options->end == UINT64_MAX;
	uint64_t span = (options->end - options->start) / GAPS_IN_VIEW;
	uint64_t max_gap = MAX(options->granularity * GAP_UNITS, is_all ? GAP_BYTES : span);
	unsigned max_extents = MAX(options->n_places / PLACES_OF_EXTENT, 1);

	find_extents(extents, touched, n, options->granularity, max_gap, true);
	while (extents->len > max_extents && max_gap < UINT64_MAX / 4) {
		max_gap *= 4;
		find_extents(extents, touched, n, options->granularity, max_gap, true);
	}
	/* Small mappings one after the other, of many libraries: let them share. */
	max_gap = options->granularity;
	while (extents->len > max_extents && max_gap != UINT64_MAX) {
		max_gap = max_gap < UINT64_MAX / 4 ? max_gap * 4 : UINT64_MAX;
		find_extents(extents, touched, n, options->granularity, max_gap, false);
	}
}

/*
 * The extent with the highest wish for each column that it has; NULL: all are as wide as they can
 * be. Giving it the next column is Adams' method of apportionment: each extent has one column
 * before any has two, and none loses a column when the picture becomes wider.
 */
static LodeLiveExtent *neediest(GArray *extents, uint64_t granularity)
{
	LodeLiveExtent *best = NULL;
	double best_need = 0;

	for (guint i = 0; i < extents->len; i++) {
		LodeLiveExtent *extent = &g_array_index(extents, LodeLiveExtent, i);
		double need = log2(1 + (double)units_of(extent, granularity)) / extent->n;
		if (extent->n < units_of(extent, granularity) && need > best_need) {
			best = extent;
			best_need = need;
		}
	}
	return best;
}

static void share_columns(GArray *extents, const LodeLiveColumnOptions *options)
{
	unsigned used = extents->len * 2 - 1; /* a column for each, and a gap between two */
	LodeLiveExtent *extent;

	for (guint i = 0; i < extents->len; i++)
		g_array_index(extents, LodeLiveExtent, i).n = 1;
	for (; used < options->n_places; used++) {
		if ((extent = neediest(extents, options->granularity)) == NULL)
			break;
		extent->n++;
	}
}

/* Where column `i` of an extent begins: at unit units × i ÷ n, which is computed in two parts, as
 * the product may be too large for 64 bits. */
static uint64_t column_start(const LodeLiveExtent *extent, unsigned i, uint64_t granularity)
{
	uint64_t units = units_of(extent, granularity);

	if (i == extent->n)
		return extent->end;
	return extent->start +
	       (units / extent->n * i + units % extent->n * i / extent->n) * granularity;
}

static void add_columns(LodeLiveColumns *self, unsigned number, uint64_t granularity)
{
	LodeLiveExtent *extent = &g_array_index(self->extents, LodeLiveExtent, number);

	extent->first = self->columns->len;
	for (unsigned i = 0; i < extent->n; i++) {
		const LodeLiveColumn column = {
			.start = column_start(extent, i, granularity),
			.end = column_start(extent, i + 1, granularity),
			.extent = number,
			.place = self->columns->len + number,
		};
		g_array_append_val(self->columns, column);
	}
}

void lode_live_columns_init(LodeLiveColumns *self, const LodeLiveTouch *touched, size_t n,
	const LodeLiveColumnOptions *options)
{
	self->extents = g_array_new(FALSE, FALSE, sizeof(LodeLiveExtent));
	self->columns = g_array_new(FALSE, FALSE, sizeof(LodeLiveColumn));
	if (n == 0)
		return;
	choose_extents(self->extents, touched, n, options);
	share_columns(self->extents, options);
	for (guint i = 0; i < self->extents->len; i++)
		add_columns(self, i, options->granularity);
}

void lode_live_columns_clear(LodeLiveColumns *self)
{
	g_clear_pointer(&self->extents, g_array_unref);
	g_clear_pointer(&self->columns, g_array_unref);
}

int lode_live_columns_find(const LodeLiveColumns *self, uint64_t address)
{
	guint found = LODE_PARTITION_POINT(self->columns->len, i,
		g_array_index(self->columns, LodeLiveColumn, i).end <= address);

	return (int)MIN(found + 1, self->columns->len) - 1;
}
