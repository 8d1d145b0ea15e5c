//go:build acceptance

package amqp

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/brokertest"
)

var kinds = map[string]func(testing.TB, bool) brokertest.Located{"Artemis": startArtemis, "ActiveMQ Classic": startClassic}

// Both servers, each with queues and with topics, and with messages that are sent settled. One server of each kind, which dies several times.
func TestServersOfAMQP10(t *testing.T) {
	for kind, start := range kinds {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			server := start(t, true)
			of := brokertest.System{Driver: New, URL: server.URL}
			for _, c := range []struct {
				name, options string
				topic         bool
			}{
				{"queues", `{}`, false},
				{"topics", `{"destination": "topic"}`, true},
				{"settled", `{"settled": true}`, false},
			} {
				t.Run("keep the contract with "+c.name, func(t *testing.T) {
					brokertest.Run(t, func(t *testing.T) brokertest.System {
						return brokertest.System{
							Driver: New, URL: server.URL, DriverOptions: json.RawMessage(c.options), NoGroups: c.topic, NoFanOut: !c.topic, Queues: !c.topic,
							// Artemis does not count a delivery whose connection was lost.
							FlagsRedelivery: kind != "Artemis", Broken: func(*testing.T) { server.Kill() },
						}
					})
				})
				server.Kill() // also where only some of the contract is asked for
				server.Start()
			}
			for _, group := range []string{"", "workers"} {
				t.Run("come back, and consumers go on, group "+group, func(t *testing.T) {
					durable := of
					durable.Durability = "fsync"
					durable.Traffic(t, group).Survives(server.Server)
				})
			}
			t.Run("are given up when they are frozen", func(t *testing.T) { of.Traffic(t, "").NoticesSilence(server.Server) })
			t.Run("let all consumers of a queue work", func(t *testing.T) {
				few := of
				few.DriverOptions = []byte(`{"prefetch": 1}`)
				few.Shares(t)
			})
		})
	}
}

// The levels of durability on the way to the disk: the settings of runner/brokers/amqp.
func TestSyncBelongsToEachAcknowledgementOrToNone(t *testing.T) {
	const n = 50
	for kind, start := range kinds {
		for _, sync := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s that syncs: %t", kind, sync), func(t *testing.T) {
				t.Parallel()
				server := start(t, sync)
				flush := func(durability string, least, most int) {
					brokertest.System{Driver: New, URL: server.URL, Durability: durability}.Flushes(t, server.Server, n, least, most)
				}
				// n messages, each sent when the one before is acknowledged. The queue itself and the server's periodic work take a few flushes more.
				if !sync {
					flush("os", 0, n/2)
					return
				}
				flush("memory", 0, n/2)
				flush("fsync", n, 6*n)
			})
		}
	}
}
