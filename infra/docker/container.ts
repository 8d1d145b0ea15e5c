import type { NodeDescription } from "../../runner/brokers/process.ts";
import { shellWord } from "../../runner/shell.ts";
import { formatBytes } from "../../runner/units.ts";
import type { BrokerRequest } from "../rig.ts";
import { labelArguments } from "./labels.ts";

/** A container's limits; null without one. */
export interface Limits {
	readonly cpus: number | null;
	/** Bytes. */
	readonly memory: number | null;
	/** CPUs in the manner of taskset. */
	readonly pin: string | null;
}

/** The limits of each of a broker's containers. */
export function limitsOf({ system: { options }, cpus: pin }: BrokerRequest): Limits {
	return { cpus: options.cpus ?? null, memory: options.memory ?? null, pin };
}

/** A container to make. */
export interface ContainerSpec extends Limits {
	readonly name: string;
	readonly image: string;
	readonly labels: Readonly<Record<string, string>>;
	readonly network: string;
	readonly ip: string;
	readonly hostname: string;
	readonly args: readonly string[];
	/** Replaces the image's own; undefined keeps that. */
	readonly entrypoint: string | undefined;
	readonly env: Readonly<Record<string, string>>;
	/** Where it stores data; null if nowhere. */
	readonly data: {
		readonly path: string;
		/** Name of its volume; null if in memory. */
		readonly volume: string | null;
	} | null;
	/** Ports of 127.0.0.1 that lead to its ports. */
	readonly published: readonly { readonly port: number; readonly to: number }[];
	readonly init: boolean;
}

/** Arguments of `docker` that make the container. */
export function createArguments(spec: ContainerSpec): string[] {
	const { data, entrypoint } = spec;
	return [
		"create",
		"--name",
		spec.name,
		"--hostname",
		spec.hostname,
		"--network",
		spec.network,
		"--ip",
		spec.ip,
		...labelArguments(spec.labels),
		// Whatever the engine's default is: the log has to be readable and must not fill the disk.
		..."--log-driver json-file --log-opt max-size=64m --log-opt max-file=2".split(" "),
		// No restart: mqbench has to notice when it ends.
		..."--restart no --pull never".split(" "),
		...(spec.init ? ["--init"] : []),
		...limitArguments(spec),
		...(data === null
			? []
			: [
					"--mount",
					data.volume === null
						? mountText("type=tmpfs", `target=${data.path}`)
						: mountText("type=volume", `source=${data.volume}`, `target=${data.path}`),
				]),
		...spec.published.flatMap(({ port, to }) => ["--publish", `127.0.0.1:${port}:${to}`]),
		...Object.entries(spec.env).flatMap(([name, value]) => ["--env", `${name}=${value}`]),
		...(entrypoint === undefined ? [] : ["--entrypoint", entrypoint]),
		spec.image,
		...spec.args,
	];
}

/** Arguments of `docker` that run `agent` of the image, to which mqbench talks over standard input, up to agent's own arguments. */
export function agentArguments(
	agent: string,
	{ name, labels, network, image, ...limits }: AgentSpec,
	user: string | null,
	mounts: readonly string[],
	more: readonly string[] = [],
): string[] {
	return [
		..."run --rm --interactive --pull never --entrypoint".split(" "),
		agent,
		...labelArguments(labels),
		"--network",
		network,
		"--name",
		name,
		// Where SELinux guards files, the user's own keep their label.
		..."--log-driver none --security-opt label=disable".split(" "),
		...(user === null ? [] : ["--user", user]),
		...limitArguments(limits),
		...mounts.flatMap((mount) => ["--mount", mount]),
		...more,
		image,
	];
}

type AgentSpec = Limits & Pick<ContainerSpec, "name" | "labels" | "network" | "image">;

/** Arguments for a container's limits. */
function limitArguments({ cpus, memory, pin }: Limits): string[] {
	return [
		...(cpus === null ? [] : ["--cpus", String(cpus)]),
		// No swap on top: a limit with swap does not limit.
		...(memory === null ? [] : ["--memory", `${memory}b`, "--memory-swap", `${memory}b`]),
		...(pin === null ? [] : ["--cpuset-cpus", pin]),
	];
}

/** Memory is empty after a restart, so the preparations of a node run before each of its starts. */
export function commandOf({
	before = [],
	argv,
}: Pick<NodeDescription, "before" | "argv">): Pick<ContainerSpec, "args" | "entrypoint"> {
	if (before.length === 0) return { args: argv, entrypoint: undefined };
	const line = (words: readonly string[]) => words.map(shellWord).join(" ");
	return {
		entrypoint: "/bin/sh",
		args: ["-c", [...before.map(line), `exec ${line(argv)}`].join(" && ")],
	};
}

/** The value of --mount: CSV fields, since a path may contain a comma. */
export function mountText(...fields: readonly string[]): string {
	return fields
		.map((field) => (/[",]/.test(field) ? `"${field.replaceAll('"', '""')}"` : field))
		.join(",");
}

/** "1 container, 2 CPUs, 1GiB", "3 containers on 1 host, 1 CPU, 1GiB each", for reports. `hop`: clients use published ports. */
export function containersText(nodes: number, limits: Size, hop = false): string {
	const words = limitWords(limits);
	const all = [nodes === 1 ? "1 container" : `${nodes} containers on 1 host`, ...words].join(", ");
	const each = nodes > 1 && words.length > 0 ? " each" : "";
	return `${all}${each}${hop ? ", through published ports" : ""}`;
}

type Size = Pick<Limits, "cpus" | "memory">;

/** "2 CPUs", "1GiB": the limits of a container that has any. */
export function limitWords({ cpus, memory }: Size): string[] {
	return [
		...(cpus === null ? [] : [`${cpus} ${cpus === 1 ? "CPU" : "CPUs"}`]),
		...(memory === null ? [] : [formatBytes(memory)]),
	];
}
