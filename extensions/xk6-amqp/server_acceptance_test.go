//go:build acceptance

package amqp

import (
	"fmt"
	"testing"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/brokertest"
)

// Artemis's audit loggers would write six lines for each message.
const logging = `logger.audit.name=org.apache.activemq.audit
logger.audit.level=OFF
rootLogger.level=INFO
rootLogger.appenderRef.out.ref=out
appender.out.type=Console
appender.out.name=out
appender.out.layout.type=PatternLayout
`

// startArtemis starts one that syncs its journal, or not.
func startArtemis(t testing.TB, sync bool) brokertest.Located {
	t.Helper()
	folder, port := t.TempDir(), brokertest.FreePort(t)
	brokertest.File(t, fmt.Sprintf(`<configuration xmlns="urn:activemq"><core xmlns="urn:activemq:core">
<name>mqbench</name><security-enabled>false</security-enabled>
<journal-type>NIO</journal-type><journal-pool-files>10</journal-pool-files><journal-datasync>%t</journal-datasync>
<journal-directory>%[2]s/journal</journal-directory><bindings-directory>%[2]s/bindings</bindings-directory>
<paging-directory>%[2]s/paging</paging-directory><large-messages-directory>%[2]s/large</large-messages-directory>
<acceptors><acceptor name="amqp">tcp://127.0.0.1:%[3]d?protocols=AMQP</acceptor></acceptors>
</core></configuration>`, sync, folder, port), folder, "etc", "broker.xml")
	return start(t, folder, port, "runner/brokers/amqp/artemis/pom.xml", "Server is now active", "org.apache.activemq.artemis.core.server.embedded.Main", folder)
}

// startClassic starts one that syncs its journal, or not.
func startClassic(t testing.TB, sync bool) brokertest.Located {
	t.Helper()
	folder, port := t.TempDir(), brokertest.FreePort(t)
	config := brokertest.File(t, fmt.Sprintf(`<beans xmlns="http://www.springframework.org/schema/beans" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"
 xsi:schemaLocation="http://www.springframework.org/schema/beans http://www.springframework.org/schema/beans/spring-beans.xsd
 http://activemq.apache.org/schema/core http://activemq.apache.org/schema/core/activemq-core.xsd">
<broker xmlns="http://activemq.apache.org/schema/core" brokerName="mqbench" dataDirectory="%[1]s" useJmx="false" advisorySupport="false">
<persistenceAdapter><kahaDB directory="%[1]s/kahadb" journalDiskSyncStrategy="%[2]s"/></persistenceAdapter>
<transportConnectors><transportConnector name="amqp" uri="amqp://127.0.0.1:%[3]d?maximumConnections=10000&amp;transport.tcpNoDelay=true"/></transportConnectors>
</broker></beans>`, folder, map[bool]string{true: "ALWAYS", false: "NEVER"}[sync], port), folder, "activemq.xml")
	return start(t, folder, port, "runner/brokers/amqp/activemq/pom.xml", ") started", "org.apache.activemq.console.command.ShellCommand", "start",
		"xbean:file:"+config)
}

// --- internal ---

func start(t testing.TB, folder string, port int, pom, ready string, main ...string) brokertest.Located {
	t.Helper()
	config := brokertest.File(t, logging, folder, "log4j2.properties")
	argv := brokertest.Java("-Dlog4j2.configurationFile="+config, "-cp", brokertest.Classpath(t, pom))
	return brokertest.Located{Server: brokertest.StartServer(t, ready, append(argv, main...)...), URL: fmt.Sprintf("amqp://127.0.0.1:%d", port)}
}
