package server

// PartitionOf is where a group is kept.
func PartitionOf(group string, partitions int) int32 { return partitionOf(group, partitions) }

// Sealed is a batch as it is sent.
var Sealed = sealed

// Batch is records as Produce carries them, of a producer without an id that says how many they are; there is one.
func Batch(n int32) []byte { return batchOf(-1, n) }
