// SPDX-License-Identifier: MIT
// A tree, a map, sorting and JSON; usage: containers ROUNDS.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"sort"
	"strconv"
	"strings"
)

type item struct {
	Name  string   `json:"name"`
	Value int      `json:"value"`
	Tags  []string `json:"tags"`
}

type node struct {
	key         uint64
	values      []int
	left, right *node
}

func (n *node) insert(key uint64, value int) *node {
	if n == nil {
		return &node{key: key, values: []int{value}}
	}
	switch {
	case key < n.key:
		n.left = n.left.insert(key, value)
	case key > n.key:
		n.right = n.right.insert(key, value)
	default:
		n.values = append(n.values, value)
	}
	return n
}

func (n *node) sum() int {
	if n == nil {
		return 0
	}
	return n.left.sum() + len(n.values) + n.right.sum()
}

func main() {
	rounds := 10
	if len(os.Args) > 1 {
		rounds, _ = strconv.Atoi(os.Args[1])
	}
	seed := uint64(3)
	next := func() uint64 {
		seed ^= seed << 13
		seed ^= seed >> 7
		seed ^= seed << 17
		return seed
	}
	total := 0
	for round := 0; round < rounds; round++ {
		counts := map[string]int{}
		var tree *node
		var items []item
		for i := 0; i < 20000; i++ {
			r := next()
			name := "k" + strconv.FormatUint(r%3000, 10)
			counts[name]++
			tree = tree.insert(r%9000, i)
			if i%10 == 0 {
				items = append(items, item{name, int(r % 1000), []string{"a", name}})
			}
		}
		sort.Slice(items, func(i, j int) bool { return items[i].Value < items[j].Value })
		text, _ := json.Marshal(items)
		var again []item
		if json.Unmarshal(text, &again) != nil || len(again) != len(items) {
			os.Exit(1)
		}
		var names []string
		for name := range counts {
			names = append(names, name)
		}
		sort.Strings(names)
		total += tree.sum() + len(strings.Split(strings.Join(names, ","), ","))
	}
	fmt.Println(total)
}
