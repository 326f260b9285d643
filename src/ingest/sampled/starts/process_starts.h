/* SPDX-License-Identifier: MIT */
/*
 * Where in scripts processes were started (LodeWaits.starts): the commands of processes, compared
 * with the texts of the shell scripts and Makefiles that started them, as they are when the
 * recording is imported. What is started by a program without such a text, as xargs, has the place
 * where that was started.
 */
#pragma once

#include "model/waits.h"

typedef struct LodeProfile LodeProfile;

/* Fills `starts`, whose strings live as long as `processes`' do or are interned by the profile. */
void lode_process_starts_find(LodeProfile *profile, LodeWaits *waits);
