/* SPDX-License-Identifier: MIT */
#include "record/placement_run.h"

#include "base/error.h"
#include "base/own_library.h"
#include "base/temporary_path.h"
#include "record/child.h"
#include "record/placement_orders_writer.h"
#include "record/preloaded_library.h"
#include "record/program_check.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define LIBRARY LODE_OWN_LIBRARY("placement")

typedef struct {
	char *path;
	PlacementOrders *mapped; /* shared with the program */
	size_t size;
} OrdersFile;

void lode_placement_run_free(LodePlacementRun *self)
{
	if (self == NULL)
		return;
	g_ptr_array_unref(self->notes);
	g_free(self);
}

static void close_orders(OrdersFile *self)
{
	if (self->mapped != NULL)
		munmap(self->mapped, self->size);
	if (self->path != NULL)
		g_unlink(self->path);
	lode_temporary_path_forget(self->path);
	g_free(self->path);
}

static bool open_orders(OrdersFile *self, const GByteArray *bytes, GError **error)
{
	int file = g_file_open_tmp("lode-placement-XXXXXX", &self->path, error);

	if (file < 0)
		return false;
	lode_temporary_path_add(self->path);
	self->size = bytes->len;
	void *place = MAP_FAILED;
	errno = ENOSPC; /* a short write sets none */
	if (write(file, bytes->data, bytes->len) == (ssize_t)bytes->len)
		place = mmap(NULL, self->size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	int code = errno;
	close(file);
	if (place != MAP_FAILED) {
		self->mapped = place;
		return true;
	}
	g_set_error(error, LODE_ERROR, LODE_ERROR_IO, "%s: cannot be written: %s", self->path,
		g_strerror(code));
	return false;
}

static char **environment_with(const char *library, const char *orders)
{
	char **environment = lode_preloaded_library_environment(NULL, library);

	return g_environ_setenv(environment, PLACEMENT_ORDERS_VARIABLE, orders, TRUE);
}

static void G_GNUC_PRINTF(2, 3) note(LodePlacementRun *self, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	g_ptr_array_add(self->notes, g_strdup_vprintf(format, arguments));
	va_end(arguments);
}

/* What the program's library could not find. Offsets are our own: it may have written anywhere. */
static void note_objects(
	LodePlacementRun *self, const PlacementOrders *orders, const GByteArray *written)
{
	const PlacementOrders *head = (const void *)written->data;
	const PlacementObject *asked = (const void *)(written->data + head->objects);
	const PlacementObject *answered = (const void *)((const char *)orders + head->objects);

	for (uint32_t i = 0; i < head->n_objects; i++)
		if (!answered[i].is_found)
			note(self, "object '%s' is not loaded when the program starts",
				(const char *)written->data + asked[i].name);
}

static void take_answers(LodePlacementRun *self, const LodePlacementRunOptions *options,
	const PlacementOrders *orders, const GByteArray *written)
{
	uint32_t n_placed = options->placement->n_threads;

	self->n_threads = orders->n_created;
	self->n_bound = orders->n_bound;
	self->n_policies = orders->n_policies;
	if (orders->pid == 0) {
		note(self, "the program did not load lode's library, so nothing was placed (it is "
			   "linked statically, set-user-ID, or of another architecture)");
		return;
	}
	if (orders->n_unbound > 0)
		note(self, "%u of %u threads could not be bound: %s", orders->n_unbound,
			orders->n_created, g_strerror((int)orders->bind_error));
	if (orders->n_created > n_placed)
		note(self,
			"the program created %u threads, the placement is for %u; the others "
			"run anywhere",
			orders->n_created, n_placed);
	else if (orders->n_created < n_placed)
		note(self, "the program created %u threads, the placement is for %u",
			orders->n_created, n_placed);
	if (orders->n_failed_policies > 0)
		note(self, "the kernel refused the placement of %u ranges: %s",
			orders->n_failed_policies, g_strerror((int)orders->policy_error));
	note_objects(self, orders, written);
}

static bool run(LodePlacementRun *self, const LodePlacementRunOptions *options, const char *path,
	const char *library, GError **error)
{
	g_autoptr(GByteArray)
		written = lode_placement_orders_new(options, path, self->notes, error);
	OrdersFile orders = {0};
	LodeChildEnd end;
	bool has_run = false;

	if (written == NULL)
		return false;
	if (open_orders(&orders, written, error)) {
		g_autoptr(GPtrArray) argv = g_ptr_array_new();
		g_auto(GStrv) environment = environment_with(library, orders.path);
		g_ptr_array_add(argv, (void *)path);
		for (size_t i = 1; options->argv[i] != NULL; i++)
			g_ptr_array_add(argv, (void *)options->argv[i]);
		g_ptr_array_add(argv, NULL);
		LodeChildOptions child = {
			.argv = (const char *const *)argv->pdata,
			.environment = (const char *const *)environment,
			.has_fixed_addresses = !options->is_randomised,
			.notes = options->notes,
		};
		has_run = lode_child_run(&child, &end, error);
	}
	if (has_run) {
		self->exit_status = end.status;
		self->stop_signal = end.stop_signal;
		take_answers(self, options, orders.mapped, written);
	}
	close_orders(&orders);
	return has_run;
}

LodePlacementRun *lode_placement_run(const LodePlacementRunOptions *options, GError **error)
{
	g_autofree char *path = lode_program_find(options->argv[0], error);
	g_autofree char *library = path != NULL ? lode_preloaded_library_find(
							  "preload/placement", LIBRARY, error)
	                                        : NULL;

	if (library == NULL)
		return NULL;
	g_autoptr(LodePlacementRun) self = g_new0(LodePlacementRun, 1);
	self->notes = g_ptr_array_new_with_free_func(g_free);
	return run(self, options, path, library, error) ? g_steal_pointer(&self) : NULL;
}
