// Package clients puts real Kafka clients to work on the reference coordinator (muster serve) and on real Kafka, and compares what they
// observed. Each client is a small program in a folder of its own that all speak one protocol with the test (see member/member.go):
// commands on standard input, events as lines of JSON on standard output. So one Go test drives clients of every language through one
// and the same program (program.go), and a pass-through before the brokers (wire.go) notes which versions of which requests they send.
//
// The test alone uses the package; it is not a test file so that its parts stay small.
package clients
