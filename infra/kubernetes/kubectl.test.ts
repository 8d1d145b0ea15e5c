import { expect, test } from "vitest";
import { testFolder } from "../test-folder.fake.ts";
import { fakeKubectl } from "./kubectl.fake.ts";
import { explainKubectl, findKubectl } from "./kubectl.ts";

const NOWHERE = { context: null, namespace: null };

test("without kubectl there is one sentence", () => {
	expect(() => findKubectl({ env: { PATH: testFolder() } }, NOWHERE)).toThrow(
		"Kubernetes could not use target kubernetes: there is no kubectl on PATH; install it (https://kubernetes.io/docs/tasks/tools/).",
	);
});

test("context and namespace stand before what is asked", async () => {
	const world = fakeKubectl('*) echo "$0 $*";;');
	const { where } = findKubectl(world, { context: "kind", namespace: "bench" });
	expect(where).toEqual(["--context", "kind", "--namespace", "bench"]);
});

test.each([
	[
		'Error from server (Forbidden): jobs.batch is forbidden: User "ada" cannot create resource "jobs" in API group "batch"',
		'jobs.batch is forbidden: User "ada" cannot create resource "jobs" in API group "batch"; infra/kubernetes/rbac.yaml has the rights that are needed.',
	],
	[
		'Error from server (NotFound): namespaces "bench" not found',
		'namespaces "bench" not found; create it, or write another one under kubernetes.',
	],
	[
		'error: context "nosuch" does not exist',
		'context "nosuch" does not exist; kubectl config get-contexts lists the contexts that it knows.',
	],
	[
		"error: You must be logged in to the server (Unauthorized)",
		"You must be logged in to the server (Unauthorized); kubectl get pods has to work first.",
	],
	["warning: x\nerror: something new", "something new."],
	["", "kubectl says nothing."],
])("%s", async (words, sentence) => {
	const world = fakeKubectl(`*) echo '${words}' >&2; exit 1;;`);
	const error = await findKubectl(world, NOWHERE)
		.run(["get", "pods"])
		.catch((error) => explainKubectl(error, "look"));
	expect((error as Error).message).toBe(`Kubernetes could not look: ${sentence}`);
});

test("a cluster that never answers is given up, and Ctrl-C waits for none", async () => {
	const world = fakeKubectl("*) exec sleep 60;;");
	const kubectl = findKubectl(world, NOWHERE);
	await expect(kubectl.run(["get"], { limitMs: 50 })).rejects.toThrow(
		"kubectl did not answer within 0.05s",
	);
	const stop = AbortSignal.abort("SIGINT");
	await expect(kubectl.run(["get"], { stop })).rejects.toMatchObject({ code: "interrupted" });
});
