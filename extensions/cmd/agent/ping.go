package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"syscall"
	"time"
)

// The limits of a measurement: so many connections, one after the other, or as many as fit into the time.
const (
	connects    = 20
	connectTime = 5 * time.Second
)

// pinged is what ping prints.
type pinged struct {
	Connects int `json:"connects"`
	spread
}

type spread struct {
	MinNs int64 `json:"minNs"`
	P50Ns int64 `json:"p50Ns"`
	MaxNs int64 `json:"maxNs"`
}

func pingCommand(address string) error {
	until, cancel := context.WithTimeout(context.Background(), connectTime)
	defer cancel()
	return ping(until, address, os.Stdout)
}

// ping connects to a listening port and prints as JSON how long that took: a round trip of the network (the other end's kernel answers by
// itself) and the work of both kernels. It sends nothing. The name is looked up before, and the first connection does not count,
// because it also finds the route. When until is over, ping reports what it has measured so far.
func ping(until context.Context, address string, out io.Writer) error {
	found, err := lookUp(until, address)
	if err != nil {
		return err
	}
	var took []time.Duration
	for i := 0; i <= connects; i++ {
		at := time.Now()
		connection, err := (&net.Dialer{}).DialContext(until, "tcp", found)
		spent := time.Since(at)
		if err != nil {
			// Some answers are enough; none at all is an error.
			if until.Err() != nil && len(took) > 0 {
				break
			}
			return connectError(address, err, until)
		}
		_ = connection.Close()
		if i > 0 {
			took = append(took, spent)
		}
	}
	if len(took) == 0 {
		return fmt.Errorf("connect to %s: one connection took all of %s", address, connectTime)
	}
	return json.NewEncoder(out).Encode(pinged{len(took), spreadOf(took)})
}

// lookUp returns address with the first IP address of its name.
func lookUp(until context.Context, address string) (string, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return "", fmt.Errorf("ping takes host:port: %w", err)
	}
	found, err := net.DefaultResolver.LookupHost(until, host)
	if err != nil {
		var unknown *net.DNSError
		if errors.As(err, &unknown) {
			return "", fmt.Errorf("look up %s: %s", host, unknown.Err)
		}
		return "", fmt.Errorf("look up %s: %w", host, err)
	}
	return net.JoinHostPort(found[0], port), nil
}

func connectError(address string, err error, until context.Context) error {
	if until.Err() != nil {
		return fmt.Errorf("connect to %s: no answer within %s", address, connectTime)
	}
	// Go's own sentence repeats the address.
	var code syscall.Errno
	if errors.As(err, &code) {
		return fmt.Errorf("connect to %s: %w", address, code)
	}
	return fmt.Errorf("connect to %s: %w", address, err)
}

// spreadOf takes the lower median of an even number, so that it is one that was really measured.
func spreadOf(took []time.Duration) spread {
	slices.Sort(took)
	return spread{took[0].Nanoseconds(), took[(len(took)-1)/2].Nanoseconds(), took[len(took)-1].Nanoseconds()}
}
