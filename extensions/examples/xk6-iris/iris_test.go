package iris

import (
	"bufio"
	"encoding/binary"
	"io"
	"net"
	"slices"
	"sync"
	"testing"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/brokertest"
)

func TestMain(m *testing.M) { brokertest.OwnServerOr(m, serve) }

func start(t testing.TB) (*brokertest.Server, brokertest.System) {
	server, at := brokertest.StartOwnServer(t)
	return server, brokertest.System{Driver: New, URL: "iris://" + at, NoGroups: true}
}

func TestTheDriver(t *testing.T) { brokertest.Simple(t, start) }

func TestARelayThatIsFrozenHoldsUpASendAndCloseEndsThat(t *testing.T) {
	server, system := start(t)
	freezes(t, server, system)
}

func freezes(t *testing.T, server *brokertest.Server, system brokertest.System) {
	traffic := system.Traffic(t, "")
	traffic.Arrives()
	stop := traffic.HeldUp(server)
	if err := traffic.Session.Close(); err != nil {
		t.Error(err)
	}
	stop()
	if traffic.Unknown() == 0 {
		t.Error("a send that was held up counts as sent")
	}
}

func TestARefusalIsToldAndAnotherServerIsNone(t *testing.T) {
	for answer, words := range map[string]string{
		string(packet(nil, 1, []byte(relayMagic), []byte("Unsupported protocol."))): `the relay refuses: "Unsupported protocol."`,
		"-ERR unknown command 'iris-client-magic', with args beginning with: \r\n":  "EOF",
		string(packet(nil, opInit, []byte("other-magic"), []byte("1"))):             `the relay refuses: "1"`,
	} {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			conn, err := listener.Accept()
			if err == nil {
				_, _ = io.CopyN(io.Discard, conn, 32)
				_, _ = io.WriteString(conn, answer)
				_ = conn.Close()
			}
		}()
		brokertest.System{Driver: New, URL: "iris://" + listener.Addr().String()}.RefusedWith(t, 64, words)
		_ = listener.Close()
	}
}

// --- a relay of the test ---

type relay struct {
	mu          sync.Mutex
	subscribers map[string][]net.Conn
}

func serve(listener net.Listener) {
	r := &relay{subscribers: map[string][]net.Conn{}}
	for {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		go r.client(conn)
	}
}

func (r *relay) client(conn net.Conn) {
	from := bufio.NewReader(conn)
	read := func() []byte {
		size, _ := binary.ReadUvarint(from)
		data := make([]byte, size)
		_, _ = io.ReadFull(from, data)
		return data
	}
	defer func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		for topic, all := range r.subscribers {
			r.subscribers[topic] = slices.DeleteFunc(all, func(one net.Conn) bool { return one == conn })
		}
		_ = conn.Close()
	}()
	for {
		op, err := from.ReadByte()
		if err != nil {
			return
		}
		switch op {
		case opInit:
			if string(read()) != clientMagic || string(read()) != protocol || len(read()) != 0 {
				return
			}
			_, _ = conn.Write(packet(nil, opInit, []byte(relayMagic), []byte(protocol)))
		case opSubscribe:
			topic := string(read())
			r.mu.Lock()
			twice := slices.Contains(r.subscribers[topic], conn)
			r.subscribers[topic] = append(r.subscribers[topic], conn)
			r.mu.Unlock()
			if twice {
				return
			}
		case opPublish:
			topic, message := read(), read()
			r.mu.Lock()
			to := slices.Clone(r.subscribers[string(topic)])
			for _, one := range to {
				_, _ = one.Write(packet(nil, opPublish, topic, message))
			}
			r.mu.Unlock()
		}
	}
}
