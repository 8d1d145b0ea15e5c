import { stringify } from "yaml";
import type { Plan } from "../model/plan.ts";
import { targets } from "../model/targets.ts";
import { tell } from "../text/tell.ts";
import { compile } from "./compile.ts";

/** Why a run cannot be the operator's; null: it can. */
export function operatorRefuses(
	{ client: { count }, target }: Pick<Plan, "client" | "target">,
	path: string,
): string | null {
	if (count > 1) return tell("operator-one-client", { clients: count, path });
	return targets[target].place === null ? null : tell("operator-starts-nothing");
}

/**
 * A run as k6's operator takes it: a ConfigMap with the script, the plan in it, and a TestRun of one runner. For those who must use the operator: its
 * runners share no T0 and nobody puts their histograms together, so there is one, and what is lost stands in front.
 */
export function testRunOf(plan: Plan, image: string): string {
	const { script } = compile(plan, { inline: true });
	const name = `mqbench-${plan.system}-${plan.case}`
		.toLowerCase()
		.replaceAll(/[^a-z0-9]+/g, "-")
		.slice(0, 50)
		.replace(/-$/, "");
	const map = {
		apiVersion: "v1",
		kind: "ConfigMap",
		metadata: { name },
		data: { "script.js": script },
	};
	const run = {
		apiVersion: "k6.io/v1alpha1",
		kind: "TestRun",
		metadata: { name },
		spec: {
			parallelism: 1,
			cleanup: "post",
			script: { configMap: { name, file: "script.js" } },
			runner: {
				image,
				env: [
					{ name: "MQBENCH_URL", valueFrom: { secretKeyRef: { name: `${name}-url`, key: "url" } } },
				],
			},
		},
	};
	const comment = tell("operator-loses", { name })
		.split("\n")
		.map((line) => `# ${line}\n`)
		.join("");
	return `${comment}${stringify(map)}---\n${stringify(run)}`;
}
