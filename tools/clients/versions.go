package clients

import (
	"fmt"
	"slices"
	"strings"
)

// versions are those of each request that were seen, by its name, in order.
type versions map[string][]int16

func (v versions) add(api string, version int16) {
	at, found := slices.BinarySearch(v[api], version)
	if !found {
		v[api] = slices.Insert(v[api], at, version)
	}
}

// text is a cell of a table.
func (v versions) text(api string) string {
	words := []string{}
	for _, n := range v[api] {
		words = append(words, fmt.Sprint(n))
	}
	return strings.Join(words, ", ")
}
