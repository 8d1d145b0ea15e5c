// Command guard runs another command and ends it when its own parent is gone, however that died: guard's standard
// input is a pipe that only the parent holds open. It is the parent of everything that mqbench starts.
//
//	guard [-grace 5s] -- command arguments...
//
// Signals that guard gets are passed on, once each. When standard input ends, the command gets SIGINT, and after the
// grace SIGKILL with its whole process group. Guard exits as the command did (128 + n for signal n); what the command has
// started and left behind is killed first, on Linux daemons included.
package main

import (
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
	flag.Parse()
	if flag.NArg() == 0 {
		fmt.Fprintln(os.Stderr, "guard: no command")
		os.Exit(2)
	}
	code, err := guard(flag.Args(), *grace)
	if err != nil {
		fmt.Fprintln(os.Stderr, "guard:", err)
		os.Exit(127)
	}
	os.Exit(code)
}

func guard(argv []string, grace time.Duration) (int, error) {
	command := exec.Command(argv[0], argv[1:]...)
	command.Stdout, command.Stderr = os.Stdout, os.Stderr
	own(command)
	adopt()
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	if err := command.Start(); err != nil {
		return 0, fmt.Errorf("start %s: %w", argv[0], err)
	}
	orphaned := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
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
			_ = command.Process.Signal(s)
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
