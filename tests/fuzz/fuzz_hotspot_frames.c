/* SPDX-License-Identifier: MIT */
/* Frames of HotSpot in memory that changes (changing_memory.h): the first byte chooses the version.
 */
#include "../unit/process/hotspot_image.h"
#include "changing_memory.h"
#include "fuzz_target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	HotspotImage image;

	if (size == 0)
		return 0;
	hotspot_image_init(&image, data[0] % 2 != 0);
	uint64_t made = image.all.free;
	hotspot_image_build(&image);
	const uint64_t places[] = {HOTSPOT_IMAGE_SYMBOLS, HOTSPOT_IMAGE_STRUCTS + 32,
		HOTSPOT_IMAGE_STRUCTS + 20 * HOTSPOT_IMAGE_STRUCT_STRIDE, HOTSPOT_IMAGE_TYPES,
		HOTSPOT_IMAGE_STATICS, HOTSPOT_IMAGE_THREAD, HOTSPOT_IMAGE_SYSTEM,
		HOTSPOT_IMAGE_LIST, HOTSPOT_IMAGE_STUBS, HOTSPOT_IMAGE_HEAP,
		HOTSPOT_IMAGE_HEAP + 120, HOTSPOT_IMAGE_CODE + 0x400, HOTSPOT_IMAGE_CODE + 0x500,
		HOTSPOT_IMAGE_SEGMAP, HOTSPOT_IMAGE_STACK, HOTSPOT_IMAGE_STACK + 0xc0, made,
		made + 0x80, made + 0x100, made + 0x200, made + 0x400};
	changing_memory_look(
		&(ChangingMemory){&image.all, places, G_N_ELEMENTS(places), data + 1, size - 1, 0},
		&lode_interpreters[LODE_INTERPRETER_HOTSPOT], image.symbols,
		(LodeFramesThread){4711, HOTSPOT_IMAGE_TID, 1}, UINT64_C(400000000));
	hotspot_image_clear(&image);
	return 0;
}
