package pulsar

import (
	"testing"

	"github.com/apache/pulsar-client-go/pulsar"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/brokertest"
)

func TestTheTableSaysWhatIsDoneForEachMessage(t *testing.T) {
	brokertest.Tabled(t, "Pulsar", New, "pulsar://here", "")
}

func TestWhatCannotBeDoneIsRefusedBeforeAConnection(t *testing.T) {
	for _, c := range []struct{ options, url, says string }{
		{`{"subscription": "some"}`, "pulsar://here", "subscription"},
		{`{}`, "redis://here", "pulsar:// or pulsar+ssl://"},
		{`{}`, "pulsar://here?admin=there", "?http=host:port"},
		{`{}`, "pulsar://:s3cr3t@", "empty host"},
	} {
		brokertest.System{Driver: New, URL: c.url, DriverOptions: []byte(c.options)}.RefusedWith(t, 64, c.says)
	}
}

func TestTheAdminAPIIsWhereTheURLSays(t *testing.T) {
	for url, want := range map[string]string{
		"pulsar://here":                   "http://here:8080/admin/v2/",
		"pulsar://here:1,there?http=it:2": "http://it:2/admin/v2/",
		"pulsar+ssl://here":               "https://here:8443/admin/v2/",
	} {
		s, err := New(broker.Options{URL: url})
		if err != nil {
			t.Fatal(err)
		}
		if got := s.(*session).admin; got != want {
			t.Errorf("the admin API of %s is %s, want %s", url, got, want)
		}
	}
}

func TestTopicsHaveTheirPlaceInTheAdminAPI(t *testing.T) {
	for name, want := range map[string]string{
		"orders":                          "persistent/public/default/orders",
		"new orders":                      "persistent/public/default/new%20orders",
		"non-persistent://a/b/orders.new": "non-persistent/a/b/orders.new",
	} {
		if got := path(name); got != want {
			t.Errorf("%s is at %s, want %s", name, got, want)
		}
	}
}

type topic uint32

func (t topic) NumPartitions() uint32 { return uint32(t) }

// The hashes are those of Java's String.hashCode.
func TestAKeyHasThePartitionThatPulsarsOwnClientsTake(t *testing.T) {
	for key, hash := range map[string]uint32{"": 0, "a": 97, "orders": 3286196965, "key-17": 3160244308} {
		w := &wire{partition: -1}
		if got, want := w.route(&pulsar.ProducerMessage{Key: key}, topic(1000)), int(hash%1000); got != want {
			t.Errorf("the key %q goes to %d, want %d", key, got, want)
		}
	}
	if got := (&wire{partition: 3}).route(&pulsar.ProducerMessage{Key: "a"}, topic(4)); got != 3 {
		t.Errorf("a message to partition 3 goes to %d", got)
	}
}
