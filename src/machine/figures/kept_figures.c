/* SPDX-License-Identifier: MIT */
#include "machine/figures/kept_figures.h"

#include "base/files/regular_file.h"
#include "machine/processor.h"

#include <string.h>

enum {
	WEEK_SECONDS = 7 * 24 * 3600,
	MAX_FILE_BYTES = 1 << 20,
};

static const double LARGEST = 1e6;

static gint64 now_seconds(void)
{
	return g_get_real_time() / G_USEC_PER_SEC;
}

static char *machine_name(void)
{
	g_autofree char *model = lode_processor_name();
	g_autofree char *id = lode_processor_id();
	g_autofree char *name = g_strdup_printf("%s, %s, %s", g_get_host_name(),
		model != NULL ? model : "processor", id != NULL ? id : "unknown");

	return g_strdelimit(g_steal_pointer(&name), "[]\n\r\t", ' ');
}

void lode_kept_figures_init(LodeKeptFigures *self, const char *path, const char *name)
{
	self->path = path != NULL ? g_strdup(path)
	                          : g_build_filename(g_get_user_cache_dir(), "lode", name, NULL);
	self->group = machine_name();
	self->file = g_key_file_new();
	g_autofree char *text = lode_regular_file_read(self->path, MAX_FILE_BYTES, NULL);
	if (text != NULL)
		g_key_file_load_from_data(self->file, text, (gsize)-1, G_KEY_FILE_NONE, NULL);
}

void lode_kept_figures_clear(LodeKeptFigures *self)
{
	g_clear_pointer(&self->path, g_free);
	g_clear_pointer(&self->group, g_free);
	g_clear_pointer(&self->file, g_key_file_unref);
}

bool lode_kept_figures_are_new(const LodeKeptFigures *self)
{
	gint64 now = now_seconds();
	gint64 measured = g_key_file_get_int64(self->file, self->group, "measured", NULL);

	return measured <= now && measured > now - WEEK_SECONDS;
}

bool lode_kept_figures_read(const LodeKeptFigures *self, const char *key, double *out, gsize n)
{
	gsize n_read = 0;
	g_autofree double *list = g_key_file_get_double_list(
		self->file, self->group, key, &n_read, NULL);

	if (list == NULL || n_read != n)
		return false;
	for (gsize i = 0; i < n; i++)
		if (!(list[i] >= 0 && list[i] < LARGEST))
			return false;
	memcpy(out, list, n * sizeof(double));
	return true;
}

void lode_kept_figures_set(LodeKeptFigures *self, const char *key, const double *list, gsize n)
{
	g_key_file_set_double_list(self->file, self->group, key, (double *)list, n);
}

void lode_kept_figures_write(LodeKeptFigures *self)
{
	g_autofree char *folder = g_path_get_dirname(self->path);

	g_key_file_set_int64(self->file, self->group, "measured", now_seconds());
	if (g_mkdir_with_parents(folder, 0700) == 0)
		g_key_file_save_to_file(self->file, self->path, NULL);
}
