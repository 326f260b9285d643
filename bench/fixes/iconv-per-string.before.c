/* SPDX-License-Identifier: MIT
 *
 * After neomutt/neomutt pull request #3816, Framstag/libosmscout pull request #975.
 */
#include "forty.h"
#include <iconv.h>
static iconv_t kept;
static APART size_t to_utf8(const char *from, size_t size, char *to, size_t room)
{
	iconv_t converter = iconv_open("UTF-8", "ISO-8859-1");
	char *in = (char *)from, *out = to;
	size_t left = room;
	iconv(converter, &in, &size, &out, &left);
	iconv_close(converter);
	return room - left;
}
int main(void)
{
	kept = iconv_open("UTF-8", "ISO-8859-1");
	char title[40], out[100];
	uint64_t sum = 0;
	for (int i = 0; i < 5000000; i++) {
		for (int k = 0; k < 40; k++)
			title[k] = (char)(k * 7 + i);
		size_t n = to_utf8(title, sizeof title, out, sizeof out);
		for (size_t k = 0; k < n; k++)
			sum = sum * 3 + (unsigned char)out[k];
	}
	printf("%llu\n", (unsigned long long)sum);
	return 0;
}
