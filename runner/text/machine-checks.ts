import { formatCount as count, formatDuration as duration } from "../units.ts";
import { percent } from "./percent.ts";

/** What the checks say of CPU, other work and the generator's own runtime. */
export const machineChecks = {
	"quota-unknown": (d: Throttled) =>
		`whether a CPU quota slowed ${throttled(d)} down cannot be read`,
	"quota-hit": (d: Throttled & { periods: number }) =>
		`a CPU quota held ${throttled(d)} back in ${d.periods === 1 ? "one period" : `${count(d.periods)} periods`} of the window`,
	"quota-none": () => "no CPU quota held mqbench back",
	"steal-unknown": () => "what the hypervisor took cannot be read",
	steal: (d: { share: number; much: boolean }) =>
		`the hypervisor took ${percent(d.share)} of the ${d.much ? "machine's " : ""}CPU time`,
	"others-unknown": () => "what other processes used cannot be read",
	others: (d: Others) => othersText(d),
	"others-much": (
		d: Others & {
			/** What generator and broker used. */
			ownShare: number;
		},
	) =>
		`${othersText(d)}, ${d.brokerHost ? "the broker" : "generator and broker"} ${percent(d.ownShare)}`,
	"cores-unknown": () => "how busy the cores were cannot be read",
	cores: (d: Cores) => coresText(d),
	"cores-saturated": (d: Cores & Saturated) => saturatedText(d),
	"cores-decided": (d: Cores & Saturated & { lines: readonly string[] }) =>
		`${saturatedText(d)}: that decided ${d.lines.join(" and ")}`,
	"own-cpu-unknown": () => "the generator's own CPU time cannot be read",
	"own-cpu": (d: {
		cores: number;
		ofCores: number;
		/** Of several clients the one, or how many shared the machine. */
		client: string | null;
		clients: number;
		/** What it is above; null: it is not. */
		aboveShare: number | null;
	}) =>
		[
			`the generator itself used ${Number(d.cores.toPrecision(2))} of ${count(d.ofCores)} cores`,
			d.client === null ? "" : ` on ${d.client}`,
			d.clients > 1 ? `, ${d.clients} clients on this machine` : "",
			d.aboveShare === null ? "" : `, more than ${percent(d.aboveShare)}`,
		].join(""),

	"gc-unknown": () => "no second of the window was counted",
	gc: (d: { pausedNs: number; client: string | null }) =>
		`garbage collection stopped the generator for ${duration(d.pausedNs)} of the window${on(d.client)}`,
};

/** The machine of a finding, where there are several. */
export function machineName(of: {
	readonly client: string | null;
	/** Of the broker. */
	readonly node: number | null;
}): string {
	if (of.node !== null) return `the host of the broker's node ${of.node}`;
	return of.client ?? "this machine";
}

export interface Cores {
	/** Of the window's CPU time. */
	readonly idleShare: number;
	/** Of the time in which threads of generator and broker wanted a core; null: not known. */
	readonly waitShare: number | null;
}

export interface Saturated {
	/** Of the window: no core was free. */
	readonly share: number;
}

/** "no core was free in 98 % of the window (2 % of the CPU time was idle, ...)" */
export function saturatedText(d: Cores & Saturated): string {
	return `no core was free in ${percent(d.share)} of the window (${coresText(d)})`;
}

// --- internal ---

function coresText({ idleShare, waitShare }: Cores): string {
	const waited =
		waitShare === null
			? ""
			: `, and generator and broker waited for ${percent(waitShare)} of the time in which they wanted a core`;
	return `${percent(idleShare)} of the CPU time was idle${waited}`;
}

interface Throttled {
	readonly broker: boolean;
}

function throttled({ broker }: Throttled): string {
	return broker ? "the broker" : "mqbench";
}

interface Others {
	readonly share: number;
	/** On a host that the broker has for itself. */
	readonly brokerHost: boolean;
}

function othersText({ share, brokerHost }: Others): string {
	return `other processes used ${percent(share)} of ${brokerHost ? "the CPU time on the broker's host" : "the machine's CPU time"}`;
}

function on(client: string | null): string {
	return client === null ? "" : `, on ${client}`;
}
