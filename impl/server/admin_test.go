package server_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"

	"github.com/muster-kafka/muster/impl/server"
)

// A group that a client makes shows in the metrics that the server serves.
func TestMetricsAreServed(t *testing.T) {
	s, _ := start(t, func(o *server.Options) { o.Admin = "127.0.0.1:0" })
	versions := kversion.Stable()
	versions.SetMaxKeyVersion(kmsg.JoinGroup.Int16(), 3)
	cl, err := kgo.NewClient(kgo.SeedBrokers(s.Addr()), kgo.MaxVersions(versions))
	if err != nil {
		t.Fatal(err)
	}
	defer cl.Close()
	req := kmsg.NewPtrJoinGroupRequest()
	req.Group, req.ProtocolType, req.SessionTimeoutMillis, req.RebalanceTimeoutMillis = "seen", "consumer", 60000, 60000
	p := kmsg.NewJoinGroupRequestProtocol()
	p.Name = "range"
	req.Protocols = append(req.Protocols, p)
	if _, err := cl.SeedBrokers()[0].Request(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	if g, ok := s.Stats().Group("seen"); !ok || g.Generation != 1 || g.Members != 1 || g.Rebalances != 1 {
		t.Errorf("the group is %+v", g)
	}
	transport := &http.Transport{DisableKeepAlives: true}
	resp, err := (&http.Client{Transport: transport}).Get("http://" + s.AdminAddr() + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`muster_group_state{group="seen",state="CompletingRebalance"} 1`, `muster_groups{state="CompletingRebalance"} 1`, `muster_rebalances_total{reason="a member joined"} 1`} {
		if !strings.Contains(string(text), want) {
			t.Errorf("%s is not in\n%s", want, text)
		}
	}
}

func TestAdminAddressInUse(t *testing.T) {
	s, _ := start(t)
	if other, err := server.Start(server.Options{Admin: s.Addr()}); err == nil || !strings.Contains(err.Error(), "choose another address") {
		t.Errorf("an address in use was accepted, or its error does not help: %v", err)
		if err == nil {
			_ = other.Close()
		}
	}
}
