package mqtt

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/brokertest"
)

// server is a broker for one test.
type server struct {
	*brokertest.Server
	address string
}

func (s server) url() string { return "mqtt://" + s.address }

// startMosquitto starts one with further lines of its configuration.
func startMosquitto(t testing.TB, lines ...string) server {
	t.Helper()
	program, err := exec.LookPath("mosquitto")
	if err != nil {
		if program, err = exec.LookPath("/usr/sbin/mosquitto"); err != nil {
			if os.Getenv("CI") == "true" {
				t.Fatal("mosquitto is not installed")
			}
			t.Skip("mosquitto is not installed: install it to run this test")
		}
	}
	port := brokertest.FreePort(t)
	file := filepath.Join(t.TempDir(), "mosquitto.conf")
	text := fmt.Sprintf("user root\nlistener %d 127.0.0.1\nset_tcp_nodelay true\nmax_queued_messages 0\n%s\n", port, strings.Join(lines, "\n"))
	if !strings.Contains(text, "password_file") {
		text += "allow_anonymous true\n"
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return server{brokertest.StartServer(t, "running", program, "-c", file), "127.0.0.1:" + strconv.Itoa(port)}
}

// startMochi starts the one that mqbench builds.
func startMochi(t testing.TB) server {
	t.Helper()
	address := "127.0.0.1:" + strconv.Itoa(brokertest.FreePort(t))
	return server{brokertest.StartServer(t, "is ready", brokertest.Built(t, "mochi"), "-listen", address), address}
}

// startNATS starts nats-server with its listener for MQTT.
func startNATS(t testing.TB) server {
	t.Helper()
	folder, address := t.TempDir(), "127.0.0.1:"+strconv.Itoa(brokertest.FreePort(t))
	file := filepath.Join(folder, "nats.conf")
	text := fmt.Sprintf("listen: \"127.0.0.1:-1\"\nserver_name: mqbench\nmax_payload: 2MB\njetstream { store_dir: %q }\nmqtt { listen: %q }\n", folder, address)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return server{brokertest.StartServer(t, "Server is ready", brokertest.Built(t, "nats-server"), "-c", file), address}
}
