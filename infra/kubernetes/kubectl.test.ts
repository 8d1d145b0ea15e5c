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
		'Error from server (Forbidden): jobs.batch is forbidden: User "ada" cannot create resource "jobs" in API group "batch" in the namespace "bench"',
		/the account may not create jobs; `npx mqbench plan/,
	],
	[
		'Error from server (NotFound): namespaces "bench" not found',
		/there is no namespace bench; create it/,
	],
	['error: context "nosuch" does not exist', /kubectl knows no such context/],
	[
		"The connection to the server 127.0.0.1:6443 was refused - did you specify the right host or port?",
		/the cluster cannot be reached \(The connection to the server 127.0.0.1:6443 was refused/,
	],
	["error: You must be logged in to the server (Unauthorized)", /refuses the login/],
	[
		'Error from server (Forbidden): error when creating "STDIN": pods "x" is forbidden: exceeded quota: q, requested: cpu=2, used: cpu=7, limited: cpu=8',
		/the namespace's quota has no room \(error when creating "STDIN": pods "x" is forbidden: exceeded quota/,
	],
	["error: something new", /Kubernetes could not look: something new\.$/],
])("%s", async (words, sentence) => {
	const world = fakeKubectl(`*) echo '${words.replaceAll("'", "'\\''")}' >&2; exit 1;;`);
	const error = await findKubectl(world, NOWHERE)
		.run(["get", "pods"])
		.catch((error) => explainKubectl(error, "look"));
	expect(String(error)).toMatch(sentence);
});

test("a cluster that never answers is given up, and Ctrl-C waits for none", async () => {
	const world = fakeKubectl("*) exec sleep 60;;");
	const kubectl = findKubectl(world, NOWHERE);
	await expect(kubectl.run(["get"], { limitMs: 50 })).rejects.toThrow(
		"the cluster has not answered within 50 ms",
	);
	const stop = AbortSignal.abort("SIGINT");
	await expect(kubectl.run(["get"], { stop })).rejects.toMatchObject({ code: "interrupted" });
});
