//go:build acceptance

package sqs

import (
	"testing"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/brokertest"
)

func TestAllConsumersOfAQueueWork(t *testing.T) {
	brokertest.System{Driver: New, URL: startServer(t).URL, DriverOptions: []byte(`{"prefetch": 1}`)}.Shares(t)
}

// Each request that is not answered ends with its timeout, which is half a minute here.
func TestAFrozenServerIsGivenUp(t *testing.T) {
	server := startServer(t)
	traffic := brokertest.System{Driver: New, URL: server.URL}.Traffic(t, "")
	traffic.Arrives()
	server.Freeze()
	traffic.Send()
	brokertest.Eventually(t, "the message that it does not answer is unknown", func() bool { return traffic.Unknown() > 0 })
}
