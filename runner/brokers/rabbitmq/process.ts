import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { statSync } from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import { failure } from "../../errors.ts";
import { shellWord } from "../../shell.ts";
import { hostPort } from "../addresses.ts";
import { lines, texts } from "../config.ts";
import type { SystemOptionsOfAnyBroker } from "../fields.ts";
import type { ImageFacts, Setup } from "../process.ts";
import { askHost, factsIn, installedServer, newLogin } from "../server.ts";

const NAME = "rabbitmq-server";
const install =
	"apt-get install rabbitmq-server, dnf install rabbitmq-server, brew install rabbitmq, or https://www.rabbitmq.com/docs/download";

/**
 * rabbitmq-server with a node name, a cookie, ports and folders of its own: it neither sees nor touches one that runs. No plugins, and Erlang as
 * RabbitMQ starts it (schedulers that do not spin: +sbwt none). On hosts clients reach it at the host's address alone, all else is on the host's
 * loopback; the packages' own service has to be stopped, as it takes the same port. In containers the official image is that node.
 */
export const server = installedServer<SystemOptionsOfAnyBroker>({
	name: NAME,
	from: "`rabbitmq-server` and Erlang on PATH; or `binary: /opt/rabbitmq`",
	install,
	command: async () => [],
	image: { name: "rabbitmq", version: "4.2.1", suffix: "-alpine" },
	container: { folder: "/etc/rabbitmq", data: "/var/lib/rabbitmq", init: true },
	// On a host not those of a RabbitMQ that is its own.
	ports: () => [
		{ number: 5672, from: "clients" },
		{ number: 25_673, from: "itself" },
		{ number: 4370, from: "itself" },
	],
	async launch(setup) {
		const login = newLogin();
		const found = await Promise.all(setup.nodes.map((_, node) => find(setup, node)));
		const settings = settingsOf(setup, found[0]?.version ?? "");
		return {
			log: {
				name: NAME,
				version: /Starting RabbitMQ (\d[\w.+~-]*)/,
				up: /Server startup complete/,
			},
			url: `amqp://${login.inUrl}${setup.nodes[0]?.client}`,
			settings: { ...settings, plugins: "none", schedulers: "+sbwt none" },
			flushes: !keepsNothing(setup),
			startMs: 90_000,
			stopMs: 10_000,
			node({ listen, ports: [port = 0, distribution = 0, namePort = 0], folder }, i) {
				const { program = "", names = null } = found[i] ?? {};
				const configuration = lines(
					{
						"listeners.tcp.1": hostPort(listen, port),
						default_user: login.user,
						default_pass: login.password,
						"log.console": "true",
						"log.console.level": "info",
						"log.file": "false",
						...settings,
					},
					" = ",
				);
				if (names !== null)
					return {
						argv: [program],
						...ownNode({ store: folder, names, namePort, distribution, configuration }),
					};
				return {
					argv: [program],
					// Behind those that the image brings.
					files: { "conf.d/90-mqbench.conf": configuration, enabled_plugins: NO_PLUGINS },
					// A host's container has the host's network.
					env: {
						ERL_CRASH_DUMP_SECONDS: "0",
						...(setup.ask && apart(namePort, distribution)),
					},
				};
			},
		};
	},
});

// --- internal ---

const NO_PLUGINS = "[].\n";

/**
 * Lines of sh about the program $p: the script that packages' wrapper on PATH calls, or $p itself; its version by the name of its own plugin,
 * rabbit-3.10.8; and Erlang's name server, which is not always beside erl.
 */
const ABOUT = [
	"own=/usr/lib/rabbitmq/bin/rabbitmq-server",
	'case "$p" in /usr/*bin/*) [ ! -x "$own" ] || p=$own;; esac',
	'h=$(dirname "$(dirname "$(readlink -f "$p")")")',
	'v=$(ls "$h/plugins" 2>/dev/null | sed -n "s/^rabbit-\\([0-9].*\\)/\\1/p" | sed "s/\\.ez$//" | head -n 1)',
	'e=$(command -v epmd) || e=$(ls "$(dirname "$(dirname "$(readlink -f "$(command -v erl)")")")"/erts-*/bin/epmd 2>/dev/null | head -n 1)',
	'echo "mqbench:program=$p"; echo "mqbench:version=$v"; echo "mqbench:names=$e"',
].join("; ");

/** The program of a node, its version, and Erlang's name server: an image has its own (null). */
async function find(setup: Setup, node: number) {
	const { system, tools, image, ask, nodes } = setup;
	if (image) return { program: NAME, version: versionOfImage(image), names: null };
	const about = async () => {
		if (ask) return askHost({ ...setup, ask }, node, NAME, `p=$(command -v ${NAME}); ${ABOUT}`);
		const { binary } = system;
		const folder =
			binary !== null && statSync(binary, { throwIfNoEntry: false })?.isDirectory() === true;
		const wanted = folder ? { ...system, binary: path.join(binary, "sbin", NAME) } : system;
		const program = tools.findProgram(wanted, { name: NAME, install });
		const argv = ["-c", `p=$1; ${ABOUT}`, "sh", program];
		const { stdout } = await promisify(execFile)("/bin/sh", argv, {
			env: { PATH: tools.env.PATH },
		});
		return { program, ...factsIn(stdout) };
	};
	const { program, version = "", names } = await about();
	if (names) return { program, version, names };
	throw failure("broker-missing", {
		system: system.key,
		what: `epmd (of Erlang, which RabbitMQ runs on) is not on ${ask ? nodes[node]?.hostname : "PATH"}`,
		remedy: `Install Erlang${ask ? " there" : ""}: apt-get install erlang-base, or brew install erlang`,
	});
}

/**
 * Files (by their name in the store) and environment of a node of its own, which neither sees nor touches one that runs there. The store is
 * its home. `names`: program of Erlang's name server.
 */
function ownNode(of: {
	readonly store: string;
	readonly names: string;
	readonly namePort: number;
	readonly distribution: number;
	readonly configuration: string;
}) {
	const { store, names, namePort, distribution, configuration } = of;
	// Of this machine or of a host, RabbitMQ has these everywhere.
	const at = (name: string) => path.posix.join(store, name);
	return {
		files: {
			".erlang.cookie": randomBytes(12).toString("hex"),
			"rabbitmq-env.conf": nameServer(names, namePort, store),
			"rabbitmq.conf": configuration,
			"advanced.config": "[].\n",
			enabled_plugins: NO_PLUGINS,
		},
		env: {
			// The script becomes the server instead of its parent: signals reach it, and the agent's death ends it.
			detached: "true",
			RABBITMQ_CONF_ENV_FILE: at("rabbitmq-env.conf"),
			RABBITMQ_CONFIG_FILE: at("rabbitmq.conf"),
			RABBITMQ_ADVANCED_CONFIG_FILE: at("advanced.config"),
			RABBITMQ_ENABLED_PLUGINS_FILE: at("enabled_plugins"),
			RABBITMQ_MNESIA_BASE: at("data"),
			RABBITMQ_LOG_BASE: at("log"),
			RABBITMQ_LOGS: "-",
			RABBITMQ_GENERATED_CONFIG_DIR: at("generated"),
			RABBITMQ_PID_FILE: at("pid"),
			...apart(namePort, distribution),
			ERL_CRASH_DUMP_SECONDS: "0",
		},
	};
}

/** What keeps it and a node that runs on the same network apart: its name, and ports that only this machine reaches. */
function apart(namePort: number, distribution: number): Record<string, string> {
	return {
		RABBITMQ_NODENAME: `mqbench-${randomBytes(4).toString("hex")}@localhost`,
		RABBITMQ_DIST_PORT: String(distribution),
		RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS: "-kernel inet_dist_use_interface {127,0,0,1}",
		// SIGINT, by which agent ends an orphan, would open a prompt otherwise.
		RABBITMQ_SERVER_START_ARGS: "+B",
		ERL_EPMD_PORT: String(namePort),
		ERL_EPMD_ADDRESS: "127.0.0.1",
	};
}

/** The official image says it in its environment; of others the tag may. */
function versionOfImage({ env, name }: ImageFacts): string {
	return env.RABBITMQ_VERSION ?? /:v?(\d[\w.+~-]*)/.exec(name)?.[1] ?? "";
}

/** Largest message that every RabbitMQ takes by itself. */
const OWN_MAX_BYTES = 16 * 1024 ** 2;

/**
 * Classic queues of version 2, which level os takes in RabbitMQ 3, keep smaller messages themselves, without a flush; larger ones
 * go to a store that is flushed before a confirm.
 */
const EMBEDDED_BYTES = 4096;
/** What a message has beside its payload there. */
const OVERHEAD_BYTES = 1024;

/** From here on a transient queue that consumers share has to be permitted; before, the key is unknown. */
const DEPRECATES_SINCE = 4;

/** rabbitmq.conf as far as it decides something: what a run needs, and the scenario's own `config` above it. */
function settingsOf(
	{ system, level, messageBytes }: Pick<Setup, "system" | "level" | "messageBytes">,
	installed: string,
): Record<string, string> {
	const settings: Record<string, string> = {
		// A laptop's disk is fuller than a server's: the default share of memory would block publishers there.
		"disk_free_limit.absolute": "50MB",
	};
	if (messageBytes > OWN_MAX_BYTES) settings.max_message_size = String(messageBytes);
	const major = Number.parseInt(installed, 10);
	if (level === "os" && major === 3 && messageBytes + OVERHEAD_BYTES > EMBEDDED_BYTES)
		settings.queue_index_embed_msgs_below = String(messageBytes + OVERHEAD_BYTES);
	if (keepsNothing({ system, level }) && major >= DEPRECATES_SINCE)
		settings["deprecated_features.permit.transient_nonexcl_queues"] = "true";
	return { ...settings, ...texts(system.options.config ?? {}) };
}

function keepsNothing({ system: { options }, level }: Pick<Setup, "system" | "level">): boolean {
	return level === "memory" || ("queue" in options && options.queue === "transient");
}

/**
 * Erlang's nodes are known by a name server, epmd, which the first of them starts as a daemon: nothing would ever end that. So
 * RabbitMQ's start script starts one before, in the foreground, in the process group that agent kills. What ends it in any case
 * is the end of a pipe that only the server holds open, however the server ends.
 */
function nameServer(program: string, port: number, store: string): string {
	const alive = shellWord(path.join(store, "alive"));
	return `# Read by the start script first, and by the server itself later.
if [ "$CONF_ENV_FILE_PHASE" = rabbitmq-env ]; then
	rm -f ${alive} && mkfifo ${alive}
	${shellWord(program)} -port ${port} -address 127.0.0.1 </dev/null >/dev/null 2>&1 &
	names=$!
	(read -r _ <${alive} || kill "$names") </dev/null >/dev/null 2>&1 &
	exec 9>${alive}
fi
`;
}
