package server

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/muster-kafka/muster/impl/groupstats"
)

// admin is the listener for people and their monitoring: GET /metrics, and pages besides; / lists them. It is apart from the one for clients, so that it can be
// bound to another address.
type admin struct {
	listener net.Listener
	http     *http.Server
	done     chan struct{}
}

// page is one of those besides /metrics.
type page struct {
	path, tells string
	serve       http.HandlerFunc
}

func startAdmin(addr string, stats *groupstats.Stats, pages []page, report func(error)) (*admin, error) {
	registry := prometheus.NewRegistry()
	if err := registry.Register(stats); err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("listen on %s for /metrics: %w; choose another address, or port 0 for a free one", addr, err)
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{ErrorHandling: promhttp.ContinueOnError, MaxRequestsInFlight: 4}))
	index := indexLine("/metrics", "Prometheus metrics of groups and their rebalances")
	for _, p := range pages {
		mux.HandleFunc("GET "+p.path, p.serve)
		index += indexLine(p.path, p.tells)
	}
	mux.HandleFunc("GET /", func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/" {
			http.Error(w, "There is no page "+strconv.Quote(r.URL.Path)+". There are:\n\n"+index, http.StatusNotFound)
			return
		}
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, _ = io.WriteString(w, "This is Muster's reference coordinator for Kafka groups. There are:\n\n"+index)
	})
	a := &admin{listener: listener, done: make(chan struct{}), http: &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second, WriteTimeout: 30 * time.Second}}
	go func() {
		defer close(a.done)
		if err := a.http.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			report(fmt.Errorf("serve /metrics on %s: %w; there are no metrics from here on", listener.Addr(), err))
		}
	}()
	return a, nil
}

func indexLine(path, tells string) string { return fmt.Sprintf("  %-20s  %s\n", path, tells) }

func (a *admin) close() error {
	err := a.http.Close()
	<-a.done
	return err
}
