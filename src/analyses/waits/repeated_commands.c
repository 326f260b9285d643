/* SPDX-License-Identifier: MIT */
#include "analyses/waits/wait_groups.h"

#include "base/arrays/sort_order.h"
#include "model/index.h"
#include "model/profile.h"
#include "model/waits.h"

/* Fewer may be by chance. */
enum { LEAST_SAME = 5 };

/* A parent that sleeps for so much of the clock, or has others sleep so often, looks again for what
 * changes. */
static const double MUCH_SLEEP = 0.2;
enum { SAME_OF_A_SLEEP = 3 };

static const char *const changing[] = {"cat", "curl", "date", "df", "free", "head", "iostat",
	"mktemp", "nc", "od", "openssl", "pgrep", "pidof", "ping", "ps", "shuf", "sleep", "ss",
	"ssh", "tail", "top", "uptime", "uuidgen", "vmstat", "wget", NULL};

static const LodeWaitProcess *process_at(const LodeWaits *waits, uint32_t i)
{
	return &g_array_index(waits->processes, LodeWaitProcess, i);
}

/* Whether its parent reads what it writes. */
static bool has_read_output(const LodeWaitProcess *process)
{
	return process->output != NULL && g_str_has_prefix(process->output, "pipe:") &&
	       g_strcmp0(process->output, process->input) != 0;
}

static bool can_be_repeated(const LodeWaitProcess *process)
{
	return process->parent != LODE_NONE && process->command != NULL && !process->is_cut &&
	       process->input != NULL && process->directory != NULL && has_read_output(process) &&
	       !g_strv_contains(changing, process->name != NULL ? process->name : "");
}

/* Equal of the same commands; the caller frees it. */
static char *key_of(const LodeWaitProcess *process)
{
	return g_strdup_printf("%u %u\n%s\n%s\n%s\n%s", process->parent, process->environment,
		process->name, process->input, process->directory, process->command);
}

/* The clock's time with any of the processes of that array of numbers, which are in the order of
 * their beginnings; and the sum of their lives. */
static double time_with(const LodeWaits *waits, const GArray *numbers, double *out_lives)
{
	double lived = 0;
	uint64_t until_ns = 0;

	*out_lives = 0;
	for (guint i = 0; i < numbers->len; i++) {
		const LodeWaitProcess *one = process_at(waits, g_array_index(numbers, uint32_t, i));
		*out_lives += (double)(one->end_ns - one->begin_ns);
		if (one->end_ns > until_ns)
			lived += (double)(one->end_ns - MAX(one->begin_ns, until_ns));
		until_ns = MAX(until_ns, one->end_ns);
	}
	return lived;
}

/* Those whose command is not known are the same as often as those whose is. */
static void count(LodeRepeatedCommand *self, const LodeWaits *waits, const GArray *same)
{
	const char *name = process_at(waits, self->first)->name;
	g_autoptr(GArray) alike = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	double lives, of_all;

	for (uint32_t i = 0; i < waits->processes->len; i++) {
		const LodeWaitProcess *one = process_at(waits, i);
		if (one->parent != self->parent)
			continue;
		self->started++;
		if (g_strcmp0(one->name, name) != 0)
			continue;
		self->known += one->command != NULL;
		g_array_append_val(alike, i);
	}
	self->alike = alike->len;
	double lived = time_with(waits, same, &lives), needed = lived / same->len;
	self->at_once = lived > 0 ? lives / lived : 1;
	self->low_ns = lived - needed;
	self->high_ns = MAX(
		self->low_ns, time_with(waits, alike, &of_all) * same->len / self->known - needed);
}

/* Whether the parent looks again and again whether something has changed. */
static bool is_polling(const LodeWaits *waits, const LodeRepeatedCommand *command)
{
	uint32_t pid = process_at(waits, command->parent)->pid;
	double asleep = 0;
	guint sleeps = 0;

	for (guint i = 0; i < waits->rows->len; i++) {
		const LodeWait *row = &g_array_index(waits->rows, LodeWait, i);
		asleep += row->pid == pid && row->reason == LODE_WAIT_SLEEP ? row->waiting_ns : 0;
	}
	for (guint i = 0; i < waits->processes->len; i++) {
		const LodeWaitProcess *one = process_at(waits, i);
		sleeps += one->parent == command->parent && g_strcmp0(one->name, "sleep") == 0;
	}
	return asleep >= MUCH_SLEEP * waits->clock_ns || sleeps * SAME_OF_A_SLEEP >= command->same;
}

LODE_ORDER(compare_commands, LodeRepeatedCommand, LODE_DESCENDING(high_ns), LODE_ASCENDING(first))

static void free_array(void *data)
{
	g_array_unref(data);
}

GArray *lode_repeated_commands_new(const LodeProfile *profile)
{
	GArray *found = g_array_new(FALSE, FALSE, sizeof(LodeRepeatedCommand));
	g_autoptr(GHashTable)
		by_key = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, free_array);
	const LodeWaits *waits = profile->waits;
	GHashTableIter at;
	void *value;

	for (guint i = 0; waits != NULL && i < waits->processes->len; i++) {
		if (!can_be_repeated(process_at(waits, i)))
			continue;
		g_autofree char *key = key_of(process_at(waits, i));
		GArray *same = g_hash_table_lookup(by_key, key);
		if (same == NULL) {
			same = g_array_new(FALSE, FALSE, sizeof(uint32_t));
			g_hash_table_insert(by_key, g_steal_pointer(&key), same);
		}
		g_array_append_val(same, i);
	}
	g_hash_table_iter_init(&at, by_key);
	while (g_hash_table_iter_next(&at, NULL, &value)) {
		const GArray *same = value;
		LodeRepeatedCommand one = {
			.first = g_array_index(same, uint32_t, 0), .same = same->len};
		one.parent = process_at(waits, one.first)->parent;
		if (same->len < LEAST_SAME)
			continue;
		count(&one, waits, same);
		if (!is_polling(waits, &one))
			g_array_append_val(found, one);
	}
	g_array_sort(found, compare_commands);
	return found;
}
