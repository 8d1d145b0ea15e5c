import { execFileSync } from "node:child_process";
import path from "node:path";
import { expect, test } from "vitest";
import { pathOf, realBinaries } from "../../../infra/programs/real.fake.ts";
import { packageFolder } from "../../package.ts";

// The first time it takes as long as a build for this machine: some minutes.
test.each(["linux/amd64", "linux/arm64"])(
	"k6, nats-server and agent for hosts that are %s are static programs of that processor, as Go says as well",
	async (platform) => {
		const programs = await (await realBinaries()).on(platform, "h1");
		for (const program of ["k6", "nats-server", "agent"] as const) {
			const file = await pathOf(programs, program);
			const said = execFileSync("go", ["version", "-m", file], { encoding: "utf8" });
			for (const setting of [`GOARCH=${platform.split("/")[1]}`, "GOOS=linux", "CGO_ENABLED=0"])
				expect(said).toContain(`\tbuild\t${setting}\n`);
		}
	},
);

// All of k6 is compiled for it: too long for extensions/test.sh.
test("the race detector finds nothing in what k6 calls", () => {
	execFileSync("go", ["test", "-race", "."], {
		cwd: path.join(packageFolder, "extensions", "xk6-mqbench"),
		env: { ...process.env, CGO_ENABLED: "1", GOFLAGS: "" },
		stdio: "inherit",
	});
});
