import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import { failure } from "../../runner/errors.ts";
import { once } from "../../runner/once.ts";
import type { Kubernetes } from "../../runner/scenario/scenario.ts";
import { pause } from "../../runner/stop.ts";
import { plural } from "../../runner/units.ts";
import type { World } from "../../runner/world.ts";
import type { Connecting, RemoteHost } from "../machines/host.ts";
import { ownerText } from "../owner.ts";
import { jobOf, LABELS, type PodsAsked } from "./job.ts";
import { explainKubectl, findKubectl, type Kubectl, KubectlError } from "./kubectl.ts";
import { openPodLink } from "./link.ts";
import { howItEnded, Pod, whyNotUp } from "./trouble.ts";

/** What a command makes in a cluster: Jobs and their pods, nothing else. */
export interface Cluster {
	/** Makes pods, and returns when all are running. Fails with a sentence, and leaves none of them then. */
	start(asked: Omit<PodsAsked, "name">, broker?: string): Promise<PodHost[]>;
	/** Removes pods that were made together; resolves when they are gone. */
	remove(hosts: readonly PodHost[]): Promise<void>;
	/** Removes all that is left. May be called more than once. */
	close(): Promise<void>;
}

/** A pod that is running. */
export interface PodHost extends RemoteHost {
	/** Its name in the cluster, its Job's, the node that it is on, and its address. */
	readonly pod: string;
	readonly job: string;
	readonly node: string;
	readonly ip: string;
}

/** Asks nothing of the cluster before the first `start`. */
export function clusterOf(
	settings: Kubernetes,
	world: Pick<World, "env" | "clock" | "stop">,
	say: (line: string) => void,
): Cluster {
	const kubectl = findKubectl(world, settings);
	const jobs = new Set<string>();
	const removeJob = async (job: string) => {
		await kubectl.run(
			[
				"delete",
				"job",
				job,
				"--ignore-not-found",
				"--cascade=foreground",
				"--wait",
				"--timeout=60s",
			],
			{ limitMs: 70_000 },
		);
		jobs.delete(job);
	};
	return {
		async start(asked, broker) {
			made++;
			const name = `mqbench-${run}-${asked.role}-${made}`;
			jobs.add(name);
			try {
				const job = jobOf(
					{ ...asked, name },
					{ run, settings, nowMs: world.clock.nowMs(), owner: ownerText(process.pid) },
				);
				await kubectl
					.run(["create", "--filename", "-"], { input: JSON.stringify(job), stop: world.stop })
					.catch((error) => {
						// What the cluster has refused does not exist.
						if (error instanceof KubectlError) jobs.delete(name);
						throw error;
					});
				const pods = await untilUp(kubectl, name, asked, world, say);
				return pods.map((pod) => hostOf(pod, name, asked, kubectl, broker));
			} catch (error) {
				if (jobs.has(name)) await removeJob(name).catch(() => {});
				throw explainKubectl(
					error,
					`start ${plural(asked.count, "pod")} for ${broker ?? "the load"}`,
				);
			}
		},
		async remove(hosts) {
			for (const job of new Set(hosts.map(({ job }) => job))) await removeJob(job);
		},
		close: once(async () => {
			const began = world.clock.monotonicMs();
			for (;;)
				try {
					await Promise.all([...jobs].map(removeJob));
					return;
				} catch (error) {
					// An API server that is restarted comes back; pods end by themselves without it.
					if (world.clock.monotonicMs() - began > GONE_MS) break;
					if (!(error instanceof KubectlError)) break;
					await sleep(RETRY_MS);
				}
			say(
				`The cluster does not answer, so that ${[...jobs].join(", ")} may be left: the pods end by themselves within ${2} minutes. To look: ${[
					"kubectl",
					...kubectl.where,
					"delete",
					"job",
					"--selector",
					`${LABELS.run}=${run}`,
				].join(" ")}`,
			);
		}),
	};
}

// --- internal ---

/** One for the whole command, so that its brokers keep apart from its load. */
const run = randomBytes(5).toString("hex");
let made = 0;

const Pods = z.object({ items: z.array(Pod) });

const POLL_MS = 300;

/** How long a cluster that does not answer is asked to remove what is there, and how often. */
const GONE_MS = 45_000;
const RETRY_MS = 2_000;

/** How long images may take to be pulled, volumes to be made, and nodes to be added. */
const UP_MS = 5 * 60_000;
const SAY_MS = 10_000;

/** Where there is no room it may come, if a cluster adds nodes by itself; a person need not wait as long. */
const ROOM_MS = 90_000;

async function untilUp(
	kubectl: Kubectl,
	job: string,
	{ count, memory }: Pick<PodsAsked, "count" | "memory">,
	{ clock, stop }: Pick<World, "clock" | "stop">,
	say: (line: string) => void,
): Promise<Pod[]> {
	const began = clock.monotonicMs();
	let said = began;
	for (;;) {
		const { items } = Pods.parse(
			await kubectl.json(["get", "pods", "--selector", `batch.kubernetes.io/job-name=${job}`], {
				stop,
			}),
		);
		const now = clock.monotonicMs();
		const pods = items.toSorted((a, b) => indexOf(a) - indexOf(b));
		const wrong = pods
			.map(
				(pod) =>
					howItEnded(pod, memory) ?? whyNotUp(pod, now - began > (isPlaced(pod) ? UP_MS : ROOM_MS)),
			)
			.find((why) => why !== null);
		if (wrong !== undefined) throw failure("pods-not-up", { job, reason: wrong });
		if (pods.length === count && pods.every(isUp)) return pods;
		// A quota refuses pods, not their Job.
		if (pods.length < count && now - began > ROOM_MS)
			throw failure("pods-not-up", { job, reason: await whyNone(kubectl, job) });
		if (now - said >= SAY_MS) {
			said = now;
			say(
				`  ${job}: ${pods.filter(isUp).length} of ${count} pods are running (${Math.round((now - began) / 1000)} s)${pods
					.flatMap((pod) => (isUp(pod) ? [] : (whyNotUp(pod, true) ?? [])))
					.slice(0, 1)
					.map((why) => `: ${why}`)
					.join("")}`,
			);
		}
		await pause(POLL_MS, stop);
	}
}

const Events = z.object({ items: z.array(z.object({ message: z.string().default("") })) });

async function whyNone(kubectl: Kubectl, job: string): Promise<string> {
	const { items } = await kubectl
		.json(["get", "events", "--field-selector", `involvedObject.name=${job},type=Warning`])
		.then((found) => Events.parse(found))
		.catch(() => ({ items: [] }));
	return (
		items.at(-1)?.message.replace(/[.\s]+$/, "") ||
		"the cluster makes no pods of it, and does not say why"
	);
}

function isPlaced({ spec }: Pod): boolean {
	return spec.nodeName !== undefined;
}

function isUp({ status }: Pod): boolean {
	return (
		status.phase === "Running" &&
		status.podIP !== undefined &&
		status.containerStatuses.every(({ ready }) => ready)
	);
}

function indexOf({ metadata: { annotations, labels } }: Pod): number {
	const key = "batch.kubernetes.io/job-completion-index";
	return Number(labels[key] ?? annotations[key] ?? 0);
}

function hostOf(
	pod: Pod,
	job: string,
	{ cpus, memory, role }: Omit<PodsAsked, "name">,
	kubectl: Kubectl,
	broker: string | undefined,
): PodHost {
	const { name } = pod.metadata;
	const node = pod.spec.nodeName ?? "";
	const number = indexOf(pod) + 1;
	const at = {
		kubectl,
		pod: name,
		memory,
		name: `${role === "load" ? "pod" : `${broker} pod`} ${number} on ${node}`,
		...(broker === undefined ? {} : { broker }),
	};
	return {
		name: at.name,
		pod: name,
		job,
		node,
		setUp: false,
		ip: pod.status.podIP ?? "",
		container: { cpus },
		...(broker === undefined ? {} : { broker }),
		connect: ({ agent, world }: Connecting, stop: AbortSignal) =>
			openPodLink(at, { agent, cwd: world.cwd }, stop),
	};
}
