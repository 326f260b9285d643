// SPDX-License-Identifier: MIT
const money = new Intl.NumberFormat('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 2 });
function row(item) {
	return `${item.name}: ${money.format(item.price)}`;
}
const items = [];
for (let i = 0; i < 1000; i++)
	items.push({ name: `item${i}`, price: i * 12.345 });
let sum = 0;
for (let round = 0; round < 60; round++)
	for (const item of items)
		sum += row(item).length;
console.log(sum);
