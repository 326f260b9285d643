/* SPDX-License-Identifier: MIT */
/*
 * Seeds of random tests. They are fixed, a list in each test, so that the same test says the same
 * at every run. A soak (scripts/soak.sh) sets LODE_SOAK_SEED to one that no run had before: it
 * then counts in place of all others. One that fails is added to the test's list.
 *
 * Seeds are written as GLib's tests write them: "R02S" and 32 hexadecimal digits.
 */
#pragma once

#include <glib.h>

/* Adds a test for each seed (strings, NULL at the end), named PATH/SEED. The random_… functions
 * begin anew with it each time; of another test, they have one fixed seed. */
void add_random_test(const char *path, GTestFunc test, ...) G_GNUC_NULL_TERMINATED;

/* As g_test_rand_int() and its like. */
gint32 random_int(void);
gint32 random_int_range(gint32 begin, gint32 end);
gboolean random_bit(void);

/* How often a test repeats itself: `usual` in a test run, `thorough` in a soak and where
 * LODE_LONG_TESTS is in the environment. Where LODE_SHORT_TESTS=N is, an Nth of `usual`: under
 * sanitizers, which are slow, and look at what code does more than at what it gives. */
unsigned random_rounds(unsigned usual, unsigned thorough);

/* For generators of the test's own: `seed`, and in a soak another that depends on it. */
guint32 soak_seed(guint32 seed);
