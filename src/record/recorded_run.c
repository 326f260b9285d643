/* SPDX-License-Identifier: MIT */
#include "record/recorded_run.h"

void lode_recorded_run_init(LodeRecordedRun *self)
{
	*self = (LodeRecordedRun){
		.recordings = g_ptr_array_new_with_free_func(g_free),
		.maps = g_ptr_array_new_with_free_func(g_free),
		.jit_files = g_ptr_array_new_with_free_func(g_free),
	};
}

void lode_recorded_run_clear(LodeRecordedRun *self)
{
	g_clear_pointer(&self->recordings, g_ptr_array_unref);
	g_clear_pointer(&self->maps, g_ptr_array_unref);
	g_clear_pointer(&self->jit_files, g_ptr_array_unref);
	g_clear_pointer(&self->obstacle, g_free);
}
