package mybroker

import (
	"fmt"
	"testing"
	"time"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/brokertest"
)

// start runs the server until the test is over. For your own broker, start its program, or return the address of one that runs.
func start(t testing.TB) (*brokertest.Server, brokertest.System) {
	address := fmt.Sprintf("127.0.0.1:%d", brokertest.FreePort(t))
	server := brokertest.StartServer(t, "listening on", brokertest.Program(t, "./server"), "-listen", address)
	// The fields of System say what brokertest may expect of a broker.
	return server, brokertest.System{Driver: New, URL: "mybroker://" + address, FlagsRedelivery: true}
}

func TestContract(t *testing.T) {
	server, system := start(t)
	system.Broken = func(*testing.T) { server.Kill() }
	brokertest.Run(t, func(*testing.T) brokertest.System { return system })
}

func TestGoesOnWhenTheServerIsKilledAndComesBack(t *testing.T) {
	for _, group := range []string{"", "workers"} {
		server, system := start(t)
		system.Traffic(t, group).Survives(server)
	}
}

func TestGivesUpAServerThatIsFrozen(t *testing.T) {
	server, system := start(t)
	system.Timeout = time.Second
	system.Traffic(t, "workers").NoticesSilence(server)
}

func TestAllMembersOfAGroupWork(t *testing.T) {
	_, system := start(t)
	system.Shares(t)
}
