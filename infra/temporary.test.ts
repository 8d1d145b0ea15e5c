import {
	chmodSync,
	chownSync,
	existsSync,
	mkdirSync,
	readdirSync,
	symlinkSync,
	utimesSync,
	writeFileSync,
} from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
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
		mkdirSync(full, { mode: 0o700 });
		if (owner !== null) writeFileSync(path.join(full, ".owner"), owner);
		const at = Date.now() / 1000 - days * 86_400;
		utimesSync(full, at, at);
	};
	folder(`mqbench-${NOBODY}-killed`, gone);
	folder(`mqbench-${NOBODY}-before`, gone.replace(/\.\w+\./, ".00000000."));
	// The meaning of these is unknown.
	for (const [i, text] of ["4711", "4711:1", "x:y@z"].entries())
		folder(`mqbench-${NOBODY}-odd00${i}`, text, 2);
	// Another process has got the number since.
	folder(`mqbench-${process.pid}-reused`, own.replace(/:\w*@/, ":1@"));
	folder(`mqbench-${NOBODY}-partly`, null, 2);
	// In a container that shares the folder, the same number may be anybody's.
	folder(`mqbench-${NOBODY}-inside`, gone.replace(/\w+$/, "00000000"), 2);
	folder(`mqbench-${NOBODY}-abroad`, gone.replace(/@\w+/, "@00000000"), 2);
	folder(`mqbench-${NOBODY}-making`, null);
	folder("mqbench-hosts-12-abcdef", null, 2);
	await sweep([parent, path.join(parent, "nowhere")]);
	expect(readdirSync(parent).sort()).toEqual(
		[
			path.basename(made),
			`mqbench-${NOBODY}-abroad`,
			`mqbench-${NOBODY}-inside`,
			`mqbench-${NOBODY}-making`,
			...[0, 1, 2].map((i) => `mqbench-${NOBODY}-odd00${i}`),
			"mqbench-hosts-12-abcdef",
		].sort(),
	);
});

describe("what others have put there", () => {
	const asRoot = process.getuid?.() === 0;

	test("under our names stays: a link, and a folder that others may write in", async () => {
		const parent = testFolder();
		const mine = path.join(testFolder(), "mine");
		mkdirSync(mine, { mode: 0o700 });
		writeFileSync(path.join(mine, ".owner"), gone);
		symlinkSync(mine, path.join(parent, `mqbench-${NOBODY}-linked`));
		const open = path.join(parent, `mqbench-${NOBODY}-public`);
		mkdirSync(open);
		writeFileSync(path.join(open, ".owner"), gone);
		chmodSync(open, 0o777);
		await sweep([parent]);
		expect(readdirSync(mine)).toEqual([".owner"]);
		expect(readdirSync(parent)).toHaveLength(2);
	});

	test("and ours stay, where others could exchange them for links", async () => {
		const parent = testFolder();
		const folder = path.join(parent, `mqbench-${NOBODY}-killed`);
		mkdirSync(folder, { mode: 0o700 });
		writeFileSync(path.join(folder, ".owner"), gone);
		chmodSync(parent, 0o777);
		await sweep([parent]);
		expect(existsSync(folder)).toBe(true);
		// As /tmp is.
		chmodSync(parent, 0o1777);
		await sweep([parent]);
		expect(existsSync(folder)).toBe(false);
	});

	test.runIf(asRoot)("under another user's number stays", async () => {
		const parent = testFolder();
		const folder = path.join(parent, `mqbench-${NOBODY}-theirs`);
		mkdirSync(folder, { mode: 0o700 });
		writeFileSync(path.join(folder, ".owner"), gone);
		chownSync(folder, 12345, 12345);
		await sweep([parent]);
		expect(existsSync(folder)).toBe(true);
	});
});
