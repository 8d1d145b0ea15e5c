import { z } from "zod";
import { tell } from "../../runner/text/tell.ts";
import { formatBytes } from "../../runner/units.ts";
import type { Link } from "../remote/link.ts";
import { Unreachable } from "../remote/trouble.ts";
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
			tell("exec-lost", { words: words.trim() === "" ? "" : ` (${reasonIn(words)})` });
	} catch (error) {
		reason = isMissing(error)
			? tell("pod-deleted")
			: tell("exec-lost", {
					words: ` (${reasonIn(error instanceof Error ? error.message : words)})`,
				});
	}
	return new Unreachable(pod, { reason, remedy: tell("look-at-pods") });
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
	if (found === "missing") return tell("pod-deleted");
	if (found === null) return null;
	const ended = howItEnded(found, memory);
	if (ended !== null || memory === null) return ended;
	// The pod lives on where the kernel kills single processes.
	const { values } = await run(KILLED).catch(() => ({ values: { killed: "" } }));
	return Number(values.killed) > 0
		? tell("pod-beyond-memory", { limit: formatBytes(memory) })
		: null;
}

/** How a pod has ended; null: it is running. */
export function howItEnded({ metadata, status }: Pod, memory: number | null): string | null {
	const [own] = status.containerStatuses;
	const { terminated } = own?.state ?? {};
	if (terminated?.reason === "OOMKilled")
		return memory === null
			? tell("pod-out-of-memory")
			: tell("pod-beyond-memory", { limit: formatBytes(memory) });
	if (status.reason === "Evicted") return tell("pod-evicted", { why: bare(status.message) });
	if (status.reason === "DeadlineExceeded") return tell("pod-deadline");
	const disrupted = status.conditions.find(
		({ type, status: is }) => type === "DisruptionTarget" && is === "True",
	);
	if (disrupted) return tell("pod-evicted", { why: bare(disrupted.message ?? disrupted.reason) });
	if (metadata.deletionTimestamp !== undefined) return tell("pod-deleted");
	if (terminated)
		return tell("pod-ended", {
			code: terminated.exitCode ?? "unknown",
			reason: terminated.reason ?? "",
		});
	return status.phase === "Failed" || status.phase === "Succeeded"
		? tell("pod-ended", { code: "unknown", reason: bare(status.message) })
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
			: tell("image-not-pulled", { why: bare(message || reason) });
	if (/^(CreateContainerConfigError|CreateContainerError|RunContainerError)$/.test(reason))
		return tell("container-refused", { why: bare(message || reason) });
	const unplaced = status.conditions.find(
		({ type, status: is, reason: why }) =>
			type === "PodScheduled" && is === "False" && why === "Unschedulable",
	);
	if (!late) return null;
	if (unplaced) return tell("no-node-for-pod", { why: bare(unplaced.message) });
	return tell("pod-not-up", { state: reason || status.phase });
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
