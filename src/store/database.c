/* SPDX-License-Identifier: MIT */
#include "store/database.h"

#include "base/error.h"
#include "base/file_kind.h"
#include "base/files/private_folder.h"
#include "base/files/regular_file.h"
#include "model/profile.h"
#include "store/guarded_vfs.h"
#include "store/profile_store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- private copy --- */

/*
 * A profile and its journal, copied to a temporary folder of our own, for a reader that finds a
 * write begun and not ended: SQLite plays a journal back into the database itself, and a reader
 * must not change the profile.
 */

typedef struct {
	LodePrivateFolder *folder;
	char *path, *journal_path;
} PrivateCopy;

/* Where SQLite's shared lock lies: https://www.sqlite.org/lockingv3.html, os.h SHARED_FIRST. */
enum { SHARED_LOCK_START = 0x40000002, SHARED_LOCK_LENGTH = 510 };
enum { LOCK_TRIES = 50, LOCK_INTERVAL_US = 100000, COPY_SIZE = 1 << 20 };

#define REASON "a write to it was interrupted, and a copy in which to undo that cannot be made: "

static bool fail(GError **error, const char *what)
{
	g_set_error(error, LODE_ERROR, LODE_ERROR_IO, REASON "%s: %s", what, g_strerror(errno));
	return false;
}

/* A lock of the open file description: the process would lose an ordinary lock as soon as it closes
 * any descriptor of the file, SQLite's for instance (fcntl(2)). */
static bool lock_shared(int descriptor, GError **error)
{
	struct flock lock = {
		.l_type = F_RDLCK,
		.l_whence = SEEK_SET,
		.l_start = SHARED_LOCK_START,
		.l_len = SHARED_LOCK_LENGTH,
	};

	for (int i = 0; i < LOCK_TRIES; i++) {
		if (fcntl(descriptor, F_OFD_SETLK, &lock) == 0)
			return true;
		if (errno != EAGAIN && errno != EACCES)
			return fail(error, "cannot lock the profile");
		g_usleep(LOCK_INTERVAL_US);
	}
	g_set_error_literal(error, LODE_ERROR, LODE_ERROR_IO, "in use by another process");
	return false;
}

static bool copy_range(int from, int to, off_t at, off_t end, char *buffer)
{
	while (at < end) {
		ssize_t n = pread(from, buffer, (size_t)MIN(end - at, (off_t)COPY_SIZE), at);
		for (ssize_t done = 0, written; done < n; done += written)
			if ((written = pwrite(to, buffer + done, (size_t)(n - done), at + done)) <=
				0)
				return false;
		if (n <= 0)
			return n == 0;
		at += n;
	}
	return true;
}

static bool copy_data(int from, int to)
{
	g_autofree char *buffer = g_malloc(COPY_SIZE);
	off_t size = lseek(from, 0, SEEK_END), hole = 0;

	if (size < 0 || ftruncate(to, size) != 0)
		return false;
	while (hole < size) {
		off_t data = lseek(from, hole, SEEK_DATA);
		if (data < 0)
			return errno == ENXIO; /* nothing but a hole is left */
		hole = lseek(from, data, SEEK_HOLE);
		if (hole < 0 || !copy_range(from, to, data, hole, buffer))
			return false;
	}
	return true;
}

static bool copy_to(int from, const char *path, GError **error)
{
	int to = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	if (to < 0)
		return fail(error, path);
	bool done = copy_data(from, to) || fail(error, path);
	close(to);
	return done;
}

static void private_copy_free(PrivateCopy *self)
{
	if (self == NULL)
		return;
	lode_private_folder_free(self->folder);
	g_free(self->path);
	g_free(self->journal_path);
	g_free(self);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC(PrivateCopy, private_copy_free)

/* No journal: another process has rolled it back by now. */
static bool copy_journal(PrivateCopy *self, const char *path, int database, GError **error)
{
	g_autofree char *journal_path = g_strconcat(path, "-journal", NULL);
	int journal = open(journal_path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat status, beside;

	if (journal < 0 && errno == ENOENT)
		return true;
	if (journal < 0 && errno != ELOOP)
		return fail(error, journal_path);
	bool is_trusted = journal >= 0 && fstat(database, &status) == 0 &&
	                  fstat(journal, &beside) == 0 && lode_guarded_vfs_trusts(&status, &beside);
	if (!is_trusted)
		g_set_error_literal(error, LODE_ERROR, LODE_ERROR_CORRUPT,
			"the -journal file beside it is not one that its owner or you left: look "
			"at it, then remove it");
	bool done = is_trusted && copy_to(journal, self->journal_path, error);
	if (journal >= 0)
		close(journal);
	return done;
}

static bool copy_both(PrivateCopy *self, const char *path, GError **error)
{
	/* The journal lies beside the file itself, not beside a link to it. */
	g_autofree char *real_path = realpath(path, NULL);
	int database = real_path != NULL ? open(real_path, O_RDONLY | O_CLOEXEC) : -1;

	if (database < 0)
		return fail(error, path);
	bool done = lock_shared(database, error) && copy_to(database, self->path, error) &&
	            copy_journal(self, real_path, database, error);
	close(database);
	return done;
}

/*
 * Copies both under the lock that SQLite's readers take, so that no writer changes them meanwhile.
 * Holes stay holes. Errors: _IO, also when another process keeps the profile locked; _CORRUPT for a
 * journal that no writer of the profile can have left.
 */
static PrivateCopy *private_copy_new(const char *path, GError **error)
{
	g_autoptr(LodePrivateFolder) folder = lode_private_folder_new(error);

	if (folder == NULL) {
		g_prefix_error(error, REASON);
		return NULL;
	}
	g_autoptr(PrivateCopy) self = g_new0(PrivateCopy, 1);
	self->path = g_build_filename(folder->path, "copy.lode", NULL);
	self->journal_path = g_build_filename(folder->path, "copy.lode-journal", NULL);
	self->folder = g_steal_pointer(&folder);
	if (!copy_both(self, path, error))
		return NULL;
	return g_steal_pointer(&self);
}

/* Removes the files and the folder; open files stay usable. */
/* --- database --- */

static const char schema_sql[] =
#include "store/schema_sql.h"
	;
static const char sequences_sql[] =
#include "store/sequences_sql.h"
	;
static const char sequence_views_sql[] =
#include "store/sequence_views_sql.h"
	;
static const char sequence_3_sql[] =
#include "store/sequence_3_sql.h"
	;
static const char findings_sql[] =
#include "store/findings_sql.h"
	;
/* Tables added later: older profiles do not have them. */
static const char *const additions[] = {
	findings_sql,
#include "store/allocations_sql.h"
	,
#include "store/pages_sql.h"
	,
#include "store/access_calls_sql.h"
	,
#include "store/line_stores_sql.h"
	,
#include "store/lost_ranges_sql.h"
	,
#include "store/stacks_sql.h"
	,
#include "store/stack_places_sql.h"
	,
#include "store/thread_times_sql.h"
	,
#include "store/inlinings_sql.h"
	,
#include "store/origins_sql.h"
	,
#include "store/windows_sql.h"
	,
#include "store/loops_sql.h"
	,
#include "store/waits_sql.h"
};

/* Instructions of SQLite's virtual machine between two checks of the cancel flag. */
enum { STEPS_BETWEEN_LOOKS = 50000, REPORT_INTERVAL_US = 100000, BUSY_TIMEOUT_MS = 5000 };

static int look_up_from_work(void *data)
{
	LodeDatabase *self = data;
	gint64 now = g_get_monotonic_time();

	if (self->stage != NULL && now - self->reported_us >= REPORT_INTERVAL_US) {
		self->reported_us = now;
		lode_progress_report(
			self->progress, self->stage, self->rows_done, self->rows_total, NULL);
	}
	return lode_progress_is_cancelled(self->progress);
}

/* Other codes are faults of the file's content, also a page that it refers to and does not have
 * (SHORT_READ). */
static int error_code_of(int result)
{
	switch (result & 0xff) {
	case SQLITE_INTERRUPT:
		return LODE_ERROR_CANCELLED;
	case SQLITE_NOMEM:
		return LODE_ERROR_LIMIT;
	case SQLITE_CANTOPEN:
	case SQLITE_READONLY:
	case SQLITE_PERM:
	case SQLITE_AUTH:
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
	case SQLITE_PROTOCOL:
	case SQLITE_FULL:
	case SQLITE_IOERR:
		return result == SQLITE_IOERR_SHORT_READ ? LODE_ERROR_CORRUPT : LODE_ERROR_IO;
	default:
		return LODE_ERROR_CORRUPT;
	}
}

static void set_refusal_error(LodeRefusal refusal, GError **error)
{
	static const char *const messages[] = {
		[LODE_REFUSED_FOREIGN_FILE] =
			"a file beside it, -journal, -wal or -shm, is not one "
			"that its owner or you left: look at it, then "
			"remove it",
		[LODE_REFUSED_SUPER_JOURNAL] = "the -journal file beside it names another file to "
					       "be deleted, so it is not lode's: remove it",
		[LODE_REFUSED_LOG] = "the -wal file beside it holds changes that are not in it "
				     "yet: if they are yours, write them to it by sqlite3 FILE "
				     "'PRAGMA journal_mode = DELETE', else remove it",
	};

	g_set_error_literal(error, LODE_ERROR,
		refusal == LODE_REFUSED_LOG ? LODE_ERROR_UNSUPPORTED : LODE_ERROR_CORRUPT,
		messages[refusal]);
}

/* A file of no database may be another file of lode's, or one that it imports. */
static void set_foreign_error(const char *path, GError **error)
{
	static const char import[] =
		"not a lode profile, but a recording: 'lode import FILE -o NAME.lode' makes one of "
		"it";
	static const struct {
		const char *start, *message;
	} kinds[] = {
		{"PERFILE2", import},
		{"# callgrind format", import},
		{"\37\213", "compressed by gzip: decompress it first"},
		{"(\265/\375", "compressed by zstd: decompress it first"},
		{"\3757zXZ", "compressed by xz: decompress it first"},
		{"BZh", "compressed by bzip2: decompress it first"},
		{"\211RPS", "not a lode profile, but a packed address trace: 'lode trace info' and "
			    "'lode trace simulate' read it"},
	};
	const char *message = "not a lode profile: 'lode run' and 'lode import' write such";

	for (size_t i = 0; path != NULL && i < G_N_ELEMENTS(kinds); i++)
		if (lode_file_begins_with(path, kinds[i].start, strlen(kinds[i].start)))
			message = kinds[i].message;
	g_set_error_literal(error, LODE_ERROR, LODE_ERROR_CORRUPT, message);
}

bool lode_database_fail(LodeDatabase *self, GError **error)
{
	int last_errno = errno;
	int result = sqlite3_extended_errcode(self->handle);
	int system_error = sqlite3_system_errno(self->handle);
	int code = error_code_of(result);

	/* SQLite does not note the cause of a write that failed while a transaction ended. */
	if (result == SQLITE_IOERR_WRITE && system_error == 0)
		system_error = last_errno;
	if (self->files.refusal != LODE_REFUSED_NOTHING)
		set_refusal_error(self->files.refusal, error);
	else if (code == LODE_ERROR_CANCELLED)
		g_set_error_literal(error, LODE_ERROR, LODE_ERROR_CANCELLED, "cancelled");
	else if ((result & 0xff) == SQLITE_NOTADB)
		set_foreign_error(sqlite3_db_filename(self->handle, "main"), error);
	else if ((result & 0xff) == SQLITE_CORRUPT)
		g_set_error_literal(error, LODE_ERROR, LODE_ERROR_CORRUPT,
			"the profile is damaged or was cut short: copy it or record it again");
	else if ((result & 0xff) == SQLITE_BUSY)
		g_set_error_literal(error, LODE_ERROR, LODE_ERROR_IO, "in use by another process");
	else if (code == LODE_ERROR_IO && system_error != 0)
		g_set_error(error, LODE_ERROR, code, "%s: %s", sqlite3_errmsg(self->handle),
			g_strerror(system_error));
	else
		g_set_error(error, LODE_ERROR, code, "%s", sqlite3_errmsg(self->handle));
	return false;
}

void lode_database_close(LodeDatabase *self)
{
	if (self == NULL)
		return;
	sqlite3_close(self->handle);
	lode_guarded_vfs_clear(&self->files);
	g_free(self);
}

bool lode_database_execute(LodeDatabase *self, const char *sql, GError **error)
{
	if (sqlite3_exec(self->handle, sql, NULL, NULL, NULL) != SQLITE_OK)
		return lode_database_fail(self, error);
	return true;
}

sqlite3_stmt *lode_database_prepare(LodeDatabase *self, const char *sql, GError **error)
{
	sqlite3_stmt *statement;

	if (sqlite3_prepare_v2(self->handle, sql, -1, &statement, NULL) != SQLITE_OK)
		lode_database_fail(self, error);
	return statement;
}

bool lode_database_query_integer(
	LodeDatabase *self, const char *sql, int64_t *out_value, GError **error)
{
	g_autoptr(sqlite3_stmt) statement = lode_database_prepare(self, sql, error);

	if (statement == NULL)
		return false;
	if (sqlite3_step(statement) != SQLITE_ROW)
		return lode_database_fail(self, error);
	*out_value = sqlite3_column_int64(statement, 0);
	return true;
}

bool lode_database_has_table(LodeDatabase *self, const char *name, bool *out_has, GError **error)
{
	g_autofree char *sql = g_strdup_printf(
		"SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = '%s'", name);
	int64_t n;

	if (!lode_database_query_integer(self, sql, &n, error))
		return false;
	*out_has = n > 0;
	return true;
}

bool lode_database_identify(
	LodeDatabase *self, const char *path, LodeProfileFile *out_file, GError **error)
{
	g_autoptr(sqlite3_stmt) statement = lode_database_prepare(
		self, "SELECT value FROM meta WHERE key = 'content'", error);
	LodeProfileFile file = {0};
	struct stat status;

	if (statement == NULL)
		return false;
	int result = sqlite3_step(statement);
	if (result != SQLITE_ROW && result != SQLITE_DONE)
		return lode_database_fail(self, error);
	/* Profiles of the first lode say nothing. */
	if (result == SQLITE_ROW && sqlite3_column_type(statement, 0) == SQLITE_TEXT)
		g_strlcpy(file.content, (const char *)sqlite3_column_text(statement, 0),
			sizeof(file.content));
	if (stat(path, &status) == 0) {
		file.device = status.st_dev;
		file.inode = status.st_ino;
	}
	*out_file = file;
	return true;
}

bool lode_database_make_sequence_tables(LodeDatabase *self, GError **error)
{
	return lode_database_execute(self, sequences_sql, error);
}

bool lode_database_make_sequence_views(LodeDatabase *self, GError **error)
{
	return lode_database_execute(self, sequence_views_sql, error);
}

static bool count_event_columns(
	LodeDatabase *self, const char *table, int64_t *out_n, GError **error)
{
	g_autofree char *sql = g_strdup_printf(
		"SELECT count(*) FROM pragma_table_info('%s') WHERE name GLOB 'event_*'", table);

	return lode_database_query_integer(self, sql, out_n, error);
}

/* The columns by the names that a run gives them: view sequence_event. */
static bool replace_event_view(LodeDatabase *self, size_t n, GError **error)
{
	g_autoptr(GString) sql = g_string_new("DROP VIEW IF EXISTS sequence_event;"
					      "CREATE VIEW sequence_event AS SELECT r.name AS run, "
					      "q.id AS sequence, e.name AS event, CASE e.id");

	for (size_t i = 1; i <= n; i++)
		g_string_append_printf(sql, " WHEN %zu THEN s.event_%zu", i, i);
	g_string_append(sql, " END / iif(json_extract(r.parameters, '$.is_instruction_mode'), 1, "
			     "1e8) AS value FROM run r JOIN run_event e ON e.run = r.id "
			     "JOIN mined_sequence q ON q.run = r.id "
			     "JOIN mined_support s ON s.run = q.run AND s.id = q.support");
	return lode_database_execute(self, sql->str, error);
}

bool lode_database_add_event_columns(LodeDatabase *self, size_t n, GError **error)
{
	int64_t present;

	if (!count_event_columns(self, "mined_support", &present, error))
		return false;
	if (n <= (size_t)present)
		return true;
	for (size_t i = (size_t)present + 1; i <= n; i++) {
		g_autofree char *sql = g_strdup_printf(
			"ALTER TABLE mined_support ADD COLUMN event_%zu REAL", i);
		if (!lode_database_execute(self, sql, error))
			return false;
	}
	return replace_event_view(self, n, error);
}

/* A database made to harm may have triggers, views and functions with side effects: none of them
 * runs. */
static void distrust(LodeDatabase *self)
{
	sqlite3_extended_result_codes(self->handle, 1);
	sqlite3_busy_timeout(self->handle, BUSY_TIMEOUT_MS);
	sqlite3_db_config(self->handle, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_db_config(self->handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	sqlite3_db_config(self->handle, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
	sqlite3_db_config(self->handle, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
}

/* SQLite's own flags and one of ours: the file does not change, and takes no lock. */
enum { OPEN_IMMUTABLE = 1 << 30 };

static char *name_for_sqlite(const char *path, int flags)
{
	/* Absolute, so that a file called "file:x" is not taken for a URI. */
	g_autofree char *absolute = g_canonicalize_filename(path, NULL);

	if ((flags & OPEN_IMMUTABLE) == 0)
		return g_steal_pointer(&absolute);
	g_autofree char *uri = g_filename_to_uri(absolute, NULL, NULL);
	return g_strconcat(uri, "?immutable=1", NULL);
}

/* `self` is zeroed; it can be queried and must be closed also after a failure. */
static bool open_database(LodeDatabase *self, const char *path, int flags,
	const LodeProgress *progress, GError **error)
{
	g_autofree char *name = name_for_sqlite(path, flags);

	self->progress = progress;
	lode_guarded_vfs_init(&self->files, (flags & SQLITE_OPEN_READONLY) != 0);
	if (sqlite3_open_v2(name, &self->handle,
		    (flags & ~OPEN_IMMUTABLE) | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_URI,
		    self->files.name) != SQLITE_OK)
		return lode_database_fail(self, error);
	distrust(self);
	/* cell_size_check: a page of a damaged file is checked before its cells are read. */
	sqlite3_progress_handler(self->handle, STEPS_BETWEEN_LOOKS, look_up_from_work, self);
	return lode_database_execute(
		self, "PRAGMA cell_size_check = ON; PRAGMA cache_size = -65536", error);
}

LodeDatabase *lode_database_create(const char *path, const LodeProgress *progress, GError **error)
{
	g_autoptr(LodeDatabase) self = g_new0(LodeDatabase, 1);

	if (!open_database(self, path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, progress, error))
		return NULL;
	/* A defensive connection insists on a journal; this file is new and private. */
	sqlite3_db_config(self->handle, SQLITE_DBCONFIG_DEFENSIVE, 0, NULL);
	g_autofree char *identity = g_strdup_printf(
		"PRAGMA application_id = %d; PRAGMA user_version = %d", LODE_APPLICATION_ID,
		LODE_SCHEMA_VERSION);
	if (!lode_database_execute(self,
		    "PRAGMA page_size = 16384; PRAGMA encoding = 'UTF-8';"
		    "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;"
		    "PRAGMA locking_mode = EXCLUSIVE; PRAGMA secure_delete = OFF; BEGIN",
		    error) ||
		!lode_database_execute(self, identity, error) ||
		!lode_database_execute(self, schema_sql, error) ||
		!lode_database_make_sequence_tables(self, error) ||
		!lode_database_make_sequence_views(self, error))
		return NULL;
	self->version = LODE_SCHEMA_VERSION;
	for (size_t i = 0; i < G_N_ELEMENTS(additions); i++)
		if (!lode_database_execute(self, additions[i], error))
			return NULL;
	return g_steal_pointer(&self);
}

/* By its header alone: https://www.sqlite.org/fileformat.html, section 1.3. */
static bool check_identity(LodeDatabase *self, GError **error)
{
	int64_t id, version, pages;

	if (!lode_database_query_integer(self, "PRAGMA application_id", &id, error) ||
		!lode_database_query_integer(self, "PRAGMA user_version", &version, error) ||
		!lode_database_query_integer(self, "PRAGMA page_count", &pages, error))
		return false;
	if (id != LODE_APPLICATION_ID) {
		g_set_error_literal(error, LODE_ERROR, LODE_ERROR_CORRUPT,
			pages == 0 ? "not a lode profile: the file is empty"
				   : "not a lode profile, but another SQLite file");
		return false;
	}
	if (version > LODE_SCHEMA_VERSION) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_UNSUPPORTED,
			"has schema version %d, this lode reads versions up to %d: update lode",
			(int)version, LODE_SCHEMA_VERSION);
		return false;
	}
	if (version < LODE_SCHEMA_VERSION_OLDEST) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_UNSUPPORTED,
			"has schema version %d, this lode reads versions from %d: import the "
			"recording again",
			(int)version, LODE_SCHEMA_VERSION_OLDEST);
		return false;
	}
	self->version = (int)version;
	return true;
}

/* Comments do not change a table: a comment that was reworded must not make earlier profiles
 * unreadable. Quoted text stays, as SQLite reads it. */
static char *without_comments(const char *sql)
{
	GString *text = g_string_new(NULL);
	char end = '\0'; /* of the quotes that we are in */

	for (const char *at = sql; *at != '\0'; at++) {
		if (end == '\0' && at[0] == '-' && at[1] == '-') {
			at += strcspn(at, "\n");
			while (text->len > 0 && strchr(" \t", text->str[text->len - 1]) != NULL)
				g_string_truncate(text, text->len - 1);
			if (*at == '\0')
				break;
		} else if (end != '\0') {
			end = *at == end ? '\0' : end;
		} else if (strchr("'\"`[", *at) != NULL) {
			end = *at == '[' ? ']' : *at;
		}
		/* A comment has its lines to itself, or what is left of one. */
		if (*at != '\n' || end != '\0' || !g_str_has_suffix(text->str, "\n"))
			g_string_append_c(text, *at);
	}
	return g_string_free(text, FALSE);
}

static bool is_same_table(const char *actual, const char *expected)
{
	g_autofree char *left = actual != NULL ? without_comments(actual) : NULL;
	g_autofree char *right = without_comments(expected);

	return g_strcmp0(left, right) == 0;
}

/* A view or a virtual table has no root page. */
static bool check_table(
	LodeDatabase *self, const char *name, const char *sql, bool may_miss, GError **error)
{
	g_autoptr(sqlite3_stmt) statement = lode_database_prepare(self,
		"SELECT iif(type = 'table' AND rootpage > 0, sql, NULL) FROM sqlite_schema "
		"WHERE name = ?",
		error);

	if (statement == NULL)
		return false;
	sqlite3_bind_text(statement, 1, name, -1, SQLITE_STATIC);
	int result = sqlite3_step(statement);
	if (result != SQLITE_ROW && result != SQLITE_DONE)
		return lode_database_fail(self, error);
	if (result == SQLITE_ROW &&
		is_same_table((const char *)sqlite3_column_text(statement, 0), sql))
		return true;
	if (result == SQLITE_DONE && may_miss)
		return true;
	g_set_error(error, LODE_ERROR, LODE_ERROR_CORRUPT, "table '%s' is %s", name,
		result == SQLITE_ROW && sqlite3_column_type(statement, 0) != SQLITE_NULL
			? "not as lode makes it"
			: "missing");
	return false;
}

/* The text of a table of supports after columns for events are added. */
static char *add_event_columns_to_text(const char *sql, int64_t n)
{
	static const char last_column[] = "count REAL NOT NULL";
	GString *text = g_string_new(sql);
	const char *found = strstr(sql, last_column);

	if (found == NULL || n == 0)
		return g_string_free(text, FALSE);
	gssize at = found - sql + (gssize)strlen(last_column);
	for (int64_t i = n; i > 0; i--) {
		g_autofree char *column = g_strdup_printf(", event_%" G_GINT64_FORMAT " REAL", i);
		g_string_insert(text, at, column);
	}
	return g_string_free(text, FALSE);
}

/* The tables of an empty profile of a version in memory; temp.required has the names of those that
 * each profile has. */
static bool make_model(LodeDatabase *model, int version, GError **error)
{
	const char *sequences = version >= LODE_SCHEMA_VERSION_RUNS ? sequences_sql
	                                                            : sequence_3_sql;

	if (sqlite3_open_v2(":memory:", &model->handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX,
		    NULL) != SQLITE_OK ||
		sqlite3_exec(model->handle, schema_sql, NULL, NULL, NULL) != SQLITE_OK ||
		sqlite3_exec(model->handle, sequences, NULL, NULL, NULL) != SQLITE_OK ||
		sqlite3_exec(model->handle,
			"CREATE TEMP TABLE required AS SELECT name FROM sqlite_schema", NULL, NULL,
			NULL) != SQLITE_OK)
		return lode_database_fail(model, error);
	for (size_t i = 0; i < G_N_ELEMENTS(additions); i++)
		if (sqlite3_exec(model->handle, additions[i], NULL, NULL, NULL) != SQLITE_OK)
			return lode_database_fail(model, error);
	return true;
}

/* Compares the tables with those of an empty profile made in memory. */
static bool check_tables(LodeDatabase *self, GError **error)
{
	g_autoptr(LodeDatabase) model = g_new0(LodeDatabase, 1);
	const char *supports = self->version >= LODE_SCHEMA_VERSION_RUNS ? "mined_support"
	                                                                 : "sequence";
	int64_t n_events;

	if (!count_event_columns(self, supports, &n_events, error) ||
		!make_model(model, self->version, error))
		return false;
	g_autoptr(sqlite3_stmt) tables = lode_database_prepare(model,
		"SELECT name, sql, name NOT IN (SELECT name FROM temp.required) "
		"FROM main.sqlite_schema WHERE type = 'table'",
		error);
	if (tables == NULL)
		return false;
	while (sqlite3_step(tables) == SQLITE_ROW) {
		const char *name = (const char *)sqlite3_column_text(tables, 0);
		g_autofree char *sql = add_event_columns_to_text(
			(const char *)sqlite3_column_text(tables, 1),
			strcmp(name, supports) == 0 ? n_events : 0);
		if (!check_table(self, name, sql, sqlite3_column_int(tables, 2) != 0, error))
			return false;
	}
	return true;
}

/* SQLite misses whole pages that are cut off, but takes half a page for one of zeros. */
static bool check_is_whole(LodeDatabase *self, const char *path, GError **error)
{
	struct stat status;
	int64_t page_size;

	if (!lode_database_query_integer(self, "PRAGMA page_size", &page_size, error))
		return false;
	if (stat(path, &status) == 0 && status.st_size % page_size == 0)
		return true;
	g_set_error_literal(error, LODE_ERROR, LODE_ERROR_CORRUPT, "the file is cut short");
	return false;
}

static bool check_is_file(const char *path, GError **error)
{
	struct stat status;

	if (stat(path, &status) != 0) {
		int code = errno == ENOENT || errno == ENOTDIR ? LODE_ERROR_NOT_FOUND
		                                               : LODE_ERROR_IO;
		g_set_error(error, LODE_ERROR, code, "%s%s", g_strerror(errno),
			errno == ENOENT ? ": 'lode run -- PROGRAM' writes PROGRAM.lode" : "");
		return false;
	}
	if (!S_ISREG(status.st_mode)) {
		g_set_error_literal(error, LODE_ERROR, LODE_ERROR_CORRUPT,
			S_ISDIR(status.st_mode) ? "a directory, not a profile"
						: "not a regular file");
		return false;
	}
	/* SQLite does not say why it cannot open a file. */
	if (faccessat(AT_FDCWD, path, R_OK, AT_EACCESS) != 0) {
		g_set_error_literal(error, LODE_ERROR, LODE_ERROR_IO, g_strerror(errno));
		return false;
	}
	return true;
}

static bool open_existing(LodeDatabase *self, const char *path, int flags,
	const LodeProgress *progress, GError **error)
{
	/* One transaction from the look at the schema on, so that all that is read belongs
	 * together. IMMEDIATE: a lock taken by the first write only may be refused when the work is
	 * done. */
	const char *begin = (flags & SQLITE_OPEN_READONLY) != 0 ? "BEGIN" : "BEGIN IMMEDIATE";

	return check_is_file(path, error) && open_database(self, path, flags, progress, error) &&
	       lode_database_execute(self, begin, error) && check_identity(self, error) &&
	       check_is_whole(self, path, error) && check_tables(self, error);
}

/* A profile in WAL mode (its user switched it on) that no process has open has no log. */
static bool is_log_empty(const LodeDatabase *self)
{
	g_autofree char *journal = g_strconcat(self->files.path, "-journal", NULL);
	g_autofree char *log = g_strconcat(self->files.path, "-wal", NULL);
	struct stat status;

	return lstat(journal, &status) != 0 && (lstat(log, &status) != 0 || status.st_size == 0);
}

static LodeDatabase *open_immutable(const char *path, const LodeProgress *progress, GError **error)
{
	g_autoptr(LodeDatabase) self = g_new0(LodeDatabase, 1);

	if (!open_existing(self, path, SQLITE_OPEN_READONLY | OPEN_IMMUTABLE, progress, error))
		return NULL;
	return g_steal_pointer(&self);
}

/* An interrupted write of a killed process is rolled back in a copy, whose name is removed as soon
 * as it is open.
 */
static LodeDatabase *open_copy(const char *path, const LodeProgress *progress, GError **error)
{
	g_autoptr(PrivateCopy) copy = private_copy_new(path, error);
	g_autoptr(LodeDatabase) self = g_new0(LodeDatabase, 1);

	if (copy == NULL ||
		!open_existing(self, copy->path, SQLITE_OPEN_READWRITE, progress, error))
		return NULL;
	return g_steal_pointer(&self);
}

LodeDatabase *lode_database_open(const char *path, const LodeProgress *progress, GError **error)
{
	g_autoptr(LodeDatabase) self = g_new0(LodeDatabase, 1);
	g_autoptr(GError) fault = NULL;

	if (open_existing(self, path, SQLITE_OPEN_READONLY, progress, &fault))
		return g_steal_pointer(&self);
	if (self->files.refusal == LODE_REFUSED_LOG && is_log_empty(self))
		return open_immutable(path, progress, error);
	if (self->handle != NULL &&
		sqlite3_extended_errcode(self->handle) == SQLITE_READONLY_ROLLBACK)
		return open_copy(path, progress, error);
	g_propagate_error(error, g_steal_pointer(&fault));
	return NULL;
}

LodeDatabase *lode_database_open_writable(
	const char *path, const LodeProgress *progress, GError **error)
{
	g_autoptr(LodeDatabase) self = g_new0(LodeDatabase, 1);

	if (!open_existing(self, path, SQLITE_OPEN_READWRITE, progress, error))
		return NULL;
	return g_steal_pointer(&self);
}

LodeDatabase *lode_database_open_exclusive(const char *path, GError **error)
{
	g_autoptr(LodeDatabase) self = g_new0(LodeDatabase, 1);

	/* A write-ahead log, which a user may have switched on, must not outlive its file. */
	if (!open_database(self, path, SQLITE_OPEN_READWRITE, NULL, error) ||
		!lode_database_execute(self, "PRAGMA journal_mode = DELETE", error) ||
		!lode_database_execute(self, "BEGIN EXCLUSIVE", error))
		return NULL;
	return g_steal_pointer(&self);
}
