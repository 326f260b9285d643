// SPDX-License-Identifier: MIT
// After gin-contrib/gzip pull request #2.
package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
)

var responses [][]byte

func compress(body []byte, out *bytes.Buffer) {
	w := gzip.NewWriter(out)
	w.Write(body)
	w.Close()
}

func main() {
	for i := 0; i < 100; i++ {
		responses = append(responses, []byte(fmt.Sprintf(`{"id":%d,"name":"item %d","tags":["a","b","c"],"price":%d.99,"stock":%d}`, i, i, i*3, i*7)))
	}
	total := 0
	var out bytes.Buffer
	for round := 0; round < 40; round++ {
		for _, r := range responses {
			out.Reset()
			compress(r, &out)
			total += out.Len()
		}
	}
	fmt.Println(total)
}
