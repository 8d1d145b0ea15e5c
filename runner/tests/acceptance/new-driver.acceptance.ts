import { execFileSync } from "node:child_process";
import path from "node:path";
import { expect, test } from "vitest";
import { resultOf, run, temporaryFolder } from "../e2e/mqbench.ts";

/** What README.md of a new driver says, as somebody does it who has never seen mqbench's sources. */

test("a driver from the template passes the contract, and its broker is measured to a verdict", async () => {
	const cwd = temporaryFolder();
	expect(await run(["init", "driver", "acme"], { cwd })).toMatchObject({ code: 0 });
	const folder = path.join(cwd, "xk6-acme");
	execFileSync("go", ["test", "./..."], {
		cwd: folder,
		env: { ...process.env, CGO_ENABLED: "0", GOFLAGS: "-trimpath -gcflags=all=-dwarf=false" },
	});
	const { code, out } = await run(["scenario.yaml", "--allow-code", "--out", "../out"], {
		cwd: folder,
	});
	// Its latency is the machine's, which may be busy; the messages are counted in any case.
	expect([0, 4, 6, 99], out).toContain(code);
	expect(resultOf(path.join(cwd, "out")).runs).toMatchObject([{ system: "acme", lost: 0 }]);
});
