package clients

import "context"

// acts are what a program does, one after the other. After the first that fails, whose error is kept, nothing is done any more: a program reads as a list.
type acts struct {
	*program
	ctx context.Context
	err error
}

func (s *acts) do(act func() error) {
	if s.err == nil {
		s.err = act()
	}
}

func (s *acts) say(text string) { s.do(func() error { s.program.say("%s", text); return nil }) }

func (s *acts) produce() { s.do(func() error { return s.program.produce(s.ctx) }) }

func (s *acts) rest(members ...*process) {
	s.do(func() error { return s.program.rest(s.ctx, members...) })
}

func (s *acts) consume(m *process, n int64) { s.do(func() error { return s.program.consume(m, n) }) }

func (s *acts) commit(m *process) { s.do(func() error { return s.program.commit(s.ctx, m) }) }

func (s *acts) leave(m *process) { s.do(func() error { return s.program.leave(s.ctx, m) }) }

func (s *acts) kill(m *process) { s.do(func() error { m.kill(); return nil }) }

// start returns nil where it, or what came before, has failed.
func (s *acts) start(name string) (m *process) {
	s.do(func() (err error) {
		m, err = s.program.start(name)
		return err
	})
	return m
}

// ask runs Kafka's tool for groups with each of the arguments.
func (s *acts) ask(tool *tooling, all ...string) {
	for _, args := range all {
		s.do(func() error { return s.program.ask(tool, args) })
	}
}
