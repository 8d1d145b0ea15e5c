package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"strings"
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
