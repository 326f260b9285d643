/* SPDX-License-Identifier: MIT
 *
 * After miekg/rdup pull request #41, jarun/nnn pull request #988: names of users are kept.
 */
#include "forty.h"
#include <pwd.h>
#include <sys/types.h>
static APART const char *owner(uid_t uid)
{
	const struct passwd *p = getpwuid(uid);
	const char *found = p ? p->pw_name : "?";
	return found;
}
static APART uint64_t header(const char *name, int i)
{
	unsigned char block[512] = {0};
	memcpy(block + 265, name, strlen(name));
	for (int k = 0; k < 8; k++)
		block[100 + k] = (unsigned char)('0' + (i >> (3 * k) & 7));
	uint64_t sum = 0;
	for (int k = 0; k < 512; k++)
		sum = sum * 3 + block[k];
	return sum;
}
int main(void)
{
	static const uid_t users[] = {0, 1, 2, 8, 13};
	uint64_t sum = 0;
	for (int i = 0; i < 250000; i++)
		sum += header(owner(users[i % 5]), i);
	printf("%llu\n", (unsigned long long)sum);
	return 0;
}
