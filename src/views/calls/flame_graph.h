/* SPDX-License-Identifier: MIT */
/*
 * A flame graph as JSON for the page: the widest nodes of the tree, as columns of equal length.
 *
 *   "functions": [[name, image, number in the profile, whether it matches `text`, short name], …]
 *   "nodes": {"number": […], "function": […], "parent": […], "weight": […], "self": […],
 *             "samples": […], "narrower": […], "first": […]}
 *
 * "number" names a node in requests for what is below it; "parent" is its place in these columns,
 * −1 for the first. "function" is −1 for the whole and for unknown stacks. A row with "narrower"
 * not 0 stands for so many nodes below its parent that were left out, with all below them. "first"
 * is when the first sample of a node was taken, in seconds from the first of all; −1: not known.
 * "from" is "stacks", or "tops" where stacks have only the callers of the recorded top.
 */
#pragma once

#include "views/export/stack_export.h"

#include <stdbool.h>
#include <stdio.h>

typedef struct LodeFlameTree LodeFlameTree;

typedef struct {
	const char *text; /* of functions to find; ASCII letters in any case; NULL: none */
	uint32_t root;    /* the nodes below it, and the path to it */
	uint32_t limit;   /* nodes */
	bool is_inverted; /* as the tree is */
} LodeFlameGraphOptions;

/* Errors: _IO, _NOT_FOUND (root). */
bool lode_flame_graph_write(const LodeStackExport *export, const LodeFlameTree *tree,
	const LodeFlameGraphOptions *options, FILE *out, GError **error);

/* The answer where no calls were recorded: "from" is null, and "advice" says how to record them. */
bool lode_flame_graph_write_none(const LodeProfile *profile, FILE *out, GError **error);
