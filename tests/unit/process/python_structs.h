/* SPDX-License-Identifier: MIT */
/*
 * What CPython's structures begin with, by version, as its public headers declare them
 * (Include/cpython/code.h, pystate.h, frameobject.h, unicodeobject.h, Include/internal/pycore_*.h),
 * with pointers as numbers: the truth against which src/process/interpreters/ is tested.
 */
#pragma once

#include <stdint.h>

typedef uint64_t Pointer;

typedef struct {
	int64_t ob_refcnt;
	Pointer ob_type;
} Object;

typedef struct {
	Object ob_base;
	int64_t ob_size;
} VarObject;

typedef struct {
	VarObject ob_base;
	Pointer tp_name;
	int64_t tp_basicsize, tp_itemsize;
} Type;

typedef struct {
	VarObject ob_base;
	int64_t ob_shash;
	char ob_sval[1];
} Bytes;

/* --- str --- */

typedef struct {
	Object ob_base;
	int64_t length, hash;
	uint32_t state;
	Pointer wstr;
} Ascii_3_8;

typedef struct {
	Ascii_3_8 base;
	int64_t utf8_length;
	Pointer utf8;
	int64_t wstr_length;
} Compact_3_8;

typedef struct {
	Compact_3_8 base;
	Pointer data;
} Text_3_8;

typedef struct {
	Object ob_base;
	int64_t length, hash;
	uint32_t state;
} Ascii_3_12;

typedef struct {
	Ascii_3_12 base;
	int64_t utf8_length;
	Pointer utf8;
} Compact_3_12;

typedef struct {
	Compact_3_12 base;
	Pointer data;
} Text_3_12;

/* --- code --- */

typedef struct {
	Object ob_base;
	int co_argcount, co_posonlyargcount, co_kwonlyargcount, co_nlocals, co_stacksize, co_flags,
		co_firstlineno;
	Pointer co_code, co_consts, co_names, co_varnames, co_freevars, co_cellvars, co_cell2arg,
		co_filename, co_name, co_linetable /* co_lnotab up to 3.9 */, co_zombieframe,
		co_weakreflist, co_extra, co_opcache_map, co_opcache;
	int co_opcache_flag;
	unsigned char co_opcache_size;
} Code_3_8;

typedef struct {
	VarObject ob_base;
	Pointer co_consts, co_names, co_exceptiontable;
	int co_flags;
	short co_warmup, co_linearray_entry_size;
	int co_argcount, co_posonlyargcount, co_kwonlyargcount, co_stacksize, co_firstlineno,
		co_nlocalsplus, co_nlocals, co_nplaincellvars, co_ncellvars, co_nfreevars;
	Pointer co_localsplusnames, co_localspluskinds, co_filename, co_name, co_qualname,
		co_linetable, co_weakreflist, co_code, co_linearray;
	int co_firsttraceable;
	Pointer co_extra;
	char co_code_adaptive[1];
} Code_3_11;

typedef struct {
	VarObject ob_base;
	Pointer co_consts, co_names, co_exceptiontable;
	int co_flags, co_argcount, co_posonlyargcount, co_kwonlyargcount, co_stacksize,
		co_firstlineno, co_nlocalsplus, co_framesize, co_nlocals, co_ncellvars,
		co_nfreevars;
	uint32_t co_version;
	Pointer co_localsplusnames, co_localspluskinds, co_filename, co_name, co_qualname,
		co_linetable, co_weakreflist, co_cached;
	uint64_t co_instrumentation_version;
	Pointer co_monitoring;
	int co_firsttraceable;
	Pointer co_extra;
	char co_code_adaptive[1];
} Code_3_12;

typedef struct {
	VarObject ob_base;
	Pointer co_consts, co_names, co_exceptiontable;
	int co_flags, co_argcount, co_posonlyargcount, co_kwonlyargcount, co_stacksize,
		co_firstlineno, co_nlocalsplus, co_framesize, co_nlocals, co_ncellvars,
		co_nfreevars;
	uint32_t co_version;
	Pointer co_localsplusnames, co_localspluskinds, co_filename, co_name, co_qualname,
		co_linetable, co_weakreflist, co_executors, co_cached;
	uint64_t co_instrumentation_version;
	Pointer co_monitoring;
	int co_unique_id, co_firsttraceable;
	Pointer co_extra;
	char co_code_adaptive[1];
} Code_3_13;

/* --- frames --- */

typedef struct {
	int b_type, b_handler, b_level;
} TryBlock;

typedef struct {
	VarObject ob_base;
	Pointer f_back, f_code, f_builtins, f_globals, f_locals, f_valuestack, f_stacktop, f_trace;
	char f_trace_lines, f_trace_opcodes;
	Pointer f_gen;
	int f_lasti, f_lineno, f_iblock;
	char f_executing;
	TryBlock f_blockstack[20];
	Pointer f_localsplus[1];
} Frame_3_8;

typedef struct {
	VarObject ob_base;
	Pointer f_back, f_code, f_builtins, f_globals, f_locals, f_valuestack, f_trace;
	int f_stackdepth;
	char f_trace_lines, f_trace_opcodes;
	Pointer f_gen;
	int f_lasti, f_lineno, f_iblock;
	int8_t f_state;
	TryBlock f_blockstack[20];
	Pointer f_localsplus[1];
} Frame_3_10;

typedef struct {
	Pointer f_func, f_globals, f_builtins, f_locals, f_code, frame_obj, previous, prev_instr;
	int stacktop;
	bool is_entry;
	char owner;
	Pointer localsplus[1];
} Frame_3_11;

typedef struct {
	Pointer f_code /* f_executable in 3.13 */, previous, f_funcobj, f_globals, f_builtins,
		f_locals, frame_obj, prev_instr /* instr_ptr in 3.13 */;
	int stacktop;
	uint16_t return_offset;
	char owner;
	Pointer localsplus[1];
} Frame_3_12;

typedef struct {
	Pointer f_executable, previous, f_funcobj, f_globals, f_builtins, f_locals, frame_obj,
		instr_ptr, stackpointer;
	uint16_t return_offset;
	char owner;
	uint8_t visited;
	Pointer localsplus[1];
} Frame_3_14;

/* --- threads, interpreters, the runtime --- */

typedef struct {
	Pointer prev, next, interp, frame;
	int recursion_depth;
	char overflowed, recursion_critical;
	int stackcheck_counter, tracing, use_tracing /* up to 3.9 */;
	Pointer c_profilefunc, c_tracefunc, c_profileobj, c_traceobj;
	Pointer curexc[3], exc_state[4], exc_info, dict;
	int gilstate_counter;
	Pointer async_exc;
	unsigned long thread_id;
} Thread_3_8;

typedef struct {
	Pointer prev, next, interp;
	int initialized, is_static, recursion_remaining, recursion_limit, recursion_headroom,
		tracing, tracing_what;
	Pointer cframe, c_profilefunc, c_tracefunc, c_profileobj, c_traceobj;
	Pointer curexc[3], exc_info, dict;
	int gilstate_counter;
	Pointer async_exc;
	unsigned long thread_id, native_thread_id;
} Thread_3_11;

typedef struct {
	Pointer prev, next, interp;
	unsigned status;
	int py_recursion_remaining, py_recursion_limit, c_recursion_remaining, recursion_headroom,
		tracing, what_event;
	Pointer cframe, c_profilefunc, c_tracefunc, c_profileobj, c_traceobj;
	Pointer current_exception, exc_info, dict;
	int gilstate_counter;
	Pointer async_exc;
	unsigned long thread_id, native_thread_id;
} Thread_3_12;

typedef struct {
	Pointer prev, next, interp;
	uint64_t eval_breaker;
	unsigned status;
	int state, py_recursion_remaining, py_recursion_limit, c_recursion_remaining,
		recursion_headroom, tracing, what_event;
	Pointer current_frame, c_profilefunc, c_tracefunc, c_profileobj, c_traceobj;
	Pointer current_exception, exc_info, dict;
	int gilstate_counter;
	Pointer async_exc;
	unsigned long thread_id, native_thread_id;
} Thread_3_13;

typedef struct {
	bool use_tracing; /* not in 3.12 */
	Pointer current_frame, previous;
} CFrame_3_11;

typedef struct {
	Pointer current_frame, previous;
} CFrame_3_12;

typedef struct {
	Pointer next, tstate_head;
} Interpreter_3_8;

typedef struct {
	Pointer next;
	uint64_t next_unique_id;
	Pointer threads_head;
} Interpreter_3_11;

typedef struct {
	Pointer next;
	int64_t id, id_refcount;
	int requires_idref;
	Pointer id_mutex;
	int initialized, finalizing;
	uint64_t monitoring_version;
	bool is_finalizing;
	uint64_t next_unique_id;
	Pointer threads_head;
} Interpreter_3_12;

/* From 3.13 on where these lie is said; here, not where they lie in fact. */
typedef struct {
	char ceval[7000];
	Pointer next;
	int64_t id;
	uint64_t next_unique_id;
	Pointer threads_head;
} Interpreter_3_13;

typedef struct {
	int preinitializing, preinitialized, core_initialized, initialized;
	Pointer finalizing;
	Pointer interpreters_mutex, interpreters_head;
} Runtime_3_8;

typedef struct {
	int is_initialized, preinitializing, preinitialized, core_initialized, initialized;
	Pointer finalizing;
	Pointer interpreters_mutex, interpreters_head;
} Runtime_3_11;

typedef struct {
	char cookie[8];
	uint64_t version, free_threaded;
	struct {
		uint64_t size, finalizing, interpreters_head;
	} runtime_state;
	struct {
		uint64_t size, id, next, threads_head, gc, imports_modules, sysdict, builtins,
			ceval_gil, gil_runtime_state, gil_runtime_state_enabled,
			gil_runtime_state_locked, gil_runtime_state_holder;
	} interpreter_state;
	struct {
		uint64_t size, prev, next, interp, current_frame, thread_id, native_thread_id,
			datastack_chunk, status;
	} thread_state;
	struct {
		uint64_t size, previous, executable, instr_ptr, localsplus, owner;
	} interpreter_frame;
	struct {
		uint64_t size, filename, name, qualname, linetable, firstlineno, argcount,
			localsplusnames, localspluskinds, co_code_adaptive;
	} code_object;
	struct {
		uint64_t size, ob_type;
	} pyobject;
	struct {
		uint64_t size, tp_name, tp_repr, tp_flags;
	} type_object;
	struct {
		uint64_t size, ob_item, ob_size;
	} tuple_object, list_object;
	struct {
		uint64_t size, ma_keys, ma_values;
	} dict_object;
	struct {
		uint64_t size, ob_fval;
	} float_object;
	struct {
		uint64_t size, lv_tag, ob_digit;
	} long_object;
	struct {
		uint64_t size, ob_size, ob_sval;
	} bytes_object;
	struct {
		uint64_t size, state, length, asciiobject_size;
	} unicode_object;
} DebugOffsets_3_13;

typedef struct {
	char cookie[8];
	uint64_t version, free_threaded;
	struct {
		uint64_t size, finalizing, interpreters_head;
	} runtime_state;
	struct {
		uint64_t size, id, next, threads_head, threads_main, gc, imports_modules, sysdict,
			builtins, ceval_gil, gil_runtime_state, gil_runtime_state_enabled,
			gil_runtime_state_locked, gil_runtime_state_holder, code_object_generation,
			tlbc_generation;
	} interpreter_state;
	struct {
		uint64_t size, prev, next, interp, current_frame, thread_id, native_thread_id,
			datastack_chunk, status;
	} thread_state;
	struct {
		uint64_t size, previous, executable, instr_ptr, localsplus, owner, stackpointer,
			tlbc_index;
	} interpreter_frame;
	struct {
		uint64_t size, filename, name, qualname, linetable, firstlineno, argcount,
			localsplusnames, localspluskinds, co_code_adaptive, co_tlbc;
	} code_object;
	struct {
		uint64_t size, ob_type;
	} pyobject;
	struct {
		uint64_t size, tp_name, tp_repr, tp_flags;
	} type_object;
	struct {
		uint64_t size, ob_item, ob_size;
	} tuple_object, list_object;
	struct {
		uint64_t size, used, table, mask;
	} set_object;
	struct {
		uint64_t size, ma_keys, ma_values;
	} dict_object;
	struct {
		uint64_t size, ob_fval;
	} float_object;
	struct {
		uint64_t size, lv_tag, ob_digit;
	} long_object;
	struct {
		uint64_t size, ob_size, ob_sval;
	} bytes_object;
	struct {
		uint64_t size, state, length, asciiobject_size;
	} unicode_object;
} DebugOffsets_3_14;

typedef struct {
	DebugOffsets_3_13 debug_offsets;
	uint64_t others[7];
	Pointer interpreters_head;
} Runtime_3_13;

typedef struct {
	DebugOffsets_3_14 debug_offsets;
	uint64_t others[9];
	Pointer interpreters_head;
} Runtime_3_14;

/* glibc's struct pthread on x86-64. */
typedef struct {
	char header[704];
	Pointer list[2];
	int32_t tid;
} PosixThread;
