//go:build acceptance

package nsq

import (
	"testing"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/brokertest"
)

func TestAFrozenServerIsGivenUp(t *testing.T) {
	server := startServer(t)
	brokertest.System{Driver: New, URL: server.URL}.Traffic(t, "").NoticesSilence(server.Server)
}
