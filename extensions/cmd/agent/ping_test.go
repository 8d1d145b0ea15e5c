package main

import (
	"bytes"
	"context"
	"encoding/json"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

func TestConnectsToAPortThatListensAreTimed(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	var came atomic.Int64
	go func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			came.Add(1)
			_ = connection.Close()
		}
	}()
	var out bytes.Buffer
	began := time.Now()
	if err := ping(context.Background(), listener.Addr().String(), &out); err != nil {
		t.Fatal(err)
	}
	all := time.Since(began).Nanoseconds()
	if strings.Count(out.String(), "\n") != 1 {
		t.Errorf("%q is no single line", out.String())
	}
	var got pinged
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if got.Connects != connects {
		t.Errorf("%d connects", got.Connects)
	}
	if got.MinNs <= 0 || got.P50Ns < got.MinNs || got.MaxNs < got.P50Ns {
		t.Errorf("%+v is out of order", got)
	}
	// No unit went wrong: they were made one after the other, within that time.
	if got.MinNs*connects > all || got.MaxNs > all {
		t.Errorf("%+v does not fit into %d ns", got, all)
	}
	// The first of them is not counted. What is accepted may lag behind what was connected.
	for end := time.Now().Add(10 * time.Second); came.Load() < connects+1 && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
	if came.Load() != connects+1 {
		t.Errorf("%d connections came", came.Load())
	}
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
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed := listener.Addr().String()
	_ = listener.Close()
	for address, want := range map[string]string{
		closed:        "connect to " + closed + ": connection refused",
		"127.0.0.1":   "ping takes host:port",
		"h.invalid:1": "look up h.invalid: ",
	} {
		var out bytes.Buffer
		err := ping(context.Background(), address, &out)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", address, err)
		}
		if out.Len() > 0 {
			t.Errorf("%s: printed %q", address, out.String())
		}
	}
}

func TestWhatWasMeasuredInTimeCounts(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	until, cancel := context.WithCancel(context.Background())
	// Later ones may be made before anybody sees that it is over.
	go func() {
		for i := 0; ; i++ {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			if i == 3 {
				cancel()
			}
			_ = connection.Close()
		}
	}()
	var out bytes.Buffer
	if err := ping(until, listener.Addr().String(), &out); err != nil {
		t.Fatal(err)
	}
	var got pinged
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if got.Connects < 1 || got.Connects > connects {
		t.Errorf("%d connects", got.Connects)
	}
	out.Reset()
	err = ping(until, listener.Addr().String(), &out)
	if err == nil || !strings.Contains(err.Error(), "no answer within 5s") || out.Len() > 0 {
		t.Errorf("%v, %q", err, out.String())
	}
}
