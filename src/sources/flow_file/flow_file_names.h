/* SPDX-License-Identifier: MIT */
/*
 * Byte strings to numbers, for the reader of flow files: the names of a graph's vertices, the
 * events, the lists of attributes. Numbers are given in the order in which names first come.
 */
#pragma once

#include <glib.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
	const char *text; /* ends with a NUL */
	uint32_t length;
	uint32_t hash;
	uint32_t slot;
} LodeFlowFileName;

typedef struct {
	GStringChunk *strings; /* where new names are kept; borrowed */
	GArray *names;         /* LodeFlowFileName */
	uint32_t *slots;       /* number + 1; 0: free */
	uint32_t n_slots;      /* a power of two */
	uint64_t seed;         /* of the hash: an input cannot be made to collide */
} LodeFlowFileNames;

void lode_flow_file_names_init(LodeFlowFileNames *self, GStringChunk *strings);
void lode_flow_file_names_clear(LodeFlowFileNames *self);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(LodeFlowFileNames, lode_flow_file_names_clear)

/* The number of these bytes, which are copied when new: then it is the number of names before. */
uint32_t lode_flow_file_names_add(LodeFlowFileNames *self, const char *text, uint32_t length);

/* Forgets all names, in time proportional to their number; copies stay in `strings`. */
void lode_flow_file_names_reset(LodeFlowFileNames *self);

static inline const char *lode_flow_file_names_text(const LodeFlowFileNames *self, uint32_t number)
{
	return g_array_index(self->names, LodeFlowFileName, number).text;
}
