/* SPDX-License-Identifier: MIT */
/* Finds what stands where in an .rps file. Private to traces/. */
#pragma once

#include "traces/rps_file.h"

/*
 * Sets frames and description of a file whose header is right: by the index, or else by going
 * through the sections from the front, up to what is not whole. Damage is noted, and no error.
 */
void lode_rps_contents_read(LodeRpsFile *self);
