import type { Aws, AwsVolume } from "../../runner/scenario/scenario.ts";
import { ROOT_DISK } from "../aws/config.ts";

/** AWS's list of that day: on demand, Linux, us-east-1, USD (aws.amazon.com/ec2/pricing/on-demand). Volumes and addresses as published. */
export const PRICES_OF = "2026-01-19";

/** The price of an hour. */
export interface Price {
	/** null if unknown. */
	readonly hourlyUsd: number | null;
	/** Why not, as the end of a sentence. */
	readonly unpriced: string | null;
}

/** Machines, volumes, root disks and public addresses, without traffic over the internet. */
export function priceOf({ brokers, clients }: Pick<Aws, "brokers" | "clients">): Price {
	const fleets = [brokers, clients].filter(({ count }) => count > 0);
	const unknown = fleets.map(({ instance }) => instance).filter((type) => machine(type) === null);
	if (unknown.length > 0)
		return {
			hourlyUsd: null,
			unpriced: `mqbench's table of prices has no ${[...new Set(unknown)].join(" and no ")}`,
		};
	const volume = brokers.volume === null ? 0 : brokers.count * volumeHour(brokers.volume);
	const each = volumeHour({ ...ROOT_DISK, iops: null, throughputMiBps: null }) + ADDRESS;
	const hourlyUsd = fleets.reduce(
		(sum, { instance, count }) => sum + count * ((machine(instance) ?? 0) + each),
		volume,
	);
	return { hourlyUsd, unpriced: null };
}

// --- internal ---

/** An hour of an xlarge, by family. */
const FAMILIES: Readonly<Record<string, number>> = {
	c6in: 0.2268,
	c7gn: 0.2496,
	c7i: 0.1785,
	i3en: 0.452,
	i4i: 0.343,
	m6i: 0.192,
	m6in: 0.27846,
	m7i: 0.2016,
};

/** A public IPv4 address. */
const ADDRESS = 0.005;

function machine(type: string): number | null {
	const [, family = "", size] = /^(\w+)\.(\d*x?large)$/.exec(type) ?? [];
	// Sizes are in proportion: that is AWS's list to the third digit.
	const xlarges = size === "large" ? 0.5 : Number.parseInt(size ?? "0", 10) || 1;
	return size === undefined || FAMILIES[family] === undefined ? null : FAMILIES[family] * xlarges;
}

/** With gp3, 3000 IOPS and 125 MiB/s are free; with io2 the first IOPS cost this, later ones less. For AWS 30 days are a month. */
function volumeHour({ type, sizeGiB, iops, throughputMiBps }: AwsVolume): number {
	const io2 = sizeGiB * 0.125 + (iops ?? 0) * 0.065;
	const gp3 =
		sizeGiB * 0.08 +
		Math.max(0, (iops ?? 0) - 3_000) * 0.005 +
		Math.max(0, (throughputMiBps ?? 0) - 125) * 0.04;
	return (type === "io2" ? io2 : gp3) / 720;
}
