/* SPDX-License-Identifier: MIT */
/*
 * A program that has objects as V8 has, and publishes how they are made: two of class Apple and one
 * of class Pear in a page, between strings that are not to be seen. Prints the address of the
 * page, and ends when its input does. With an argument, maps are a cycle instead, and point to
 * nothing.
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
	TYPE_ONE_BYTE = 8,
	TYPE_OBJECT = 200,
	TYPE_FUNCTION = 201,
	TYPE_SHARED = 202,
	TYPE_MAP = 203
};
enum { PAGE = 1 << 18, HEAD = 512, MAP_SIZE = 80 };

#define PUBLISH(name, value)                                                                       \
	extern const int32_t v8dbg_##name;                                                         \
	__attribute__((visibility("default"), used)) const int32_t v8dbg_##name = value
PUBLISH(class_Map__instance_type__uint16_t, 12);
PUBLISH(class_Map__constructor_or_back_pointer__Object, 32);
PUBLISH(class_JSFunction__shared__SharedFunctionInfo, 24);
PUBLISH(class_SharedFunctionInfo__name_or_scope_info__Object, 16);
PUBLISH(class_SeqOneByteString__chars__char, 16);
PUBLISH(class_String__length__int32_t, 12);
PUBLISH(FirstNonstringType, 128);
PUBLISH(StringEncodingMask, 8);
PUBLISH(OneByteStringTag, 8);
PUBLISH(type_SharedFunctionInfo__SHARED_FUNCTION_INFO_TYPE, TYPE_SHARED);
PUBLISH(class_JSArrayBuffer__backing_store__uintptr_t, 32);
PUBLISH(class_JSArrayBuffer__byte_length__size_t, 24);
PUBLISH(class_JSTypedArray__external_pointer__uintptr_t, 48);
PUBLISH(class_JSArrayBufferView__byte_length__size_t, 40);
PUBLISH(type_JSArrayBuffer__JS_ARRAY_BUFFER_TYPE, 210);
PUBLISH(type_JSTypedArray__JS_TYPED_ARRAY_TYPE, 211);
PUBLISH(type_Map__MAP_TYPE, TYPE_MAP);

static uint8_t *page;
static size_t used = HEAD;

/* An object of so many words; gives its tagged address. */
static uint64_t make(uint64_t map, size_t n_words)
{
	uint64_t *object = (uint64_t *)(void *)(page + used);

	used += 8 * n_words;
	*object = map;
	return (uint64_t)(uintptr_t)object + 1;
}

static void set(uint64_t tagged, size_t offset, uint64_t value)
{
	memcpy((void *)(uintptr_t)(tagged - 1 + offset), &value, sizeof(value));
}

static uint64_t make_map(uint64_t meta, uint16_t type, uint64_t constructor)
{
	uint64_t map = make(meta, MAP_SIZE / 8);

	if (meta == 0)
		set(map, 0, map);
	memcpy((void *)(uintptr_t)(map - 1 + 12), &type, sizeof(type));
	set(map, 32, constructor);
	return map;
}

/* A map of objects with this constructor. */
static uint64_t make_class(uint64_t meta, const uint64_t maps[3], const char *name)
{
	uint64_t text = make(maps[0], 4), shared = make(maps[1], 4), function = make(maps[2], 5);
	uint32_t length = (uint32_t)strlen(name);

	memcpy((void *)(uintptr_t)(text - 1 + 12), &length, sizeof(length));
	memcpy((void *)(uintptr_t)(text - 1 + 16), name, length);
	set(shared, 16, text);
	set(function, 24, shared);
	/* of two maps the second is that of the objects, the first of what they began as */
	return make_map(meta, TYPE_OBJECT, make_map(meta, TYPE_OBJECT, function));
}

int main(int argc, char **argv)
{
	uint8_t *memory = mmap(
		NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char end;

	(void)argv;
	page = memory + (PAGE - (uintptr_t)memory % PAGE) % PAGE;
	uint64_t meta = make_map(0, TYPE_MAP, 0);
	const uint64_t maps[] = {make_map(meta, TYPE_ONE_BYTE, 0), make_map(meta, TYPE_SHARED, 0),
		make_map(meta, TYPE_FUNCTION, 0)};
	uint64_t apple = make_class(meta, maps, "Apple"), pear = make_class(meta, maps, "Pear");
	if (argc > 1) {
		set(apple, 32, pear);
		set(pear, 32, apple);
	}
	printf("%lx\n", (unsigned long)(make(apple, 4) - 1));
	make(apple, 4);
	make(pear, 6);
	make(maps[0], 8);
	fflush(stdout);
	return read(STDIN_FILENO, &end, 1) < 0;
}
