local n, keys, total = {}, {}, 0
for i = 1, #arg do
	for line in io.lines(arg[i]) do
		for w in line:gmatch("[%a_]+") do
			w = w:lower()
			if not n[w] then keys[#keys + 1] = w end
			n[w] = (n[w] or 0) + 1
			total = total + #w
		end
	end
end
table.sort(keys, function(a, b) return n[a] > n[b] or n[a] == n[b] and a < b end)
for i = 1, 10 do print(keys[i], n[keys[i]]) end
print(total)
