import { z } from "zod";
import { reasonOf } from "../../runner/reason.ts";
import { type Kubectl, KubectlError, reasonIn } from "./kubectl.ts";
import { quantityOf } from "./quantity.ts";
import type { NodeRoom } from "./room.ts";

/** What a cluster says before anything is made in it. */
export interface Looked {
	readonly context: string;
	readonly namespace: string;
	/** "v1.34.1". */
	readonly version: string;
	/** The first minor version of Kubernetes 1 with which this works is OLDEST. */
	readonly tooOld: boolean;
	/** Rights that mqbench needs and the account lacks: "create pods/exec". */
	readonly missing: readonly string[];
	/** null: the account may not look at nodes. */
	readonly nodes: readonly NodeRoom[] | null;
}

/** backoffLimitPerIndex is on by default since then. */
export const OLDEST = 29;

/** Rights that mqbench needs in its namespace (rbac.yaml). */
export const RIGHTS = [
	"create jobs.batch",
	"get jobs.batch",
	"list jobs.batch",
	"watch jobs.batch",
	"delete jobs.batch",
	"get pods",
	"list pods",
	"list events",
	"create pods/exec",
] as const;

/** Asks the cluster, at most a dozen questions. Fails with a KubectlError. */
export async function lookAt(kubectl: Kubectl): Promise<Looked> {
	const stated = View.parse(await kubectl.json(["config", "view", "--minify"]));
	const [context] = stated.contexts;
	const at = kubectl.where.indexOf("--namespace");
	// `kubectl version` also compares itself with it.
	const server = Version.parse(JSON.parse(await kubectl.run(["get", "--raw", "/version"])));
	const missing = await Promise.all(
		RIGHTS.map(async (right) => {
			const [verb = "", what = ""] = right.split(" ");
			const said = await kubectl.run(["auth", "can-i", verb, what]).catch((error) => {
				// "no" is exit code 1, with nothing else on stderr.
				if (error instanceof KubectlError && /^no\b/m.test(error.message)) return "no";
				throw error;
			});
			return said.trim().startsWith("yes") ? [] : [right];
		}),
	);
	const minor = Number.parseInt(server.minor, 10);
	return {
		context: stated["current-context"] ?? "",
		namespace:
			(at < 0 ? undefined : kubectl.where[at + 1]) ?? context?.context.namespace ?? "default",
		version: server.gitVersion,
		tooOld: server.major === "1" && minor < OLDEST,
		missing: missing.flat(),
		nodes: await nodesOf(kubectl),
	};
}

/** Why a cluster cannot be looked at, for people. */
export function whyUnseen(error: unknown): string {
	return error instanceof KubectlError ? reasonIn(error.message) : reasonOf(error);
}

// --- internal ---

const View = z.object({
	"current-context": z.string().optional(),
	contexts: z
		.array(z.object({ context: z.object({ namespace: z.string().optional() }) }))
		.nullish()
		.transform((all) => all ?? []),
});

const Version = z.object({ major: z.string(), minor: z.string(), gitVersion: z.string() });

const Quantities = z.record(z.string(), z.union([z.string(), z.number()]));

const Nodes = z.object({
	items: z.array(
		z.object({
			metadata: z.object({
				name: z.string(),
				labels: z.record(z.string(), z.string()).default({}),
			}),
			spec: z
				.object({
					unschedulable: z.boolean().default(false),
					taints: z
						.array(z.object({ key: z.string(), value: z.string().optional(), effect: z.string() }))
						.default([]),
				})
				.prefault({}),
			status: z.object({ allocatable: Quantities.default({}) }).prefault({}),
		}),
	),
});

const AllPods = z.object({
	items: z.array(
		z.object({
			spec: z.object({
				nodeName: z.string().optional(),
				containers: z.array(
					z.object({ resources: z.object({ requests: Quantities.optional() }).prefault({}) }),
				),
			}),
			status: z.object({ phase: z.string().default("") }).prefault({}),
		}),
	),
});

/** null: the account may not. */
async function nodesOf(kubectl: Kubectl): Promise<NodeRoom[] | null> {
	try {
		const { items } = Nodes.parse(await kubectl.json(["get", "nodes"]));
		const { items: pods } = AllPods.parse(await kubectl.json(["get", "pods", "--all-namespaces"]));
		const running = pods.filter(
			({ status: { phase } }) => phase !== "Succeeded" && phase !== "Failed",
		);
		return items.map(({ metadata, spec, status }) => {
			const used = (what: string) =>
				running
					.filter((pod) => pod.spec.nodeName === metadata.name)
					.flatMap((pod) => pod.spec.containers)
					.reduce((sum, { resources }) => sum + (quantityOf(resources.requests?.[what]) ?? 0), 0);
			return {
				name: metadata.name,
				labels: metadata.labels,
				cpus: quantityOf(status.allocatable.cpu) ?? 0,
				memory: quantityOf(status.allocatable.memory) ?? 0,
				usedCpus: used("cpu"),
				usedMemory: used("memory"),
				taints: spec.taints,
				cordoned: spec.unschedulable,
			};
		});
	} catch (error) {
		if (error instanceof KubectlError && /forbidden/i.test(error.message)) return null;
		throw error;
	}
}
