import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Cluster, clusterOf, type PodHost } from "../../../infra/kubernetes/cluster.ts";
import { connectOwner, cutTest, machineTest } from "../../../infra/machines/machinetest.fake.ts";
import { realBinaries, realWorld } from "../../../infra/programs/real.fake.ts";
import { script } from "../../../infra/test-folder.fake.ts";
import { packageFolder } from "../../package.ts";
import { KubernetesFile } from "../../scenario/kubernetes-schema.ts";
import { clusterMissing, startCluster, type TestCluster } from "../../tools/cluster/cluster.ts";
import {
	type Ended,
	flat,
	measured as measuredHere,
	measuring,
	until,
	type Words,
} from "../e2e/mqbench.ts";

const missing = clusterMissing();

/** Asks little: one node of two cores has room for all of it. */
const KUBERNETES = "{ namespace: bench, resources: { cpus: 0.4, memory: 256MiB } }";
const TARGET = { target: "kubernetes", kubernetes: KUBERNETES };
const TWO = { duration: "3s", rate: "300/s", connections: "2" };

describe.skipIf(missing !== null)(
	`target kubernetes${missing === null ? "" : ` (skipped: ${missing})`}`,
	() => {
		let cluster: TestCluster;
		beforeAll(async () => {
			cluster = await startCluster();
			kubectl("create namespace bench");
		}, 7_200_000); // all of Kubernetes may have to be compiled: 38 minutes where others have half of the machine
		afterAll(() => cluster?.stop(), 300_000);

		const inside = (env: Words = {}) => ({ under: cluster.under, env: { ...cluster.env, ...env } });
		/** Words of a kubectl command, none of which has a blank in it. */
		const kubectl = (line: string, input?: string) => cluster.kubectl(line.split(" "), input);
		const inBench = (line: string, input?: string) => kubectl(`--namespace bench ${line}`, input);

		/** Runs a scenario in the cluster to its end, after which nothing is left. */
		async function measured(
			workload: Words,
			top: Words,
			{ exit = [0], env = {} }: { exit?: readonly number[]; env?: Words } = {},
		) {
			const made = await measuredHere(workload, { ...TARGET, ...top }, { ...inside(env), exit });
			expect(left()).toEqual([]);
			return made;
		}

		/** Starts a run of a minute, and returns when the load goes. */
		const underWay = (top: Words = {}) =>
			measuring({ duration: "60s" }, { ...TARGET, ...top }, { ...inside(), ms: 120_000 });

		/** Waits until the load goes, does something, and returns how mqbench ended: with 3, and nothing left. */
		async function during(harm: () => void, top: Words = {}): Promise<Ended & { said: string }> {
			const { mqbench } = await underWay(top);
			harm();
			const ended = await mqbench.ended;
			expect(ended.code, ended.err + ended.out).toBe(3);
			expect(left()).toEqual([]);
			return { ...ended, said: flat(ended.err + ended.out) };
		}

		/** Names of everything left of mqbench, from the API server. */
		function left(): string[] {
			const ours = "--selector app.kubernetes.io/managed-by=mqbench";
			return kubectl(`get all,configmaps,secrets,pvc --all-namespaces ${ours} --output name`)
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
				const { run } = await measured(TWO, { clients: "2", system });
				expect(run).toMatchObject({
					intended: 900,
					sent: 900,
					received: 900,
					lost: 0,
					topology: expect.stringMatching(/^1 pod on 1 node of the cluster \(mq\)/),
					clients: [{ kind: "pod" }, { kind: "pod" }],
				});
				expect(JSON.stringify(run)).toMatch(new RegExp(version, "i"));
				// Each pod reports its own CPU quota.
				expect(run.validity.find(({ check }) => check === "cpuQuota")?.status).toMatch(
					/^(ok|warn)$/,
				);
				// A broker that waits for a disk reports how long that takes.
				expect(run.brokerSettings["volume fdatasync"] ?? "").toMatch(disk ? /\d/ : /^$/);
			},
		);

		test("a leader of three is killed and comes back, with the same address and data", async () => {
			const { run } = await measured(
				{ rate: "200/s", duration: "8s", connections: "2" },
				{
					clients: "2",
					system: "{ broker: nats, mode: jetstream, nodes: 3, replicas: 3, durability: os }",
					faults: "[{ at: 2s, action: kill, for: 1s, node: leader }]",
				},
				// One outage does not show how typical it is.
				{ exit: [0, 6] },
			);
			expect(run).toMatchObject({
				lost: 0,
				topology: "3 pods on 1 node of the cluster (mq)",
				notes: [expect.stringContaining("3 pods of nats share the node mq")],
				failover: [{ action: "kill", error: null }],
			});
		});

		test("the load comes from pods, the brokers are a Service and a broker outside", async () => {
			const metadata = { name: "own-nats", labels: { app: "own-nats" } };
			const containers = [{ name: "nats", image: "nats:2.15.2-alpine", args: ["-p", "4222"] }];
			for (const one of [
				{ kind: "Pod", metadata, spec: { terminationGracePeriodSeconds: 1, containers } },
				{ kind: "Service", metadata, spec: { selector: metadata.labels, ports: [{ port: 4222 }] } },
			])
				inBench("create --filename -", JSON.stringify({ apiVersion: "v1", ...one }));
			inBench("wait --for=condition=Ready pod/own-nats --timeout=60s");
			const ip = inBench("get service own-nats --output jsonpath={.spec.clusterIP}");
			const { run } = await measured(TWO, {
				target: "existing",
				kubernetes: KUBERNETES,
				clients: "{ kubernetes: 2 }",
				system: `{ broker: nats, url: "nats://${ip}:4222" }`,
			});
			expect(run).toMatchObject({ sent: 900, received: 900, lost: 0 });
			// Not ours: it was not touched.
			expect(inBench("get pod own-nats --output jsonpath={.status.phase}")).toBe("Running");
			inBench("delete pod/own-nats service/own-nats --wait");
		});

		test("the manifests for a Job from inside are what an API server takes", () => {
			const manifests = path.join(packageFolder, "infra/kubernetes/from-inside.yaml");
			expect(inBench(`apply --dry-run=server --filename ${manifests}`)).toContain(
				"cronjob.batch/mqbench-nightly created",
			);
		});

		test.each([
			[
				"an image that is not there",
				"namespace: bench, resources: { cpus: 0.2, memory: 128MiB }, image: nosuch:1",
				/does not run: its image cannot be pulled/,
			],
			[
				"a node that is not there",
				"namespace: bench, resources: { cpus: 64, memory: 128MiB }",
				/does not run: no node has room for it \(0\/1 nodes are available: 1 Insufficient cpu/,
			],
			[
				"a context that is not there",
				"namespace: bench, context: nosuch",
				/context "nosuch" does not exist; kubectl config get-contexts/,
			],
			[
				"a namespace that is not there",
				"namespace: nosuch",
				/namespaces "nosuch" not found; create it/,
			],
		])("%s is one sentence", async (_, words, sentence) => {
			const { err } = await measured({}, { kubernetes: `{ ${words} }` }, { exit: [3] });
			expect(err).toMatch(sentence);
			expect(err).not.toMatch(/^\s+at /m);
		});

		test("the shipped role is enough, and a smaller one is a sentence", async () => {
			inBench(`apply --filename ${path.join(packageFolder, "infra/kubernetes/rbac.yaml")}`);
			const env = { KUBECONFIG: cluster.kubeconfigOf("bench", "mqbench") };
			await measured({}, {}, { env });
			const smaller = '[{"op":"remove","path":"/rules/3"}]';
			inBench(`patch role mqbench --type=json --patch ${smaller}`);
			const { err } = await measured({}, {}, { env, exit: [3] });
			expect(err).toMatch(/cannot \S+ resource "pods.*rbac\.yaml/);
		});

		test.each([
			["load", /client 0 \(pod 1 on mq\): .*it was deleted/],
			["broker", /it was deleted/],
		])("a pod of the %s that is deleted ends the run with a sentence", async (role, sentence) => {
			const { said } = await during(() => {
				const name = "--output jsonpath={.items[0].metadata.name}";
				const pod = inBench(`get pods ${name} --selector mqbench.io/role=${role}`).trim();
				inBench(`delete pod ${pod} --wait=false`);
			});
			expect(said).toMatch(sentence);
		});

		test("a broker beyond its memory says how much it had", async () => {
			const { err, out } = await measured(
				{ pattern: "publish", rate: "100/s", message: "64KiB", duration: "40s" },
				{
					system: "{ broker: nats, mode: jetstream, durability: memory, memory: 96MiB }",
					sla: "[failed == 0]",
				},
				{ exit: [3] },
			);
			expect(flat(err + out)).toMatch(/more than its 96\s?MiB of memory \(OOMKilled\)/);
		});

		test("an API server that is gone for 20 s ends the run with a sentence, and what is there is removed when it is back", async () => {
			const { said } = await during(() => {
				const gone = cluster.killApiServer();
				setTimeout(() => gone.start(), 20_000);
			});
			expect(said).toMatch(/connection to it (was lost|is gone)|connection refused|was refused/);
		});

		test("a namespace that is deleted under the run ends it with a sentence", async () => {
			kubectl("create namespace brief");
			const { said } = await during(() => kubectl("delete namespace brief --wait=false"), {
				kubernetes: KUBERNETES.replace("bench", "brief"),
			});
			expect(said).toMatch(/it was deleted/);
		});

		test("after kill -9 of mqbench the pods end by themselves, and their Jobs go", async () => {
			const { mqbench } = await underWay();
			expect(left()).not.toEqual([]);
			mqbench.signal("SIGKILL");
			await mqbench.ended;
			await until(() => left().length === 0, "nothing is left", 300_000);
		});

		test("two at once leave each other alone", async () => {
			const each = [1, 2].map(() =>
				measuredHere({ rate: "200/s", duration: "3s" }, TARGET, inside()),
			);
			for (const { run } of await Promise.all(each))
				expect(run).toMatchObject({ sent: 600, received: 600 });
			expect(left()).toEqual([]);
		});

		describe("a pod is a machine:", () => {
			const bin = mkdtempSync(path.join(tmpdir(), "mqbench-kubectl-"));
			const world = () => {
				const env = { ...process.env, ...cluster.env, PATH: `${bin}:${cluster.env.PATH}` };
				return { ...realWorld, env };
			};
			let pods: Cluster;
			let pod: PodHost;
			beforeAll(async () => {
				const real = `PATH=${cluster.env.PATH} exec ${cluster.under.join(" ")} kubectl "$@"`;
				script(path.join(bin, "kubectl"), real);
				const file = { namespace: "bench", resources: { cpus: 0.4, memory: "256MiB" } };
				const { image, resources, ...rest } = KubernetesFile.parse(file);
				pods = clusterOf({ image, resources, ...rest }, world(), () => {});
				const made = await pods.start({ count: 1, role: "load", image, ...resources, volumes: [] });
				pod = made.pods[0] as PodHost;
			});
			afterAll(async () => {
				await pods?.close();
				rmSync(bin, { recursive: true });
			});

			const own = async () => {
				const binaries = await realBinaries();
				return connectOwner(pod, { options: { world: world(), binaries } });
			};
			machineTest(own);
			cutTest(own, () => {
				const gone = cluster.killApiServer();
				return async () => {
					gone.start();
					await until(answers, "the API server is back", 60_000);
				};
			});
			const answers = () => {
				try {
					return kubectl("get namespaces") !== "";
				} catch {
					return false;
				}
			};
		});
	},
);
