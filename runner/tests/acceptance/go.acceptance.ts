import { execFileSync } from "node:child_process";
import { test } from "vitest";
import { packageFolder } from "../../package.ts";

test("clusters of three nodes lose one leader after the other", () => {
	execFileSync("sh", ["extensions/test.sh", "acceptance"], {
		cwd: packageFolder,
		stdio: "inherit",
	});
	// Half an hour where others run beside it.
}, 3_600_000);
