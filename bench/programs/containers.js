// SPDX-License-Identifier: MIT
// A map, JSON, sorting and text; usage: node containers.js ROUNDS.
"use strict";
let seed = 3;
function next() {
  seed ^= seed << 13;
  seed ^= seed >>> 17;
  seed ^= seed << 5;
  return seed >>> 0;
}
let total = 0;
for (let round = 0; round < Number(process.argv[2] ?? 10); round++) {
  const counts = new Map();
  const items = [];
  for (let i = 0; i < 20000; i++) {
    const r = next();
    const name = `k${r % 3000}`;
    counts.set(name, (counts.get(name) ?? 0) + 1);
    if (i % 4 === 0) items.push({ name, value: r % 1000, tags: ["a", name], at: { x: r % 7, y: r % 11 } });
  }
  items.sort((a, b) => a.value - b.value || (a.name < b.name ? -1 : 1));
  for (const item of JSON.parse(JSON.stringify(items))) total += item.value + item.tags.length;
  const words = [...counts.keys()].join(" ").split(" ").filter((word) => /7$|12/.test(word));
  total += words.length;
}
console.log(total);
