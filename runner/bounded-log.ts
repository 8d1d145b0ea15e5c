import { createWriteStream, statSync } from "node:fs";
import { appendFile, readFile, rm } from "node:fs/promises";
import { formatBytes, plural } from "./units.ts";

const PART_BYTES = 16 << 20;
/** A log takes at most three parts: the first, and the last two. */
export const LOG_BYTES = 3 * PART_BYTES;

/**
 * Appends lines to a file that stays bounded. The lines between its first part and the last two are left out, and one line says how many.
 * While it is open, the last parts are in `<file>.1`, `<file>.2`, ...
 */
export function openBoundedLog(file: string, partBytes = PART_BYTES) {
	const parts: Part[] = [];
	const leftOut = { lines: 0, bytes: 0 };
	let closing = Promise.resolve();
	let made = 0;
	const end = ({ stream }: Part) => {
		const ended = new Promise<void>((resolve) => {
			if (stream.closed) resolve();
			else stream.once("close", resolve).end();
		});
		closing = closing.then(() => ended);
	};
	const add = () => {
		const [oldest] = parts.length > 2 ? parts.splice(1, 1) : [];
		if (oldest) {
			leftOut.lines += oldest.lines;
			leftOut.bytes += oldest.bytes;
			closing = closing.then(() => rm(oldest.path, { force: true }));
		}
		const part = partOf(file, made++);
		parts.push(part);
		return part;
	};
	return {
		write(line: string): void {
			let part = parts.at(-1) ?? add();
			if (part.bytes >= partBytes) {
				end(part);
				part = add();
			}
			part.bytes += Buffer.byteLength(line) + 1;
			part.lines++;
			part.stream.write(`${line}\n`);
		},
		async close(): Promise<void> {
			for (const part of parts.slice(-1)) end(part);
			await closing;
			const what = `${plural(leftOut.lines, "line")} (${formatBytes(leftOut.bytes)})`;
			try {
				if (leftOut.lines > 0) await appendFile(file, `mqbench: ${what} left out here\n`);
				for (const { path } of parts.slice(1)) {
					await appendFile(file, await readFile(path));
					await rm(path);
				}
			} catch {
				// The disk is full: the parts stay where they are.
			}
		},
	};
}

// --- internal ---

type Part = ReturnType<typeof partOf>;

function partOf(file: string, number: number) {
	const path = number === 0 ? file : `${file}.${number}`;
	const bytes = number === 0 ? (statSync(file, { throwIfNoEntry: false })?.size ?? 0) : 0;
	// A full disk must not end the run: a log is only a help.
	const stream = createWriteStream(path, { flags: number === 0 ? "a" : "w" }).on("error", () => {});
	return { path, stream, bytes, lines: 0 };
}
