/* SPDX-License-Identifier: MIT */
/*
 * Inside the perf.data reader: its state, and what its files offer each other.
 *
 *   perf_data.c             open, close, the next record; records inside records, and those that
 *                           stand for the header in pipe mode
 *   perf_data_header.c      magic, sections, attributes; features: host, CPUs, build-ids, …
 *   perf_data_events.c      attributes → events, ids → events, names of events without one
 *   perf_data_records.c     samples, mappings, processes, losses
 *   perf_data_files.c       the files that a recording keeps copies of
 *   deferred_chains.c       user frames that come after their samples
 *   perf_data_windows.c     the logs of windows in a recording
 */
#pragma once

#include "base/byte_cursor.h"
#include "base/error.h"
#include "base/files/input_file.h"
#include "sources/perf_data/perf_data.h"
#include "sources/perf_data/perf_data_format.h"

typedef struct LodeDeferredChains LodeDeferredChains;

enum {
	LODE_PERF_ID_CACHE = 1024,
	LODE_PERF_WINDOW_BYTES = 1 << 18, /* several of the longest records */
};

/* The layout of an event's samples, for parsing. */
typedef struct {
	uint64_t sample_type, read_format, branch_sample_type;
	unsigned n_user_registers, n_interrupt_registers;
	unsigned trailer_size; /* bytes at the end of records that are not samples; 0: none */
	bool is_named;         /* by the file, not by us */
} LodePerfLayout;

/* One perf_event_attr in the machine's own order; a longer one in the file is cut, a shorter one
 * filled with zeros. */
typedef struct {
	uint32_t type, size;
	uint64_t config, period, sample_type, read_format, flags;
	uint32_t breakpoint_type;
	uint64_t config1, config2, branch_sample_type, user_registers, interrupt_registers;
	int32_t clock_id;
} LodePerfAttribute;

/* A record as it stands: header and payload. */
typedef struct {
	uint32_t type;
	uint16_t misc;
	uint64_t offset; /* in the file */
	bool is_first_reading;
	bool is_inside; /* of a compressed record, which stands at offset */
	LodeByteCursor payload;
} LodePerfRawRecord;

typedef struct LodePerfDecompressor LodePerfDecompressor;

typedef struct {
	uint64_t id;
	uint32_t event;
} LodePerfIdEntry;

/* A file with records. */
typedef struct {
	char *path;
	uint64_t size;
} LodePerfPart;

typedef struct {
	GArray *files;              /* LodePerfPart: that with the header; of a directory, those of
	                               records alone after it */
	guint at;                   /* that is read */
	uint64_t passed_bytes;      /* of those before */
	LodeInputFile *header_file; /* of the first */
	uint64_t records_start, records_end; /* likewise */
} LodePerfParts;

/* The file's bytes from `start` on. */
typedef struct {
	uint8_t *bytes; /* NULL: none read yet */
	uint64_t start;
	size_t size;
} LodePerfBytes;

typedef struct {
	GHashTable *known; /* uint64_t * → event + 1 */
	LodePerfIdEntry cache[LODE_PERF_ID_CACHE];
	int word, trailer_word; /* where the id stands, in words from the start or the end; −1:
	                           nowhere */
} LodePerfIds;

typedef struct {
	GHashTable *pmus;        /* type → name */
	GHashTable *tracepoints; /* config → name, of old perf */
} LodePerfNames;

/* Arrays of one record that must be swapped or aligned. */
typedef struct {
	uint64_t *words;
	size_t n; /* in use */
} LodePerfScratch;

struct LodePerfData {
	LodePerfParts parts;
	const char *path;    /* of the part that is read */
	LodeInputFile *file; /* likewise; NULL: records are handed in */
	uint64_t size;       /* likewise */
	uint64_t data_start, data_end;
	uint64_t at; /* the next record of the file */
	LodePerfBytes window;
	uint64_t n_read, n_seen; /* records since the start, and done in the longest reading */
	bool is_swapped;
	bool skips_samples;
	uint64_t n_samples; /* read or skipped */
	bool is_big_endian; /* bit fields count from the other end */

	GArray *events;     /* LodePerfEvent */
	GArray *layouts;    /* LodePerfLayout, as many */
	GArray *attributes; /* LodePerfAttribute, as many */
	LodePerfIds ids;
	bool is_divided;   /* its records are in other files */
	bool is_ambiguous; /* the events' records cannot be distinguished */
	bool has_tasks;    /* one of the events has */

	LodePerfNames names;
	GStringChunk *strings;
	LodePerfInfo info;

	LodeDeferredChains *deferred; /* NULL: none */
	uint64_t unpacked_bytes;      /* of the files that are kept */

	size_t record_size; /* of a LodePerfRecord */
	LodePerfScratch scratch;
	LodePerfDecompressor *decompressor; /* NULL: nothing compressed yet */
};

typedef enum {
	LODE_PERF_PARSED,
	LODE_PERF_SKIPPED,
	LODE_PERF_FAILED,
} LodePerfParse;

/* "PATH: at offset N: MESSAGE"; always false. */
bool lode_perf_data_fail(const LodePerfData *self, uint64_t offset, LodeErrorCode code,
	const char *message, GError **error);

/* A copy that is valid UTF-8 and lives as long as the reader; the text may lack its NUL. */
const char *lode_perf_data_keep_text(LodePerfData *self, const void *text, size_t size);

bool lode_perf_data_read_header(LodePerfData *self, GError **error);

/* Takes as many bytes as the attribute itself says. */
LodePerfAttribute lode_perf_data_read_attribute(const LodePerfData *self, LodeByteCursor *cursor);

/* Adds an event; its name may come later. */
void lode_perf_data_add_event(LodePerfData *self, const LodePerfAttribute *attribute);
void lode_perf_data_add_id(LodePerfData *self, uint64_t id, uint32_t event);
bool lode_perf_data_find_id_slowly(LodePerfData *self, uint64_t id, uint32_t *out_event);
/* An empty name changes nothing. */
void lode_perf_data_name_event(LodePerfData *self, uint32_t event, const char *name);
/* Names those of the events from `first` on that the file has not named, by type and config. */
void lode_perf_data_make_names(LodePerfData *self, uint32_t first);

/* One feature's bytes; damage is counted. */
void lode_perf_data_read_feature(LodePerfData *self, uint64_t feature, LodeByteCursor cursor);
/* How many of the 20 bytes are a build-id whose size was not recorded; 0: none is there. */
size_t lode_perf_data_guess_build_id_size(const uint8_t *build_id);
/* One entry of the build-id table, after its record header. */
bool lode_perf_data_read_build_id(LodePerfData *self, uint16_t misc, LodeByteCursor *cursor);

/* The entries of the section of recorded files; damage is counted, and ends them. Errors: _IO,
 * _LIMIT. */
bool lode_perf_data_read_files(LodePerfData *self, uint64_t offset, uint64_t size, GError **error);

/* Where the logs of windows are; damage is counted, and ends them. Errors: _IO. */
bool lode_perf_data_read_windows(
	LodePerfData *self, uint64_t offset, uint64_t size, GError **error);

/* Splits a record off the front of `left` bytes; a size of 0 stands for a record not all there. */
size_t lode_perf_data_split_record(
	const LodePerfData *self, const uint8_t *bytes, uint64_t left, LodePerfRawRecord *out_raw);

/* Counts a record that is not read; in the first reading, so that it counts once. */
void lode_perf_data_skip(LodePerfData *self, const LodePerfRawRecord *raw);

LodePerfParse lode_perf_data_parse_sample(
	LodePerfData *self, LodePerfRawRecord *raw, LodePerfRecord *out, GError **error);
LodePerfParse lode_perf_data_parse_kernel_record(
	LodePerfData *self, LodePerfRawRecord *raw, LodePerfRecord *out, GError **error);

/* The event of an id. Kernels number the ids of a recording one after the other, so that few meet
 * in the cache. */
static inline bool lode_perf_data_find_id(LodePerfData *self, uint64_t id, uint32_t *out_event)
{
	const LodePerfIdEntry *entry = &self->ids.cache[id % LODE_PERF_ID_CACHE];

	if (G_UNLIKELY(entry->id != id || id == 0))
		return lode_perf_data_find_id_slowly(self, id, out_event);
	*out_event = entry->event;
	return true;
}
