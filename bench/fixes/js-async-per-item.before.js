// SPDX-License-Identifier: MIT
// After postcss/postcss issue #1398.
const cache = new Map();
for (let i = 0; i < 1000; i++)
	cache.set(`key${i}`, { hits: 0, value: i });
async function lookup(key) {
	const entry = cache.get(key);
	entry.hits++;
	return entry.value;
}
async function handle(keys) {
	let sum = 0;
	for (const key of keys)
		sum += await lookup(key);
	return sum;
}
async function main() {
	const keys = [...cache.keys()];
	let sum = 0;
	for (let round = 0; round < 20000; round++)
		sum += await handle(keys);
	console.log(sum);
}
main();
