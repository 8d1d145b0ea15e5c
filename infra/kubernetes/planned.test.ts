import { expect, test } from "vitest";
import { expand } from "../../runner/plan/expand.ts";
import { loadScenario } from "../../runner/scenario/load.ts";
import type { Kubernetes } from "../../runner/scenario/scenario.ts";
import { fakeWorld } from "../../runner/world.fake.ts";
import { fakeKubectl } from "./kubectl.fake.ts";
import { writeClusterPlan } from "./planned.ts";

const scenario = loadScenario(
	"scenario.yaml",
	`target: kubernetes
kubernetes: { namespace: bench, resources: { cpus: 1, memory: 1GiB }, nodeSelector: { pool: bench } }
clients: 2
systems:
  nats: { broker: nats, nodes: 3, cpus: 2, memory: 1GiB }
  floor: noop
workload: { rate: 10/s, message: 1KiB, duration: 1s, connections: 2 }
`,
);
const asked = { ...scenario, kubernetes: scenario.kubernetes as Kubernetes };
const plans = expand(scenario, { runId: "test" });

const answers = (may = "echo yes") => `
"config view --minify --output json") echo '{"current-context":"kind","contexts":[]}';;
"get --raw /version") echo '{"major":"1","minor":"34","gitVersion":"v1.34.1"}';;
"auth can-i create pods/exec") ${may};;
"auth can-i "*) echo yes;;`;

async function planned(script: string) {
	const world = fakeWorld({ env: fakeKubectl(script).env });
	const code = await writeClusterPlan(asked, plans, world);
	return { code, out: world.out().replace(/\s+/g, " ").trim() };
}

test("a plan lists the pods that run at the same time", async () => {
	const { code, out } = await planned(answers());
	expect(out).toBe(
		"cluster: Kubernetes v1.34.1, context kind, namespace bench at the same time run the pods of one system and those of the load: nats: 3 pods of nats:2.15.2-alpine, 2 CPUs, 1GiB each load: 2 pods of busybox:1.37.0, 1 CPU, 1GiB each rights: all that are needed are there",
	);
	expect(code).toBe(0);
});

test("a missing right is said, and gives the exit code of a run", async () => {
	const refused = await planned(answers("echo no; exit 1"));
	expect(refused.out).toContain(
		"not possible: the account may not create pods/exec; kubectl --namespace bench apply --filename infra/kubernetes/rbac.yaml makes one that may",
	);
	expect(refused.out).not.toContain("all that are needed");
	expect(refused.code).toBe(3);
});

test("who has no cluster plans all the same", async () => {
	const { code, out } = await planned(
		"*) echo 'The connection to the server x was refused' >&2; exit 1;;",
	);
	expect(out).toContain("nats: 3 pods of nats:2.15.2-alpine");
	expect(out).toContain("The cluster was not asked: the cluster cannot be reached");
	expect(code).toBe(0);
});
