import { createWriteStream, statSync, type WriteStream } from "node:fs";
import { appendFile, readFile, rm } from "node:fs/promises";
import { formatBytes, plural } from "./units.ts";

/** A log takes at most three parts: the first, and the last two. */
export const LOG_PART_BYTES = 16 << 20;
export const LOG_BYTES = 3 * LOG_PART_BYTES;

/**
 * Appends lines to a file that stays bounded. The lines between its first part and the last two are left out, and one line says how many.
 * While it is open, the last parts are in `<file>.1`, `<file>.2`, ...
 */
export function openBoundedLog(file: string, partBytes = LOG_PART_BYTES) {
	const parts: Part[] = [];
	const leftOut = { lines: 0, bytes: 0 };
	let closing = Promise.resolve();
	const add = () => {
		const older = parts.length > 2 ? parts.splice(1, 1)[0] : undefined;
		if (older) {
			leftOut.lines += older.lines;
			leftOut.bytes += older.bytes;
			closing = closing.then(() => rm(older.path, { force: true }));
		}
		const number = (parts.at(-1)?.number ?? -1) + 1;
		const path = number === 0 ? file : `${file}.${number}`;
		const stream = createWriteStream(path, { flags: number === 0 ? "a" : "w" });
		// A full disk must not end the run: a log is only a help.
		stream.on("error", () => {});
		const bytes = number === 0 ? (statSync(file, { throwIfNoEntry: false })?.size ?? 0) : 0;
		const part = { number, path, stream, bytes, lines: 0 };
		parts.push(part);
		return part;
	};
	const end = ({ stream }: Part) => {
		const ended = new Promise<void>((resolve) => {
			if (stream.closed) resolve();
			else stream.once("close", resolve).end();
		});
		closing = closing.then(() => ended);
	};
	return {
		write(line: string): void {
			const text = `${line}\n`;
			let part = parts.at(-1) ?? add();
			if (part.bytes >= partBytes) {
				end(part);
				part = add();
			}
			part.bytes += Buffer.byteLength(text);
			part.lines++;
			part.stream.write(text);
		},
		async close(): Promise<void> {
			const last = parts.at(-1);
			if (last) end(last);
			await closing;
			try {
				if (leftOut.lines > 0) {
					const what = `${plural(leftOut.lines, "line")} (${formatBytes(leftOut.bytes)})`;
					await appendFile(file, `mqbench: ${what} left out here\n`);
				}
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

interface Part {
	readonly number: number;
	readonly path: string;
	readonly stream: WriteStream;
	bytes: number;
	lines: number;
}
