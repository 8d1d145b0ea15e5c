import { type Docker, DockerError, wrongIn } from "../docker/cli.ts";
import { askEngine, type Engine } from "../docker/engine.ts";
import type { Link } from "../machines/link.ts";
import type { RemoteMachine } from "../machines/machine.ts";
import { lines } from "../machines/spawn.ts";
import { unfit } from "../machines/trouble.ts";
import { endOf } from "../process.ts";

/** The container engine of a host. */
export interface HostEngine {
	/** The host's own `docker` command, over the connection. */
	readonly docker: Docker;
	readonly engine: Engine;
	/** Numbers of the connection's user and group, "1000:1000". */
	readonly user: string;
}

/** Asks a host for its engine. Fails with `host-unfit`, the missing part and a remedy. */
export async function hostEngine({
	remote,
	link,
	name,
}: Pick<RemoteMachine, "remote" | "link" | "name">): Promise<HostEngine> {
	const docker = dockerThere(link, name);
	let engine: Engine;
	try {
		engine = await askEngine(docker);
	} catch (error) {
		if (!(error instanceof DockerError)) throw error;
		const { message } = error;
		throw unfit(
			remote,
			`no Docker engine answers there (${message})`,
			/not found/i.test(message)
				? "Install Docker there (apt-get install docker.io), or remove image and version to use what the host has"
				: /permission denied/i.test(message)
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
	const { out } = await link.run('echo "$(id -u):$(id -g)"');
	return { docker, engine, user: out.trim() };
}

// --- internal ---

const DOCKER = 'exec docker "$@" </dev/null';

function dockerThere(link: Link, host: string): Docker {
	return {
		program: "docker",
		env: {},
		host,
		async run(args) {
			const { code, out, err } = await link.run(DOCKER, args, { limitMs: RUN_MS });
			if (code !== 0) throw new DockerError(wrongIn(err || out));
			return out.trim();
		},
		follow(args, take) {
			const child = link.spawn(DOCKER, args);
			child.stdin.end();
			for (const stream of ["stdout", "stderr"] as const) lines(child, stream, take);
			const ended = child.code.then((code) => endOf(code, null));
			return { ended, abandon: () => void child.kill() };
		},
	};
}

/** A healthy engine answers within seconds; a busy one may take longer. */
const RUN_MS = 120_000;
