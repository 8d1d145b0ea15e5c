import { targets } from "../model/targets.ts";
import type { Context } from "./context.ts";
import { KubernetesFile } from "./kubernetes-schema.ts";
import type { Parts } from "./parts.ts";
import type { Clients, Kubernetes } from "./scenario.ts";

/** Where pods run; null: there are none. */
export function resolveKubernetes(
	{ kubernetes, written }: Pick<Parts, "kubernetes" | "written">,
	{ target }: Pick<Context, "target">,
	clients: Clients,
): Kubernetes | null {
	const brokers = target !== undefined && targets[target].place === "pod";
	if (!brokers && clients.kind !== "pods") return null;
	// One with a mistake says so itself.
	if (kubernetes === undefined && written.kubernetes !== undefined) return null;
	const { context, namespace, imagePullSecret, storageClass, ttl, ...rest } =
		kubernetes ?? KubernetesFile.parse({});
	return {
		...rest,
		context: context ?? null,
		namespace: namespace ?? null,
		imagePullSecret: imagePullSecret ?? null,
		storageClass: storageClass ?? null,
		ttlNs: ttl,
	};
}
