-- What an interpreter does in ordinary scripts: words of a text, a sieve, closures, objects, strings.
local kind, path = arg[1], arg[2]
local scale = kind == "train" and 0.6 or 0.3

local counts, keys = {}, {}
for line in io.lines(path) do
	for word in line:gmatch("[%a_]+") do
		if not counts[word] then keys[#keys + 1] = word end
		counts[word] = (counts[word] or 0) + 1
	end
end
table.sort(keys, function(a, b) return counts[a] > counts[b] or counts[a] == counts[b] and a < b end)

local n, primes = math.floor(2000000 * scale), 0
local composite = {}
for i = 2, n do
	if not composite[i] then
		primes = primes + 1
		for j = i * i, n, i do composite[j] = true end
	end
end

local Point = {}
Point.__index = Point
function Point.new(x, y) return setmetatable({x = x, y = y}, Point) end
function Point:add(other) return Point.new(self.x + other.x, self.y + other.y) end
local sum = Point.new(0, 0)
for i = 1, math.floor(1500000 * scale) do sum = sum:add(Point.new(i % 7, i % 11)) end

local function fibonacci(i) return i < 2 and i or fibonacci(i - 1) + fibonacci(i - 2) end

local parts = {}
for i = 1, math.floor(300000 * scale) do parts[#parts + 1] = ("%d:%s"):format(i, keys[i % #keys + 1]:upper()) end

print(#keys, primes, sum.x, sum.y, fibonacci(kind == "train" and 28 or 26), #table.concat(parts))
