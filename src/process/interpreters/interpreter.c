/* SPDX-License-Identifier: MIT */
#include "process/interpreters/interpreter.h"

#include "process/interpreters/foreign_memory.h"
#include "process/interpreters/hotspot_frames.h"
#include "process/interpreters/perl_frames.h"
#include "process/interpreters/python_frames.h"
#include "process/interpreters/ruby_frames.h"

static void *open_python(
	const uint64_t *symbols, const LodeForeignMemory *memory, uint32_t *next_code)
{
	LodePythonSymbols all = {.runtime = symbols[0],
		.code_type = symbols[1],
		.text_type = symbols[2],
		.bytes_type = symbols[3],
		.frame_type = symbols[4]};

	if (symbols[5] != 0 &&
		!lode_foreign_read(memory, symbols[5], &all.version_hex, sizeof(all.version_hex)))
		return NULL;
	return lode_python_frames_new(&all, memory, next_code);
}

static LodeFramesOutcome read_python(
	void *frames, const LodeFramesThread *thread, LodeScriptLook *out_look, GArray *out_codes)
{
	return lode_python_frames_read(frames, thread->tid, thread->now_ns, out_look, out_codes);
}

static void close_python(void *frames)
{
	lode_python_frames_free(frames);
}

const LodeInterpreter lode_interpreters[LODE_N_INTERPRETERS] = {
	[LODE_INTERPRETER_PYTHON] = {"python",
		{"_PyRuntime", "PyCode_Type", "PyUnicode_Type", "PyBytes_Type", "PyFrame_Type",
			"Py_Version"},
		5, open_python, read_python, close_python, NULL, false},
	[LODE_INTERPRETER_PERL] = {"perl", {"PL_curinterp", "PL_interp_size", "PL_op_name"}, 3,
		lode_perl_frames_open, lode_perl_frames_read, lode_perl_frames_close, NULL, false},
	[LODE_INTERPRETER_RUBY] = {"ruby", {"ruby_current_vm_ptr", "rb_cObject", "ruby_version"}, 3,
		lode_ruby_frames_open, lode_ruby_frames_read, lode_ruby_frames_close,
		lode_ruby_frames_loop, false},
	[LODE_INTERPRETER_HOTSPOT] = {"jvm",
		{"gHotSpotVMStructs", "gHotSpotVMStructEntryTypeNameOffset",
			"gHotSpotVMStructEntryFieldNameOffset", "gHotSpotVMStructEntryOffsetOffset",
			"gHotSpotVMStructEntryAddressOffset", "gHotSpotVMStructEntryArrayStride",
			"gHotSpotVMTypes", "gHotSpotVMTypeEntryTypeNameOffset",
			"gHotSpotVMTypeEntrySizeOffset", "gHotSpotVMTypeEntryArrayStride"},
		LODE_HOTSPOT_N_SYMBOLS, lode_hotspot_frames_open, lode_hotspot_frames_read,
		lode_hotspot_frames_close, NULL, true},
};
