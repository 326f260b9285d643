/* SPDX-License-Identifier: MIT */
/* Memory that the C++ library's containers allocate is the caller's. */
#include <map>
#include <memory>
#include <string>
#include <vector>

#define APART __attribute__((noinline))

struct Point {
	double x, y;
};

APART static void fill(std::vector<Point> &points, int n)
{
	for (int i = 0; i < n; i++)
		points.push_back({1.0 * i, 2.0}); // site: fill
}

APART static void count(std::map<int, std::string> &names, int n)
{
	for (int i = 0; i < n; i++)
		names[i] = std::string(100, 'x'); // site: count
}

APART static std::unique_ptr<Point> make()
{
	return std::make_unique<Point>(); // site: make
}

APART static size_t sized(size_t n)
{
	std::vector<int> numbers(n); // site: sized
	return numbers.size() + (numbers[n / 2] != 0);
}

int main()
{
	std::vector<Point> points;
	std::map<int, std::string> names;
	fill(points, 1000);
	count(names, 100);
	auto point = make();
	size_t n = sized(5000) + sized(3000);
	return n == 8000 && points.size() == 1000 && point != nullptr ? 0 : 1;
}
