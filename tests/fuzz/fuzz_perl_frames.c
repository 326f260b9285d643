/* SPDX-License-Identifier: MIT */
/* Frames of Perl in memory that changes (changing_memory.h): the first byte chooses what the
 * innermost context is. */
#include "../unit/process/perl_image.h"
#include "changing_memory.h"
#include "fuzz_target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const unsigned kinds[] = {PERL_SUB, PERL_EVAL, PERL_TRY, PERL_BLOCK};
	PerlImage image;

	if (size == 0)
		return 0;
	perl_image_init(&image);
	perl_image_set_context(
		&image, 4, kinds[data[0] % G_N_ELEMENTS(kinds)], image.inner_sub, image.outer_at);
	perl_image_set_operation(&image, perl_image_add_block(&image, image.inner_at, 23, 0));
	uint64_t call = perl_image_add_block(&image, image.outer_at, 14, image.outer_first);
	perl_image_set_return(&image, 4, image.outer_first);
	const uint64_t context = image.layout->context_bytes;
	const uint64_t places[] = {PERL_IMAGE_POINTER, PERL_IMAGE_SIZE, PERL_IMAGE_INTERPRETER,
		PERL_IMAGE_INTERPRETER + image.layout->statement,
		PERL_IMAGE_INTERPRETER + image.layout->main_root,
		PERL_IMAGE_INTERPRETER + image.layout->compiling, PERL_IMAGE_STACK,
		PERL_IMAGE_CONTEXTS + 2 * context, PERL_IMAGE_CONTEXTS + 4 * context, image.main,
		image.outer, image.inner, image.main_at, image.outer_at, image.inner_at,
		image.outer_sub, image.inner_sub, call, call - 96, PERL_IMAGE_ALLOCATED + 0x400,
		PERL_IMAGE_ALLOCATED + 0x500};
	changing_memory_look(
		&(ChangingMemory){&image.all, places, G_N_ELEMENTS(places), data + 1, size - 1, 0},
		&lode_interpreters[LODE_INTERPRETER_PERL], image.symbols,
		(LodeFramesThread){PERL_IMAGE_PID, PERL_IMAGE_PID, 1}, UINT64_C(30000000));
	perl_image_clear(&image);
	return 0;
}
