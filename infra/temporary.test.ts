import { execFileSync, spawnSync } from "node:child_process";
import {
	existsSync,
	mkdirSync,
	readdirSync,
	utimesSync,
	writeFileSync,
} from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";
import { expect, test } from "vitest";
import { ownerText } from "./owner.ts";
import { sweep, temporaryFolder } from "./temporary.ts";
import { testFolder } from "./test-folder.fake.ts";

/** A number that no process has. */
const NOBODY = 2 ** 22 + 1;

const own = ownerText(process.pid);
const gone = own.replace(/^\d+/, String(NOBODY));

test("what processes that are gone have left is removed, what belongs to others stays", async () => {
	const parent = testFolder();
	const made = await temporaryFolder(parent);
	const folder = (name: string, owner: string | null, days = 0) => {
		const full = path.join(parent, name);
		mkdirSync(full);
		if (owner !== null) writeFileSync(path.join(full, ".owner"), owner);
		const at = Date.now() / 1000 - days * 86_400;
		utimesSync(full, at, at);
	};
	folder(`mqbench-${NOBODY}-killed`, gone);
	// Another process has got the number since.
	folder(`mqbench-${process.pid}-reused`, own.replace(/:\w*@/, ":1@"));
	folder(`mqbench-${NOBODY}-partly`, null, 2);
	// In a container that shares the folder, the same number may be anybody's.
	folder(`mqbench-${NOBODY}-inside`, gone.replace(/\w+$/, "00000000"), 2);
	folder(`mqbench-${NOBODY}-abroad`, gone.replace(/@\w+/, "@00000000"), 2);
	folder(`mqbench-${NOBODY}-making`, null);
	folder(`mqbench-${process.pid}-mayhap`, null, 2);
	folder("mqbench-hosts-12-abcdef", null, 2);
	await sweep([parent, path.join(parent, "nowhere")]);
	expect(readdirSync(parent).sort()).toEqual(
		[
			path.basename(made),
			`mqbench-${NOBODY}-abroad`,
			`mqbench-${NOBODY}-inside`,
			`mqbench-${NOBODY}-making`,
			`mqbench-${process.pid}-mayhap`,
			"mqbench-hosts-12-abcdef",
		].sort(),
	);
});

const mayUnshare =
	spawnSync("unshare", ["--pid", "--fork", "--mount-proc", "true"]).status ===
	0;

test.skipIf(!mayUnshare)(
	"the folder of a running mqbench in another container stays",
	async () => {
		const parent = testFolder();
		const made = await temporaryFolder(parent);
		const bundle = await rolldown({
			input: fileURLToPath(new URL("./temporary.ts", import.meta.url)),
			platform: "node",
		});
		const file = path.join(testFolder(), "temporary.mjs");
		await bundle.write({ file });
		await bundle.close();
		// There this process has no number at all, and what is made there has a number of there.
		const inside = execFileSync(
			"unshare",
			[
				...["--pid", "--fork", "--mount-proc", process.execPath],
				...["--input-type=module", "--eval"],
				`import { sweep, temporaryFolder } from ${JSON.stringify(file)};
				const parent = ${JSON.stringify(parent)};
				await sweep([parent]);
				console.log(await temporaryFolder(parent));`,
			],
			{ encoding: "utf8" },
		).trim();
		expect(existsSync(made)).toBe(true);
		await sweep([parent]);
		expect(existsSync(inside)).toBe(true);
		expect(existsSync(made)).toBe(true);
	},
);
