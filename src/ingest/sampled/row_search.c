/* SPDX-License-Identifier: MIT */
#include "ingest/sampled/row_search.h"

#include "base/files/own_library.h"
#include "ingest/sampled/sampled_rows.h"

#include <string.h>

/* Where samples of a process at an address were found to belong, and in which time that holds. */
typedef struct LodeKnownRow {
	uint64_t address;
	LodeMappedPeriod period;
	uint32_t pid, row;
} KnownRow;

enum { KNOWN_ROWS = 1 << 14 };

void lode_row_search_init(LodeRowSearch *self, LodePlaces *places, LodeSampledRows *rows)
{
	self->places = places;
	self->rows = rows;
	self->known = g_new(KnownRow, KNOWN_ROWS);
}

void lode_row_search_clear(LodeRowSearch *self)
{
	g_free(self->known);
}

void lode_row_search_begin(LodeRowSearch *self)
{
	memset(self->known, 0, KNOWN_ROWS * sizeof(KnownRow));
}

static const char *path_of(const LodeRowSearch *self, const LodePlace *place)
{
	return lode_code_images_peek(lode_places_images(self->places), place->image)->path;
}

/* Most samples repeat an address, so that the search is skipped as long as its mapping lasts. Code
 * made at run time comes and goes without the mapping changing: it is searched each time. */
LodePlaceOutcome lode_row_search_find(
	LodeRowSearch *self, uint32_t pid, uint64_t time_ns, uint64_t address, uint32_t *out_row)
{
	KnownRow *known = &self->known[(address ^ address >> 14 ^ pid) % KNOWN_ROWS];
	LodePlace place;

	if (known->address == address && known->pid == pid && time_ns >= known->period.begin_ns &&
		time_ns < known->period.end_ns) {
		*out_row = known->row;
		return LODE_PLACE_FOUND;
	}
	LodePlaceOutcome outcome = lode_places_find(self->places, pid, time_ns, address, &place);
	if (outcome != LODE_PLACE_FOUND)
		return outcome;
	*out_row = lode_is_own_library(path_of(self, &place))
	                   ? LODE_ROW_OF_RECORDER
	                   : lode_sampled_rows_find(self->rows, &place);
	*known = (KnownRow){address, lode_places_period(self->places), pid, *out_row};
	return LODE_PLACE_FOUND;
}

/* Whether a library that lode put into the program called the code of the sample. */
static bool is_recorder_caller(const LodeRowSearch *self, const LodeSampledCode *from)
{
	const LodePerfSample *sample = &from->record->sample;
	g_autoptr(GArray) callers = g_array_new(FALSE, FALSE, sizeof(LodePlace));
	LodeUserRegisters registers = {0};

	if (sample->user_registers != NULL)
		lode_user_registers_from_perf(&registers, from->event->user_registers,
			sample->user_abi, sample->user_registers);
	lode_call_chain_find(self->places, from, &registers, callers);
	/* The C library's function may be in between. */
	for (guint i = 0; i < MIN(callers->len, 2); i++)
		if (lode_is_own_library(path_of(self, &g_array_index(callers, LodePlace, i))))
			return true;
	return false;
}

bool lode_row_search_is_of_recorder(const LodeRowSearch *self, uint32_t row,
	const LodePerfRecord *record, const LodePerfEvent *event, uint64_t time_ns)
{
	if (row == LODE_NONE || row == LODE_ROW_OF_RECORDER)
		return row == LODE_ROW_OF_RECORDER;
	const LodePlace *place = &g_array_index(self->rows->places, LodePlace, row);
	const LodeSampledCode from = {record, event, time_ns, *place};
	return strcmp(path_of(self, place), "[vdso]") == 0 && is_recorder_caller(self, &from);
}
