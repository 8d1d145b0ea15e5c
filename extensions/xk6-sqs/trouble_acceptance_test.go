//go:build acceptance

package sqs

import (
	"testing"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/brokertest"
)

func TestAllConsumersOfAQueueWork(t *testing.T) {
	brokertest.Shared(t, New, startServer(t).url, `{"prefetch": 1}`, "a.queue")
}

// Each request that is not answered ends with its timeout, which is half a minute here.
func TestAFrozenServerIsGivenUp(t *testing.T) {
	server := startServer(t)
	session := brokertest.Opened(t, New, server.url, "", "", "a.queue")
	traffic := brokertest.TrafficOf(t, session, "a.queue", "")
	traffic.Send(1)
	brokertest.Eventually(t, "the first message arrives", func() bool { return traffic.Received(1) > 0 })
	server.Freeze()
	traffic.Send(2)
	brokertest.Eventually(t, "the message that it does not answer is unknown", func() bool { return traffic.Unknown(2) > 0 })
}
