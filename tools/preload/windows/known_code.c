/* SPDX-License-Identifier: MIT */
#include "known_code.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

/* glibc 2.35; it takes no lock. Not there in older ones. */
#pragma weak _dl_find_object

/* The page of old system calls is there, too. */
#define KERNEL ((uintptr_t)1 << 63)

static uintptr_t own_object;

/* The segment that the address is in; false: none that is executable and readable. */
static bool find_segment(const struct dl_find_object *object, uintptr_t address, KnownCode *out)
{
	const ElfW(Ehdr) *head = object->dlfo_map_start;
	const uintptr_t bias = object->dlfo_link_map->l_addr;
	const size_t mapped = (size_t)((char *)object->dlfo_map_end - (char *)head);

	if (memcmp(head->e_ident, ELFMAG, SELFMAG) != 0 ||
		head->e_phentsize != sizeof(ElfW(Phdr)) || head->e_phoff > mapped ||
		head->e_phnum * sizeof(ElfW(Phdr)) > mapped - head->e_phoff)
		return false;
	const ElfW(Phdr) *segments = (const ElfW(Phdr) *)((const char *)head + head->e_phoff);
	for (size_t i = 0; i < head->e_phnum; i++) {
		const ElfW(Phdr) *segment = &segments[i];
		uintptr_t low = bias + segment->p_vaddr;
		if (segment->p_type == PT_LOAD &&
			(segment->p_flags & (PF_X | PF_R)) == (PF_X | PF_R) &&
			address - low < segment->p_filesz) {
			*out = (KnownCode){low, low + segment->p_filesz};
			return true;
		}
	}
	return false;
}

bool known_code_begin(void)
{
	struct dl_find_object object;

	if (_dl_find_object == NULL || _dl_find_object((void *)known_code_begin, &object) != 0)
		return false;
	own_object = (uintptr_t)object.dlfo_map_start;
	return true;
}

const uint8_t *known_code_read(
	uintptr_t address, KnownCode *segment, uint8_t buffer[KNOWN_CODE_BYTES], size_t *out_n)
{
	struct dl_find_object object;

	if (address - segment->low >= segment->high - segment->low) {
		*segment = (KnownCode){0};
		if (_dl_find_object((void *)address, &object) == 0 &&
			((uintptr_t)object.dlfo_map_start == own_object ||
				!find_segment(&object, address, segment)))
			return NULL;
	}
	if (segment->high != 0) {
		*out_n = segment->high - address;
		return (const uint8_t *)address;
	}
	const struct iovec to = {buffer, KNOWN_CODE_BYTES},
			   from = {(void *)address, KNOWN_CODE_BYTES};
	const pid_t pid = (pid_t)syscall(SYS_getpid);
	ssize_t n = address < KERNEL ? process_vm_readv(pid, &to, 1, &from, 1, 0) : 0;
	*out_n = n > 0 ? (size_t)n : 0;
	return n > 0 ? buffer : NULL;
}
