package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"strings"
	"syscall"
	"time"
)

// Standard input that comes over a connection, from mqbench on another machine: an environment, signs of life, orders.

// remoteInput implements -env and -lease before the command starts: the command gets agent's environment, and agent reads the returned
// input. Secrets come this way because everybody on a host can see command lines.
func remoteInput(environment bool, lease time.Duration) (io.Reader, error) {
	in := bufio.NewReader(os.Stdin)
	if environment {
		if err := readEnvironment(in); err != nil {
			return nil, err
		}
	}
	if lease == 0 {
		return in, nil
	}
	read, write := io.Pipe()
	go passLines(in, write, lease)
	return read, nil
}

// unread is how many lines wait for a command that does not read them; further lines are dropped.
const unread = 1024

// follow carries out the orders in the lines of in until it ends; stdin, which is the command's, ends then too. The command may read slowly
// or never. Agent must still notice that its parent is gone, so a separate goroutine writes.
func follow(in io.Reader, stdin io.WriteCloser, signals chan<- os.Signal) {
	said := make(chan string, unread)
	defer close(said)
	go func() {
		defer stdin.Close()
		var failed error
		for line := range said {
			if failed == nil { // otherwise the command reads no more
				_, failed = io.WriteString(stdin, line)
			}
		}
	}()
	for reader := bufio.NewReader(in); ; {
		line, err := reader.ReadString('\n')
		if err != nil {
			return // ignore half a line
		}
		order := strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")
		text, say := strings.CutPrefix(order, "say ")
		switch {
		case say:
			select {
			case said <- text + "\n":
			default:
				fmt.Fprintln(os.Stderr, "agent: the command does not read its standard input")
			}
		case order == "signal INT":
			signals <- os.Interrupt
		case order == "signal TERM":
			signals <- syscall.SIGTERM
		default:
			fmt.Fprintf(os.Stderr, "agent: %q is not an order; write say <text>, signal INT or signal TERM\n", order)
		}
	}
}

// --- internal ---

func readEnvironment(in *bufio.Reader) error {
	line, err := in.ReadString('\n')
	if err != nil {
		return fmt.Errorf("read the environment: %w", err)
	}
	var given map[string]string
	if json.Unmarshal([]byte(line), &given) != nil {
		return errors.New("the first line is not an environment, a JSON object of strings") // without the line itself: it may hold a password
	}
	home, err := os.Getwd()
	if err != nil {
		return fmt.Errorf("find the current folder: %w", err)
	}
	all := map[string]string{"HOME": home}
	for _, name := range []string{"PATH", "TMPDIR"} {
		if value, ok := os.LookupEnv(name); ok {
			all[name] = value
		}
	}
	os.Clearenv()
	maps.Copy(all, given)
	for name, value := range all {
		if err := os.Setenv(name, value); err != nil {
			return fmt.Errorf("set %s: %w", name, err)
		}
	}
	return nil
}

// passLines copies whole lines until in ends or is silent for longer than the lease: a network that is down does not end a connection.
func passLines(in *bufio.Reader, out io.WriteCloser, lease time.Duration) {
	defer out.Close()
	silent := time.AfterFunc(lease, func() { _ = out.Close() })
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return // ignore half a line
		}
		silent.Reset(lease)
		if strings.TrimSpace(line) == "alive" {
			continue
		}
		if _, err := io.WriteString(out, line); err != nil {
			return
		}
	}
}
