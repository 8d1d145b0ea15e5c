package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"
)

// remote is for a command on another host, whose standard input comes over a connection.
type remote struct {
	environment bool
	lease       time.Duration
}

func (r *remote) flags(flags *flag.FlagSet) {
	flags.BoolVar(&r.environment, "env", false, "the first line of standard input is the command's environment, a JSON object; of its own agent passes PATH and TMPDIR on, and HOME is the current folder")
	flags.DurationVar(&r.lease, "lease", 0, "standard input counts as ended when no line comes for so long; the line \"alive\" is for this alone")
}

// prepare does what -env and -lease ask for, before the command starts. From then on agent's environment is the command's, and
// os.Stdin is what agent reads. Secrets come this way because everybody on a host can see command lines.
func (r *remote) prepare() error {
	if !r.environment && r.lease == 0 {
		return nil
	}
	in := bufio.NewReader(os.Stdin)
	if r.environment {
		if err := readEnvironment(in); err != nil {
			return err
		}
	}
	// This has to be a pipe, not just a reader: the code that follows expects a file.
	read, write, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("make a pipe: %w", err)
	}
	os.Stdin = read
	go func() {
		passLines(in, write, r.lease)
		_ = write.Close()
	}()
	return nil
}

// A measurement ends after this many connections, one after another, or when its time is over.
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

// --- internal ---

func readEnvironment(in *bufio.Reader) error {
	line, err := in.ReadString('\n')
	if err != nil {
		return fmt.Errorf("read the environment: %w", err)
	}
	var given map[string]string
	if err := json.Unmarshal([]byte(line), &given); err != nil {
		return fmt.Errorf("the first line is not an environment, a JSON object of strings") // without the line itself: it may hold a password
	}
	home, err := os.Getwd()
	if err != nil {
		return fmt.Errorf("find the current folder: %w", err)
	}
	bare := map[string]string{"HOME": home}
	for _, name := range []string{"PATH", "TMPDIR"} {
		if value, ok := os.LookupEnv(name); ok {
			bare[name] = value
		}
	}
	os.Clearenv()
	maps.Copy(bare, given)
	for name, value := range bare {
		if err := os.Setenv(name, value); err != nil {
			return fmt.Errorf("set %s: %w", name, err)
		}
	}
	return nil
}

// passLines copies lines until in ends or is silent for longer than the lease. A network that is down does not end a connection.
func passLines(in *bufio.Reader, out io.Writer, lease time.Duration) {
	lines := make(chan string)
	go func() {
		defer close(lines)
		for {
			line, err := in.ReadString('\n')
			if err != nil {
				return // ignore half a line
			}
			lines <- line
		}
	}()
	var silent <-chan time.Time
	for {
		if lease > 0 {
			silent = time.After(lease)
		}
		select {
		case line, ok := <-lines:
			if !ok {
				return
			}
			if strings.TrimSpace(line) == "alive" {
				continue
			}
			if _, err := io.WriteString(out, line); err != nil {
				return
			}
		case <-silent:
			return
		}
	}
}
