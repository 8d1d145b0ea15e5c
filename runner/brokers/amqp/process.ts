import type { Level } from "../../model/plan.ts";
import { hostPort } from "../addresses.ts";
import type { OfficialImage } from "../broker.ts";
import type { SystemOptionsOfAnyBroker } from "../fields.ts";
import type { Jars } from "../jars.ts";
import { jvmProgram, LOGGING, onJvm } from "../java.ts";
import { type Login, newLogin } from "../login.ts";
import { type Site, says, server } from "../process.ts";
import type { AmqpOptions, Server } from "./options.ts";

/** As the pom in `artemis`; the other server has an image of its own. */
export const image: OfficialImage = {
	name: "apache/activemq-artemis",
	version: "2.44.0",
	suffix: "",
};

/** The servers, and what they need at run time. */
export const jarsOf: Readonly<Record<Server, Jars>> = {
	artemis: {
		title: "ActiveMQ Artemis",
		name: "artemis",
		folder: "amqp/artemis",
		version: image.version,
		installed: { folder: "lib", jar: "artemis-server-" },
	},
	classic: {
		title: "ActiveMQ Classic",
		name: "activemq",
		folder: "amqp/activemq",
		version: "6.1.7",
		installed: { folder: "lib", jar: "activemq-broker-" },
	},
};

/** The setting of each server that says when it flushes. */
export const SYNC = {
	artemis: "journal-datasync",
	classic: "kahaDB.journalDiskSyncStrategy",
} as const;

/** What each server is set to for a level; at `memory` messages are not durable, which is the driver's to say. */
export const LEVELS: Readonly<Record<Server, Partial<Record<Level, string | boolean>>>> = {
	artemis: { os: false, fsync: true },
	classic: { os: "NEVER", interval: "PERIODIC", fsync: "ALWAYS" },
};

/** Durability and `config`. Without a level as `fsync`, which is both servers' own. */
export function amqpSettings(
	server: Server,
	level: Level | null,
	config: SystemOptionsOfAnyBroker["config"],
): Values {
	const value = LEVELS[server][level ?? "fsync"] ?? LEVELS[server].fsync ?? "";
	return { [SYNC[server]]: value, ...config };
}

/**
 * ActiveMQ Artemis or ActiveMQ Classic: on Java from `binary` (an installation), or from jars that Maven fetches into the cache; Artemis in containers
 * from apache/activemq-artemis, or another image with Artemis there and java on PATH, instead of the image's own scripts.
 */
export const process = server<AmqpOptions>({
	packages: ["default-jre-headless"],
	program: jvmProgram((options) => jarsOf[(options as unknown as AmqpOptions).server]),
	onHosts: {
		text: (version = jarsOf.artemis.version) =>
			`ActiveMQ Artemis ${version} (or Classic), copied, on the host's Java`,
		anyVersion: true,
	},
	container: { data: "/var/lib/artemis-instance" },
	ports: 5672,
	async launch(setup, { server, config }) {
		const { nodes, image, level } = setup;
		const login = newLogin();
		const jvm = await onJvm(setup, jarsOf[server], {
			flags: ["-XX:+UseG1GC"],
			defines: ({ folder }) => [`-Dlog4j2.configurationFile=${folder}/log4j2.properties`],
			inImage: "/opt/activemq-artemis/lib",
			more: ["optional"],
		});
		const { fixed, tells, up, start } = SERVERS[server];
		const chosen = { ...fixed, ...amqpSettings(server, level, config) };
		return {
			says: says(jarsOf[server].title, tells, up),
			url: `amqp://${login.inUrl}${nodes[0]?.client}`,
			settings: { ...chosen, ...jvm.settings },
			data: "disk",
			flushes: level !== "memory",
			startMs: 60_000,
			stopMs: 10_000,
			node(node) {
				const { main, files } = start(node, chosen, login);
				return {
					// In a container it takes the place of the entry point, which would make an instance of its own.
					before: image ? [["mkdir", "-p", node.data]] : [],
					argv: jvm.run(node, main),
					files: { ...files, "log4j2.properties": LOGGING + AUDIT_OFF },
				};
			},
		};
	},
});

// --- internal ---

type Values = Readonly<Record<string, string | number | boolean>>;

/**
 * Artemis's audit loggers, off as in its own configuration: the level of the root logger alone would have them write six lines for each
 * message, which takes more than the message.
 */
const AUDIT_OFF = `logger.audit.name=org.apache.activemq.audit
logger.audit.level=OFF
`;

interface ServerParts {
	/** Beside what the scenario says. */
	readonly fixed: Values;
	/** The lines of its log with its version, and when it is up. */
	readonly tells: RegExp;
	readonly up: RegExp;
	/** Its main class with arguments, and its files. */
	start(
		node: Site,
		chosen: Values,
		login: Login,
	): { readonly main: string[]; readonly files: Readonly<Record<string, string>> };
}

const SERVERS: Readonly<Record<Server, ServerParts>> = {
	artemis: {
		// The journal takes another kind of file where libaio is installed: the same on every machine.
		fixed: { "journal-type": "NIO", "journal-pool-files": 10 },
		tells: / Message Broker version (\S+) /,
		up: /\bServer is now active\b/,
		start: ({ listen, ports, folder, data }, chosen, { user, password }) => ({
			main: ["org.apache.activemq.artemis.core.server.embedded.Main", folder],
			files: {
				"etc/broker.xml": `<configuration xmlns="urn:activemq"><core xmlns="urn:activemq:core">
${elements({
	name: "mqbench",
	// Who is the cluster's is asked for a password, and nothing more: roles would be looked up for each message.
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
		fixed: {},
		tells: /Apache ActiveMQ (\S+) \(/,
		up: /Apache ActiveMQ \S+ \(.*\) started$/,
		start: ({ listen, ports, folder, data }, chosen, { user, password }) => ({
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
					// Small messages leave at once, as with every other server here; its own default is to wait for more (40 ms).
					uri: `amqp://${hostPort(listen, ports[0] ?? 0)}?maximumConnections=100000&transport.tcpNoDelay=true`,
				})}/></transportConnectors>
</broker></beans>
`,
			},
		}),
	},
};

function elements(all: Values): string {
	return Object.entries(all)
		.map(([name, value]) => `<${name}>${escaped(value)}</${name}>`)
		.join("\n");
}

function attributes(all: Values): string {
	return Object.entries(all)
		.map(([name, value]) => ` ${name}="${escaped(value)}"`)
		.join("");
}

function escaped(value: string | number | boolean): string {
	return String(value).replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
}

function within(prefix: string, all: Values): Values {
	return Object.fromEntries(
		Object.entries(all).flatMap(([key, value]) =>
			key.startsWith(prefix) ? [[key.slice(prefix.length), value]] : [],
		),
	);
}
