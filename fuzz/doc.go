// Package fuzz has Go's native fuzz targets: input that a fuzzer makes up, for all that reads what strangers write.
//
//	FuzzEvents     events, a byte each, through the reference coordinator and the specification side by side
//	FuzzFrames     what a client sends, through a server
//	FuzzLog        records, loaded by the reference coordinator
//	FuzzScenario   the text of a scenario, through the parser
//	FuzzHistory    a history of concurrent calls, through its judge
//	FuzzOwnership  a log of who owned what, through its judge
//
// make fuzz runs these and those of single packages. What the fuzzer starts from is in testdata/fuzz; it was made from the scenarios, by
//
//	go test ./fuzz -run '^TestCorpora$' -update
//
// A fault that is found lies there too, as the smallest input that shows it, and go test tries it for ever after.
package fuzz
