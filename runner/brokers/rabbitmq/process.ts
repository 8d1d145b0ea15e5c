import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { statSync } from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import { failure } from "../../errors.ts";
import { shellWord } from "../../shell.ts";
import { hostPort } from "../addresses.ts";
import { lines } from "../config.ts";
import type { SystemOptionsOfAnyBroker } from "../fields.ts";
import type { Setup } from "../process.ts";
import { askHost, factsIn, installedServer, newLogin } from "../server.ts";

const NAME = "rabbitmq-server";
const install =
	"apt-get install rabbitmq-server, dnf install rabbitmq-server, brew install rabbitmq, or https://www.rabbitmq.com/docs/download";

type Options = SystemOptionsOfAnyBroker & { readonly queue?: string };

/** Its own name, cookie, ports and folders keep it apart from a node that runs. On hosts, stop the package's service: it has the same port. */
export const server = installedServer<Options>({
	name: NAME,
	from: "`rabbitmq-server` and Erlang on PATH; or `binary: /opt/rabbitmq`",
	install,
	command: async () => [],
	image: { name: "rabbitmq", version: "4.2.1", suffix: "-alpine" },
	container: { folder: "/etc/rabbitmq", data: "/var/lib/rabbitmq", init: true },
	// On a host these differ from the ports of its own RabbitMQ.
	ports: () => [
		{ number: 5672, from: "clients" },
		{ number: 25_673, from: "itself" },
		{ number: 4370, from: "itself" },
		{ number: 15_693, from: "health" },
	],
	async launch(setup, options) {
		const login = newLogin();
		const found = await Promise.all(setup.nodes.map((_, node) => find(setup, node)));
		const { queue, metrics: asked = false } = options;
		const stream = queue === "stream";
		const keepsNothing = setup.level === "memory" || queue === "transient";
		const major = Number.parseInt(found[0]?.version ?? "", 10);
		const frameBytes = setup.messageBytes + FRAME_OVERHEAD;
		const embeddedBytes = setup.messageBytes + OVERHEAD_BYTES;
		const embedded =
			setup.level === "os" && !stream && major === 3 && embeddedBytes > EMBEDDED_BYTES;
		const settings = {
			// A laptop's disk is fuller than a server's: the default would block publishers there.
			"disk_free_limit.absolute": "50MB",
			...(setup.messageBytes > OWN_MAX_BYTES && { max_message_size: setup.messageBytes }),
			...(stream && frameBytes > OWN_FRAME_BYTES && { "stream.frame_max": frameBytes }),
			...(embedded && { queue_index_embed_msgs_below: embeddedBytes }),
			...(keepsNothing && major >= DEPRECATES_SINCE && { [TRANSIENT]: true }),
			...options.config,
		};
		// Not without being asked: its pages take some of the broker's CPU.
		const watched = typeof asked === "object" && asked.url === undefined;
		const plugins = [stream && "rabbitmq_stream", watched && "rabbitmq_prometheus"]
			.filter(Boolean)
			.join(", ");
		const pluginFiles = {
			"advanced.config": watched ? COARSE : "[].\n",
			enabled_plugins: `[${plugins}].\n`,
		};
		return {
			log: {
				name: NAME,
				version: /Starting RabbitMQ (\d[\w.+~-]*)/,
				up: /Server startup complete/,
			},
			url: `${stream ? "rabbitmq-stream" : "amqp"}://${login.inUrl}${setup.nodes[0]?.client}`,
			settings: { ...settings, plugins: plugins || "none", schedulers: "+sbwt none" },
			flushes: !keepsNothing && !stream,
			...(watched && { metrics: setup.nodes.map(({ health }) => `http://${health}/metrics`) }),
			startMs: 90_000,
			stopMs: 10_000,
			node({ listen, ports: [port = 0, distribution = 0, namePort = 0, metrics = 0], folder }, i) {
				const { program = "", names = null } = found[i] ?? {};
				const configuration = lines(
					{
						...(stream && { "listeners.tcp": "none" }),
						[`${stream ? "stream." : ""}listeners.tcp.1`]: hostPort(listen, port),
						...(watched && { "prometheus.tcp.ip": listen, "prometheus.tcp.port": metrics }),
						default_user: login.user,
						default_pass: login.password,
						"log.console": "true",
						"log.console.level": "info",
						"log.file": "false",
						...settings,
					},
					" = ",
				);
				const at = (name: string) => path.posix.join(folder, name);
				if (names !== null)
					return {
						argv: [program],
						files: {
							".erlang.cookie": randomBytes(12).toString("hex"),
							"rabbitmq-env.conf": nameServer(names, namePort, at("alive")),
							"rabbitmq.conf": configuration,
							...pluginFiles,
						},
						env: {
							// The script becomes the server: signals reach it, and the agent's death ends it.
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
				return {
					argv: [program],
					// Read after the image's own files.
					files: { "conf.d/90-mqbench.conf": configuration, ...pluginFiles },
					// A container on a host has the host's network.
					env: { ERL_CRASH_DUMP_SECONDS: "0", ...(setup.ask && apart(namePort, distribution)) },
				};
			},
		};
	},
});

/** Streams: more than a frame has beside the payload of one message. RabbitMQ 3.10 takes larger frames than it negotiates. */
export const FRAME_OVERHEAD = 64;

// --- internal ---

/** The plugin would otherwise make channels count each message for it (collect_statistics: fine). */
const COARSE = "[{rabbitmq_management_agent, [{rates_mode, none}]}].\n";

/** About program $p: the script behind a package's wrapper, the version by plugin rabbit-3.10.8, and epmd, not always next to erl. */
const ABOUT = [
	"own=/usr/lib/rabbitmq/bin/rabbitmq-server",
	'case "$p" in /usr/*bin/*) [ ! -x "$own" ] || p=$own;; esac',
	'h=$(dirname "$(dirname "$(readlink -f "$p")")")',
	'v=$(ls "$h/plugins" 2>/dev/null | sed -n "s/^rabbit-\\([0-9].*\\)/\\1/p" | sed "s/\\.ez$//" | head -n 1)',
	'e=$(command -v epmd) || e=$(ls "$(dirname "$(dirname "$(readlink -f "$(command -v erl)")")")"/erts-*/bin/epmd 2>/dev/null | head -n 1)',
	'echo "mqbench:program=$p"; echo "mqbench:version=$v"; echo "mqbench:names=$e"',
].join("; ");

/** An image has its own name server (null). */
async function find(setup: Setup, node: number) {
	const { system, tools, image, ask, nodes } = setup;
	if (image) {
		// Other images than the official one may have it in their tag.
		const version = image.env.RABBITMQ_VERSION ?? /:v?(\d[\w.+~-]*)/.exec(image.name)?.[1] ?? "";
		return { program: NAME, version, names: null };
	}
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

/** Keeps it apart from other nodes on the network: its own name, and ports on loopback. */
function apart(namePort: number, distribution: number): Record<string, string> {
	return {
		RABBITMQ_NODENAME: `mqbench-${randomBytes(4).toString("hex")}@localhost`,
		RABBITMQ_DIST_PORT: String(distribution),
		RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS: "-kernel inet_dist_use_interface {127,0,0,1}",
		// Otherwise SIGINT, by which the agent ends an orphan, would open a prompt.
		RABBITMQ_SERVER_START_ARGS: "+B",
		ERL_EPMD_PORT: String(namePort),
		ERL_EPMD_ADDRESS: "127.0.0.1",
	};
}

/** The limit of every RabbitMQ by default. */
const OWN_MAX_BYTES = 16 * 1024 ** 2;
/** The limit of a stream's frames by default. */
const OWN_FRAME_BYTES = 1024 ** 2;
/** Level os in RabbitMQ 3: classic queues (version 2) embed smaller messages without a flush; larger ones wait for one. */
const EMBEDDED_BYTES = 4096;
const OVERHEAD_BYTES = 1024;
/** Shared transient queues need this permission; before, the key is unknown. */
const TRANSIENT = "deprecated_features.permit.transient_nonexcl_queues";
const DEPRECATES_SINCE = 4;

/**
 * The first Erlang node starts its name server, epmd, as a daemon that would never end. So the start script starts one in the foreground,
 * in the process group that the agent kills; the end of a pipe that only the server holds open ends it in any case.
 */
function nameServer(program: string, port: number, pipe: string): string {
	const alive = shellWord(pipe);
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
