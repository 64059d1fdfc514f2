// Command ruledoc writes docs/rules.md from the registry of rules, the variation points and the defects of model/classic.
//
//	go run ./internal/ruledoc [FILE]
package main

import (
	"fmt"
	"os"
)

func main() {
	file := "docs/rules.md"
	if len(os.Args) > 1 {
		file = os.Args[1]
	}
	if err := os.WriteFile(file, []byte(markdown()), 0o644); err != nil {
		fmt.Fprintf(os.Stderr, "ruledoc: %v; run it in the repository's root, or name the file to write\n", err)
		os.Exit(1)
	}
}
