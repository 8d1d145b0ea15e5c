import { expect, test } from "vitest";
import { LABELS, labelArguments, labelsOfRig, labelsOfRun } from "./labels.ts";

test("a rig that stays up has no owner", () => {
	expect(labelsOfRun("r")).toHaveProperty([LABELS.owner]);
	expect(labelsOfRig("r")).not.toHaveProperty([LABELS.owner]);
	expect(labelsOfRig("r")).toMatchObject({ [LABELS.run]: "r", [LABELS.rig]: "r" });
	expect(labelArguments({ a: "1", b: "2" })).toEqual(["--label", "a=1", "--label", "b=2"]);
});
