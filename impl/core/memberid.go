package core

import (
	"encoding/binary"
	"encoding/hex"
)

// MemberID spells a member id as Kafka does (§1.11): the client id and a version 4 UUID made of 128 random bits.
func MemberID(clientID string, high, low uint64) string {
	high = high&^0xf000 | 0x4000
	low = low&^(3<<62) | 2<<62
	uuid := binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, high), low)
	id := append(make([]byte, 0, len(clientID)+memberIDRoom), clientID...)
	for i, b := range uuid {
		switch i {
		case 0, 4, 6, 8, 10:
			id = append(id, '-')
		}
		id = hex.AppendEncode(id, []byte{b})
	}
	return string(id)
}
