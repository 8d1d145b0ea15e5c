package nsq

import (
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/nsqio/go-nsq"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/brokertest"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/clock"
)

// server is an nsqd of a test's own.
type server struct {
	*brokertest.Server
	tcp, http string
}

// startServer starts one with arguments as it takes them: "--mem-queue-size=0".
func startServer(t testing.TB, args ...string) server {
	t.Helper()
	at := func() string { return "127.0.0.1:" + strconv.Itoa(brokertest.FreePort(t)) }
	s := server{tcp: at(), http: at()}
	argv := append([]string{
		brokertest.Built(t, "nsqd"), "--tcp-address=" + s.tcp, "--http-address=" + s.http, "--data-path=" + t.TempDir(),
		"--max-msg-size=2097152", "--broadcast-address=127.0.0.1",
	}, args...)
	s.Server = brokertest.StartServer(t, "HTTP: listening on", argv...)
	return s
}

func (s server) url() string { return fmt.Sprintf("nsq://%s?http=%s", s.tcp, s.http) }

// asker asks a server past the driver's connections.
func asker(t *testing.T, url string) *session {
	t.Helper()
	s, err := New(broker.Options{URL: url, Connections: 1, MessageBytes: 64, Now: clock.New().Now})
	if err != nil {
		t.Fatal(err)
	}
	return s.(*session)
}

func TestNSQKeepsTheContract(t *testing.T) {
	for name, args := range map[string][]string{"in memory": nil, "on disk": {"--mem-queue-size=0"}} {
		t.Run(name, func(t *testing.T) {
			conforms(t, args, 1)
		})
	}
}

func TestSeveralServersKeepTheContract(t *testing.T) { conforms(t, nil, 2) }

func conforms(t *testing.T, args []string, servers int) {
	var all []server
	tcp, http := "", ""
	for range servers {
		one := startServer(t, args...)
		all, tcp, http = append(all, one), tcp+","+one.tcp, http+","+one.http
	}
	url := "nsq://" + tcp[1:] + "?http=" + http[1:]
	brokertest.Run(t, func(t *testing.T) brokertest.System {
		ask := asker(t, url)
		return brokertest.System{
			Driver: New, URL: url, FlagsRedelivery: true, Holds: int64(99 / servers),
			Broken: func(*testing.T) {
				for _, one := range all {
					one.Kill()
				}
			},
			Exists: func(t *testing.T, topic string) bool {
				said, err := ask.stats(t.Context(), topic)
				if err != nil {
					t.Fatal(err)
				}
				return len(said.Topics) > 0
			},
			Make: func(t *testing.T, topic string, _ int) {
				if err := ask.everywhere(t.Context(), "create", topic, ""); err != nil {
					t.Fatal(err)
				}
			},
			Traces: func(t *testing.T, _ string, topics []string) []string { return channels(t, ask, topics) },
		}
	})
}

// channels gives those of the topics, whosever.
func channels(t *testing.T, ask *session, topics []string) (names []string) {
	t.Helper()
	for _, topic := range topics {
		said, err := ask.stats(t.Context(), topic)
		if err != nil {
			t.Fatal(err)
		}
		for _, match := range regexp.MustCompile(`"channel_name":"([^"]+)"`).FindAllStringSubmatch(fmt.Sprintf("%s", said.Topics), -1) {
			names = append(names, match[1])
		}
	}
	return names
}

func TestTheTableSaysWhatIsDoneForEachMessage(t *testing.T) {
	brokertest.Tabled(t, "NSQ", New, "nsq://here", "")
}

func TestAServerThatRequiresTLSOrIsNoneOfNSQIsAnErrorAndNotAPanicOfTheLibrary(t *testing.T) {
	// What nsqd 1.3.0 with --tls-required answers to anything but IDENTIFY.
	secure, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer secure.Close()
	go func() {
		for {
			conn, err := secure.Accept()
			if err != nil {
				return
			}
			text := "E_INVALID cannot CLS in current state (TLS required)"
			_ = binary.Write(conn, binary.BigEndian, []int32{int32(len(text)) + 4, nsq.FrameTypeError})
			_, _ = io.WriteString(conn, text)
			_ = conn.Close()
		}
	}()
	s := startServer(t)
	for at, want := range map[string]string{secure.Addr().String(): "requires TLS", s.http: "unexpected protocol"} {
		session, err := New(broker.Options{URL: "nsq://" + at, Connections: 1, MessageBytes: 100, Now: clock.New().Now})
		if err != nil {
			t.Fatal(err)
		}
		if err := session.Open(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Open = %v; want %q", err, want)
		}
		_ = session.Close()
	}
}
