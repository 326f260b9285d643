/* SPDX-License-Identifier: MIT */
/*
 * The log of windows as the preloaded library writes it, one for each program that a process
 * executes; docs/reference/formats/windows.md has the description.
 *
 *   │ header, a page │ window: head, steps │ window: head, steps │ …
 *                    └── only whole ones: `used` grows when a window has ended ──
 *
 * Included by the library, too, which has nothing but the C library.
 */
#pragma once

#include <stdint.h>

#define LODE_WINDOW_LOG_MAGIC "lodewndw"

enum {
	LODE_WINDOW_LOG_VERSION = 1,
	LODE_WINDOW_LOG_PROBES_VERSION = 2, /* with windows of LODE_WINDOW_IS_PROBES, and the
	                                       header's n_hits */
	LODE_WINDOW_LOG_TIMES_VERSION = 3,  /* of which some have times */
	LODE_WINDOW_LOG_PAGE = 4096,
	LODE_WINDOW_MAX_STEPS = 4096,
	LODE_WINDOW_REGISTERS = 16, /* in the order of their numbers in instructions: rax, rcx,
	                               rdx, rbx, rsp, rbp, rsi, rdi, r8 … r15 */
	LODE_WINDOW_WARM_UP = 4,    /* the first steps follow a slow instruction more often than
	                               others do: they count for no edge */
};

/* The data of signals by the recorder's event and by the timer: "lode" as bytes. */
#define LODE_WINDOW_SIGNAL UINT64_C(0x65646f6c)

/* Why a window ended. */
typedef enum {
	LODE_WINDOW_END_LENGTH,       /* it was as long as it was to be */
	LODE_WINDOW_END_SYSTEM_CALL,  /* before one that is not stepped over */
	LODE_WINDOW_END_UNSAFE,       /* before int, pushf, popf, iret, mov ss, xbegin … */
	LODE_WINDOW_END_UNKNOWN_CODE, /* before code that cannot be read, or is the library's */
	LODE_WINDOW_END_CONTENDED,    /* a loop around an atomic instruction or pause */
	LODE_WINDOW_END_REPEAT,       /* before a repeated string instruction of many rounds */
	LODE_WINDOW_END_LOST, /* steps came no more: a handler of the program's jumped away */
	LODE_WINDOW_END_ROOM, /* the log is full */
	LODE_N_WINDOW_ENDS,
} LodeWindowEnd;

/* Why a process has no windows, or none from some time on. */
typedef enum {
	LODE_WINDOW_OBSTACLE_NONE,
	LODE_WINDOW_OBSTACLE_HANDLER, /* it handles or ignores SIGTRAP itself */
	LODE_WINDOW_OBSTACLE_BLOCKED, /* it blocks SIGTRAP by name */
	LODE_WINDOW_OBSTACLE_SECCOMP, /* it limits its system calls, or reading the clock */
	LODE_WINDOW_OBSTACLE_TRACED,  /* a debugger is attached */
	LODE_WINDOW_OBSTACLE_RUNTIME, /* a run-time that uses SIGTRAP: Java, Go, .NET */
	LODE_WINDOW_OBSTACLE_MEMORY,  /* no room for the log */
	LODE_WINDOW_OBSTACLE_EVENT,   /* the kernel gives neither event nor timer */
	LODE_WINDOW_OBSTACLE_PRELOAD, /* the library cannot be loaded: static, set-user-ID, 32
	                                 bits, a sanitizer; the recorder says so */
	LODE_WINDOW_OBSTACLE_CALLS,   /* its code has system calls that no library sees */
	LODE_WINDOW_OBSTACLE_THREADS, /* it had several threads before its event was opened */
	LODE_N_WINDOW_OBSTACLES,
} LodeWindowObstacle;

typedef struct {
	char magic[8];
	uint32_t version, page; /* page: bytes before the first window */
	uint32_t pid, parent;
	uint64_t begin_ns; /* CLOCK_MONOTONIC, as all times */
	uint64_t used;     /* bytes, with the header */
	uint64_t n_windows, n_steps;
	uint64_t window_ns;          /* in windows, by the clock… */
	uint64_t user_ns, system_ns; /* …and of the threads' processor time */
	uint64_t n_signals;          /* at which a window could have begun */
	uint64_t n_passed; /* of them: not begun, as there was no known code or no safe place */
	uint32_t obstacle; /* LodeWindowObstacle */
	uint32_t flags;    /* LODE_WINDOW_LOG_… */
	uint32_t cache_sets, cache_ways; /* of the first level's data cache, in lines of 64 bytes,
	                                    as the recorder fills in; 0: not known */
	uint64_t n_hits;                 /* of breakpoints, in windows of LODE_WINDOW_IS_PROBES */
} LodeWindowLogHeader;

enum {
	LODE_WINDOW_LOG_TIMER = 1,      /* a timer of processor time was used, not a perf event */
	LODE_WINDOW_LOG_UNDERFLOWS = 2, /* steps have DE and UE of x87 too, and UE only where the
	                                   result was not flushed to 0 */
};

enum { LODE_WINDOW_SHORT_PROGRAMS = 256 };

/* The page that all processes share, a file of this name beside the logs. */
#define LODE_WINDOW_BUDGET_NAME "budget"

/* Sockets beside it: who connects to one waits until lode has opened, or closed, the event of its
 * process, and then closes the connection. */
#define LODE_WINDOW_OPEN_NAME "open"
#define LODE_WINDOW_CLOSE_NAME "close"

typedef struct {
	uint64_t worked_ns; /* processor time without windows, as the processes added it */
	uint64_t spent_ns;  /* by windows, or reserved for them */
	uint32_t flags;     /* LODE_WINDOW_BUDGET_… */
	uint32_t n_without; /* programs that were executed without the library, as they are short */
	uint64_t short_programs[LODE_WINDOW_SHORT_PROGRAMS]; /* see short_programs.c */
} LodeWindowBudget;

enum {
	LODE_WINDOW_BUDGET_OVER = 1, /* set by the recorder when it has ended: processes that go on
	                                stop their timers */
};

typedef struct {
	uint32_t size;    /* bytes of the window, with this head; a multiple of 8 */
	uint32_t n_steps; /* above 0 */
	uint32_t tid;
	uint8_t end;   /* LodeWindowEnd */
	uint8_t flags; /* LODE_WINDOW_… */
	uint16_t zero;
	uint64_t begin_ns, end_ns;
	uint64_t thread_pointer; /* %fs; 0: not kept */
} LodeWindowHead;

enum {
	LODE_WINDOW_HAS_REGISTERS = 1,
	LODE_WINDOW_IS_LONG = 2, /* drawn among the long ones */
	/* Hits of breakpoints from outside: a step after a gap is a hit, one without a gap is where
	 * the instruction before it led. Between two hits of one address it was not executed. */
	LODE_WINDOW_IS_PROBES = 4,
	/* Hits of two neighbouring instructions in turn, each with its time. */
	LODE_WINDOW_HAS_TIMES = 8,
};

/*
 * A step: the state before an instruction that was then executed. Numbers are LEB128; differences
 * are to the step before, zigzag-coded; before the first, all is 0.
 *
 *   address: difference │ mask │ raised (1 byte, if in the mask) │ differences of the registers
 *                                                                 of the mask, in their order
 *
 * In a window with times each is followed by the processor time of the thread, in nanoseconds,
 * since the step before; 0 for the first.
 */
enum {
	LODE_WINDOW_STEP_REGISTERS = 0xffff, /* a bit for each that changed */
	LODE_WINDOW_STEP_RAISED = 1 << 16,   /* the instruction before raised sticky flags of MXCSR:
	                                        its bits 0–5 (DE is bit 1, UE 4); these two are
	                                        those of x87 as well (LODE_WINDOW_LOG_UNDERFLOWS) */
	LODE_WINDOW_STEP_GAP = 1 << 17,      /* something else ran in between: no edge leads here */
	LODE_WINDOW_STEP_MAX_BYTES = 10 + 3 + 1 + 10 * LODE_WINDOW_REGISTERS + 10,
};
