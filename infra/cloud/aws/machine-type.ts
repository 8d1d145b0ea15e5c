import { type Api, allPages } from "./api.ts";

/** Parts of an instance type's name: in "c7gn.xlarge" the letter g after the number says that the processor is AWS's own. */
export function platformOf(instance: string): string {
	return /^(a1|[a-z]+\d+[a-z]*g[a-z]*)[.-]/.test(instance) ? "linux/arm64" : "linux/amd64";
}

/** The first zone of the region that has all of the types; null: none has. Throws a `Refused`. */
export async function zoneWith(api: Api, types: readonly string[]): Promise<string | null> {
	const pages = await allPages((token) =>
		api.ec2.describeInstanceTypeOfferings({
			...token,
			LocationType: "availability-zone",
			Filters: [{ Name: "instance-type", Values: [...types] }],
		}),
	);
	const offered = pages.flatMap(({ InstanceTypeOfferings = [] }) => InstanceTypeOfferings);
	const zones = [...new Set(offered.flatMap(({ Location }) => Location ?? []))]
		// Skips local zones and wavelength zones.
		.filter((zone) => zone.length === api.region.length + 1)
		.sort();
	const has = (zone: string, type: string) =>
		offered.some(({ Location, InstanceType }) => Location === zone && InstanceType === type);
	return zones.find((zone) => types.every((type) => has(zone, type))) ?? null;
}
