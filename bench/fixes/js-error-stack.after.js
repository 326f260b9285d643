// SPDX-License-Identifier: MIT
const scopes = [];
for (let i = 0; i < 40; i++)
	scopes.push(new Map([[`name${i}`, i]]));
function resolve(name) {
	for (const scope of scopes) {
		const value = scope.get(name);
		if (value !== undefined)
			return value;
	}
	return -1;
}
let sum = 0;
for (let i = 0; i < 14000; i++)
	sum += resolve(`name${i % 40}`);
console.log(sum);
