/* SPDX-License-Identifier: MIT */
/*
 * Frames of CPython in memory that changes while it is read: the first byte chooses the version,
 * and each further four bytes are a change, made before the next read of memory: place, offset,
 * value, how many bytes.
 */
#include "../unit/process/python_image.h"
#include "fuzz_target.h"
#include "process/interpreters/python_frames.h"

enum { CHANGE = 4, LOOKS = 8 };

typedef struct {
	PythonImage image;
	const uint8_t *changes;
	size_t n_changes;
	unsigned n_reads;
} Changing;

static void change(Changing *self)
{
	const uint64_t places[] = {PYTHON_IMAGE_RUNTIME, PYTHON_IMAGE_INTERPRETER,
		PYTHON_IMAGE_INTERPRETER + 7000, PYTHON_IMAGE_THREAD,
		PYTHON_IMAGE_POSIX_THREAD + 600, PYTHON_IMAGE_CFRAME, PYTHON_IMAGE_TYPES,
		python_image_frame(0), python_image_frame(1), python_image_frame(2),
		PYTHON_IMAGE_CODES, PYTHON_IMAGE_CODES + PYTHON_IMAGE_CODE_STEP,
		PYTHON_IMAGE_ALLOCATED, PYTHON_IMAGE_ALLOCATED + 200};
	const uint8_t *at = self->changes;
	uint64_t place = places[at[0] % G_N_ELEMENTS(places)] + at[1];
	/* an address of the image, or a number */
	uint64_t value = at[3] & 8    ? PYTHON_IMAGE_BASE + places[at[2] % G_N_ELEMENTS(places)]
	                 : at[3] & 16 ? UINT64_MAX - at[2]
	                              : at[2];

	python_image_set(&self->image, place, value, (size_t)1 << (at[3] & 3));
	self->changes += CHANGE;
	self->n_changes--;
}

static size_t read_memory(void *data, uint64_t address, void *to, size_t size)
{
	Changing *self = data;

	if (self->n_changes > 0 && self->n_reads++ % 3 == 0)
		change(self);
	return self->image.memory.read(self->image.memory.data, address, to, size);
}

static void check(const LodeScriptLook *look, const GArray *codes, LodeFramesOutcome outcome)
{
	if (look->n_frames > LODE_SCRIPT_MAX_FRAMES)
		g_error("too many frames");
	if ((look->n_frames > 0) != (outcome == LODE_FRAMES_FOUND))
		g_error("frames, and none found");
	for (uint32_t i = 0; i < look->n_frames; i++)
		if (look->frames[i].line < 1 || look->frames[i].line > LODE_SCRIPT_MAX_LINE)
			g_error("a line that is none");
	for (guint i = 0; i < codes->len; i++) {
		const LodeScriptCode *code = &g_array_index(codes, LodeScriptCode, i);
		if (!g_utf8_validate(code->function, -1, NULL) ||
			!g_utf8_validate(code->file, -1, NULL) ||
			code->last_line < code->first_line ||
			code->last_line > LODE_SCRIPT_MAX_LINE)
			g_error("code that is none");
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t n_facts;
	const PythonFacts *facts = python_facts(&n_facts);
	g_autoptr(GArray) codes = g_array_new(FALSE, FALSE, sizeof(LodeScriptCode));
	g_autofree LodeScriptLook *look = g_new0(LodeScriptLook, 1);
	Changing changing = {.changes = data + 1, .n_changes = size > 0 ? (size - 1) / CHANGE : 0};
	const LodeForeignMemory memory = {.read = read_memory, .data = &changing};

	if (size == 0)
		return 0;
	python_image_init(&changing.image, &facts[data[0] % n_facts]);
	python_image_set_code(
		&changing.image, 0, 1, python_image_add_name(&changing.image, "<module>"));
	python_image_set_code(
		&changing.image, 1, 9, python_image_add_text(&changing.image, L"Größe", 5, 4));
	for (unsigned i = 0; i < 5; i++)
		python_image_set_frame(&changing.image, i, i % 2, (int)i * 2 - 1);
	LodePythonFrames *frames = lode_python_frames_new(
		&changing.image.symbols, &memory, &changing.image.next_code);
	for (unsigned i = 0; i < LOOKS && frames != NULL; i++) {
		LodeFramesOutcome outcome = lode_python_frames_read(
			frames, PYTHON_IMAGE_TID, i * UINT64_C(30000000), look, codes);
		check(look, codes, outcome);
	}
	lode_python_frames_free(frames);
	python_image_clear(&changing.image);
	return 0;
}
