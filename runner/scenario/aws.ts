import { clientCount } from "./clients.ts";
import type { Problem } from "./problem.ts";
import type { Aws, AwsVolume, Clients, System } from "./scenario.ts";
import { ScenarioFile, type Target } from "./schema.ts";

/** What resolving `aws` needs to know of the rest of the scenario. */
export interface AwsContext {
	/** undefined: the scenario's target is itself a mistake. */
	readonly target: Target | undefined;
	/** Brokers that stay up: nothing is rented. */
	readonly rig: unknown;
	readonly clients: Clients;
	readonly systems: readonly Pick<System, "broker" | "options">[];
}

/** What target aws rents; null: nothing. Mistakes that the schema sees are not repeated here. */
export function resolveAws(
	written: unknown,
	{ target, rig, clients, systems }: AwsContext,
): { aws: Aws | null; problems: Problem[] } {
	const nothing = { aws: null, problems: [] };
	if (target !== "aws" || rig !== null) return nothing;
	if (written === undefined)
		return {
			aws: null,
			problems: [{ path: ["aws"], at: "key", message: MISSING }],
		};
	const parsed = ScenarioFile.shape.aws.safeParse(written);
	if (!parsed.success || parsed.data === undefined) return nothing;
	const { data } = parsed;
	const count = brokerMachines(systems);
	const problems: Problem[] = [];
	const wrong = (path: Problem["path"], message: string): void => {
		problems.push({ path: ["aws", ...path], at: "value", message });
	};
	// One with a mistake is missing here, and says so itself.
	if (count === 0 && systems.length > 0)
		problems.push({
			path: ["target"],
			at: "value",
			message:
				"noop is no broker, and no machines are rented for it alone; write target: local, or add a system",
		});
	const { volume } = data.brokers;
	if (volume?.type === "io2" && volume.iops === undefined)
		wrong(
			["brokers", "volume", "type"],
			"a volume of type io2 is paid for by its iops; write e.g. iops: 10000, or type: gp3",
		);
	if (volume?.type === "io2" && volume.throughput !== undefined)
		wrong(
			["brokers", "volume", "throughput"],
			"throughput is of gp3, and that of an io2 follows from its iops; remove throughput",
		);
	if (data.zone !== undefined && !data.zone.startsWith(data.region))
		wrong(
			["zone"],
			`zone ${data.zone} is not in region ${data.region}; write one of it, e.g. zone: ${data.region}a, or remove zone`,
		);
	if (problems.length > 0) return { aws: null, problems };
	const { zone, profile, owner, ami, ttl, sshFrom } = data;
	return {
		aws: {
			region: data.region,
			zone: zone ?? null,
			profile: profile ?? null,
			owner: owner ?? null,
			ami: ami ?? null,
			ttlNs: ttl,
			sshFrom:
				sshFrom === undefined ? null : `${sshFrom.replace(/\/32$/, "")}/32`,
			brokers: {
				instance: data.brokers.instance,
				count,
				volume: volume === undefined ? null : volumeOf(volume),
			},
			clients: {
				instance: data.clients.instance,
				count: clientCount(clients),
				spot: data.clients.spot,
			},
		},
		problems,
	};
}

/** How many machines brokers need that take turns on them: as many as the largest has nodes; 0: none of them is a process. */
export function brokerMachines(
	systems: readonly Pick<System, "broker" | "options">[],
): number {
	return Math.max(0, ...systems.map(nodesOf));
}

/** Nodes of a system on machines of its own; 0: it is no process. */
export function nodesOf({
	broker,
	options,
}: Pick<System, "broker" | "options">): number {
	if (broker === "noop") return 0;
	return ("nodes" in options ? options.nodes : undefined) ?? 1;
}

// --- internal ---

const MISSING =
	"target aws rents machines, and needs to know which; write e.g. aws: { region: eu-central-1, brokers: { instance: i4i.xlarge }, clients: { instance: c6in.xlarge } }";

const MIB = 1024 ** 2;

function volumeOf({
	type,
	size,
	iops,
	throughput,
}: {
	readonly type: AwsVolume["type"];
	readonly size: number;
	readonly iops?: number | undefined;
	readonly throughput?: number | undefined;
}): AwsVolume {
	return {
		type,
		sizeGiB: size / 1024 ** 3,
		iops: iops ?? null,
		throughputMiBps: throughput === undefined ? null : throughput / MIB,
	};
}
