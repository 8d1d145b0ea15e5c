import { execFileSync } from "node:child_process";
import { test } from "vitest";
import { packageFolder } from "../../package.ts";

test("clusters of three nodes lose one leader after the other", () => {
	execFileSync("sh", ["extensions/test.sh", "acceptance"], {
		cwd: packageFolder,
		stdio: "inherit",
	});
	// Half an hour if other tests run at the same time.
}, 3_600_000);
