import { z } from "zod";
import { EXIT, type ExitCode, failure } from "../../runner/errors.ts";
import { plural } from "../../runner/units.ts";
import type { World } from "../../runner/world.ts";
import { LABELS, OURS } from "./job.ts";
import { explainKubectl, findKubectl, type Kubectl } from "./kubectl.ts";

/** Where `mqbench rigs` looks for pods. */
export interface ClusterArgs {
	readonly context?: string | undefined;
	/** Default: all namespaces, if the account may look at them. */
	readonly namespace?: string | undefined;
}

/** Pods of one command of mqbench that are in a cluster. */
export interface PodsThere {
	/** Its run's id. */
	readonly id: string;
	readonly namespace: string;
	readonly jobs: readonly string[];
	readonly pods: number;
	readonly createdAt: string;
	/** When nobody needs them any more, ISO 8601; null: nobody has said. */
	readonly expiresAt: string | null;
}

/** All of mqbench's pods of a cluster, whoever has made them, the oldest first. */
export async function podsThere(args: ClusterArgs, world: World): Promise<PodsThere[]> {
	const kubectl = kubectlOf(args, world);
	const scope = args.namespace === undefined ? ["--all-namespaces"] : [];
	const { items } = await kubectl
		.json(["get", "jobs", "--selector", OURS, ...scope])
		.then((json) => Jobs.parse(json))
		.catch((error) => {
			throw explainKubectl(error, "look for what earlier runs have left");
		});
	return [...new Set(items.map(keyOf))]
		.map((key) => items.filter((job) => keyOf(job) === key))
		.flatMap((jobs) => {
			const [first] = jobs;
			if (!first) return [];
			const { namespace, labels } = first.metadata;
			const ends = jobs.map(({ metadata }) => metadata.annotations[LABELS.expires] ?? null);
			return {
				id: labels[LABELS.run] ?? "",
				namespace,
				jobs: jobs.map(({ metadata: { name } }) => name),
				pods: jobs.reduce((sum, { status }) => sum + status.active, 0),
				createdAt: jobs.map(({ metadata }) => metadata.creationTimestamp).toSorted()[0] ?? "",
				expiresAt: ends.includes(null) ? null : (ends.toSorted().at(-1) ?? null),
			};
		})
		.sort((a, b) => (a.createdAt < b.createdAt ? -1 : 1));
}

/** `mqbench rigs list --target kubernetes`. */
export async function listPods(args: ClusterArgs, json: boolean, world: World): Promise<ExitCode> {
	const all = await podsThere(args, world);
	world.stdout.write(
		json ? `${JSON.stringify(all, null, "\t")}\n` : podsText(all, world.clock.nowMs()),
	);
	return EXIT.pass;
}

/** The same for people. */
export function podsText(all: readonly PodsThere[], nowMs: number): string {
	if (all.length === 0) return "There are no pods of mqbench in the cluster.\n";
	return all
		.map(
			(one) =>
				`${one.id}  ${plural(one.pods, "pod")} in namespace ${one.namespace}, since ${one.createdAt}, until ${
					one.expiresAt === null
						? "?"
						: `${one.expiresAt}${isOver(one, nowMs) ? ", over: mqbench rigs sweep --target kubernetes removes them" : ""}`
				}\n`,
		)
		.join("");
}

/** Removes the pods of one run, or with null of all that have expired; returns what people are told. Nothing without our label is touched. */
export async function removePods(
	id: string | null,
	args: ClusterArgs,
	world: World,
): Promise<ExitCode> {
	const all = await podsThere(args, world);
	const now = world.clock.nowMs();
	const chosen = all.filter((one) => (id === null ? isOver(one, now) : one.id === id));
	if (id !== null && chosen.length === 0)
		throw failure("usage", {
			message: `There are no pods of ${id} in the cluster; mqbench rigs list --target kubernetes shows what is there`,
		});
	const kubectl = kubectlOf({ context: args.context }, world);
	for (const { namespace, id, jobs } of chosen) {
		await kubectl
			.run(
				[
					"delete",
					"job",
					"--namespace",
					namespace,
					"--selector",
					`${OURS},${LABELS.run}=${id}`,
					"--cascade=foreground",
					"--wait",
					"--timeout=60s",
				],
				{ limitMs: 70_000 },
			)
			.catch((error) => {
				throw explainKubectl(error, `remove ${jobs.join(", ")}`);
			});
		world.stdout.write(`${id}: removed from namespace ${namespace}.\n`);
	}
	if (chosen.length === 0) world.stdout.write("No pods of mqbench are over.\n");
	return EXIT.pass;
}

// --- internal ---

const Jobs = z.object({
	items: z.array(
		z.object({
			metadata: z.object({
				name: z.string(),
				namespace: z.string(),
				creationTimestamp: z.string(),
				labels: z.record(z.string(), z.string()).default({}),
				annotations: z.record(z.string(), z.string()).default({}),
			}),
			status: z.object({ active: z.int().default(0) }).prefault({}),
		}),
	),
});

/** Jobs of one run, in one namespace. */
function keyOf({ metadata: { namespace, labels } }: z.infer<typeof Jobs>["items"][number]): string {
	return `${namespace}/${labels[LABELS.run] ?? ""}`;
}

function kubectlOf({ context, namespace }: ClusterArgs, world: World): Kubectl {
	return findKubectl(world, { context: context ?? null, namespace: namespace ?? null });
}

function isOver({ expiresAt }: PodsThere, nowMs: number): boolean {
	return expiresAt !== null && Date.parse(expiresAt) <= nowMs;
}
