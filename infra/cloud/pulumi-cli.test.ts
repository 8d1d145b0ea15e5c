import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { fakeWorld } from "../../runner/world.fake.ts";
import { script, testFolder } from "../test-folder.fake.ts";
import { awsFolder } from "./aws/folder.ts";
import { findPulumi, pulumiCli } from "./pulumi-cli.ts";
import { loadSdk } from "./sdk.ts";

const { version } = await loadSdk<{ version: string }>(
	"@pulumi/pulumi/version",
	awsFolder,
);

function scene(answer?: string) {
	const folder = testFolder();
	const bin = path.join(folder, "bin");
	mkdirSync(bin);
	const asked: string[] = [];
	const said: string[] = [];
	const cached = path.join(folder, "cache", "pulumi", version, "bin", "pulumi");
	const world = (env: Record<string, string> = {}) =>
		fakeWorld({
			cwd: folder,
			env: { PATH: bin, MQBENCH_CACHE_DIR: path.join(folder, "cache"), ...env },
			ask:
				answer === undefined
					? null
					: async (question) => {
							asked.push(question);
							return answer;
						},
		});
	const pulumi = (file: string, text: string) => {
		mkdirSync(path.dirname(file), { recursive: true });
		return script(file, `echo ${text}`);
	};
	const options = {
		folder: awsFolder,
		yes: false,
		say: (line: string) => void said.push(line),
		install: async (root: string) => {
			pulumi(path.join(root, "bin", "pulumi"), `v${version}`);
		},
	};
	return { folder, bin, cached, asked, said, world, pulumi, options };
}

describe("the command pulumi", () => {
	test("is what MQBENCH_PULUMI names, before any other", async () => {
		const { bin, folder, world, pulumi, options } = scene();
		pulumi(path.join(bin, "pulumi"), `v${version}`);
		const own = pulumi(path.join(folder, "own"), "v3.999.0");
		expect(await pulumiCli(world({ MQBENCH_PULUMI: "own" }), options)).toBe(
			own,
		);
	});

	test.each([
		["older", "v3.100.0", /it is 3\.100\.0, and .* or newer/],
		["of another major version", "v4.0.0", /it is 4\.0\.0/],
		["no pulumi", "hello", /does not say its version/],
	])(
		"that MQBENCH_PULUMI names is refused when it is %s",
		async (_, text, words) => {
			const { folder, world, pulumi, options } = scene();
			pulumi(path.join(folder, "own"), text);
			await expect(
				pulumiCli(world({ MQBENCH_PULUMI: "own" }), options),
			).rejects.toMatchObject({
				code: "pulumi-unusable",
				message: expect.stringMatching(words),
			});
			await expect(
				pulumiCli(world({ MQBENCH_PULUMI: "missing" }), options),
			).rejects.toMatchObject({ code: "pulumi-unusable" });
		},
	);

	test("is that on PATH, or else that in the cache", async () => {
		const { bin, cached, world, pulumi, options } = scene();
		pulumi(cached, `v${version}`);
		const found = pulumi(path.join(bin, "pulumi"), "v3.999.1");
		expect(await pulumiCli(world(), options)).toBe(found);
		pulumi(found, "v3.1.0");
		expect(await pulumiCli(world(), options)).toBe(cached);
	});

	test("is installed into the cache, after asking", async () => {
		const { cached, world, asked, options, said } = scene("y");
		expect(await pulumiCli(world(), options)).toBe(cached);
		expect(asked).toHaveLength(1);
		expect(asked[0]).toMatch(/there is none on PATH\. Download it from/);
		expect(said.join()).toContain(`Installing pulumi ${version}`);
	});

	test("is installed without asking where --yes says so", async () => {
		const { cached, world, options } = scene();
		expect(await pulumiCli(world(), { ...options, yes: true })).toBe(cached);
	});

	test("is not installed without an answer, nor against one", async () => {
		const { world, options, bin, pulumi } = scene();
		await expect(pulumiCli(world(), options)).rejects.toMatchObject({
			code: "pulumi-missing",
			exit: 3,
			message: expect.stringMatching(/there is nobody to ask/),
		});
		pulumi(path.join(bin, "pulumi"), "v3.1.0");
		const no = scene("");
		await expect(
			pulumiCli(
				fakeWorld({ ...no.world(), env: { ...no.world().env, PATH: bin } }),
				no.options,
			),
		).rejects.toThrow(/pulumi is 3\.1\.0/);
	});

	test("is looked for without installing anything", async () => {
		const { bin, world, pulumi, asked } = scene("y");
		expect(await findPulumi(world(), awsFolder)).toMatchObject({
			wanted: version,
			program: null,
			reason: "there is none on PATH",
		});
		const found = pulumi(path.join(bin, "pulumi"), "v3.999.1");
		expect(await findPulumi(world(), awsFolder)).toMatchObject({
			program: found,
			version: "3.999.1",
		});
		expect(asked).toEqual([]);
	});

	test("that cannot be installed says why, and not to try the same again", async () => {
		const { world, options } = scene();
		await expect(
			pulumiCli(world(), {
				...options,
				yes: true,
				install: () =>
					Promise.reject(
						new Error("Failed to download https://get.pulumi.com: 403"),
					),
			}),
		).rejects.toThrow(
			/it cannot be installed \(Failed to download .*: 403\)\. Install it yourself/,
		);
	});
});

describe("the SDK", () => {
	test("that is not installed is a sentence with the line that installs it", async () => {
		const folder = testFolder();
		writeFileSync(path.join(folder, "package.json"), "{}");
		writeFileSync(path.join(folder, "package-lock.json"), "{}");
		await expect(
			loadSdk("@pulumi/pulumi/automation", folder),
		).rejects.toMatchObject({
			code: "sdk-missing",
			exit: 3,
			message: `Target aws needs Pulumi and the SDK of AWS, which are not installed. Once: npm ci --prefix ${folder}`,
		});
	});

	test("whose project is not there, either, says that", async () => {
		const folder = path.join(testFolder(), "aws");
		await expect(loadSdk("@aws-sdk/client-ec2", folder)).rejects.toThrow(
			/which is not there\. Install mqbench anew/,
		);
	});

	test("is that of infra/aws", async () => {
		const { LocalWorkspace } = await loadSdk<{ LocalWorkspace: unknown }>(
			"@pulumi/pulumi/automation",
			awsFolder,
		);
		expect(LocalWorkspace).toBeTypeOf("function");
	});
});
