import { z } from "zod";
import { reasonOf } from "../../runner/reason.ts";
import { formatBytes } from "../../runner/units.ts";
import type { Link } from "../machines/link.ts";
import { Unreachable } from "../machines/trouble.ts";
import { type Kubectl, KubectlError, reasonIn } from "./kubectl.ts";

const Reason = { reason: z.string().optional(), message: z.string().optional() };

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
			...Reason,
			podIP: z.string().optional(),
			conditions: z
				.array(z.object({ type: z.string(), status: z.string(), ...Reason }))
				.default([]),
			containerStatuses: z
				.array(
					z.object({
						ready: z.boolean().default(false),
						state: z
							.object({
								waiting: z.object(Reason).optional(),
								terminated: z.object({ ...Reason, exitCode: z.int().optional() }).optional(),
							})
							.default({}),
					}),
				)
				.default([]),
		})
		.prefault({}),
});
export type Pod = z.infer<typeof Pod>;

/** A pod that is running, for `kubectl exec`. */
export interface PodAt {
	readonly kubectl: Kubectl;
	/** Its name in the cluster. */
	readonly pod: string;
	/** For people, with the system whose broker is in it. */
	readonly name: string;
	readonly broker?: string;
	/** Limit of its memory, bytes; null without one. */
	readonly memory: number | null;
}

/** Why a pod is not there any more, asked of the cluster. */
export async function whyLost(pod: PodAt, words: string): Promise<Unreachable> {
	const gone = (said: string) =>
		`the connection to it is gone${said.trim() === "" ? "" : ` (${reasonIn(said)})`}`;
	const reason = await fateOf(pod).catch((error) => gone(reasonOf(error)));
	return new Unreachable(pod, {
		reason: reason ?? gone(words),
		remedy: "`kubectl get events` shows what happened in the cluster",
	});
}

/** Why a command in a pod was killed; null if unknown. `run` asks the pod itself. */
export async function whyKilled(pod: PodAt, run: Link["run"]): Promise<string | null> {
	const ended = await fateOf(pod).catch(() => null);
	if (ended !== null || pod.memory === null) return ended;
	// The pod lives on where the kernel kills single processes.
	const { values } = await run(KILLED).catch(() => ({ values: { killed: "" } }));
	return Number(values.killed) > 0 ? beyondText(pod.memory) : null;
}

/** How a pod has ended; null if it is running. */
export function howItEnded({ metadata, status }: Pod, memory: number | null): string | null {
	const { terminated } = status.containerStatuses[0]?.state ?? {};
	if (terminated?.reason === "OOMKilled")
		return memory === null
			? "it was ended because its memory was used up (OOMKilled); give it memory"
			: beyondText(memory);
	if (status.reason === "DeadlineExceeded")
		return "its time (ttl) was over; write a longer ttl under kubernetes";
	const evicted =
		status.reason === "Evicted"
			? status
			: status.conditions.find(
					({ type, status: is }) => type === "DisruptionTarget" && is === "True",
				);
	if (evicted) return `its node has evicted it (${bare(evicted.message ?? evicted.reason)})`;
	if (metadata.deletionTimestamp !== undefined) return "it was deleted";
	if (terminated || status.phase === "Failed" || status.phase === "Succeeded")
		return `it has ended with exit code ${terminated?.exitCode ?? "unknown"} (${terminated?.reason ?? bare(status.message)})`;
	return null;
}

/** Why a pod will never start; null if it still may. With `late`, the time to wait is over. */
export function whyNotUp({ status }: Pod, late: boolean): string | null {
	const { reason = "", message = "" } = status.containerStatuses[0]?.state.waiting ?? {};
	const says = bare(message || reason);
	// The first attempt may meet a registry that is busy.
	if (/^(ImagePullBackOff|ErrImageNeverPull|InvalidImageName)$/.test(reason))
		return `its image cannot be pulled (${says})`;
	if (/^(CreateContainerConfigError|CreateContainerError|RunContainerError)$/.test(reason))
		return `its container cannot be started (${says})`;
	if (!late) return null;
	const unplaced = status.conditions.find((one) => one.reason === "Unschedulable");
	return unplaced
		? `no node has room for it (${bare(unplaced.message)}); ask for less (kubernetes.resources, or cpus and memory of the system), or add nodes`
		: `it is not running yet (${says || status.phase})`;
}

// --- internal ---

/** How many processes of the control group were killed for its memory: cgroup v2, else v1. */
const KILLED =
	'echo; echo "mqbench:killed=$(cat /sys/fs/cgroup/memory.events /sys/fs/cgroup/memory/memory.oom_control 2>/dev/null | sed -n "s/^oom_kill //p" | head -n 1)"';

/** Why a pod has ended; null if it runs. Fails as kubectl does. */
async function fateOf({ kubectl, pod, memory }: PodAt): Promise<string | null> {
	try {
		const found = await kubectl.json(["get", "pod", pod], { limitMs: 10_000 });
		return howItEnded(Pod.parse(found), memory);
	} catch (error) {
		if (error instanceof KubectlError && /not found/i.test(error.message)) return "it was deleted";
		throw error;
	}
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
