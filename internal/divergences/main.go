// Command divergences writes docs/divergences.md from the registers of the fakes.
//
//	go run ./internal/divergences [FILE]
package main

import (
	"flag"
	"fmt"
	"os"
)

func main() {
	file := "docs/divergences.md"
	flag.Usage = func() {
		fmt.Fprintf(flag.CommandLine.Output(), "usage: go run ./internal/divergences [FILE]; writes %s, or FILE\n", file)
	}
	if flag.Parse(); flag.NArg() > 0 {
		file = flag.Arg(0)
	}
	text, err := markdown()
	if err == nil {
		err = os.WriteFile(file, []byte(text), 0o644)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "divergences: %v; run it in the repository's root, or name the file to write\n", err)
		os.Exit(1)
	}
}
