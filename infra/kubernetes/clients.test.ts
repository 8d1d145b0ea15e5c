import { existsSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { KubernetesFile } from "../../runner/scenario/kubernetes-schema.ts";
import { realBinaries } from "../programs/real.fake.ts";
import type { Binaries } from "../programs/resolve.ts";
import { script, testFolder } from "../test-folder.fake.ts";
import { podClients } from "./clients.ts";
import { fakeKubectl } from "./kubectl.fake.ts";

const real = await realBinaries();
const settings = {
	...KubernetesFile.parse({ resources: { cpus: 0.5, memory: "256MiB" } }),
	namespace: "bench",
};

/** A cluster of one node that makes two pods when it is asked for a Job, as Kubernetes 1.34 reports them. */
const pod = (index: number, node: string) =>
	`{"metadata":{"name":"p${index}","labels":{"batch.kubernetes.io/job-completion-index":"${index}"}},"spec":{"nodeName":"${node}"},"status":{"phase":"Running","podIP":"10.1.0.${index}","containerStatuses":[{"ready":true,"state":{"running":{}}}]}}`;
const CLUSTER = `
"create --filename -") cat >"$(dirname "$0")/job.json";;
"get pods --selector batch.kubernetes.io/job-name="*) echo '{"items":[${pod(1, "node-b")},${pod(0, "node-a")}]}';;
"get pod p0 --output json") echo '${pod(0, "node-a")}';;
"delete job mqbench-"*"--cascade=foreground --wait"*) touch "$(dirname "$0")/deleted";;`;

test("pods of one Job make load: programs, a run and its results over exec, and nothing is left", async () => {
	const world = fakeKubectl(CLUSTER, ["p0", "p1"]);
	const bin = path.dirname(path.dirname(world.folderOf("p0")));
	const k6 = script(
		path.join(testFolder(), "k6"),
		'echo "args $*"; echo "secret $SECRET" >secret.txt; read -r line; echo "heard $line"; cat plan.json >copy.json; exit 3',
	);
	const binaries = { ...real, k6, on: async () => ({ ...real, k6 }) } as Binaries;
	const clients = podClients(2, settings, world, binaries);
	onTestFinished(async () => {
		for (const client of clients) await client.close();
	});
	expect(existsSync(path.join(bin, "job.json"))).toBe(false);
	const facts = await Promise.all(clients.map((client) => client.prepare()));
	// In the order of their index, whatever the API's.
	expect(clients.map(({ name }) => name)).toEqual(["pod 1 on node-a", "pod 2 on node-b"]);
	// Not the machine's, but what the pod may have of them.
	expect(facts[0]?.cores).toBe(0.5);
	expect(facts[0]?.identity).toBe(facts[1]?.identity);
	const job = JSON.parse(readFileSync(path.join(bin, "job.json"), "utf8"));
	expect(job.spec).toMatchObject({ completions: 2, parallelism: 2 });

	const local = testFolder();
	writeFileSync(path.join(local, "plan.json"), "the plan");
	const [first] = clients;
	if (!first) throw new Error("no client");
	expect(first).toMatchObject({ kind: "pod", sameClock: false });
	const clock = await first.clock();
	expect(Math.abs(clock.offsetNs)).toBeLessThanOrEqual(clock.boundNs + 1e6);
	const workspace = await first.workspace(local);
	await workspace.put("plan.json");
	const out: string[] = [];
	const child = workspace.start({
		args: ["run", "a b"],
		env: { SECRET: "s3cr3t" },
		cpus: null,
		graceMs: 1_000,
		onStdout: (line) => out.push(line),
		onStderr() {},
	});
	child.say("go");
	expect(await child.ended).toEqual({ code: 3, signal: null });
	expect(out).toEqual(["args run a b", "heard go"]);
	for (const name of ["copy.json", "secret.txt"]) expect(await workspace.fetch(name)).toBe(true);
	expect(await workspace.fetch("none.txt")).toBe(false);
	expect(readFileSync(path.join(local, "copy.json"), "utf8")).toBe("the plan");
	expect(readFileSync(path.join(local, "secret.txt"), "utf8")).toBe("secret s3cr3t\n");
	await workspace.remove();
	await first.close();
	// The others may still be at work.
	expect(existsSync(path.join(bin, "deleted"))).toBe(false);
	await clients[1]?.close();
	expect(existsSync(path.join(bin, "deleted"))).toBe(true);
});
