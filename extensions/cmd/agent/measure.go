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

// The measurements of ping and disk end at a number, or when their time is over: enough for a median.
const (
	connects    = 20
	connectTime = 5 * time.Second
	flushes     = 200
	flushTime   = 500 * time.Millisecond
)

type spread struct {
	MinNs int64 `json:"minNs"`
	P50Ns int64 `json:"p50Ns"`
	MaxNs int64 `json:"maxNs"`
}

// ping prints as JSON how long it takes to connect to a port: a round trip of the network and the work of both kernels. The first connection does not
// count, because it also looks up the name and the route. When until is over, ping reports what it has so far.
func ping(until context.Context, to string, out io.Writer) error {
	var took []time.Duration
	found := to
	for i := 0; i <= connects; i++ {
		at := time.Now()
		connection, err := (&net.Dialer{}).DialContext(until, "tcp", found)
		spent := time.Since(at)
		if err != nil {
			// Some answers are enough; none at all is an error.
			if until.Err() != nil && len(took) > 0 {
				break
			}
			return connectError(to, err, until)
		}
		found = connection.RemoteAddr().String()
		_ = connection.Close()
		if i > 0 {
			took = append(took, spent)
		}
	}
	return json.NewEncoder(out).Encode(struct {
		Connects int `json:"connects"`
		spread
	}{len(took), spreadOf(took)})
}

// measureDisk prints as JSON how long a flush of 4 KiB to a new file in folder takes. The first one does not count, because it also creates the file.
func measureDisk(folder string, out io.Writer) error {
	file, err := os.CreateTemp(folder, "mqbench-flush-")
	if err != nil {
		return err
	}
	defer os.Remove(file.Name())
	defer file.Close()
	block := make([]byte, 4096)
	var took []time.Duration
	for began := time.Now(); len(took) < 2 || len(took) < flushes && time.Since(began) < flushTime; {
		block[0]++ // never the same: a file system may notice that nothing has changed
		if _, err := file.WriteAt(block, 0); err != nil {
			return err
		}
		at := time.Now()
		if err := flush(file); err != nil {
			return fmt.Errorf("flush %s: %w", file.Name(), err)
		}
		took = append(took, time.Since(at))
	}
	return json.NewEncoder(out).Encode(struct {
		Calls int `json:"calls"`
		spread
	}{len(took) - 1, spreadOf(took[1:])})
}

// --- internal ---

func connectError(to string, err error, until context.Context) error {
	if until.Err() != nil {
		return fmt.Errorf("connect to %s: no answer within %s", to, connectTime)
	}
	// Go's own sentences repeat the address, or name the resolver.
	if unknown := new(net.DNSError); errors.As(err, &unknown) {
		return fmt.Errorf("look up %s: %s", unknown.Name, unknown.Err)
	}
	if code := syscall.Errno(0); errors.As(err, &code) {
		err = code
	}
	return fmt.Errorf("connect to %s: %w", to, err)
}

// spreadOf takes the lower median of an even number, because it is one of the measured times.
func spreadOf(took []time.Duration) spread {
	slices.Sort(took)
	return spread{took[0].Nanoseconds(), took[(len(took)-1)/2].Nanoseconds(), took[len(took)-1].Nanoseconds()}
}
