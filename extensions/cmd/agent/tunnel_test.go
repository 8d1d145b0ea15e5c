package main

import (
	"bufio"
	"bytes"
	"io"
	"net"
	"strings"
	"testing"
	"time"
)

// shouting is the address of a server that answers each line in capitals, until a line says "bye".
func shouting(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer connection.Close()
				lines := bufio.NewScanner(connection)
				for lines.Scan() && lines.Text() != "bye" {
					_, _ = io.WriteString(connection, strings.ToUpper(lines.Text())+"\n")
				}
			}()
		}
	}()
	return listener.Addr().String()
}

// ends fails the test unless what is done is done soon.
func ends(t *testing.T, what func() error) {
	t.Helper()
	done := make(chan error, 1)
	go func() { done <- what() }()
	select {
	case err := <-done:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("it does not end")
	}
}

func TestWhatIsWrittenReachesAPortAndItsAnswersComeBackUntilItEnds(t *testing.T) {
	in, write := io.Pipe()
	go func() { _, _ = io.WriteString(write, "hello\nbye\n") }()
	var out bytes.Buffer
	ends(t, func() error { return tunnel(shouting(t), in, &out) })
	if out.String() != "HELLO\n" {
		t.Errorf("%q came back", out.String())
	}
}

func TestAConnectionEndsWithWhatIsWrittenToIt(t *testing.T) {
	ends(t, func() error { return tunnel(shouting(t), strings.NewReader(""), io.Discard) })
}

func TestAPortThatNobodyListensOnIsAnError(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	_ = listener.Close()
	if err := tunnel(address, strings.NewReader(""), io.Discard); err == nil || !strings.Contains(err.Error(), "refused") {
		t.Errorf("the error is %v", err)
	}
}
