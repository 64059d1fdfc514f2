// Package deps pins the module's requirements while the house is being built. It goes when each is imported for real.
package deps

import (
	_ "github.com/anishathalye/porcupine"
	_ "github.com/google/go-cmp/cmp"
	_ "github.com/jstemmer/go-junit-report/v2/junit"
	_ "github.com/magiconair/properties"
	_ "github.com/mattn/go-isatty"
	_ "github.com/spf13/cobra"
	_ "github.com/twmb/franz-go/pkg/kadm"
	_ "github.com/twmb/franz-go/pkg/kfake"
	_ "github.com/twmb/franz-go/pkg/kgo"
	_ "github.com/twmb/franz-go/pkg/kmsg"
	_ "github.com/twmb/franz-go/pkg/sasl/scram"
	_ "go.uber.org/goleak"
	_ "golang.org/x/sync/errgroup"
	_ "golang.org/x/time/rate"
	_ "pgregory.net/rapid"
)
