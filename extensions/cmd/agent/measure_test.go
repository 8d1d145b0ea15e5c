package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/brokertest"
)

// listening is the address of a server that serves each connection, the first has number 1, and closes it.
func listening(t *testing.T, serve func(number int64, connection net.Conn)) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for number := int64(1); ; number++ {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			serve(number, connection)
			_ = connection.Close()
		}
	}()
	return listener.Addr().String()
}

// printed reads the single line of JSON in out, and checks its spread.
func printed(t *testing.T, out *bytes.Buffer) (got struct {
	Connects, Calls int
	spread
}) {
	t.Helper()
	if strings.Count(out.String(), "\n") != 1 || json.Unmarshal(out.Bytes(), &got) != nil {
		t.Fatalf("%q is no single line of JSON", out.String())
	}
	if got.MinNs <= 0 || got.P50Ns < got.MinNs || got.MaxNs < got.P50Ns {
		t.Errorf("%+v is out of order", got)
	}
	return got
}

func TestConnectsToAPortThatListensAreTimed(t *testing.T) {
	var came atomic.Int64
	at := listening(t, func(number int64, _ net.Conn) { came.Store(number) })
	var out bytes.Buffer
	began := time.Now()
	if err := ping(t.Context(), at, &out); err != nil {
		t.Fatal(err)
	}
	all := time.Since(began).Nanoseconds()
	got := printed(t, &out)
	if got.Connects != connects {
		t.Errorf("%d connects", got.Connects)
	}
	// No unit went wrong: they were made one after the other, within that time.
	if got.MinNs*connects > all || got.MaxNs > all {
		t.Errorf("%+v does not fit into %d ns", got, all)
	}
	// The first of them is not counted. Accepting may lag behind connecting.
	brokertest.Eventually(t, "all connections have come", func() bool { return came.Load() == connects+1 })
}

func TestTheMedianIsOneOfTheConnects(t *testing.T) {
	for _, one := range []struct {
		took []time.Duration
		want spread
	}{
		{[]time.Duration{7}, spread{7, 7, 7}},
		{[]time.Duration{9, 1}, spread{1, 1, 9}},
		{[]time.Duration{5, 1000, 3}, spread{3, 5, 1000}},
		{[]time.Duration{4, 1, 3, 2}, spread{1, 2, 4}},
	} {
		if got := spreadOf(one.took); got != one.want {
			t.Errorf("%v: %+v, not %+v", one.took, got, one.want)
		}
	}
}

func TestNobodyToConnectToIsASentence(t *testing.T) {
	const closed = "127.0.0.1:1" // nothing listens there
	for address, want := range map[string]string{
		closed:        "connect to " + closed + ": connection refused",
		"127.0.0.1":   "missing port",
		"h.invalid:1": "look up h.invalid: ",
	} {
		var out bytes.Buffer
		err := ping(t.Context(), address, &out)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") || out.Len() > 0 {
			t.Errorf("%s: %v, printed %q", address, err, out.String())
		}
	}
	if err := tunnel(closed, strings.NewReader(""), io.Discard); err == nil || !strings.Contains(err.Error(), "refused") {
		t.Errorf("tunnel: %v", err)
	}
}

func TestWhatWasMeasuredInTimeCounts(t *testing.T) {
	until, cancel := context.WithCancel(t.Context())
	// Later ones may be made before anybody sees that it is over.
	at := listening(t, func(number int64, _ net.Conn) {
		if number == 4 {
			cancel()
		}
	})
	var out bytes.Buffer
	if err := ping(until, at, &out); err != nil {
		t.Fatal(err)
	}
	if got := printed(t, &out); got.Connects < 1 || got.Connects > connects {
		t.Errorf("%d connects", got.Connects)
	}
	out.Reset()
	err := ping(until, at, &out)
	if err == nil || !strings.Contains(err.Error(), "no answer within 5s") || out.Len() > 0 {
		t.Errorf("%v, %q", err, out.String())
	}
}

func TestTheTimeOfAFlushIsMeasuredAndNothingIsLeft(t *testing.T) {
	folder := t.TempDir()
	var out bytes.Buffer
	if err := measureDisk(folder, &out); err != nil {
		t.Fatal(err)
	}
	if got := printed(t, &out); got.Calls < 1 || got.Calls >= flushes {
		t.Errorf("%d calls", got.Calls)
	}
	if left, err := os.ReadDir(folder); err != nil || len(left) != 0 {
		t.Errorf("%v is left (%v)", left, err)
	}
	if err := measureDisk(folder+"/missing", &out); err == nil {
		t.Error("a folder that is not there is no error")
	}
}

func TestATunnelCarriesBothWaysUntilOneSideEnds(t *testing.T) {
	at := listening(t, func(_ int64, connection net.Conn) {
		for lines := bufio.NewScanner(connection); lines.Scan() && lines.Text() != "bye"; {
			_, _ = io.WriteString(connection, strings.ToUpper(lines.Text())+"\n")
		}
	})
	in, write := io.Pipe()
	go func() { _, _ = io.WriteString(write, "hello\nbye\n") }()
	for _, c := range []struct {
		in   io.Reader
		want string
	}{{in, "HELLO\n"}, {strings.NewReader(""), ""}} {
		var out bytes.Buffer
		ended := make(chan error, 1)
		go func() { ended <- tunnel(at, c.in, &out) }()
		select {
		case err := <-ended:
			if err != nil || out.String() != c.want {
				t.Errorf("%q came back (%v), want %q", out.String(), err, c.want)
			}
		case <-time.After(20 * time.Second):
			t.Fatal("it does not end")
		}
	}
}
