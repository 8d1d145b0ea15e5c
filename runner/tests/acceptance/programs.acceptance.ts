import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { pathOf, realBinaries } from "../../../infra/programs/real.fake.ts";

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
