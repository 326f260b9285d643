/* SPDX-License-Identifier: MIT */
/*
 * The join of a recording with the binaries that ran. Each step takes what earlier ones made and
 * makes one thing more; all of them add to the profile.
 *
 *   recording ─events──────▶ LodeJoinEvents: its columns as events of the profile
 *             ─images──────▶ LodeJoinImages: binaries, opened; profile.images
 *             ─sites───────▶ where each row lies, by (image, address)
 *             ─infer───────▶ the same with executions, where these were not counted
 *   sites     ─functions───▶ LodeJoinRows; profile.functions, .instructions
 *   jumps     ─transfers───▶ between instructions
 *             ─decode──────▶ LodeJoinCode of each instruction; profile.blocks
 *             ─callees─────▶ in the codes: checks, calls of small functions
 *             ─flow────────▶ profile.edges, next_count, inflow
 *             ─costs───────▶ profile.costs
 *             ─windows─────▶ profile.windows
 *             ─causes──────▶ the weight that was sampled late, at what waited; likewise
 *             ─dependences─▶ in the codes: what each instruction waits for; profile.loops
 *             ─facts───────▶ likewise: what windows say of it, whether it follows a fork
 *             ─objects─────▶ LodeJoinObjects, where data addresses were recorded
 *             ─attributes──▶ attribute sets, locations
 *             ─memory──────▶ profile.memory
 *             ─stacks──────▶ profile.stacks
 *             ─waits───────▶ profile.waits
 *
 * From the functions step on, an instruction is a number: of profile.instructions, of the codes, of
 * LodeJoinRows.first and of LodeJoinObjects.operands. Private to ingest/.
 */
#pragma once

#include "base/progress.h"
#include "images/code/control_flow.h"
#include "images/elf/binary_image.h"
#include "ingest/join/loops/loop_strides.h"
#include "ingest/memory/memory_objects.h"
#include "ingest/sampled/sampled_stacks.h"
#include "ingest/sampled/waits/sampled_waits.h"
#include "sources/code/jit_code_set.h"
#include "sources/recording.h"

typedef struct LodeLoadMapSet LodeLoadMapSet;
typedef struct LodeMemoryReading LodeMemoryReading;
typedef struct LodeSamplePairs LodeSamplePairs;
typedef struct LodeWindowReading LodeWindowReading;

/* The inputs with which a recording is joined; all borrowed. */
typedef struct {
	const LodeLoadMapSet *load_maps;
	const LodeJitCodeSet *jit;
	LodeMemoryReading *memory_reading; /* NULL: no data addresses were recorded */
	LodeSampledStacks *stacks;         /* NULL: there are no samples */
	LodeSampledWaits *waits;           /* likewise */
	const LodeWindowReading *windows;  /* NULL: no windows were recorded */
	LodeSamplePairs *pairs;            /* NULL: there are no samples */
	const char *program;   /* the command line, when the caller knows it better; may be NULL */
	const char *processor; /* that was recorded, as perf writes it; NULL: unknown */
	const LodeCoreFigures *core_figures; /* that were measured of it; NULL: none */
	LodeCodeImages *code_images;         /* where all that ran are added and opened */
	unsigned threads;                    /* 0: all processors */
} LodeJoinContext;

/* The whole join. Takes nothing over; the caller owns the result. */
LodeProfile *lode_join_recording(const LodeRecording *recording, const LodeJoinContext *context,
	const LodeProgress *progress, GError **error);

/* An event that was sampled late, and the one that has its weight at what waited. */
typedef struct {
	uint32_t sampled, charged;
} LodeJoinCause;

/* A recording's columns in the profile. */
typedef struct {
	uint32_t count_column; /* of event "Ir" */
	GArray *column_events; /* uint32_t: event of each column; LODE_NONE for executions */
	GArray *causes;        /* LodeJoinCause */
} LodeJoinEvents;

/* Adds the events, also those made of others, and chooses the weight. */
bool lode_join_events(
	LodeProfile *profile, const LodeRecording *recording, LodeJoinEvents *out, GError **error);
void lode_join_events_clear(LodeJoinEvents *self);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(LodeJoinEvents, lode_join_events_clear)

/* The event of a sampled column by the column's name; a counted one may have the same. Columns of a
 * trace are named as they are in the profile. Without such an event, the profile's weight. */
uint32_t lode_join_find_event(const LodeProfile *profile, const LodeRecording *recording,
	const LodeJoinEvents *events, const char *name);

/* The profile's images by what the recording calls them, and their files. */
typedef struct {
	const LodeJoinContext *context;
	unsigned n_workers;
	GArray *code_images;        /* uint32_t: the code image of each; LODE_NONE: none */
	GArray *images_of_code;     /* uint32_t: the image of each code image; LODE_NONE */
	GArray *object_images;      /* uint32_t: image of each object; LODE_NONE for "???" */
	GArray *unknown_images;     /* uint32_t × objects: for addresses no map explains */
	LodeBinaryImage **binaries; /* of each image, borrowed; NULL where there is no file */
	const char **open_errors;   /* why not; likewise */
	size_t n;
} LodeJoinImages;

/* The profile's image of a code image, which may be LODE_NONE; LODE_NONE: nothing of it ran. */
uint32_t lode_join_image_of(const LodeJoinImages *self, uint32_t code_image);

/* An executed instruction of the recording, and where it lies. Sorted by (image, address, row). */
typedef struct {
	uint64_t address;
	uint32_t image;
	uint32_t row; /* of recording->instructions */
} LodeJoinSite;

/* The order of LodeJoinSite, for qsort(). */
int lode_join_compare_sites(const void *a, const void *b);

/* Rows of a recording, and where each lies; borrowed. */
typedef struct {
	const LodeRecording *recording;
	const GArray *sites; /* LodeJoinSite */
} LodeJoinPlaced;

/* Names the images that ran, opens them, unless it is cancelled, and gives the sites of the
 * recording's rows; the caller owns both. Samples where a counting run executed nothing get none,
 * and are accounted for. */
GArray *lode_join_images(LodeProfile *profile, const LodeRecording *recording,
	const LodeJoinContext *context, const LodeProgress *progress, LodeJoinImages *out);
void lode_join_images_clear(LodeJoinImages *self);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(LodeJoinImages, lode_join_images_clear)

/* The place of an address of the recording's object in an image of the profile; LODE_NONE if
 * unknown. */
LodePlace lode_join_place(const LodeJoinImages *self, const LodeRecording *recording,
	uint32_t object, uint64_t address);

/* A recording as if executions had been counted, with its sites; the caller owns both. It refers to
 * the names of the one that has the samples. Appends the decoded code to `known`, for
 * lode_join_decode(). Errors: _LIMIT. */
LodeRecording *lode_join_infer(LodeProfile *profile, const LodeJoinImages *images,
	const LodeJoinPlaced *samples, GArray *known, GArray **out_sites, GError **error);

/* The rows of a recording that each instruction has. */
typedef struct {
	const LodeRecording *recording; /* borrowed */
	GArray *first;                  /* uint32_t × (instructions + 1): range of `rows` */
	GArray *rows;                   /* uint32_t: of recording->instructions */
} LodeJoinRows;

/* Adds functions, by (image, address), and their executed instructions with counts. */
void lode_join_functions(LodeProfile *profile, const LodeJoinImages *images,
	const LodeJoinPlaced *placed, uint32_t count_column, LodeJoinRows *out);
void lode_join_rows_clear(LodeJoinRows *self);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(LodeJoinRows, lode_join_rows_clear)

/* The last function of the image that begins at or before the address, or LODE_NONE. */
uint32_t lode_join_find_function(const LodeProfile *profile, uint32_t image, uint64_t address);

/* The executed instruction at an address, or LODE_NONE. */
uint32_t lode_join_find(const LodeProfile *profile, uint32_t image, uint64_t address);

/* A jump or call of the recording, between instructions. Sorted by (source, target). */
typedef struct {
	uint32_t source; /* LODE_NONE: of a trace, a thread began at the target */
	uint32_t target; /* LODE_NONE: callgrind did not count it; of a trace, a thread ended */
	bool is_call;
	bool is_jump; /* by its instruction, so that it may show the way inside a function */
	double count;
} LodeJoinTransfer;

/* LodeJoinTransfer; the caller owns them. Transfers from no known instruction are accounted for.
 */
GArray *lode_join_transfers(
	LodeProfile *profile, const LodeJoinImages *images, const LodeRecording *recording);

/* The code of an executed instruction, from the decoder and the control flow. */
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
	uint16_t needs, address_needs, behind; /* as LodeDependence; once dependences are known */
	uint8_t chain;
	uint8_t carried;                                   /* as LodeLoopDependence */
	bool is_invariant, is_early, is_linear, is_on_way; /* the address: as LodeLoopDependence */
	LodeLoopStride walk;                               /* of its first operand in memory */
	uint32_t facts;                                    /* bits of LodeJoinFact */
	uint8_t frame_use;                                 /* LodeFrameUse */
	uint8_t check; /* kind of LodeCodeChecks, and LodeCallee: once callees are known */
	uint8_t callee;
	uint32_t loop; /* 1 + head of the innermost loop that has it; 0: none */
	/* Of such a head: how often the loop was entered, and its rounds each time, by registers */
	double loop_entries;
	LodeMeanRounds rounds;
} LodeJoinCode;

/* Facts that become attributes; join_facts.c defines them. */
typedef enum {
	LODE_JOIN_FACT_DENORMAL_OPERAND,
	LODE_JOIN_FACT_DENORMAL_RESULT,
	LODE_JOIN_FACT_SPLIT_LINE,
	LODE_JOIN_FACT_SPLIT_PAGE,
	LODE_JOIN_FACT_REPEATS_ADDRESS,
	LODE_JOIN_FACT_REPEATS_ARGUMENTS,
	LODE_JOIN_FACT_REPEATS_RESULT,
	LODE_JOIN_FACT_REPEATS_UNCHANGED,
	LODE_JOIN_FACT_OUTCOMES_FORETOLD,
	LODE_JOIN_FACT_OUTCOMES_HARD,
	LODE_JOIN_FACT_AFTER_FORK,
	LODE_JOIN_FACT_ROUNDS_FEW,
	LODE_JOIN_FACT_ROUNDS_SOME,
	LODE_JOIN_FACT_ROUNDS_MANY,
	LODE_N_JOIN_FACTS,
} LodeJoinFact;

/* One for each instruction; the caller frees them. Adds the blocks that executed, and the
 * functions' bytes. Takes existing code from `known` (LodeJoinFunctionCode, by image and address).
 */
LodeJoinCode *lode_join_decode(
	LodeProfile *profile, const LodeJoinImages *images, const GArray *transfers, GArray *known);

/* Finds what is called: functions that do not return, where a check fails, and small ones. */
void lode_join_callees(LodeProfile *profile, const LodeJoinImages *images, LodeJoinCode *codes);

/* Adds edges, and how much of the flow is explained. May reorder the transfers. */
void lode_join_flow(LodeProfile *profile, const LodeRecording *recording, GArray *transfers,
	const LodeJoinCode *codes);

/* Adds the events' values; `events` are those of the rows' recording. */
void lode_join_costs(LodeProfile *profile, const LodeJoinRows *rows, const LodeJoinEvents *events);

/* Adds the values of the events at what waited: see model/causes.h. */
void lode_join_causes(
	LodeProfile *profile, const LodeJoinCode *codes, const LodeJoinEvents *events);

/* Finds what each instruction's operands come from, by the edges and costs, and fills
 * profile->loops, with their bounds on the recorded processor, and the time of an iteration by
 * pairs of samples. */
void lode_join_dependences(LodeProfile *profile, const LodeJoinImages *images, LodeJoinCode *codes);

/* Finds what windows say of instructions, and those after a branch that goes both ways. */
void lode_join_facts(const LodeProfile *profile, LodeJoinCode *codes);

/* "denormal", "operand". */
void lode_join_fact_name(LodeJoinFact fact, const char **out_name_space, const char **out_value);

/* Gives loops whose executions were counted the time of an iteration, where samples in pairs gave
 * none: the sampled time of the loop, less what samples took of it, ÷ its iterations. Not known of
 * loops that call, as the time of the called is not the loop's own. */
void lode_join_counted_times(LodeProfile *profile, const LodeRecording *recording);

/* Likewise, where the time from one execution of an instruction of the loop's function to the next
 * was measured (ingest/windows/window_visitors.h): that time, as far as the loop has the samples, ÷
 * the loop's iterations in it, by the inferred flow of the function. */
void lode_join_measured_times(LodeProfile *profile, const LodeJoinImages *images,
	const LodeJoinCode *codes, double sampling_share);

/* The objects that the operands of an instruction access: numbers of LodeMemoryObjects; 0: unknown.
 */
typedef struct {
	uint32_t numbers[2];
} LodeJoinOperands;

typedef struct {
	LodeMemoryObjects *known; /* NULL: no data addresses were recorded */
	GArray *operands;         /* LodeJoinOperands × instructions; empty likewise */
} LodeJoinObjects;

/* Asks the debug information what each instruction accesses, unless windows alone have data
 * addresses; begins profile->memory. Does nothing without a reading. */
void lode_join_objects(LodeProfile *profile, LodeMemoryReading *reading,
	const LodeJoinImages *images, const LodeJoinCode *codes, LodeJoinObjects *out);
void lode_join_objects_clear(LodeJoinObjects *self);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(LodeJoinObjects, lode_join_objects_clear)

/* Gives each instruction its attributes and its source location. */
void lode_join_attributes(LodeProfile *profile, const LodeJoinImages *images,
	const LodeJoinRows *rows, const LodeJoinCode *codes, const LodeJoinObjects *objects);

/* Adds the attribute kernel: to instructions at which the program entered the kernel. */
void lode_join_kernel_entries(LodeProfile *profile);

/* Counts what could not be resolved, under its reason. */
void lode_join_account(LodeProfile *profile, const LodeRecording *recorded,
	const LodeJoinImages *images, const LodeJoinCode *codes);

/* The inputs with which the accesses of a reading are joined; borrowed. */
typedef struct {
	LodeMemoryReading *reading;
	const LodeRecording *recording;
	const LodeJoinEvents *events; /* of the recording */
	const LodeJoinImages *images;
	const LodeJoinObjects *objects;
	const LodeProgress *progress;
} LodeJoinAccesses;

/* Charges samples of which several instructions may have waited, where nearly all executions take
 * one way. */
void lode_join_waiting(const LodeProfile *profile, const LodeJoinAccesses *accesses);

/* Adds the attributes that data addresses give, once samples and windows are in the profile. */
void lode_join_addresses(LodeProfile *profile, const LodeJoinCode *codes,
	const LodeJoinObjects *objects, const LodeJoinContext *context);

/* Adds threads, mappings and samples to profile->memory. Errors: _LIMIT, _CANCELLED. */
bool lode_join_memory(LodeProfile *profile, const LodeJoinAccesses *accesses, GError **error);

/* Adds what windows tell of instructions, and of the ways between them, to profile->windows. */
void lode_join_windows(
	LodeProfile *profile, const LodeJoinImages *images, const LodeWindowReading *reading);
