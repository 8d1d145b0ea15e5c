import { execFileSync } from "node:child_process";
import {
	existsSync,
	lstatSync,
	mkdirSync,
	mkdtempSync,
	readdirSync,
	readFileSync,
	rmSync,
	writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { brokers } from "./brokers/index.ts";
import { pinsOf, pomOf } from "./brokers/jvm.ts";
import { packageFolder, packageVersion } from "./package.ts";
import { sum } from "./stats/sum.ts";

// For a laptop the package must be small, without any cloud.

const MB = 1e6;
const folder = mkdtempSync(path.join(tmpdir(), "mqbench-package-"));
let packed: {
	readonly filename: string;
	readonly size: number;
	readonly unpackedSize: number;
	readonly files: readonly { readonly path: string; readonly size: number }[];
};

beforeAll(() => {
	// `npm test` has built already; a second build would disturb other tests.
	[packed] = JSON.parse(
		npm(["pack", "--json", "--ignore-scripts", "--pack-destination", folder], packageFolder),
	);
}, 180_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("what npm downloads is below 2.2 MB", () => {
	expect(packed.size).toBe(lstatSync(tarball()).size);
	expect(packed.size).toBeLessThan(2.2 * MB);
	expect(packed.unpackedSize).toBeLessThan(8.8 * MB);
});

test("it has the program, and the Pulumi project to rent machines with, compiled", () => {
	const within = (folder: string) => readdirSync(path.join(packageFolder, folder));
	const compiled = within("infra/aws")
		.filter((one) => one.endsWith(".ts") && !/\.(test|fake)\.ts$/.test(one))
		.map((one) => `infra/aws/bin/${one.replace(/\.ts$/, ".js")}`);
	const scripts = within("infra/aws/user-data").filter((one) => one.endsWith(".sh"));
	expect(paths(), "npm run build first").toEqual(
		expect.arrayContaining([
			...compiled,
			...scripts.map((one) => `infra/aws/user-data/${one}`),
			"dist/runner/cli.js",
			"infra/aws/Pulumi.yaml",
			"infra/aws/README.md",
			"infra/aws/package.json",
			"infra/aws/package-lock.json",
			"infra/aws/policy.json",
			// Without these downloads would silently not be verified.
			...Object.values(brokers)
				.flatMap(({ jars = [] }) => jars)
				.flatMap((jars) => [pomOf(jars), pinsOf(jars)])
				.map((file) => path.relative(packageFolder, file)),
		]),
	);
});

test("what its README links to and shows is in it", () => {
	const links = [...textOf("README.md").matchAll(/\]\(([^)#]+)|(?:src|srcset)="([^"]+)"/g)]
		.map(([, link, picture]) => link ?? picture ?? "")
		.filter((link) => !link.startsWith("https:"));
	expect(links.length).toBeGreaterThan(10);
	expect(links.filter((link) => !paths().includes(link))).toEqual([]);
});

test("it has no package of anybody else, no cloud's SDK, no test and nobody's key", () => {
	for (const file of paths())
		expect(file).not.toMatch(/(^|\/)node_modules\/|@pulumi|@aws-sdk|@smithy|\.(test|fake)\.js$/);
	for (const file of paths().filter((one) => one.startsWith("infra/aws/")))
		expect(file).toMatch(
			/^infra\/aws\/(bin\/[\w-]+\.js|user-data\/([\w-]+\.sh|README\.md)|first-run\.sh|Pulumi\.yaml|(README|PERMISSIONS)\.md|(package(-lock)?|policy)\.json|pulumi\.sha256)$/,
		);
});

test("what its program is made with is told with its licence", () => {
	const text = textOf("dist/runner/cli.js");
	for (const name of ["commander", "fflate", "yaml", "zod"])
		expect(text).toMatch(new RegExp(`^${name}:\n(?:.*\n){0,6}.*(?:MIT|Copyright)`, "m"));
});

test("neither package.json nor the lock file knows a cloud's SDK", () => {
	for (const name of ["package.json", "package-lock.json"])
		expect(textOf(name)).not.toMatch(/@pulumi\/|@aws-sdk\/|@smithy\//);
});

test("the lock file of the Pulumi project names what it needs itself exactly", () => {
	const read = (name: string) => JSON.parse(textOf(path.join("infra/aws", name)));
	const root = JSON.parse(textOf("package.json"));
	const { dependencies } = read("package.json");
	for (const [name, version] of Object.entries(dependencies))
		expect(version, name).toMatch(/^\d+\.\d+\.\d+$/);
	// Both sides check the configuration with the same version.
	expect(dependencies.zod).toBe(root.devDependencies.zod);
	expect(read("package-lock.json").packages[""].dependencies).toEqual(dependencies);
});

test.each(["package-lock.json", "infra/aws/package-lock.json"])(
	"%s has the sum of every package, and no place they come from",
	(file) => {
		const { packages } = JSON.parse(textOf(file));
		for (const [name, one] of Object.entries<Record<string, unknown>>(packages)) {
			expect(one, name).not.toHaveProperty("resolved");
			if (name !== "") expect(one.integrity, name).toMatch(/^sha512-/);
		}
	},
);

test("installed it is one package and below 8.8 MB, and runs", () => {
	const user = path.join(folder, "user");
	mkdirSync(user);
	writeFileSync(path.join(user, "package.json"), '{"private":true}');
	npm(["install", "--omit=dev", "--prefer-offline", tarball()], user);
	const installed = path.join(user, "node_modules");
	const lock = JSON.parse(readFileSync(path.join(installed, ".package-lock.json"), "utf8"));
	const names = Object.keys(lock.packages).map((one) => one.replace("node_modules/", ""));
	expect(names).toEqual(["mqbench"]);
	expect(sum(sizesOf(installed))).toBeLessThan(8.8 * MB);
	expect(existsSync(path.join(installed, "mqbench/infra/aws/bin"))).toBe(true);
	const version = execFileSync(
		process.execPath,
		[path.join(installed, "mqbench/dist/runner/cli.js"), "--version"],
		{ encoding: "utf8", cwd: user },
	);
	expect(version.trim()).toBe(packageVersion);
}, 180_000);

// --- internal ---

function textOf(file: string): string {
	return readFileSync(path.join(packageFolder, file), "utf8");
}

function paths(): string[] {
	return packed.files.map((file) => file.path);
}

function tarball(): string {
	return path.join(folder, packed.filename);
}

function npm(args: readonly string[], cwd: string): string {
	return execFileSync("npm", args, {
		cwd,
		encoding: "utf8",
		stdio: ["ignore", "pipe", "pipe"],
		env: {
			...process.env,
			npm_config_audit: "false",
			npm_config_fund: "false",
			npm_config_update_notifier: "false",
		},
	});
}

function sizesOf(folder: string): number[] {
	return readdirSync(folder, { recursive: true, withFileTypes: true })
		.filter((entry) => !entry.isDirectory())
		.map((entry) => lstatSync(path.join(entry.parentPath, entry.name)).size);
}
