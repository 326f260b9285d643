/* SPDX-License-Identifier: MIT
 *
 * After mapnik/mapnik issue #1677, tfussell/xlnt issue #203.
 */
#include "forty.h"
#include <locale>
#include <string>
#include <vector>
static APART bool same_name(const std::string &a, const std::string &b)
{
	if (a.size() != b.size())
		return false;
	for (std::size_t i = 0; i < a.size(); i++) {
		if (std::tolower(a[i], std::locale()) != std::tolower(b[i], std::locale()))
			return false;
	}
	return true;
}
static APART int find(const std::vector<std::string> &names, const std::string &name)
{
	for (std::size_t i = 0; i < names.size(); i++)
		if (same_name(names[i], name))
			return (int)i;
	return -1;
}
int main()
{
	std::vector<std::string> names;
	for (int i = 0; i < 60; i++)
		names.push_back("Column_" + std::to_string(next_random() % 90 + 10));
	int sum = 0;
	for (int i = 0; i < 250000; i++)
		sum += find(names, names[next_random() % 60]);
	printf("%d\n", sum);
}
