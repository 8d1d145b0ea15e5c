//go:build acceptance && linux

package iris

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/brokertest"
)

// inNamespace says that this process is in a network namespace.
const inNamespace = "IRIS_IN_NAMESPACE"

// A node looks for others on all interfaces but loopback, so it gets a namespace that has no other.
func TestContractWithTheRealNode(t *testing.T) {
	if os.Getenv(inNamespace) == "" {
		within := exec.Command("unshare", "--net", "--map-root-user", "sh", "-c", `ip link set lo up && exec "$0" "$@"`,
			os.Args[0], "-test.run", "^"+t.Name()+"$", "-test.v")
		within.Env = append(os.Environ(), inNamespace+"="+build(t))
		if out, err := within.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return
	}
	server := brokertest.StartServer(t, "iris successfully booted", os.Getenv(inNamespace), "-dev")
	system := brokertest.System{Driver: New, URL: "iris://127.0.0.1:55555", NoGroups: true}
	t.Run("frozen", func(t *testing.T) { freezes(t, server, system) })
	server.Kill()
	server.Start()
	t.Run("killed and started again", func(t *testing.T) { system.Traffic(t, "").Survives(server) })
	system.Broken = func(*testing.T) { server.Kill() }
	brokertest.Run(t, func(*testing.T) brokertest.System { return system })
}

// build compiles Iris 0.3.2, which is older than modules; a package of it was moved.
func build(t *testing.T) string {
	folder := t.TempDir()
	brokertest.File(t, `module iris

go 1.26.0

require github.com/project-iris/iris v0.3.2

require code.google.com/p/go.crypto v0.0.0

replace code.google.com/p/go.crypto => golang.org/x/crypto v0.58.0
`, folder, "go.mod")
	brokertest.File(t, `github.com/project-iris/iris v0.3.2 h1:uj/izjECHWDgTxWrKR48/RwbkpV9MCRRSeZ1q+3PzRc=
github.com/project-iris/iris v0.3.2/go.mod h1:A4Jvy1lON7mEipAIks6HMxtVrlXJLqq6UKZhyJO2Vcc=
golang.org/x/crypto v0.58.0 h1:COkYLr4k7nDI4r6QtMML2AfzeIswWHAJthLS6K/M/54=
golang.org/x/crypto v0.58.0/go.mod h1:Xh+kl5A+M0gMiWDytH2Hhr5Z7WbNCpv/eB/EFgfSk+w=
`, folder, "go.sum")
	path := filepath.Join(folder, "iris")
	tool := exec.Command("go", "build", "-o", path, "github.com/project-iris/iris")
	tool.Dir = folder
	if out, err := tool.CombinedOutput(); err != nil {
		t.Fatalf("build Iris: %v\n%s", err, out)
	}
	return path
}
