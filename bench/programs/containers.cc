/* SPDX-License-Identifier: MIT */
/* Words, tables, virtual calls and a sort: usage: containers ROUNDS. */
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>
struct Shape {
	virtual ~Shape() = default;
	virtual double area(int i) const = 0;
};
struct Box : Shape {
	double a, b;
	Box(double x, double y) : a(x), b(y)
	{
	}
	double area(int i) const override
	{
		return a * b + i % 3;
	}
};
struct Disc : Shape {
	double r;
	explicit Disc(double x) : r(x)
	{
	}
	double area(int i) const override
	{
		return r > 5 ? 3 * r * r : i & 1 ? r : 0.5;
	}
};
int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 20;
	unsigned long seed = 7, sum = 0;
	auto next = [&] {
		return (seed = seed * 6364136223846793005UL + 1442695040888963407UL) >> 33;
	};
	for (int round = 0; round < n; round++) {
		std::map<std::string, int> words;
		std::unordered_map<unsigned long, unsigned> seen;
		std::vector<std::unique_ptr<Shape>> shapes;
		std::vector<std::pair<unsigned, std::string>> rows;
		for (int i = 0; i < 20000; i++) {
			std::string word = "w" + std::to_string(next() % 4000);
			words[word]++;
			seen[next() % 30000] += i;
			if (next() % 3 == 0)
				shapes.push_back(std::make_unique<Box>(i % 7, i % 11));
			else
				shapes.push_back(std::make_unique<Disc>(next() % 10));
			rows.emplace_back(next() % 1000, std::move(word));
		}
		std::sort(rows.begin(), rows.end());
		for (auto &w : words)
			if (w.second > 5)
				sum += w.first.size() * w.second;
		for (auto &s : seen)
			if (s.first % 5 != 0)
				sum += s.second;
			else
				sum ^= s.first;
		double area = 0;
		for (size_t i = 0; i < shapes.size(); i++)
			area += shapes[i]->area((int)i);
		sum += (unsigned long)area + rows[rows.size() / 2].first;
	}
	printf("%lu\n", sum);
}
