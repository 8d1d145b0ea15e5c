package nsq

import (
	"strings"
	"testing"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/brokertest"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/clock"
)

// A server that is killed loses what is in its memory, and knows its topics and channels again when it comes back.
func TestConsumersGoOnWhenTheServerHasComeBack(t *testing.T) {
	for name, args := range map[string][]string{"in memory": nil, "on disk": {"--mem-queue-size=0"}} {
		for _, group := range []string{"", "workers"} {
			t.Run(name+" "+group, func(t *testing.T) {
				server := startServer(t, args...)
				brokertest.System{Driver: New, URL: server.url()}.Traffic(t, group).Survives(server.Server)
			})
		}
	}
}

func TestAllMembersOfAChannelWork(t *testing.T) {
	brokertest.System{Driver: New, URL: startServer(t).url(), DriverOptions: []byte(`{"prefetch": 1}`)}.Shares(t)
}

func TestAServerWithoutItsHTTPPortIsNamed(t *testing.T) {
	server := startServer(t)
	s, err := New(broker.Options{URL: "nsq://" + server.tcp + "?http=127.0.0.1:1", Connections: 1, MessageBytes: 64, Now: clock.New().Now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	if err := s.Open(t.Context()); err == nil || !strings.Contains(err.Error(), "?http=host:port") {
		t.Errorf("the error %v does not say what to write", err)
	}
}

func TestAMessageAboveTheLimitIsRefusedInTheServersWords(t *testing.T) {
	server := startServer(t, "--max-msg-size=65536")
	brokertest.System{Driver: New, URL: server.url()}.RefusesAbove(t, "large", 65536, "E_BAD_MESSAGE PUB message too big 65537 > 65536")
}
