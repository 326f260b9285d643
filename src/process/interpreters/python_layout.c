/* SPDX-License-Identifier: MIT */
#include "process/interpreters/python_frames.h"

#include <stddef.h>

static const LodePythonLayout layouts[] = {
	{
		.version = 0x030b,
		.interpreters_head = 40,
		.next_interpreter = 0,
		.threads_head = 16,
		.next_thread = 8,
		.native_thread = 160,
		.cframe = 56,
		.current_frame = 8,
		.frame_code = 32,
		.frame_previous = 48,
		.frame_instruction = 56,
		.frame_owner = 69,
		.frame_bytes = 72,
		.last_owner = 2,
		.code_size = 16,
		.code_first_line = 72,
		.code_file = 112,
		.code_name = 128,
		.code_lines = 136,
		.code_bytes = 184,
		.type = 8,
		.size = 16,
		.text_length = 16,
		.text_state = 32,
		.ascii_bytes = 48,
		.text_bytes = 72,
		.bytes_data = 32,
	},
};

const LodePythonLayout *lode_python_layout_find(uint32_t version_hex)
{
	for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++)
		if (layouts[i].version == version_hex >> 16)
			return &layouts[i];
	return NULL;
}
