/* SPDX-License-Identifier: MIT */
#include "analyses/waits/wait_groups.h"

#include "base/arrays/sort_order.h"
#include "base/text/command_words.h"
#include "model/index.h"
#include "model/waits.h"

#include <string.h>

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
	return g_str_has_prefix(process->output, "pipe:") &&
	       g_strcmp0(process->output, process->input) != 0;
}

/* Of a process that ends, some of it may not be seen any more. */
static bool is_known(const LodeWaitProcess *process)
{
	return process->command != NULL && process->directory != NULL && process->input != NULL &&
	       process->output != NULL;
}

/* Whether a shell was started for one such command alone, as system(3) does. */
static bool is_of_changing(const LodeWaitProcess *process)
{
	g_auto(GStrv) words = NULL, inner = NULL;
	int n = 0;

	if (process->name == NULL || !lode_is_shell(process->name) ||
		!g_shell_parse_argv(process->command, &n, &words, NULL) || n != 3 ||
		strcmp(words[1], "-c") != 0 || strpbrk(words[2], "|;&<>$`()\n") != NULL ||
		!g_shell_parse_argv(words[2], &n, &inner, NULL))
		return false;
	return g_strv_contains(changing, inner[0]);
}

static bool can_be_repeated(const LodeWaitProcess *process)
{
	return process->parent != LODE_NONE && is_known(process) && !process->is_cut &&
	       has_read_output(process) &&
	       !g_strv_contains(changing, process->name != NULL ? process->name : "") &&
	       !is_of_changing(process);
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

/* --- how many are the same --- */

/* Those of one program, by one parent, that started the same programs. */
typedef struct {
	guint known, same;
} Shape;

/* What a command's processes are found by. */
typedef struct {
	const LodeWaits *waits;
	uint32_t *command_of; /* by process: the first of its equals; LODE_NONE: none is known */
	uint32_t *shape_of;   /* by process: of the names of what it started, in any order */
} Search;

static void find_shapes(Search *self)
{
	const LodeWaits *waits = self->waits;

	for (uint32_t i = 0; i < waits->processes->len; i++) {
		const LodeWaitProcess *one = process_at(waits, i);
		if (one->parent < waits->processes->len && one->name != NULL)
			self->shape_of[one->parent] += g_str_hash(one->name) | 1;
	}
}

static bool is_alike(const LodeWaitProcess *one, const LodeWaitProcess *other)
{
	return one->parent == other->parent && g_strcmp0(one->name, other->name) == 0;
}

/* By shape; the caller unrefs the table. */
static GHashTable *count_shapes(const Search *self, const LodeRepeatedCommand *command)
{
	GHashTable *shapes = g_hash_table_new_full(NULL, NULL, NULL, g_free);
	const LodeWaitProcess *first = process_at(self->waits, command->first);

	for (uint32_t i = 0; i < self->waits->processes->len; i++) {
		const LodeWaitProcess *one = process_at(self->waits, i);
		if (!is_alike(one, first))
			continue;
		void *key = GUINT_TO_POINTER(self->shape_of[i]);
		Shape *shape = g_hash_table_lookup(shapes, key);
		if (shape == NULL)
			g_hash_table_insert(shapes, key, shape = g_new0(Shape, 1));
		shape->known += is_known(one);
		shape->same += self->command_of[i] == command->first;
	}
	return shapes;
}

/* How probably a process is the same: those whose command is not known are so as often as those
 * that started the same programs and whose command is known. */
static double probability(
	const Search *self, const LodeRepeatedCommand *command, GHashTable *shapes, uint32_t i)
{
	const Shape *shape = g_hash_table_lookup(shapes, GUINT_TO_POINTER(self->shape_of[i]));

	if (is_known(process_at(self->waits, i)))
		return self->command_of[i] == command->first ? 1 : 0;
	return shape->known > 0 ? (double)shape->same / shape->known : 0;
}

/* Sets the numbers of a command, and adds to `weights` by how much each process is one. */
static void count(const Search *self, LodeRepeatedCommand *command, double *weights)
{
	const LodeWaitProcess *first = process_at(self->waits, command->first);
	g_autoptr(GHashTable) shapes = count_shapes(self, command);
	g_autoptr(GArray) same = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	g_autoptr(GArray) possible = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	double lives;

	command->is_exact = true;
	for (uint32_t i = 0; i < self->waits->processes->len; i++) {
		if (!is_alike(process_at(self->waits, i), first))
			continue;
		double is_same = probability(self, command, shapes, i);
		if (self->command_of[i] == command->first)
			g_array_append_val(same, i);
		if (is_same > 0)
			g_array_append_val(possible, i);
		command->is_exact = command->is_exact && (is_same <= 0 || is_same >= 1);
		command->processes += is_same;
		weights[i] += is_same;
	}
	command->needed_ns = time_with(self->waits, same, &lives) / same->len;
	command->high_ns = MAX(
		time_with(self->waits, possible, &lives) * command->processes / possible->len -
			command->needed_ns,
		0);
}

/* Whether one has the other started, by itself or by a shell. */
static bool has_started(const LodeWaits *waits, uint32_t parent, const LodeWaitProcess *process)
{
	const LodeWaitProcess *by = process->parent < waits->processes->len
	                                    ? process_at(waits, process->parent)
	                                    : NULL;

	return process->parent == parent ||
	       (by != NULL && by->parent == parent && by->name != NULL && lode_is_shell(by->name));
}

/* Whether the parent looks again and again whether something has changed. */
static bool is_polling(const LodeWaits *waits, uint32_t parent, guint same)
{
	uint32_t pid = process_at(waits, parent)->pid;
	double asleep = 0;
	guint sleeps = 0;

	for (guint i = 0; i < waits->rows->len; i++) {
		const LodeWait *row = &g_array_index(waits->rows, LodeWait, i);
		asleep += row->pid == pid && row->reason == LODE_WAIT_SLEEP ? row->waiting_ns : 0;
	}
	for (guint i = 0; i < waits->processes->len; i++) {
		const LodeWaitProcess *one = process_at(waits, i);
		sleeps += g_strcmp0(one->name, LODE_SLEEP_PROGRAM) == 0 &&
		          has_started(waits, parent, one);
	}
	return asleep >= MUCH_SLEEP * waits->clock_ns || sleeps * SAME_OF_A_SLEEP >= same;
}

/* --- of one parent --- */

LODE_ORDER(compare_commands, LodeRepeatedCommand, LODE_DESCENDING(high_ns), LODE_ASCENDING(first))

LODE_ORDER(compare_repeats, LodeRepeats, LODE_DESCENDING(high_ns), LODE_ASCENDING(parent))

static void clear_repeats(void *data)
{
	g_array_unref(((LodeRepeats *)data)->commands);
}

/* By the first of each: how often each command is seen; the caller unrefs the array. */
static GArray *find_commands(Search *self)
{
	GArray *found = g_array_new(FALSE, FALSE, sizeof(LodeRepeatedCommand));
	g_autoptr(GHashTable) by_key = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);

	for (uint32_t i = 0; i < self->waits->processes->len; i++) {
		self->command_of[i] = LODE_NONE;
		if (!can_be_repeated(process_at(self->waits, i)))
			continue;
		char *key = key_of(process_at(self->waits, i));
		guint at = GPOINTER_TO_UINT(g_hash_table_lookup(by_key, key));
		if (at == 0) {
			const LodeRepeatedCommand one = {.first = i};
			g_array_append_val(found, one);
			at = found->len;
		}
		g_hash_table_replace(by_key, key, GUINT_TO_POINTER(at));
		LodeRepeatedCommand *command = &g_array_index(found, LodeRepeatedCommand, at - 1);
		command->same++;
		self->command_of[i] = command->first;
	}
	return found;
}

static LodeRepeats *repeats_of(GArray *all, uint32_t parent)
{
	for (guint i = 0; i < all->len; i++)
		if (g_array_index(all, LodeRepeats, i).parent == parent)
			return &g_array_index(all, LodeRepeats, i);
	const LodeRepeats one = {.parent = parent,
		.commands = g_array_new(FALSE, FALSE, sizeof(LodeRepeatedCommand))};
	g_array_append_val(all, one);
	return &g_array_index(all, LodeRepeats, all->len - 1);
}

/* Of all commands together: what each needs once stays. */
static void sum(const Search *self, LodeRepeats *repeats)
{
	g_autoptr(GArray) seen = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	g_autoptr(GHashTable) firsts = g_hash_table_new(NULL, NULL);
	double needed = 0, lives;

	for (guint i = 0; i < repeats->commands->len; i++) {
		const LodeRepeatedCommand *one = &g_array_index(
			repeats->commands, LodeRepeatedCommand, i);
		g_hash_table_add(firsts, GUINT_TO_POINTER(one->first));
		repeats->processes += one->processes;
		repeats->high_ns += one->high_ns;
		needed += one->needed_ns;
	}
	for (uint32_t i = 0; i < self->waits->processes->len; i++) {
		repeats->started += process_at(self->waits, i)->parent == repeats->parent;
		if (self->command_of[i] != LODE_NONE &&
			g_hash_table_contains(firsts, GUINT_TO_POINTER(self->command_of[i])))
			g_array_append_val(seen, i);
	}
	double lived = time_with(self->waits, seen, &lives);
	repeats->at_once = lived > 0 ? lives / lived : 1;
	repeats->low_ns = MAX(lived - needed, 0);
	repeats->high_ns = CLAMP(repeats->high_ns, repeats->low_ns, self->waits->clock_ns);
	g_array_sort(repeats->commands, compare_commands);
}

/* Those that take too little are none. */
static void leave_out_small(const Search *self, GArray *all, double least_ns, double *weights)
{
	for (guint i = all->len; i-- > 0;) {
		const LodeRepeats *one = &g_array_index(all, LodeRepeats, i);
		if (one->high_ns >= least_ns)
			continue;
		for (guint k = 0; k < self->waits->processes->len; k++)
			if (process_at(self->waits, k)->parent == one->parent)
				weights[k] = 0;
		g_array_remove_index(all, i);
	}
}

/* What a repeat started is as little needed; a process is begun after its parent. */
static void add_descendants(const LodeWaits *waits, double *weights)
{
	for (uint32_t i = 0; i < waits->processes->len; i++) {
		uint32_t parent = process_at(waits, i)->parent;
		if (parent < i)
			weights[i] = MAX(weights[i], weights[parent]);
		weights[i] = MIN(weights[i], 1);
	}
}

GArray *lode_repeats_new(const LodeProfile *profile, double least_ns, double **out_weights)
{
	GArray *all = g_array_new(FALSE, FALSE, sizeof(LodeRepeats));
	const LodeWaits *waits = lode_waits_of(profile);
	guint n = waits != NULL ? waits->processes->len : 0;
	g_autofree uint32_t *commands = g_new0(uint32_t, (gsize)n + 1);
	g_autofree uint32_t *shapes = g_new0(uint32_t, (gsize)n + 1);
	Search self = {waits, commands, shapes};

	g_array_set_clear_func(all, clear_repeats);
	*out_weights = g_new0(double, (gsize)n + 1);
	if (n == 0)
		return all;
	g_autoptr(GArray) found = find_commands(&self);
	find_shapes(&self);
	for (guint i = 0; i < found->len; i++) {
		LodeRepeatedCommand *one = &g_array_index(found, LodeRepeatedCommand, i);
		uint32_t parent = process_at(waits, one->first)->parent;
		if (one->same < LEAST_SAME || is_polling(waits, parent, one->same))
			continue;
		count(&self, one, *out_weights);
		g_array_append_val(repeats_of(all, parent)->commands, *one);
	}
	for (guint i = 0; i < all->len; i++)
		sum(&self, &g_array_index(all, LodeRepeats, i));
	leave_out_small(&self, all, least_ns, *out_weights);
	add_descendants(waits, *out_weights);
	g_array_sort(all, compare_repeats);
	return all;
}
