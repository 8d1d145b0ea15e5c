import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { fakeWorld } from "../../runner/world.fake.ts";
import { fakeKubectl } from "./kubectl.fake.ts";
import { listPods, podsThere, removePods } from "./left.ts";

const job = (run: string, name: string, expires: string, active: number) =>
	`{"metadata":{"name":"${name}","namespace":"bench","creationTimestamp":"2026-11-26T1${active}:00:00Z","labels":{"mqbench.io/run":"${run}"},"annotations":{"mqbench.io/expires":"${expires}"}},"status":{"active":${active}}}`;
const JOBS = [
	job("new", "mqbench-new-broker-1", "2026-11-26T18:00:00.000Z", 3),
	job("old", "mqbench-old-load-1", "2026-11-26T12:00:00.000Z", 1),
	job("new", "mqbench-new-load-2", "2026-11-26T18:00:00.000Z", 2),
].join(",");

function cluster(jobs = JOBS) {
	const fake = fakeKubectl(
		`"get jobs --selector app.kubernetes.io/managed-by=mqbench --all-namespaces --output json") echo '{"items":[${jobs}]}';;
"delete job "*) echo "$*" >>"$(dirname "$0")/deleted";;`,
	);
	const world = fakeWorld({
		env: fake.env,
		clock: { nowMs: () => Date.parse("2026-11-26T15:00:00Z"), monotonicMs: () => 0 },
	});
	const file = path.join(path.dirname(fake.folderOf("x")), "..", "deleted");
	return { world, deleted: () => (existsSync(file) ? readFileSync(file, "utf8") : "") };
}

test("what is in a cluster is one line for each command that has made it, the oldest first", async () => {
	const { world } = cluster();
	expect(await podsThere({}, world)).toMatchObject([
		{ id: "old", pods: 1, jobs: ["mqbench-old-load-1"] },
		{ id: "new", pods: 5, expiresAt: "2026-11-26T18:00:00.000Z" },
	]);
	await listPods({}, false, world);
	expect(world.out()).toBe(
		"old  1 pod in namespace bench, since 2026-11-26T11:00:00Z, until 2026-11-26T12:00:00.000Z, over: mqbench rigs sweep --target kubernetes removes them\nnew  5 pods in namespace bench, since 2026-11-26T12:00:00Z, until 2026-11-26T18:00:00.000Z\n",
	);
});

test("a sweep removes what is over, by its label and nothing else", async () => {
	const { world, deleted } = cluster();
	await removePods(null, {}, world);
	expect(deleted()).toBe(
		"delete job --namespace bench --selector app.kubernetes.io/managed-by=mqbench,mqbench.io/run=old --cascade=foreground --wait --timeout=60s\n",
	);
	expect(world.out()).toBe("old: removed from namespace bench.\n");
});

test("one is removed by its id, and one that is not there is a sentence", async () => {
	const { world, deleted } = cluster();
	await removePods("new", {}, world);
	expect(deleted()).toContain("mqbench.io/run=new ");
	await expect(removePods("nosuch", {}, world)).rejects.toThrow(
		"There are no pods of nosuch in the cluster",
	);
});

test("an empty cluster is said", async () => {
	const { world, deleted } = cluster("");
	await listPods({}, false, world);
	await removePods(null, {}, world);
	expect(world.out()).toBe(
		"There are no pods of mqbench in the cluster.\nNo pods of mqbench are over.\n",
	);
	expect(deleted()).toBe("");
});
