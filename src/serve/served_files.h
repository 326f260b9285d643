/* SPDX-License-Identifier: MIT */
/* All files of a server: the files named on the command line, and the recording in progress. */
#pragma once

#include "serve/live/live_feed.h"
#include "serve/served_profile.h"
#include "serve/served_trace.h"
#include "views/code/source_text.h"

typedef struct {
	GPtrArray *profiles;            /* LodeServedProfile */
	GPtrArray *traces;              /* LodeServedTrace */
	LodeLiveFeed *live;             /* NULL: no recording in progress */
	const LodeSourceAccess *source; /* which source files may be shown; NULL: no folders */
} LodeServedFiles;
