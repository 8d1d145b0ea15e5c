import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { sha256OfFile } from "../../runner/sha256.ts";
import { fakeWorld } from "../../runner/world.fake.ts";
import { parseSums } from "../programs/sums.ts";
import { script, testFolder } from "../test-folder.fake.ts";
import { awsFolder } from "./aws/folder.ts";
import { findPulumi, pulumiCli } from "./pulumi-cli.ts";
import { pinsIn } from "./pulumi-install.ts";
import { loadSdk } from "./sdk.ts";

const { version } = await loadSdk<{ version: string }>("@pulumi/pulumi/version", awsFolder);

/** The archive of this machine, as Pulumi names it. */
const ARCHIVE = `pulumi-v${version}-${process.platform}-${process.arch}.tar.gz`;

/** A machine, and a site that has an archive with that command and a language host, whose sum is pinned unless `pinned` is another. */
async function scene(answer?: string, pinned?: "other" | "none") {
	const folder = testFolder();
	const bin = path.join(folder, "bin");
	const asked: string[] = [];
	const said: string[] = [];
	const root = path.join(folder, "cache", "pulumi", version);
	const pulumi = (file: string, text: string) => {
		mkdirSync(path.dirname(file), { recursive: true });
		return script(file, `echo ${text}`);
	};
	mkdirSync(bin);
	const project = path.join(folder, "project");
	mkdirSync(project);
	symlinkSync(path.join(awsFolder, "node_modules"), path.join(project, "node_modules"));
	const archive = path.join(folder, ARCHIVE);
	pulumi(path.join(folder, "pulumi", "pulumi"), `v${version}`);
	pulumi(path.join(folder, "pulumi", "pulumi-language-nodejs"), "host");
	execFileSync("tar", ["-czf", archive, "-C", folder, "pulumi"]);
	const sum = pinned === "other" ? "0".repeat(64) : await sha256OfFile(archive);
	writeFileSync(
		path.join(project, "pulumi.sha256"),
		pinned === "none" ? "" : `# Of a test.\n${sum}  ${ARCHIVE}\n`,
	);
	const gets: string[] = [];
	const site = createServer(({ url = "" }, answer) => {
		gets.push(url);
		if (url !== `/sdk/${ARCHIVE}`) answer.writeHead(403).end();
		else answer.end(readFileSync(archive));
	});
	await new Promise<void>((resolve) => site.listen(0, "127.0.0.1", resolve));
	onTestFinished(() => void site.close());
	const { port } = site.address() as AddressInfo;
	return {
		folder,
		bin,
		root,
		project,
		asked,
		said,
		gets,
		sum,
		pulumi,
		cached: path.join(root, "bin", "pulumi"),
		world: (env: Record<string, string> = {}) =>
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
			}),
		options: {
			folder: project,
			yes: false,
			say: (line: string) => void said.push(line),
			from: `http://127.0.0.1:${port}/sdk`,
		},
	};
}

describe("the command pulumi", () => {
	test("is what MQBENCH_PULUMI names, before any other", async () => {
		const { bin, folder, world, pulumi, options } = await scene();
		pulumi(path.join(bin, "pulumi"), `v${version}`);
		const own = pulumi(path.join(folder, "own"), "v3.999.0");
		expect(await pulumiCli(world({ MQBENCH_PULUMI: "own" }), options)).toBe(own);
	});

	test.each([
		["older", "v3.100.0", /it is 3\.100\.0, and .* or newer/],
		["of another major version", "v4.0.0", /it is 4\.0\.0/],
		["no pulumi", "hello", /does not say its version/],
	])("that MQBENCH_PULUMI names is refused when it is %s", async (_, text, words) => {
		const { folder, world, pulumi, options } = await scene();
		pulumi(path.join(folder, "own"), text);
		await expect(pulumiCli(world({ MQBENCH_PULUMI: "own" }), options)).rejects.toMatchObject({
			code: "pulumi-unusable",
			message: expect.stringMatching(words),
		});
		await expect(pulumiCli(world({ MQBENCH_PULUMI: "missing" }), options)).rejects.toMatchObject({
			code: "pulumi-unusable",
		});
	});

	test("is that on PATH, or else that in the cache", async () => {
		const { bin, cached, world, pulumi, options } = await scene();
		await pulumiCli(world(), { ...options, yes: true });
		const found = pulumi(path.join(bin, "pulumi"), "v3.999.1");
		expect(await pulumiCli(world(), options)).toBe(found);
		pulumi(found, "v3.1.0");
		expect(await pulumiCli(world(), options)).toBe(cached);
	});

	test("is installed into the cache, after asking", async () => {
		const { cached, world, asked, options, said, root } = await scene("y");
		expect(await pulumiCli(world(), options)).toBe(cached);
		expect(asked).toHaveLength(1);
		expect(asked[0]).toMatch(/there is none on PATH\. Download it from/);
		expect(said.join()).toContain(`Installing pulumi ${version}`);
		expect(readdirSync(path.dirname(root))).toEqual([version]);
	});

	test("is installed without asking where --yes says so, and downloaded once", async () => {
		const { cached, world, options, gets } = await scene();
		expect(await pulumiCli(world(), { ...options, yes: true })).toBe(cached);
		expect(await pulumiCli(world(), options)).toBe(cached);
		expect(gets).toHaveLength(1);
	});

	test("is refused before it is unpacked when its archive is another", async () => {
		const { world, options, root } = await scene(undefined, "other");
		await expect(pulumiCli(world(), { ...options, yes: true })).rejects.toThrow(
			new RegExp(
				`it cannot be installed \\(${ARCHIVE} is not the archive that mqbench knows: its sha256 is [0-9a-f]{64}, not 0{64}\\)\\. Install it yourself`,
			),
		);
		expect(readdirSync(path.dirname(root))).toEqual([]);
	});

	test("is not downloaded for a machine of whose archive no sum is known", async () => {
		const { world, options, asked, gets, project } = await scene("y", "none");
		await expect(pulumiCli(world(), options)).rejects.toMatchObject({
			code: "pulumi-missing",
			message: expect.stringMatching(
				/there is none on PATH; mqbench does not download it, because it has no sha256 of pulumi-v\S+ to check it by\. Install it yourself .* so that it is on PATH, or set MQBENCH_PULUMI to it\./,
			),
		});
		expect([asked, gets]).toEqual([[], []]);
		expect(await findPulumi(world(), project)).toMatchObject({
			archive: { name: ARCHIVE, sha256: null },
		});
	});

	test.each([
		["exchanged", "pulumi"],
		["exchanged beside it", "pulumi-language-nodejs"],
		["added", "pulumi-resource-aws"],
	])("is not run from the cache when a file was %s, and named", async (_, file) => {
		const { cached, world, options, pulumi, root, project } = await scene();
		await pulumiCli(world(), { ...options, yes: true });
		const wrong = pulumi(path.join(root, "bin", file), "v3.999.9");
		const reason = `${wrong} is not what was unpacked there`;
		const refused = pulumiCli(world(), options);
		await expect(refused).rejects.toMatchObject({ code: "pulumi-missing" });
		await expect(refused).rejects.toThrow(reason);
		expect(await findPulumi(world(), project)).toMatchObject({ program: null, reason });
		expect(await pulumiCli(world(), { ...options, yes: true })).toBe(cached);
		expect(await pulumiCli(world(), options)).toBe(cached);
	});

	test("that an earlier mqbench installed without a check is not run", async () => {
		const { cached, world, pulumi, project } = await scene();
		pulumi(cached, `v${version}`);
		expect(await findPulumi(world(), project)).toMatchObject({ program: null });
	});

	test("is not installed without an answer, nor against one", async () => {
		const { world, options, bin, pulumi } = await scene();
		await expect(pulumiCli(world(), options)).rejects.toMatchObject({
			code: "pulumi-missing",
			exit: 3,
			message: expect.stringMatching(/there is nobody to ask/),
		});
		pulumi(path.join(bin, "pulumi"), "v3.1.0");
		const no = await scene("");
		await expect(
			pulumiCli(fakeWorld({ ...no.world(), env: { ...no.world().env, PATH: bin } }), no.options),
		).rejects.toThrow(/pulumi is 3\.1\.0/);
	});

	test("that cannot be installed says why, and not to try the same again", async () => {
		const { world, options } = await scene();
		const from = options.from.replace("sdk", "nothing");
		await expect(pulumiCli(world(), { ...options, from, yes: true })).rejects.toThrow(
			/it cannot be installed \(http:\S+: HTTP 403\)\. Install it yourself/,
		);
		await expect(
			pulumiCli(world(), { ...options, from: "http://127.0.0.1:1", yes: true }),
		).rejects.toThrow(/it cannot be installed \(http:\S+: .*\)\. Install it/);
	});
});

test("the pins of mqbench are of the SDK's version", () => {
	const pins = parseSums(readFileSync(pinsIn(awsFolder), "utf8"));
	expect(pins.size).toBeGreaterThan(0);
	for (const name of pins.keys())
		expect(name).toMatch(new RegExp(`^pulumi-v${version}-\\w+-\\w+\\.tar\\.gz$`));
});

describe("the SDK", () => {
	test("that is not installed is a sentence with the line that installs it", async () => {
		const folder = testFolder();
		writeFileSync(path.join(folder, "package.json"), "{}");
		writeFileSync(path.join(folder, "package-lock.json"), "{}");
		await expect(loadSdk("@pulumi/pulumi/automation", folder)).rejects.toMatchObject({
			code: "sdk-missing",
			exit: 3,
			message: `Target aws needs Pulumi and the SDK of AWS, which are not installed. Once: npm ci --prefix ${folder}`,
		});
	});

	test("is that of infra/aws", async () => {
		const { LocalWorkspace } = await loadSdk<{ LocalWorkspace: unknown }>(
			"@pulumi/pulumi/automation",
			awsFolder,
		);
		expect(LocalWorkspace).toBeTypeOf("function");
	});
});
