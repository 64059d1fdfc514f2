package lockstep

import (
	"os"
	"runtime/debug"
	"testing"
)

// Random walks leave a lot behind and keep next to nothing: the collector need not run for every 4 MB. A quarter of their time is saved so.
func TestMain(m *testing.M) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
	os.Exit(m.Run())
}
