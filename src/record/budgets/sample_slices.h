/* SPDX-License-Identifier: MIT */
/*
 * When a program is sampled whose threads switch very often. With each switch the kernel takes the
 * timer from one thread and sets it for the next, which costs microseconds however rarely it
 * expires; disabled it costs next to nothing. So there are many samples in short slices of the
 * time, at random, and none between them:
 *
 *   sampled   ▁▁▁▁▁▁▁▁▁▁███▁▁▁▁▁▁▁▁▁▁▁▁▁▁██▁▁▁▁▁▁▁▁▁    3 % of the time
 *
 * The part is chosen by what a second of sampling costs. A sample stands for 1 ÷ part of its
 * period, whose sum is right whatever the part is, as slices do not depend on what the program does
 * (Horvitz and Thompson 1952).
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct {
	uint64_t frequency; /* samples a second, in a slice */
	double sample_ns;   /* of the program's time, each */
	double budget;      /* of its time, for sampling */
} LodeSliceCosts;

typedef struct {
	double part;    /* of the time; what a sample of now stands for is its inverse */
	double owed_us; /* of slices, at since_us; below 0: there was too much of them */
	double turn_us; /* a slice begins at so much owed, and ends at as much less than 0 */
	gint64 since_us;
	double sliced_us, passed_us; /* in all */
	double switches_ns;          /* of the program's time, that its switches took in slices */
	bool is_on;
} LodeSampleSlices;

void lode_sample_slices_init(LodeSampleSlices *self, gint64 now_us);

/* Whether there is a slice from now on; `switches` a second are the last that are known. */
bool lode_sample_slices_update(
	LodeSampleSlices *self, const LodeSliceCosts *costs, double switches, gint64 now_us);

/* The time until then was sampled otherwise. */
void lode_sample_slices_skip(LodeSampleSlices *self, gint64 now_us);

/* When that may change. */
gint64 lode_sample_slices_due_us(const LodeSampleSlices *self);
