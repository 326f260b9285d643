// SPDX-License-Identifier: MIT
// After fastify/fastify-swagger pull request #852; Expensify/react-native-onyx pull request #165.
const groups = [];
for (let n = 1; n <= 40; n++)
	groups.push(new Function('keys', `
		const table = keys.reduce((all, key, i) => ({ ...all, [key]: i + ${n} }), {});
		return table[keys[${n}]];`));
const keys = [];
for (let i = 0; i < 100; i++)
	keys.push('key' + i);
let sum = 0;
for (let round = 0; round < 150; round++)
	for (const group of groups)
		sum = (sum + group(keys)) | 0;
console.log(sum);
