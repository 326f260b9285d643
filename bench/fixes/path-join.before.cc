/* SPDX-License-Identifier: MIT
 *
 * After trapexit/mergerfs pull request #1671: names are joined in one buffer.
 */
#include "forty.h"
#include <filesystem>
#include <string>
#include <vector>
static APART uint64_t visit(const std::string &folder, const std::string &name, std::string &)
{
	return (std::filesystem::path(folder) / name).native().size();
}
int main()
{
	std::vector<std::string> names;
	for (int i = 0; i < 100; i++)
		names.push_back("file_" + std::to_string(next_random() % 100000) + ".c");
	std::string buffer, folder = "/usr/src/project/modules/core";
	uint64_t sum = 0;
	for (int r = 0; r < 20000; r++)
		for (auto &name : names) {
			sum += visit(folder, name, buffer);
			sum += other_work(sum, 750);
		}
	printf("%lu\n", sum);
}
