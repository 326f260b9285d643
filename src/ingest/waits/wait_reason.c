/* SPDX-License-Identifier: MIT */
#include "ingest/waits/wait_reason.h"

#include "ingest/waits/wait_words.h"
#include "model/index.h"
#include "model/process.h"
#include "sources/code/system_calls.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <math.h>
#include <string.h>

/* Who calls is asked as far as a library's own functions reach. */
enum { MAX_ASKED_CALLERS = 6 };

/* The words of a look, by their distance from the futex. */
static bool find_word(const LodeWaitLook *look, int bytes, uint32_t *out_word)
{
	int i = LODE_LOOK_WORDS_BEFORE + bytes / (int)sizeof(uint32_t);

	if (i < 0 || i >= (int)look->n_words)
		return false;
	*out_word = look->words[i];
	return true;
}

static bool is_thread(const LodeWaitQuestion *question, uint32_t tid)
{
	return tid != 0 && lode_threads_look_up(question->threads, question->record->pid, tid,
				   question->time_ns) != LODE_NONE;
}

static const char *function_at(const LodeWaitQuestion *question, const LodePlace *place)
{
	LodeCodeImages *images = lode_places_images(question->places);

	if (place->image >= lode_code_images_count(images))
		return NULL;
	const LodeBinaryFunction *function = lode_code_image_function(
		lode_code_images_at(images, place->image), place->address);
	return function != NULL ? function->name : NULL;
}

/* --- texts --- */

/* Two digits: waits of nearly the same time are alike. */
static char *time_text(uint64_t time_ns)
{
	static const struct {
		double ns;
		const char *unit;
	} units[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "µs"}, {1, "ns"}};
	double ns = (double)time_ns;
	double step = pow(10, floor(log10(ns)) - 1);
	size_t i = 0;

	ns = round(ns / step) * step;
	while (i + 1 < G_N_ELEMENTS(units) && ns < units[i].ns)
		i++;
	return g_strdup_printf("%.12g %s", round(ns / units[i].ns * 1e3) / 1e3, units[i].unit);
}

/* What a recording says is shown on one line. */
static char *clean_text(const char *text)
{
	char *clean = g_utf8_make_valid(text, -1);

	for (char *at = clean; *at != '\0'; at++)
		if (g_ascii_iscntrl(*at))
			*at = '?';
	return clean;
}

static char *target_text(const LodeWaitLook *look)
{
	const char *name;

	if (look->target[0] == '\0')
		return NULL;
	lode_wait_reason_of_target(look->target, &name);
	return name != NULL ? g_strdup(name) : clean_text(look->target);
}

static char *thread_text(const LodeWaitQuestion *question, uint32_t tid)
{
	uint32_t found = lode_threads_look_up(
		question->threads, question->record->pid, tid, question->time_ns);
	const LodeThread *thread = found != LODE_NONE
	                                   ? &LODE_AT(question->threads->threads, LodeThread, found)
	                                   : NULL;

	if (thread == NULL || thread->name == NULL)
		return g_strdup_printf("thread %u", tid);
	return clean_text(thread->name);
}

/* --- futexes --- */

typedef struct {
	unsigned operation;
	bool is_shared; /* without FUTEX_PRIVATE_FLAG */
	uint32_t value;
	bool has_word;
	uint32_t word;
} Futex;

static Futex futex_of(const LodeWaitLook *look)
{
	Futex futex = {
		.operation = (unsigned)look->arguments[1] & (unsigned)FUTEX_CMD_MASK,
		.is_shared = (look->arguments[1] & FUTEX_PRIVATE_FLAG) == 0,
		.value = (uint32_t)look->arguments[2],
	};

	futex.has_word = find_word(look, 0, &futex.word);
	return futex;
}

/* What functions say: the innermost that says anything, but for its object, which one further out
 * may tell. */
static bool ask_functions(const LodeWaitQuestion *question, LodeWaitFunction *out_says)
{
	LodePlace own = {.image = LODE_NONE};
	bool has_said = false;

	lode_places_find(question->places, question->record->pid, question->time_ns,
		question->record->sample.ip, &own);
	for (guint i = 0; i <= MIN(question->chain->len, MAX_ASKED_CALLERS); i++) {
		const LodePlace *place = i == 0 ? &own
		                                : &g_array_index(question->chain, LodePlace, i - 1);
		const char *name = function_at(question, place);
		const LodeWaitFunction *says = name != NULL ? lode_wait_function_find(name) : NULL;
		if (says == NULL)
			continue;
		if (!has_said || says->object != NULL)
			*out_says = *says;
		has_said = true;
		if (says->object != NULL)
			break;
	}
	return has_said;
}

/* pthread_join waits until the kernel clears the word that has the thread's id. */
static bool is_join(const LodeWaitQuestion *question, const Futex *futex)
{
	return futex->operation == FUTEX_WAIT_BITSET && futex->is_shared &&
	       futex->value != question->record->tid && is_thread(question, futex->value);
}

/* A mutex (value 2), a robust one (its owner's id and FUTEX_WAITERS), one that passes on priority;
 * a lock with a time has the operation of conditions, but an owner. */
static bool is_lock_by_words(const LodeWaitQuestion *question, const Futex *futex)
{
	enum { LOCKED_WITH_WAITERS = 2, TO_OWNER = 8, TO_KIND = 16 };
	uint32_t owner, kind;

	switch (futex->operation) {
	case FUTEX_LOCK_PI:
	case FUTEX_LOCK_PI2:
		return true;
	case FUTEX_WAIT:
		if (futex->value == LOCKED_WITH_WAITERS)
			return true;
		break;
	case FUTEX_WAIT_BITSET:
		break;
	default:
		return false;
	}
	if ((futex->value & FUTEX_WAITERS) != 0 &&
		is_thread(question, futex->value & FUTEX_TID_MASK))
		return true;
	return futex->value == LOCKED_WITH_WAITERS && find_word(question->look, TO_OWNER, &owner) &&
	       is_thread(question, owner) && find_word(question->look, TO_KIND, &kind);
}

static LodeWaitReason reason_of_futex(const LodeWaitQuestion *question, char **out_object)
{
	const LodeWaitLook *look = question->look;
	const Futex futex = futex_of(look);
	LodeWaitFunction says = {.reason = LODE_WAIT_CONDITION};
	bool has_said = ask_functions(question, &says);
	LodeWaitReason reason = says.reason;

	if (is_join(question, &futex)) {
		*out_object = thread_text(question, futex.value);
		return LODE_WAIT_JOIN;
	}
	if (!(has_said && says.is_sure) && is_lock_by_words(question, &futex))
		reason = LODE_WAIT_LOCK;
	if (says.object != NULL)
		*out_object = g_strdup(says.object);
	if (reason == LODE_WAIT_CONDITION && question->is_timed_out)
		return LODE_WAIT_SLEEP;
	return reason;
}

/* --- system calls --- */

static LodeWaitReason reason_of_descriptor(const LodeWaitLook *look, LodeWaitReason of_file)
{
	const char *name;
	bool is_futex;
	LodeWaitReason reason = lode_wait_reason_of_target(look->target, &name);

	/* A FIFO has a path, and the descriptor may not be known. */
	if (reason == LODE_N_WAIT_REASONS)
		reason = lode_wait_reason_of_kernel(look->kernel_function, &is_futex);
	return reason == LODE_WAIT_PIPE || reason == LODE_WAIT_SOCKET || reason == LODE_WAIT_POLL ||
	                       reason == LODE_WAIT_CHILD
	               ? reason
	               : of_file;
}

static bool has_no_descriptors(const LodeWaitLook *look, const LodeWaitCall *call)
{
	/* select() without sets has a number all the same */
	bool is_select = call->n_argument == 0;

	return look->arguments[call->n_argument] == 0 ||
	       (is_select && look->arguments[1] == 0 && look->arguments[2] == 0 &&
		       look->arguments[3] == 0);
}

static bool is_file_lock(const LodeWaitLook *look)
{
	enum { SET_LOCK_WAIT_64 = 14 }; /* F_SETLKW64 of programs of 32 bits */
	int command = (int)look->arguments[1];

	return command == F_SETLKW || command == F_OFD_SETLKW || command == SET_LOCK_WAIT_64;
}

/* Where there is no call, or one whose number says nothing. */
static LodeWaitReason reason_by_kernel(
	const LodeWaitQuestion *question, LodeWaitReason otherwise, char **out_object)
{
	const LodeWaitLook *look = question->look;
	bool is_futex;
	LodeWaitReason reason = lode_wait_reason_of_kernel(look->kernel_function, &is_futex);

	if (look->state == 'T' || look->state == 't')
		return LODE_WAIT_STOPPED;
	if (is_futex && reason != LODE_WAIT_LOCK)
		return reason_of_futex(question, out_object);
	return reason != LODE_N_WAIT_REASONS ? reason : otherwise;
}

static LodeWaitReason reason_of_call(
	const LodeWaitQuestion *question, const LodeWaitCall *call, char **out_object)
{
	const LodeWaitLook *look = question->look;

	switch (call->kind) {
	case LODE_WAIT_CALL_FUTEX:
		return reason_of_futex(question, out_object);
	case LODE_WAIT_CALL_DESCRIPTOR:
		return reason_of_descriptor(look, call->reason);
	case LODE_WAIT_CALL_POLL:
		return has_no_descriptors(look, call) ? LODE_WAIT_SLEEP : call->reason;
	case LODE_WAIT_CALL_FILE_LOCK:
		return is_file_lock(look) ? call->reason : LODE_WAIT_OTHER;
	case LODE_WAIT_CALL_AGAIN:
		return reason_by_kernel(question, call->reason, out_object);
	default:
		return call->reason;
	}
}

LodeWaitReason lode_wait_reason_find(
	const LodeWaitQuestion *question, char **out_object, char **out_call)
{
	const LodeWaitLook *look = question->look;
	const char *name = NULL;

	*out_object = NULL;
	if (look->call >= 0)
		name = (look->flags & LODE_LOOK_ON_32_BITS) != 0
		               ? lode_system_call_name_32((uint64_t)look->call)
		               : lode_system_call_name((uint64_t)look->call);
	*out_call = g_strdup(name);
	LodeWaitReason reason = look->state == 'T' || look->state == 't' ? LODE_WAIT_STOPPED
	                        : look->call < 0
	                                ? reason_by_kernel(question, LODE_WAIT_PAGE, out_object)
	                                : reason_of_call(
						  question, lode_wait_call_find(name), out_object);
	if (reason == LODE_WAIT_SLEEP && *out_object == NULL && look->timeout_ns > 0)
		*out_object = time_text(look->timeout_ns);
	if (*out_object == NULL)
		*out_object = target_text(look);
	if (*out_object == NULL && reason == LODE_WAIT_OTHER && name != NULL)
		*out_object = g_strdup(name);
	return reason;
}
