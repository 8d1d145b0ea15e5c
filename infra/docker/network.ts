import { readFileSync } from "node:fs";
import os from "node:os";
import { failure } from "../../runner/errors.ts";
import { type Docker, DockerError, explainDocker } from "./cli.ts";
import { labelArguments } from "./labels.ts";

/** The network of a rig: a bridge with its own subnet, so that addresses are known before the containers start. */
export interface Network {
	readonly name: string;
	/** "198.18.7" of 198.18.7.0/24. */
	readonly prefix: string;
	/** Processes of this machine reach containers by their addresses, because the bridge is one of its interfaces. */
	readonly direct: boolean;
}

/**
 * Makes the network. Its addresses come from 198.18.0.0/15, which is reserved for benchmarks, so companies' networks and other containers do not
 * use them. Fails with `docker-subnet` if all are taken.
 */
export async function makeNetwork(
	docker: Docker,
	name: string,
	labels: Readonly<Record<string, string>>,
	env: Readonly<Record<string, string | undefined>>,
): Promise<Network> {
	const first = Math.floor(Math.random() * SUBNETS);
	let reason = "others have them";
	let tried = 0;
	for (let i = 0; tried < TRIES && i < SUBNETS; i++) {
		const prefix = subnet((first + i) % SUBNETS);
		if (isTaken(prefix)) continue;
		tried++;
		try {
			await docker.run([
				"network",
				"create",
				"--driver",
				"bridge",
				"--subnet",
				`${prefix}.0/24`,
				// Fixed addresses are in the lower half: containers without one get the others.
				"--ip-range",
				`${prefix}.128/25`,
				"--gateway",
				`${prefix}.1`,
				...labelArguments(labels),
				name,
			]);
			return { name, prefix, direct: env.MQBENCH_DOCKER_REACH !== "published" && isHere(prefix) };
		} catch (error) {
			if (!(error instanceof DockerError)) throw error;
			// Another mqbench may have chosen the same.
			if (!/overlap|conflict|in use/i.test(error.message))
				throw explainDocker(error, "make a network for the containers");
			reason = error.message;
		}
	}
	throw failure("docker-subnet", { tried, reason });
}

// --- internal ---

const SUBNETS = 512;
const TRIES = 20;

function subnet(number: number): string {
	return `198.${18 + (number >> 8)}.${number & 255}`;
}

/** Docker checks only its own networks; ours could hide other routes or interfaces. */
function isTaken(prefix: string): boolean {
	return (
		Object.values(os.networkInterfaces()).some((addresses) =>
			addresses?.some(({ address }) => address.startsWith(`${prefix}.`)),
		) || routes().includes(prefix)
	);
}

/** From /proc/net/route, routes to a part of a /24: the first three numbers. The bytes are in reverse order. */
function routes(): string[] {
	try {
		return readFileSync("/proc/net/route", "utf8")
			.split("\n")
			.slice(1)
			.flatMap((line) => {
				const [, destination, , , , , , mask] = line.trim().split(/\s+/);
				if (!destination || !mask || !/FFFFFF$/.test(mask)) return [];
				return [
					[6, 4, 2].map((at) => Number.parseInt(destination.slice(at, at + 2), 16)).join("."),
				];
			});
	} catch {
		return [];
	}
}

/** Whether the bridge is an interface of this machine. Without containers it is down, and only its route shows it. */
function isHere(prefix: string): boolean {
	return routes().includes(prefix);
}
