package kafka

import (
	"strings"
	"testing"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/brokertest"
)

func TestATopicOfTheUsersOwnHasToFitTheRunAndItsSettingsArePrinted(t *testing.T) {
	s := running(t)
	limit := "2000"
	if _, err := s.admin(t).CreateTopic(t.Context(), 6, 1, map[string]*string{"max.message.bytes": &limit}, "orders"); err != nil {
		t.Fatal(err)
	}
	brokertest.Eventually(t, "the topic is there", func() bool { return s.exists(t, "orders") })
	onExisting := func(messageBytes, partitions int) (*session, error) {
		return prepared(t, broker.Options{Part: broker.Part{Run: "run-1"}, URL: s.url, MessageBytes: messageBytes}, broker.Topic{Name: "orders", Partitions: partitions})
	}
	for _, c := range []struct {
		bytes, partitions int
		complaint         string
	}{
		{100, 3, "topic orders has 6 partitions, and this run expects 3; write partitions: 6"},
		{1600, 6, "topic orders takes batches of at most 2000 bytes (max.message.bytes), and one message of the run needs 2112"},
	} {
		if _, err := onExisting(c.bytes, c.partitions); err == nil || !strings.Contains(err.Error(), c.complaint) {
			t.Errorf("Prepare = %v; want %q", err, c.complaint)
		}
	}
	b, err := onExisting(100, 6)
	if err != nil {
		t.Fatal(err)
	}
	// A batch that is as full as it may be is still taken.
	const n = 1000
	acked := b.sends(t, "orders", n)
	brokertest.Eventually(t, "all are acknowledged", func() bool { return acked.Load() == n })
	settings := b.Describe().Settings
	for key, want := range map[string]string{"topic max.message.bytes": "2000", "topic replicas": "1", "batchBytes": "2000", "topic min.insync.replicas": "1"} {
		if settings[key] != want {
			t.Errorf("%s is %q; want %q", key, settings[key], want)
		}
	}
	if name, err := b.Leader(t.Context(), "orders"); name != "1" || err != nil {
		t.Errorf("Leader = %q, %v; want 1", name, err)
	}
	if name, err := b.Leader(t.Context(), "unled"); err == nil {
		t.Errorf("Leader of a topic that is none = %q", name)
	}
}
