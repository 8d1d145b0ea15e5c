package redis

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/brokertest"
)

// server is a redis-server (or its like) of a test's own.
type server struct {
	t       testing.TB
	process *exec.Cmd
	program string
	port    int
	args    []string
}

// startServer starts `program` with settings as it takes them on its command line: "--appendonly", "yes".
func startServer(t testing.TB, program string, args ...string) *server {
	t.Helper()
	path, err := exec.LookPath(program)
	if err != nil {
		if os.Getenv("CI") == "true" && program == "redis-server" {
			t.Fatalf("%s is not on PATH", program)
		}
		t.Skipf("%s is not on PATH: install it to run this test", program)
	}
	s := &server{t: t, program: path, port: brokertest.FreePort(t)}
	s.args = append([]string{
		"--port", strconv.Itoa(s.port), "--bind", "127.0.0.1", "--dir", t.TempDir(), "--save", "", "--appendonly", "no",
	}, args...)
	s.start(nil)
	t.Cleanup(s.kill)
	return s
}

// start runs the server, on its old port and folder if it ran before, below `under` (strace), if any.
func (s *server) start(under []string) {
	s.t.Helper()
	argv := append(append(append([]string{}, under...), s.program), s.args...)
	s.process = exec.Command(argv[0], argv[1:]...)
	output, err := s.process.StdoutPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	if err := s.process.Start(); err != nil {
		s.t.Fatal(err)
	}
	ready := make(chan bool)
	go func() {
		lines := bufio.NewScanner(output)
		for lines.Scan() {
			if strings.Contains(lines.Text(), "Ready to accept connections") {
				ready <- true
			}
		}
		close(ready)
	}()
	select {
	case ok := <-ready:
		if !ok {
			s.t.Fatalf("%s does not come up", s.program)
		}
	case <-time.After(20 * time.Second):
		s.t.Fatalf("%s does not come up", s.program)
	}
}

func (s *server) url() string { return fmt.Sprintf("redis://127.0.0.1:%d", s.port) }

func (s *server) kill() {
	_ = s.process.Process.Kill()
	_ = s.process.Wait()
}

type files struct{ cert, key string }

// certificate makes one for 127.0.0.1 that is its own authority.
func certificate(t *testing.T) files {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	f := files{cert: filepath.Join(t.TempDir(), "cert.pem"), key: filepath.Join(t.TempDir(), "key.pem")}
	for path, block := range map[string]*pem.Block{f.cert: {Type: "CERTIFICATE", Bytes: cert}, f.key: {Type: "PRIVATE KEY", Bytes: private}} {
		if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return f
}
