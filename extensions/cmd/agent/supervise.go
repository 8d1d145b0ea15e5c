package main

import (
	"errors"
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

// supervision is what the command line asks for.
type supervision struct {
	grace   time.Duration
	control bool
	remote  remote
	sampler sampler
}

// superviseCommand runs a command and ends it when agent's own parent is gone, even if that was killed: agent's standard input is a
// pipe that only the parent holds open. All programs that mqbench starts run below it.
//
// Agent passes on each signal once. When standard input ends, the command gets SIGINT, and after the grace period SIGKILL with its
// whole process group. Agent exits as the command did (128 + n for signal n). Before that it kills what the command has left
// behind, on Linux also daemons.
//
// With -control the lines of standard input are orders, so that one SSH connection is enough to run a command elsewhere:
// "say <text>" writes <text> as a line to the command's standard input, "signal INT" and "signal TERM" signal it.
//
// On other hosts the command's environment comes on standard input (-env), standard input counts as ended when the network is silent
// (-lease), and samples of the machine are written to a file (-sample).
func superviseCommand(arguments []string) int {
	// The kernel ties the death signal of own() to the thread that starts the command: keep that thread.
	runtime.LockOSThread()
	var s supervision
	flags := flag.NewFlagSet("agent supervise", flag.ContinueOnError)
	flags.DurationVar(&s.grace, "grace", 5*time.Second, "how long the command may take to end by itself")
	flags.BoolVar(&s.control, "control", false, "take orders on standard input: say <text>, signal INT, signal TERM")
	s.remote.flags(flags)
	s.sampler.flags(flags)
	if err := flags.Parse(arguments); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return 0
		}
		return 2 // the flag package has printed the mistake and the options
	}
	if flags.NArg() == 0 {
		return fail(2, errors.New("supervise: no command"))
	}
	if err := s.remote.prepare(); err != nil {
		return fail(2, err)
	}
	stopSampling := s.sampler.start()
	code, err := s.supervise(flags.Args())
	stopSampling()
	if err != nil {
		return fail(127, err)
	}
	return code
}

// --- internal ---

func (s supervision) supervise(argv []string) (int, error) {
	command := exec.Command(argv[0], argv[1:]...)
	command.Stdout, command.Stderr = os.Stdout, os.Stderr
	own(command)
	adopt()
	raiseFiles()
	var orders *orders
	if s.control {
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
			kill = time.After(s.grace)
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
