/* SPDX-License-Identifier: MIT */
#include "record/ptrace/traced_records.h"

#include "base/byte_append.h"
#include "record/events/perf_existing.h"
#include "record/process_memory.h"

#include <asm/perf_regs.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Code that lies in no mapping is not looked for more often. */
enum { MAPPED_AGAIN_NS = 1000 * 1000 };

void lode_traced_records_init(LodeTracedRecords *self, const struct perf_event_attr *attr,
	uint64_t id, LodePerfRing *ring, LodeKeptFiles *files)
{
	*self = (LodeTracedRecords){
		.attr = attr,
		.ring = ring,
		.files = files,
		.id = id,
		.record = g_byte_array_new(),
	};
}

void lode_traced_records_clear(LodeTracedRecords *self)
{
	g_clear_pointer(&self->record, g_byte_array_unref);
}

static void begin(LodeTracedRecords *self, uint32_t type, unsigned misc)
{
	const struct perf_event_header header = {type, (uint16_t)(PERF_RECORD_MISC_USER | misc), 0};

	g_byte_array_set_size(self->record, 0);
	g_byte_array_append(self->record, (const guint8 *)&header, sizeof(header));
}

static void put(LodeTracedRecords *self)
{
	struct perf_event_header *header = (void *)self->record->data;

	header->size = (uint16_t)self->record->len;
	self->n_lost += !lode_perf_ring_put(self->ring, self->record->data, self->record->len);
}

/* Ends a record that is not a sample: with what sample_id_all puts after it. */
static void put_with_trailer(
	LodeTracedRecords *self, const LodeTracedThread *thread, uint64_t now_ns)
{
	lode_append_u32(self->record, (uint32_t)thread->process->pid);
	lode_append_u32(self->record, (uint32_t)thread->tid);
	lode_append_u64(self->record, now_ns);
	lode_append_u64(self->record, 0); /* CPU */
	lode_append_u64(self->record, self->id);
	put(self);
}

static void put_task(LodeTracedRecords *self, uint32_t type, const LodeTracedThread *thread,
	const pid_t parent[2], uint64_t now_ns)
{
	begin(self, type, 0);
	lode_append_u32(self->record, (uint32_t)thread->process->pid);
	lode_append_u32(self->record, (uint32_t)parent[0]);
	lode_append_u32(self->record, (uint32_t)thread->tid);
	lode_append_u32(self->record, (uint32_t)parent[1]);
	lode_append_u64(self->record, now_ns);
	put_with_trailer(self, thread, now_ns);
}

void lode_traced_records_begin(LodeTracedRecords *self, const LodeTracedThread *thread,
	pid_t parent_pid, pid_t parent_tid, uint64_t now_ns)
{
	const pid_t parent[] = {parent_pid, parent_tid};

	put_task(self, PERF_RECORD_FORK, thread, parent, now_ns);
}

void lode_traced_records_end(
	LodeTracedRecords *self, const LodeTracedThread *thread, uint64_t now_ns)
{
	const pid_t own[] = {thread->process->pid, thread->tid};

	put_task(self, PERF_RECORD_EXIT, thread, own, now_ns);
}

static bool read_name(const LodeTracedThread *thread, char name[16])
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task/%d/comm", (int)thread->process->pid,
		(int)thread->tid);
	int file = open(path, O_RDONLY | O_CLOEXEC);
	if (file < 0)
		return false;
	ssize_t n = read(file, name, 15);
	close(file);
	if (n <= 0)
		return false;
	name[n] = '\0';
	name[strcspn(name, "\n")] = '\0';
	return true;
}

void lode_traced_records_name(
	LodeTracedRecords *self, LodeTracedThread *thread, bool is_exec, uint64_t now_ns)
{
	char name[16] = {0};

	if (!read_name(thread, name) || (!is_exec && strcmp(name, thread->name) == 0))
		return;
	memcpy(thread->name, name, sizeof(name));
	begin(self, PERF_RECORD_COMM, is_exec ? PERF_RECORD_MISC_COMM_EXEC : 0);
	lode_append_u32(self->record, (uint32_t)thread->process->pid);
	lode_append_u32(self->record, (uint32_t)thread->tid);
	g_byte_array_append(
		self->record, (const guint8 *)name, (guint)((strlen(name) + 8) & ~(size_t)7));
	put_with_trailer(self, thread, now_ns);
}

static bool knows(const LodeTracedProcess *process, uint64_t start, uint64_t end)
{
	for (guint i = 0; i < process->code->len; i++) {
		const LodeTracedRange *range = &g_array_index(process->code, LodeTracedRange, i);
		if (start >= range->start && end <= range->end)
			return true;
	}
	return false;
}

static bool is_new_code(uint64_t start, uint64_t end, const char *name, void *user_data)
{
	LodeTracedProcess *process = user_data;
	const LodeTracedRange range = {start, end};

	(void)name;
	if (knows(process, start, end))
		return false;
	g_array_append_val(process->code, range);
	return true;
}

static void keep_file(const LodeMappedFile *mapped, void *user_data)
{
	lode_kept_files_add(user_data, mapped);
}

void lode_traced_records_map(LodeTracedRecords *self, LodeTracedProcess *process, uint64_t now_ns)
{
	g_autoptr(GByteArray) records = g_byte_array_new();
	const LodePerfExisting wanted = {
		.pid = process->pid,
		.sample_type = self->attr->sample_type,
		.proc = "/proc",
		.found = keep_file,
		.user_data = self->files,
		.time_ns = process->mapped_ns > 0 ? process->mapped_ns : now_ns,
		.is_wanted = is_new_code,
		.filter_data = process,
	};

	lode_perf_existing_add_mappings(&wanted, records);
	process->mapped_ns = now_ns;
	for (guint at = 0; at < records->len;) {
		const struct perf_event_header *header = (const void *)(records->data + at);
		self->n_lost += !lode_perf_ring_put(self->ring, header, header->size);
		at += header->size;
	}
}

#if defined(__x86_64__)

static uint64_t register_value(const struct user_regs_struct *registers, unsigned number)
{
	switch (number) {
	case PERF_REG_X86_AX:
		return registers->rax;
	case PERF_REG_X86_BX:
		return registers->rbx;
	case PERF_REG_X86_CX:
		return registers->rcx;
	case PERF_REG_X86_DX:
		return registers->rdx;
	case PERF_REG_X86_SI:
		return registers->rsi;
	case PERF_REG_X86_DI:
		return registers->rdi;
	case PERF_REG_X86_BP:
		return registers->rbp;
	case PERF_REG_X86_SP:
		return registers->rsp;
	case PERF_REG_X86_IP:
		return registers->rip;
	case PERF_REG_X86_FLAGS:
		return registers->eflags;
	case PERF_REG_X86_CS:
		return registers->cs;
	case PERF_REG_X86_SS:
		return registers->ss;
	case PERF_REG_X86_R8:
		return registers->r8;
	case PERF_REG_X86_R9:
		return registers->r9;
	case PERF_REG_X86_R10:
		return registers->r10;
	case PERF_REG_X86_R11:
		return registers->r11;
	case PERF_REG_X86_R12:
		return registers->r12;
	case PERF_REG_X86_R13:
		return registers->r13;
	case PERF_REG_X86_R14:
		return registers->r14;
	case PERF_REG_X86_R15:
		return registers->r15;
	default:
		return 0;
	}
}

static void add_registers(LodeTracedRecords *self, const struct user_regs_struct *registers)
{
	lode_append_u64(self->record, PERF_SAMPLE_REGS_ABI_64);
	for (unsigned i = 0; i < 64; i++)
		if ((self->attr->sample_regs_user >> i & 1) != 0)
			lode_append_u64(self->record, register_value(registers, i));
}

/* The wanted size, so many bytes, and how many of them are the stack; as the kernel writes it. */
static void add_stack(LodeTracedRecords *self, pid_t pid, uint64_t address)
{
	uint64_t size = self->attr->sample_stack_user;

	lode_append_u64(self->record, size);
	guint at = self->record->len;
	g_byte_array_set_size(self->record, at + (guint)size);
	memset(self->record->data + at, 0, size);
	lode_append_u64(self->record,
		lode_process_memory_read(pid, address, self->record->data + at, size));
}

void lode_traced_records_sample(LodeTracedRecords *self, LodeTracedThread *thread,
	const struct user_regs_struct *registers, double weight_ns, uint64_t now_ns)
{
	uint64_t type = self->attr->sample_type;

	if (!knows(thread->process, registers->rip, registers->rip + 1) &&
		now_ns >= thread->process->mapped_ns + MAPPED_AGAIN_NS)
		lode_traced_records_map(self, thread->process, now_ns);
	if (thread->n_samples++ % 64 == 0)
		lode_traced_records_name(self, thread, false, now_ns);
	begin(self, PERF_RECORD_SAMPLE, 0);
	lode_append_u64(self->record, self->id);
	lode_append_u64(self->record, registers->rip);
	lode_append_u32(self->record, (uint32_t)thread->process->pid);
	lode_append_u32(self->record, (uint32_t)thread->tid);
	lode_append_u64(self->record, now_ns);
	lode_append_u64(self->record, 0); /* CPU */
	lode_append_u64(self->record, (uint64_t)(weight_ns + 0.5));
	if (type & PERF_SAMPLE_REGS_USER)
		add_registers(self, registers);
	if (type & PERF_SAMPLE_STACK_USER && self->attr->sample_stack_user > 0)
		add_stack(self, thread->process->pid, registers->rsp);
	put(self);
}

#endif
