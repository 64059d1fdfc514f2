package explore

import "slices"

// Asking makes machines that report some properties only.
func Asking(newMachine func() Machine, asked func(property string) bool) func() Machine {
	return func() Machine { return &selective{newMachine(), asked} }
}

type selective struct {
	Machine
	asked func(property string) bool
}

func (a *selective) Expand(k Key, x *Expansion) {
	a.Machine.Expand(k, x)
	x.Findings = slices.DeleteFunc(x.Findings, func(f Finding) bool { return !a.asked(f.Property) })
}
