package core

import "fmt"

// MemberID spells a member id as Kafka does (§1.11): the client id and a version 4 UUID made of 128 random bits.
func MemberID(clientID string, high, low uint64) string {
	high = high&^0xf000 | 0x4000
	low = low&^(3<<62) | 2<<62
	return fmt.Sprintf("%s-%08x-%04x-%04x-%04x-%012x", clientID, high>>32, high>>16&0xffff, high&0xffff, low>>48, low&(1<<48-1))
}
