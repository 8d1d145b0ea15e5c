import { failure, MqbenchError } from "../../runner/errors.ts";
import { maskUrls } from "../../runner/secrets.ts";
import type { World } from "../../runner/world.ts";
import { FreePortTaken } from "../local/ports.ts";
import { findOnPath, runToEnd, type ToEnd } from "../local/program.ts";
import { defined, type Supervised, startSupervised } from "../process.ts";

/**
 * The user's `docker` command. It finds the engine (DOCKER_HOST, contexts) and logs in to registries; mqbench looks up neither elsewhere.
 */
export interface Docker {
	/** Path of the command. */
	readonly program: string;
	/** The host whose command it is, for people; absent for this machine. */
	readonly host?: string;
	/** Its whole environment: the user's own. */
	readonly env: Readonly<Record<string, string>>;
	/** Runs it to its end, and returns its trimmed output. Throws a DockerError. */
	run(args: readonly string[], options?: Omit<ToEnd, "env">): Promise<string>;
	/** Starts a command that goes on; it ends with mqbench. */
	follow(args: readonly string[], take: (line: string) => void): Followed;
}

export type Followed = Pick<Supervised, "ended" | "abandon">;

/** The engine or the command has refused; the message is its own words, on one line. */
export class DockerError extends Error {}

/** Finds the command; fails with `docker-missing`. */
export function findDocker(world: World, agent: string): Docker {
	const program = findOnPath("docker", world.env);
	if (program === null) throw failure("docker-missing", {});
	const env = defined(world.env);
	return {
		program,
		env,
		async run(args, options = {}) {
			const { code, out, err } = await runToEnd(program, args, { env, ...options });
			if (code !== 0) throw new DockerError(wrongIn(err || out));
			return out.trim();
		},
		follow: (args, take) =>
			startSupervised({
				agent,
				argv: [program, ...args],
				cwd: "/",
				env,
				graceMs: 1_000,
				onStdout: take,
				onStderr: take,
			}),
	};
}

/** The sentence for people that fits a DockerError. Other errors are thrown as they are. */
export function explainDocker(error: unknown, doing: string): MqbenchError {
	if (error instanceof MqbenchError) return error;
	if (!(error instanceof DockerError)) throw error;
	const hint = HINTS.find(([words]) => words.test(error.message))?.[1];
	const reason = maskUrls(error.message) + (hint ? `; ${hint}` : "");
	const failed = failure("docker-failed", { doing, reason });
	return PORT_TAKEN.test(reason) ? new FreePortTaken(failed) : failed;
}

/** The line with the error, without the prefix that all lines of the command have. */
export function wrongIn(text: string): string {
	const lines = text
		.split("\n")
		.map((line) => line.trim())
		.filter(
			(line) => line !== "" && !/^(Run|See) '|^Usage:|^WARNING|^DEPRECATED|^Learn more/i.test(line),
		);
	const wrong =
		lines.find((line) => /error|denied|cannot|failed|no such/i.test(line)) ??
		lines.at(-1) ??
		"it said nothing";
	return wrong
		.replace(/^(docker: )?(error: )?(error response from daemon: )*/i, "")
		.replace(/\.$/, "");
}

// --- internal ---

/** Remedies, where the engine's message has none. */
const HINTS: readonly (readonly [RegExp, string])[] = [
	[
		/no space left on device/i,
		"docker system df shows what is on its disk, docker system prune removes unused data",
	],
	[/overlap/i, "docker network prune removes unused networks"],
	[/requested CPUs are not available/i, "change or remove pin"],
];

const PORT_TAKEN = /port is already allocated|address already in use/i;
