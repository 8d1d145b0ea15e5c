import { expect, test } from "vitest";
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
