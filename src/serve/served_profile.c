/* SPDX-License-Identifier: MIT */
#include "serve/served_profile.h"

#include "analyses/memory/window_samples.h"
#include "base/error.h"
#include "model/memory.h"
#include "model/mining_run.h"
#include "model/profile.h"
#include "questions/parts/mining.h"
#include "questions/parts/part_rows.h"
#include "serve/turn.h"
#include "store/run_parameters.h"

#include <errno.h>
#include <sys/stat.h>

/* A part is as large as the profile. */
enum { MAX_KEPT = 16, MAX_PARTS = 3 };

/* The name that 'lode mine' gives a run. */
#define FITTED_RUN "main"

/* Where a fitted run is kept: the file may have a run of a part by that name. No run is asked for
 * by an empty one. */
#define FITTED_KEY ""

/* Identifies the file and its contents: writing a profile changes one of these. */
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
	bool *are_sampled;  /* [events] */
	LodeTurn mining;    /* of findings and of sequences */
	GMutex lock;        /* of the fields below; never held during mining */
	GHashTable *loaded; /* name → LodeMiningRun, as stored; if none is stored, the one fitted
	                       here */
	GHashTable *mined;  /* name → LodeMiningRun, mined here */
	GHashTable *kept;   /* query → Kept */
	LodeTurn parting;   /* of the parts */
	GHashTable *parts;  /* what was chosen → LodeProfilePart */
};

struct LodeServedProfile {
	char *path, *name;
	char *why;                    /* the error until there is a profile */
	LodeTurn reading;             /* of the file, and of the fields below */
	LodeProfileSnapshot *current; /* NULL: none yet */
	bool is_published;            /* without the data addresses of windows */
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

struct LodeProfilePart {
	gatomicrefcount references;
	LodeProfile *profile;
	LodeTurn mining;
	GHashTable *runs; /* name and kind → LodeMiningRun; guarded by the turn */
};

void lode_profile_part_unref(LodeProfilePart *self)
{
	if (!g_atomic_ref_count_dec(&self->references))
		return;
	lode_profile_free(self->profile);
	lode_turn_clear(&self->mining);
	g_hash_table_unref(self->runs);
	g_free(self);
}

static void part_unref(void *part)
{
	lode_profile_part_unref(part);
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
	g_hash_table_unref(self->kept);
	g_hash_table_unref(self->parts);
	lode_turn_clear(&self->parting);
	g_clear_pointer(&self->runs, g_ptr_array_unref);
	g_free(self->are_sampled);
	lode_profile_free(self->profile);
	lode_turn_clear(&self->mining);
	g_mutex_clear(&self->lock);
	g_free(self->path);
	g_free(self);
}

typedef struct {
	const LodeKeptKind *kind;
	void *what;
} Kept;

static void kept_free(void *data)
{
	Kept *kept = data;

	kept->kind->unref(kept->what);
	g_free(kept);
}

static bool *find_sampled_events(const LodeProfile *profile)
{
	bool *are_sampled = g_new0(bool, profile->code.events->len + 1);

	for (guint i = 0; profile->memory != NULL && i < profile->memory->samples->len; i++)
		are_sampled[LODE_AT(profile->memory->samples, LodeMemorySample, i).event] = true;
	return are_sampled;
}

/* Runs of parts of a merged profile are not listed; by its name one can be requested, with its
 * part. */
static bool is_of_all(const LodeMiningParameters *parameters)
{
	return parameters->origins == NULL;
}

static void leave_out_parts(GPtrArray *runs)
{
	for (guint i = runs->len; i-- > 0;) {
		const LodeRunSummary *run = g_ptr_array_index(runs, i);
		LodeMiningRun *like = NULL;
		LodeMiningParameters normal;
		lode_mining_parameters_init(&normal);
		like = lode_mining_run_new(run->name, &normal);
		lode_run_parameters_from_json(
			&like->parameters, run->parameters != NULL ? run->parameters : "{}", NULL);
		if (!is_of_all(&like->parameters))
			g_ptr_array_remove_index(runs, i);
		lode_mining_run_free(like);
	}
}

static LodeProfileSnapshot *snapshot_new(
	const char *path, bool is_published, const LodeProgress *progress, GError **error)
{
	g_autoptr(LodeProfileSnapshot) self = g_new0(LodeProfileSnapshot, 1);
	g_autofree char *name = g_path_get_basename(path);
	FileState after;

	g_atomic_ref_count_init(&self->references);
	lode_turn_init(&self->mining);
	g_mutex_init(&self->lock);
	self->path = g_strdup(path);
	self->loaded = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, free_run);
	self->mined = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, free_run);
	self->kept = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, kept_free);
	lode_turn_init(&self->parting);
	self->parts = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, part_unref);
	bool was_found = find_file(path, &self->file);
	self->profile = lode_profile_store_read_with_memory_and_stacks(path, progress, error);
	if (self->profile == NULL)
		return NULL;
	if (is_published)
		lode_window_samples_remove(self->profile);
	self->are_sampled = find_sampled_events(self->profile);
	self->runs = lode_profile_store_list_runs(path, error);
	if (self->runs == NULL)
		return NULL;
	leave_out_parts(self->runs);
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

bool lode_profile_snapshot_has_addresses(const LodeProfileSnapshot *self, uint32_t event)
{
	return self->are_sampled[event];
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

/* `n_costliest` 0: all. */
static LodeMiningRun *mine_run(LodeProfileSnapshot *self, const LodeMiningRun *found,
	uint32_t n_costliest, const LodeProgress *progress, GError **error)
{
	LodeMiningParameters parameters = found->parameters;

	parameters.only_findings = false;
	return n_costliest > 0 ? lode_mine_costliest(self->profile, &parameters, n_costliest,
					 found->name, progress, error)
	                       : lode_mine_sequences(
					 self->profile, &parameters, found->name, progress, error);
}

/* The stored run: read from the file at the first use. */
static LodeMiningRun *find_loaded(LodeProfileSnapshot *self, const char *name, GError **error)
{
	g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new(&self->lock);
	LodeMiningRun *run = g_hash_table_lookup(self->loaded, name);

	if (run != NULL)
		return run;
	run = load_run(self, name, error);
	if (run != NULL)
		g_hash_table_insert(self->loaded, g_strdup(name), run);
	return run;
}

static void *find_made(LodeProfileSnapshot *self, GHashTable *table, const void *key)
{
	g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new(&self->lock);

	return g_hash_table_lookup(table, key);
}

static void keep_made(LodeProfileSnapshot *self, GHashTable *table, void *key, void *made)
{
	g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new(&self->lock);

	g_hash_table_insert(table, key, made);
}

/* For a profile without runs: fits the findings with the defaults. */
static LodeMiningRun *find_fitted(
	LodeProfileSnapshot *self, const LodeProgress *progress, GError **error)
{
	LodeMiningRun *run = find_made(self, self->loaded, FITTED_KEY);

	if (run != NULL || !lode_turn_take(&self->mining, progress, error))
		return run;
	run = find_made(self, self->loaded, FITTED_KEY);
	if (run == NULL) {
		run = lode_mine_by_default(self->profile, FITTED_RUN, progress, error);
		if (run != NULL)
			keep_made(self, self->loaded, g_strdup(FITTED_KEY), run);
	}
	lode_turn_give(&self->mining);
	return run;
}

static LodeMiningRun *find_run(
	LodeProfileSnapshot *self, const char *name, const LodeProgress *progress, GError **error)
{
	if (name == NULL && self->runs->len == 0)
		return find_fitted(self, progress, error);
	if (name == NULL)
		name = ((LodeRunSummary *)g_ptr_array_index(self->runs, self->runs->len - 1))->name;
	return find_loaded(self, name, error);
}

static const LodeMiningRun *find_mined(LodeProfileSnapshot *self, const char *name,
	bool has_sequences, uint32_t n_costliest, const LodeProgress *progress, GError **error)
{
	LodeMiningRun *run = find_run(self, name, progress, error);

	if (run != NULL)
		name = run->name;
	if (run == NULL || !has_sequences || !run->parameters.only_findings)
		return run;
	LodeMiningRun *mined = find_made(self, self->mined, name);
	if (mined != NULL || !lode_turn_take(&self->mining, progress, error))
		return mined;
	/* It may have been mined while this waited. */
	mined = find_made(self, self->mined, name);
	if (mined == NULL) {
		mined = mine_run(self, run, n_costliest, progress, error);
		if (mined != NULL)
			keep_made(self, self->mined, g_strdup(name), mined);
	}
	lode_turn_give(&self->mining);
	return mined;
}

const LodeMiningRun *lode_profile_snapshot_run(LodeProfileSnapshot *self, const char *name,
	bool has_sequences, const LodeProgress *progress, GError **error)
{
	return find_mined(self, name, has_sequences, 0, progress, error);
}

bool lode_profile_snapshot_mine_costliest(LodeProfileSnapshot *self, const char *name, uint32_t n,
	const LodeProgress *progress, GError **error)
{
	return find_mined(self, name, true, n, progress, error) != NULL;
}

void *lode_profile_snapshot_find(
	LodeProfileSnapshot *self, const LodeKeptKind *kind, const char *asked)
{
	g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new(&self->lock);
	Kept *kept = g_hash_table_lookup(self->kept, asked);

	return kept != NULL && kept->kind == kind ? kind->ref(kept->what) : NULL;
}

void lode_profile_snapshot_keep(
	LodeProfileSnapshot *self, const LodeKeptKind *kind, const char *asked, void *what)
{
	g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new(&self->lock);
	Kept *kept = g_new(Kept, 1);

	if (g_hash_table_size(self->kept) >= MAX_KEPT)
		g_hash_table_remove_all(self->kept);
	*kept = (Kept){kind, kind->ref(what)};
	g_hash_table_insert(self->kept, g_strdup(asked), kept);
}

/* --- a part of a profile --- */

/* In its turn. */
static LodeProfilePart *read_part(LodeProfileSnapshot *self, const LodeProfileChoice *choice,
	const LodeProgress *progress, GError **error)
{
	g_autofree char *name = g_path_get_basename(self->path);
	LodeProfileChoice whole = *choice;
	g_autofree char *note = NULL;
	FileState after;

	whole.has_memory = whole.has_stacks = true;
	g_autoptr(LodeProfile) profile = lode_profile_choice_read(
		&whole, self->path, name, progress, &note, error);
	if (profile == NULL)
		return NULL;
	if (!find_file(self->path, &after) || !is_unchanged(&self->file, &after)) {
		fail_changed(name, error);
		return NULL;
	}
	LodeProfilePart *part = g_new0(LodeProfilePart, 1);
	g_atomic_ref_count_init(&part->references);
	lode_turn_init(&part->mining);
	part->profile = g_steal_pointer(&profile);
	part->runs = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, free_run);
	return part;
}

LodeProfilePart *lode_profile_snapshot_part(LodeProfileSnapshot *self,
	const LodeProfileChoice *choice, const LodeProgress *progress, GError **error)
{
	g_autofree char *options = lode_part_options(&choice->part);
	g_autofree char *key = g_strdup_printf("%s\n%s\n%s\n%s",
		choice->weight != NULL ? choice->weight : "",
		choice->event != NULL ? choice->event : "",
		choice->origins != NULL ? choice->origins : "", options);

	if (!lode_turn_take(&self->parting, progress, error))
		return NULL;
	LodeProfilePart *part = g_hash_table_lookup(self->parts, key);
	if (part == NULL) {
		part = read_part(self, choice, progress, error);
		if (part != NULL && g_hash_table_size(self->parts) >= MAX_PARTS)
			g_hash_table_remove_all(self->parts);
		if (part != NULL)
			g_hash_table_insert(self->parts, g_steal_pointer(&key), part);
	}
	if (part != NULL)
		g_atomic_ref_count_inc(&part->references);
	lode_turn_give(&self->parting);
	return part;
}

const LodeProfile *lode_profile_part_profile(const LodeProfilePart *self)
{
	return self->profile;
}

const LodeMiningRun *lode_profile_part_run(LodeProfilePart *self, const LodeMiningRun *like,
	const LodeProfileChoice *choice, bool has_sequences, const LodeProgress *progress,
	GError **error)
{
	g_autofree char *key = g_strdup_printf(
		"%s%s", has_sequences ? "sequences " : "findings ", like->name);

	if (!lode_profile_choice_is_part(choice))
		return like;
	if (!lode_turn_take(&self->mining, progress, error))
		return NULL;
	LodeMiningRun *run = g_hash_table_lookup(self->runs, key);
	if (run == NULL) {
		run = lode_mine_part(self->profile, like, choice, has_sequences, progress, error);
		if (run != NULL)
			g_hash_table_insert(self->runs, g_steal_pointer(&key), run);
	}
	lode_turn_give(&self->mining);
	return run;
}

/* --- a profile --- */

static LodeServedProfile *open_profile(
	const char *path, bool is_published, const LodeProgress *progress, GError **error)
{
	g_autoptr(LodeProfileSnapshot) snapshot = snapshot_new(path, is_published, progress, error);

	if (snapshot == NULL)
		return NULL;
	/* The first view shows this run and need not wait then; it reports the error if this fails.
	 */
	if (snapshot->runs->len > 0)
		lode_profile_snapshot_run(snapshot, NULL, false, progress, NULL);
	LodeServedProfile *self = g_new0(LodeServedProfile, 1);
	lode_turn_init(&self->reading);
	self->path = g_strdup(path);
	self->name = g_path_get_basename(path);
	self->current = g_steal_pointer(&snapshot);
	self->is_published = is_published;
	return self;
}

LodeServedProfile *lode_served_profile_open(
	const char *path, const LodeProgress *progress, GError **error)
{
	return open_profile(path, false, progress, error);
}

LodeServedProfile *lode_served_profile_open_to_publish(
	const char *path, const LodeProgress *progress, GError **error)
{
	return open_profile(path, true, progress, error);
}

LodeServedProfile *lode_served_profile_expect(const char *path, const char *why)
{
	LodeServedProfile *self = g_new0(LodeServedProfile, 1);

	lode_turn_init(&self->reading);
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
	lode_turn_clear(&self->reading);
	g_free(self->path);
	g_free(self->name);
	g_free(self->why);
	g_free(self);
}

const char *lode_served_profile_name(const LodeServedProfile *self)
{
	return self->name;
}

/* The caller has the turn. */
static bool read_again(LodeServedProfile *self, const LodeProgress *progress, GError **error)
{
	LodeProfileSnapshot *snapshot = snapshot_new(
		self->path, self->is_published, progress, error);

	if (snapshot == NULL)
		return false;
	lode_profile_snapshot_unref(self->current);
	self->current = snapshot;
	return true;
}

/* The caller has the turn. */
static LodeProfileSnapshot *take_current(LodeServedProfile *self, const LodeProgress *progress,
	LodeServedState *out_state, GError **error)
{
	FileState now;

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

LodeProfileSnapshot *lode_served_profile_take(LodeServedProfile *self, const LodeProgress *progress,
	LodeServedState *out_state, GError **error)
{
	*out_state = LODE_SERVED_CURRENT;
	if (!lode_turn_take(&self->reading, progress, error))
		return NULL;
	LodeProfileSnapshot *snapshot = take_current(self, progress, out_state, error);
	lode_turn_give(&self->reading);
	return snapshot;
}

bool lode_served_profile_reload(
	LodeServedProfile *self, const LodeProgress *progress, GError **error)
{
	if (!lode_turn_take(&self->reading, progress, error))
		return false;
	bool is_read = read_again(self, progress, error);
	lode_turn_give(&self->reading);
	return is_read;
}
