/* SPDX-License-Identifier: MIT */
#include "record/windows/window_logs.h"

#include "base/arrays/sort_order.h"
#include "base/error.h"
#include "base/files/write_at.h"
#include "model/index.h"
#include "record/programs/packed_frames.h"
#include "sources/perf_data/perf_data_format.h"
#include "sources/windows/window_log_format.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct {
	char *path;
	LodeWindowLogHeader header; /* `used` is at most what the file has */
} Log;

static void clear_log(void *log)
{
	g_free(((Log *)log)->path);
}

LODE_ORDER(compare_logs, Log, LODE_ASCENDING(header.begin_ns), strcmp(left->path, right->path))

/* −1: it cannot be opened. */
static int open_log(const char *path)
{
	return open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
}

/* A process that was killed when it had just made its log leaves an empty one. */
static bool read_header(const char *path, LodeWindowLogHeader *out_header)
{
	LodeWindowLogHeader header;
	struct stat status;
	int descriptor = open_log(path);
	bool is_log = descriptor >= 0 && fstat(descriptor, &status) == 0 &&
	              pread(descriptor, &header, sizeof(header), 0) == sizeof(header) &&
	              memcmp(header.magic, LODE_WINDOW_LOG_MAGIC, sizeof(header.magic)) == 0 &&
	              header.version == LODE_WINDOW_LOG_VERSION;

	if (descriptor >= 0)
		close(descriptor);
	if (!is_log)
		return false;
	header.used = CLAMP(header.used, sizeof(header), (uint64_t)status.st_size);
	*out_header = header;
	return true;
}

static GArray *find_logs(const char *directory, GHashTable *refused)
{
	GArray *logs = g_array_new(FALSE, FALSE, sizeof(Log));
	g_autoptr(GDir) listing = g_dir_open(directory, 0, NULL);
	const char *name;

	g_array_set_clear_func(logs, clear_log);
	while (listing != NULL && (name = g_dir_read_name(listing)) != NULL) {
		Log log = {.path = g_build_filename(directory, name, NULL)};
		if (!g_str_has_suffix(name, ".log") || !read_header(log.path, &log.header)) {
			g_free(log.path);
			continue;
		}
		if (log.header.obstacle == LODE_WINDOW_OBSTACLE_NONE &&
			g_hash_table_contains(refused, GUINT_TO_POINTER(log.header.pid)))
			log.header.obstacle = LODE_WINDOW_OBSTACLE_EVENT;
		g_array_append_val(logs, log);
	}
	g_array_sort(logs, compare_logs);
	return logs;
}

/* A file that has become shorter ends with zeros, which are no windows. */
static bool copy_log(LodePackedFrames *frames, const Log *log)
{
	int descriptor = open_log(log->path);
	bool is_done = true;

	for (uint64_t at = 0, n; at < log->header.used && is_done; at += n) {
		n = MIN(log->header.used - at, LODE_PACKED_BLOCK_BYTES);
		ssize_t n_read = pread(descriptor, frames->input, n, (off_t)at);
		n_read = MAX(n_read, 0);
		memset(frames->input + n_read, 0, n - (size_t)n_read);
		/* the process may have gone on since it was read */
		if (at == 0)
			memcpy(frames->input, &log->header, sizeof(log->header));
		is_done = lode_packed_frames_add(frames, n, at + n == log->header.used);
	}
	if (descriptor >= 0)
		close(descriptor);
	return is_done;
}

/* Pads it, so that the next one begins at a multiple of 8. */
static bool end_log(LodePackedFrames *frames)
{
	static const uint8_t zeros[8];
	size_t n = (8 - frames->end % 8) % 8;

	frames->end += n;
	return lode_write_at(frames->descriptor, zeros, n, frames->end - n);
}

static bool write_log(LodePackedFrames *frames, const Log *log, bool is_left_out)
{
	uint64_t start = frames->end;
	uint64_t sizes[] = {0, log->header.used};

	frames->end += sizeof(sizes);
	if (!is_left_out && !copy_log(frames, log))
		return false;
	sizes[0] = frames->end - start - sizeof(sizes);
	return lode_write_at(frames->descriptor, sizes, sizeof(sizes), start) && end_log(frames);
}

static bool write_section(LodePackedFrames *frames, const GArray *logs, LodeWindowTally *tally)
{
	uint64_t start = frames->end, left = LODE_PERF_WINDOWS_MAX_BYTES;
	const uint32_t head[] = {
		LODE_PERF_WINDOWS_VERSION, MIN(logs->len, LODE_PERF_WINDOWS_MAX_LOGS)};

	frames->end += sizeof(head);
	for (guint i = 0; i < logs->len; i++) {
		const Log *log = &LODE_AT(logs, Log, i);
		bool is_left_out = i >= head[1] || log->header.used > left;
		tally->n_windows += log->header.n_windows;
		tally->n_steps += log->header.n_steps;
		tally->cpu_ns += log->header.user_ns + log->header.system_ns;
		tally->n_left_out += is_left_out;
		if (i < head[1] && !write_log(frames, log, is_left_out))
			return false;
		left -= is_left_out ? 0 : log->header.used;
	}
	return lode_write_at(frames->descriptor, head, sizeof(head), start);
}

bool lode_window_logs_write(const char *directory, GHashTable *refused, int descriptor,
	uint64_t offset, uint64_t *out_size, LodeWindowTally *out_tally, GError **error)
{
	g_autoptr(GArray) logs = find_logs(directory, refused);
	LodeWindowTally tally = {.n_logs = logs->len};
	LodePackedFrames frames;

	bool is_done = lode_packed_frames_init(&frames, descriptor, offset) &&
	               (logs->len == 0 || write_section(&frames, logs, &tally));
	if (is_done) {
		*out_size = frames.end - offset;
		*out_tally = tally;
	} else {
		g_set_error_literal(error, LODE_ERROR, LODE_ERROR_IO, g_strerror(errno));
	}
	lode_packed_frames_clear(&frames);
	return is_done;
}

void lode_window_logs_add_obstacle(const char *directory, pid_t pid, uint32_t obstacle)
{
	g_autofree char *path = g_strdup_printf("%s/windows-%d.log", directory, (int)pid);
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
