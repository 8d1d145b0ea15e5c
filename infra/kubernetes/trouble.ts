import { z } from "zod";
import { formatBytes } from "../../runner/units.ts";
import type { Link } from "../machines/link.ts";
import { Unreachable } from "../machines/trouble.ts";
import { type Kubectl, KubectlError, reasonIn } from "./kubectl.ts";

/** The parts of a pod that mqbench reads. */
export const Pod = z.object({
	metadata: z.object({
		name: z.string(),
		labels: z.record(z.string(), z.string()).default({}),
		annotations: z.record(z.string(), z.string()).default({}),
		deletionTimestamp: z.string().optional(),
	}),
	spec: z.object({ nodeName: z.string().optional() }).default({}),
	status: z
		.object({
			phase: z.string().default("Pending"),
			reason: z.string().optional(),
			message: z.string().optional(),
			podIP: z.string().optional(),
			conditions: z
				.array(
					z.object({
						type: z.string(),
						status: z.string(),
						reason: z.string().optional(),
						message: z.string().optional(),
					}),
				)
				.default([]),
			containerStatuses: z
				.array(
					z.object({
						ready: z.boolean().default(false),
						state: z
							.object({
								waiting: z
									.object({ reason: z.string().optional(), message: z.string().optional() })
									.optional(),
								terminated: z
									.object({ reason: z.string().optional(), exitCode: z.int().optional() })
									.optional(),
							})
							.default({}),
					}),
				)
				.default([]),
		})
		.default({ phase: "Pending", conditions: [], containerStatuses: [] }),
});
export type Pod = z.infer<typeof Pod>;

/** What is known of a pod whose connection is lost. */
export interface Lost {
	/** Its name in the cluster. */
	readonly pod: string;
	/** Limit of its memory, bytes; null: none. */
	readonly memory: number | null;
}

/** Why a pod is not there any more, asked of the cluster. */
export async function whyLost(
	pod: Lost & { readonly name: string; readonly broker?: string },
	kubectl: Kubectl,
	words: string,
): Promise<Unreachable> {
	let reason: string;
	try {
		const found = Pod.parse(await kubectl.json(["get", "pod", pod.pod], { limitMs: 10_000 }));
		reason =
			howItEnded(found, pod.memory) ??
			`the connection to it is gone${words.trim() === "" ? "" : ` (${reasonIn(words)})`}`;
	} catch (error) {
		reason = isMissing(error)
			? "it was deleted"
			: `the connection to it is gone (${reasonIn(error instanceof Error ? error.message : words)})`;
	}
	return new Unreachable(pod, {
		reason,
		remedy: "`kubectl get events` shows what happened in the cluster",
	});
}

/** Why a command in a pod was killed; null: not known. `run` asks the pod itself. */
export async function whyKilled(
	{ pod, memory }: Lost,
	kubectl: Kubectl,
	run: Link["run"],
): Promise<string | null> {
	const found = await kubectl.json(["get", "pod", pod], { limitMs: 10_000 }).then(
		(json) => Pod.parse(json),
		(error) => (isMissing(error) ? "missing" : null),
	);
	if (found === "missing") return "it was deleted";
	if (found === null) return null;
	const ended = howItEnded(found, memory);
	if (ended !== null || memory === null) return ended;
	// The pod lives on where the kernel kills single processes.
	const { values } = await run(KILLED).catch(() => ({ values: { killed: "" } }));
	return Number(values.killed) > 0 ? beyondText(memory) : null;
}

/** How a pod has ended; null: it is running. */
export function howItEnded({ metadata, status }: Pod, memory: number | null): string | null {
	const [own] = status.containerStatuses;
	const { terminated } = own?.state ?? {};
	if (terminated?.reason === "OOMKilled")
		return memory === null
			? "it was ended because its memory was used up (OOMKilled); give it memory"
			: beyondText(memory);
	if (status.reason === "Evicted") return `its node has evicted it (${bare(status.message)})`;
	if (status.reason === "DeadlineExceeded")
		return "its time (ttl) was over; write a longer ttl under kubernetes";
	const disrupted = status.conditions.find(
		({ type, status: is }) => type === "DisruptionTarget" && is === "True",
	);
	if (disrupted) return `its node has evicted it (${bare(disrupted.message ?? disrupted.reason)})`;
	if (metadata.deletionTimestamp !== undefined) return "it was deleted";
	if (terminated)
		return `it has ended with exit code ${terminated.exitCode ?? "unknown"} (${terminated.reason ?? ""})`;
	return status.phase === "Failed" || status.phase === "Succeeded"
		? `it has ended with exit code unknown (${bare(status.message)})`
		: null;
}

/** Why a pod does not start, if it is clear already that it never will; null: it may yet. `late`: nobody waits any longer. */
export function whyNotUp({ status }: Pod, late: boolean): string | null {
	const [own] = status.containerStatuses;
	const { waiting } = own?.state ?? {};
	const { reason = "", message = "" } = waiting ?? {};
	if (/^(ErrImagePull|ImagePullBackOff|ErrImageNeverPull|InvalidImageName)$/.test(reason))
		// The first attempt may meet a registry that is busy.
		return reason === "ErrImagePull" && !late
			? null
			: `its image cannot be pulled (${bare(message || reason)})`;
	if (/^(CreateContainerConfigError|CreateContainerError|RunContainerError)$/.test(reason))
		return `its container cannot be started (${bare(message || reason)})`;
	const unplaced = status.conditions.find(
		({ type, status: is, reason: why }) =>
			type === "PodScheduled" && is === "False" && why === "Unschedulable",
	);
	if (!late) return null;
	if (unplaced)
		return `no node has room for it (${bare(unplaced.message)}); ask for less (kubernetes.resources, or cpus and memory of the system), or add nodes`;
	return `it is not running yet (${reason || status.phase})`;
}

// --- internal ---

/** How many processes of the control group were killed for its memory: cgroup v2, else v1. */
const KILLED =
	'echo; echo "mqbench:killed=$(cat /sys/fs/cgroup/memory.events /sys/fs/cgroup/memory/memory.oom_control 2>/dev/null | sed -n "s/^oom_kill //p" | head -n 1)"';

function isMissing(error: unknown): boolean {
	return error instanceof KubectlError && /not found/i.test(error.message);
}

function bare(text = ""): string {
	return (
		text
			.trim()
			.split("\n")[0]
			?.replace(/[.\s]+$/, "") ?? ""
	);
}

function beyondText(memory: number): string {
	return `it was ended because it used more than its ${formatBytes(memory)} of memory (OOMKilled); give it more`;
}
