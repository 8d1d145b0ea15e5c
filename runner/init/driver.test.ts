import { mkdirSync, readdirSync, readFileSync, statSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { testFolder } from "../../infra/test-folder.fake.ts";
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
