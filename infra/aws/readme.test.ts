import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { AwsConfig, parseConfig } from "./config.ts";

const read = (name: string) => readFileSync(path.join(import.meta.dirname, name), "utf8");
const readme = read("README.md");

test("the configuration that the README shows is right, and shows every key that has no default", () => {
	const [, yaml = ""] = /```yaml\n(.*?)```/s.exec(readme) ?? [];
	const shown = parse(yaml).config["mqbench:rig"];
	expect(parseConfig(shown)).not.toHaveProperty("wrong");
	for (const key of Object.keys(AwsConfig.shape))
		if (!["profile", "user", "endpoint"].includes(key)) expect(shown).toHaveProperty(key);
});

test("the README's files are there", () => {
	for (const [, name = ""] of readme.matchAll(/`([\w-]+\.(?:test\.)?ts)`/g))
		expect(read(name).length, name).toBeGreaterThan(0);
});

test("Pulumi runs what is compiled, and compiles nothing itself", () => {
	const project = parse(read("Pulumi.yaml"));
	const { main, type } = JSON.parse(read("package.json"));
	const { outDir } = JSON.parse(read("tsconfig.build.json")).compilerOptions;
	expect(project.main).toBe(`${outDir}/index.js`);
	expect(main).toBe(project.main);
	// Else Pulumi's loader takes it for CommonJS.
	expect(type).toBe("module");
	expect(project.runtime.options.typescript).toBe(false);
	expect(project.name).toBe("mqbench");
});
