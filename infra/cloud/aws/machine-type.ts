import type { InstanceTypeInfo } from "@aws-sdk/client-ec2";
import { tell } from "../../../runner/text/tell.ts";
import { type Api, allPages, Refused } from "./api.ts";

/** The facts about an instance type that matter for a rig. */
export interface MachineType {
	/** "i4i.xlarge". */
	readonly name: string;
	readonly vcpus: number;
	readonly memoryMiB: number;
	/** In AWS's words: "x86_64", "arm64". */
	readonly architectures: readonly string[];
	/** Size of its own NVMe; null: it has none. */
	readonly nvmeGB: number | null;
	/** It can be in a cluster placement group. */
	readonly cluster: boolean;
	/** Spot machines of it are possible. */
	readonly spot: boolean;
	/** Its CPU also depends on credits (t3, t4g). */
	readonly burstable: boolean;
	readonly network: {
		/** AWS's words: "Up to 10 Gigabit". */
		readonly words: string;
		/** Guaranteed bandwidth, 1e9 bit/s each way; null: AWS does not say. */
		readonly baselineGbps: number | null;
		/** Bandwidth for a few minutes. */
		readonly peakGbps: number | null;
	};
	/** Guaranteed bandwidth to volumes. null: AWS does not say. */
	readonly volumes: { readonly baselineIops: number | null; readonly baselineMBps: number | null };
}

/** Types by name; types that AWS does not know are missing. Throws a `Refused`. */
export async function machineTypes(
	api: Api,
	names: readonly string[],
): Promise<ReadonlyMap<string, MachineType>> {
	// With a filter: asking by name for a type that does not exist is an error that says nothing about the other types.
	const pages = await allPages((token) =>
		api.ec2.describeInstanceTypes({
			...token,
			Filters: [{ Name: "instance-type", Values: [...names] }],
		}),
	);
	return new Map(
		pages
			.flatMap(({ InstanceTypes = [] }) => InstanceTypes)
			.map((info) => [info.InstanceType as string, typeOf(info)]),
	);
}

/** Zones of the region that have all of the types, sorted by name, and for each type the zones that have it. Throws a `Refused`. */
export async function zonesOf(
	api: Api,
	names: readonly string[],
): Promise<{
	readonly open: readonly string[];
	readonly all: readonly string[];
	readonly byType: ReadonlyMap<string, readonly string[]>;
}> {
	const [{ AvailabilityZones = [] }, pages] = await Promise.all([
		api.ec2.describeAvailabilityZones({}),
		allPages((token) =>
			api.ec2.describeInstanceTypeOfferings({
				...token,
				LocationType: "availability-zone",
				Filters: [{ Name: "instance-type", Values: [...names] }],
			}),
		),
	]);
	// Skips local zones and wavelength zones.
	const open = AvailabilityZones.filter(
		({ State, ZoneType }) => State === "available" && ZoneType === "availability-zone",
	)
		.flatMap(({ ZoneName }) => ZoneName ?? [])
		.sort();
	const offered = pages.flatMap(({ InstanceTypeOfferings = [] }) => InstanceTypeOfferings);
	const byType = new Map(
		names.map((name) => [
			name,
			open.filter((zone) =>
				offered.some((one) => one.InstanceType === name && one.Location === zone),
			),
		]),
	);
	return {
		open,
		byType,
		all: open.filter((zone) => [...byType.values()].every((zones) => zones.includes(zone))),
	};
}

/** Running vCPUs of the kinds that one quota counts, and that quota. */
export interface Quota {
	/** "L-1216C47A". */
	readonly code: string;
	readonly vcpus: number;
	readonly running: number;
}

/**
 * The quota for these types; null: mqbench knows of none. Throws a `Refused`, also if the account has no value for it.
 */
export async function quotaOf(api: Api, type: string, spot: boolean): Promise<Quota | null> {
	if (!isStandard(type)) return null;
	const code = spot ? STANDARD_SPOT : STANDARD_ON_DEMAND;
	const [vcpus, running] = await Promise.all([quotaValue(api, code), runningVcpus(api, spot)]);
	return { code, vcpus, running };
}

/** Whether the quota of standard types counts it: "im4gn.large" counts as I; "inf2.xlarge", "hpc7g.4xlarge", "trn1.2xlarge" and "mac2.metal" have quotas of their own. */
export function isStandard(type: string): boolean {
	const family = /^[a-z]+/.exec(type)?.[0] ?? "";
	return /^([acdhimrtz]|im|is)$/.test(family);
}

/** Parts of an instance type's name: in "c7gn.xlarge" the letter g after the number says that the processor is AWS's own. */
export function platformOf(instance: string): string {
	return /^(a1|[a-z]+\d+[a-z]*g[a-z]*)[.-]/.test(instance) ? "linux/arm64" : "linux/amd64";
}

// --- internal ---

/** "Running On-Demand Standard (A, C, D, H, I, M, R, T, Z) instances", and "All Standard (...) Spot Instance Requests", in vCPUs. */
const STANDARD_ON_DEMAND = "L-1216C47A";
const STANDARD_SPOT = "L-34B43A08";

function typeOf(info: InstanceTypeInfo): MachineType {
	const cards = info.NetworkInfo?.NetworkCards ?? [];
	const { InstanceStorageInfo: storage, EbsInfo: ebs } = info;
	return {
		name: info.InstanceType as string,
		vcpus: info.VCpuInfo?.DefaultVCpus ?? 0,
		memoryMiB: info.MemoryInfo?.SizeInMiB ?? 0,
		architectures: (info.ProcessorInfo?.SupportedArchitectures ?? []).filter(
			(one) => one === "x86_64" || one === "arm64",
		),
		nvmeGB:
			info.InstanceStorageSupported === true &&
			(storage?.NvmeSupport ?? "unsupported") !== "unsupported"
				? (storage?.TotalSizeInGB ?? null)
				: null,
		cluster: info.PlacementGroupInfo?.SupportedStrategies?.includes("cluster") ?? false,
		spot: info.SupportedUsageClasses?.includes("spot") ?? false,
		burstable: info.BurstablePerformanceSupported ?? false,
		network: {
			words: info.NetworkInfo?.NetworkPerformance ?? "",
			baselineGbps: total(cards.map((card) => card.BaselineBandwidthInGbps)),
			peakGbps: total(cards.map((card) => card.PeakBandwidthInGbps)),
		},
		volumes: {
			baselineIops: ebs?.EbsOptimizedInfo?.BaselineIops ?? null,
			baselineMBps: ebs?.EbsOptimizedInfo?.BaselineThroughputInMBps ?? null,
		},
	};
}

/** null if one of them is not known. */
function total(values: readonly (number | undefined)[]): number | null {
	return values.length === 0 || values.some((value) => value === undefined)
		? null
		: values.reduce<number>((sum, value) => sum + (value ?? 0), 0);
}

async function quotaValue(api: Api, code: string): Promise<number> {
	const of = { ServiceCode: "ec2", QuotaCode: code };
	try {
		return figureOf(await api.quotas.getServiceQuota(of));
	} catch (error) {
		// An account that never asked for a change has no value of its own.
		if ((error as Refused).code !== "NoSuchResourceException") throw error;
		return figureOf(await api.quotas.getAWSDefaultServiceQuota(of));
	}
}

function figureOf({ Quota }: { Quota?: { Value?: number | undefined } | undefined }): number {
	const value = Quota?.Value;
	if (value === undefined)
		throw new Refused("servicequotas:GetServiceQuota", "NoValue", tell("no-figure-in-answer"));
	return value;
}

async function runningVcpus(api: Api, spot: boolean): Promise<number> {
	const pages = await allPages((token) =>
		api.ec2.describeInstances({
			...token,
			Filters: [{ Name: "instance-state-name", Values: ["pending", "running"] }],
		}),
	);
	const running = pages
		.flatMap(({ Reservations = [] }) => Reservations)
		.flatMap(({ Instances = [] }) => Instances)
		.filter(
			({ InstanceType = "", InstanceLifecycle }) =>
				isStandard(InstanceType) && (InstanceLifecycle === "spot") === spot,
		)
		.map(({ InstanceType = "" }) => InstanceType as string);
	if (running.length === 0) return 0;
	// A machine counts with the vCPUs of its type, even if it was started with fewer.
	const types = await machineTypes(api, [...new Set(running)]);
	return running.reduce((sum, type) => sum + (types.get(type)?.vcpus ?? 0), 0);
}
