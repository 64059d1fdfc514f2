package gen

// Act is what happens to the broker, not on a connection.
type Act uint8

const (
	NoAct        Act = iota
	BeginTxn         // of which no group hears
	EndTxn           // the marker of a transaction
	DeleteTopics     // which are there again at once
	Cleanup          // a round of looking for what has expired
	Unload           // the coordinator gives its groups up
	Load             // it begins to read them from its log
	Loaded           // and ends
	Restart          // all three
)

// acts draws one.
func (g *Generator) acts() Event {
	var all []func() Event
	if g.setup.Retention {
		all = append(all, cleanup, cleanup, cleanup)
	}
	if g.setup.TopicsDelete {
		all = append(all, func() Event {
			topics := []string{g.setup.Topic}
			if g.setup.Other != "" && g.src.Intn(2, "other topic") == 1 {
				topics[0] = g.setup.Other
			}
			return Event{Act: DeleteTopics, Topics: topics, Line: g.line("# topic %s is deleted and made again", topics[0])}
		})
	}
	if g.setup.Restarts {
		all = append(all, g.restarts)
	}
	if len(all) == 0 {
		return g.pass(-1)
	}
	return all[g.src.Intn(len(all), "act")]()
}

func cleanup() Event { return Event{Act: Cleanup, Line: "# a round of cleanup"} }

// restarts takes the groups away: for a moment, or until the coordinator serves again. Some orders are late, so that they do not count.
func (g *Generator) restarts() Event {
	switch g.src.Intn(6, "restart") {
	case 3:
		if g.epoch > 1 { // 0 is no epoch at all
			return Event{Act: Unload, Epoch: g.epoch - 1, Line: g.line("# a late order to give up the groups, of epoch %d", g.epoch-1)}
		}
	case 4, 5:
		g.epoch++
		g.serving = Unload
		return Event{Act: Unload, Epoch: g.epoch, Line: g.line("# the groups are given up, epoch %d", g.epoch)}
	}
	g.epoch++
	g.serving, g.loaded = NoAct, g.setup.Retention
	return Event{Act: Restart, Epoch: g.epoch, Line: "restart"}
}

// servesAgain brings a coordinator that has given its groups up a step nearer to serving.
func (g *Generator) servesAgain() Event {
	if g.serving == Unload {
		g.epoch++
		g.serving = Load
		return Event{Act: Load, Epoch: g.epoch, Line: g.line("# loading begins, epoch %d", g.epoch)}
	}
	g.serving, g.loaded = NoAct, g.setup.Retention
	return Event{Act: Loaded, Line: "# loading has ended"}
}
