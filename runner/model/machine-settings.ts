import { z } from "zod";

const Text = z.string().min(1).nullable();

/** What of a machine's settings decides how late it notices a message. null: it cannot be read, or the machine has no such thing. */
export const MachineSettings = z.strictObject({
	/** What puts cores to sleep: "intel_idle", "acpi_idle"; "haltpoll" and "none" leave that to the machine's own host. */
	idleDriver: Text,
	/** The driver's parameter max_cstate, from the kernel's start. */
	bootMaxCState: z.int().nonnegative().nullable(),
	/** Idle states that a core may enter, "POLL, C1, C6", and the number of the deepest. */
	cStates: Text,
	maxCState: z.int().nonnegative().nullable(),
	/** Two threads share a core, in the kernel's words: "on", "off", "forceoff", "notsupported", "notimplemented". */
	smt: Text,
	/** Of all network cards: "adaptive-rx on, tx-usecs 64". */
	interruptModeration: Text,
	/** Of all cores. */
	governor: Text,
	/** Cores that processes may run on: "all", or "2-3 of 0-7" (a cpuset: Kubernetes' static CPU manager, taskset). Absent: it cannot be read. */
	allowedCores: z.string().min(1).optional(),
});
export type MachineSettings = z.infer<typeof MachineSettings>;

/** A host of brokers or load, with its settings. */
export const HostSettings = z.strictObject({
	/** As ssh takes it. */
	name: z.string(),
	role: z.enum(["brokers", "load"]),
	settings: MachineSettings,
});
export type HostSettings = z.infer<typeof HostSettings>;

/** By the names that reports give them, in their order; null: it cannot be read. */
export function settingTexts(of: MachineSettings): Readonly<Record<string, string | null>> {
	const driver = [
		...(of.idleDriver === null ? [] : [of.idleDriver]),
		...(of.bootMaxCState === null ? [] : [`max_cstate ${of.bootMaxCState}`]),
	];
	return {
		"C-states":
			of.cStates === null && driver.length === 0
				? null
				: `${of.cStates ?? "not to be seen"}${driver.length === 0 ? "" : ` (${driver.join(", ")})`}`,
		SMT: of.smt,
		"interrupt moderation": of.interruptModeration,
		"CPU governor": of.governor,
		...(of.allowedCores === undefined ? {} : { "cores to run on": of.allowedCores }),
	};
}
