package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/KimMachineGun/automemlimit/memlimit"
)

// bytesValue is a flag for a size in memory: 800MiB, 12GiB.
type bytesValue uint64

var byteUnits = []struct {
	suffix string
	shift  int
}{{"KiB", 10}, {"MiB", 20}, {"GiB", 30}, {"TiB", 40}}

func (v *bytesValue) Set(text string) error {
	for _, unit := range byteUnits {
		number, ok := strings.CutSuffix(text, unit.suffix)
		if !ok {
			continue
		}
		n, err := strconv.ParseFloat(number, 64)
		if err == nil && n > 0 && n < 1<<20 {
			*v = bytesValue(n * float64(int64(1)<<unit.shift))
			return nil
		}
	}
	return errors.New("want a size such as 800MiB or 12GiB")
}

func (v *bytesValue) String() string {
	if *v == 0 {
		return ""
	}
	return fmt.Sprintf("%dMiB", *v>>20)
}

func (v *bytesValue) Type() string { return "size" }

// share of the machine's memory that a run takes at most, if not told otherwise: others are at work there too.
const share = 2

// defaultMemory is what a run may take, by what the machine has and what the process may take of it.
func defaultMemory() (uint64, error) {
	system, err := memlimit.FromSystem()
	if cgroup, cgroupErr := memlimit.FromCgroup(); cgroupErr == nil && (err != nil || cgroup < system) {
		system, err = cgroup, nil
	}
	if err != nil {
		return 0, fmt.Errorf("this machine does not say how much memory it has (%w): say it with --max-memory", err)
	}
	return system / share, nil
}
