import { expect, test } from "vitest";
import type { Scenario } from "../../runner/scenario/scenario.ts";
import { realWorld } from "../binaries/real.fake.ts";
import { agreeToCode } from "./agree.ts";

const scenario = (manifests: string[]) =>
	({ kubernetes: { manifests } }) as unknown as Scenario;
const world = (answer: string | null) => ({
	...realWorld,
	cwd: "/here",
	ask: answer === null ? null : async () => answer,
});

test("manifests are created after a yes, or with --allow-code, and not otherwise", async () => {
	const files = scenario(["/here/kafka.yaml", "/else/x.yaml"]);
	await agreeToCode(files, {}, world("y"));
	await agreeToCode(files, { allowCode: true }, world(null));
	await expect(agreeToCode(files, {}, world("n"))).rejects.toThrow(
		"kafka.yaml, ../else/x.yaml was not created, and nothing was measured",
	);
	await expect(agreeToCode(files, {}, world(null))).rejects.toThrow(
		/kafka.yaml, ..\/else\/x.yaml would be created in the cluster and may run anything there/,
	);
});

test("nobody is asked where there are none", async () => {
	await agreeToCode(scenario([]), {}, world(null));
	await agreeToCode({ kubernetes: null }, {}, world(null));
});
