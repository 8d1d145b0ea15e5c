package kafka

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/clock"
)

func TestOptionsThatMakeNoSenseAreRefusedBeforeAnythingIsDone(t *testing.T) {
	for _, c := range []struct{ durability, options, want string }{
		{"", `{"acks": "2"}`, `acks must be one of all, 1, 0, got "2"`},
		{"", `{"compression": "rar"}`, `compression must be one of`},
		{"", `{"assignor": "mine"}`, `assignor must be one of`},
		{"", `{"tls": {"cert": "x"}}`, "cert and key belong together"},
		{"", `{"tls": {"ca": "/nowhere/ca.pem"}}`, "read ca: open /nowhere/ca.pem"},
		{"", `{"tls": {"nosuch": 1}}`, "nosuch"},
		{"", `{"sasl": "kerberos"}`, `sasl must be one of`},
		{"sometimes", `{}`, `durability must be memory, os, interval or fsync, got "sometimes"`},
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

func TestATopicTakesWhatItsServerIsToldOrTheLimitOfTheRun(t *testing.T) {
	for _, c := range []struct {
		options     string
		limit       int
		batch, most string
	}{
		{`{}`, 0, "1048576", "1114112"},
		{`{"messageMaxBytes": 100000}`, 0, "100000", "100000"},
		// A batch of one record of the limit, to the byte.
		{`{}`, 1048516, "1048576", "1048588"},
		{`{"messageMaxBytes": 100000}`, 99928, "100000", "100000"},
	} {
		session, err := New(broker.Options{
			URL: "kafka://a", Connections: 1, MessageBytes: 1000, LimitBytes: c.limit, Driver: []byte(c.options), Now: clock.New().Now,
		})
		if err != nil {
			t.Fatal(err)
		}
		got := session.Describe().Settings
		if got["batchBytes"] != c.batch || got["topic max.message.bytes"] != c.most {
			t.Errorf("%s, limit %d: batchBytes %s, max.message.bytes %s, want %s and %s",
				c.options, c.limit, got["batchBytes"], got["topic max.message.bytes"], c.batch, c.most)
		}
	}
}
