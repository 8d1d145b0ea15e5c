import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { KubernetesFile } from "../../runner/scenario/kubernetes-schema.ts";
import { realBinaries } from "../binaries/real.fake.ts";
import { type BrokerRequest, type Rig, untouchedBroker } from "../rig.ts";
import { testFolder } from "../test-folder.fake.ts";
import { fakeKubectl } from "./kubectl.fake.ts";
import { readManifests, withManifests } from "./manifests.ts";

const binaries = await realBinaries();

const file = (text: string) => {
	const name = path.join(testFolder(), "kafka.yaml");
	writeFileSync(name, text);
	return name;
};

test("manifests are read as a chart prints them: several documents, some empty, a list of fields nobody knows", () => {
	const all = readManifests([
		file(
			"# Source: x\n---\napiVersion: v1\nkind: Service\nmetadata: { name: a, labels: { app: a } }\n---\n---\napiVersion: kafka.strimzi.io/v1\nkind: Kafka\nmetadata: { name: b }\nspec: { x: 1 }\n",
		),
	]);
	expect(all.map(({ kind, metadata }) => [kind, metadata.name])).toEqual([
		["Service", "a"],
		["Kafka", "b"],
	]);
	expect(all[1]).toMatchObject({ spec: { x: 1 } });
});

test.each([
	["kind: [", /could not read kafka.yaml: /],
	["just text", /a document without apiVersion, kind and metadata.name/],
])("%s is one sentence", (text, sentence) => {
	expect(() => readManifests([file(text)])).toThrow(sentence);
});

test("a file that is not there is one sentence", () => {
	expect(() => readManifests(["/nowhere/kafka.yaml"])).toThrow(
		/could not read kafka.yaml: .*no such file/i,
	);
});

const TWO =
	"apiVersion: v1\nkind: Service\nmetadata: { name: a }\n---\napiVersion: apps/v1\nkind: StatefulSet\nmetadata: { name: b, labels: { app: b } }\n";

/** A cluster that makes a pod, and does with manifests what `create` says. Each command is a line of `calls`. */
function cluster(create: string, placed = '"namespace":"bench"') {
	const world = fakeKubectl(
		`"create --dry-run=server"*) echo '{"metadata":{${placed}}}';;
"create --filename -") cat >"$(dirname "$0")/input"; grep -q '"kind":"List"' "$(dirname "$0")/input" && { cp "$(dirname "$0")/input" "$(dirname "$0")/list"; ${create}; } || grep -q '"kind":"Job","metadata"' "$(dirname "$0")/input";;
"get pods --selector"*) echo '{"items":[{"metadata":{"name":"p0"},"spec":{"nodeName":"n"},"status":{"phase":"Running","podIP":"10.0.0.1","containerStatuses":[{"ready":true}]}}]}';;
"get job "*) echo '{"metadata":{"name":"owner","uid":"u-1","labels":{"mqbench.io/run":"r1"},"annotations":{"mqbench.io/expires":"2030-01-01T00:00:00.000Z"}}}';;
"wait "*|"delete "*) echo "$*" >>"$(dirname "$0")/calls";;`,
		["p0"],
	);
	const at = path.dirname(path.dirname(world.folderOf("p0")));
	const { ttl, ...block } = KubernetesFile.parse({
		ready: { "statefulset/b": "jsonpath={.status.readyReplicas}=3" },
	});
	const rig: Rig = { clients: [], open: async () => untouchedBroker(), teardown: async () => {} };
	const own = withManifests(
		rig,
		{
			...block,
			context: null,
			namespace: "bench",
			imagePullSecret: null,
			storageClass: null,
			ttlNs: ttl,
			manifests: [file(TWO)],
		},
		world,
		binaries,
	);
	onTestFinished(() => own.teardown());
	return {
		own,
		calls: () => readFileSync(path.join(at, "calls"), "utf8").split("\n"),
		list: () => JSON.parse(readFileSync(path.join(at, "list"), "utf8")),
	};
}

const REQUEST = {} as BrokerRequest;

test("manifests are created once, labelled and owned by a Job that ends with mqbench, awaited, and removed by their label", async () => {
	const { own, calls, list } = cluster("true");
	await own.open(REQUEST);
	await own.open(REQUEST);
	const owner = { apiVersion: "batch/v1", kind: "Job", name: "owner", uid: "u-1" };
	expect(list().items).toMatchObject([
		{ kind: "Service", metadata: { ownerReferences: [owner] } },
		{
			kind: "StatefulSet",
			metadata: {
				labels: { app: "b", "app.kubernetes.io/managed-by": "mqbench", "mqbench.io/run": "r1" },
				annotations: { "mqbench.io/expires": "2030-01-01T00:00:00.000Z" },
				ownerReferences: [owner],
			},
		},
	]);
	await own.teardown();
	expect(calls()).toEqual([
		"wait statefulset/b --for=jsonpath={.status.readyReplicas}=3 --timeout=600s",
		"delete Service,StatefulSet.v1.apps --selector app.kubernetes.io/managed-by=mqbench,mqbench.io/run=r1 --wait --timeout=120s",
		expect.stringMatching(/^delete job mqbench-\w+-broker-\d+ /),
		"",
	]);
});

test("an object that was there before is a sentence, and stays: what is removed has mqbench's label", async () => {
	const { own, calls } = cluster(
		"echo 'Error from server (AlreadyExists): services \"a\" already exists' >&2; exit 1",
	);
	await expect(own.open(REQUEST)).rejects.toThrow(
		'Kubernetes could not make what the manifests say: services "a" already exists.',
	);
	await own.teardown();
	for (const call of calls().filter((one) => one.includes("Service")))
		expect(call).toContain("--selector app.kubernetes.io/managed-by=mqbench");
	expect(calls().join("\n")).not.toContain("--filename");
});

test("what is in no namespace is refused before anything is created", async () => {
	const { own, list } = cluster("true", "");
	await expect(own.open(REQUEST)).rejects.toThrow(
		/service\/a belongs to no namespace, so that nobody would remove it/,
	);
	expect(list).toThrow();
});
