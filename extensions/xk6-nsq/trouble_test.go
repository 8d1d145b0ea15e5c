package nsq

import (
	"strings"
	"testing"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/brokertest"
)

// A server that is killed loses the messages in its memory, and still has its topics and channels when it comes back.
func TestConsumersGoOnWhenTheServerHasComeBack(t *testing.T) {
	for name, args := range map[string][]string{"in memory": nil, "on disk": {"--mem-queue-size=0"}} {
		for _, group := range []string{"", "workers"} {
			t.Run(name+" "+group, func(t *testing.T) {
				server := startServer(t, args...)
				brokertest.System{Driver: New, URL: server.URL}.Traffic(t, group).Survives(server.Server)
			})
		}
	}
}

func TestAllMembersOfAChannelWork(t *testing.T) {
	brokertest.System{Driver: New, URL: startServer(t).URL, DriverOptions: []byte(`{"prefetch": 1}`)}.Shares(t)
}

func TestAServerWithoutItsHTTPPortIsNamed(t *testing.T) {
	tcp, _, _ := strings.Cut(startServer(t).URL, "?")
	brokertest.System{Driver: New, URL: tcp + "?http=127.0.0.1:1"}.RefusedWith(t, 64, "?http=host:port")
}

func TestAMessageAboveTheLimitIsRefusedInTheServersWords(t *testing.T) {
	server := startServer(t, "--max-msg-size=65536")
	brokertest.System{Driver: New, URL: server.URL}.RefusesAbove(t, "large", 65536, "E_BAD_MESSAGE PUB message too big 65537 > 65536")
}
