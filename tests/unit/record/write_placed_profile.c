/* SPDX-License-Identifier: MIT */
/*
 * Writes a profile for the tests of lode place: four threads, of which 0 and 2 share one half of
 * [anon], 1 and 3 the other; thread 0 touched all of it first, and all share four pages.
 *
 *   write_placed_profile FILE.lode
 */
#include "../analyses/memory/sample_profile.h"
#include "store/profile_store.h"

#include <stdio.h>

enum { PAGES = 36, SHARED = 32 };

static void access_page(LodeProfile *profile, uint32_t thread, uint32_t page, int times)
{
	for (int i = 0; i < times; i++)
		sample_profile_access(
			profile, thread, SAMPLE_ANON + page * 4096 + 8, LODE_ACCESS_LOAD, 0);
}

int main(int argc, char **argv)
{
	g_autoptr(LodeProfile) profile = sample_profile_new(5, PAGES * 4096);
	g_autoptr(GError) error = NULL;

	if (argc != 2)
		return 2;
	for (uint32_t page = 0; page < PAGES; page++) {
		sample_profile_fault(profile, 0, SAMPLE_ANON + page * 4096, 1 + page, 0);
		for (uint32_t thread = 0; thread < 4; thread++)
			if (page >= SHARED)
				access_page(profile, thread, page, 5);
			else if (thread % 2 == page / (SHARED / 2))
				access_page(profile, thread, page, 3);
	}
	if (lode_profile_store_write(argv[1], profile, NULL, &error))
		return 0;
	fprintf(stderr, "%s\n", error->message);
	return 1;
}
