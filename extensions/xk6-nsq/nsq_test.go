package nsq

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/brokertest"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/clock"
)

// startServer starts an nsqd with arguments as it takes them: "--mem-queue-size=0".
func startServer(t testing.TB, args ...string) brokertest.Located {
	t.Helper()
	tcp, http := fmt.Sprintf("127.0.0.1:%d", brokertest.FreePort(t)), fmt.Sprintf("127.0.0.1:%d", brokertest.FreePort(t))
	argv := append([]string{
		brokertest.Built(t, "nsqd"), "--tcp-address=" + tcp, "--http-address=" + http, "--data-path=" + t.TempDir(),
		"--max-msg-size=2097152", "--broadcast-address=127.0.0.1",
	}, args...)
	return brokertest.Located{Server: brokertest.StartServer(t, "HTTP: listening on", argv...), URL: "nsq://" + tcp + "?http=" + http}
}

func TestNSQKeepsTheContract(t *testing.T) {
	for name, args := range map[string][]string{"in memory": nil, "on disk": {"--mem-queue-size=0"}} {
		t.Run(name, func(t *testing.T) {
			conforms(t, startServer(t, args...))
		})
	}
}

func TestSeveralServersKeepTheContract(t *testing.T) { conforms(t, startServer(t), startServer(t)) }

func conforms(t *testing.T, servers ...brokertest.Located) {
	var tcp, http []string
	for _, one := range servers {
		at, behind, _ := strings.Cut(strings.TrimPrefix(one.URL, "nsq://"), "?http=")
		tcp, http = append(tcp, at), append(http, behind)
	}
	url := "nsq://" + strings.Join(tcp, ",") + "?http=" + strings.Join(http, ",")
	brokertest.Run(t, func(t *testing.T) brokertest.System {
		// Asks past the driver's connections.
		made, err := New(broker.Options{URL: url, Connections: 1, MessageBytes: 64, Now: clock.New().Now})
		if err != nil {
			t.Fatal(err)
		}
		ask := made.(*session)
		stats := func(t *testing.T, topic string) []json.RawMessage {
			said, err := ask.stats(t.Context(), topic)
			if err != nil {
				t.Fatal(err)
			}
			return said.Topics
		}
		return brokertest.System{
			// What a member leaves behind comes again after this time; the default is a minute.
			DriverOptions: []byte(`{"msgTimeoutNs": 5000000000}`),
			Driver:        New, URL: url, FlagsRedelivery: true, Holds: int64(99 / len(servers)),
			Broken: func(*testing.T) {
				for _, one := range servers {
					one.Kill()
				}
			},
			Exists: func(t *testing.T, topic string) bool { return len(stats(t, topic)) > 0 },
			Make: func(t *testing.T, topic string, _ int) {
				if err := ask.everywhere(t.Context(), "/topic/create", topic, ""); err != nil {
					t.Fatal(err)
				}
			},
			Traces: func(t *testing.T, _ string, topics []string) (channels []string) {
				for _, topic := range topics {
					of := regexp.MustCompile(`"channel_name":"[^"]+"`).FindAllString(fmt.Sprintf("%s", stats(t, topic)), -1)
					channels = append(channels, of...)
				}
				return channels
			},
		}
	})
}

func TestTheTableSaysWhatIsDoneForEachMessage(t *testing.T) {
	brokertest.Tabled(t, "NSQ", New, "nsq://here", "")
}

func TestAServerThatRequiresTLSOrIsNoneOfNSQIsAnErrorAndNotAPanicOfTheLibrary(t *testing.T) {
	certificate, key := brokertest.Certificate(t, t.TempDir())
	secure := startServer(t, "--tls-required=tcp-https", "--tls-cert="+certificate, "--tls-key="+key)
	_, http, _ := strings.Cut(startServer(t).URL, "?http=")
	brokertest.System{Driver: New, URL: secure.URL}.RefusedWith(t, 64, "requires TLS")
	brokertest.System{Driver: New, URL: "nsq://" + http}.RefusedWith(t, 64, "unexpected protocol")
}
