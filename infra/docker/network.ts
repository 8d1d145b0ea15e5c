import { randomInt } from "node:crypto";
import { readFileSync } from "node:fs";
import { readOr } from "../read-or.ts";
import { type Docker, DockerError, explainDocker } from "./cli.ts";
import { labelArguments } from "./labels.ts";

/** The network of a rig: a bridge with its own subnet, because addresses must be fixed before the containers start. */
export interface Network {
	readonly name: string;
	/** "198.18.7" of 198.18.7.0/24. */
	readonly prefix: string;
	/** Processes of this machine reach containers by their addresses, because the bridge is one of its interfaces. */
	readonly direct: boolean;
}

/**
 * Makes the network. Its addresses come from 198.18.0.0/15, which is reserved for benchmarks, so companies' networks and other containers do not
 * use them.
 */
export async function makeNetwork(
	docker: Docker,
	name: string,
	labels: Readonly<Record<string, string>>,
	env: Readonly<Record<string, string | undefined>>,
): Promise<Network> {
	// Docker checks only its own networks; ours could hide another route.
	const taken = routes();
	for (let tries = 1; ; tries++) {
		const prefix = `198.${randomInt(18, 20)}.${randomInt(256)}`;
		if (taken.includes(prefix) && tries < TRIES) continue;
		try {
			const subnet = ["--subnet", `${prefix}.0/24`, "--gateway", `${prefix}.1`];
			// Fixed addresses are in the lower half: containers without one get the others.
			const range = ["--ip-range", `${prefix}.128/25`];
			const driver = ["--driver", "bridge"];
			const all = [...driver, ...subnet, ...range, ...labelArguments(labels)];
			await docker.run(["network", "create", ...all, name]);
			// The bridge is an interface of this machine. Without containers it is down, and only its route shows it.
			const direct = env.MQBENCH_DOCKER_REACH !== "published" && routes().includes(prefix);
			return { name, prefix, direct };
		} catch (error) {
			// Another mqbench may have chosen the same.
			const another =
				error instanceof DockerError && /overlap|conflict|in use/i.test(error.message);
			if (!another || tries >= TRIES)
				throw explainDocker(error, "make a network for the containers");
		}
	}
}

// --- internal ---

const TRIES = 20;

/** From /proc/net/route, routes to a part of a /24: the first three numbers. The bytes are in reverse order. */
function routes(): string[] {
	return readOr("", () => readFileSync("/proc/net/route", "utf8"))
		.split("\n")
		.slice(1)
		.flatMap((line) => {
			const [, destination, , , , , , mask] = line.trim().split(/\s+/);
			if (!destination || !mask || !/FFFFFF$/.test(mask)) return [];
			return [6, 4, 2].map((at) => Number.parseInt(destination.slice(at, at + 2), 16)).join(".");
		});
}
