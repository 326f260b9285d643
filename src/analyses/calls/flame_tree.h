/* SPDX-License-Identifier: MIT */
/*
 * Call stacks merged into a tree: a node stands for all samples whose stacks begin with the same
 * functions, from the outermost inward.
 *
 *   main read copy  3 ┐            main 6 ── read 5 ── copy 3
 *   main read       2 ├──▶  all 6                └── (2 of its own)
 *   main write      1 ┘                  └── write 1
 *
 * Inverted, stacks begin with the innermost function and continue with its callers. Frames of one
 * function in one image are one, whatever their lines; recursion is kept. Brendan Gregg, "The Flame
 * Graph", Communications of the ACM 59(6), 2016.
 */
#pragma once

#include "base/progress.h"
#include "model/stacks.h"

/* Limits of a tree; stacks that exceed them end early, which `cut` counts. */
enum { LODE_FLAME_MAX_NODES = 1 << 22, LODE_FLAME_MAX_STEPS = 1 << 26 };

typedef struct {
	uint32_t function; /* of the tree's functions; LODE_NONE: all (node 0), or an unknown stack
	                    */
	uint32_t parent;   /* a node before it; LODE_NONE: node 0 */
	double samples;    /* in it and in the nodes below */
	double weight;     /* likewise, of the event */
	double self;       /* of the stacks that end here */
	uint64_t first_ns; /* time of the first sample in it or below; UINT64_MAX: not known */
} LodeFlameNode;

typedef struct LodeFlameTree {
	GArray *functions; /* uint32_t: one frame of each, a row of the stacks */
	GArray *nodes;     /* LodeFlameNode; node 0 is the whole */
	double cut;        /* weight of stacks that end early in the tree */
	gatomicrefcount references;
} LodeFlameTree;

/* The samples of one event; the caller unrefs the tree, which does not refer to the stacks. NULL:
 * cancelled. */
LodeFlameTree *lode_flame_tree_new(
	const LodeStacks *stacks, uint32_t event, bool is_inverted, const LodeProgress *progress);
LodeFlameTree *lode_flame_tree_ref(LodeFlameTree *self);
void lode_flame_tree_unref(LodeFlameTree *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeFlameTree, lode_flame_tree_unref)

/* The `limit` widest nodes at `root` or below it, a node after its parent; of equally wide ones
 * those with lower numbers. uint32_t, ascending; the caller unrefs it. */
GArray *lode_flame_tree_widest(const LodeFlameTree *self, uint32_t root, uint32_t limit);

/* The weight of all stacks that have one of these functions, each stack counted once:
 * `are_chosen` has a bool for each of the tree's functions. */
double lode_flame_tree_weight_of(const LodeFlameTree *self, const bool *are_chosen);
