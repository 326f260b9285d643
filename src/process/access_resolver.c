/* SPDX-License-Identifier: MIT */
#include "process/access_resolver.h"

#include "base/files/own_library.h"
#include "model/index.h"

#include <linux/perf_event.h>
#include <string.h>
#include <sys/mman.h>

enum {
	RED_ZONE = 128,        /* below the stack pointer, by the System V ABI */
	STACK_LIMIT = 8 << 20, /* of a stack without a known mapping */
	PAGE_SIZE = 4096,
};

/* The sample at hand. */
typedef struct {
	const LodeAccessResolver *resolver;
	const LodeSampledCode *sampled;
	LodeCodeImage *image; /* NULL */
	LodeResolvedAccess *out;
} Question;

static bool find_mapping(const Question *self, uint64_t address, LodeMappedRange *out_range)
{
	const LodeAccessResolver *resolver = self->resolver;
	uint32_t pid = self->sampled->record->pid;
	const LodeMappedRange *found = lode_places_find_mapping(
		resolver->places, pid, self->sampled->time_ns, address);

	if (found != NULL)
		*out_range = *found;
	return found != NULL;
}

/*
 * The kernel does not announce the stack that an exec makes, only its growth: where the stack
 * pointer is in no mapping, the memory above it up to the next mapping must be that stack.
 */
static bool find_in_lost_stack(const Question *self, uint64_t address, LodeMappedRange *out_range)
{
	const LodeUserRegisters *registers = &self->out->registers;
	uint64_t pointer = registers->values[LODE_REGISTER_RSP], low = pointer - RED_ZONE;
	LodeMappedRange there;

	if ((registers->known >> LODE_REGISTER_RSP & 1) == 0 || address < low ||
		address - low > STACK_LIMIT || find_mapping(self, pointer, &there))
		return false;
	*out_range = (LodeMappedRange){
		.start = low & ~(uint64_t)(PAGE_SIZE - 1),
		.end = (address | (PAGE_SIZE - 1)) + 1,
		.file = LODE_NONE,
		.protection = PROT_READ | PROT_WRITE,
		.name = "[stack]",
	};
	return true;
}

static bool find_place(const Question *self, uint64_t address, LodeMappedRange *out_range)
{
	return find_mapping(self, address, out_range) ||
	       find_in_lost_stack(self, address, out_range);
}

static bool has_permission(const LodeMappedRange *range, uint8_t access)
{
	return ((access & LODE_ACCESS_LOAD) == 0 || (range->protection & PROT_READ) != 0) &&
	       ((access & LODE_ACCESS_STORE) == 0 || (range->protection & PROT_WRITE) != 0);
}

static bool is_valid(void *data, uint64_t address, uint32_t size, uint8_t access)
{
	const Question *self = data;
	uint64_t last = address + (size > 0 ? size - 1 : 0);
	LodeMappedRange range;

	if (last < address || !find_place(self, address, &range) || !has_permission(&range, access))
		return false;
	/* The rest of it may lie in the next one. */
	return last < range.end ||
	       (find_place(self, last, &range) && has_permission(&range, access));
}

static const uint8_t *code_bytes(void *data, uint64_t address, size_t *out_n)
{
	const Question *self = data;

	return lode_code_image_bytes(self->image, address, out_n);
}

static bool is_trigger_before(const LodePerfEvent *event)
{
	bool is_counter = event->type != PERF_TYPE_SOFTWARE && event->type != PERF_TYPE_TRACEPOINT;

	return is_counter && event->precise < 2;
}

/* Events of the kernel happen at the sampled instruction; so do events that the processor reports
 * precisely, or with an address. */
static bool is_exact(const LodeSampledCode *sampled)
{
	const LodePerfEvent *event = sampled->event;

	return sampled->record->sample.address != 0 || event->precise >= 2 ||
	       ((event->type == PERF_TYPE_SOFTWARE || event->type == PERF_TYPE_TRACEPOINT) &&
		       !lode_perf_event_is_time(event->type, event->config));
}

/* A sample's registers have no %fs base; the allocation log may have it. */
static void add_thread_pointer(const Question *self, LodeUserRegisters *registers)
{
	const LodeSampledCode *sampled = self->sampled;
	LodeAllocations *logs = self->resolver->allocations;

	if (logs == NULL)
		return;
	const LodePlaces *places = self->resolver->places;
	LodeAddressSpaceBirth birth = lode_places_find_birth(
		places, lode_places_selected(places), sampled->record->pid, sampled->time_ns);
	uint32_t log = lode_allocations_find(
		logs, sampled->record->pid, birth.time_ns, sampled->time_ns);
	registers->has_fs_base = log != LODE_NONE && lode_allocations_find_thread_pointer(logs, log,
							     sampled->record->tid, sampled->time_ns,
							     &registers->fs_base);
}

/* The reason for a sample that lies in no image. */
static LodeAddressReason reason_outside(const Question *self)
{
	const LodePerfRecord *record = self->sampled->record;
	bool is_user = record->mode == LODE_PERF_MODE_USER ||
	               record->mode == LODE_PERF_MODE_UNKNOWN;
	LodeMappedRange range;

	return is_user && find_mapping(self, record->sample.ip, &range) ? LODE_REASON_NO_DECODE
	                                                                : LODE_REASON_NOT_USER_CODE;
}

static bool find_targets(const Question *self, const LodeBranchTargets **out_targets)
{
	if (self->resolver->patience_us >= 0)
		return lode_code_image_try_targets(
			self->image, self->resolver->patience_us, out_targets);
	*out_targets = lode_code_image_targets(self->image);
	return true;
}

/* The last taken branch of a branch stack leads to the sampled instruction, or the one above it was
 * the last to run. */
static void choose_by_branches(Question *self, LodeDataAccess *access)
{
	const LodeSampledCode *sampled = self->sampled;
	const LodePerfSample *sample = &sampled->record->sample;
	LodeResolvedAccess *out = self->out;
	uint64_t bias = sample->ip - sampled->place.address;

	if (sample->n_branches == 0)
		return;
	bool is_jumped_to = sample->branches[0].target == sample->ip;
	for (unsigned i = 0; i < out->n_ways; i++) {
		bool is_jump = out->ways[i].source + bias == sample->branches[0].source;
		if (is_jumped_to ? !is_jump : i > 0)
			continue;
		*access = out->ways[i].access;
		out->n_ways = 0;
		return;
	}
}

static LodeDataAccess apply_rules(Question *self)
{
	const LodeSampledCode *sampled = self->sampled;
	const LodePerfSample *sample = &sampled->record->sample;
	const LodeDataAccessContext context = {code_bytes, is_valid, self};
	LodeUserRegisters *registers = &self->out->registers;
	LodeDataAccess access = {.reason = LODE_REASON_NO_REGISTERS};
	const LodeBranchTargets *targets = NULL;

	if (sample->user_registers == NULL ||
		!lode_user_registers_from_perf(registers, sampled->event->user_registers,
			sample->user_abi, sample->user_registers))
		return access;
	add_thread_pointer(self, registers);
	if (self->image == NULL) {
		access.reason = reason_outside(self);
		return access;
	}
	if (!find_targets(self, &targets)) {
		access.reason = LODE_REASON_NOT_YET_READ;
		return access;
	}
	self->out->question = (LodeDataAccessQuestion){
		.pc = sampled->place.address,
		.bias = sample->ip - sampled->place.address,
		.registers = registers,
		.stack = sample->stack,
		.stack_size = sample->stack_size,
		.flow = lode_code_image_flow(self->image, sampled->place.address),
		.targets = targets,
		.is_trigger_before = is_trigger_before(sampled->event),
		.is_exact = is_exact(sampled),
		.is_go = lode_binary_image_is_go(self->image->binary),
		.wants_next = self->resolver->wants_next,
	};
	lode_data_access_find(&context, &self->out->question, &access);
	if (access.reason == LODE_REASON_AMBIGUOUS) {
		self->out->n_ways = lode_data_access_ways(
			&context, &self->out->question, self->out->ways);
		choose_by_branches(self, &access);
	}
	return access;
}

/* An address from the processor or the kernel beats all rules, which may still know the operand. */
static void prefer_hardware(const LodeSampledCode *sampled, LodeDataAccess *access)
{
	const LodePerfSample *sample = &sampled->record->sample;
	uint64_t operation = sample->data_source >> PERF_MEM_OP_SHIFT;
	LodeDataOperand operand = {.address = sample->address};

	for (size_t i = 0; i < access->n_operands; i++) {
		bool is_same_page = access->rule == LODE_RULE_AT_PC &&
		                    access->operands[i].address / PAGE_SIZE ==
		                            sample->address / PAGE_SIZE;
		if (is_same_page) {
			operand.size = access->operands[i].size;
			operand.access = access->operands[i].access;
			operand.operand = access->operands[i].operand;
		}
	}
	if ((operation & PERF_MEM_OP_LOAD) != 0)
		operand.access |= LODE_ACCESS_LOAD;
	if ((operation & PERF_MEM_OP_STORE) != 0)
		operand.access |= LODE_ACCESS_STORE;
	*access = (LodeDataAccess){.rule = LODE_RULE_HARDWARE,
		.pc = sampled->place.address,
		.operands = {operand},
		.n_operands = 1};
}

static void find_places(
	const Question *self, const LodeDataAccess *access, LodeMappedRange *out_places)
{
	for (size_t i = 0; i < access->n_operands; i++)
		find_place(self, access->operands[i].address, &out_places[i]);
}

/* Whether it is of a library that lode preloads, or of the dynamic linker's work on it: not of the
 * program. */
static bool is_of_recorder(const Question *self)
{
	const char *name = self->out->access.n_operands > 0 ? self->out->places[0].name : NULL;

	return (self->image != NULL && lode_is_own_library(self->image->path)) ||
	       (name != NULL && lode_is_own_library(name));
}

void lode_access_resolver_locate(const LodeAccessResolver *self, const LodeSampledCode *sampled,
	LodeResolvedAccess *inout_access)
{
	Question question = {.resolver = self, .sampled = sampled, .out = inout_access};

	inout_access->question = (LodeDataAccessQuestion){
		.pc = sampled->place.address,
		.bias = sampled->record->sample.ip - sampled->place.address,
		.registers = &inout_access->registers,
	};
	if (sampled->place.image != LODE_NONE) {
		question.image = lode_code_images_at(
			lode_places_images(self->places), sampled->place.image);
		inout_access->question.flow = lode_code_image_flow(
			question.image, sampled->place.address);
	}
	find_places(&question, &inout_access->access, inout_access->places);
	if (is_of_recorder(&question))
		inout_access->access = (LodeDataAccess){.reason = LODE_REASON_RECORDER};
}

LodeAccessedFrame lode_resolved_access_frame(
	const LodeResolvedAccess *self, LodeCodeImage *image, uint64_t access_pc, uint64_t address)
{
	const LodeDataAccessQuestion *question = &self->question;
	LodeDataTypes *types = image != NULL && question->registers != NULL
	                               ? lode_code_image_types(image)
	                               : NULL;
	LodeAccessedFrame found = {.has_frame = false};

	if (self->registers.has_fs_base)
		found.from_thread_pointer = (int64_t)(address - self->registers.fs_base);
	found.has_frame = types != NULL &&
	                  lode_data_types_find_frame(types, question, address, &found.frame);
	/* the scopes that the access was in */
	if (found.has_frame && !found.frame.is_caller &&
		lode_code_image_function(image, access_pc) ==
			lode_code_image_function(image, question->pc))
		found.frame.pc = access_pc;
	return found;
}

void lode_access_resolver_find(const LodeAccessResolver *self, const LodeSampledCode *sampled,
	LodeResolvedAccess *out_access)
{
	LodeDataAccess *access = &out_access->access;
	Question question = {.resolver = self,
		.sampled = sampled,
		.image = sampled->place.image != LODE_NONE
	                         ? lode_code_images_at(
					   lode_places_images(self->places), sampled->place.image)
	                         : NULL,
		.out = out_access};

	memset(out_access, 0, sizeof(*out_access));
	*access = apply_rules(&question);
	if (sampled->record->sample.address != 0)
		prefer_hardware(sampled, access);
	find_places(&question, access, out_access->places);
	for (unsigned i = 0; i < out_access->n_ways; i++)
		find_places(&question, &out_access->ways[i].access, out_access->way_places[i]);
	if (is_of_recorder(&question))
		*access = (LodeDataAccess){.reason = LODE_REASON_RECORDER};
	if (access->reason != LODE_REASON_AMBIGUOUS)
		out_access->n_ways = 0;
}
