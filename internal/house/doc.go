// Package house holds the rules of the source tree by tests alone: who may import whom, what the root module requires, how long a
// file may be. It exports nothing.
package house
