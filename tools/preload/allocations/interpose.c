/* SPDX-License-Identifier: MIT */
/*
 * The functions that stand in front of the real ones. Each calls the real one with the very
 * arguments, gives back its very result and errno, and notes what has happened beside it.
 *
 * A block begins to live when the real function has returned it, and ends before it is given back,
 * so that two that lie at one address one after the other never live at once in the log.
 */
#include "../real_functions.h"
#include "call_stack.h"
#include "log.h"
#include "log_format.h"
#include "thread_state.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <malloc.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define EXPORTED __attribute__((visibility("default")))
/* The frame of the exported function itself, so that its caller is noted. */
#define FRAME __builtin_frame_address(0)

/* Memory for allocations while the real functions are being looked for: little, and never given
 * back. */
enum { EARLY_BYTES = 1 << 14 };

static unsigned char early[EARLY_BYTES] __attribute__((aligned(64)));
static size_t early_used;

static void *early_allocate(size_t size)
{
	/* More than asked for: a block of no bytes has an address of its own, too. */
	size_t rounded = (size / 64 + 1) * 64;

	if (size <= EARLY_BYTES) {
		size_t start = __atomic_fetch_add(&early_used, rounded, __ATOMIC_RELAXED);
		if (start + rounded <= EARLY_BYTES)
			return early + start;
	}
	errno = ENOMEM;
	return NULL;
}

/* Whether it is such memory, and how much is after it at most. */
static bool early_is_allocated(const void *block, size_t *out_size)
{
	uintptr_t offset = (uintptr_t)block - (uintptr_t)early;

	if (offset >= EARLY_BYTES)
		return false;
	*out_size = EARLY_BYTES - offset;
	return true;
}

/*
 * NULL when another of ours is at work in this thread: what the real functions call is their own
 * affair; what the handler of a signal calls while we write is lost, and counted.
 */
static ThreadState *enter(void)
{
	ThreadState *thread = thread_state_find();

	if (thread == NULL || thread->is_inside) {
		if (thread == NULL || thread->is_noting)
			log_count_unseen();
		return NULL;
	}
	thread->is_inside = true;
	return thread;
}

static void leave(ThreadState *thread)
{
	thread->is_inside = false;
}

/* True, and errno is kept for end_note(). */
static bool begin_note(ThreadState *thread, int *out_code)
{
	*out_code = errno;
	thread->is_noting = true;
	return log_is_open(thread);
}

static void end_note(ThreadState *thread, int code)
{
	thread->is_noting = false;
	errno = code;
}

static void note_made(
	ThreadState *thread, uint8_t kind, const void *block, size_t size, const void *frame)
{
	int code;

	if (block == NULL)
		return;
	if (begin_note(thread, &code)) {
		LogAllocation made = {.address = block, .size = size, .kind = kind};
		made.stack = call_stack_id(thread, frame, &made.kind);
		made.time = log_now();
		log_allocation(thread, &made);
	}
	end_note(thread, code);
}

static void note_freed(ThreadState *thread, const void *block, uint64_t time)
{
	int code;

	if (block == NULL)
		return;
	if (begin_note(thread, &code))
		log_free(thread, block, time);
	end_note(thread, code);
}

static void note_unmapped(ThreadState *thread, const void *place, size_t size, uint64_t time)
{
	int code;

	if (begin_note(thread, &code))
		log_unmap(thread, place, size, time);
	end_note(thread, code);
}

/* --- blocks --- */

EXPORTED void *malloc(size_t size)
{
	const RealFunctions *real = real_functions();

	if (real == NULL)
		return early_allocate(size);
	ThreadState *thread = enter();
	if (thread == NULL)
		return real->malloc(size);
	void *block = real->malloc(size);
	note_made(thread, LOG_KIND_MALLOC, block, size, FRAME);
	leave(thread);
	return block;
}

/* A name for ours that no other malloc can stand in front of. */
extern void *our_malloc(size_t size) __attribute__((
	alias("malloc"), visibility("hidden"), malloc, alloc_size(1), nothrow, leaf));

/* A program that is linked to fixed addresses and takes that of malloc has its entry in the table
 * of linked procedures for it, which leads to ours: its symbol has a value, and no section. */
bool log_is_malloc_ours(void)
{
	/* Volatile, as clang takes two names of one function for two functions. */
	void *(*volatile called)(size_t) = malloc;
	ElfW(Sym) *symbol = NULL;
	Dl_info info;

	return called == our_malloc ||
	       (dladdr1((void *)(uintptr_t)called, &info, (void **)&symbol, RTLD_DL_SYMENT) != 0 &&
		       symbol != NULL && symbol->st_shndx == SHN_UNDEF);
}

EXPORTED void *calloc(size_t n, size_t size)
{
	const RealFunctions *real = real_functions();
	size_t total;

	if (real == NULL)
		return __builtin_mul_overflow(n, size, &total) ? NULL : early_allocate(total);
	ThreadState *thread = enter();
	if (thread == NULL)
		return real->calloc(n, size);
	void *block = real->calloc(n, size);
	note_made(thread, LOG_KIND_CALLOC, block, n * size, FRAME);
	leave(thread);
	return block;
}

static void *early_reallocate(const RealFunctions *real, void *block, size_t size)
{
	size_t old_size = 0;
	bool is_early = early_is_allocated(block, &old_size);
	void *moved = real != NULL ? real->malloc(size) : early_allocate(size);

	if (moved != NULL && is_early)
		memcpy(moved, block, old_size < size ? old_size : size);
	return moved;
}

/* It ended when the real function began, unless that failed: then it is still there. */
static void note_moved(ThreadState *thread, void *old, void *block, size_t size, const void *frame)
{
	if (block == NULL && size != 0)
		return;
	note_freed(thread, old, thread->call_time);
	note_made(thread, LOG_KIND_REALLOC, block, size, frame);
}

EXPORTED void *realloc(void *block, size_t size)
{
	const RealFunctions *real = real_functions();
	size_t early_size;

	if (real == NULL || early_is_allocated(block, &early_size))
		return early_reallocate(real, block, size);
	ThreadState *thread = enter();
	if (thread == NULL)
		return real->realloc(block, size);
	thread->call_time = log_now();
	void *moved = real->realloc(block, size);
	note_moved(thread, block, moved, size, FRAME);
	leave(thread);
	return moved;
}

EXPORTED void *reallocarray(void *block, size_t n, size_t size)
{
	const RealFunctions *real = real_functions();
	size_t early_size, total;

	if (__builtin_mul_overflow(n, size, &total)) {
		errno = ENOMEM;
		return NULL;
	}
	if (real == NULL || early_is_allocated(block, &early_size))
		return early_reallocate(real, block, total);
	ThreadState *thread = enter();
	if (thread == NULL)
		return real->reallocarray(block, n, size);
	thread->call_time = log_now();
	void *moved = real->reallocarray(block, n, size);
	note_moved(thread, block, moved, total, FRAME);
	leave(thread);
	return moved;
}

EXPORTED void free(void *block)
{
	const RealFunctions *real = real_functions();
	size_t early_size;

	if (early_is_allocated(block, &early_size) || real == NULL)
		return;
	ThreadState *thread = enter();
	if (thread == NULL) {
		real->free(block);
		return;
	}
	note_freed(thread, block, log_now());
	real->free(block);
	leave(thread);
}

/* --- aligned blocks --- */

EXPORTED void *aligned_alloc(size_t alignment, size_t size)
{
	const RealFunctions *real = real_functions();

	ThreadState *thread = real != NULL ? enter() : NULL;
	if (thread == NULL)
		return real != NULL ? real->aligned_alloc(alignment, size) : NULL;
	void *block = real->aligned_alloc(alignment, size);
	note_made(thread, LOG_KIND_ALIGNED, block, size, FRAME);
	leave(thread);
	return block;
}

EXPORTED void *memalign(size_t alignment, size_t size)
{
	const RealFunctions *real = real_functions();

	ThreadState *thread = real != NULL ? enter() : NULL;
	if (thread == NULL)
		return real != NULL ? real->memalign(alignment, size) : NULL;
	void *block = real->memalign(alignment, size);
	note_made(thread, LOG_KIND_ALIGNED, block, size, FRAME);
	leave(thread);
	return block;
}

EXPORTED int posix_memalign(void **out_block, size_t alignment, size_t size)
{
	const RealFunctions *real = real_functions();

	ThreadState *thread = real != NULL ? enter() : NULL;
	if (thread == NULL)
		return real != NULL ? real->posix_memalign(out_block, alignment, size) : ENOMEM;
	int code = real->posix_memalign(out_block, alignment, size);
	if (code == 0)
		note_made(thread, LOG_KIND_ALIGNED, *out_block, size, FRAME);
	leave(thread);
	return code;
}

EXPORTED void *valloc(size_t size)
{
	const RealFunctions *real = real_functions();

	ThreadState *thread = real != NULL ? enter() : NULL;
	if (thread == NULL)
		return real != NULL ? real->valloc(size) : NULL;
	void *block = real->valloc(size);
	note_made(thread, LOG_KIND_ALIGNED, block, size, FRAME);
	leave(thread);
	return block;
}

EXPORTED void *pvalloc(size_t size)
{
	const RealFunctions *real = real_functions();

	ThreadState *thread = real != NULL ? enter() : NULL;
	if (thread == NULL)
		return real != NULL ? real->pvalloc(size) : NULL;
	void *block = real->pvalloc(size);
	note_made(thread, LOG_KIND_ALIGNED, block, size, FRAME);
	leave(thread);
	return block;
}

/* --- mappings --- */

/* For file mappings only the replaced range is logged: the contents are named by the file. */
EXPORTED void *mmap(
	void *place, size_t size, int protection, int flags, int descriptor, off_t offset)
{
	const RealFunctions *real = real_functions();

	if (real == NULL) {
		errno = ENOMEM;
		return MAP_FAILED;
	}
	ThreadState *thread = enter();
	if (thread == NULL)
		return real->mmap(place, size, protection, flags, descriptor, offset);
	void *mapped = real->mmap(place, size, protection, flags, descriptor, offset);
	if (mapped != MAP_FAILED && (flags & MAP_ANONYMOUS) != 0)
		note_made(thread, LOG_KIND_MAP, mapped, size, FRAME);
	else if (mapped != MAP_FAILED && (flags & MAP_FIXED) != 0)
		note_unmapped(thread, mapped, size, log_now());
	leave(thread);
	return mapped;
}

#if __SIZEOF_LONG__ == 8
EXPORTED void *mmap64(void *place, size_t size, int protection, int flags, int descriptor,
	off_t offset) __attribute__((alias("mmap")));
#endif

EXPORTED int munmap(void *place, size_t size)
{
	const RealFunctions *real = real_functions();

	if (real == NULL) {
		errno = ENOMEM;
		return -1;
	}
	ThreadState *thread = enter();
	if (thread == NULL)
		return real->munmap(place, size);
	uint64_t time = log_now();
	int code = real->munmap(place, size);
	if (code == 0)
		note_unmapped(thread, place, size, time);
	leave(thread);
	return code;
}

EXPORTED void *mremap(void *place, size_t size, size_t new_size, int flags, ...)
{
	const RealFunctions *real = real_functions();
	void *new_place;
	va_list arguments;

	va_start(arguments, flags);
	new_place = (flags & (MREMAP_FIXED | MREMAP_DONTUNMAP)) != 0 ? va_arg(arguments, void *)
	                                                             : NULL;
	va_end(arguments);
	if (real == NULL) {
		errno = ENOMEM;
		return MAP_FAILED;
	}
	ThreadState *thread = enter();
	if (thread == NULL)
		return real->mremap(place, size, new_size, flags, new_place);
	uint64_t time = log_now();
	void *moved = real->mremap(place, size, new_size, flags, new_place);
	if (moved != MAP_FAILED) {
		if ((flags & MREMAP_DONTUNMAP) == 0)
			note_unmapped(thread, place, size, time);
		note_made(thread, LOG_KIND_MAP, moved, new_size, FRAME);
	}
	leave(thread);
	return moved;
}

/* --- code --- */

EXPORTED int dlclose(void *library)
{
	const RealFunctions *real = real_functions();
	int code = real != NULL ? real->dlclose(library) : -1;

	log_code_unloaded();
	return code;
}

#if defined(__x86_64__)

/* --- children that use our memory --- */

/* Called by the code below. */
void vfork_begins(void);
long vfork_ended(long result);

void vfork_begins(void)
{
	ThreadState *thread = thread_state_find();

	if (thread != NULL)
		thread->was_inside = thread->is_inside;
}

/* A child that ended in one of our functions has left them for the parent, too. */
long vfork_ended(long result)
{
	ThreadState *thread = thread_state_find();

	if (thread != NULL) {
		thread->is_inside = thread->was_inside;
		thread->is_noting &= thread->is_inside;
	}
	if (result >= 0)
		return result;
	errno = (int)-result;
	return -1;
}

/*
 * The child returns first and writes over our frame, so that the return address is kept in a
 * register. Where the processor keeps a second stack of return addresses, the child leaves its
 * entry to the parent and jumps.
 */
__asm__(".pushsection .text\n"
	".globl vfork\n"
	".type vfork, @function\n"
	"vfork:\n"
	"	.cfi_startproc\n"
	"	endbr64\n"
	"	sub $8, %rsp\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	call vfork_begins\n"
	"	add $8, %rsp\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	pop %rdi\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	.cfi_register %rip, %rdi\n"
	"	mov $58, %eax\n" /* SYS_vfork */
	"	syscall\n"
	"	push %rdi\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	.cfi_offset %rip, -8\n"
	"	test %rax, %rax\n"
	"	jz 1f\n"
	"	mov %rax, %rdi\n"
	"	sub $8, %rsp\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	call vfork_ended\n"
	"	add $8, %rsp\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	ret\n"
	"1:	xor %esi, %esi\n"
	"	rdsspq %rsi\n"
	"	test %rsi, %rsi\n"
	"	jnz 2f\n"
	"	ret\n"
	"2:	pop %rdi\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	.cfi_register %rip, %rdi\n"
	"	jmp *%rdi\n"
	"	.cfi_endproc\n"
	".size vfork, . - vfork\n"
	".popsection\n");

#endif
