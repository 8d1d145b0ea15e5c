import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { script } from "../../../infra/test-folder.fake.ts";
import { packageFolder } from "../../package.ts";
import { PLATFORMS } from "../../tools/release/platforms.ts";
import { filled, holds, type Status, type Step, temporaryFolder, write } from "./action.fake.ts";

interface Job {
	readonly if?: string;
	readonly needs?: string;
	readonly environment?: string;
	readonly permissions: Readonly<Record<string, string>>;
	readonly env?: Readonly<Record<string, string>>;
	readonly defaults?: { readonly run: { readonly "working-directory": string } };
	readonly steps: readonly Step[];
}

const { on, permissions, jobs } = parse(
	readFileSync(path.join(packageFolder, ".github", "workflows", "release.yml"), "utf8"),
) as {
	readonly on: { readonly push: object };
	readonly permissions: object;
	readonly jobs: Readonly<Record<string, Job>>;
};

const TAG = { event_name: "push", ref: "refs/tags/v0.2.0", ref_name: "v0.2.0" };
const DISPATCH = { event_name: "workflow_dispatch", ref: "refs/heads/main", ref_name: "main" };

test("a branch that is pushed releases nothing: only tags start it, or a person", () => {
	expect(on).toEqual({
		push: { tags: ["v*"] },
		workflow_dispatch: { inputs: { version: expect.anything() } },
	});
});

describe("what runs, and with which arguments", () => {
	test("a tag: everything is made and tried out, then published, then shown on GitHub", () => {
		const { build = [], publish = [] } = told(TAG, {});
		expect(build).toEqual([
			"npm ci",
			"npm run release -- 0.2.0 --out release",
			"docker build --file infra/docker/Dockerfile --build-arg VERSION=0.2.0 --tag mqbench/mqbench:0.2.0 release/source",
			"docker run --rm mqbench/mqbench:0.2.0 --version",
			"docker save mqbench/mqbench:0.2.0",
		]);
		const published = publish.filter((line) => line.startsWith("npm publish"));
		expect(published).toEqual(
			[...PLATFORMS.map(fileOf).sort(), "mqbench-0.2.0.tgz"].map(
				(file) => `npm publish ./${file} --provenance --access public --tag latest`,
			),
		);
		expect(publish.at(-1)).toMatch(
			/^gh release create v0\.2\.0 --verify-tag --notes-file CHANGELOG\.md( \.\/mqbench-\S+\.t(ar\.)?gz){7} SHA256SUMS$/,
		);
	});

	test("a version that is not yet one is not what people get", () => {
		const { publish = [] } = told(
			{ ...TAG, ref: "refs/tags/v0.2.0-rc.1", ref_name: "v0.2.0-rc.1" },
			{},
		);
		expect(publish).toContain(
			"npm publish ./mqbench-0.2.0-rc.1.tgz --provenance --access public --tag next",
		);
	});

	test.each([
		["by hand", DISPATCH, { version: "0.2.0" }],
		["by hand, on a tag", { ...TAG, event_name: "workflow_dispatch" }, {}],
		["with an input that there is not", DISPATCH, { "dry-run": false }],
		["with a dry run that is wanted", DISPATCH, { "dry-run": true }],
	])("%s: the same is made, and nothing is published", (_, github, inputs) => {
		const { build, publish } = told(github, { version: "v0.2.0", ...inputs });
		expect(build).toEqual(told(TAG, {}).build);
		expect(publish).toBeUndefined();
	});

	test.each(["failure", "cancelled"] as const)(
		"a build that ends as %s publishes nothing",
		(status) => {
			expect(told(TAG, {}, { built: status }).publish).toBeUndefined();
		},
	);

	test("what has arrived otherwise than it was made is not published", () => {
		const { publish } = told(TAG, {}, { damaged: true });
		expect(publish).toEqual([]);
	});

	test("what is published already is left alone, and a package that is refused ends it before GitHub", () => {
		const again = told(TAG, {}, { npm: 'test "$1" = view' }).publish ?? [];
		expect(again.filter((line) => line.includes("publish"))).toEqual([]);
		const refused = told(TAG, {}, { npm: "false" }).publish ?? [];
		expect(refused.filter((line) => line.includes("publish"))).toHaveLength(1);
		expect(refused.join("\n")).not.toContain("gh release");
	});
});

test("each job has the rights that it needs: what runs foreign code has none", () => {
	expect(permissions).toEqual({});
	expect(Object.keys(jobs)).toEqual(["build", "publish"]);
	expect(jobs.build?.permissions).toEqual({ contents: "read" });
	expect(jobs.publish?.permissions).toEqual({ contents: "write", "id-token": "write" });
	expect(jobs.publish?.environment).toBe("release");
	// npm knows the workflow by GitHub's word for it: there is no token to steal. Nothing is installed or built beside it.
	const text = JSON.stringify(jobs);
	expect(text).not.toContain("secrets.");
	expect(JSON.stringify(jobs.publish)).not.toMatch(/npm (ci|install|run)|npx|checkout/);
});

// --- internal ---

function fileOf({ system, processor }: (typeof PLATFORMS)[number]): string {
	return `mqbench-${system}-${processor}-0.2.0.tgz`;
}

/** Programs that only say that they were called; what else the scripts call is real. */
const SAY = ["npm", "docker", "gh"];

/**
 * What each job that runs calls, line by line. Its steps run in bash, as GitHub would run them, in a folder that has what `npm run release`
 * makes there. `npm`: what ends the stand-in for npm, as a line of sh; without one nothing is published yet, and all is taken.
 */
function told(
	github: Readonly<Record<string, string>>,
	inputs: Readonly<Record<string, unknown>>,
	{
		built = "success",
		damaged = false,
		npm = 'test "$1" != view',
	}: { built?: Status; damaged?: boolean; npm?: string } = {},
): Record<string, string[]> {
	const values = { github: { ...github, token: "t" }, inputs };
	const said: Record<string, string[]> = {};
	for (const [name, job] of Object.entries(jobs)) {
		const before = job.needs === undefined ? "success" : built;
		if (!holds(job.if, before, values)) continue;
		const folder = temporaryFolder();
		const calls = path.join(folder, "calls");
		write(calls, "");
		mkdirSync(path.join(folder, "bin"));
		for (const program of SAY)
			script(
				path.join(folder, "bin", program),
				`echo "${program} $*" >>${calls}\n${program === "npm" ? npm : ""}`,
			);
		makePackages(folder, github.ref_name?.replace(/^main$|^v/, "") || "0.2.0");
		if (damaged) write(path.join(folder, "packages", "mqbench-0.2.0.tgz"), "other");
		let status: Status = "success";
		for (const step of job.steps) {
			if (step.run === undefined || !holds(step.if, status, values)) continue;
			const env = Object.entries({ ...job.env, ...step.env }).map(([key, value]) => [
				key,
				filled(String(value), values),
			]);
			try {
				execFileSync("bash", ["--noprofile", "--norc", "-eo", "pipefail", "-c", step.run], {
					cwd: path.join(folder, job.defaults?.run["working-directory"] ?? ""),
					stdio: "ignore",
					env: {
						...Object.fromEntries(env),
						PATH: `${path.join(folder, "bin")}:${process.env.PATH}`,
					},
				});
			} catch {
				status = "failure";
			}
		}
		said[name] = readFileSync(calls, "utf8").split("\n").filter(Boolean);
	}
	return said;
}

/** As the build leaves them, and as they arrive where they are published. */
function makePackages(folder: string, version: string): void {
	write(path.join(folder, "runner", "CHANGELOG.md"), "# Changes\n");
	for (const made of ["release/packages", "packages"]) {
		const packages = path.join(folder, made);
		mkdirSync(packages, { recursive: true });
		const names = [...PLATFORMS.map(({ packageName }) => packageName), "mqbench"];
		for (const name of names) {
			const content = path.join(folder, "content");
			write(path.join(content, "package", "package.json"), `{"name":"${name}"}`);
			execFileSync("tar", [
				"-czf",
				path.join(packages, `${name.replace(/^@(.*)\//, "$1-")}-${version}.tgz`),
				"-C",
				content,
				"package",
			]);
		}
		write(path.join(packages, "CHANGELOG.md"), "# Changes\n");
		if (made === "packages") write(path.join(packages, "mqbench-image-linux-x64.tar.gz"), "image");
		execFileSync("sh", ["-c", "sha256sum *.tgz $(ls *.tar.gz 2>/dev/null) >SHA256SUMS"], {
			cwd: packages,
		});
	}
}
