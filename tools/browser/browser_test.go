package browser

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// chromium is the browser, or the test is skipped.
func chromium(t *testing.T) string {
	t.Helper()
	names := []string{"chromium", "chromium-browser", "google-chrome"}
	if own := os.Getenv("CHROMIUM"); own != "" {
		names = []string{own}
	}
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Skipf("none of %s is here, so pages are not opened in a browser (Debian: apt-get install chromium); CHROMIUM names another", strings.Join(names, ", "))
	return ""
}

// muster builds the command once.
var muster = sync.OnceValues(func() (string, error) {
	var err error
	if built, err = os.MkdirTemp("", "muster-pages-"); err != nil {
		return "", err
	}
	file := filepath.Join(built, "muster")
	build := exec.Command("go", "build", "-o", file, "./cmd/muster")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return file, nil
})

const root = "../.."

// built is the folder of the command; empty where no test has needed it.
var built string

func TestMain(m *testing.M) {
	code := m.Run()
	if built != "" {
		_ = os.RemoveAll(built)
	}
	os.Exit(code)
}

// run runs the command, which may find faults.
func run(t *testing.T, args ...string) {
	t.Helper()
	file, err := muster()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(file, args...)
	cmd.Dir = t.TempDir()
	if out, err := cmd.CombinedOutput(); err != nil && cmd.ProcessState.ExitCode() > 2 {
		t.Fatalf("muster %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

// screen is what somebody looks at pages with.
type screen struct {
	name          string
	width, height int64
	scheme        string
}

var screens = []screen{{"phone", 390, 844, "light"}, {"phone-dark", 390, 844, "dark"}, {"desktop", 1280, 900, "light"}, {"desktop-dark", 1280, 900, "dark"}}

// watched is a page in a browser, and what it did that it should not.
type watched struct {
	mu     sync.Mutex
	faults []string
}

func (w *watched) add(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.faults = append(w.faults, fmt.Sprintf(format, args...))
}

// step is something that is done with a page that is open.
type step func(ctx context.Context) error

// open opens a file and does the steps. Whatever the page asks a network for, whatever it logs, and every script that breaks is a fault.
func open(t *testing.T, file string, s screen, steps ...step) {
	t.Helper()
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(chromium(t)), chromedp.NoSandbox, chromedp.UserDataDir(t.TempDir()))
	allocator, stop := chromedp.NewExecAllocator(t.Context(), options...)
	defer stop()
	ctx, end := chromedp.NewContext(allocator)
	defer end()
	var w watched
	if err := chromedp.Listen(ctx, w.hear); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	path, err := filepath.Abs(file)
	if err != nil {
		t.Fatal(err)
	}
	all := append([]step{
		command(network.Enable, network.EnableParams{}), command(runtime.Enable, cdp.Empty{}), command(log.Enable, cdp.Empty{}),
		// What a script that got in would call.
		command(page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: `window.owned = () => { window.top.isOwned = true }`}),
		do(chromedp.EmulateViewport(s.width, s.height, chromedp.EmulateScale(2))),
		command(emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: s.scheme}}}),
		do(chromedp.Navigate("file://" + path)),
	}, steps...)
	for _, step := range all {
		if err := step(ctx); err != nil {
			t.Fatalf("%s on a %s: %v", file, s.name, err)
		}
	}
	if dir := os.Getenv("MUSTER_SCREENSHOTS"); dir != "" {
		picture, err := chromedp.Run(ctx, chromedp.FullScreenshot(100))
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Join(dir, strings.ReplaceAll(t.Name(), "/", "-")+".png")
		if err := os.WriteFile(name, picture, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, fault := range w.faults {
		t.Error(fault)
	}
}

// hear takes note of what a page should not do.
func (w *watched) hear(ev any) {
	switch e := ev.(type) {
	case *network.EventRequestWillBeSent:
		if url := e.Request.URL; !strings.HasPrefix(url, "file://") && !strings.HasPrefix(url, "about:") {
			w.add("it asks for %s", url)
		}
	case *runtime.EventExceptionThrown:
		w.add("a script breaks: %s", e.ExceptionDetails.Text)
	case *runtime.EventConsoleAPICalled:
		w.add("the console says %s", e.Type)
	case *log.EventEntryAdded:
		w.add("the browser logs: %s", e.Entry.Text)
	}
}

func do[T any](action chromedp.Action[T]) step {
	return func(ctx context.Context) error {
		_, err := chromedp.Run(ctx, action)
		return err
	}
}

// command sends a command of the browser's own protocol.
func command[P, R any](c cdp.Command[P, R], params P) step {
	return do(func(ctx context.Context, target *chromedp.Target) (R, error) { return cdp.Call(ctx, target, c, params) })
}

// expect evaluates a script that must be true.
func expect(t *testing.T, what, script string) step {
	return func(ctx context.Context) error {
		ok, err := chromedp.Run(ctx, chromedp.Evaluate[bool](script))
		if err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
		if !ok {
			t.Errorf("not so: %s", what)
		}
		return nil
	}
}

// everywhere is what holds of every page on every screen.
func everywhere(t *testing.T, s screen) []step {
	return []step{
		expect(t, "the page is no wider than the screen", `document.documentElement.scrollWidth <= window.innerWidth`),
		expect(t, "no text goes out of the screen", `[...document.querySelectorAll("h1,h2,h3,p,li,pre,td,dd,dt")].every(e => e.getBoundingClientRect().right <= window.innerWidth + 1)`),
		expect(t, "the paper is dark where that is asked for", fmt.Sprintf(`(getComputedStyle(document.body).backgroundColor.match(/\d+/)[0] < 128) === %v`, s.scheme == "dark")),
		expect(t, "letters are large enough to read", `parseFloat(getComputedStyle(document.body).fontSize) >= 16`),
		expect(t, "no script of a target has run", `!window.isOwned`),
		expect(t, "no element of a target is there", `document.images.length === 0`),
		expect(t, "links to other files lead somewhere that is beside it", `[...document.links].every(a => a.getAttribute("href").startsWith("#") ? document.getElementById(a.getAttribute("href").slice(1)) : !a.getAttribute("href").includes(":"))`),
	}
}

// frame is the document of porcupine's view.
const frame = `document.querySelector("iframe").contentDocument`

// TestFailurePage opens the page of a history whose target answers with scripts.
func TestFailurePage(t *testing.T) {
	chromium(t)
	dir := t.TempDir()
	history, err := filepath.Abs(filepath.Join(root, "checker/linearize/testdata/hostile.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	run(t, "check", history, "--report", dir)
	pages, err := filepath.Glob(filepath.Join(dir, "*.html"))
	if err != nil || len(pages) != 1 {
		t.Fatalf("pages %v %v, want one", pages, err)
	}
	for _, s := range screens {
		t.Run(s.name, func(t *testing.T) {
			actions := append(everywhere(t, s),
				expect(t, "the rule is told", `document.querySelector("#rule").innerText.includes("What a client suffers")`),
				expect(t, "the next command is told", `document.querySelector("#next + pre").innerText.startsWith("muster ")`),
				expect(t, "what was answered is shown as text", `document.body.innerText.includes("<img src=x onerror=owned()>")`),
				expect(t, "calls and timers are drawn", `[".track .wrong", ".track .armed"].every(q => document.querySelector(q))`),
				expect(t, "bars are inside of their lanes", `[...document.querySelectorAll(".bar")].every(b => { const r = b.getBoundingClientRect(), l = b.parentElement.getBoundingClientRect(); return !b.closest(".track") || r.left >= l.left - 1 && r.width >= 3 })`),
				do(chromedp.Click(chromedp.CSS(".track .wrong"))),
				do(chromedp.Poll[bool](`document.querySelector("li.wrong:target") !== null`)), // a bar leads to its call
				do(chromedp.Evaluate[chromedp.Void](`document.querySelector("iframe").scrollIntoView()`)),
				do(chromedp.Poll[bool](frame+`.querySelectorAll(".history-rect").length > 0`)),
				expect(t, "porcupine draws words as wide as they are", frame+`.querySelector(".history-rect").getBBox().width > 30`),
				expect(t, "porcupine has lanes for timers", frame+`.body.textContent.includes("timer: session")`),
				// Its tooltips are the one place that takes text for HTML.
				expect(t, "tooltips tell of states, and are text", `(() => {
					const d = `+frame+`; let told = 0;
					for (const e of d.querySelectorAll(".target-rect")) {
						const r = e.getBoundingClientRect();
						for (const kind of ["mouseenter", "mouseover", "mousemove"]) {
							e.dispatchEvent(new MouseEvent(kind, {bubbles: true, view: d.defaultView, clientX: r.left + 2, clientY: r.top + 2}));
						}
						if (d.querySelector(".tooltip")?.textContent.includes("gen=")) told++;
						if (d.images.length > 0) return false;
					}
					return told > 0;
				})()`),
				expect(t, "no script of a target has run in the end", `!window.isOwned`),
			)
			open(t, pages[0], s, actions...)
		})
	}
}

// TestSamplePage opens a page that has something of everything: bars of each kind, faults that lie over all lanes, calls that overlap.
func TestSamplePage(t *testing.T) {
	chromium(t)
	dir := t.TempDir()
	write := exec.Command("go", "test", "-count=1", "-run", "^TestSamplePage$", "./internal/pages")
	write.Dir, write.Env = root, append(os.Environ(), "MUSTER_PAGES="+dir)
	if out, err := write.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, s := range screens {
		t.Run(s.name, func(t *testing.T) {
			open(t, filepath.Join(dir, "sample.html"), s, append(everywhere(t, s),
				expect(t, "every kind of bar is drawn", `[".wrong", ".wait", ".silent", ".armed", ".window", ".late", ".fired", ".fault"].every(q => document.querySelector(".track " + q))`),
				expect(t, "a fault lies over all lanes", `document.querySelector(".band").getBoundingClientRect().height > document.querySelector(".lane").getBoundingClientRect().height * 3`),
				expect(t, "bars that overlap do not hide each other", `(() => {
					const [a, b] = ["wait", "silent"].map(k => document.querySelector(".track ." + k).getBoundingClientRect());
					return a.bottom <= b.top || b.bottom <= a.top;
				})()`),
			)...)
		})
	}
}

// TestIndexPage opens the page of a whole run.
func TestIndexPage(t *testing.T) {
	chromium(t)
	dir := t.TempDir()
	run(t, "campaign", "impl+tcp", "--budget", "6s", "--seed", "4", "--report", dir)
	for _, s := range screens {
		t.Run(s.name, func(t *testing.T) {
			open(t, filepath.Join(dir, "index.html"), s, append(everywhere(t, s),
				expect(t, "the verdict is told", `["pass", "inconclusive"].includes(document.querySelector("#verdict").innerText)`),
				expect(t, "what was exercised is told", `["checked", "faults", "moves", "widest", "rules-seen", "rules-unseen"].every(id => document.getElementById(id))`),
			)...)
		})
	}
}
