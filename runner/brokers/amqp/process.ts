import { readdir } from "node:fs/promises";
import path from "node:path";
import { failure } from "../../errors.ts";
import { tell } from "../../text/tell.ts";
import { hostPort } from "../addresses.ts";
import { pinned } from "../jars.ts";
import { fetchJars, findJava, jvmFlags, LOGGING } from "../java.ts";
import { type Login, newLogin } from "../login.ts";
import type { BrokerProcess, Setup, Site } from "../process.ts";
import { amqpSettings } from "./durability.ts";
import { jarsOf, type Server } from "./image.ts";
import type { AmqpOptions } from "./options.ts";

/**
 * ActiveMQ Artemis or ActiveMQ Classic: on Java from `binary` (an installation), or from jars that Maven fetches into the cache; Artemis in containers
 * from apache/activemq-artemis, or another image with Artemis there and java on PATH, instead of the image's own scripts.
 */
export const amqp: BrokerProcess = {
	packages: ["default-jre-headless"],
	onHosts: {
		text: (version = jarsOf.artemis.version) =>
			`ActiveMQ Artemis ${version} (or Classic), copied, on the host's Java`,
		anyVersion: true,
	},
	container: { data: "/var/lib/artemis-instance" },
	ports: () => [{ number: 5672, from: "clients" }],
	prepare: findClasses,
	async describe(setup) {
		const { nodes, image } = setup;
		const { server, config } = optionsOf(setup);
		const { title } = jarsOf[server];
		const login = newLogin();
		const java = await findJava(setup, title);
		const classes = image ? null : await findClasses(setup);
		const jvm = jvmFlags(setup, "-XX:+UseG1GC");
		const chosen = { ...FIXED[server], ...amqpSettings(server, setup.level, config) };
		return {
			...signs[server](`${login.inUrl}${nodes[0]?.client}`),
			settings: {
				...Object.fromEntries(Object.entries(chosen).map(([key, value]) => [key, String(value)])),
				java: jvm.text,
				...unpinned(setup),
			},
			data: "disk",
			flushes: setup.level !== "memory",
			nodes: nodes.map((node) => {
				const jars = classes ? node.bring(server, classes) : "/opt/activemq-artemis/lib";
				const { main, files } = started[server](node, chosen, login);
				return {
					// In a container it takes the place of the entry point, which would make an instance of its own.
					before: image ? [["mkdir", "-p", node.data]] : [],
					argv: [
						java,
						...jvm.argv,
						`-Dlog4j2.configurationFile=${node.folder}/log4j2.properties`,
						"-cp",
						`${jars}/*:${jars}/optional/*`,
						...main,
					],
					files: { ...files, "log4j2.properties": LOGGING + AUDIT_OFF },
				};
			}),
		};
	},
};

// --- internal ---

function optionsOf({ system }: Pick<Setup, "system">): AmqpOptions {
	return system.options as unknown as AmqpOptions;
}

type Values = Readonly<Record<string, string | number | boolean>>;

/**
 * Artemis's audit loggers, off as in its own configuration: the level of the root logger alone would have them write six lines for each
 * message, which takes more than the message.
 */
const AUDIT_OFF = `logger.audit.name=org.apache.activemq.audit
logger.audit.level=OFF
`;

/** Beside what the scenario says. Artemis's journal takes another kind of file where libaio is installed: the same on every machine. */
const FIXED: Readonly<Record<Server, Values>> = {
	artemis: { "journal-type": "NIO", "journal-pool-files": 10 },
	classic: {},
};

/** Folder of the jars: of an installation, or of the cache. */
async function findClasses(setup: Pick<Setup, "system" | "tools">): Promise<string> {
	const { system } = setup;
	const { server, version } = optionsOf(setup);
	const jars = jarsOf[server];
	if (system.binary === null)
		return fetchJars(setup, jars, {
			...(version === undefined ? {} : { version }),
			instead: `use a ${jars.title} that you have: binary: /path/to/it`,
		});
	const folder = path.resolve(system.binary, "lib");
	const found = await readdir(folder).catch(() => []);
	const sign = server === "artemis" ? "artemis-server-" : "activemq-broker-";
	if (found.some((jar) => jar.startsWith(sign))) return folder;
	throw failure("broker-missing", {
		system: system.key,
		what: `${system.binary} (binary) is no installation of ${jars.title}: there is no lib/${sign}<version>.jar in it`,
		remedy: "Correct binary, or remove it to have Maven fetch the server",
	});
}

/** What a report says of jars that only Maven has checked. */
function unpinned(setup: Pick<Setup, "system">): Record<string, string> {
	const { server, version } = optionsOf(setup);
	const jars = jarsOf[server];
	return setup.system.binary !== null || version === undefined || pinned(jars, version) !== null
		? {}
		: { jars: tell("jars-not-pinned", { what: `${jars.title} ${version}` }) };
}

/** How each is started: its main class with arguments, and its files. */
const started: Readonly<
	Record<
		Server,
		(
			node: Site,
			chosen: Values,
			login: Login,
		) => { main: string[]; files: Readonly<Record<string, string>> }
	>
> = {
	artemis: ({ listen, ports, folder, data }, chosen, { user, password }) => ({
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
	classic: ({ listen, ports, folder, data }, chosen, { user, password }) => ({
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

/** How each tells that it is up, and where it is. */
const signs = {
	artemis: (client: string) =>
		told(client, "ActiveMQ Artemis", / Message Broker version (\S+) /, /\bServer is now active\b/),
	classic: (client: string) =>
		told(
			client,
			"ActiveMQ Classic",
			/Apache ActiveMQ (\S+) \(/,
			/Apache ActiveMQ \S+ \(.*\) started$/,
		),
};

function told(client: string, title: string, says: RegExp, up: RegExp) {
	let version = "";
	return {
		ready(line: string) {
			version ||= says.exec(line)?.[1] ?? "";
			return up.test(line);
		},
		url: () => `amqp://${client}`,
		version: () => version && `${title} ${version}`,
		startMs: 60_000,
		stopMs: 10_000,
	};
}
