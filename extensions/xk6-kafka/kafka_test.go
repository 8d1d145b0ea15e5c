package kafka

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/brokertest"
)

func TestConformance(t *testing.T) {
	t.Run("acks all", func(t *testing.T) { conforms(t, `{"sessionTimeoutNs": 6000000000}`, nil) })
	t.Run("acks 0", func(t *testing.T) {
		conforms(t, `{"acks": "0", "groupProtocol": "consumer", "sessionTimeoutNs": 6000000000}`, func(*testing.T) { shared.kill() })
	})
}

// conforms puts the driver with these options through the contract. broken, if not nil, takes the shared broker away in the end.
func conforms(t *testing.T, options string, broken func(*testing.T)) {
	brokertest.Run(t, func(t *testing.T) brokertest.System {
		s := running(t)
		return brokertest.System{
			Driver: New, DriverOptions: []byte(options), URL: s.url, Partitions: true, Holds: 1, Exists: s.exists, Make: s.make, Traces: s.traces, Broken: broken,
			FlagsRedelivery: strings.Contains(options, byMessage), HoldsBack: map[bool]time.Duration{true: 20 * time.Millisecond}[strings.Contains(options, "transaction")],
		}
	})
}

// exists asks the broker for a topic, or a group of its name.
func (s *server) exists(t *testing.T, topic string) bool {
	t.Helper()
	cluster, err := s.admin(t).Metadata(context.Background(), topic)
	if err != nil {
		t.Fatal(err)
	}
	return len(s.traces(t, topic+".workers", nil)) > 0 || !errors.Is(cluster.Topics[topic].Err, kerr.UnknownTopicOrPartition)
}

// make makes a topic as its user would.
func (s *server) make(t *testing.T, topic string, partitions int) {
	t.Helper()
	if _, err := s.admin(t).CreateTopic(t.Context(), int32(partitions), 1, nil, topic); err != nil {
		t.Fatal(err)
	}
	brokertest.Eventually(t, "topic "+topic+" is there", func() bool { return s.exists(t, topic) })
}

// traces are the groups of a run.
func (s *server) traces(t *testing.T, run string, _ []string) (names []string) {
	t.Helper()
	groups, err := s.admin(t).ListGroups(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range groups.Groups() {
		if strings.HasPrefix(name, run) {
			names = append(names, name)
		}
	}
	return names
}

func (s *server) admin(t *testing.T) *kadm.Client {
	t.Helper()
	client, err := kgo.NewClient(kgo.SeedBrokers(strings.TrimPrefix(s.url, "kafka://")))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return kadm.NewClient(client)
}
