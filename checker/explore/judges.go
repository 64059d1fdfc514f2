package explore

import c "github.com/muster-kafka/muster/model/classic"

// property is what every transition must hold, as one rule or one invariant of the protocol demands.
type property struct {
	name  string
	rule  c.RuleID
	about fact // what it presupposes: otherwise it holds
	holds func(*view) bool
}

func (p *property) broken(v *view) bool { return v.is(p.about) && !p.holds(v) }

// byKind lists the properties that are asked about one kind of event.
var byKind = [...][]property{
	c.JoinGroup: joinProperties, c.SyncGroup: syncProperties, c.Heartbeat: heartbeatProperties,
	c.LeaveGroup: leaveProperties, c.OffsetCommit: commitProperties, c.TxnOffsetCommit: txnProperties,
	c.OffsetFetch: readProperties, c.DescribeGroups: readProperties, c.ListGroups: readProperties,
	c.DeleteGroups: deleteProperties, c.OffsetDelete: offsetDeleteProperties,
	c.MemberTimer: memberTimerProperties, c.JoinTimer: joinTimerProperties, c.SyncTimer: syncTimerProperties,
	c.WriteDone: writeProperties, c.TxnMarker: markerProperties, c.TopicsDeleted: topicProperties, c.Cleanup: cleanupProperties,
	c.Unload: unloadProperties, c.Loaded: loadProperties,
}

// judges are the properties of a group's transitions by the phase before. They are sorted out beforehand, for speed.
type judges [len(ofPhase)]struct {
	of    [len(byKind)][]property // by the kind of event
	steps []property
}

// judges are the properties that the group asks.
func (g *Group) judges() (all judges) {
	for phase := range all {
		in := func(properties []property) (possible []property) {
			for _, p := range properties {
				if p.about&ofAnyPhase&^ofPhase[phase] == 0 {
					possible = append(possible, p)
				}
			}
			return possible
		}
		for kind := range byKind {
			all[phase].of[kind] = in(g.asked(c.EventKind(kind)))
		}
		all[phase].steps = in(stepProperties)
	}
	return all
}

// asked are the properties that a kind of event is asked about.
func (g *Group) asked(kind c.EventKind) (all []property) {
	all = append(all, byKind[kind]...)
	if g.Static {
		if int(kind) < len(instanceProperties) {
			all = append(all, instanceProperties[kind]...)
		}
		all = append(all, rekeyProperties...)
		if kind == c.JoinGroup {
			for _, p := range replacedProperties {
				p.about |= replaces
				all = append(all, p)
			}
		}
	}
	if g.Delay {
		all = append(all, delayProperties...)
	}
	if g.MaxSize > 0 && kind == c.JoinGroup {
		all = append(all, sizeProperties...)
	}
	if g.Subscriptions {
		all = append(all, subscriptionProperties...)
	}
	return all
}

// judgeTransition asks all properties about the transition in view.
func (m *machine) judgeTransition() {
	v := &m.view
	if v.s.Serving != c.Active && v.e.Kind != c.Loaded {
		m.ask(gateProperties)
		return
	}
	judges := &m.judges[v.s.Phase]
	m.ask(judges.of[v.e.Kind])
	if v.refusal || v.e.Kind == c.Unload || v.e.Kind == c.Loaded {
		return
	}
	// What every transition must hold that is no refusal, as far as it is about something that has happened.
	m.ask(judges.steps)
	if v.is(changed) && v.removes() {
		m.ask(removalProperties)
	}
	if v.completed || v.s.Phase == c.CompletingRebalance && v.t.Next.Phase != c.CompletingRebalance {
		m.ask(endProperties)
	}
	if v.completed {
		m.ask(completionProperties)
	}
	if v.is(admits) {
		m.ask(answerProperties)
	}
}

func (m *machine) ask(properties []property) {
	v := &m.view
	for i := range properties {
		if p := &properties[i]; p.broken(v) {
			m.x.Findings = append(m.x.Findings, Finding{Edge: len(m.x.Next), Property: p.name, Rule: p.rule.String()})
		}
	}
}
