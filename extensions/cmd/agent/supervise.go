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

// superviseCommand runs a command and ends it when agent's own parent is gone, even if that was killed: agent's standard input is a
// pipe that only the parent holds open. All programs that mqbench starts run below it.
//
// Agent passes on each signal once. When standard input ends, the command gets SIGINT, and after the grace period SIGKILL with its whole
// process group. Agent exits as the command did (128 + n for signal n). Before that it kills the processes that the command has left, on
// Linux also daemons.
//
// With -control, -env and -lease one SSH connection is enough to run a command elsewhere.
func superviseCommand(arguments []string) int {
	// The kernel ties the death signal of adopt() to the thread that starts the command: keep that thread.
	runtime.LockOSThread()
	flags := flag.NewFlagSet("agent supervise", flag.ContinueOnError)
	grace := flags.Duration("grace", 5*time.Second, "how long the command may take to end by itself")
	control := flags.Bool("control", false, "take orders on standard input: say <text>, signal INT, signal TERM")
	environment := flags.Bool("env", false, "the first line of standard input is the command's environment, a JSON object; of its own agent passes PATH and TMPDIR on, and HOME is the current folder")
	lease := flags.Duration("lease", 0, "standard input counts as ended when no line comes for so long; the line \"alive\" is for this alone")
	var samples sampler
	flags.StringVar(&samples.file, "sample", "", "append to this file, once a second, what the command and the machine have used: lines as in runner/model/resource-file.ts")
	flags.BoolVar(&samples.asBroker, "broker", false, "the samples are of a broker: of the command alone, without agent")
	flags.Int64Var(&samples.aheadNs, "ahead", 0, "how far this machine's clock is ahead of the one that samples are stamped by, ns")
	if err := flags.Parse(arguments); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return 0
		}
		return 2 // the flag package has printed the mistake and the options
	}
	if flags.NArg() == 0 {
		return fail(2, errors.New("supervise: no command"))
	}
	in, err := remoteInput(*environment, *lease)
	if err != nil {
		return fail(2, err)
	}
	stopSampling := samples.start()
	code, err := supervise(flags.Args(), in, *grace, *control)
	stopSampling()
	if err != nil {
		return fail(127, err)
	}
	return code
}

// --- internal ---

func supervise(argv []string, in io.Reader, grace time.Duration, control bool) (int, error) {
	command := exec.Command(argv[0], argv[1:]...)
	command.Stdout, command.Stderr = os.Stdout, os.Stderr
	own(command)
	adopt(command)
	raiseFiles()
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	untilOrphaned := func() { _, _ = io.Copy(io.Discard, in) }
	if control {
		stdin, err := command.StdinPipe()
		if err != nil {
			return 0, fmt.Errorf("start %s: %w", argv[0], err)
		}
		untilOrphaned = func() { follow(in, stdin, signals) }
	}
	if err := command.Start(); err != nil {
		return 0, fmt.Errorf("start %s: %w", argv[0], err)
	}
	orphaned := make(chan struct{})
	go func() {
		defer close(orphaned)
		untilOrphaned()
	}()
	ended := make(chan error, 1)
	go func() { ended <- command.Wait() }()
	var kill <-chan time.Time
	for {
		select {
		case err := <-ended:
			killGroup(command)
			killAdopted()
			return exitCode(command.ProcessState, err)
		case s := <-signals:
			pass(command, s)
		case <-orphaned:
			orphaned = nil
			pass(command, os.Interrupt)
			kill = time.After(grace)
		case <-kill:
			killGroup(command)
		}
	}
}

func exitCode(state *os.ProcessState, err error) (int, error) {
	if state == nil {
		return 0, err
	}
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int(status.Signal()), nil
	}
	return state.ExitCode(), nil
}
