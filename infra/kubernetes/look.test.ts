import { expect, test } from "vitest";
import { clusterFindings } from "../../runner/doctor/cluster.ts";
import { fakeKubectl } from "./kubectl.fake.ts";
import { findKubectl } from "./kubectl.ts";
import { lookAt } from "./look.ts";

/** As Kubernetes 1.34.1 and kubectl 1.32 answer, without what is not read. */
const answers = ({ minor = "34", may = "echo yes" } = {}) => `
"config view --minify --output json") echo '{"current-context":"kind","contexts":[{"name":"kind","context":{"cluster":"c","namespace":"own","user":"u"}}]}';;
"get --raw /version") echo '{"major":"1","minor":"${minor}","gitVersion":"v1.${minor}.1"}';;
"auth can-i create pods/exec") ${may};;
"auth can-i "*) echo yes;;`;

const look = (script: string, namespace: string | null = null) =>
	lookAt(findKubectl(fakeKubectl(script), { context: null, namespace }));

test("a cluster says what it is, and what the account may do", async () => {
	expect(await look(answers())).toEqual({
		context: "kind",
		namespace: "own",
		version: "v1.34.1",
		tooOld: false,
		missing: [],
	});
	expect((await look(answers(), "bench")).namespace).toBe("bench");
});

test("a right that is missing is named, and an old cluster is refused", async () => {
	const { missing } = await look(answers({ may: "echo no; exit 1" }));
	expect(missing).toEqual(["create pods/exec"]);
	expect((await look(answers({ minor: "28" }))).tooOld).toBe(true);
	expect((await look(answers({ minor: "29+" }))).tooOld).toBe(false);
});

test("the doctor has a line for each", async () => {
	const well = await clusterFindings({}, fakeKubectl(answers()));
	expect(well.map(({ check, verdict }) => [check, verdict])).toEqual([
		["cluster", "ok"],
		["rights", "ok"],
	]);
	const ill = await clusterFindings(
		{},
		fakeKubectl(answers({ minor: "20", may: "echo no; exit 1" })),
	);
	expect(ill.map(({ check, verdict }) => [check, verdict])).toEqual([
		["cluster", "bad"],
		["rights", "bad"],
	]);
	const none = await clusterFindings(
		{},
		fakeKubectl("*) echo 'The connection to the server x was refused' >&2; exit 1;;"),
	);
	expect(none).toMatchObject([{ check: "cluster", verdict: "bad" }]);
	expect(none[0]?.sentence).toMatch(/the cluster cannot be reached/);
});
