package kafka

import (
	"context"
	"errors"
	"testing"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/brokertest"
)

func TestConformance(t *testing.T) {
	for name, options := range map[string]string{
		"acks all": `{}`,
		"acks 1":   `{"acks": "1", "assignor": "cooperative-sticky"}`,
		"acks 0":   `{"acks": "0"}`,
	} {
		t.Run(name, func(t *testing.T) {
			brokertest.Run(t, func(t *testing.T) brokertest.System {
				s := running(t)
				return brokertest.System{
					Driver:        New,
					DriverOptions: []byte(options),
					URL:           s.url,
					Partitions:    true,
					Exists:        s.exists,
					Broken:        func(*testing.T) { s.kill() },
				}
			})
		})
	}
}

// exists asks the broker for a topic, or a group of its name.
func (s *server) exists(t *testing.T, topic string) bool {
	at, err := parseAddress(s.url)
	if err != nil {
		t.Fatal(err)
	}
	client, err := kgo.NewClient(kgo.SeedBrokers(at.seeds...))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	cluster, err := kadm.NewClient(client).Metadata(context.Background(), topic)
	if err != nil {
		t.Fatal(err)
	}
	groups, err := kadm.NewClient(client).ListGroups(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	_, grouped := groups[topic+".workers"]
	return grouped || !errors.Is(cluster.Topics[topic].Err, kerr.UnknownTopicOrPartition)
}
