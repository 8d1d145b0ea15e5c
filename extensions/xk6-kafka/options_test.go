package kafka

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/clock"
)

func TestAddresses(t *testing.T) {
	for text, want := range map[string]address{
		"kafka://a":                    {seeds: []string{"a"}},
		"kafka://a:1,b:2,c":            {seeds: []string{"a:1", "b:2", "c"}},
		"kafkas://a:1/":                {seeds: []string{"a:1"}, tls: true},
		"kafka://u:p@a:1,b:2":          {seeds: []string{"a:1", "b:2"}, user: "u", password: "p"},
		"kafka://u%40x:p%2Fq%3A%25@a":  {seeds: []string{"a"}, user: "u@x", password: "p/q:%"},
		"kafka://u:p@ss:word@[::1]:92": {seeds: []string{"[::1]:92"}, user: "u", password: "p@ss:word"},
	} {
		got, err := parseAddress(text)
		if err != nil || !slices.Equal(got.seeds, want.seeds) || got.user != want.user || got.password != want.password || got.tls != want.tls {
			t.Errorf("parseAddress(%q) = %+v, %v, want %+v", text, got, err, want)
		}
	}
	for text, want := range map[string]string{
		"":                       "must begin with kafka:// or kafkas://",
		"nats://u:s3cr3t@a":      "must begin with kafka:// or kafkas://",
		"kafka://u:s3cr3t@":      "names no host",
		"kafka://u:s3cr3t@a,,b":  "an empty one between commas",
		"kafka://u:s3cr3t%@a":    "a % that is no escape",
		"kafka://u:s3cr3t@a/b":   "must end after its hosts",
		"kafka://u:s3cr3t@a?b=c": "must end after its hosts",
	} {
		_, err := parseAddress(text)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "s3cr3t") {
			t.Errorf("parseAddress(%q) = %v, want a sentence with %q, and no secret", text, err, want)
		}
	}
}

func TestOptionsThatMakeNoSenseAreRefusedBeforeAnythingIsDone(t *testing.T) {
	for _, c := range []struct{ durability, options, want string }{
		{"", `{"acks": "2"}`, `acks "2" is none of 0, 1, all`},
		{"", `{"acks": "1", "idempotence": true}`, "idempotence needs acks all"},
		{"", `{"compression": "rar"}`, `compression "rar" is none of`},
		{"", `{"assignor": "mine"}`, `assignor "mine" is none of`},
		{"", `{"tls": {"cert": "x"}}`, "cert and key belong together"},
		{"", `{"tls": {"ca": "/nowhere/ca.pem"}}`, "read ca: open /nowhere/ca.pem"},
		{"", `{"tls": {"nosuch": 1}}`, "nosuch"},
		{"", `{"sasl": "kerberos"}`, `sasl "kerberos" is none of`},
		{"sometimes", `{}`, `durability "sometimes" is none of`},
	} {
		_, err := New(broker.Options{
			URL: "kafka://u:s3cr3t@127.0.0.1:1", Driver: []byte(c.options), Durability: c.durability, Connections: 1, Now: clock.New().Now,
		})
		if err == nil || !strings.HasPrefix(err.Error(), "kafka: ") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("New(%s) = %v, want %q", c.options, err, c.want)
		}
	}
}

func TestSettingsTellWhatTheLibraryWasTold(t *testing.T) {
	session, err := New(broker.Options{
		URL: "kafka://a", Connections: 2, MessageBytes: 2 << 20, InFlight: 500, TimeoutNs: int64(30 * time.Second), Replicas: 3, Durability: "fsync",
		Driver: []byte(`{"lingerNs": 5000000, "compression": "zstd", "minInsyncReplicas": 2}`), Now: clock.New().Now,
	})
	if err != nil {
		t.Fatal(err)
	}
	got := session.Describe().Settings
	for key, want := range map[string]string{
		"acks": "all", "idempotence": "true", "linger": "5ms", "compression": "zstd", "batchBytes": "2097664", "bufferedRecords": "1500",
		"recordTimeout": "30s", "requestTimeout": "15s", "recordRetries": "until recordTimeout", "fetchMinBytes": "1",
		"topic max.message.bytes": "2163200", "topic flush.messages": "1", "topic min.insync.replicas": "2", "topic replicas": "3",
	} {
		if got[key] != want {
			t.Errorf("setting %s = %q, want %q", key, got[key], want)
		}
	}
}

func TestABatchIsAsLargeAsAskedForAndHoldsAtLeastOneMessage(t *testing.T) {
	for _, c := range []struct {
		options string
		bytes   int
		want    int64
	}{
		{`{"batchBytes": 16384}`, 1024, 16384},
		{`{"batchBytes": 16384}`, 65536, 65536 + recordBytes},
		{`{}`, 1024, 1 << 20},
	} {
		got, err := decode(broker.Options{Driver: []byte(c.options), MessageBytes: c.bytes})
		if err != nil || got.BatchBytes != c.want {
			t.Errorf("decode(%s) with messages of %d bytes: batch %d, %v, want %d", c.options, c.bytes, got.BatchBytes, err, c.want)
		}
	}
}

func TestWithoutABrokerOpenFailsSoonAndNamesIt(t *testing.T) {
	session, err := New(broker.Options{URL: "kafka://127.0.0.1:1,127.0.0.1:2", Connections: 1, Now: clock.New().Now})
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	began := time.Now()
	err = session.Open(context.Background())
	if err == nil || !strings.Contains(err.Error(), "127.0.0.1") {
		t.Errorf("Open = %v; want where nothing answers", err)
	}
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("Open took %s", took)
	}
}

func TestPatternsStandForOneWordBetweenDots(t *testing.T) {
	for _, c := range []struct {
		pattern, name string
		want          bool
	}{
		{"mqbench.r.1.*", "mqbench.r.1.0", true},
		{"mqbench.r.1.*", "mqbench.r.1.0.x", false},
		{"mqbench.r.1.*", "mqbench.r.10.0", false},
		{"mqbench.*.1.0", "mqbench.r.1.0", true},
	} {
		if got := matches(c.pattern, c.name); got != c.want {
			t.Errorf("matches(%q, %q) = %v", c.pattern, c.name, got)
		}
	}
}
