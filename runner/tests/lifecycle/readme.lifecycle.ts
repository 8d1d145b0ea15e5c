import { execFileSync } from "node:child_process";
import { cpSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { beforeAll, expect, test } from "vitest";
import { makeHostKey } from "../../../infra/rent/rigs.ts";
import { testFolder } from "../../../infra/test-folder.fake.ts";
import { packageFolder } from "../../package.ts";
import { parseRig } from "../../scenario/rig-file.ts";
import { BUILD_MS, buildPulumi, testCloud } from "./pulumi.fake.ts";

beforeAll(buildPulumi, BUILD_MS);

test("the configuration of infra/aws/README.md, as YAML, goes up with the command pulumi, gives a rig.json and goes down", async () => {
	const folder = testFolder();
	const cloud = testCloud(folder);
	const project = copyOfProject(folder);
	const pulumi = (...args: string[]) =>
		execFileSync(cloud.pulumi, [...args, "--non-interactive"], {
			cwd: project,
			encoding: "utf8",
			env: {
				PATH: process.env.PATH ?? "",
				HOME: folder,
				PULUMI_BACKEND_URL: `file://${folder}`,
				PULUMI_CONFIG_PASSPHRASE: "",
				PULUMI_SKIP_UPDATE_CHECK: "true",
			},
		});
	pulumi("stack", "init", "by-hand");
	const [, yaml = ""] =
		/```yaml\n(.*?)```/s.exec(readFileSync(path.join(project, "README.md"), "utf8")) ?? [];
	const settings = path.join(project, "Pulumi.by-hand.yaml");
	const hostKey = path.join(project, "host_ed25519");
	await makeHostKey(hostKey, path.join(project, "known_hosts"), "by-hand");
	writeFileSync(
		settings,
		`${readFileSync(settings, "utf8")}${yaml.replace("/home/kim/host_ed25519", hostKey)}`,
	);

	pulumi("up", "--yes");
	const { rig: output, ...others } = JSON.parse(pulumi("stack", "output", "--json"));
	expect(others).toEqual({});
	const rig = parseRig(JSON.stringify(output));
	expect(rig).toMatchObject({
		rig: {
			id: "by-hand",
			expiresAt: "2026-11-20T14:00:00Z",
			brokers: [
				{ system: "nats", machine: "i4i.xlarge" },
				{ system: "redis", machine: "i4i.xlarge" },
			],
			cloud: { machines: { "i4i.xlarge": 3, "c6in.xlarge": 1 } },
		},
	});
	pulumi("destroy", "--yes");
	expect(cloud.resources()).toEqual([]);
	pulumi("stack", "rm", "--yes");
});

// --- internal ---

/** The npm package's part of it: no user's files are written next to the sources. */
function copyOfProject(folder: string): string {
	const project = path.join(folder, "aws");
	const source = path.join(packageFolder, "infra/aws");
	for (const name of ["Pulumi.yaml", "README.md", "bin", "package.json", "user-data"])
		cpSync(path.join(source, name), path.join(project, name), { recursive: true });
	symlinkSync(path.join(source, "node_modules"), path.join(project, "node_modules"));
	return project;
}
