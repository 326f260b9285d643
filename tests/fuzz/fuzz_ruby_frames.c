/* SPDX-License-Identifier: MIT */
/* Frames of Ruby in memory that changes (changing_memory.h): the first byte chooses the thread. */
#include "../unit/process/ruby_image.h"
#include "changing_memory.h"
#include "fuzz_target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	RubyImage image;

	if (size == 0)
		return 0;
	ruby_image_init(&image);
	const uint64_t places[] = {RUBY_IMAGE_VM_POINTER, RUBY_IMAGE_VM, RUBY_IMAGE_VM + 256,
		RUBY_IMAGE_RACTOR + image.layout->threads,
		RUBY_IMAGE_RACTOR + image.layout->ractor_node, RUBY_IMAGE_THREADS,
		RUBY_IMAGE_THREADS + RUBY_IMAGE_THREAD_STEP, RUBY_IMAGE_CONTEXTS,
		RUBY_IMAGE_CONTEXTS + RUBY_IMAGE_CONTEXT_STEP, ruby_image_frame(0, 5),
		ruby_image_frame(0, 2), ruby_image_frame(1, 0), image.main, image.main + 40,
		image.draw, image.draw + 40, image.block, image.block + 40, image.in_draw - 32,
		image.in_block - 32, RUBY_IMAGE_ALLOCATED, RUBY_IMAGE_ALLOCATED + 256,
		RUBY_IMAGE_ALLOCATED + 512};
	changing_memory_look(
		&(ChangingMemory){&image.all, places, G_N_ELEMENTS(places), data + 1, size - 1, 0},
		&lode_interpreters[LODE_INTERPRETER_RUBY], image.symbols,
		(LodeFramesThread){RUBY_IMAGE_PID,
			data[0] % 2 == 0 ? RUBY_IMAGE_PID : RUBY_IMAGE_OTHER_TID, 1},
		UINT64_C(30000000));
	ruby_image_clear(&image);
	return 0;
}
