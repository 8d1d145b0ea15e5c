//go:build acceptance

package nats

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/brokertest"
)

// TestAClusterGoesOnWithoutItsLeader is the short one.
func TestAClusterGoesOnWhenOneLeaderAfterTheOtherDies(t *testing.T) {
	failover(t, 3, 6, inCluster)
}

func TestAStreamWithoutCopiesGoesOnWhenItsNodeIsBack(t *testing.T) { failover(t, 1, 1, inCluster) }

func TestBatchesConform(t *testing.T) {
	for _, publish := range []string{publishAtomic, publishFast} {
		t.Run(publish, func(t *testing.T) {
			t.Parallel()
			brokertest.Run(t, func(t *testing.T) brokertest.System {
				s := start(t, stored(t))
				return brokertest.System{
					// An atomic batch on disk costs flushes and a folder.
					Driver: New, URL: s.ClientURL(), DriverOptions: with(inBatches(publish, 7, time.Millisecond), `"ackWaitNs": 1000000000`), Durability: "memory", Broken: stops(s),
					Holds: 99, FlagsRedelivery: true,
					Make: func(t *testing.T, topic string, _ int) {
						makes(t, s.ClientURL(), jetstream.StreamConfig{
							Name: "USERS-" + streamName(topic), Subjects: []string{topic}, AllowAtomicPublish: true, AllowBatchPublish: true,
						})
					},
				}
			})
		})
	}
}

func TestBatchesGoOnWithoutTheirLeader(t *testing.T) {
	for _, publish := range []string{publishAtomic, publishFast} {
		t.Run(publish, func(t *testing.T) {
			failover(t, 3, 2, string(with(inBatches(publish, 20, 20*time.Millisecond), `"ackWaitNs": 5000000000`)))
		})
	}
}

func with(options, more string) json.RawMessage {
	return json.RawMessage(strings.Replace(options, "{", "{"+more+", ", 1))
}
