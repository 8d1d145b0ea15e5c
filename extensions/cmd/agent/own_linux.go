package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// adopt makes agent the parent of every descendant whose own parent ends. So a daemon that leaves its process group and session
// (Erlang's epmd) can still be found at the end.
func adopt() { _ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) }

// own gives the command its own process group, so that a terminal's Ctrl-C does not reach it, and has the kernel kill
// it if agent itself is killed.
func own(command *exec.Cmd) {
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// killAdopted kills what is left below agent when its command has ended. It repeats this, because the children of a killed process
// become agent's own.
func killAdopted() {
	for range 100 {
		children := adopted()
		if len(children) == 0 {
			return
		}
		for _, pid := range children {
			_ = syscall.Kill(pid, syscall.SIGKILL)
			_, _ = syscall.Wait4(pid, nil, 0, nil)
		}
	}
}

// --- internal ---

func adopted() []int {
	files, _ := filepath.Glob("/proc/self/task/*/children")
	var pids []int
	for _, file := range files {
		text, _ := os.ReadFile(file)
		for _, field := range strings.Fields(string(text)) {
			if pid, err := strconv.Atoi(field); err == nil {
				pids = append(pids, pid)
			}
		}
	}
	return pids
}
