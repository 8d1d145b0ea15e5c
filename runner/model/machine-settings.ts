import { z } from "zod";

const Text = z.string().min(1).nullable();

/** Settings that decide how late a machine notices a message. Null if unreadable, or if the machine has no such thing. */
export const MachineSettings = z.strictObject({
	/** Driver that puts cores to sleep: "intel_idle", "acpi_idle". With "haltpoll" or "none" the machine's own host does. */
	idleDriver: Text,
	bootMaxCState: z.int().nonnegative().nullable(),
	/** Idle states that a core may enter, "POLL, C1, C6", and the number of the deepest. */
	cStates: Text,
	maxCState: z.int().nonnegative().nullable(),
	/** In the kernel's words: "on", "off", "forceoff", "notsupported", "notimplemented". */
	smt: Text,
	/** Over all network cards: "adaptive-rx on, tx-usecs 64". */
	interruptModeration: Text,
	governor: Text,
	/** "all", or "2-3 of 0-7" (a cpuset: Kubernetes' static CPU manager, taskset). */
	allowedCores: z.string().min(1).optional(),
});
export type MachineSettings = z.infer<typeof MachineSettings>;

export const HostSettings = z.strictObject({
	name: z.string(),
	role: z.enum(["brokers", "load"]),
	settings: MachineSettings,
});
export type HostSettings = z.infer<typeof HostSettings>;

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
