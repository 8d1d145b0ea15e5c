// Reads `go test -json`: a line for each package, all that was said of what failed in it, and each test that was skipped. With CI=true a
// skipped test fails; but what brokertest asks of every system, some systems do not have.
import { readdirSync } from "node:fs";
import { createInterface } from "node:readline";

const abilities = readdirSync("xk6-mqbench/brokertest");
/** By package and test, of what has not passed. */
const said = new Map();
const skipped = [];
let failed = false;
for await (const line of createInterface({ input: process.stdin })) {
	const { Action, ImportPath, Package, Test, Output, Elapsed } =
		JSON.parse(line);
	const key = `${Package ?? ImportPath} ${Test ?? ""}`;
	const text = said.get(key) ?? "";
	if (Output) said.set(key, text + Output);
	if (Action === "pass" || Action === "skip") said.delete(key);
	if (Action === "skip" && Test) {
		const file = /^\s+([\w.]+\.go):\d+: /m.exec(text)?.[1];
		if (!abilities.includes(file)) skipped.push(`skipped: ${key}\n${text}`);
	}
	if (Action === "pass" && !Test)
		console.log(`ok ${Package} ${Elapsed.toFixed(1)} s`);
	if (Action === "fail" && !Test) {
		failed = true;
		tell(`${Package ?? ImportPath} `);
	}
}
tell("");
process.stdout.write(skipped.join(""));
if (failed || (skipped.length > 0 && process.env.CI === "true"))
	process.exitCode = 1;

/** All that was said of what has failed, whose key begins so. */
function tell(begin) {
	for (const [key, text] of said) {
		if (!key.startsWith(begin)) continue;
		said.delete(key);
		if (failed && !/^ok |^\?/.test(text)) process.stdout.write(text);
	}
}
