import path from "node:path";
import { targets } from "../model/targets.ts";
import type { Context } from "./context.ts";
import { KubernetesFile } from "./kubernetes-schema.ts";
import type { Parts } from "./parts.ts";
import { type Problem, refuse } from "./problem.ts";
import type { Clients, Kubernetes } from "./scenario.ts";

/** Where pods run; null: there are none. */
export function resolveKubernetes(
	{ kubernetes, written }: Pick<Parts, "kubernetes" | "written">,
	{ target, folder }: Pick<Context, "target" | "folder">,
	clients: Clients,
): { kubernetes: Kubernetes | null; problems: Problem[] } {
	const brokers = target !== undefined && targets[target].place === "pod";
	const nothing = { kubernetes: null, problems: [] };
	if (!brokers && clients.kind !== "pods") return nothing;
	// One with a mistake says so itself.
	if (kubernetes === undefined && written.kubernetes !== undefined) return nothing;
	const { context, namespace, imagePullSecret, storageClass, ttl, ...rest } =
		kubernetes ?? KubernetesFile.parse({});
	const at = ["kubernetes", "manifests"];
	const problems =
		rest.manifests.length > 0 && brokers ? [refuse(at, "manifests-beside-ours")] : [];
	const resolved = {
		...rest,
		manifests: rest.manifests.map((file) => path.resolve(folder, file)),
		context: context ?? null,
		namespace: namespace ?? null,
		imagePullSecret: imagePullSecret ?? null,
		storageClass: storageClass ?? null,
		ttlNs: ttl,
	};
	return { kubernetes: resolved, problems };
}
