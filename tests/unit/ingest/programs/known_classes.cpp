/* SPDX-License-Identifier: MIT */
/* Walks objects of C++ classes for a while, each in a function of its own.
 *
 *   known_classes [MILLISECONDS of each walk]
 */
#include <cstdlib>
#include <ctime>
#include <vector>

namespace geo
{
struct point {
	long x, y;
};

struct shape {
	virtual ~shape() {}
	int id = 1;
};

struct circle : shape {
	long radius = 1;
	static long total;
};

long circle::total;
}

static double seconds = 0.1;

static double now()
{
	return (double)std::clock() / CLOCKS_PER_SEC;
}

#define APART extern "C" __attribute__((noinline)) void
#define WHILE_TIME for (double end = now() + seconds; now() < end;)
#define KEEP(value) __asm__ volatile("" : : "r"(value) : "memory")

enum { MANY = 1 << 12 };

APART walk_vector(std::vector<geo::point> &points)
{
	WHILE_TIME
		for (geo::point &point : points)
			point.x++;
}

APART walk_inherited(geo::circle *circles)
{
	WHILE_TIME
		for (int i = 0; i < MANY; i++)
			circles[i].radius++;
}

APART walk_static()
{
	WHILE_TIME
		for (int i = 0; i < MANY; i++) {
			geo::circle::total++;
			KEEP(&geo::circle::total);
		}
}

int main(int argc, char **argv)
{
	if (argc > 1)
		seconds = atof(argv[1]) / 1000;
	std::vector<geo::point> points(MANY); /* the site of the vector */
	geo::circle *circles = new geo::circle[MANY];
	walk_vector(points);
	walk_inherited(circles);
	walk_static();
	delete[] circles;
	return 0;
}
