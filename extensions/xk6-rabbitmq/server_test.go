//go:build unix

package rabbitmq

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/brokertest"
)

// server is a rabbitmq-server of the tests' own: node name, cookie, ports and folders that nothing else uses.
type server struct {
	*brokertest.Server
	store, ca             string
	port, tls, dist, epmd int
	stream                int
}

var shared *server

func TestMain(m *testing.M) {
	code := m.Run()
	if shared != nil {
		shared.Kill()
		_ = os.RemoveAll(shared.store)
	}
	os.Exit(code)
}

// running is the server that all tests of this binary share. Without one installed the test is skipped, in CI it fails.
func running(t testing.TB) *server {
	t.Helper()
	program := script()
	switch {
	case program != "":
	case os.Getenv("CI") == "true":
		t.Fatal("CI needs rabbitmq-server: apt-get install rabbitmq-server")
	default:
		t.Skip("there is no rabbitmq-server here: apt-get install rabbitmq-server, or brew install rabbitmq")
	}
	if shared == nil {
		shared = start(brokertest.Lasting{TB: t}, program)
	}
	return shared
}

func start(t testing.TB, program string) *server {
	store, err := os.MkdirTemp("", "mqbench-rabbitmq-")
	if err != nil {
		t.Fatal(err)
	}
	port := func() int { return brokertest.FreePort(t) }
	s := &server{store: store, port: port(), tls: port(), dist: port(), epmd: port(), stream: port()}
	s.ca, _ = brokertest.Certificate(t, store)
	files := map[string]string{
		"rabbitmq.conf": fmt.Sprintf("listeners.tcp.1 = 127.0.0.1:%d\ndefault_user = bench\ndefault_pass = s3cr3t\n"+
			"disk_free_limit.absolute = 50MB\nmax_message_size = 2097152\nlog.console = true\nlog.console.level = warning\nlog.file = false\n"+
			"listeners.ssl.1 = 127.0.0.1:%d\nssl_options.cacertfile = %[3]s/cert.pem\nssl_options.certfile = %[3]s/cert.pem\n"+
			"ssl_options.keyfile = %[3]s/key.pem\nstream.listeners.tcp.1 = 127.0.0.1:%[4]d\nstream.frame_max = 2097152\n", s.port, s.tls, store, s.stream),
		"env.conf": "", "enabled_plugins": "[rabbitmq_stream].", "advanced.config": "[].", ".erlang.cookie": "mqbenchtest",
	}
	for name, text := range files {
		brokertest.File(t, text, store, name)
	}
	// Distributed Erlang wants a name server; in the foreground it dies with us.
	const both = `epmd -port "$ERL_EPMD_PORT" -address 127.0.0.1 >/dev/null 2>&1 & exec "$0"`
	s.Server = brokertest.StartServer(t, "completed with", append(append([]string{"env", "-i"}, s.environment()...), "sh", "-c", both, program)...)
	return s
}

// script is the server itself; Debian's program on PATH is a wrapper that changes the user. "" if there is none.
func script() string {
	const ofDebian = "/usr/lib/rabbitmq/bin/rabbitmq-server"
	if _, err := os.Stat(ofDebian); err == nil {
		return ofDebian
	}
	path, _ := exec.LookPath("rabbitmq-server")
	return path
}

// environment isolates it; its command line tools need it as well.
func (s *server) environment() []string {
	in := func(name string) string { return filepath.Join(s.store, name) }
	return []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + s.store, "ERL_CRASH_DUMP_SECONDS=0",
		"detached=true", // the script becomes the server instead of its parent
		"RABBITMQ_CONF_ENV_FILE=" + in("env.conf"),
		"RABBITMQ_NODENAME=mqbenchtest-" + fmt.Sprint(os.Getpid()) + "@localhost",
		"RABBITMQ_MNESIA_BASE=" + in("data"), "RABBITMQ_LOG_BASE=" + in("log"), "RABBITMQ_LOGS=-",
		"RABBITMQ_CONFIG_FILE=" + in("rabbitmq.conf"), "RABBITMQ_ADVANCED_CONFIG_FILE=" + in("advanced.config"),
		"RABBITMQ_ENABLED_PLUGINS_FILE=" + in("enabled_plugins"), "RABBITMQ_GENERATED_CONFIG_DIR=" + in("generated"),
		"RABBITMQ_PID_FILE=" + in("pid"), fmt.Sprintf("RABBITMQ_DIST_PORT=%d", s.dist),
		fmt.Sprintf("ERL_EPMD_PORT=%d", s.epmd), "ERL_EPMD_ADDRESS=127.0.0.1",
		"RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS=-kernel inet_dist_use_interface {127,0,0,1}",
	}
}

// ctl runs rabbitmqctl and returns its output.
func (s *server) ctl(t *testing.T, args ...string) string {
	t.Helper()
	command := exec.Command(filepath.Join(filepath.Dir(script()), "rabbitmqctl"), args...)
	command.Env = s.environment()
	out, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("rabbitmqctl %s: %v: %s", args, err, out)
	}
	return string(out)
}

// block makes the server block publishers, until the returned function is called.
func (s *server) block(t *testing.T) (unblock func()) {
	t.Helper()
	s.ctl(t, "set_vm_memory_high_watermark", "absolute", "1MB")
	unblock = sync.OnceFunc(func() { s.ctl(t, "set_vm_memory_high_watermark", "0.4") })
	t.Cleanup(unblock)
	return unblock
}

func (s *server) url() string { return fmt.Sprintf("amqp://bench:s3cr3t@127.0.0.1:%d", s.port) }

func (s *server) streamURL() string {
	return fmt.Sprintf("rabbitmq-stream://bench:s3cr3t@127.0.0.1:%d", s.stream)
}

func (s *server) thaw() { _ = s.Process().Signal(syscall.SIGCONT) }

// broken kills the server, and brings it back when the test is over.
func (s *server) broken(t *testing.T) {
	s.Kill()
	t.Cleanup(func() { s.Start() })
}

// exists asks the server whether there is a queue or an exchange of that topic.
func (s *server) exists(t *testing.T, topic string) bool {
	t.Helper()
	// A question that is answered with no closes its channel.
	there := func(ask func(*amqp.Channel) error) bool { return ask(s.channel(t)) == nil }
	found := there(func(on *amqp.Channel) error {
		_, err := on.QueueDeclarePassive(topic, true, false, false, false, nil)
		return err
	})
	prefix := topic[:strings.LastIndexByte(topic, '.')]
	for _, exchange := range []string{topic, prefix + ":direct", prefix + ":topic"} {
		found = found || there(func(on *amqp.Channel) error {
			return on.ExchangeDeclarePassive(exchange, "direct", true, false, false, false, nil)
		})
	}
	return found
}

// make makes a queue, or an exchange of a kind, like its user would.
func (s *server) make(t *testing.T, topic, kind string) {
	t.Helper()
	on := s.channel(t)
	var err error
	switch kind {
	case "queue":
		_, err = on.QueueDeclare(topic, true, false, false, false, nil)
	case "stream":
		_, err = on.QueueDeclare(topic, true, false, false, false, amqp.Table{amqp.QueueTypeArg: amqp.QueueTypeStream})
	default:
		err = on.ExchangeDeclare(topic, kind, true, false, false, false, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// channel of a separate connection.
func (s *server) channel(t *testing.T) *amqp.Channel {
	t.Helper()
	c, err := amqp.Dial(s.url())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	on, err := c.Channel()
	if err != nil {
		t.Fatal(err)
	}
	return on
}

// traces are the queues of a run.
func (s *server) traces(t *testing.T, run string, _ []string) (names []string) {
	t.Helper()
	for line := range strings.Lines(s.ctl(t, "list_queues", "--silent", "name")) {
		if strings.HasPrefix(line, run) {
			names = append(names, strings.TrimSpace(line))
		}
	}
	return names
}
