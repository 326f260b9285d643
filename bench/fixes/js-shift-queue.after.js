// SPDX-License-Identifier: MIT
// After microsoft/vscode pull request #236601; nodejs/node issue #42449.
const drains = [];
for (let n = 1; n <= 40; n++)
	drains.push(new Function('items', `
		const queue = items.slice();
		let sum = ${n};
		for (let i = 0; i < queue.length; i++)
			sum = (sum * 31 + queue[i]) | 0;
		return sum;`));
const items = [];
for (let i = 0; i < 60000; i++)
	items.push(i);
let sum = 0;
for (const drain of drains)
	sum = (sum + drain(items)) | 0;
console.log(sum);
