/* SPDX-License-Identifier: MIT */
#include "ingest/waits/wait_reason.h"

#include "ingest/waits/wait_names.h"
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
	LodeWaitReason reason = lode_wait_reason_of_target(look->target, &name);
	if (name != NULL)
		return g_strdup(name);
	/* the own end of a connection differs each time */
	const char *end = reason == LODE_WAIT_SOCKET ? strstr(look->target, " from :") : NULL;
	if (end == NULL && reason == LODE_WAIT_SOCKET &&
		g_str_has_suffix(look->target, " accepted"))
		end = strrchr(look->target, ' ');
	g_autofree char *text = end != NULL ? g_strndup(look->target, (gsize)(end - look->target))
	                                    : NULL;
	return clean_text(text != NULL ? text : look->target);
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
} Futex;

static Futex futex_of(const LodeWaitLook *look)
{
	return (Futex){
		.operation = (unsigned)look->arguments[1] & (unsigned)FUTEX_CMD_MASK,
		.is_shared = (look->arguments[1] & FUTEX_PRIVATE_FLAG) == 0,
		.value = (uint32_t)look->arguments[2],
	};
}

/* What functions say: the innermost that says anything, but for its object, which one further out
 * may tell, and for conditions that a lock is made of, as Java's monitors are. `out_mutex` is the
 * argument that a mutex is, if this is one: of the outermost. */
static bool ask_functions(
	const LodeWaitQuestion *question, LodeWaitFunction *out_says, unsigned *out_mutex)
{
	LodePlace own = {.image = LODE_NONE};
	bool has_said = false;

	if (question->names == NULL)
		return false;
	lode_places_find(question->places, question->record->pid, question->time_ns,
		question->record->sample.ip, &own);
	for (guint i = 0; i <= MIN(question->chain->len, MAX_ASKED_CALLERS); i++) {
		const LodePlace *place = i == 0 ? &own
		                                : &g_array_index(question->chain, LodePlace, i - 1);
		const LodeWaitFunction *says = lode_wait_names_function(question->names, place);
		if (says == NULL)
			continue;
		if (!has_said || says->object != NULL ||
			(says->reason == LODE_WAIT_LOCK && says->is_sure && !out_says->is_sure &&
				out_says->reason == LODE_WAIT_CONDITION))
			*out_says = *says;
		*out_mutex = says->reason == LODE_WAIT_CONDITION ? says->mutex_argument : 1;
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

static bool has_thread_at(const LodeWaitQuestion *question, int bytes)
{
	uint32_t tid;

	return find_word(question->look, bytes, &tid) && is_thread(question, tid);
}

/* A mutex (value 2), a robust one (its owner's id and FUTEX_WAITERS), one that passes on priority.
 * With a time, a mutex has the operation of conditions, as a read-write lock always has (value 2,
 * or 3): these have an owner, the latter from both places where threads wait in it. */
static bool is_lock_by_words(const LodeWaitQuestion *question, const Futex *futex)
{
	enum { WITH_WAITERS = 2, WRITE_WITH_WAITERS = 3 };
	enum { TO_OWNER = 8, TO_WRITER_OF_SECOND = 12, TO_WRITER = 16 };
	const bool has_until = futex->operation == FUTEX_WAIT_BITSET;

	if (futex->operation == FUTEX_LOCK_PI || futex->operation == FUTEX_LOCK_PI2)
		return true;
	if (futex->operation != FUTEX_WAIT && !has_until)
		return false;
	if ((futex->value & FUTEX_WAITERS) != 0)
		return is_thread(question, futex->value & FUTEX_TID_MASK);
	if (futex->value == WITH_WAITERS && (!has_until || has_thread_at(question, TO_OWNER)))
		return true;
	return has_until && (futex->value == WITH_WAITERS || futex->value == WRITE_WITH_WAITERS) &&
	       (has_thread_at(question, TO_WRITER) || has_thread_at(question, TO_WRITER_OF_SECOND));
}

static const char *variable_of(const LodeWaitQuestion *question)
{
	const LodeWaitLook *look = question->look;

	return question->names != NULL && look->arguments[0] != 0
	               ? lode_wait_names_variable(question->names, question->record->pid,
				 question->time_ns, look->arguments[0])
	               : NULL;
}

/* What is in memory that a program allocated has the name of what is passed to the call. */
static const char *futex_name(const LodeWaitQuestion *question, const LodeWaitFunction *says,
	const char *variable, unsigned n_argument)
{
	const char *name = says->object != NULL ? says->object : variable;

	if (name == NULL && question->names != NULL && n_argument > 0)
		name = lode_wait_names_argument(question->names, question->chain, n_argument);
	return name != NULL ? name : says->kind;
}

static LodeWaitReason reason_of_futex(const LodeWaitQuestion *question, char **out_object)
{
	const Futex futex = futex_of(question->look);
	LodeWaitFunction says = {.reason = LODE_WAIT_CONDITION};

	if (is_join(question, &futex)) {
		*out_object = thread_text(question, futex.value);
		return LODE_WAIT_JOIN;
	}
	unsigned mutex_argument = 1;
	bool is_said = ask_functions(question, &says, &mutex_argument);
	const char *variable = variable_of(question);
	const char *words = variable != NULL ? lode_wait_variable_words(variable) : NULL;
	if (words != NULL) {
		*out_object = g_strdup(words);
		return LODE_WAIT_LOCK;
	}
	if (!(is_said && says.is_sure) && is_lock_by_words(question, &futex))
		says.reason = LODE_WAIT_LOCK;
	if (says.reason == LODE_WAIT_CONDITION && question->is_timed_out)
		return LODE_WAIT_SLEEP;
	unsigned n_argument = says.reason == LODE_WAIT_LOCK ? mutex_argument : 1;
	*out_object = g_strdup(futex_name(question, &says, variable, n_argument));
	return says.reason;
}

/* --- processes --- */

/* More generations are not asked. */
enum { MOST_GENERATIONS = 8 };

/* The process that a look says is waited for; NULL: none, or it is not known. */
static const LodeThread *process_of(const LodeWaitQuestion *question, uint32_t *out_number)
{
	const LodeWaitLook *look = question->look;

	if ((look->flags & LODE_LOOK_HAS_PROCESS) == 0 || look->n_words == 0)
		return NULL;
	*out_number = lode_threads_look_up(
		question->threads, look->words[0], look->words[0], question->time_ns);
	return *out_number != LODE_NONE
	               ? &LODE_AT(question->threads->threads, LodeThread, *out_number)
	               : NULL;
}

/* Whether the waiting process started the one that it waits for, or one that did. */
static bool is_for_child(const LodeWaitQuestion *question)
{
	uint32_t number;
	const LodeThread *process = process_of(question, &number);

	for (unsigned i = 0; process != NULL && i < MOST_GENERATIONS; i++) {
		number = lode_threads_starter(question->threads, number);
		if (number == LODE_NONE)
			return false;
		if (LODE_AT(question->threads->threads, LodeThread, number).pid ==
			question->record->pid)
			return true;
	}
	return false;
}

/* Its program, which it may not have executed yet when it was looked at. */
static char *process_text(const LodeWaitQuestion *question)
{
	uint32_t number;
	const LodeThread *process = process_of(question, &number);

	return process != NULL && process->name != NULL ? clean_text(process->name) : NULL;
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

static bool is_stopped(const LodeWaitLook *look)
{
	return look->state == 'T' || look->state == 't';
}

/* Where there is no call, or one whose number says nothing. */
static LodeWaitReason reason_by_kernel(
	const LodeWaitQuestion *question, LodeWaitReason otherwise, char **out_object)
{
	const LodeWaitLook *look = question->look;
	bool is_futex;
	LodeWaitReason reason = lode_wait_reason_of_kernel(look->kernel_function, &is_futex);

	if (is_stopped(look))
		return LODE_WAIT_STOPPED;
	/* without the futex's address and operation, what it is for is not known */
	if (is_futex && (look->flags & LODE_LOOK_WAS_REFUSED) != 0)
		return reason == LODE_WAIT_LOCK ? reason : LODE_WAIT_OTHER;
	if (is_futex)
		return reason_of_futex(question, out_object);
	return reason != LODE_N_WAIT_REASONS ? reason : otherwise;
}

/* A socket that is polled alone is waited for as by recv(2). */
static bool is_connection(const char *target)
{
	return g_str_has_prefix(target, "tcp ") && strstr(target, " listening") == NULL;
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
		return has_no_descriptors(look, call) ? LODE_WAIT_SLEEP
		       : is_connection(look->target)  ? LODE_WAIT_SOCKET
		                                      : call->reason;
	case LODE_WAIT_CALL_EPOLL:
		return is_connection(look->target) ? LODE_WAIT_SOCKET : call->reason;
	case LODE_WAIT_CALL_FILE_LOCK:
		return is_file_lock(look) ? call->reason : LODE_WAIT_OTHER;
	case LODE_WAIT_CALL_AGAIN:
		return reason_by_kernel(question, call->reason, out_object);
	default:
		return call->reason;
	}
}

/* Where the function of the kernel says nothing either. */
static LodeWaitReason reason_without_call(const LodeWaitLook *look)
{
	if ((look->flags & LODE_LOOK_WAS_REFUSED) == 0)
		return LODE_WAIT_PAGE;
	return look->kernel_function[0] != '\0' ? LODE_WAIT_OTHER : LODE_WAIT_UNSEEN;
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
	LodeWaitReason reason = LODE_WAIT_STOPPED;
	if (look->call < 0)
		reason = reason_by_kernel(question, reason_without_call(look), out_object);
	else if (!is_stopped(look))
		reason = reason_of_call(question, lode_wait_call_find(name), out_object);
	if (lode_wait_may_be_for_child(reason, name) && is_for_child(question))
		reason = LODE_WAIT_CHILD;
	if (*out_object == NULL && (reason == LODE_WAIT_CHILD || reason == LODE_WAIT_PIPE))
		*out_object = process_text(question);
	if (reason == LODE_WAIT_SLEEP && *out_object == NULL && look->timeout_ns > 0)
		*out_object = time_text(look->timeout_ns);
	if (*out_object == NULL)
		*out_object = target_text(look);
	if (*out_object == NULL && reason == LODE_WAIT_OTHER)
		*out_object = name != NULL                       ? g_strdup(name)
		              : look->kernel_function[0] != '\0' ? clean_text(look->kernel_function)
		                                                 : NULL;
	return reason;
}
