package observe

import (
	"encoding/binary"
	"errors"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/checker"
	"github.com/muster-kafka/muster/model/classic"
)

// World is what all branches of a run share: the configuration and the symbols of protocol lists, names and types. Symbols are never
// taken back, so that they mean the same in every branch. A World may be used by several goroutines.
type World struct {
	config Config
	models *sync.Pool // of *stepper

	transient bool

	mu     sync.Mutex
	lists  map[string]uint8
	names  map[string]uint8
	types  map[string]uint8
	topics map[string]uint8
	known  map[string]bool // member ids that are known to be no ghost's

	symbols atomic.Pointer[symbols]
}

// symbols is a snapshot: tables only grow, so a snapshot stays right for the states that were made with it.
type symbols struct {
	lists   [][]kmsg.JoinGroupRequestProtocol
	names   []string
	types   []string
	topics  []string
	lexicon classic.Lexicon
}

var errFull = errors.New("more symbols than there are")

// consumerType is the protocol type whose subscriptions the coordinator reads.
const consumerType = "consumer"

// NewWorld returns the world of one run.
func NewWorld(c Config) *World { return newWorld(c.withDefaults(), &sync.Pool{}) }

// Again is a new world with the same configuration, which is cheaper than one of its own.
func (w *World) Again() *World { return newWorld(w.config, w.models) }

// Transient makes outcomes good only while they are yielded, but for their branches: what else is in them is used again. It returns the world.
func (w *World) Transient() *World {
	w.transient = true
	return w
}

func newWorld(c Config, models *sync.Pool) *World {
	w := &World{
		config: c,
		models: models,
		lists:  map[string]uint8{},
		names:  map[string]uint8{},
		types:  map[string]uint8{consumerType: 1},
		topics: map[string]uint8{},
		known:  map[string]bool{},
	}
	w.symbols.Store(&symbols{
		lists:   make([][]kmsg.JoinGroupRequestProtocol, 1),
		names:   make([]string, 1),
		types:   []string{"", consumerType},
		lexicon: classic.Lexicon{Lists: make([]classic.List, 1), Consumer: 1},
	})
	return w
}

// NewBranch is a group that does not exist yet.
func (w *World) NewBranch(group string) *Branch { return &Branch{head: head{group: group}} }

// Served is the branch of a group that does not exist yet on a broker that is that to it.
func (b *Branch) Served(s classic.Serving) *Branch {
	n := *b
	n.state.Serving = s
	return &n
}

// Know says that the id is not one that a lost answer carried, so that it is never taken for a ghost's.
func (w *World) Know(id string) {
	w.mu.Lock()
	w.known[id] = true
	w.mu.Unlock()
}

func (w *World) knows(id string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.known[id]
}

// typeSymbol is the symbol of a protocol type. The empty type has one of its own where it is given; "not given" is 0.
func (w *World) typeSymbol(s string) (uint8, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if n, ok := w.types[s]; ok {
		return n, nil
	}
	t := *w.symbols.Load()
	if len(t.types) > 255 {
		return 0, errFull
	}
	n := uint8(len(t.types))
	t.types = append(t.types, s)
	w.types[s] = n
	w.symbols.Store(&t)
	return n, nil
}

func (w *World) nameSymbol(s string) (uint8, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	t := *w.symbols.Load()
	n, err := w.internName(&t, s)
	w.symbols.Store(&t)
	return n, err
}

func (w *World) internName(t *symbols, s string) (uint8, error) {
	if n, ok := w.names[s]; ok {
		return n, nil
	}
	if len(t.names) > 255 {
		return 0, errFull
	}
	n := uint8(len(t.names))
	t.names = append(t.names, s)
	w.names[s] = n
	return n, nil
}

// listSymbol is the symbol of a protocol list: equal symbols are equal lists, names and bytes and order.
func (w *World) listSymbol(list []kmsg.JoinGroupRequestProtocol) (uint8, error) {
	if len(list) == 0 {
		return 0, nil
	}
	var room [128]byte
	key := listKey(room[:0], list)
	w.mu.Lock()
	defer w.mu.Unlock()
	if n, ok := w.lists[string(key)]; ok {
		return n, nil
	}
	t := *w.symbols.Load()
	if len(t.lists) > 255 {
		return 0, errFull
	}
	n := uint8(len(t.lists))
	own := make([]kmsg.JoinGroupRequestProtocol, len(list))
	names, topics := make([]uint8, len(list)), make([]classic.Topics, len(list))
	for i, p := range list {
		own[i].Name, own[i].Metadata = p.Name, append([]byte(nil), p.Metadata...)
		var err error
		if names[i], err = w.internName(&t, p.Name); err != nil {
			w.symbols.Store(&t) // keeps the names that fitted
			return 0, err
		}
		if topics[i], err = w.subscription(&t, p.Metadata); err != nil {
			w.symbols.Store(&t)
			return 0, err
		}
	}
	t.lists = append(t.lists, own)
	t.lexicon.Lists = append(t.lexicon.Lists, classic.List{Names: names, Topics: topics})
	w.lists[string(key)] = n
	w.symbols.Store(&t)
	return n, nil
}

// stepper is a model with its scratch space, and the lexicon that it reads. Whoever steps has one to himself.
type stepper struct {
	model   *classic.Model
	lexicon classic.Lexicon

	call   call
	scene  scene
	closed []parked

	// of outcomes, where they are transient
	rules   []classic.RuleID
	records []classic.Record
	answers []Answer
	dropped []checker.Ticket
}

// breaks says whether a rule that is decided here is to be broken on purpose.
func (w *World) breaks(rule classic.RuleID) bool { return slices.Contains(w.config.Broken, rule) }

// step asks the model.
func (w *World) step(s *classic.State, e *classic.Event, yield func(*stepper, *classic.Transition) bool) {
	m := w.stepper()
	m.model.Step(s, e, func(t *classic.Transition) bool { return yield(m, t) })
	w.models.Put(m)
}

// stepper is a model that knows all symbols; put it back into models after use.
func (w *World) stepper() *stepper {
	m, _ := w.models.Get().(*stepper)
	if m == nil {
		m = &stepper{}
		m.model = classic.New(classic.Config{
			Profile: w.config.Profile, Lexicon: &m.lexicon, SyncInFlight: w.config.SlowWrites, Broken: w.config.Broken,
			InitialDelay: w.config.InitialDelay > 0, MaxSize: w.config.MaxSize, EmptyJoin: w.config.EmptyJoin,
		})
	}
	m.lexicon = w.symbols.Load().lexicon
	return m
}

func listKey(b []byte, list []kmsg.JoinGroupRequestProtocol) []byte {
	for _, p := range list {
		b = binary.AppendUvarint(b, uint64(len(p.Name)))
		b = append(b, p.Name...)
		b = binary.AppendUvarint(b, uint64(len(p.Metadata)))
		b = append(b, p.Metadata...)
	}
	return b
}

// metadata is what list symbol says of protocol name symbol.
func (t *symbols) metadata(list, name uint8) []byte {
	for _, p := range t.lists[list] {
		if p.Name == t.names[name] {
			return p.Metadata
		}
	}
	return nil
}
