// Command agent works for mqbench on a machine: it starts every program, reads the clock, and measures network and disk.
package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"time"
)

// help is printed after a mistake on the command line.
const help = `usage:
  agent supervise [options] -- command arguments...   run a command that ends when mqbench is gone (supervise -h: options)
  agent clock                                         answer each line of standard input with the wall clock, Unix ns
  agent ping host:port                                measure how long it takes to connect, as JSON
  agent disk folder                                   measure how long a flush to the folder's disk takes, as JSON
  agent sample file                                   append what processes use, for each line of standard input that names some
  agent tunnel host:port                              carry standard input to a port, and its answers to standard output
`

// commands return agent's exit code.
var commands = map[string]func(arguments []string) int{
	"supervise": superviseCommand,
	"clock": func([]string) int {
		answerClock(os.Stdin, os.Stdout)
		return 0
	},
	"ping": on("host:port", func(address string) error {
		until, cancel := context.WithTimeout(context.Background(), connectTime)
		defer cancel()
		return ping(until, address, os.Stdout)
	}),
	"disk":   on("folder", func(folder string) error { return measureDisk(folder, os.Stdout) }),
	"sample": on("file", func(file string) error { return sampleOthers(file, os.Stdin) }),
	"tunnel": on("host:port", func(address string) error { return tunnel(address, os.Stdin, os.Stdout) }),
}

func main() {
	if len(os.Args) < 2 {
		fmt.Fprint(os.Stderr, help)
		os.Exit(2)
	}
	command, ok := commands[os.Args[1]]
	if !ok {
		os.Exit(fail(2, fmt.Errorf("there is no command %q; the commands are supervise, clock, ping, disk, sample and tunnel", os.Args[1])))
	}
	os.Exit(command(os.Args[2:]))
}

// on makes a command of a function with one argument, which is called name in help.
func on(name string, command func(string) error) func([]string) int {
	return func(arguments []string) int {
		if len(arguments) != 1 || strings.HasPrefix(arguments[0], "-") {
			return fail(2, fmt.Errorf("%s takes %s and nothing else", os.Args[1], name))
		}
		if err := command(arguments[0]); err != nil {
			return fail(1, err)
		}
		return 0
	}
}

func fail(code int, err error) int {
	fmt.Fprintln(os.Stderr, "agent:", err)
	return code
}

// answerClock answers each line of in with the wall clock in Unix ns. It returns when in ends or the answers cannot be written any more.
func answerClock(in io.Reader, out io.Writer) {
	for lines := bufio.NewScanner(in); lines.Scan(); {
		if _, err := fmt.Fprintln(out, time.Now().UnixNano()); err != nil {
			return
		}
	}
}

// tunnel connects to a port and copies in both directions until one side ends, for hosts whose sshd forwards no ports.
func tunnel(address string, in io.Reader, out io.Writer) error {
	connection, err := net.DialTimeout("tcp", address, connectTime)
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	go func() {
		_, _ = io.Copy(connection, in)
		_ = connection.Close()
	}()
	_, err = io.Copy(out, connection)
	_ = connection.Close()
	if err != nil && !errors.Is(err, net.ErrClosed) {
		return fmt.Errorf("read from %s: %w", address, err)
	}
	return nil
}
