package nsq

import (
	"strings"
	"testing"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/brokertest"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/clock"
)

func opened(t *testing.T, url string, groups ...string) broker.Session {
	t.Helper()
	return brokertest.Opened(t, New, url, "", "", "a.topic", groups...)
}

// A server that is killed loses what is in its memory, and knows its topics and channels again when it comes back.
func TestConsumersGoOnWhenTheServerHasComeBack(t *testing.T) {
	for name, args := range map[string][]string{"in memory": nil, "on disk": {"--mem-queue-size=0"}} {
		for _, group := range []string{"", "workers"} {
			t.Run(name+" "+group, func(t *testing.T) {
				server := startServer(t, args...)
				session := opened(t, server.url(), group)
				brokertest.TrafficOf(t, session, "a.topic", group).Survives(t, session, server.Server)
			})
		}
	}
}

func TestAllMembersOfAChannelWork(t *testing.T) {
	brokertest.Shared(t, New, startServer(t).url(), `{"prefetch": 1}`, "a.topic")
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
	brokertest.RefusesAbove(t, New, server.url(), "", "large", 65536, "E_BAD_MESSAGE PUB message too big 65537 > 65536")
}
