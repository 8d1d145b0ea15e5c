//go:build acceptance

package pulsar

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/brokertest"
)

// shared is the server of all tests that do not end it.
var shared *brokertest.Located

var sharedFolder string

func TestMain(m *testing.M) {
	code := m.Run()
	if shared != nil {
		shared.Kill()
	}
	_ = os.RemoveAll(sharedFolder)
	os.Exit(code)
}

func running(t testing.TB) brokertest.Located {
	t.Helper()
	if shared == nil {
		var err error
		if sharedFolder, err = os.MkdirTemp("", "mqbench-pulsar-"); err != nil {
			t.Fatal(err)
		}
		made := start(brokertest.Lasting{TB: t}, sharedFolder, "journalSyncData=false\n")
		shared = &made
	}
	return *shared
}

// start starts a standalone server with these settings of its journal, as runner/brokers/pulsar does, under a command or none.
func start(t testing.TB, folder, journal string, under ...string) brokertest.Located {
	t.Helper()
	port, web, bookie := brokertest.FreePort(t), brokertest.FreePort(t), brokertest.FreePort(t)
	config := brokertest.File(t, fmt.Sprintf(`clusterName=standalone
brokerServicePort=%d
webServicePort=%d
bindAddress=127.0.0.1
advertisedAddress=127.0.0.1
managedLedgerDefaultEnsembleSize=1
managedLedgerDefaultWriteQuorum=1
managedLedgerDefaultAckQuorum=1
allowAutoTopicCreation=false
brokerDeleteInactiveTopicsEnabled=false
loadBalancerEnabled=false
ledgerStorageClass=org.apache.bookkeeper.bookie.storage.ldb.DbLedgerStorage
nettyMaxFrameSizeBytes=5253120
journalMaxGroupWaitMSec=1
allowLoopback=true
listeningInterface=lo
allowEphemeralPorts=true
`, port, web)+journal, folder, "standalone.conf")
	logging := brokertest.File(t, `rootLogger.level=INFO
rootLogger.appenderRef.out.ref=out
appender.out.type=Console
appender.out.name=out
appender.out.layout.type=PatternLayout
appender.out.layout.pattern=%p %c{1} %m%n
`, folder, "log4j2.properties")
	argv := append(under, brokertest.Java("-XX:MaxDirectMemorySize=1g", "-Dio.netty.tryReflectionSetAccessible=true", "-Dlog4j2.configurationFile="+logging)...)
	for _, name := range strings.Fields(`java.base/java.io java.base/java.lang java.base/java.nio java.base/java.util.zip java.base/jdk.internal.misc
		java.base/jdk.internal.platform java.base/sun.net java.management/sun.management jdk.management/com.sun.management.internal`) {
		argv = append(argv, "--add-opens="+name+"=ALL-UNNAMED")
	}
	argv = append(argv, "-cp", jars()+"/*", "org.apache.pulsar.PulsarStandaloneStarter", "--config", config,
		"-nss", "-nfw", "--bookkeeper-port", fmt.Sprint(bookie), "--metadata-dir", filepath.Join(folder, "metadata"), "--bookkeeper-dir", filepath.Join(folder, "bookkeeper"))
	s := brokertest.Located{URL: fmt.Sprintf("pulsar://127.0.0.1:%d?http=127.0.0.1:%d", port, web)}
	s.Server = brokertest.StartServer(t, "messaging service is ready", argv...)
	brokertest.Eventually(t, "the namespace is there", func() bool {
		_, is, err := admin(t, s).ask(context.Background(), http.MethodGet, "namespaces/public/default", "")
		return err == nil && is
	})
	return s
}

// jars is the folder of the distribution's, which Maven unpacks.
var jars = sync.OnceValue(func() string {
	folder := filepath.Join(os.TempDir(), "mqbench-pulsar-jars")
	mvn := exec.Command("mvn", "-q", "-B", "-f", "../../runner/brokers/pulsar/pom.xml", "dependency:unpack-dependencies", "-DincludeScope=runtime",
		"-DoutputDirectory="+folder, "-DmarkersDirectory="+folder+"/markers")
	if out, err := mvn.CombinedOutput(); err != nil {
		panic(fmt.Sprintf("unpack the distribution with mvn: %v\n%s", err, out))
	}
	return folder
})

// admin is a session that only asks the admin API.
func admin(t testing.TB, s brokertest.Located) *session {
	t.Helper()
	made, err := New(broker.Options{URL: s.URL})
	if err != nil {
		t.Fatal(err)
	}
	return made.(*session)
}

func asked(t *testing.T, s brokertest.Located, path string) (answer string, found bool) {
	t.Helper()
	answer, found, err := admin(t, s).ask(t.Context(), http.MethodGet, path, "")
	if err != nil {
		t.Fatal(err)
	}
	return answer, found
}
