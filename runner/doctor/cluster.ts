import { findKubectl } from "../../infra/kubernetes/kubectl.ts";
import { lookAt, OLDEST, whyUnseen } from "../../infra/kubernetes/look.ts";
import { RBAC } from "../../infra/kubernetes/planned.ts";
import { MqbenchError } from "../errors.ts";
import { tell } from "../text/tell.ts";
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
					? bad(version, tell("cluster-too-old", { version, oldest: OLDEST }), "Use a newer one.")
					: ok(version, tell("cluster-found", where))),
			},
			{
				check: "rights",
				...(missing.length === 0
					? ok("all", "The account may do all that mqbench needs.")
					: bad(
							`${missing.length} missing`,
							`The account may not ${missing.join(", ")}.`,
							tell("make-account", { file: RBAC, ...where }),
						)),
			},
		];
	} catch (error) {
		const why = error instanceof MqbenchError ? error.message : whyUnseen(error);
		return [
			{
				check: "cluster",
				...bad("none", tell("cluster-unasked", { why }), "Make `kubectl get pods` work first."),
			},
		];
	}
}
