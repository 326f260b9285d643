// SPDX-License-Identifier: MIT
// After nodejs/performance issue #40.
class NotFound extends Error {}
const scopes = [];
for (let i = 0; i < 40; i++)
	scopes.push(new Map([[`name${i}`, i]]));
function resolveIn(scope, name) {
	const value = scope.get(name);
	if (value === undefined)
		throw new NotFound(name);
	return value;
}
function resolve(name) {
	for (const scope of scopes) {
		try {
			return resolveIn(scope, name);
		} catch (e) {
			if (!(e instanceof NotFound))
				throw e;
		}
	}
	return -1;
}
let sum = 0;
for (let i = 0; i < 14000; i++)
	sum += resolve(`name${i % 40}`);
console.log(sum);
