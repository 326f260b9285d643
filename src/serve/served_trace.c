/* SPDX-License-Identifier: MIT */
#include "serve/served_trace.h"

#include "model/profile.h"
#include "serve/turn.h"
#include "traces/trace_reader.h"

#include <stdio.h>
#include <string.h>

struct LodeServedTrace {
	char *path, *name;
	LodeTurn turn;        /* for the fields below; taken while the profile is used */
	char *simulated;      /* the key of the simulation; NULL: none yet */
	LodeProfile *profile; /* with the misses as events */
};

LodeServedTrace *lode_served_trace_open(const char *path, GError **error)
{
	g_autoptr(LodeTraceReader) reader = lode_trace_reader_open(path, NULL, error);

	if (reader == NULL)
		return NULL;
	LodeServedTrace *self = g_new0(LodeServedTrace, 1);
	self->path = g_strdup(path);
	self->name = g_path_get_basename(path);
	lode_turn_init(&self->turn);
	return self;
}

void lode_served_trace_close(LodeServedTrace *self)
{
	if (self == NULL)
		return;
	lode_profile_free(self->profile);
	lode_turn_clear(&self->turn);
	g_free(self->simulated);
	g_free(self->path);
	g_free(self->name);
	g_free(self);
}

const char *lode_served_trace_path(const LodeServedTrace *self)
{
	return self->path;
}

const char *lode_served_trace_name(const LodeServedTrace *self)
{
	return self->name;
}

const LodeProfile *lode_served_trace_take_profile(LodeServedTrace *self,
	const LodeImportOptions *options, const char *key, const LodeProgress *progress,
	GError **error)
{
	const char *path = self->path;
	LodeImportOptions import = *options;

	import.paths = &path;
	import.n_paths = 1;
	if (!lode_turn_take(&self->turn, progress, error))
		return NULL;
	if (g_strcmp0(key, self->simulated) == 0)
		return self->profile;
	LodeProfile *profile = lode_import(&import, progress, error);
	if (profile == NULL) {
		lode_turn_give(&self->turn);
		return NULL;
	}
	lode_profile_free(self->profile);
	self->profile = profile;
	g_free(self->simulated);
	self->simulated = g_strdup(key);
	return profile;
}

void lode_served_trace_give_back(LodeServedTrace *self)
{
	lode_turn_give(&self->turn);
}
