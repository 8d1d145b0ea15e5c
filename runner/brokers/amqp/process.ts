import type { Level } from "../../model/plan.ts";
import { hostPort } from "../addresses.ts";
import { storesBy } from "../broker.ts";
import type { Config, SystemOptionsOfAnyBroker } from "../fields.ts";
import { jvmServer } from "../jvm.ts";
import type { Site } from "../process.ts";
import { type Login, newLogin } from "../server.ts";

/** As in artemis/pom.xml; the other server has its own image. */
const image = { name: "apache/activemq-artemis", version: "2.44.0" };

/** Both servers default to `fsync`. At `memory` messages are not durable, which the driver sets. */
function stores(
	key: string,
	values: { fsync: boolean | string } & Partial<Record<Level, boolean | string>>,
) {
	const levels = Object.entries(values).map(
		([level, value]) => [level, [`${key}: ${value}`, { [key]: value }]] as const,
	);
	return storesBy({
		own: `fsync (${key}: ${values.fsync}, its default)`,
		unknown: "durable messages; more is not known (your server)",
		levels: { memory: ["messages that are not durable", {}], ...Object.fromEntries(levels) },
		without: { [key]: values.fsync },
	});
}

export const SERVERS = {
	artemis: {
		jars: {
			title: "ActiveMQ Artemis",
			name: "artemis",
			folder: "amqp/artemis",
			version: image.version,
			installed: { folder: "lib", jar: "artemis-server-" },
		},
		maxMessageBytes: null,
		config: {
			file: "broker.xml",
			reserved: `name acceptors connectors security-enabled cluster-user cluster-password security-settings
				journal-directory bindings-directory paging-directory large-messages-directory persistence-enabled core`,
		},
		stores: stores("journal-datasync", { os: false, fsync: true }),
		// Otherwise the journal's type depends on whether libaio is installed.
		fixed: { "journal-type": "NIO", "journal-pool-files": 10 },
		version: / Message Broker version (\S+) /,
		up: /\bServer is now active\b/,
		start: ({ listen, ports, folder, data }: Site, chosen: Config, { user, password }: Login) => ({
			main: ["org.apache.activemq.artemis.core.server.embedded.Main", folder],
			files: {
				"etc/broker.xml": `<configuration xmlns="urn:activemq"><core xmlns="urn:activemq:core">
${elements({
	name: "mqbench",
	// The cluster's user is only asked for a password; roles would be looked up for each message.
	"cluster-user": user,
	"cluster-password": password,
	"journal-directory": `${data}/journal`,
	"bindings-directory": `${data}/bindings`,
	"paging-directory": `${data}/paging`,
	"large-messages-directory": `${data}/large`,
	...chosen,
})}
<acceptors><acceptor name="amqp">tcp://${hostPort(listen, ports[0] ?? 0)}?protocols=AMQP</acceptor></acceptors>
</core></configuration>
`,
			},
		}),
	},
	classic: {
		jars: {
			title: "ActiveMQ Classic",
			name: "activemq",
			folder: "amqp/activemq",
			version: "6.1.7",
			installed: { folder: "lib", jar: "activemq-broker-" },
		},
		// The limit is for frames.
		maxMessageBytes: 100 * 1024 ** 2 - 1024,
		config: {
			file: "activemq.xml",
			reserved: `kahadb.directory broker.brokername broker.datadirectory broker.usejmx broker.persistent broker.plugins`,
		},
		stores: stores("kahaDB.journalDiskSyncStrategy", {
			os: "NEVER",
			interval: "PERIODIC",
			fsync: "ALWAYS",
		}),
		fixed: {},
		version: /Apache ActiveMQ (\S+) \(/,
		up: /Apache ActiveMQ \S+ \(.*\) started$/,
		start: ({ listen, ports, folder, data }: Site, chosen: Config, { user, password }: Login) => ({
			main: [
				"org.apache.activemq.console.command.ShellCommand",
				"start",
				`xbean:file:${folder}/activemq.xml`,
			],
			files: {
				"activemq.xml": `<beans xmlns="http://www.springframework.org/schema/beans" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"
 xsi:schemaLocation="http://www.springframework.org/schema/beans http://www.springframework.org/schema/beans/spring-beans.xsd
 http://activemq.apache.org/schema/core http://activemq.apache.org/schema/core/activemq-core.xsd">
<broker xmlns="http://activemq.apache.org/schema/core"${attributes({
					brokerName: "mqbench",
					dataDirectory: data,
					useJmx: false,
					advisorySupport: false,
					...within("broker.", chosen),
				})}>
<persistenceAdapter><kahaDB${attributes({ directory: `${data}/kahadb`, ...within("kahaDB.", chosen) })}/></persistenceAdapter>
<plugins><simpleAuthenticationPlugin><users><authenticationUser${attributes({ username: user, password, groups: user })}/></users></simpleAuthenticationPlugin></plugins>
<transportConnectors><transportConnector${attributes({
					name: "amqp",
					// Sends small messages at once, like the other servers here; the default waits 40 ms for more.
					uri: `amqp://${hostPort(listen, ports[0] ?? 0)}?maximumConnections=100000&transport.tcpNoDelay=true`,
				})}/></transportConnectors>
</broker></beans>
`,
			},
		}),
	},
};

/** Containers need Artemis in its image's folder and java on PATH; the image's own scripts are not used. */
export const server = jvmServer<
	SystemOptionsOfAnyBroker & { readonly server: keyof typeof SERVERS }
>({
	image,
	jars: Object.values(SERVERS).map(({ jars }) => jars),
	which: ({ server }) => SERVERS[server].jars,
	megabytes: 20,
	remark: " (ActiveMQ Artemis or Classic); or `binary: /opt/activemq`",
	container: { data: "/var/lib/artemis-instance" },
	ports: 5672,
	flags: ["-XX:+UseG1GC"],
	// Off as in Artemis's own configuration: the root level would log six lines per message, which cost more than the message.
	logging: "logger.audit.name=org.apache.activemq.audit\nlogger.audit.level=OFF\n",
	inImage: "/opt/activemq-artemis/lib",
	more: ["optional"],
	launch({ nodes, image, level }, { server, config }, run) {
		const login = newLogin();
		const { jars, fixed, stores, version, up, start } = SERVERS[server];
		const chosen = { ...fixed, ...stores.settings(null, {}), ...stores.settings(level, config) };
		return {
			log: { name: jars.title, version, up },
			url: `amqp://${login.inUrl}${nodes[0]?.client}`,
			settings: chosen,
			flushes: level !== "memory",
			node(node) {
				const { main, files } = start(node, chosen, login);
				return {
					// In a container it replaces the entry point, which would make another instance.
					before: image ? [["mkdir", "-p", node.data]] : [],
					argv: run(node, main),
					files,
				};
			},
		};
	},
});

// --- internal ---

function elements(all: Config): string {
	const each = Object.entries(all).map(([name, one]) => `<${name}>${escaped(one)}</${name}>`);
	return each.join("\n");
}

function attributes(all: Config): string {
	const each = Object.entries(all).map(([name, value]) => ` ${name}="${escaped(value)}"`);
	return each.join("");
}

function escaped(value: string | number | boolean): string {
	return String(value).replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
}

function within(prefix: string, all: Config): Config {
	return Object.fromEntries(
		Object.entries(all).flatMap(([key, value]) =>
			key.startsWith(prefix) ? [[key.slice(prefix.length), value]] : [],
		),
	);
}
