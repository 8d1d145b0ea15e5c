package mqtt

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// server is a mosquitto of a test's own.
type server struct {
	t       testing.TB
	port    int
	config  string
	process *exec.Cmd
}

func mosquitto(t testing.TB) string {
	for _, path := range []string{"mosquitto", "/usr/sbin/mosquitto"} {
		if found, err := exec.LookPath(path); err == nil {
			return found
		}
	}
	if os.Getenv("CI") == "true" {
		t.Fatal("mosquitto is not installed")
	}
	t.Skip("mosquitto is not installed: install it to run this test")
	return ""
}

// startServer starts one with further lines of its configuration; "{folder}" is the test's folder in them.
func startServer(t testing.TB, lines ...string) *server {
	t.Helper()
	mosquitto(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &server{t: t, port: l.Addr().(*net.TCPAddr).Port}
	_ = l.Close()
	folder := t.TempDir()
	s.config = filepath.Join(folder, "mosquitto.conf")
	text := fmt.Sprintf("listener %d 127.0.0.1\nset_tcp_nodelay true\nmax_queued_messages 0\n%s\n", s.port, strings.Join(lines, "\n"))
	if !strings.Contains(text, "allow_anonymous") {
		text += "allow_anonymous true\n"
	}
	if err := os.WriteFile(s.config, []byte(strings.ReplaceAll(text, "{folder}", folder)), 0o600); err != nil {
		t.Fatal(err)
	}
	s.start()
	t.Cleanup(s.kill)
	return s
}

// start runs it, on its old port if it ran before.
func (s *server) start() {
	s.t.Helper()
	s.process = exec.Command(mosquitto(s.t), "-c", s.config)
	s.process.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	log := filepath.Join(filepath.Dir(s.config), "log")
	file, err := os.Create(log)
	if err != nil {
		s.t.Fatal(err)
	}
	defer file.Close()
	s.process.Stdout, s.process.Stderr = file, file
	if err := s.process.Start(); err != nil {
		s.t.Fatal(err)
	}
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		conn, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", s.port))
		if err == nil {
			_ = conn.Close()
			return
		}
		if time.Now().After(deadline) {
			said, _ := os.ReadFile(log)
			s.t.Fatalf("mosquitto does not come up:\n%s", said)
		}
	}
}

func (s *server) url() string { return fmt.Sprintf("mqtt://127.0.0.1:%d", s.port) }

func (s *server) kill() {
	_ = s.process.Process.Kill()
	_ = s.process.Wait()
}
