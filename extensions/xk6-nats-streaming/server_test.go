package streaming

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// program is nats-streaming-server, built once for all tests as mqbench builds it.
var program = sync.OnceValues(func() (string, error) {
	folder, err := os.MkdirTemp("", "mqbench-nats-streaming-*")
	if err != nil {
		return "", err
	}
	build := exec.Command("go", "build", "-C", "../servers/nats-streaming-server", "-trimpath", "-o", folder+"/",
		"github.com/nats-io/nats-streaming-server")
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off")
	if said, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build nats-streaming-server: %w\n%s", err, said)
	}
	return filepath.Join(folder, "nats-streaming-server"), nil
})

func TestMain(m *testing.M) {
	code := m.Run()
	if path, err := program(); err == nil {
		_ = os.RemoveAll(filepath.Dir(path))
	}
	os.Exit(code)
}

// server is one of a test's own.
type server struct {
	t       testing.TB
	process *exec.Cmd
	port    int
	args    []string
}

// startServer starts one with arguments as it takes them: "-store", "file".
func startServer(t testing.TB, args ...string) *server {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	_ = l.Close()
	config := filepath.Join(t.TempDir(), "nats.conf")
	if err := os.WriteFile(config, []byte("max_payload: 2097152\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := &server{t: t, port: port, args: append([]string{"-c", config, "-a", "127.0.0.1", "-p", strconv.Itoa(port)}, args...)}
	s.start()
	t.Cleanup(s.kill)
	return s
}

// start runs it, on its old port and folder if it ran before, below `under` (strace), if any.
func (s *server) start(under ...string) {
	s.t.Helper()
	path, err := program()
	if err != nil {
		s.t.Fatal(err)
	}
	argv := append(append(under, path), s.args...)
	s.process = exec.Command(argv[0], argv[1:]...)
	s.process.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	log, err := s.process.StderrPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	if err := s.process.Start(); err != nil {
		s.t.Fatal(err)
	}
	ready := make(chan string, 1)
	go func() {
		said := ""
		for lines := bufio.NewScanner(log); lines.Scan(); {
			if said += lines.Text() + "\n"; strings.Contains(lines.Text(), "Streaming Server is ready") {
				ready <- ""
			}
		}
		ready <- said
	}()
	select {
	case said := <-ready:
		if said != "" {
			s.t.Fatalf("nats-streaming-server does not come up:\n%s", said)
		}
	case <-time.After(30 * time.Second):
		s.t.Fatal("nats-streaming-server does not come up")
	}
}

func (s *server) url() string { return fmt.Sprintf("nats://127.0.0.1:%d", s.port) }

func (s *server) kill() {
	_ = s.process.Process.Kill()
	_ = s.process.Wait()
}
