package variant

// Choices are the places where the text can be read in several ways or breaks something, in the order of the page.
func Choices() []Choice {
	return []Choice{
		{
			Title: "Where the last member's going leads", Sections: "A Empty, A on what is not in the table; C LeaveGroup, member expires",
			Readings: []Option{
				{"the table as written: a forbidden transition is an error, and nothing of the event has happened", func(r *Reading) { r.Table, r.Forbidden = TableAsWritten, ForbiddenUndone }},
				{"the table as written: the state stays, and the member is gone", func(r *Reading) { r.Table, r.Forbidden = TableAsWritten, ForbiddenStateOnly }},
				{"the table as written, but not asked", func(r *Reading) { r.Table, r.Forbidden = TableAsWritten, ForbiddenPasses }},
				{"the table lets Stable and CompletingRebalance become Empty, and Dead not", func(r *Reading) { r.Table, r.Forbidden = TableAmended, ForbiddenUndone }},
			},
			Repair: 3,
		},
		{
			Title: "The last LeaveGroup in Stable", Sections: "C LeaveGroup × Stable against C prose on the last leave",
			Readings: []Option{
				{"the handler: to Empty", func(r *Reading) { r.LastLeave = LastToEmpty }},
				{"the prose: to Dead, where no offsets are left", func(r *Reading) { r.LastLeave = LastToDead }},
			},
			Repair: 0, Offsets: true,
		},
		{
			Title: "A LeaveGroup in PreparingRebalance with members left", Sections: "C LeaveGroup × PreparingRebalance against A PreparingRebalance",
			Readings: []Option{
				{"to PreparingRebalance, which the table forbids: nothing has happened", func(r *Reading) { r.LeaveInJoin = LeaveEnters }},
				{"the same, and the state stays but the member is gone", func(r *Reading) { r.LeaveInJoin, r.Forbidden = LeaveEnters, ForbiddenStateOnly }},
				{"the same, and the table is not asked: the entry action runs again", func(r *Reading) { r.LeaveInJoin, r.Forbidden = LeaveEnters, ForbiddenPasses }},
				{"no transition", func(r *Reading) { r.LeaveInJoin = LeaveStays }},
			},
			Repair: 3,
		},
		{
			Title: "When all have joined", Sections: "C JoinGroup, member expires; C prose on completion",
			Readings: []Option{
				{"is asked after a JoinGroup in PreparingRebalance, as the text has it", func(r *Reading) { r.Recheck = false }},
				{"is asked after each change of membership", func(r *Reading) { r.Recheck = true }},
			},
			Repair: 1,
		},
		{
			Title: "A member that expires in CompletingRebalance", Sections: "C member expires × CompletingRebalance",
			Readings: []Option{
				{"is removed, and the rebalance goes on", func(r *Reading) { r.LeaderGone = false }},
				{"is removed, and a new rebalance starts", func(r *Reading) { r.LeaderGone = true }},
			},
			Repair: 1,
		},
		{
			Title: "Empty and the generation", Sections: "B enter Empty, leave Empty, enter PreparingRebalance",
			Readings: []Option{
				{"entering sets 0, leaving sets 1, and the rebalance adds 1", func(r *Reading) { r.Reset = ResetTwice }},
				{"entering sets 0; the 1 of leaving it is the 1 that the rebalance adds", func(r *Reading) { r.Reset = ResetOnce }},
				{"the same, and a commit is fenced by its generation alone (E)", func(r *Reading) { r.Reset, r.CommitMember = ResetOnce, false }},
				{"the generation of a group never goes back", func(r *Reading) { r.Reset, r.CommitMember = ResetNever, true }},
			},
			Repair: 3,
		},
		{
			Title: "When the generation is raised", Sections: "B enter PreparingRebalance",
			Readings: []Option{
				{"on entering PreparingRebalance", func(r *Reading) { r.RaisedAtEnd = false }},
				{"when a join completes", func(r *Reading) { r.RaisedAtEnd = true }},
			},
			Repair: 1,
		},
		{
			Title: "A member's heartbeat in PreparingRebalance", Sections: "C Heartbeat × PreparingRebalance against E announcement",
			Readings: []Option{
				{"\"valid\" is who is a member: NONE", func(r *Reading) { r.Heartbeat = HeartbeatMember }},
				{"\"valid\" is also whose generation is right: with a generation that is raised on entering nobody's is", func(r *Reading) { r.Heartbeat, r.RaisedAtEnd = HeartbeatGeneration, false }},
				{"section E: REBALANCE_IN_PROGRESS", func(r *Reading) { r.Heartbeat = HeartbeatRebalance }},
			},
			Repair: 2,
		},
		{
			Title: "The heartbeat of an unknown member", Sections: "C Heartbeat",
			Readings: []Option{
				{"ILLEGAL_GENERATION", func(r *Reading) { r.UnknownCode = false }},
				{"UNKNOWN_MEMBER_ID", func(r *Reading) { r.UnknownCode = true }},
			},
			Repair: 1,
		},
		{
			Title: "Heartbeat and LeaveGroup of a Dead group", Sections: "C Heartbeat, LeaveGroup × Dead",
			Readings: []Option{
				{"GROUP_ID_NOT_FOUND", func(r *Reading) { r.DeadCode = false }},
				{"UNKNOWN_MEMBER_ID", func(r *Reading) { r.DeadCode = true }},
			},
			Repair: 1,
		},
		{
			Title: "JoinGroup of a Dead group", Sections: "C JoinGroup × Dead against A Empty, B enter Empty, D loading",
			Readings: []Option{
				{"the handler (C): GROUP_ID_NOT_FOUND, for ever", func(r *Reading) { r.DeadJoin = DeadRefuses }},
				{"the table (A): the group becomes Empty again, which its entry action refuses (B)", func(r *Reading) { r.DeadJoin, r.Table = DeadRevives, TableRevives }},
				{"the group has been removed, and without a snapshot there is a new Empty one (D)", func(r *Reading) { r.DeadJoin = DeadForgotten }},
			},
			Repair: 2,
		},
		{
			Title: "The offsets of a group that is cleaned up", Sections: "B enter Dead",
			Readings: []Option{
				{"are not touched", func(r *Reading) { r.Offsets = false }},
				{"are removed", func(r *Reading) { r.Offsets = true }},
			},
			Repair: 1, Offsets: true,
		},
		{
			Title: "Deleting a group", Sections: "C prose on deleting",
			Readings: []Option{
				{"leads to Dead from any state", func(r *Reading) { r.DeleteEmpty = false }},
				{"leads to Dead from Empty, and is refused otherwise", func(r *Reading) { r.DeleteEmpty = true }},
			},
			Repair: 1,
		},
		{
			Title: "A follower's repeated JoinGroup", Sections: "C JoinGroup × CompletingRebalance, Stable",
			Readings: []Option{
				{"restarts the rebalance", func(r *Reading) { r.Repeats = false }},
				{"is answered with the generation there is", func(r *Reading) { r.Repeats = true }},
			},
			Repair: 1,
		},
		{
			Title: "Leadership over a rebalance", Sections: "B enter PreparingRebalance, leave PreparingRebalance",
			Readings: []Option{
				{"is cleared when a rebalance starts, and chosen anew", func(r *Reading) { r.LeaderKept = false }},
				{"stays where it is, if the leader rejoins", func(r *Reading) { r.LeaderKept = true }},
			},
			Repair: 1,
		},
		{
			Title: "SyncGroups that wait when a rebalance starts", Sections: "B leave CompletingRebalance; E announcement",
			Readings: []Option{
				{"are not answered: a rebalance is announced by answers to heartbeats only", func(r *Reading) { r.SyncsAborted = false }},
				{"the same where a member's heartbeat says nothing of the rebalance (C)", func(r *Reading) { r.SyncsAborted, r.Heartbeat = false, HeartbeatMember }},
				{"are answered REBALANCE_IN_PROGRESS", func(r *Reading) { r.SyncsAborted = true }},
			},
			Repair: 2,
		},
		{
			Title: "Where commits are accepted", Sections: "E commits against A Stable",
			Readings: []Option{
				{"in every state, where the generation is right (E)", func(r *Reading) { r.CommitState = CommitAnyState }},
				{"in Stable, of which alone it is said (A)", func(r *Reading) { r.CommitState = CommitStable }},
				{"in Stable and in the PreparingRebalance after it", func(r *Reading) { r.CommitState = CommitGenerations }},
			},
			Repair: 2,
		},
		{
			Title: "Whose commits are accepted", Sections: "E commits",
			Readings: []Option{
				{"everybody's whose generation is right", func(r *Reading) { r.CommitMember = false }},
				{"members'", func(r *Reading) { r.CommitMember = true }},
			},
			Repair: 1,
		},
		{
			Title: "What a restart loads", Sections: "D snapshot, loading",
			Readings: []Option{
				{"the state of the last transition", func(r *Reading) { r.CompletedOnly = false }},
				{"the same, and no timers, of which the text says nothing", func(r *Reading) { r.CompletedOnly, r.LoadTimers = false, false }},
				{"the last completed generation, and no timers", func(r *Reading) { r.CompletedOnly, r.LoadTimers = true, false }},
				{"the last completed generation, with timers", func(r *Reading) { r.CompletedOnly, r.LoadTimers = true, true }},
			},
			Repair: 3, Restarts: true,
		},
		{
			Title: "The first member", Sections: "C JoinGroup × Empty against B enter PreparingRebalance",
			Readings: []Option{
				{"counts as joined", func(r *Reading) { r.AddFirst = false }},
				{"is added before the transition, as C orders it, so that its entry action marks it \"awaiting join\"", func(r *Reading) { r.AddFirst = true }},
			},
		},
		{
			Title: "\"Awaiting join\"", Sections: "B enter PreparingRebalance",
			Readings: []Option{
				{"is who has yet to join", func(r *Reading) { r.MarkWaits = false }},
				{"is whose JoinGroup waits, so that on entering PreparingRebalance everybody counts as joined", func(r *Reading) { r.MarkWaits = true }},
			},
		},
		{
			Title: "\"The timeout with those present\"", Sections: "C prose on the timeout",
			Readings: []Option{
				{"removes the others", func(r *Reading) { r.AbsentKept = false }},
				{"completes without asking the others, who stay members", func(r *Reading) { r.AbsentKept = true }},
			},
		},
		{
			Title: "A member whose request waits", Sections: "C member expires; E triggers",
			Readings: []Option{
				{"does not expire", func(r *Reading) { r.WaitingDies = false }},
				{"expires, since it sends no heartbeat", func(r *Reading) { r.WaitingDies = true }},
			},
		},
	}
}
