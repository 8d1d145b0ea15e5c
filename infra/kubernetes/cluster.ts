import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import { failure } from "../../runner/errors.ts";
import { once } from "../../runner/once.ts";
import type { Kubernetes } from "../../runner/scenario/scenario.ts";
import { commandLine } from "../../runner/shell.ts";
import { pause } from "../../runner/stop.ts";
import { plural } from "../../runner/units.ts";
import type { World } from "../../runner/world.ts";
import type { RemoteHost } from "../machines/host.ts";
import { ownerText } from "../owner.ts";
import { jobOf, LABELS, type PodsAsked } from "./job.ts";
import { explainKubectl, findKubectl, type Kubectl, KubectlError } from "./kubectl.ts";
import { openPodLink } from "./link.ts";
import { howItEnded, Pod, whyNotUp } from "./trouble.ts";

/** A command's objects in a cluster: Jobs and their pods, nothing else. */
export interface Cluster {
	/** Makes pods, and returns when all are running. Fails with a sentence, and leaves none of them then. */
	start(
		asked: Omit<PodsAsked, "name">,
		broker?: string,
	): Promise<{
		readonly pods: readonly PodHost[];
		/** Resolves when they are gone. */
		remove(): Promise<void>;
	}>;
	/** Removes all that is left. May be called more than once. */
	close(): Promise<void>;
}

/** A pod that is running. */
export interface PodHost extends RemoteHost {
	/** The node that it is on, and its address. */
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
	const remove = async (job: string) => {
		const how = "--ignore-not-found --cascade=foreground --wait --timeout=60s".split(" ");
		await kubectl.run(["delete", "job", job, ...how], { limitMs: 70_000 });
		jobs.delete(job);
	};
	return {
		async start(asked, broker) {
			made++;
			const name = `mqbench-${run}-${asked.role}-${made}`;
			const job = jobOf({ ...asked, name }, { run, settings, owner: ownerText(process.pid) });
			const input = [JSON.stringify(job)];
			jobs.add(name);
			try {
				await kubectl
					.run(["create", "--filename", "-"], { input, stop: world.stop })
					.catch((error) => {
						// A Job that the cluster refused does not exist.
						if (error instanceof KubectlError) jobs.delete(name);
						throw error;
					});
				const pods = await untilUp(kubectl, name, asked, world, say);
				return {
					pods: pods.map((pod) => hostOf(pod, asked, kubectl, broker)),
					remove: () => remove(name),
				};
			} catch (error) {
				if (jobs.has(name)) await remove(name).catch(() => {});
				throw explainKubectl(
					error,
					`start ${plural(asked.count, "pod")} for ${broker ?? "the load"}`,
				);
			}
		},
		close: once(async () => {
			const end = world.clock.monotonicMs() + GONE_MS;
			// An API server that is restarted comes back; pods end by themselves without it.
			for (;;) {
				await Promise.allSettled([...jobs].map(remove));
				if (jobs.size === 0) return;
				if (world.clock.monotonicMs() > end) break;
				await sleep(RETRY_MS);
			}
			const all = ["delete", "job", "--selector", `${LABELS.run}=${run}`];
			say(
				`The cluster does not answer, so ${[...jobs].join(", ")} may be left; the pods end by themselves within 2 minutes. To remove them at once: ${commandLine(["kubectl", ...kubectl.where, ...all])}`,
			);
		}),
	};
}

// --- internal ---

/** One for the whole command, so its brokers keep apart from its load. */
const run = randomBytes(5).toString("hex");
let made = 0;

const Pods = z.object({ items: z.array(Pod) });

const POLL_MS = 300;

/** How long and how often a cluster that does not answer is asked to remove the objects there. */
const GONE_MS = 45_000;
const RETRY_MS = 2_000;

/** How long images may take to be pulled, and volumes to be made. */
const UP_MS = 5 * 60_000;
const SAY_MS = 10_000;

/** In a full cluster, which may add nodes by itself; the user need not wait as long. */
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
	const select = ["get", "pods", "--selector", `batch.kubernetes.io/job-name=${job}`];
	for (;;) {
		const { items } = Pods.parse(await kubectl.json(select, { stop }));
		const now = clock.monotonicMs();
		const pods = items.toSorted((a, b) => indexOf(a) - indexOf(b));
		const waiting = pods.filter((pod) => !isUp(pod));
		const placed = pods.length === count && pods.every(({ spec }) => spec.nodeName !== undefined);
		const late = now - began > (placed ? UP_MS : ROOM_MS);
		const reason =
			pods.map((pod) => howItEnded(pod, memory)).find(Boolean) ??
			waiting.map((pod) => whyNotUp(pod, late)).find(Boolean) ??
			// A quota refuses pods, not their Job.
			(late ? await whyNone(kubectl, job) : null);
		if (reason) throw failure("pods-not-up", { job, reason });
		if (pods.length === count && waiting.length === 0) return pods;
		if (now - said >= SAY_MS) {
			said = now;
			const why = waiting.map((pod) => whyNotUp(pod, true))[0];
			say(
				`  ${job}: ${pods.length - waiting.length} of ${count} pods are running${why ? `: ${why}` : ""}`,
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
	{ cpus, memory, role }: Omit<PodsAsked, "name">,
	kubectl: Kubectl,
	broker: string | undefined,
): PodHost {
	const node = pod.spec.nodeName ?? "";
	const host = {
		name: `${role === "load" ? "pod" : `${broker} pod`} ${indexOf(pod) + 1} on ${node}`,
		...(broker === undefined ? {} : { broker }),
	};
	return {
		...host,
		node,
		ip: pod.status.podIP ?? "",
		setUp: false,
		container: { cpus },
		connect: ({ agent, world: { cwd } }, stop) =>
			openPodLink({ ...host, kubectl, pod: pod.metadata.name, memory }, { agent, cwd }, stop),
	};
}
