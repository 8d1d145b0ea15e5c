import { type Docker, DockerError, wrongIn } from "../docker/cli.ts";
import { askEngine, type Engine } from "../docker/engine.ts";
import { endOf, type Supervised } from "../process.ts";
import { type Link, LOST } from "../remote/link.ts";
import { lines } from "../remote/supervised.ts";
import { unfit } from "../remote/trouble.ts";
import type { BrokerHost } from "./host.ts";

/** The container engine of a host. */
export interface HostEngine {
	/** The host's own `docker` command, over the connection. */
	readonly docker: Docker;
	readonly engine: Engine;
	/** Numbers of the connection's user and group, "1000:1000". */
	readonly user: string;
}

/** Asks a host for its engine. Fails with `host-unfit`: what is missing there, and what to do. */
export async function hostEngine({
	remote,
	link,
	name,
}: Pick<BrokerHost, "remote" | "link" | "name">): Promise<HostEngine> {
	const { values } = await link.run(FIND);
	if (!values.program || !values.user)
		throw unfit(
			remote,
			"its broker runs in a container (image, or version), and the docker command is not on PATH there",
			"Install Docker there (apt-get install docker.io), or remove image and version to use what the host has",
		);
	const docker = dockerThere(link, name);
	let engine: Engine;
	try {
		engine = await askEngine(docker);
	} catch (error) {
		if (!(error instanceof DockerError)) throw error;
		throw unfit(
			remote,
			`no Docker engine answers there (${error.message})`,
			/permission denied/i.test(error.message)
				? "Let its user use it (sudo usermod -aG docker $USER there), or name root"
				: "Start it there: sudo systemctl start docker",
		);
	}
	// Their network is not the host's, or their users are not its users.
	if (engine.rootless || engine.remapped)
		throw unfit(
			remote,
			"its Docker engine runs without root's rights, or with other user numbers, so its containers have neither the host's network nor its user's files",
			"Use an engine there that runs as root, without userns-remap",
		);
	return { docker, engine, user: values.user };
}

// --- internal ---

const FIND =
	'echo; p=$(command -v docker) && echo "mqbench:program=$p"; echo "mqbench:user=$(id -u):$(id -g)"';

/** $@ are its arguments. What it says stands after a host's greeting. */
const DOCKER = 'echo; echo "mqbench:docker"; exec docker "$@" </dev/null';
const BEGIN = "\nmqbench:docker\n";

function dockerThere(link: Link, host: string): Docker {
	return {
		program: "docker",
		env: {},
		host,
		async run(args) {
			const child = link.spawn(DOCKER, args);
			child.stdin.end();
			let out = "";
			let err = "";
			child.stdout.setEncoding("utf8").on("data", (text) => {
				out += text;
			});
			child.stderr.setEncoding("utf8").on("data", (text) => {
				err += text;
			});
			const hangs = setTimeout(() => child.kill("SIGKILL"), RUN_MS);
			const code = await child.code;
			clearTimeout(hangs);
			if (code === LOST) throw await link.lost(err);
			const said = out.slice(out.indexOf(BEGIN) + BEGIN.length).trim();
			if (code !== 0) throw new DockerError(wrongIn(err || said));
			return said;
		},
		follow(args, take): Supervised {
			const child = link.spawn(DOCKER, args);
			child.stdin.end();
			for (const stream of ["stdout", "stderr"] as const) lines(child, stream, take);
			return {
				pid: -1,
				ended: child.code.then((code) => endOf(code, null)),
				say() {},
				signal: () => void child.kill(),
				abandon: () => void child.kill(),
				kill: () => void child.kill("SIGKILL"),
			};
		},
	};
}

/** A healthy engine answers within seconds; a busy one may take longer. */
const RUN_MS = 120_000;
