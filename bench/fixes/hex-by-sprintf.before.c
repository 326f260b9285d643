/* SPDX-License-Identifier: MIT
 *
 * After esphome/esphome pull request #10710, ring-lang/ring pull request #916.
 */
#include "forty.h"
static APART void to_hex(char *to, const uint8_t *digest)
{
	for (int i = 0; i < 20; i++) {
		sprintf(to + 2 * i, "%02x", digest[i]);
	}
}
static APART void mix(uint8_t *digest, const uint32_t *block)
{
	uint32_t h[5];
	memcpy(h, digest, 20);
	for (int r = 0; r < 320; r++) {
		uint32_t t = (h[0] << 5 | h[0] >> 27) + (h[1] ^ h[2] ^ h[3]) + h[4] + block[r & 15];
		h[4] = h[3], h[3] = h[2], h[2] = h[1] << 30 | h[1] >> 2, h[1] = h[0], h[0] = t;
	}
	memcpy(digest, h, 20);
}
int main(void)
{
	uint8_t digest[20] = "0123456789012345678";
	uint32_t block[16];
	char hex[41];
	uint64_t sum = 0;
	for (int i = 0; i < 16; i++)
		block[i] = (uint32_t)next_random();
	for (int i = 0; i < 1500000; i++) {
		mix(digest, block);
		to_hex(hex, digest);
		sum = sum * 3 + (unsigned char)hex[i % 40];
	}
	printf("%llu\n", (unsigned long long)sum);
	return 0;
}
