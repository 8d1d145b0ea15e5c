import { findKubectl } from "../../infra/kubernetes/kubectl.ts";
import { lookAt, OLDEST, whyUnseen } from "../../infra/kubernetes/look.ts";
import { RBAC } from "../../infra/kubernetes/planned.ts";
import { MqbenchError } from "../errors.ts";
import { commandLine } from "../shell.ts";
import type { World } from "../world.ts";
import type { Finding } from "./finding.ts";

/** What `mqbench doctor --target kubernetes` asks a cluster: is it there, is it new enough, and what may the account do? */
export async function clusterFindings(
	where: {
		readonly context?: string | undefined;
		readonly namespace?: string | undefined;
	},
	world: Pick<World, "env">,
): Promise<Finding[]> {
	const finding = (
		check: string,
		figure: string,
		sentence: string,
		remedy: string | null = null,
	): Finding => ({ check, verdict: remedy === null ? "ok" : "bad", figure, sentence, remedy });
	try {
		const { context = null, namespace: asked = null } = where;
		const looked = await lookAt(findKubectl(world, { context, namespace: asked }));
		const { version, tooOld, missing, namespace } = looked;
		return [
			tooOld
				? finding(
						"cluster",
						version,
						`not possible: Kubernetes ${version} is too old, and 1.${OLDEST} is needed`,
						"Use a newer one.",
					)
				: finding(
						"cluster",
						version,
						`Pods run in namespace ${namespace} of context ${looked.context}.`,
					),
			missing.length === 0
				? finding("rights", "all", "The account may do all that mqbench needs.")
				: finding(
						"rights",
						`${missing.length} missing`,
						`The account may not ${missing.join(", ")}.`,
						`kubectl --namespace ${commandLine([namespace])} apply --filename ${commandLine([RBAC])} makes an account that may.`,
					),
		];
	} catch (error) {
		const why = error instanceof MqbenchError ? error.message : whyUnseen(error);
		return [
			finding(
				"cluster",
				"none",
				`The cluster was not asked: ${why}`,
				"Make `kubectl get pods` work first.",
			),
		];
	}
}
