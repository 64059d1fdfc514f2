package server

import "testing"

// The partition of a group is that of Kafka: Java's String.hashCode, its absolute value, modulo the number of partitions.
func TestPartitionOf(t *testing.T) {
	for group, want := range map[string]int32{
		"":                   0,
		"g":                  103 % 50,
		"hello":              99162322 % 50,
		"Hello, world!":      1880044555 % 50, // of -1880044555
		"polygenelubricants": 0,               // of -2147483648, which has no opposite
		"é":                  233 % 50,
		"😀":                  (0xd83d*31 + 0xde00) % 50, // two units of UTF-16
	} {
		if got := partitionOf(group, 50); got != want {
			t.Errorf("%q: partition %d, want %d", group, got, want)
		}
	}
}
