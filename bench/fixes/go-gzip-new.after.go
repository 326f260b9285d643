// SPDX-License-Identifier: MIT
package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"sync"
)

var writers = sync.Pool{New: func() interface{} { return gzip.NewWriter(nil) }}

var responses [][]byte

func compress(body []byte, out *bytes.Buffer) {
	w := writers.Get().(*gzip.Writer)
	w.Reset(out)
	w.Write(body)
	w.Close()
	writers.Put(w)
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
