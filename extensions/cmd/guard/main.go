// Command guard runs another command and ends it when its own parent is gone, however that died: guard's standard
// input is a pipe that only the parent holds open. It is the parent of everything that mqbench starts.
//
//	guard [-grace 5s] [-control] -- command arguments...
//	guard [-env] [-lease 15s] [-sample file] ... -- command arguments...
//	guard -clock
//	guard -flush folder
//	guard -dial host:port
//	guard -ping host:port
//
// Signals that guard gets are passed on, once each. When standard input ends, the command gets SIGINT, and after the
// grace SIGKILL with its whole process group. Guard exits as the command did (128 + n for signal n); what the command has
// started and left behind is killed first, on Linux daemons included.
//
// With -control the lines of standard input are orders, so that one SSH connection is enough to run a command elsewhere:
// "say <text>" writes <text> as a line to the command's standard input, "signal INT" and "signal TERM" signal it.
//
// The second form is for other hosts (remote.go, sample.go): the command's environment comes on standard input, which also counts as
// ended when the network is silent, and what is used there is written to a file.
//
// With -clock it runs nothing: it answers each line at once with its wall clock, Unix ns, until standard input ends. With -flush it
// measures how long the disk of a folder takes to flush (flush.go), with -ping how long it takes to connect (ping.go). With
// -dial it is a tunnel (dial.go).
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"syscall"
	"time"
)

func main() {
	// The kernel ties the death signal of own() to the thread that starts the command: keep that thread.
	runtime.LockOSThread()
	grace := flag.Duration("grace", 5*time.Second, "how long the command may take to end by itself")
	control := flag.Bool("control", false, "take orders on standard input: say <text>, signal INT, signal TERM")
	clock := flag.Bool("clock", false, "answer each line with the Unix time in ns")
	disk := flag.String("flush", "", "measure how long a flush to the disk of this folder takes, and print it as JSON")
	peer := flag.String("ping", "", "measure how long it takes to connect to this host:port, and print it as JSON")
	to := flag.String("dial", "", "connect to this host:port, and carry standard input there and its answers to standard output")
	flag.Parse()
	if *clock {
		tellTime(os.Stdin, os.Stdout)
		return
	}
	if *disk != "" {
		if err := measureFlush(*disk, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, "guard:", err)
			os.Exit(1)
		}
		return
	}
	if *peer != "" {
		until, cancel := context.WithTimeout(context.Background(), connectTime)
		defer cancel()
		if err := ping(until, *peer, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, "guard:", err)
			os.Exit(1)
		}
		return
	}
	if *to != "" {
		if err := dial(*to, os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, "guard:", err)
			os.Exit(1)
		}
		return
	}
	if flag.NArg() == 0 {
		fmt.Fprintln(os.Stderr, "guard: no command")
		os.Exit(2)
	}
	if err := prepareRemote(); err != nil {
		fmt.Fprintln(os.Stderr, "guard:", err)
		os.Exit(2)
	}
	stopSampling := startSampling()
	code, err := guard(flag.Args(), *grace, *control)
	stopSampling()
	if err != nil {
		fmt.Fprintln(os.Stderr, "guard:", err)
		os.Exit(127)
	}
	os.Exit(code)
}

func guard(argv []string, grace time.Duration, control bool) (int, error) {
	command := exec.Command(argv[0], argv[1:]...)
	command.Stdout, command.Stderr = os.Stdout, os.Stderr
	own(command)
	adopt()
	var orders *orders
	if control {
		stdin, err := command.StdinPipe()
		if err != nil {
			return 0, fmt.Errorf("start %s: %w", argv[0], err)
		}
		orders = newOrders(stdin)
	}
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	if err := command.Start(); err != nil {
		return 0, fmt.Errorf("start %s: %w", argv[0], err)
	}
	orphaned := make(chan struct{})
	go func() {
		if orders == nil {
			_, _ = io.Copy(io.Discard, os.Stdin)
		} else {
			orders.follow(os.Stdin, signals)
		}
		close(orphaned)
	}()
	ended := make(chan error, 1)
	go func() { ended <- command.Wait() }()
	var kill <-chan time.Time
	for {
		select {
		case err := <-ended:
			killGroup(command)
			killAdopted()
			return exitCode(command, err)
		case s := <-signals:
			pass(command, s)
		case <-orphaned:
			orphaned = nil
			interrupt(command)
			kill = time.After(grace)
		case <-kill:
			killGroup(command)
		}
	}
}

func exitCode(command *exec.Cmd, err error) (int, error) {
	if command.ProcessState == nil {
		return 0, err
	}
	if code := command.ProcessState.ExitCode(); code >= 0 {
		return code, nil
	}
	return 128 + signalNumber(command.ProcessState), nil
}
