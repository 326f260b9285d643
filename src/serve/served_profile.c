/* SPDX-License-Identifier: MIT */
#include "serve/served_profile.h"

#include "analyses/flow_graph/flow_graph.h"
#include "analyses/mine/closed.h"
#include "analyses/mine/miner.h"
#include "base/error.h"

#include <errno.h>
#include <sys/stat.h>

enum { MAX_LISTS = 16 };

/* Which file, and what it held: whoever writes a profile changes one of these. */
typedef struct {
	dev_t device;
	ino_t inode;
	off_t size;
	struct timespec changed;
} FileState;

struct LodeProfileSnapshot {
	gatomicrefcount references;
	char *path;
	FileState file;
	LodeProfile *profile;
	GPtrArray *runs;    /* LodeRunSummary */
	GMutex lock;        /* of what follows */
	GHashTable *loaded; /* name → LodeMiningRun, as stored */
	GHashTable *mined;  /* name → LodeMiningRun, mined here */
	GHashTable *closed; /* LodeMiningRun → bool [sequences] */
	GHashTable *lists;  /* what was asked for → GArray */
};

struct LodeServedProfile {
	char *path, *name;
	char *why;                    /* there is none yet */
	GMutex lock;                  /* held while the file is read */
	LodeProfileSnapshot *current; /* NULL: none yet */
};

static bool find_file(const char *path, FileState *out_file)
{
	struct stat status;

	if (stat(path, &status) != 0)
		return false;
	*out_file = (FileState){status.st_dev, status.st_ino, status.st_size, status.st_mtim};
	return true;
}

static bool is_same_file(const FileState *left, const FileState *right)
{
	return left->device == right->device && left->inode == right->inode;
}

static bool is_unchanged(const FileState *left, const FileState *right)
{
	return is_same_file(left, right) && left->size == right->size &&
	       left->changed.tv_sec == right->changed.tv_sec &&
	       left->changed.tv_nsec == right->changed.tv_nsec;
}

static bool fail_changed(const char *name, GError **error)
{
	g_set_error(error, LODE_ERROR, LODE_ERROR_IO,
		"%s was written to while it was read; try again", name);
	return false;
}

static void free_run(void *run)
{
	lode_mining_run_free(run);
}

/* --- a snapshot --- */

static LodeProfileSnapshot *snapshot_ref(LodeProfileSnapshot *self)
{
	g_atomic_ref_count_inc(&self->references);
	return self;
}

void lode_profile_snapshot_unref(LodeProfileSnapshot *self)
{
	if (self == NULL || !g_atomic_ref_count_dec(&self->references))
		return;
	g_hash_table_unref(self->loaded);
	g_hash_table_unref(self->mined);
	g_hash_table_unref(self->closed);
	g_hash_table_unref(self->lists);
	g_clear_pointer(&self->runs, g_ptr_array_unref);
	lode_profile_free(self->profile);
	g_mutex_clear(&self->lock);
	g_free(self->path);
	g_free(self);
}

static LodeProfileSnapshot *snapshot_new(
	const char *path, const LodeProgress *progress, GError **error)
{
	g_autoptr(LodeProfileSnapshot) self = g_new0(LodeProfileSnapshot, 1);
	g_autofree char *name = g_path_get_basename(path);
	FileState after;

	g_atomic_ref_count_init(&self->references);
	g_mutex_init(&self->lock);
	self->path = g_strdup(path);
	self->loaded = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, free_run);
	self->mined = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, free_run);
	self->closed = g_hash_table_new_full(NULL, NULL, NULL, g_free);
	self->lists = g_hash_table_new_full(
		g_str_hash, g_str_equal, g_free, (GDestroyNotify)g_array_unref);
	bool was_found = find_file(path, &self->file);
	self->profile = lode_profile_store_read_with_memory(path, progress, error);
	if (self->profile == NULL)
		return NULL;
	self->runs = lode_profile_store_list_runs(path, error);
	if (self->runs == NULL)
		return NULL;
	if (!was_found || !find_file(path, &after) || !is_unchanged(&self->file, &after)) {
		fail_changed(name, error);
		return NULL;
	}
	return g_steal_pointer(&self);
}

const LodeProfile *lode_profile_snapshot_profile(const LodeProfileSnapshot *self)
{
	return self->profile;
}

GPtrArray *lode_profile_snapshot_runs(const LodeProfileSnapshot *self)
{
	return self->runs;
}

/* From the file, which must be the one that the profile was read from: a run refers to the
 * profile's instructions by number. */
static LodeMiningRun *load_run(LodeProfileSnapshot *self, const char *name, GError **error)
{
	g_autofree char *file_name = g_path_get_basename(self->path);
	g_autoptr(LodeMiningRun) run = lode_profile_store_read_run(self->path, name, error);
	FileState after;

	if (run == NULL)
		return NULL;
	if (!find_file(self->path, &after) || !is_unchanged(&self->file, &after)) {
		fail_changed(file_name, error);
		return NULL;
	}
	return g_steal_pointer(&run);
}

static LodeMiningRun *mine_run(LodeProfileSnapshot *self, const LodeMiningRun *found,
	const LodeProgress *progress, GError **error)
{
	LodeMiningParameters parameters = found->parameters;

	parameters.only_findings = false;
	g_autoptr(LodeFlowGraph) graph = lode_flow_graph_build(self->profile, &parameters, error);
	if (graph == NULL)
		return NULL;
	return lode_miner_run(graph, &parameters, found->name, progress, error);
}

const LodeMiningRun *lode_profile_snapshot_run(LodeProfileSnapshot *self, const char *name,
	bool has_sequences, const LodeProgress *progress, GError **error)
{
	g_autoptr(GMutexLocker) locker = NULL;

	if (self->runs->len == 0) {
		g_set_error_literal(error, LODE_ERROR, LODE_ERROR_NOT_FOUND,
			"the profile has no mining run yet; 'lode mine' makes one");
		return NULL;
	}
	if (name == NULL)
		name = ((LodeRunSummary *)g_ptr_array_index(self->runs, self->runs->len - 1))->name;
	locker = g_mutex_locker_new(&self->lock);
	LodeMiningRun *run = g_hash_table_lookup(self->loaded, name);
	if (run == NULL) {
		run = load_run(self, name, error);
		if (run == NULL)
			return NULL;
		g_hash_table_insert(self->loaded, g_strdup(name), run);
	}
	if (!has_sequences || !run->parameters.only_findings)
		return run;
	LodeMiningRun *mined = g_hash_table_lookup(self->mined, name);
	if (mined != NULL)
		return mined;
	mined = mine_run(self, run, progress, error);
	if (mined != NULL)
		g_hash_table_insert(self->mined, g_strdup(name), mined);
	return mined;
}

const bool *lode_profile_snapshot_closed(LodeProfileSnapshot *self, const LodeMiningRun *run,
	const LodeProgress *progress, GError **error)
{
	g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new(&self->lock);
	const bool *known = g_hash_table_lookup(self->closed, run);

	if (known != NULL)
		return known;
	g_autofree bool *is_closed = g_new0(bool, run->sequences->len + 1);
	if (!lode_closed_mark(run, is_closed, progress, error))
		return NULL;
	known = is_closed;
	g_hash_table_insert(self->closed, (void *)run, g_steal_pointer(&is_closed));
	return known;
}

GArray *lode_profile_snapshot_find_list(LodeProfileSnapshot *self, const char *asked)
{
	g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new(&self->lock);
	GArray *list = g_hash_table_lookup(self->lists, asked);

	return list != NULL ? g_array_ref(list) : NULL;
}

void lode_profile_snapshot_keep_list(LodeProfileSnapshot *self, const char *asked, GArray *list)
{
	g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new(&self->lock);

	if (g_hash_table_size(self->lists) >= MAX_LISTS)
		g_hash_table_remove_all(self->lists);
	g_hash_table_insert(self->lists, g_strdup(asked), g_array_ref(list));
}

/* --- a profile --- */

LodeServedProfile *lode_served_profile_open(
	const char *path, const LodeProgress *progress, GError **error)
{
	g_autoptr(LodeProfileSnapshot) snapshot = snapshot_new(path, progress, error);

	if (snapshot == NULL)
		return NULL;
	/* The first view shows it, and should not have to wait; what fails here is said there. */
	if (snapshot->runs->len > 0)
		lode_profile_snapshot_run(snapshot, NULL, false, progress, NULL);
	LodeServedProfile *self = g_new0(LodeServedProfile, 1);
	g_mutex_init(&self->lock);
	self->path = g_strdup(path);
	self->name = g_path_get_basename(path);
	self->current = g_steal_pointer(&snapshot);
	return self;
}

LodeServedProfile *lode_served_profile_expect(const char *path, const char *why)
{
	LodeServedProfile *self = g_new0(LodeServedProfile, 1);

	g_mutex_init(&self->lock);
	self->path = g_strdup(path);
	self->name = g_path_get_basename(path);
	self->why = g_strdup(why);
	return self;
}

void lode_served_profile_close(LodeServedProfile *self)
{
	if (self == NULL)
		return;
	lode_profile_snapshot_unref(self->current);
	g_mutex_clear(&self->lock);
	g_free(self->path);
	g_free(self->name);
	g_free(self->why);
	g_free(self);
}

const char *lode_served_profile_name(const LodeServedProfile *self)
{
	return self->name;
}

/* With the lock held. */
static bool read_again(LodeServedProfile *self, const LodeProgress *progress, GError **error)
{
	LodeProfileSnapshot *snapshot = snapshot_new(self->path, progress, error);

	if (snapshot == NULL)
		return false;
	lode_profile_snapshot_unref(self->current);
	self->current = snapshot;
	return true;
}

LodeProfileSnapshot *lode_served_profile_take(LodeServedProfile *self, const LodeProgress *progress,
	LodeServedState *out_state, GError **error)
{
	g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new(&self->lock);
	FileState now;

	*out_state = LODE_SERVED_CURRENT;
	if (self->current == NULL) {
		g_set_error_literal(error, LODE_ERROR, LODE_ERROR_NOT_FOUND, self->why);
		return NULL;
	}
	errno = 0;
	if (!find_file(self->path, &now)) {
		*out_state = LODE_SERVED_REMOVED;
		g_set_error(error, LODE_ERROR, LODE_ERROR_NOT_FOUND,
			errno == ENOENT ? "%s was removed since it was opened"
					: "%s can no longer be read",
			self->name);
		return NULL;
	}
	if (!is_same_file(&now, &self->current->file)) {
		*out_state = LODE_SERVED_REPLACED;
		g_set_error(error, LODE_ERROR, LODE_ERROR_NOT_FOUND,
			"%s was replaced by another file since it was opened", self->name);
		return NULL;
	}
	if (!is_unchanged(&now, &self->current->file) && !read_again(self, progress, error))
		return NULL;
	return snapshot_ref(self->current);
}

bool lode_served_profile_reload(
	LodeServedProfile *self, const LodeProgress *progress, GError **error)
{
	g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new(&self->lock);

	return read_again(self, progress, error);
}
