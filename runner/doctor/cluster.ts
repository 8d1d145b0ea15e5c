import { findKubectl } from "../../infra/kubernetes/kubectl.ts";
import { lookAt, OLDEST, whyUnseen } from "../../infra/kubernetes/look.ts";
import { RBAC } from "../../infra/kubernetes/planned.ts";
import { MqbenchError } from "../errors.ts";
import { commandLine } from "../shell.ts";
import type { World } from "../world.ts";
import { bad, type Finding, ok } from "./finding.ts";

/** What `mqbench doctor --target kubernetes` asks a cluster: is it there, is it new enough, and what may the account do? */
export async function clusterFindings(
	{
		context = null,
		namespace = null,
	}: {
		readonly context?: string | null | undefined;
		readonly namespace?: string | null | undefined;
	},
	world: Pick<World, "env">,
): Promise<Finding[]> {
	try {
		const looked = await lookAt(findKubectl(world, { context, namespace }));
		const { version, tooOld, missing } = looked;
		const where = { context: looked.context, namespace: looked.namespace };
		return [
			{
				check: "cluster",
				...(tooOld
					? bad(
							version,
							`not possible: Kubernetes ${version} is too old, and 1.${OLDEST} is needed`,
							"Use a newer one.",
						)
					: ok(version, `Pods run in namespace ${where.namespace} of context ${where.context}.`)),
			},
			{
				check: "rights",
				...(missing.length === 0
					? ok("all", "The account may do all that mqbench needs.")
					: bad(
							`${missing.length} missing`,
							`The account may not ${missing.join(", ")}.`,
							`kubectl --namespace ${commandLine([where.namespace])} apply --filename ${commandLine([RBAC])} makes an account that may.`,
						)),
			},
		];
	} catch (error) {
		const why = error instanceof MqbenchError ? error.message : whyUnseen(error);
		return [
			{
				check: "cluster",
				...bad("none", `The cluster was not asked: ${why}`, "Make `kubectl get pods` work first."),
			},
		];
	}
}
