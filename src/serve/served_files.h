/* SPDX-License-Identifier: MIT */
/* All that a server shows: what was named on the command line, and what is being recorded. */
#pragma once

#include "serve/live/live_feed.h"
#include "serve/served_profile.h"
#include "serve/served_trace.h"
#include "views/code/source_text.h"

typedef struct {
	GPtrArray *profiles;            /* LodeServedProfile */
	GPtrArray *traces;              /* LodeServedTrace */
	LodeLiveFeed *live;             /* NULL: nothing is recorded */
	const LodeSourceAccess *source; /* which source files may be shown; NULL: no folders */
} LodeServedFiles;
