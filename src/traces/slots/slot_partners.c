/* SPDX-License-Identifier: MIT */
#include "traces/slots/slot_partners.h"

enum {
	N_BACK = 16, /* accesses that one is compared with, a power of two */
	/* Which accesses of a slot are compared: the first ones, and some of every so many. */
	SAMPLE_FIRST = 24,
	SAMPLE_EVERY = 128,
	SAMPLE_AGAIN = 4,
};

LodeSlotPartners *lode_slot_partners_new(uint32_t n_slots)
{
	LodeSlotPartners *self = g_new0(LodeSlotPartners, n_slots + 1U);

	for (uint32_t i = 0; i < n_slots; i++) {
		for (unsigned p = 0; p < LODE_N_SLOT_PARTNERS; p++)
			self[i].of[p].slot = UINT32_MAX;
	}
	return self;
}

/* The accesses before this one that are not global. */
typedef struct {
	uint64_t addresses[N_BACK];
	uint32_t slots[N_BACK];
	unsigned n;
} Recent;

static void remember(Recent *recent, uint32_t slot, uint64_t address)
{
	unsigned at = recent->n++ % N_BACK;

	recent->slots[at] = slot;
	recent->addresses[at] = address;
}

static LodeSlotPartner *find_partner(LodeSlotPartners *partners, uint32_t slot)
{
	LodeSlotPartner *free_place = NULL;

	for (unsigned i = 0; i < LODE_N_SLOT_PARTNERS; i++) {
		LodeSlotPartner *partner = &partners->of[i];

		if (partner->slot == slot)
			return partner;
		if (free_place == NULL && (partner->slot == UINT32_MAX ||
						  (partner->n_seen > 3 && partner->n_hits == 0)))
			free_place = partner;
	}
	if (free_place != NULL)
		*free_place = (LodeSlotPartner){0, slot, 0, 0};
	return free_place;
}

/* Compares an access with those before it: which of them are as far away as they were the last
 * time. */
static void compare(
	LodeSlotPartners *partners, uint32_t slot, uint64_t address, const Recent *recent)
{
	for (unsigned i = 1; i <= MIN(recent->n, N_BACK); i++) {
		unsigned at = (recent->n - i) % N_BACK;
		uint64_t distance = address - recent->addresses[at];
		LodeSlotPartner *partner;

		if (recent->slots[at] == slot)
			return;
		partner = find_partner(partners, recent->slots[at]);
		if (partner == NULL)
			continue;
		partner->n_hits = (uint16_t)(partner->n_hits +
					     (partner->n_seen > 0 &&
						     partner->distance == distance));
		partner->n_seen++;
		partner->distance = distance;
	}
}

void lode_slot_partners_find(LodeSlotPartners *self, const LodeTraceFrame *frame,
	const LodeFrameLayout *layout, const LodeFrameSample *sample, uint32_t *n_accesses)
{
	Recent recent = {.n = 0};

	for (guint k = 0; k < sample->stretches->len; k++) {
		const LodeFrameStretch *stretch = &g_array_index(
			sample->stretches, LodeFrameStretch, k);
		const uint64_t *address = frame->addresses + stretch->address;

		for (uint32_t i = stretch->first; i < stretch->end; i++) {
			const LodeFrameBlock *block = &layout->blocks[frame->blocks[i]];
			bool is_sampled = lode_frame_sample_has(sample, i);
			uint32_t slot = block->first_slot;

			for (unsigned s = 0; s < block->n_slots; s++, slot++, address++) {
				uint32_t n = n_accesses[slot];

				if (n == LODE_SLOT_EXCLUDED)
					continue;
				n_accesses[slot] += is_sampled;
				if (is_sampled &&
					(n < SAMPLE_FIRST || n % SAMPLE_EVERY < SAMPLE_AGAIN))
					compare(&self[slot], slot, *address, &recent);
				remember(&recent, slot, *address);
			}
		}
	}
}
