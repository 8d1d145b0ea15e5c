import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Result, Run } from "../../model/result.ts";
import { packageFolder } from "../../package.ts";
import { clusterMissing, startCluster, type TestCluster } from "../../tools/cluster/cluster.ts";
import {
	type Ended,
	type Mqbench,
	resultOf,
	scenario,
	start,
	temporaryFolder,
	until,
} from "../e2e/mqbench.ts";

const missing = clusterMissing();

/** Response time, ns. */
function p50Of(run: Run | undefined): number {
	const { percentiles = [] } = run?.metrics.response ?? {};
	return percentiles.find(({ p }) => p === 50)?.value ?? Number.NaN;
}

/** Asks little: one node of two cores has room for all of it. */
const KUBERNETES = "{ namespace: bench, resources: { cpus: 0.4, memory: 256MiB } }";

describe.skipIf(missing !== null)(
	`target kubernetes${missing === null ? "" : ` (skipped: ${missing})`}`,
	() => {
		let cluster: TestCluster;
		beforeAll(async () => {
			cluster = await startCluster();
			cluster.kubectl(["create", "namespace", "bench"]);
		}, 7_200_000); // all of Kubernetes may have to be compiled: 38 minutes where others have half of the machine
		afterAll(() => cluster?.stop(), 300_000);

		function begin(args: readonly string[], kubeconfig?: string): Mqbench {
			return start(args, {
				under: cluster.under,
				env: { ...cluster.env, ...(kubeconfig === undefined ? {} : { KUBECONFIG: kubeconfig }) },
			});
		}

		/** Runs a scenario in the cluster to its end. */
		async function measured(
			workload: Readonly<Record<string, string>>,
			top: Readonly<Record<string, string>>,
			codes: readonly number[] = [0],
		): Promise<{ ended: Ended; result: Result }> {
			const folder = temporaryFolder();
			const file = scenario(folder, workload, {
				target: "kubernetes",
				kubernetes: KUBERNETES,
				...top,
			});
			const out = path.join(folder, "results");
			const ended = await begin([file, "--out", out]).ended;
			expect(codes, ended.err + ended.out).toContain(ended.code);
			return { ended, result: resultOf(out) };
		}

		/** Names of what is left of mqbench, by the API server's own word. */
		function left(): string[] {
			return cluster
				.kubectl([
					"get",
					"all,configmaps,secrets,pvc",
					"--all-namespaces",
					"--selector",
					"app.kubernetes.io/managed-by=mqbench",
					"--output",
					"name",
				])
				.split("\n")
				.filter((name) => name !== "");
		}

		test.each([
			["nats", "nats", "nats-server", false],
			[
				"JetStream on a disk",
				"{ broker: nats, mode: jetstream, durability: os }",
				"nats-server",
				true,
			],
			["redis", "{ broker: redis, mode: streams, durability: fsync }", "redis", true],
			["rabbitmq", "{ broker: rabbitmq, durability: fsync }", "RabbitMQ", true],
			["kafka", "{ broker: kafka, heap: 256MiB, memory: 768MiB }", "Kafka", true],
		])(
			"%s runs in a pod, its load in two others, and nothing is left of them",
			async (_, system, version, disk) => {
				const { result } = await measured(
					{ rate: "300/s", duration: "3s", connections: "2" },
					{ clients: "2", system },
				);
				const [run] = result.runs;
				expect(run).toMatchObject({
					intended: 900,
					sent: 900,
					received: 900,
					lost: 0,
					topology: expect.stringMatching(/^1 pod on 1 node of the cluster \(mq\)/),
				});
				expect(JSON.stringify(run)).toMatch(new RegExp(version, "i"));
				expect(run?.clients.map(({ kind }) => kind)).toEqual(["pod", "pod"]);
				// Each pod tells of its own CPU quota.
				expect(run?.validity.find(({ check }) => check === "cpuQuota")?.status).toMatch(
					/^(ok|warn)$/,
				);
				// What waits for a disk says how long that takes.
				expect(run?.brokerSettings["volume fdatasync"] ?? "").toMatch(disk ? /\d/ : /^$/);
				expect(left()).toEqual([]);
			},
		);

		test("a leader of three is killed and comes back, with the same address and data", async () => {
			const { result } = await measured(
				{ rate: "200/s", duration: "8s", connections: "2" },
				{
					clients: "2",
					system: "{ broker: nats, mode: jetstream, nodes: 3, replicas: 3, durability: os }",
					faults: "[{ at: 2s, action: kill, for: 1s, node: leader }]",
				},
				// One outage does not tell how typical it is.
				[0, 6],
			);
			const [run] = result.runs;
			expect(run).toMatchObject({
				lost: 0,
				topology: "3 pods on 1 node of the cluster (mq)",
				notes: [expect.stringContaining("3 pods of nats share the node mq")],
			});
			expect(run?.failover).toMatchObject([{ action: "kill", error: null }]);
			expect(left()).toEqual([]);
		});

		test("the load comes from pods, the brokers are a Service and a broker outside", async () => {
			const pod = {
				apiVersion: "v1",
				kind: "Pod",
				metadata: { name: "own-nats", labels: { app: "own-nats" } },
				spec: {
					terminationGracePeriodSeconds: 1,
					containers: [{ name: "nats", image: "nats:2.15.2-alpine", args: ["-p", "4222"] }],
				},
			};
			const service = {
				apiVersion: "v1",
				kind: "Service",
				metadata: { name: "own-nats" },
				spec: { selector: { app: "own-nats" }, ports: [{ port: 4222 }] },
			};
			for (const one of [pod, service])
				cluster.kubectl(["--namespace", "bench", "create", "--filename", "-"], JSON.stringify(one));
			cluster.kubectl([
				"--namespace",
				"bench",
				"wait",
				"--for=condition=Ready",
				"pod/own-nats",
				"--timeout=60s",
			]);
			const ip = cluster.kubectl([
				"--namespace",
				"bench",
				"get",
				"service",
				"own-nats",
				"--output",
				"jsonpath={.spec.clusterIP}",
			]);
			const { result } = await measured(
				{ rate: "300/s", duration: "3s", connections: "2" },
				{
					target: "existing",
					clients: "{ kubernetes: 2 }",
					system: `{ broker: nats, url: "nats://${ip}:4222" }`,
				},
			);
			expect(result.runs[0]).toMatchObject({ sent: 900, received: 900, lost: 0 });
			expect(left()).toEqual([]);
			// Not ours: nobody has touched it.
			expect(
				cluster.kubectl([
					"--namespace",
					"bench",
					"get",
					"pod",
					"own-nats",
					"--output",
					"jsonpath={.status.phase}",
				]),
			).toBe("Running");
			cluster.kubectl([
				"--namespace",
				"bench",
				"delete",
				"pod/own-nats",
				"service/own-nats",
				"--wait",
			]);
		});

		test("the manifests for a Job from inside are what an API server takes", () => {
			const file = path.join(packageFolder, "infra/kubernetes/from-inside.yaml");
			const said = cluster.kubectl([
				"--namespace",
				"bench",
				"apply",
				"--dry-run=server",
				"--filename",
				file,
			]);
			expect(said).toContain("cronjob.batch/mqbench-nightly created");
		});

		test("plan says what is needed, and its manifests are what an API server takes", async () => {
			const folder = temporaryFolder();
			const file = scenario(
				folder,
				{},
				{
					target: "kubernetes",
					kubernetes: KUBERNETES,
					system: "{ broker: nats, nodes: 3, cpus: 0.1, memory: 64MiB }",
				},
			);
			const planned = await begin(["plan", file]).ended;
			expect(planned, planned.err).toMatchObject({ code: 0 });
			const text = planned.out.replace(/\s+/g, " ");
			expect(text).toContain("Kubernetes v1.34.1, context mq, namespace bench");
			expect(text).toContain("nats: 3 pods of nats:2.15.2-alpine, 0.1 CPUs, 64MiB each");
			expect(text).toContain("rights: all that are needed are there");
		});

		test("rigs knows the cluster", async () => {
			const none = await begin(["rigs", "list", "--target", "kubernetes"]).ended;
			expect(none.out).toContain("There are no pods of mqbench");
			const folder = temporaryFolder();
			const file = scenario(
				folder,
				{ duration: "60s" },
				{ target: "kubernetes", kubernetes: KUBERNETES },
			);
			const running = begin([file]);
			await running.says(/ p99 /, 120_000);
			const list = await begin(["rigs", "list", "--target", "kubernetes", "--json"]).ended;
			// One id for a command: a pod of the broker, one of the load.
			expect(JSON.parse(list.out)).toMatchObject([{ namespace: "bench", pods: 2 }]);
			const [{ id }] = JSON.parse(list.out) as [{ id: string }];
			// What is not over is not swept.
			const swept = await begin(["rigs", "sweep", "--target", "kubernetes"]).ended;
			expect(swept.out).toContain("No pods of mqbench are over.");
			const gone = await begin(["rigs", "destroy", id, "--target", "kubernetes"]).ended;
			expect(gone, gone.err).toMatchObject({ code: 0 });
			expect(left()).toEqual([]);
			expect((await running.ended).code).toBe(3);
		});

		test.each([
			[
				"an image that is not there",
				"resources: { cpus: 0.2, memory: 128MiB }, image: nosuch:1",
				/does not run: its image cannot be pulled/,
			],
			[
				"a node that is not there",
				"resources: { cpus: 64, memory: 128MiB }",
				/does not run: no node has room for it \(0\/1 nodes are available: 1 Insufficient cpu/,
			],
			["a context that is not there", "context: nosuch", /kubectl knows no such context/],
			[
				"a namespace that is not there",
				"namespace: nosuch",
				/there is no namespace nosuch; create it/,
			],
		])("%s is one sentence", async (_, kubernetes, sentence) => {
			const folder = temporaryFolder();
			const file = scenario(
				folder,
				{},
				{
					target: "kubernetes",
					kubernetes: `{ ${/namespace/.test(kubernetes) ? "" : "namespace: bench, "}${kubernetes} }`,
				},
			);
			const { code, err } = await begin([file]).ended;
			expect(code).toBe(3);
			expect(err).toMatch(sentence);
			expect(err).not.toMatch(/^\s+at /m);
			expect(left()).toEqual([]);
		});

		test("the shipped role is enough, and a smaller one is a sentence", async () => {
			const rbac = path.join(packageFolder, "infra/kubernetes/rbac.yaml");
			cluster.kubectl(["--namespace", "bench", "apply", "--filename", rbac]);
			const kubeconfig = cluster.kubeconfigOf("bench", "mqbench");
			const folder = temporaryFolder();
			const file = scenario(folder, {}, { target: "kubernetes", kubernetes: KUBERNETES });
			const enough = await begin([file], kubeconfig).ended;
			expect(enough, enough.err).toMatchObject({ code: 0 });
			cluster.kubectl([
				"--namespace",
				"bench",
				"patch",
				"role",
				"mqbench",
				"--type=json",
				"--patch",
				'[{"op":"remove","path":"/rules/3"}]',
			]);
			const small = await begin([file], kubeconfig).ended;
			expect(small.code).toBe(3);
			expect(small.err).toMatch(/the account may not \S+ pods/);
			expect(left()).toEqual([]);
		});

		/** Waits until the load goes, does something to a pod of that role, and returns how mqbench ended. */
		async function during(
			role: "load" | "broker",
			harm: (pod: string) => void,
			top: Readonly<Record<string, string>> = {},
		): Promise<Ended & { readonly ms: number }> {
			const folder = temporaryFolder();
			const file = scenario(
				folder,
				{ duration: "60s" },
				{ target: "kubernetes", kubernetes: KUBERNETES, ...top },
			);
			const mqbench = begin([file]);
			await mqbench.says(/ p99 /, 120_000);
			const began = Date.now();
			harm(podOf(role));
			return { ...(await mqbench.ended), ms: Date.now() - began };
		}

		function podOf(role: "load" | "broker"): string {
			return cluster
				.kubectl([
					"--namespace",
					"bench",
					"get",
					"pods",
					"--output",
					"jsonpath={.items[0].metadata.name}",
					"--selector",
					`mqbench.io/role=${role}`,
				])
				.trim();
		}

		test.each([
			["load", "deleted", /client 0 \(pod 1 on mq\): .*it was deleted/s],
			["broker", "deleted", /it was\s+deleted/],
		] as const)(
			"a pod of the %s that is %s ends the run with a sentence",
			async (role, _, sentence) => {
				const { code, err, out, ms } = await during(role, (pod) =>
					cluster.kubectl(["--namespace", "bench", "delete", "pod", pod, "--wait=false"]),
				);
				expect(code, err + out).toBe(3);
				expect((err + out).replace(/\s+/g, " ")).toMatch(sentence);
				// At the latest when the run would have ended.
				expect(ms).toBeLessThan(120_000);
				expect(left()).toEqual([]);
			},
		);

		test("a broker beyond its memory says how much it had", async () => {
			const folder = temporaryFolder();
			const file = scenario(
				folder,
				{ pattern: "publish", rate: "100/s", message: "64KiB", duration: "40s" },
				{
					target: "kubernetes",
					kubernetes: KUBERNETES,
					system: "{ broker: nats, mode: jetstream, durability: memory, memory: 96MiB }",
					sla: "[failed == 0]",
				},
			);
			const { code, err, out } = await begin([file]).ended;
			expect(code, err + out).toBe(3);
			expect((err + out).replace(/\s+/g, " ")).toMatch(
				/more than its 96\s?MiB of memory \(OOMKilled\)/,
			);
			expect(left()).toEqual([]);
		});

		test("an API server that is gone for 20 s ends the run with a sentence, and what is there is removed when it is back", async () => {
			let gone: { start(): void } | null = null;
			const { code, err, out } = await during("load", () => {
				gone = cluster.killApiServer();
				setTimeout(() => gone?.start(), 20_000);
			});
			expect(code, err + out).toBe(3);
			expect((err + out).replace(/\s+/g, " ")).toMatch(
				/connection to it was lost|the cluster cannot be reached/,
			);
			expect(left()).toEqual([]);
		});

		test("a namespace that is deleted under the run ends it with a sentence", async () => {
			cluster.kubectl(["create", "namespace", "brief"]);
			const folder = temporaryFolder();
			const file = scenario(
				folder,
				{ duration: "60s" },
				{ target: "kubernetes", kubernetes: KUBERNETES.replace("bench", "brief") },
			);
			const mqbench = begin([file]);
			await mqbench.says(/ p99 /, 120_000);
			cluster.kubectl(["delete", "namespace", "brief", "--wait=false"]);
			const { code, err, out } = await mqbench.ended;
			expect(code, err + out).toBe(3);
			expect((err + out).replace(/\s+/g, " ")).toMatch(/it was deleted/);
			expect(left()).toEqual([]);
		});

		test("after kill -9 of mqbench the pods end by themselves, and their Jobs go", async () => {
			const folder = temporaryFolder();
			const file = scenario(
				folder,
				{ duration: "60s" },
				{ target: "kubernetes", kubernetes: KUBERNETES },
			);
			const mqbench = begin([file]);
			await mqbench.says(/ p99 /, 120_000);
			expect(left()).not.toEqual([]);
			mqbench.signal("SIGKILL");
			await mqbench.ended;
			await until(() => left().length === 0, "nothing is left", 300_000);
		});

		test("two at once leave each other alone", async () => {
			const each = [1, 2].map(async () => measured({ rate: "200/s", duration: "3s" }, {}));
			for (const { result } of await Promise.all(each))
				expect(result.runs[0]).toMatchObject({ sent: 600, received: 600 });
			expect(left()).toEqual([]);
		});

		test("local processes and pods give the same counts and overlapping distributions", async () => {
			const p50 = { local: [] as number[], kubernetes: [] as number[] };
			for (let turn = 0; turn < 2; turn++)
				for (const target of ["local", "kubernetes"] as const) {
					const { result } = await measured(
						{ rate: "500/s", duration: "8s", warmup: "2s" },
						{ target, kubernetes: "{ namespace: bench, resources: { cpus: 1, memory: 256MiB } }" },
					);
					const [run] = result.runs;
					expect(run).toMatchObject({ sent: 4000, received: 4000, lost: 0 });
					p50[target].push(p50Of(run));
				}
			console.log("p50, ns", JSON.stringify(p50));
			const [low, high] = [Math.min, Math.max];
			// A pod's packets cross a bridge, which takes some microseconds more than loopback.
			expect(low(...p50.kubernetes)).toBeLessThan(3 * high(...p50.local));
			expect(low(...p50.local)).toBeLessThan(3 * high(...p50.kubernetes));
		});
	},
);
