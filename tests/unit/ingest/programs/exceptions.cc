/* SPDX-License-Identifier: MIT */
/* Virtual calls, templates, and exceptions that land in the caller. */
#include <algorithm>
#include <iostream>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

struct Plain {
	virtual int next(int x) { return x + 1; }
	virtual ~Plain() {}
};

struct Picky : Plain {
	int next(int x) override
	{
		if (x % 5 == 0)
			throw std::runtime_error("five");
		return x * 2;
	}
};

int main()
{
	std::map<std::string, int> counts;
	std::vector<int> values;
	Plain plain;
	Picky picky;
	Plain *objects[] = {&plain, &picky};
	int sum = 0, caught = 0;

	for (int i = 0; i < 300; i++)
		counts[std::to_string(i * 7919 % 1000)] += i;
	for (int i = 0; i < 100; i++) {
		try {
			sum += objects[i % 2]->next(i);
		} catch (std::exception &) {
			caught++;
		}
	}
	for (auto &entry : counts)
		values.push_back(entry.second);
	std::sort(values.begin(), values.end());
	std::cout << sum << caught << values[3] << "\n";
}
