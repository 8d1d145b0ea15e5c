import { failure } from "../../runner/errors.ts";
import type { Kubernetes } from "../../runner/scenario/scenario.ts";
import type { World } from "../../runner/world.ts";
import { findOnPath, runToEnd, type ToEnd } from "../local/program.ts";
import { defined } from "../process.ts";

/** The user's own kubectl, with its configuration, contexts and logins, as ssh is for hosts: mqbench reaches the same clusters. */
export interface Kubectl {
	readonly program: string;
	/** Before all other arguments: context and namespace. */
	readonly where: readonly string[];
	readonly env: Readonly<Record<string, string>>;
	/** Runs it to its end, and returns its output. Fails with a KubectlError. */
	run(args: readonly string[], more?: Omit<ToEnd, "env">): Promise<string>;
	/** The same, its output parsed as JSON. */
	json(args: readonly string[], more?: Omit<ToEnd, "env">): Promise<unknown>;
}

/** The message is kubectl's own words. */
export class KubectlError extends Error {}

/** Fails if there is no kubectl. Does not contact a cluster. */
export function findKubectl(
	world: Pick<World, "env">,
	{ context, namespace }: Pick<Kubernetes, "context" | "namespace">,
): Kubectl {
	const program = findOnPath("kubectl", world.env);
	if (program === null)
		throw failure("kubernetes-failed", {
			doing: "use target kubernetes",
			reason: "there is no kubectl on PATH; install it (https://kubernetes.io/docs/tasks/tools/)",
		});
	const where = [
		...(context === null ? [] : ["--context", context]),
		...(namespace === null ? [] : ["--namespace", namespace]),
	];
	const env = defined(world.env);
	const run: Kubectl["run"] = async (args, more) => {
		const how = { env, limitMs: LIMIT_MS, ...more };
		const { code, out, err } = await runToEnd(program, [...where, ...args], how);
		if (code !== 0) throw new KubectlError(err.trim() || out.trim());
		return out;
	};
	return {
		program,
		where,
		env,
		run,
		json: async (args, more) => JSON.parse(await run([...args, "--output", "json"], more)),
	};
}

/** Turns an error of kubectl into a message for people. */
export function explainKubectl(error: unknown, doing: string): unknown {
	return error instanceof KubectlError
		? failure("kubernetes-failed", { doing, reason: reasonIn(error.message) })
		: error;
}

/** Why kubectl failed: its last line, and a remedy. */
export function reasonIn(words: string): string {
	const line = words.trim().split("\n").at(-1)?.trim() ?? "";
	const own = line.replace(/^error: |^Error from server(?: \(\w+\))?: /i, "");
	const hint = HINTS.find(([says]) => says.test(words))?.[1];
	return `${own || "kubectl says nothing"}${hint ? `; ${hint}` : ""}`;
}

// --- internal ---

/** A cluster that answers at all answers within this time. */
const LIMIT_MS = 60_000;

const HINTS: readonly (readonly [RegExp, string])[] = [
	[/cannot \S+ resource/, "infra/kubernetes/rbac.yaml has the rights that are needed"],
	[/namespaces "[^"]+" not found/, "create it, or write another one under kubernetes"],
	[
		/context "?[^"\s]+"? does not exist|no context exists|current-context|invalid configuration|localhost:8080/,
		"kubectl config get-contexts lists the contexts that it knows",
	],
	[/unauthorized|must be logged in/i, "kubectl get pods has to work first"],
];
