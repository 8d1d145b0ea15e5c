package nats

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"go.k6.io/k6/v2/cmd"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/brokertest"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/clock"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/scripttest"
)

// nodeEnv names the configuration file of the server that this program is to be, instead of running tests.
const nodeEnv = "MQBENCH_TEST_NATS_NODE"

func TestMain(m *testing.M) {
	scripttest.Main(cmd.Execute)
	if file := os.Getenv(nodeEnv); file != "" {
		if err := serve(file); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// serve is a server until SIGTERM; a line on stdout says that it is ready.
func serve(file string) error {
	options, err := server.ProcessConfigFile(file)
	if err != nil {
		return err
	}
	options.NoSigs, options.LogFile = true, logOf(file)
	s, err := server.NewServer(options)
	if err != nil {
		return err
	}
	s.ConfigureLogger()
	s.Start()
	if !s.ReadyForConnections(20 * time.Second) {
		return fmt.Errorf("the server does not come up")
	}
	fmt.Println("ready")
	end := make(chan os.Signal, 1)
	signal.Notify(end, syscall.SIGTERM)
	<-end
	s.Shutdown()
	return nil
}

// logOf is the log of the server with this configuration file.
func logOf(config string) string { return config + ".log" }

// node is a server that is a process of its own.
type node struct {
	config  string
	command *exec.Cmd
}

func (n *node) start(t *testing.T) {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	n.command = exec.Command(program)
	n.command.Env = append(os.Environ(), nodeEnv+"="+n.config)
	n.command.Stderr = os.Stderr
	out, err := n.command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := n.command.Start(); err != nil {
		t.Fatal(err)
	}
	if !bufio.NewScanner(out).Scan() {
		log, _ := os.ReadFile(logOf(n.config))
		t.Fatalf("a node does not come up:\n%s", log)
	}
}

func (n *node) kill() {
	_ = n.command.Process.Kill()
	_ = n.command.Wait()
}

func (n *node) signal(t *testing.T, what syscall.Signal) {
	t.Helper()
	if err := n.command.Process.Signal(what); err != nil {
		t.Fatal(err)
	}
}

// processes starts three nodes with JetStream, "node-1" to "node-3", and returns them with their URLs when streams can be made.
func processes(t *testing.T) (map[string]*node, string) {
	t.Helper()
	var clients, routes []string
	for range 3 {
		clients = append(clients, freeAddress(t))
		routes = append(routes, freeAddress(t))
	}
	all := map[string]*node{}
	for i := range 3 {
		name, folder := fmt.Sprintf("node-%d", i+1), t.TempDir()
		n := &node{config: filepath.Join(folder, "nats.conf")}
		text := fmt.Sprintf("server_name: %s\nlisten: %q\nmax_payload: 2MB\njetstream { store_dir: %q }\n"+
			"cluster { name: test, listen: %q, routes: [%s] }\n",
			name, clients[i], filepath.Join(folder, "data"), routes[i], "nats://"+strings.Join(routes, ", nats://"))
		if err := os.WriteFile(n.config, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		all[name] = n
	}
	for _, n := range all {
		n.start(t)
		t.Cleanup(n.kill)
	}
	url := "nats://" + strings.Join(clients, ",nats://")
	c, err := nats.Connect(url)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	js, err := jetstream.New(c)
	if err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		made, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "first", Replicas: 3})
		if err == nil && len(made.CachedInfo().Cluster.Replicas) == 2 {
			return all, url
		}
		if time.Now().After(deadline) {
			t.Fatalf("the cluster makes no streams: %v", err)
		}
	}
}

func freeAddress(t *testing.T) string {
	return "127.0.0.1:" + strconv.Itoa(brokertest.FreePort(t))
}

func TestAFrozenServerHoldsUpASendForTheTimeoutAtMostAndCloseHardly(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"core", "jetstream"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			n := &node{config: filepath.Join(t.TempDir(), "nats.conf")}
			address := freeAddress(t)
			text := fmt.Sprintf("listen: %q\nmax_payload: 2MB\njetstream { store_dir: %q }\n", address, t.TempDir())
			if err := os.WriteFile(n.config, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			n.start(t)
			t.Cleanup(n.kill)
			session, err := New(broker.Options{
				URL: "nats://" + address, Driver: json.RawMessage(fmt.Sprintf(`{"mode": %q}`, mode)), Connections: 2, MessageBytes: 1 << 20,
				Now: clock.New().Now, TimeoutNs: int64(2 * time.Second),
			})
			if err != nil {
				t.Fatal(err)
			}
			if err := session.Open(t.Context()); err != nil {
				t.Fatal(err)
			}
			if err := session.Prepare(t.Context(), broker.Layout{Topics: []broker.Topic{{Name: "frozen", Partitions: 1}}}); err != nil {
				t.Fatal(err)
			}
			brokertest.Freeze(t, n.command.Process)
			// The kernel's buffers take some megabytes.
			fill := func(connection int) (longest time.Duration) {
				producer, err := session.Producer(connection)
				if err != nil {
					t.Error(err)
				}
				failed := false
				for i := 0; i < 100 && !failed; i++ {
					called := time.Now()
					told := make(chan error, 1)
					producer.Send(&broker.Message{Name: "frozen", Payload: make([]byte, 1<<20)}, func(_ *broker.Message, _ int64, err error) { told <- err })
					longest = max(longest, time.Since(called))
					select {
					case err := <-told:
						failed = err != nil
					default:
					}
				}
				return longest
			}
			if longest := fill(0); longest < time.Second || longest > 10*time.Second {
				t.Errorf("the longest send took %s; the timeout is 2 s", longest)
			}
			filled := make(chan struct{})
			go func() { defer close(filled); fill(1) }()
			time.Sleep(500 * time.Millisecond)
			began := time.Now()
			_ = session.Close()
			if took := time.Since(began); took > 10*time.Second {
				t.Errorf("Close took %s", took)
			}
			select {
			case <-filled:
			case <-time.After(10 * time.Second):
				t.Error("a send that was held up does not return after Close")
			}
		})
	}
}

func TestAClusterGoesOnWithoutItsLeader(t *testing.T) {
	t.Parallel()
	failover(t, 3, 1)
}

func failover(t *testing.T, replicas, kills int) {
	nodes, url := processes(t)
	brokertest.Failover(t, brokertest.Cluster{
		System:   brokertest.System{Driver: New, URL: url, DriverOptions: json.RawMessage(`{"mode": "jetstream", "ackWaitNs": 5000000000}`)},
		Replicas: replicas,
		Group:    true,
		Pause: func(t *testing.T, name string) func() {
			brokertest.Freeze(t, nodes[name].command.Process)
			return func() { nodes[name].signal(t, syscall.SIGCONT) }
		},
		Kill: func(t *testing.T, name string) func() {
			nodes[name].kill()
			return func() { nodes[name].start(t) }
		},
		Kills: kills,
	})
}
