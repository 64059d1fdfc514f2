package target

import "context"

// Fault is what now and then happens to a coordinator, and can be made to happen to one that the harness has for itself.
type Fault string

const (
	// RefuseWrites makes the log refuse every record (as too large), until AcceptWrites.
	RefuseWrites Fault = "refuses-writes"
	AcceptWrites Fault = "accepts-writes"

	// Resign takes all groups from the coordinator, with what was written of them: their partition is deleted. It stays a broker that is the
	// coordinator of nothing until Serve.
	Resign Fault = "resigns"

	// Load takes all groups from the coordinator and makes it begin to read what was written of them, which lasts until Serve.
	Load Fault = "loads"

	// Serve makes it the coordinator again, of whatever the log has.
	Serve Fault = "serves"

	// DeleteTopic deletes the topic "u" and creates it anew.
	DeleteTopic Fault = "deletes-u"
)

// Faults are all that there are.
func Faults() []Fault {
	return []Fault{RefuseWrites, AcceptWrites, Resign, Load, Serve, DeleteTopic}
}

// Undo is the fault that ends this one; empty where there is nothing to end.
func (f Fault) Undo() Fault {
	switch f {
	case RefuseWrites:
		return AcceptWrites
	case Resign, Load:
		return Serve
	}
	return ""
}

// Inject makes a fault happen, and returns when it has happened.
type Inject func(context.Context, Fault) error
