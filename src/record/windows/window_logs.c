/* SPDX-License-Identifier: MIT */
#include "record/windows/window_logs.h"

#include "base/arrays/sort_order.h"
#include "base/error.h"
#include "base/files/nameless_file.h"
#include "base/files/write_at.h"
#include "record/programs/packed_frames.h"
#include "sources/perf_data/perf_data_format.h"
#include "sources/windows/window_log_format.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Larger logs wait for the end: to pack them takes so long that samples could be lost meanwhile. */
enum { MAX_BYTES_MEANWHILE = 4 << 20, LINE = 64 };

struct LodeWindowLogs {
	const char *directory;
	int budget;             /* descriptor of the page that the processes share */
	LodePackedFrames spool; /* logs as in the section, in a file without a name */
	uint32_t n_kept;        /* in it */
	uint64_t left;          /* bytes, not compressed, that may still be kept */
	LodeWindowTally tally;
};

/* Reserves its bytes on the disk: a process that writes to a page which a full disk lacks is
 * killed. */
static int make_budget(const char *directory)
{
	g_autofree char *path = g_build_filename(directory, LODE_WINDOW_BUDGET_NAME, NULL);
	static const uint8_t page[LODE_WINDOW_LOG_PAGE];
	int descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	if (descriptor >= 0 && !lode_write_at(descriptor, page, sizeof(page), 0)) {
		close(descriptor);
		return -1;
	}
	return descriptor;
}

LodeWindowLogs *lode_window_logs_new(const char *directory, GError **error)
{
	LodeWindowLogs *self = g_new0(LodeWindowLogs, 1);
	int descriptor = lode_nameless_file_open(g_get_tmp_dir());

	self->directory = directory;
	self->left = LODE_PERF_WINDOWS_MAX_BYTES;
	self->budget = directory != NULL ? make_budget(directory) : -1;
	bool has_budget = directory == NULL || self->budget >= 0;
	if (has_budget && lode_packed_frames_init(&self->spool, descriptor, 0) && descriptor >= 0)
		return self;
	g_set_error(error, LODE_ERROR, LODE_ERROR_IO, "cannot make a file in '%s' (TMPDIR): %s",
		has_budget ? g_get_tmp_dir() : directory, g_strerror(errno));
	lode_window_logs_free(self);
	return NULL;
}

void lode_window_logs_free(LodeWindowLogs *self)
{
	if (self == NULL)
		return;
	if (self->budget >= 0)
		close(self->budget);
	if (self->spool.descriptor >= 0)
		close(self->spool.descriptor);
	lode_packed_frames_clear(&self->spool);
	g_free(self);
}

/* --- one log --- */

/* This machine's; the import may be on another one. */
static void put_cache(LodeWindowLogHeader *header)
{
	long size = sysconf(_SC_LEVEL1_DCACHE_SIZE), ways = sysconf(_SC_LEVEL1_DCACHE_ASSOC);
	bool is_known = size > 0 && ways > 0 && sysconf(_SC_LEVEL1_DCACHE_LINESIZE) == LINE;

	header->cache_ways = is_known ? (uint32_t)ways : 0;
	header->cache_sets = is_known ? (uint32_t)(size / ways / LINE) : 0;
}

/* A process that was killed when it had just made its log leaves an empty one. */
static bool read_header(int descriptor, LodeWindowLogHeader *out_header)
{
	LodeWindowLogHeader header;
	struct stat status;

	if (fstat(descriptor, &status) != 0 ||
		pread(descriptor, &header, sizeof(header), 0) != sizeof(header) ||
		memcmp(header.magic, LODE_WINDOW_LOG_MAGIC, sizeof(header.magic)) != 0 ||
		header.version != LODE_WINDOW_LOG_VERSION)
		return false;
	header.used = CLAMP(header.used, sizeof(header), (uint64_t)status.st_size);
	put_cache(&header);
	*out_header = header;
	return true;
}

/* Whether no process has it mapped: then a lease is granted. If the file is opened meanwhile, the
 * kernel sends a signal, which must be one that is ignored by default. */
static bool is_over(int descriptor)
{
	bool has_lease = fcntl(descriptor, F_SETSIG, SIGURG) == 0 &&
	                 fcntl(descriptor, F_SETLEASE, F_WRLCK) == 0;

	if (has_lease)
		fcntl(descriptor, F_SETLEASE, F_UNLCK);
	return has_lease;
}

/* Where a log lies. */
typedef struct {
	const uint8_t *bytes; /* NULL: in the file */
	int descriptor;       /* −1: nowhere, it is left out */
} Source;

/* A file that has become shorter ends with zeros, which are no windows. */
static void read_block(const Source *source, uint8_t *to, size_t n, uint64_t at)
{
	if (source->bytes != NULL) {
		memcpy(to, source->bytes + at, n);
		return;
	}
	ssize_t n_read = MAX(pread(source->descriptor, to, n, (off_t)at), 0);
	memset(to + n_read, 0, n - (size_t)n_read);
}

static bool pack(LodePackedFrames *frames, const Source *source, const LodeWindowLogHeader *header)
{
	bool is_done = true;

	ZSTD_CCtx_setPledgedSrcSize(frames->context, header->used);
	for (uint64_t at = 0, n; at < header->used && is_done; at += n) {
		n = MIN(header->used - at, LODE_PACKED_BLOCK_BYTES);
		read_block(source, frames->input, n, at);
		/* the process may have gone on since it was read */
		if (at == 0)
			memcpy(frames->input, header, sizeof(*header));
		is_done = lode_packed_frames_add(frames, n, at + n == header->used);
	}
	return is_done;
}

/* Sizes, frame, and zeros up to a multiple of 8. */
static bool append(LodeWindowLogs *self, const Source *source, const LodeWindowLogHeader *header)
{
	LodePackedFrames *spool = &self->spool;
	uint64_t start = spool->end, sizes[] = {0, header->used};
	uint64_t frame = start + sizeof(sizes);
	static const uint8_t zeros[8];

	spool->end = frame;
	bool is_left_out = source->bytes == NULL && source->descriptor < 0;
	bool is_done = is_left_out || pack(spool, source, header);
	sizes[0] = spool->end - frame;
	size_t n_zeros = (8 - sizes[0] % 8) % 8;
	is_done = is_done && lode_write_at(spool->descriptor, zeros, n_zeros, spool->end) &&
	          lode_write_at(spool->descriptor, sizes, sizeof(sizes), start);
	spool->end = is_done ? spool->end + n_zeros : start;
	if (!is_done)
		ZSTD_CCtx_reset(spool->context, ZSTD_reset_session_only);
	return is_done;
}

/* Processes that have ended before the first signal are only counted. */
static bool is_worth_keeping(const LodeWindowLogHeader *header)
{
	return header->n_windows > 0 || header->n_signals > 0 ||
	       header->obstacle != LODE_WINDOW_OBSTACLE_NONE;
}

/* A log that cannot be written, as the disk is full, is left out like one that has no room. */
static void keep(LodeWindowLogs *self, const Source *source, const LodeWindowLogHeader *header)
{
	const Source nowhere = {.descriptor = -1};
	bool is_kept = self->n_kept < LODE_PERF_WINDOWS_MAX_LOGS && header->used <= self->left &&
	               append(self, source, header);

	if (is_kept)
		self->left -= header->used;
	else
		self->tally.n_left_out++;
	if (is_kept ||
		(self->n_kept < LODE_PERF_WINDOWS_MAX_LOGS && append(self, &nowhere, header)))
		self->n_kept++;
	self->tally.n_windows += header->n_windows;
	self->tally.n_steps += header->n_steps;
	self->tally.n_hits += header->version >= LODE_WINDOW_LOG_PROBES_VERSION ? header->n_hits
	                                                                        : 0;
	self->tally.cpu_ns += header->user_ns + header->system_ns;
}

static void collect_log(LodeWindowLogs *self, const char *path, bool is_end)
{
	LodeWindowLogHeader header;
	int descriptor = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);

	if (descriptor < 0)
		return;
	bool is_log = read_header(descriptor, &header);
	bool is_due = is_end ||
	              (is_over(descriptor) && (!is_log || header.used <= MAX_BYTES_MEANWHILE));
	/* it may have gone on before it was over */
	if (is_due && is_log && read_header(descriptor, &header)) {
		self->tally.n_logs++;
		if (is_worth_keeping(&header))
			keep(self, &(Source){.descriptor = descriptor}, &header);
	}
	close(descriptor);
	if (is_due)
		unlink(path);
}

/* --- all --- */

static void collect(LodeWindowLogs *self, bool is_end)
{
	g_autoptr(GDir) listing = self->directory != NULL ? g_dir_open(self->directory, 0, NULL)
	                                                  : NULL;
	g_autoptr(GPtrArray) paths = g_ptr_array_new_with_free_func(g_free);
	const char *name;

	while (listing != NULL && (name = g_dir_read_name(listing)) != NULL)
		if (g_str_has_suffix(name, ".log"))
			g_ptr_array_add(paths, g_build_filename(self->directory, name, NULL));
	g_ptr_array_sort(paths, lode_compare_texts);
	for (guint i = 0; i < paths->len; i++)
		collect_log(self, paths->pdata[i], is_end);
}

void lode_window_logs_collect(LodeWindowLogs *self)
{
	collect(self, false);
}

/* The recorder closes events; timers belong to the processes, which stop them. */
static void tell_end(LodeWindowLogs *self)
{
	const uint32_t flags = LODE_WINDOW_BUDGET_OVER;
	LodeWindowBudget budget = {0};

	if (self->budget < 0)
		return;
	self->tally.is_loaded = pread(self->budget, &budget, sizeof(budget), 0) == sizeof(budget) &&
	                        budget.spent_ns != 0;
	lode_write_at(self->budget, &flags, sizeof(flags), offsetof(LodeWindowBudget, flags));
}

void lode_window_logs_add(LodeWindowLogs *self, const uint8_t *bytes, size_t size)
{
	LodeWindowLogHeader header;

	g_assert(size >= sizeof(header));
	memcpy(&header, bytes, sizeof(header));
	put_cache(&header);
	self->tally.n_logs++;
	if (is_worth_keeping(&header))
		keep(self, &(Source){.bytes = bytes}, &header);
}

static bool copy_spool(const LodeWindowLogs *self, int descriptor, uint64_t offset)
{
	const LodePackedFrames *spool = &self->spool;

	for (uint64_t at = 0, n; at < spool->end; at += n) {
		n = MIN(spool->end - at, LODE_PACKED_BLOCK_BYTES);
		if (pread(spool->descriptor, spool->input, n, (off_t)at) != (ssize_t)n ||
			!lode_write_at(descriptor, spool->input, n, offset + at))
			return false;
	}
	return true;
}

bool lode_window_logs_write(
	LodeWindowLogs *self, int descriptor, uint64_t offset, uint64_t *out_size, GError **error)
{
	collect(self, true);
	tell_end(self);
	const uint32_t head[] = {LODE_PERF_WINDOWS_VERSION, self->n_kept};
	if (self->n_kept > 0 && (!lode_write_at(descriptor, head, sizeof(head), offset) ||
					!copy_spool(self, descriptor, offset + sizeof(head)))) {
		g_set_error_literal(error, LODE_ERROR, LODE_ERROR_IO, g_strerror(errno));
		return false;
	}
	*out_size = self->n_kept > 0 ? sizeof(head) + self->spool.end : 0;
	return true;
}

const LodeWindowTally *lode_window_logs_tally(const LodeWindowLogs *self)
{
	return &self->tally;
}

void lode_window_logs_add_obstacle(const LodeWindowLogs *self, pid_t pid, uint32_t obstacle)
{
	/* no process gives its own log such a name */
	g_autofree char *path = g_strdup_printf(
		"%s/windows-%d-none-%u.log", self->directory, (int)pid, obstacle);
	const LodeWindowLogHeader header = {
		.magic = LODE_WINDOW_LOG_MAGIC,
		.version = LODE_WINDOW_LOG_VERSION,
		.page = LODE_WINDOW_LOG_PAGE,
		.pid = (uint32_t)pid,
		.parent = (uint32_t)getpid(),
		.begin_ns = (uint64_t)g_get_monotonic_time() * 1000,
		.used = LODE_WINDOW_LOG_PAGE,
		.obstacle = obstacle,
	};
	g_autofree char *page = g_malloc0(LODE_WINDOW_LOG_PAGE);

	memcpy(page, &header, sizeof(header));
	g_file_set_contents_full(
		path, page, LODE_WINDOW_LOG_PAGE, G_FILE_SET_CONTENTS_NONE, 0600, NULL);
}
