package mybroker

import (
	"strconv"
	"testing"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/brokertest"
)

// start runs the server until the test is over. For your own broker, start its program, or return the address of one that runs.
func start(t testing.TB) (*brokertest.Server, brokertest.System) {
	port := strconv.Itoa(brokertest.FreePort(t))
	server := brokertest.StartServer(t, "listening on", "node", "server.mjs", port)
	// The fields of System say what brokertest may expect of a broker.
	return server, brokertest.System{Driver: New, URL: "mybroker://127.0.0.1:" + port, FlagsRedelivery: true}
}

func TestTheDriver(t *testing.T) { brokertest.Simple(t, start) }
