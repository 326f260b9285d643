/* SPDX-License-Identifier: MIT */
/*
 * The images that ran, each opened once, at its first use. An image is identified by its content,
 * not by its path: two builds at one path are two images, one build at two paths is one.
 *
 *   identity ──▶ file ──▶ functions, bytes
 *                    ├─▶ segments: offset in the file → address in the image
 *                    ├─▶ control flow of each function
 *                    ├─▶ branch targets of the whole image
 *                    ├─▶ types of the debug information
 *                    └─▶ frames by the unwind table
 */
#pragma once

#include "base/progress.h"
#include "images/code/control_flow.h"
#include "images/elf/binary_image.h"
#include "images/targets/branch_targets.h"
#include "images/types/data_types.h"
#include "images/types/stack_frames.h"
#include "process/address_space.h"
#include "process/images/image_files.h"
#include "sources/recording.h"

typedef struct LodeCodeImages LodeCodeImages;

typedef struct {
	LodeImageKind kind;
	char *path;                 /* as the process had it */
	LodeImageIdentity identity; /* its strings are the images'; of files */
	char *file;                 /* where the image was found; NULL: nowhere */
	char *note, *debug;         /* see LodeFoundImageFile */
	LodeBinaryImage *binary;    /* NULL: not found, or cannot be opened */
	char *error;                /* then why */
	const LodeBinaryFunction *functions;
	size_t n_functions;
	/* Private: made at the first use. */
	LodeControlFlow *flows; /* of each function; without instructions until the first use */
	LodeDecodeCache *decode_cache; /* for the next of them; NULL: none yet */
	GArray *segments;              /* LodeLoadMapSegment; NULL: not used yet */
	LodeBranchTargets targets;     /* read at the first use */
	LodeDataTypes *types;          /* NULL: no debug information, or not used yet */
	LodeStackFrames *frames;       /* NULL: no unwind table, or not used yet */
	GThread *target_reader;        /* that reads `targets` */
	gint are_targets_read;         /* atomic, where there is a reader */
	bool is_looked_for, is_opened, has_targets, has_looked_for_types, has_looked_for_frames;
} LodeCodeImage;

/* `files` is borrowed: where they are looked for. NULL: only at their paths. */
LodeCodeImages *lode_code_images_new(LodeImageFiles *files, bool allow_debuginfod);
void lode_code_images_free(LodeCodeImages *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeCodeImages, lode_code_images_free)

/* The number of the image of a file, which is not opened yet; additional data of the identity is
 * added to the image, until its file is searched. */
uint32_t lode_code_images_add(LodeCodeImages *self, const LodeImageIdentity *identity);

/* Likewise of another kind, by its path: code made at run time, or the kernel, which no file has.
 */
uint32_t lode_code_images_add_kind(LodeCodeImages *self, LodeImageKind kind, const char *path);

/* Where the file of an image lies, as a running process shows; before it is looked for. */
void lode_code_images_set_file(LodeCodeImages *self, uint32_t image, const char *file);

/* An image that is of no file; taken over. Before it is opened. */
void lode_code_images_set_binary(LodeCodeImages *self, uint32_t image, LodeBinaryImage *binary);

/* Opens all that are not, by as many workers; 0: as many as there are processors. When it is
 * cancelled, some are not. */
void lode_code_images_open_all(
	LodeCodeImages *self, unsigned n_workers, const LodeProgress *progress);

/* An image, opened; that it cannot be opened is not an error. Valid as long as the images. */
LodeCodeImage *lode_code_images_at(LodeCodeImages *self, uint32_t image);

/* Where files are looked for; borrowed. */
LodeImageFiles *lode_code_images_files(const LodeCodeImages *self);

/* An image as it is known; it need not be opened for this. */
const LodeCodeImage *lode_code_images_peek(const LodeCodeImages *self, uint32_t image);

uint32_t lode_code_images_count(const LodeCodeImages *self);

/* The image's build-id in hex: the file's, or the recorded one; NULL: unknown. */
const char *lode_code_image_build_id(const LodeCodeImage *self);

/* The object of an image among those of a recording, added when it is new. */
uint32_t lode_code_images_object_of(
	const LodeCodeImages *self, LodeRecording *recording, uint32_t image);

/* Where an image lies as a whole: run-time addresses [low, high), `bias` above those of the image.
 */
typedef struct {
	uint64_t low, high, bias;
} LodeCodeLoad;

/* Finds the load address from one mapping of the file; false: no segment of the file begins in it.
 * The image need not be opened for this. */
bool lode_code_images_find_load(LodeCodeImages *self, uint32_t image, const LodeMappedRange *mapped,
	LodeCodeLoad *out_load);

/* Turns an offset in the file into an address in the image; false: nothing of the file is loaded
 * from there, or there is no file. The image need not be opened for this. */
bool lode_code_images_place(
	LodeCodeImages *self, uint32_t image, uint64_t offset, uint64_t *out_address);

/* Whether an address is one of the image's, by its segments; also where there is no file. */
bool lode_code_images_has_address(LodeCodeImages *self, uint32_t image, uint64_t address);

/* A place in code for people: "parse.c:120", without a line "libfoo.so+0x1234", without an image
 * (LODE_NONE) "?". `file` may be NULL. The caller frees it. */
char *lode_code_images_place_text(const LodeCodeImages *self, uint32_t image, uint64_t address,
	const char *file, uint32_t line);

/* Code at an address, as lode_binary_image_bytes(); NULL also without a file. */
const uint8_t *lode_code_image_bytes(const LodeCodeImage *self, uint64_t address, size_t *out_n);

/* The function that holds an address, or NULL. */
const LodeBinaryFunction *lode_code_image_function(const LodeCodeImage *self, uint64_t address);

/* Its control flow, kept; NULL where no function or no code is known. */
const LodeControlFlow *lode_code_image_flow(LodeCodeImage *self, uint64_t address);

/* All that the image jumps to; NULL without a file. */
const LodeBranchTargets *lode_code_image_targets(LodeCodeImage *self);

/* Likewise without waiting for it for longer than about `patience_us`: a thread reads it meanwhile,
 * and false says that it is not there yet. */
bool lode_code_image_try_targets(
	LodeCodeImage *self, gint64 patience_us, const LodeBranchTargets **out_targets);

/* NULL without debug information. */
LodeDataTypes *lode_code_image_types(LodeCodeImage *self);

/* NULL: the image has no unwind table. */
LodeStackFrames *lode_code_image_frames(LodeCodeImage *self);
