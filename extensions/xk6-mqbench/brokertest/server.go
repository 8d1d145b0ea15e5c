package brokertest

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	crand "crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"math/big"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// Server is the process of a test's broker.
type Server struct {
	t       testing.TB
	process *exec.Cmd
	ready   string
	argv    []string
}

// startLimit is how long a server may take to come up; it is long enough for a virtual machine on a busy one.
const startLimit = 5 * time.Minute

// Built is the path of a server that mqbench builds (servers/<name>), compiled into Go's own cache as mqbench compiles it. The working
// directory is a driver's folder.
func Built(t testing.TB, name string) string {
	t.Helper()
	tool := exec.Command("go", "tool", "-n", name)
	tool.Dir = "../servers/" + name
	tool.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off", "GOFLAGS=-trimpath -gcflags=all=-dwarf=false")
	tool.Stderr = os.Stderr
	path, err := tool.Output()
	if err != nil {
		t.Fatalf("build %s: %v", name, err)
	}
	return strings.TrimSpace(string(path))
}

// ownServer is the word with which a test's program is started as its server.
const ownServer = "own-server"

// OwnServerOr is TestMain where the server is made up by the test itself: StartOwnServer starts the test's program once more, as a process that can
// be killed and frozen.
func OwnServerOr(m *testing.M, serve func(net.Listener)) {
	if len(os.Args) != 3 || os.Args[1] != ownServer {
		os.Exit(m.Run())
	}
	listener, err := net.Listen("tcp", os.Args[2])
	if err != nil {
		panic(err)
	}
	println("listening on", os.Args[2])
	serve(listener)
}

// StartOwnServer returns the server and its host:port.
func StartOwnServer(t testing.TB) (*Server, string) {
	t.Helper()
	at := "127.0.0.1:" + strconv.Itoa(FreePort(t))
	return StartServer(t, "listening on", os.Args[0], ownServer, at), at
}

// StartServer runs a server until the test is over. It is up when it has printed the words of ready.
func StartServer(t testing.TB, ready string, argv ...string) *Server {
	t.Helper()
	s := &Server{t: t, ready: ready, argv: argv}
	t.Cleanup(s.Kill)
	s.Start()
	return s
}

// Start runs it, again if it ran before, below `under` (strace), if any.
func (s *Server) Start(under ...string) {
	s.t.Helper()
	argv := append(append([]string{}, under...), s.argv...)
	s.process = exec.Command(argv[0], argv[1:]...)
	group(s.process)
	log, output, err := os.Pipe()
	if err != nil {
		s.t.Fatal(err)
	}
	s.process.Stdout, s.process.Stderr = output, output
	err = s.process.Start()
	_ = output.Close()
	if err != nil {
		s.t.Fatal(err)
	}
	up, said := make(chan bool, 1), make(chan string, 1)
	go func() {
		defer func() { _ = log.Close() }()
		text := ""
		for lines := bufio.NewScanner(log); lines.Scan(); {
			if text += lines.Text() + "\n"; strings.Contains(lines.Text(), s.ready) {
				up <- true
				_, _ = io.Copy(io.Discard, log)
				return
			}
		}
		said <- text
	}()
	select {
	case <-up:
	case text := <-said:
		s.t.Fatalf("%s does not come up:\n%s", argv[0], text)
	case <-time.After(startLimit):
		s.t.Fatalf("%s does not come up within %s", argv[0], startLimit)
	}
}

// Process is the one that runs.
func (s *Server) Process() *os.Process { return s.process.Process }

// Freeze stops it, connections open, until it is killed.
func (s *Server) Freeze() { Freeze(s.t, s.process.Process) }

// Kill ends it immediately, and the processes it has started.
func (s *Server) Kill() {
	if s.process.Process == nil { // it could not be started
		return
	}
	end(s.process)
	_ = s.process.Wait()
}

// given are the ports that FreePort has returned.
var given sync.Map

// FreePort is a port of 127.0.0.1 that is not in use, a different one each time. It is below the ports that Linux (32768) and others
// (49152) take for connections and for port 0: one of them may be taken before the server listens, or while it is down.
func FreePort(t testing.TB) int {
	t.Helper()
	for range 1000 {
		port := 20000 + rand.IntN(12768)
		if _, taken := given.LoadOrStore(port, true); taken {
			continue
		}
		if l, err := net.Listen("tcp", "127.0.0.1:"+strconv.Itoa(port)); err == nil {
			_ = l.Close()
			return port
		}
	}
	t.Fatal("no port is free between 20000 and 32767")
	return 0
}

// Certificate writes a certificate for 127.0.0.1 that is its own authority, and its key, into a folder. It returns their files.
func Certificate(t testing.TB, folder string) (certificate, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), crand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		Subject:      pkix.Name{CommonName: "test"}, // Java wants one
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	signed, err := x509.CreateCertificate(crand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	certificate, key = filepath.Join(folder, "cert.pem"), filepath.Join(folder, "key.pem")
	for path, block := range map[string]*pem.Block{certificate: {Type: "CERTIFICATE", Bytes: signed}, key: {Type: "PRIVATE KEY", Bytes: secret}} {
		if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return certificate, key
}

// Classpath is of the jars of a broker definition's pom, which Maven resolves once. path is from the repository's folder; the working directory is
// a driver's.
func Classpath(t testing.TB, path string) string {
	t.Helper()
	classpaths.Lock()
	defer classpaths.Unlock()
	if known := classpaths.of[path]; known != "" {
		return known
	}
	file := filepath.Join(t.TempDir(), "classpath")
	mvn := exec.Command("mvn", "-q", "-B", "-f", filepath.Join("..", "..", path),
		"dependency:build-classpath", "-DincludeScope=runtime", "-Dmdep.outputFile="+file)
	if out, err := mvn.CombinedOutput(); err != nil {
		t.Fatalf("resolve %s with mvn: %v\n%s", path, err, out)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	classpaths.of[path] = strings.TrimSpace(string(text))
	return classpaths.of[path]
}

var classpaths = struct {
	sync.Mutex
	of map[string]string
}{of: map[string]string{}}
