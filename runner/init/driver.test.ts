import { mkdirSync, readdirSync, readFileSync, statSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { testFolder } from "../../infra/test-folder.fake.ts";
import { Manifest } from "../brokers/outside.ts";
import { packageFolder } from "../package.ts";
import { writeDriver } from "./driver.ts";

const TEMPLATE = path.join(packageFolder, "extensions/examples/xk6-mybroker");

function files(folder: string): string[] {
	return readdirSync(folder, { recursive: true, encoding: "utf8" })
		.filter((file) => statSync(path.join(folder, file)).isFile())
		.sort();
}

test("a new driver is the template under another name, whose go.mod finds mqbench", async () => {
	const cwd = testFolder();
	expect(await writeDriver("acme", { cwd })).toBe("xk6-acme");
	const folder = path.join(cwd, "xk6-acme");
	expect(files(folder)).toEqual(
		files(TEMPLATE)
			.map((file) => file.replace("mybroker", "acme"))
			.sort(),
	);
	const texts = files(folder).map((file) => readFileSync(path.join(folder, file), "utf8"));
	expect(texts.join("")).not.toMatch(/mybroker|My Broker|extensions\/examples/);
	const [, contract = ""] =
		/^replace \S+ => "(.*)"$/m.exec(readFileSync(path.join(folder, "go.mod"), "utf8")) ?? [];
	expect(readFileSync(path.join(contract, "go.mod"), "utf8")).toContain(
		"/extensions/xk6-mqbench\n",
	);
});

test.each(["iris", "kestrel", "mybroker"])("the manifest of %s has what its driver has", (name) => {
	const read = (file: string) =>
		readFileSync(path.join(packageFolder, "extensions/examples", `xk6-${name}`, file), "utf8");
	const { broker, urls, options, traits } = Manifest.parse(JSON.parse(read("mqbench.json")));
	const code = read(`${name}.go`);
	expect(code).toContain(`SimpleDriver("${broker}", "${urls[broker]}", `);
	expect(code.includes("Acks: true")).toBe("acks" in traits);
	for (const [key, { default: usual }] of Object.entries(options?.properties ?? {}))
		expect(code.toLowerCase()).toContain(`options{${key}: ${usual}}`);
});

test.each([
	["My-Broker", /lowercase letters and digits, e\.g\. mybroker/],
	["../up", /lowercase letters/],
	["kafka", /mqbench has the driver kafka already/],
	["there", /xk6-there exists already and stays as it is/],
])("%s is refused, and nothing is written", async (name, words) => {
	const cwd = testFolder();
	mkdirSync(path.join(cwd, "xk6-there"));
	await expect(writeDriver(name, { cwd })).rejects.toThrow(words);
	expect(files(cwd)).toEqual([]);
});
