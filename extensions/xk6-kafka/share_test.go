package kafka

import (
	"testing"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/brokertest"
)

func TestFourMembersOfAShareGroupCompeteForOnePartition(t *testing.T) {
	brokertest.System{Driver: New, URL: running(t).url, DriverOptions: []byte(`{"groupProtocol": "share", "prefetch": 5}`)}.Shares(t)
}
