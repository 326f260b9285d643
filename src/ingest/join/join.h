/* SPDX-License-Identifier: MIT */
/*
 * The join of a recording with the binaries that ran. One struct goes through the steps,
 * each of which fills what the next one reads; the profile grows along the way.
 *
 *   objects ──images──▶ rows by (image, address) ──infer──▶ with executions, where these were not
 *   counted ──functions──▶ profile.functions, .instructions
 *   jumps, calls ──transfers──▶ between instructions ──decode──▶ codes, profile.blocks
 *   ──flow──▶ profile.edges, next_count, inflow ──costs──▶ profile.costs
 *   ──attributes──▶ attribute sets, locations
 *
 * From the functions step on, an index of `codes`, `first_rows` and profile.instructions means the
 * same instruction. Private to ingest/.
 */
#pragma once

#include "base/progress.h"
#include "images/binary_image.h"
#include "images/control_flow.h"
#include "ingest/memory/memory_objects.h"
#include "ingest/memory/memory_reading.h"
#include "model/profile.h"
#include "sources/jit_code_set.h"
#include "sources/load_map_set.h"
#include "sources/recording.h"

/* What the decoder and the control flow say of an executed instruction. */
typedef struct {
	uint64_t target; /* of a direct branch; else 0 */
	uint32_t kinds;
	uint16_t mnemonic;
	uint8_t prefix;
	uint8_t memory;
	uint8_t branch; /* LodeBranch */
	uint8_t length; /* 0: not decoded */
	uint8_t loop_depth;
	bool is_repeat, is_entry, is_loop_head, is_return_point;
} LodeJoinCode;

/* An executed instruction of the recording, and where it lies. Sorted by (image, address, row). */
typedef struct {
	uint64_t address;
	uint32_t image;
	uint32_t row; /* of recording->instructions */
} LodeJoinSite;

/* A jump or call of the recording, between instructions. Sorted by (source, target). */
typedef struct {
	uint32_t source; /* LODE_NONE: of a trace, a thread began at the target */
	uint32_t target; /* LODE_NONE: callgrind did not count it; of a trace, a thread ended */
	bool is_call;
	bool is_jump; /* by its instruction, so that it may show the way inside a function */
	double count;
} LodeJoinTransfer;

typedef struct {
	uint32_t image;
	uint64_t address;
} LodeJoinPlace;

/* What the operands of an instruction access: numbers of LodeMemoryObjects; 0: unknown. */
typedef struct {
	uint32_t numbers[2];
} LodeJoinObjects;

/* What a recording is joined with; all borrowed. */
typedef struct {
	const LodeLoadMapSet *load_maps;
	const LodeJitCodeSet *jit;
	LodeMemoryReading *memory_reading; /* NULL: no data addresses were recorded */
	const char *program; /* the command line, when the caller knows it better; may be NULL */
	bool allow_debuginfod;
	unsigned threads; /* 0: all processors */
} LodeJoinContext;

typedef struct {
	const LodeJoinContext *context;
	const LodeProgress *progress;
	unsigned n_workers;
	const LodeRecording *recording;
	const LodeRecording *recorded; /* as it was read */
	LodeRecording *inferred;       /* `recording`, once executions were inferred; else NULL */
	const LodeLoadMapSet *load_maps;
	const LodeJitCodeSet *jit;
	LodeProfile *profile;

	GArray *object_images;      /* uint32_t: image of each object; LODE_NONE for "???" */
	GPtrArray *object_segments; /* GArray of LodeLoadMapSegment of each object, NULL where they
	                               are not known; empty when no code was made at run time */
	GHashTable *image_ids;      /* interned path → image + 1 */
	GArray *unknown_images;     /* uint32_t × objects: for addresses no map explains */
	LodeBinaryImage **binaries; /* of each image; NULL where there is no file */
	char **open_errors;         /* why not */
	size_t n_binaries;

	GArray *sites;           /* LodeJoinSite; freed by the functions step */
	GArray *first_rows;      /* uint32_t × (instructions + 1): range of `rows` */
	GArray *rows;            /* uint32_t: rows of recording->instructions */
	GArray *image_functions; /* uint32_t × (images + 1): range of profile.functions */
	GArray *transfers;       /* LodeJoinTransfer */
	LodeJoinCode *codes;
	uint32_t ir_column;    /* of event "Ir" in the recording */
	GArray *column_events; /* uint32_t: event of each column; LODE_NONE for executions */
	LodeMemoryReading *memory_reading; /* NULL: no data addresses were recorded */
	LodeMemoryObjects *memory_objects;
	GArray *objects; /* LodeJoinObjects × instructions; empty without data addresses */
} LodeJoin;

/* The whole join. Takes nothing over; the caller owns the result. */
LodeProfile *lode_join_recording(const LodeRecording *recording, const LodeJoinContext *context,
	const LodeProgress *progress, GError **error);

/* The steps, in this order. */
bool lode_join_events(LodeJoin *self, GError **error);
bool lode_join_images(LodeJoin *self, GError **error);
bool lode_join_infer(LodeJoin *self, GError **error);
bool lode_join_functions(LodeJoin *self, GError **error);
bool lode_join_transfers(LodeJoin *self, GError **error);
bool lode_join_decode(LodeJoin *self, GError **error);
bool lode_join_flow(LodeJoin *self, GError **error);
bool lode_join_costs(LodeJoin *self, GError **error);
bool lode_join_objects(LodeJoin *self, GError **error);
bool lode_join_attributes(LodeJoin *self, GError **error);
bool lode_join_memory(LodeJoin *self, GError **error);

/* Where an address of an object lies; image LODE_NONE when the load map does not know either. */
LodeJoinPlace lode_join_place(const LodeJoin *self, uint32_t object, uint64_t address);

/* The order of LodeJoinSite, for qsort(). */
int lode_join_compare_sites(const void *a, const void *b);

/* The last function of the image that begins at or before the address, or LODE_NONE. */
uint32_t lode_join_find_function(const LodeJoin *self, uint32_t image, uint64_t address);

/* The executed instruction at an address, or LODE_NONE. */
uint32_t lode_join_find(const LodeJoin *self, uint32_t image, uint64_t address);
