// Command ruledoc writes docs/rules.md from the registry of rules, the variation points and the defects of model/classic.
//
//	go run ./internal/ruledoc [FILE]
package main

import (
	"flag"
	"fmt"
	"os"
)

func main() {
	file := "docs/rules.md"
	flag.Usage = func() {
		fmt.Fprintf(flag.CommandLine.Output(), "usage: go run ./internal/ruledoc [FILE]; writes %s, or FILE\n", file)
	}
	if flag.Parse(); flag.NArg() > 0 {
		file = flag.Arg(0)
	}
	if err := os.WriteFile(file, []byte(markdown()), 0o644); err != nil {
		fmt.Fprintf(os.Stderr, "ruledoc: %v; run it in the repository's root, or name the file to write\n", err)
		os.Exit(1)
	}
}
