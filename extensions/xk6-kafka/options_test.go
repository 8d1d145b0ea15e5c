package kafka

import (
	"strings"
	"testing"
	"time"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/brokertest"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/clock"
)

func TestOptionsThatMakeNoSenseAreRefusedBeforeAnythingIsDone(t *testing.T) {
	for _, c := range []struct{ options, want string }{
		{`{"acks": "2"}`, `acks must be one of all, 1, 0, got "2"`},
		{`{"tls": {"nosuch": 1}}`, "nosuch"},
	} {
		_, err := New(broker.Options{URL: "kafka://u:s3cr3t@127.0.0.1:1", Driver: []byte(c.options), Connections: 1, Now: clock.New().Now})
		if err == nil || !strings.HasPrefix(err.Error(), "kafka: ") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("New(%s) = %v, want %q", c.options, err, c.want)
		}
	}
}

func TestSettingsTellWhatTheLibraryWasTold(t *testing.T) {
	got := settingsOf(t, broker.Options{
		MessageBytes: 2 << 20, InFlight: 500, TimeoutNs: int64(30 * time.Second), Replicas: 3, Durability: "fsync",
		Driver: []byte(`{"lingerNs": 5000000, "compression": "zstd", "minInsyncReplicas": 2}`),
	})
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

// settingsOf returns the settings of a session that is not open.
func settingsOf(t *testing.T, o broker.Options) map[string]string {
	t.Helper()
	o.URL, o.Connections, o.Now = "kafka://a", 1, clock.New().Now
	session, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return session.Describe().Settings
}

func TestBatchesAndTopicsFitTheMessages(t *testing.T) {
	for _, c := range []struct {
		options     string
		bytes       int
		limit       int
		batch, most string
	}{
		{`{}`, 1000, 0, "1048576", "1114112"},
		{`{"batchBytes": 16384}`, 1024, 0, "16384", "81920"},
		{`{"batchBytes": 16384}`, 65536, 0, "66048", "131584"}, // at least one message
		{`{"messageMaxBytes": 100000}`, 1000, 0, "100000", "100000"},
		// A batch of one record of the limit, to the byte.
		{`{}`, 1000, 1048516, "1048576", "1048588"},
		{`{"messageMaxBytes": 100000}`, 1000, 99928, "100000", "100000"},
	} {
		got := settingsOf(t, broker.Options{MessageBytes: c.bytes, LimitBytes: c.limit, Driver: []byte(c.options)})
		if got["batchBytes"] != c.batch || got["topic max.message.bytes"] != c.most {
			t.Errorf("%s, %d bytes, limit %d: batchBytes %s, max.message.bytes %s, want %s and %s",
				c.options, c.bytes, c.limit, got["batchBytes"], got["topic max.message.bytes"], c.batch, c.most)
		}
	}
}

func TestWithoutABrokerOpenFailsSoonAndNamesIt(t *testing.T) {
	refuses(t, broker.Options{URL: "kafka://127.0.0.1:1,127.0.0.1:2"}, "127.0.0.1")
}

func TestTheTableSaysWhatIsDoneForEachMessage(t *testing.T) {
	brokertest.Tabled(t, "Kafka", New, "kafka://here", "")
}

func TestPartitionsAreSharedOutWhenNoneIsGoingToMove(t *testing.T) {
	for _, c := range []struct {
		owned           []int
		partitions      int
		competing, want bool
	}{
		{[]int{4}, 4, false, true},
		{[]int{2, 2}, 4, false, true},
		{[]int{1, 2, 1}, 4, false, true},
		{[]int{1, 1, 0}, 2, false, true}, // more members than partitions
		{[]int{2, 1}, 4, false, false},   // one is still to be assigned
		{[]int{4, 0}, 4, false, false},   // cooperative: the first is about to give up two
		{[]int{3, 1}, 4, false, false},
		{[]int{2, 0, 0}, 2, false, false},
		{[]int{4}, 4, true, true},
		{[]int{1, 1, 1}, 1, true, true},
		{[]int{2, 1}, 4, true, false},
		{[]int{1, 0}, 1, true, false},
	} {
		if got := sharedOut(c.owned, c.partitions, c.competing); got != c.want {
			t.Errorf("%v of %d partitions, competing %v: %v", c.owned, c.partitions, c.competing, got)
		}
	}
}
