/* SPDX-License-Identifier: MIT */
/* A profile as a lode of schema version 3 wrote it. */
#pragma once

/* Makes a profile of the present version one of version 3, with its runs. */
void make_old_profile(const char *path);
