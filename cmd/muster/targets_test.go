package main

import "testing"

// TestParseTarget holds what a name of a target asks for.
func TestParseTarget(t *testing.T) {
	for name, want := range map[string]targetSpec{
		"impl":             {kind: implTarget},
		"impl+tcp":         {kind: implTCPTarget},
		"impl+serve":       {kind: implServeTarget},
		"model:3.9.2":      {kind: modelTarget},
		"kfake":            {kind: kfakeTarget},
		"rdkafka-mock":     {kind: rdkafkaTarget},
		"kafka:4.3.1":      {kind: kafkaTarget, release: "4.3.1"},
		"kafka:4.4.0-rc1":  {kind: kafkaTarget, release: "4.4.0-rc1"},
		"kafka:3.9.2+java": {kind: kafkaTarget, release: "3.9.2+java"},
		"kafka:9092":       {kind: addressTarget}, // a host of that name
		"127.0.0.1:9092":   {kind: addressTarget},
	} {
		want.name = name
		if got, err := parseTarget(name); err != nil || got != want {
			t.Errorf("%s: %+v, %v; want %+v", name, got, err, want)
		}
	}
	for _, name := range []string{"kafka:3.9", "kafka:3.9.2+scala", "kafka"} {
		if got, err := parseTarget(name); err == nil {
			t.Errorf("%s was taken for %+v", name, got)
		}
	}
}
