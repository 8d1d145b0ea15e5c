//go:build acceptance

package nsq

import (
	"testing"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/brokertest"
)

func TestAFrozenServerIsGivenUp(t *testing.T) {
	server := startServer(t)
	brokertest.TrafficOf(t, opened(t, server.url()), "a.topic", "").NoticesSilence(t, server.Server)
}
