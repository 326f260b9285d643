/* SPDX-License-Identifier: MIT */
#include "stepped_program.h"

#include <sys/mman.h>

static void note(SteppedProgram *self, const LodePerfRecord *record, uint64_t time_ns)
{
	lode_places_note(self->places, record, time_ns);
	lode_threads_note(&self->threads, record, time_ns);
}

void stepped_program_open(SteppedProgram *self, const char *path)
{
	*self = (SteppedProgram){.images = lode_code_images_new(NULL, false)};
	const LodePlacesOptions options = {.images = self->images};

	sampled_program_open(&self->program, path);
	self->places = lode_places_new(&options);
	lode_threads_init(&self->threads, 0);
	lode_places_begin(self->places);
	const LodePerfRecord exec = {.kind = LODE_PERF_COMMAND,
		.pid = STEPPED_PID,
		.tid = STEPPED_PID,
		.is_exec = true,
		.text = "stepped"};
	LodePerfRecord map = {.kind = LODE_PERF_MAPPING,
		.mode = LODE_PERF_MODE_USER,
		.pid = STEPPED_PID,
		.tid = STEPPED_PID,
		.mapping = self->program.mapping};
	map.mapping.protection = PROT_READ | PROT_EXEC;
	note(self, &exec, STEPPED_MAPPED_NS);
	note(self, &map, STEPPED_MAPPED_NS);
	/* The same code once more, as if it were lode's. */
	map.mapping.start = UINT64_C(0x7f0000000000);
	map.mapping.path = "/usr/lib/lode/liblode-windows.so";
	note(self, &map, STEPPED_MAPPED_NS);
	lode_places_freeze(self->places, NULL, NULL, NULL);
	lode_threads_freeze(&self->threads);
}

void stepped_program_close(SteppedProgram *self)
{
	lode_places_free(self->places);
	lode_code_images_free(self->images);
	lode_threads_clear(&self->threads);
	sampled_program_close(&self->program);
}

uint64_t stepped_program_at(const SteppedProgram *self, const char *function, unsigned n)
{
	const LodeBinaryFunction *found = sampled_program_function(&self->program, function);
	uint64_t address = found->address;
	LodeInstructionDecoder decoder;
	LodeDecodedInstruction decoded;

	lode_instruction_decoder_init(&decoder);
	for (; n > 0; n--, address += decoded.length) {
		size_t size;
		const uint8_t *code = lode_binary_image_bytes(self->program.image, address, &size);
		g_assert_true(
			lode_instruction_decoder_decode(&decoder, code, size, address, &decoded));
	}
	g_assert_cmpuint(address - found->address, <, found->size);
	return address + self->program.bias;
}

void stepped_program_run(
	WindowLogWriter *log, const LodeWindowHead *head, const uint64_t *addresses, size_t n)
{
	window_log_begin(log, head);
	for (size_t i = 0; i < n; i++) {
		const LodeWindowStep step = {.address = addresses[i]};
		window_log_add(log, &step);
	}
	window_log_end(log);
}
