import {
	existsSync,
	mkdirSync,
	mkdtempSync,
	readdirSync,
	readFileSync,
	rmSync,
	statSync,
	writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import type { ExitCode } from "../../errors.ts";
import type { Result } from "../../model/result.ts";
import { filesOfResult } from "../../result/result-files.ts";
import { publishedFolder } from "../../result/stored.fake.ts";
import { fakeWorld } from "../../world.fake.ts";
import { writeExport } from "./write.ts";

interface Done {
	readonly code: ExitCode;
	/** By path below the folder of the export. */
	readonly files: Readonly<Record<string, string>>;
	readonly out: readonly string[];
	readonly err: readonly string[];
}

/** For tests: `mqbench report <folders> --export <format> --out out`, in an empty folder, which is gone afterwards. */
export function exported(format: string, folders: readonly string[]): Done {
	return inEmptyFolder((cwd) => run(format, folders, cwd));
}

/** For tests: the same for several results, stored in reports/r1, reports/r2, ... with different run ids. */
export function exportedResults(format: string, ...results: readonly Result[]): Done {
	return inEmptyFolder((cwd) => {
		for (const [i, result] of results.entries())
			store(cwd, `reports/r${i + 1}`, { ...result, runId: `run-${i + 1}` });
		return run(format, ["reports"], cwd);
	});
}

/** For tests: the rest of a run folder when its measured files are gone. */
export function store(root: string, folder: string, result: Result): void {
	for (const [name, text] of filesOfResult(result)) {
		const file = path.join(root, folder, name);
		mkdirSync(path.dirname(file), { recursive: true });
		writeFileSync(file, text);
	}
}

export const PUBLISHED = ["nats-stall", "message-queue-latency", "commit-log-latency"] as const;

/** For tests: a published result.json as it is written, not as our schema reads it. */
// biome-ignore lint/suspicious/noExplicitAny: any field of it.
export function publishedJson(name: string): any {
	const file = path.join(publishedFolder(name), "result.json");
	return JSON.parse(readFileSync(file, "utf8"));
}

// --- internal ---

function inEmptyFolder(make: (folder: string) => Done): Done {
	const folder = mkdtempSync(path.join(tmpdir(), "mqbench-export-"));
	try {
		return make(folder);
	} finally {
		rmSync(folder, { recursive: true, force: true });
	}
}

function run(format: string, folders: readonly string[], cwd: string): Done {
	const world = fakeWorld({ cwd });
	const code = writeExport({ folders, format, out: "out" }, world);
	const out = path.join(cwd, "out");
	const names = existsSync(out) ? readdirSync(out, { recursive: true }).map(String) : [];
	const files = names
		.filter((name) => statSync(path.join(out, name)).isFile())
		.map((name) => [name, readFileSync(path.join(out, name), "utf8")]);
	const lines = (text: string) => text.split("\n").filter((l) => l !== "");
	return {
		code,
		files: Object.fromEntries(files),
		out: lines(world.out()),
		err: lines(world.err()),
	};
}
