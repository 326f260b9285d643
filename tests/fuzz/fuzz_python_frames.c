/* SPDX-License-Identifier: MIT */
/* Frames of CPython in memory that changes (changing_memory.h): the first byte chooses the version.
 */
#include "../unit/process/python_image.h"
#include "changing_memory.h"
#include "fuzz_target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint64_t places[] = {PYTHON_IMAGE_RUNTIME, PYTHON_IMAGE_INTERPRETER,
		PYTHON_IMAGE_INTERPRETER + 7000, PYTHON_IMAGE_THREAD,
		PYTHON_IMAGE_POSIX_THREAD + 600, PYTHON_IMAGE_CFRAME, PYTHON_IMAGE_TYPES,
		python_image_frame(0), python_image_frame(1), python_image_frame(2),
		PYTHON_IMAGE_CODES, PYTHON_IMAGE_CODES + PYTHON_IMAGE_CODE_STEP,
		PYTHON_IMAGE_ALLOCATED, PYTHON_IMAGE_ALLOCATED + 200};
	size_t n_facts;
	const PythonFacts *facts = python_facts(&n_facts);
	PythonImage image;

	if (size == 0)
		return 0;
	python_image_init(&image, &facts[data[0] % n_facts]);
	python_image_set_code(&image, 0, 1, python_image_add_name(&image, "<module>"));
	python_image_set_code(&image, 1, 9, python_image_add_text(&image, L"Größe", 5, 4));
	for (unsigned i = 0; i < 5; i++)
		python_image_set_frame(&image, i, i % 2, (int)i * 2 - 1);
	uint64_t version = foreign_image_allocate(&image.all, 8);
	foreign_image_set(&image.all, version, image.symbols.version_hex, 4);
	const uint64_t symbols[LODE_INTERPRETER_MAX_SYMBOLS] = {image.symbols.runtime,
		image.symbols.code_type, image.symbols.text_type, image.symbols.bytes_type,
		image.symbols.frame_type,
		image.symbols.version_hex != 0 ? FOREIGN_IMAGE_BASE + version : 0};
	changing_memory_look(
		&(ChangingMemory){&image.all, places, G_N_ELEMENTS(places), data + 1, size - 1, 0},
		&lode_interpreters[LODE_INTERPRETER_PYTHON], symbols,
		(LodeFramesThread){PYTHON_IMAGE_TID, PYTHON_IMAGE_TID, 1}, UINT64_C(30000000));
	python_image_clear(&image);
	return 0;
}
