package server

// PartitionOf is where a group is kept.
func PartitionOf(group string, partitions int) int32 { return partitionOf(group, partitions) }

// Sealed is a batch as it is sent.
var Sealed = sealed
