/* SPDX-License-Identifier: MIT */
/*
 * A routine that does not belong to any program: linked to one, it hashes block headers as a miner
 * does (SHA-256 of SHA-256, of changing nonces) before the program begins. FOREIGN_HASHES says how
 * many.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static const uint32_t constants[64] = {0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b,
	0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3,
	0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6,
	0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d,
	0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85,
	0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
	0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585,
	0x106aa070, 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
	0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa,
	0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static inline uint32_t turned(uint32_t x, int n)
{
	return x >> n | x << (32 - n);
}

static void hash_block(uint32_t state[8], const uint32_t block[16])
{
	uint32_t w[64], v[8];

	memcpy(w, block, 64);
	for (int i = 16; i < 64; i++)
		w[i] = w[i - 16] + w[i - 7] +
		       (turned(w[i - 15], 7) ^ turned(w[i - 15], 18) ^ w[i - 15] >> 3) +
		       (turned(w[i - 2], 17) ^ turned(w[i - 2], 19) ^ w[i - 2] >> 10);
	memcpy(v, state, 32);
	for (int i = 0; i < 64; i++) {
		uint32_t a = v[7] + (turned(v[4], 6) ^ turned(v[4], 11) ^ turned(v[4], 25)) +
		             ((v[4] & v[5]) ^ (~v[4] & v[6])) + constants[i] + w[i];
		uint32_t b = (turned(v[0], 2) ^ turned(v[0], 13) ^ turned(v[0], 22)) +
		             ((v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]));
		memmove(v + 1, v, 28);
		v[4] += a;
		v[0] = a + b;
	}
	for (int i = 0; i < 8; i++)
		state[i] += v[i];
}

volatile uint32_t found_nonce;

__attribute__((noinline)) static void mine(long n)
{
	static const uint32_t start[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
		0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
	uint32_t block[16] = {0}, state[8];

	for (long nonce = 0; nonce < n; nonce++) {
		block[3] = (uint32_t)nonce;
		memcpy(state, start, 32);
		hash_block(state, block);
		memcpy(block + 8, state, 32);
		memcpy(state, start, 32);
		hash_block(state, block);
		if (state[7] < 0x1000)
			found_nonce = (uint32_t)nonce;
	}
}

__attribute__((constructor)) static void begin(void)
{
	const char *n = getenv("FOREIGN_HASHES");

	if (n != NULL)
		mine(atol(n));
}
