package shell

import (
	"context"
	"errors"
	"fmt"
	"hash"
	"hash/fnv"
	"math/rand/v2"
	"net"
	"runtime"
	"strings"
	"sync/atomic"
	"testing/synctest"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/muster-kafka/muster/checker/history"
	"github.com/muster-kafka/muster/checker/traffic"
	"github.com/muster-kafka/muster/impl/core"
	"github.com/muster-kafka/muster/impl/server"
	"github.com/muster-kafka/muster/impl/store"
)

// home is the address of the server in each of its lives.
const home = "127.0.0.1:9092"

// options are what a run is, all drawn from its seed.
type options struct {
	seed            uint64
	groups, clients int
	calls           int
	static          bool
	delay           time.Duration // group.initial.rebalance.delay.ms
	durability      store.Durability
	machine         bool // crashes are those of the machine, else of the process
	crash           int  // one comes within so many things that happen; 0 is never
	trouble         int  // one in so many requests meets a connection that is cut, or goes silent; 0 is none
	pieces          int  // one in so many messages arrives in pieces
	compact         int  // records until the log is compacted

	plant plant
}

// plant is what is made wrong on purpose, so that a test shows who notices.
type plant struct {
	lies   bool // the disk says that it has synced, and has not
	chance bool // member ids are drawn by chance, and not by the seed
}

// draw makes options of a seed.
func draw(seed uint64) options {
	rng := rand.New(rand.NewPCG(seed, 1))
	o := options{
		seed: seed, groups: 1 + rng.IntN(3), clients: 3 + rng.IntN(5), calls: 60 + rng.IntN(140), static: rng.IntN(2) == 0,
		durability: store.Fsync, machine: true, crash: 150 + rng.IntN(500), trouble: 30, pieces: 1 + rng.IntN(8), compact: 20 + rng.IntN(200),
	}
	switch rng.IntN(5) {
	case 0:
		o.crash = 0
	case 1, 2: // what has been written survives the end of the process
		o.durability, o.machine = store.OS, false
	}
	if rng.IntN(3) == 0 {
		o.delay = time.Duration(20+rng.IntN(60)) * time.Millisecond
	}
	if rng.IntN(4) == 0 {
		o.trouble = 0
	}
	return o
}

// world is a run.
type world struct {
	*traffic.Solo

	o      options
	rng    *rand.Rand
	begun  time.Time
	header history.Header
	faults []history.Fault
	counts counts
	wakes  chan struct{}

	socks   []*socket // of this life of the server, in the order in which they were dialled
	sockets map[line]*socket

	life      *life // nil between a crash and the next start
	lives     int
	down      bool            // nobody is served
	outage    *history.Fault  // since a crash, until somebody is
	tillCrash int             // so many things happen before it; 0 is never
	graves    []chan struct{} // closed once nothing of a former life runs any more

	trace   hash.Hash64
	lines   []string
	broken  []string // what must not happen whatever the clients are told
	dialled int
}

// counts are what has happened and how often, so that nobody takes a run without trouble for one that has survived it.
type counts map[string]int

// What is counted.
const (
	crashes   = "crash"
	midStart  = "crash in the middle of a start"
	midFrame  = "crash or cut in the middle of a request"
	midSync   = "crash in the middle of a sync"
	torn      = "torn log"
	lostBytes = "lost end of a log" // in bytes
	afterlife = "answer of a server that has crashed"
	cuts      = "cut"
	silences  = "silence"
	pieces    = "message in pieces"
	syncs     = "sync"
	reports   = "report"
)

// demanded are those without which the runs were not worth much.
var demanded = []string{crashes, midStart, midFrame, midSync, torn, lostBytes, afterlife, cuts, silences, pieces}

func (c counts) add(o counts) {
	for what, n := range o {
		c[what] += n
	}
}

// life is the server from a start to its end.
type life struct {
	disk     *disk
	listener *listener
	reports  chan error
	booted   chan error // the end of its start: what is below is there then
	died     *remains   // what is left of the disk, where it ended in the middle of the start

	log     *store.Disk
	cluster *server.Cluster
}

// inStep waits until Go's scheduler is where it was when another run began. It takes up goroutines that have yielded after those that were woken, but for once in
// 61 turns; which turn that is would be left to what ran before.
func inStep() {
	for {
		var woken atomic.Bool
		go woken.Store(true)
		if runtime.Gosched(); !woken.Load() {
			return
		}
	}
}

// run simulates in a bubble of testing/synctest.
func run(o options) *world {
	inStep()
	w := &world{o: o, rng: rand.New(rand.NewPCG(o.seed, 2)), begun: time.Now(), wakes: make(chan struct{}, 1), trace: fnv.New64a(), counts: counts{}, sockets: map[line]*socket{}, down: true}
	w.header = history.Header{
		Format: history.Format, Target: "shell", Seed: o.seed, Profile: "reference", MinSession: 10 * time.Millisecond, MaxSession: time.Hour,
		NewMemberTimeout: 5 * time.Minute, MaxMetadata: 4096, InitialDelay: max(o.delay, time.Nanosecond), Slack: slack, Topics: map[string]int32{"t": 2},
	}
	for i := range o.groups {
		w.header.Groups = append(w.header.Groups, fmt.Sprint("g", i))
	}
	w.Solo = traffic.NewSolo(&traffic.Setup{
		Seed: o.seed, Groups: w.header.Groups, Clients: o.clients, Topic: "t", MinSession: w.header.MinSession, MaxMetadata: w.header.MaxMetadata,
		Period: 1500 * time.Millisecond, Static: o.static, OffsetDelete: o.static,
	}, o.calls, w.send)
	w.boot(vfs.NewCrashableMem())
	for w.happen() {
	}
	w.close()
	w.header.Ran = time.Duration(w.Now)
	return w
}

// history is what the clients have seen.
func (w *world) history() *history.History {
	h := &history.History{Header: w.header, Calls: w.Recorded()}
	h.AddFaults(w.faults...)
	return h
}

// slack is how late an answer and a timer are at most: more than delays of the network and the disk together.
const slack = 250 * time.Millisecond

// happen lets the next thing happen, when it is due. It is false once there is nothing any more.
func (w *world) happen() bool {
	for {
		due, ok := w.settle()
		if !ok {
			return false
		}
		if due {
			break
		}
		w.sleep()
	}
	w.Step()
	if w.tillCrash > 0 && !w.down {
		if w.tillCrash--; w.tillCrash == 0 {
			synctest.Wait()
			w.collect()
			w.crash(w.life.disk.left(w.o.machine, w.rng))
		}
	}
	return true
}

// settle lets everybody do what can be done now, and takes up what the server has done. It says whether something is to happen, and whether that is now.
func (w *world) settle() (due, ok bool) {
	synctest.Wait()
	w.Now = int64(time.Since(w.begun))
	w.collect()
	at, ok := w.Next()
	return ok && at <= w.Now, ok
}

// sleep lets time pass until something is to happen, or the server has done something, by one of its timers.
func (w *world) sleep() {
	at, ok := w.Next()
	if !ok {
		<-w.wakes
		return
	}
	alarm := time.NewTimer(time.Duration(at - w.Now))
	defer alarm.Stop()
	select {
	case <-alarm.C:
	case <-w.wakes:
	}
}

// wake says that there is something to collect.
func (w *world) wake() {
	select {
	case w.wakes <- struct{}{}:
	default:
	}
}

// collect takes up what the server has done, in an order that does not depend on that of its goroutines.
func (w *world) collect() {
	for _, s := range w.socks {
		w.receive(s)
	}
	if w.life == nil {
		return
	}
	for _, sync := range w.life.disk.begun(w.Now) {
		w.counts[syncs]++
		w.tell("sync of %s begins", sync.name)
		d := w.life.disk
		w.At(w.syncing(), func() {
			if d.release(sync) {
				w.hung(sync.since)
			}
		})
	}
	for {
		select {
		case err := <-w.life.reports:
			w.reported(err)
			continue
		default:
		}
		break
	}
	select {
	case err := <-w.life.booted:
		w.served(err)
	default:
	}
}

// hung notes that what was written since then may not have been written before now.
func (w *world) hung(from int64) {
	w.faults = append(w.faults, history.Fault{Kind: history.AppendHangs, At: from, Until: w.Now})
}

// reported is what the server says of what goes wrong. Of connections it may: they do.
func (w *world) reported(err error) {
	w.counts[reports]++
	w.tell("report: %v", err)
	if !strings.HasPrefix(err.Error(), "connection from ") {
		w.wrong("the server reports: %v", err)
	}
}

// tell notes what happens.
func (w *world) tell(format string, args ...any) {
	line := fmt.Sprintf("%12d %s", w.Now, fmt.Sprintf(format, args...))
	fmt.Fprintln(w.trace, line)
	w.lines = append(w.lines, line)
}

// delayed is how long bytes are on their way: not long most of the time.
func (w *world) delayed() int64 {
	most := int64(2 * time.Millisecond)
	if w.rng.IntN(10) == 0 {
		most = int64(30 * time.Millisecond)
	}
	return 1 + w.rng.Int64N(most)
}

// syncing is how long a sync takes.
func (w *world) syncing() int64 {
	most := int64(time.Millisecond)
	if w.rng.IntN(20) == 0 {
		most = int64(40 * time.Millisecond)
	}
	return 1 + w.rng.Int64N(most)
}

// boot starts a server on what a disk has.
func (w *world) boot(mem *vfs.MemFS) {
	w.lives++
	l := &life{reports: make(chan error, 1000), booted: make(chan error, 1), listener: newListener(home), disk: newDisk(mem, w.wake)}
	l.disk.lies = w.o.plant.lies
	w.life = l
	w.tell("life %d begins", w.lives)
	if w.o.crash > 0 && w.rng.IntN(4) == 0 {
		l.disk.stopAt = 1 + w.rng.IntN(12)
		lost := rand.New(rand.NewPCG(w.o.seed, 2000+uint64(w.lives)))
		l.disk.stopped = func() { l.died = l.disk.left(w.o.machine, lost) }
	}
	ids := rand.New(rand.NewPCG(w.o.seed, 1000+uint64(w.lives)))
	settings := core.Settings{
		MinSessionTimeout: w.header.MinSession, MaxSessionTimeout: w.header.MaxSession, MetadataMaxBytes: w.header.MaxMetadata, InitialRebalanceDelay: w.o.delay,
		Choose:      ids.IntN,
		NewMemberID: func(clientID string) string { return core.MemberID(clientID, ids.Uint64(), ids.Uint64()) },
	}
	if w.o.plant.chance {
		settings.NewMemberID = func(clientID string) string { return core.MemberID(clientID, rand.Uint64(), rand.Uint64()) }
	}
	go func() {
		err := l.start(w, settings)
		l.booted <- err
		w.wake()
	}()
}

// start opens the log, begins to serve, and waits until the groups have been loaded.
func (l *life) start(w *world, settings core.Settings) (err error) {
	report := func(err error) {
		l.reports <- err
		w.wake()
	}
	l.log, err = store.Open(store.Options{Dir: folder, FS: l.disk, Durability: w.o.durability, CompactAfter: w.o.compact, Report: report})
	if l.disk.started(); err != nil {
		return err
	}
	l.cluster, err = server.StartCluster(server.ClusterOptions{
		Addr: home, Partitions: 2, Settings: settings, Topics: w.header.Topics, Log: l.log, Report: report,
		Listen: func(string, string) (net.Listener, error) { return l.listener, nil },
	})
	if err != nil {
		return err
	}
	_, err = l.cluster.AwaitLoad(context.Background())
	return err
}

// served is the end of a start: clients may come.
func (w *world) served(err error) {
	if w.life.died != nil {
		w.counts[midStart]++
		w.crash(w.life.died)
		return
	}
	if err != nil {
		w.wrong("life %d does not begin: %v", w.lives, err)
		return
	}
	w.tell("life %d serves", w.lives)
	w.down = false
	if w.outage != nil {
		w.outage.Until = w.Now
		w.faults = append(w.faults, *w.outage)
		w.outage = nil
	}
	if w.o.crash > 0 && !w.Done() {
		w.tillCrash = 1 + w.rng.IntN(w.o.crash)
	}
}

// crash ends a life at once, with all that is in memory, and begins another one a little later with what is left of the disk.
func (w *world) crash(left *remains) {
	w.counts[crashes]++
	for _, from := range w.life.disk.open() {
		w.counts[midSync]++
		w.hung(from)
	}
	if left.err != nil {
		w.wrong("the disk of life %d cannot be read: %v", w.lives, left.err)
	}
	if w.counts[lostBytes] += left.lost; left.torn {
		w.counts[torn]++
	}
	w.tell("crash of life %d: %d bytes of the log are lost", w.lives, left.lost)
	w.down = true
	w.life.disk.die()
	for _, s := range w.socks {
		w.abandon(s)
	}
	w.socks, w.sockets = nil, map[line]*socket{}
	w.bury(w.life)
	w.life = nil
	if w.outage == nil {
		w.outage = &history.Fault{Kind: history.Restart, At: w.Now, Gone: w.Now + 1}
	}
	w.At(1+w.rng.Int64N(int64(300*time.Millisecond)), func() { w.boot(left.mem) })
}

// bury lets what is left of a life end by itself: to the others it is nothing any more.
func (w *world) bury(l *life) {
	over := make(chan struct{})
	w.graves = append(w.graves, over)
	go func() {
		defer close(over)
		_ = l.end()
	}()
}

// end ends what has been started.
func (l *life) end() error {
	var errs []error
	if l.cluster != nil {
		errs = append(errs, l.cluster.Close())
	}
	if l.log != nil {
		errs = append(errs, l.log.Close())
	}
	return errors.Join(errs...)
}

// close ends the last life in good order, and waits for what is left of the others.
func (w *world) close() {
	if w.down {
		w.wrong("the server is not up in the end")
		w.life.disk.die()
	}
	over := make(chan error, 1)
	go func() {
		err := w.life.end()
		over <- err
		w.wake()
	}()
	for ended := false; !ended; {
		due, _ := w.settle() // its syncs still end when they are due
		select {
		case err := <-over:
			if ended = true; err != nil {
				w.wrong("the server does not end in good order: %v", err)
			}
		default:
			if due {
				w.Step()
			} else {
				w.sleep()
			}
		}
	}
	for _, g := range w.graves {
		<-g
	}
}
