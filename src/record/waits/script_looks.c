/* SPDX-License-Identifier: MIT */
#include "record/waits/script_looks.h"

#include "base/monotonic_clock.h"
#include "model/lines/own_lines.h"
#include "record/process_memory.h"
#include "record/waits/look_record.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

/* Between two searches for an interpreter, at first and at most: a search takes some hundred
 * microseconds. */
#define FIRST_SEARCH_NS UINT64_C(20000000)
#define LAST_SEARCH_NS UINT64_C(2000000000)

/* Likewise at most, of processes of one program that is not named as an interpreter. */
#define LAST_OF_PROGRAM_NS UINT64_C(500000000)

/* By then a program has loaded the libraries that it is linked to. */
#define LOADED_NS (4 * FIRST_SEARCH_NS)

/* Code that calls and returns all the time would be seen too seldom, if what is torn were not read
 * again. */
enum { MOST_READS = 3, MAX_PARTS = 8, PATH_BYTES = 512 };

struct LodeScriptLooks {
	pid_t pid;
	LodeScriptSearch *common; /* borrowed */
	void *frames;             /* the interpreter's; NULL: none was found */
	LodeFoundInterpreter found;
	bool has_told_loop;
	dev_t device; /* of the program that was searched, with its inode */
	ino_t inode;
	bool is_named;                /* as an interpreter */
	uint64_t search_ns, pause_ns; /* when next, and how long after the last time */
	uint64_t checked_ns;          /* when it was asked whether it is another program */
	LodeScriptLook look;
	GArray *codes; /* LodeScriptCode */
};

/* A program of which no process was found to have an interpreter. */
typedef struct {
	uint64_t search_ns, pause_ns; /* as of a process */
} WithoutScripts;

void lode_script_search_init(LodeScriptSearch *self)
{
	lode_interpreter_files_init(&self->files);
	self->programs = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, g_free);
}

void lode_script_search_clear(LodeScriptSearch *self)
{
	lode_interpreter_files_clear(&self->files);
	g_clear_pointer(&self->programs, g_hash_table_unref);
}

LodeScriptLooks *lode_script_looks_new(pid_t pid, LodeScriptSearch *common)
{
	LodeScriptLooks *self = g_new0(LodeScriptLooks, 1);

	self->pid = pid;
	self->common = common;
	self->codes = g_array_new(FALSE, FALSE, sizeof(LodeScriptCode));
	return self;
}

static void close_frames(LodeScriptLooks *self)
{
	if (self->frames != NULL)
		self->found.interpreter->close(self->frames);
	self->frames = NULL;
	self->has_told_loop = false;
}

void lode_script_looks_free(LodeScriptLooks *self)
{
	if (self == NULL)
		return;
	close_frames(self);
	g_array_unref(self->codes);
	g_free(self);
}

static size_t read_memory(void *data, uint64_t address, void *to, size_t size)
{
	const LodeScriptLooks *self = data;

	return lode_process_memory_read(self->pid, address, to, size);
}

static bool read_parts(void *data, const LodeForeignPart *parts, size_t n)
{
	const LodeScriptLooks *self = data;
	struct iovec local[MAX_PARTS], remote[MAX_PARTS];
	size_t size = 0;

	if (n > MAX_PARTS)
		return false;
	for (size_t i = 0; i < n; i++) {
		local[i] = (struct iovec){parts[i].to, parts[i].size};
		remote[i] = (struct iovec){(void *)(uintptr_t)parts[i].address, parts[i].size};
		size += parts[i].size;
	}
	return process_vm_readv(self->pid, local, n, remote, n, 0) == (ssize_t)size;
}

/* Whether it is another program than was searched. */
static bool has_changed(LodeScriptLooks *self)
{
	char path[64], target[PATH_BYTES];
	struct stat status;

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)self->pid);
	if (stat(path, &status) != 0 ||
		(status.st_dev == self->device && status.st_ino == self->inode))
		return false;
	self->device = status.st_dev;
	self->inode = status.st_ino;
	ssize_t n = readlink(path, target, sizeof(target) - 1);
	target[MAX(n, 0)] = '\0';
	const char *slash = strrchr(target, '/');
	self->is_named = slash == NULL || lode_is_run_time_program(target) ||
	                 lode_is_interpreter(slash + 1) || strcmp(slash, "/java") == 0;
	return true;
}

static gint64 key_of_program(const LodeScriptLooks *self)
{
	return (gint64)((uint64_t)self->device << 40 ^ (uint64_t)self->inode);
}

static WithoutScripts *program_of(const LodeScriptLooks *self)
{
	gint64 key = key_of_program(self);

	return g_hash_table_lookup(self->common->programs, &key);
}

/* What was found, or not, holds for the program's other processes. */
static void note_program(LodeScriptLooks *self, bool has_scripts, uint64_t now_ns)
{
	gint64 key = key_of_program(self);
	WithoutScripts *program = program_of(self);

	if (has_scripts || self->is_named) {
		g_hash_table_remove(self->common->programs, &key);
		return;
	}
	if (program == NULL) {
		program = g_new0(WithoutScripts, 1);
		program->pause_ns = FIRST_SEARCH_NS / 2;
		g_hash_table_insert(self->common->programs, g_memdup2(&key, sizeof(key)), program);
	}
	program->pause_ns = MIN(2 * program->pause_ns, LAST_OF_PROGRAM_NS);
	program->search_ns = now_ns + program->pause_ns;
}

/* Few programs are named as an interpreter and are none. */
static void note_unread(LodeScriptLooks *self)
{
	const char *path = self->found.file, *slash = path != NULL ? strrchr(path, '/') : NULL;

	/* Java's functions are known otherwise. */
	if (self->frames == NULL && self->pause_ns >= LOADED_NS && slash != NULL &&
		!g_str_has_prefix(slash, "/libjvm") &&
		(self->found.interpreter != NULL || self->found.is_unread ||
			lode_is_interpreter(slash + 1)))
		self->common->unread = path;
}

/* Most threads of Java wait in no code of the user's: nothing else is looked for then. */
static bool is_of_waits(const LodeScriptLooks *self)
{
	return self->found.interpreter->is_of_waits;
}

/* Code keeps its numbers where the interpreter is the one that was known. */
static void search(LodeScriptLooks *self, uint64_t now_ns)
{
	const LodeForeignMemory memory = {read_memory, self, read_parts};

	if (self->checked_ns != 0 && now_ns < self->checked_ns + FIRST_SEARCH_NS)
		return;
	self->checked_ns = now_ns;
	if (has_changed(self))
		self->pause_ns = FIRST_SEARCH_NS / 2;
	else if (now_ns < self->search_ns || (self->frames != NULL && is_of_waits(self)))
		return;
	const WithoutScripts *program = self->frames == NULL ? program_of(self) : NULL;
	if (program != NULL && now_ns < program->search_ns) {
		self->search_ns = program->search_ns;
		return;
	}
	self->pause_ns = MIN(2 * self->pause_ns, LAST_SEARCH_NS);
	self->search_ns = now_ns + self->pause_ns;
	LodeFoundInterpreter found = lode_interpreter_find(&self->common->files, self->pid);
	if (self->frames != NULL && memcmp(&found, &self->found, sizeof(found)) == 0)
		return;
	close_frames(self);
	self->found = found;
	uint64_t begin_ns = lode_thread_ns();
	if (found.interpreter != NULL)
		self->frames = found.interpreter->open(
			found.symbols, &memory, &self->common->next_code);
	self->common->files.spent_ns += lode_thread_ns() - begin_ns;
	note_program(self, found.interpreter != NULL || found.file != NULL, now_ns);
	note_unread(self);
}

/* Begins a record, whose raw data is to be appended; where it begins. */
static guint begin_record(
	const LodeScriptLooks *self, pid_t tid, uint64_t time_ns, GByteArray *records)
{
	return lode_look_record_begin(records,
		&(LodeLookRecord){
			.id = LODE_SCRIPT_ID, .time_ns = time_ns, .pid = self->pid, .tid = tid});
}

static void end_record(GByteArray *records, guint begin)
{
	lode_look_record_end_raw(records, begin);
	lode_look_record_end(records, begin);
}

static void tell_loop(LodeScriptLooks *self, pid_t tid, uint64_t now_ns, GByteArray *records)
{
	const LodeInterpreter *interpreter = self->found.interpreter;
	uint64_t address = interpreter->loop != NULL ? interpreter->loop(self->frames) : 0;

	if (address == 0 || self->has_told_loop)
		return;
	self->has_told_loop = true;
	guint begin = begin_record(self, tid, now_ns, records);
	lode_script_loop_append(address, records);
	end_record(records, begin);
}

bool lode_script_looks_take(LodeScriptLooks *self, pid_t tid, bool is_waiting, GByteArray *records)
{
	uint64_t now_ns = lode_now_ns();
	LodeScriptLook *look = &self->look;

	if (self->frames == NULL)
		search(self, now_ns);
	if (self->frames == NULL || (is_of_waits(self) && !is_waiting))
		return false;
	now_ns = lode_now_ns();
	g_array_set_size(self->codes, 0);
	const LodeFramesThread thread = {self->pid, tid, now_ns};
	uint64_t begin_ns = lode_thread_ns();
	LodeFramesOutcome outcome = LODE_FRAMES_TORN;
	for (unsigned i = 0; i < MOST_READS && outcome == LODE_FRAMES_TORN; i++)
		outcome = self->found.interpreter->read(self->frames, &thread, look, self->codes);
	/* Code is read once, and takes longer than looks may. */
	if (self->codes->len > 0 && is_of_waits(self))
		self->common->files.spent_ns += lode_thread_ns() - begin_ns;
	for (guint i = 0; i < self->codes->len; i++) {
		guint begin = begin_record(self, tid, now_ns, records);
		lode_script_code_append(&g_array_index(self->codes, LodeScriptCode, i), records);
		end_record(records, begin);
	}
	tell_loop(self, tid, now_ns, records);
	if (outcome == LODE_FRAMES_NONE) {
		search(self, now_ns);
		return false;
	}
	guint begin = begin_record(self, tid, now_ns, records);
	lode_script_frames_append(look->frames, look->n_frames,
		look->flags | (is_waiting ? LODE_SCRIPT_IS_WAITING : 0), records);
	end_record(records, begin);
	return !is_of_waits(self);
}
