/* SPDX-License-Identifier: MIT
 *
 * After amazon-ion/ion-c issue #292; llvm/llvm-project pull request #102256.
 */
#include "forty.h"
struct message {
	char text[6000];
	uint32_t length;
};
#define SAY(n)                                                                                     \
	static APART uint32_t say_##n(uint32_t value)                                              \
	{                                                                                          \
		struct message m;                                                                  \
		memset(&m, 0, sizeof(m));                                                          \
		do {                                                                               \
			m.text[m.length++] = (char)('0' + value % 10);                             \
		} while (value /= 10);                                                             \
		__asm__ volatile("" : : "r"(&m) : "memory");                                       \
		return m.length * (n) + (uint8_t)m.text[0];                                        \
	}
FORTY(SAY)
int main(void)
{
	uint64_t sum = 0;
	for (uint32_t round = 0; round < 600000; round++) {
#define CALL(n) sum += say_##n(round * (n));
		FORTY(CALL)
	}
	printf("%llu\n", (unsigned long long)sum);
	return 0;
}
