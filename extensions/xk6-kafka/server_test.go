package kafka

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.k6.io/k6/v2/cmd"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/brokertest"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/scripttest"
)

// server is a separate broker for tests: one node, KRaft, on loopback.
type server struct {
	*brokertest.Server
	url    string
	killed bool
}

// shared is the broker of all tests that need no special settings, in its own folder.
var (
	shared       *server
	sharedFolder string
)

func TestMain(m *testing.M) {
	scripttest.Main(cmd.Execute)
	code := m.Run()
	if shared != nil {
		shared.kill()
	}
	_ = os.RemoveAll(sharedFolder)
	os.Exit(code)
}

// running is the shared broker. One that was killed is started again, because it takes half the time of a new one.
func running(t testing.TB) *server {
	t.Helper()
	if shared == nil {
		var err error
		if sharedFolder, err = os.MkdirTemp("", "mqbench-kafka-"); err != nil {
			t.Fatal(err)
		}
		shared = start(brokertest.Lasting{TB: t}, sharedFolder, setup{})
	}
	if shared.killed {
		shared.run()
	}
	return shared
}

// setup is the special configuration of a test's broker.
type setup struct {
	// settings of server.properties. "{port}" in them is the broker's port, "{other}" another free one.
	settings map[string]string
	// format is given to the tool that formats the storage.
	format []string
	// under is a command that the broker runs under.
	under []string
	// port and controller, where others must have them beforehand; 0 means free ones.
	port, controller int
}

// start gives a broker for one test.
func start(t testing.TB, folder string, with setup) *server {
	t.Helper()
	class := classpath(t)
	port, other, controller := cmp.Or(with.port, brokertest.FreePort(t)), brokertest.FreePort(t), cmp.Or(with.controller, brokertest.FreePort(t))
	settings := map[string]string{
		"process.roles":             "broker,controller",
		"node.id":                   "1",
		"controller.quorum.voters":  fmt.Sprintf("1@127.0.0.1:%d", controller),
		"listeners":                 "PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}",
		"controller.listener.names": "CONTROLLER",
		"log.dirs":                  filepath.Join(folder, "data"),

		"offsets.topic.replication.factor":                 "1",
		"offsets.topic.num.partitions":                     "1",
		"transaction.state.log.replication.factor":         "1",
		"transaction.state.log.min.isr":                    "1",
		"share.coordinator.state.topic.replication.factor": "1",
		"share.coordinator.state.topic.min.isr":            "1",
		"group.initial.rebalance.delay.ms":                 "0",
		"auto.create.topics.enable":                        "false",

		// A group notices soon that a member is gone, and the members soon what they have.
		"group.consumer.session.timeout.ms":        "6000",
		"group.consumer.min.session.timeout.ms":    "6000",
		"group.consumer.heartbeat.interval.ms":     "500",
		"group.consumer.min.heartbeat.interval.ms": "500",

		"group.share.session.timeout.ms":               "6000",
		"group.share.min.session.timeout.ms":           "6000",
		"group.share.heartbeat.interval.ms":            "500",
		"group.share.min.heartbeat.interval.ms":        "500",
		"group.share.record.lock.duration.ms":          "6000",
		"group.share.min.record.lock.duration.ms":      "1000",
		"share.coordinator.state.topic.num.partitions": "1",
		"transaction.state.log.num.partitions":         "1",

		// A node that was killed joins again when its session of before is over: nine seconds by default.
		"broker.session.timeout.ms":    "3000",
		"broker.heartbeat.interval.ms": "500",
	}
	maps.Copy(settings, with.settings)
	ports := strings.NewReplacer("{port}", fmt.Sprint(port), "{other}", fmt.Sprint(other), "{controller}", fmt.Sprint(controller))
	var properties strings.Builder
	for key, value := range settings {
		fmt.Fprintf(&properties, "%s=%s\n", key, ports.Replace(value))
	}
	config := brokertest.File(t, properties.String(), folder, "server.properties")
	log := brokertest.File(t, "rootLogger.level=INFO\nrootLogger.appenderRef.out.ref=out\nappender.out.type=Console\nappender.out.name=out\n"+
		"appender.out.layout.type=PatternLayout\nappender.out.layout.pattern=%p %c{1} %m%n\n", folder, "log4j2.properties")
	format := exec.Command("java", append([]string{
		"-XX:TieredStopAtLevel=1", "-cp", class, "-Dlog4j2.configurationFile=" + log,
		"kafka.tools.StorageTool", "format", "-t", "bXFiZW5jaC10ZXN0cy0tLQ", "-c", config,
	}, with.format...)...)
	if out, err := format.CombinedOutput(); err != nil {
		t.Fatalf("format the storage: %v\n%s", err, out)
	}
	argv := append(with.under, brokertest.Java("-cp", class, "-Dlog4j2.configurationFile="+log, "kafka.Kafka", config)...)
	return &server{Server: brokertest.StartServer(t, "Kafka Server started", argv...), url: fmt.Sprintf("kafka://127.0.0.1:%d", port)}
}

// kill ends the broker as a crash does, and run starts it again.
func (s *server) kill() { s.Kill(); s.killed = true }
func (s *server) run()  { s.Start(); s.killed = false }
func (s *server) thaw() { _ = s.Process().Signal(syscall.SIGCONT) }

// recover thaws a broker that was frozen for long: its controller fences it before it takes it back, and until then no topic can be made.
func (s *server) recover(t *testing.T) {
	t.Helper()
	s.thaw()
	time.Sleep(time.Second)
	brokertest.Eventually(t, "the broker is taken back", func() bool {
		cluster, err := s.admin(t).BrokerMetadata(context.Background())
		return err == nil && len(cluster.Brokers) > 0
	})
}

// classpath of Kafka's server: KAFKA_HOME, or Maven's resolution of the pom that mqbench pins.
func classpath(t testing.TB) string {
	t.Helper()
	if home := os.Getenv("KAFKA_HOME"); home != "" {
		return filepath.Join(home, "libs", "*")
	}
	needs(t, "java", "mvn")
	return brokertest.Classpath(t, "runner/brokers/kafka/pom.xml")
}

// needs skips where a program is missing, except in CI.
func needs(t testing.TB, programs ...string) {
	t.Helper()
	for _, program := range programs {
		if _, err := exec.LookPath(program); err != nil {
			if os.Getenv("CI") == "true" {
				t.Fatalf("%s is missing, and CI has to have it", program)
			}
			t.Skipf("%s is missing: this test starts a real Kafka", program)
		}
	}
}
