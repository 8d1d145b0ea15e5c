/** Replaces the Node functions that mqbench uses: Sobek in k6 has only the language; extensions/xk6-mqbench/runner adds files and speed. */

/** Provided by Go. Bytes are ArrayBuffers; errors have the operating system's `code`, as in Node. */
declare const go: {
	readonly platform: string;
	readonly version: string;
	stat(path: string): { size: number; folder: boolean } | null;
	list(path: string): { name: string; folder: boolean }[];
	read(path: string, at: number, bytes: number): ArrayBuffer;
	resolve(path: string): string;
	inflate(bytes: ArrayBuffer): ArrayBuffer;
	sha256(): { update(bytes: ArrayBuffer): void; digest(): string };
	random(bytes: number): string;
	encode(text: string, encoding: string): ArrayBuffer;
	decode(bytes: ArrayBuffer, encoding: string): string;
	url(text: string): Record<string, string> | null;
};

class HostBuffer extends Uint8Array {
	static alloc(bytes: number) {
		return new HostBuffer(bytes);
	}
	static allocUnsafe(bytes: number) {
		return new HostBuffer(bytes);
	}
	static byteLength(text: string) {
		return go.encode(text, "utf8").byteLength;
	}
	override toString(encoding = "utf8", start = 0, end = this.length) {
		return go.decode(whole(this.subarray(start, end)), encoding);
	}
	readInt32BE(at: number) {
		return this.#view().getInt32(at);
	}
	readBigInt64BE(at: number) {
		return this.#view().getBigInt64(at);
	}
	#view() {
		return new DataView(this.buffer, this.byteOffset, this.byteLength);
	}
}

/** Assigned because the parameters differ from Uint8Array.from. */
const Buffer = Object.assign(HostBuffer, {
	from: (given: string | ArrayBuffer, encoding = "utf8") =>
		new HostBuffer(typeof given === "string" ? go.encode(given, encoding) : given),
});

const fs = {
	existsSync: (path: string) => go.stat(path) !== null,
	statSync: (path: string) => {
		const found = go.stat(path);
		return (
			found && { size: found.size, isFile: () => !found.folder, isDirectory: () => found.folder }
		);
	},
	lstatSync: (path: string, _?: object) => {
		const found = fs.statSync(path);
		return found && { ...found, isSymbolicLink: () => false };
	},
	readFileSync: (path: string) => go.decode(go.read(path, 0, go.stat(path)?.size ?? 0), "utf8"),
	readdirSync: (path: string, { withFileTypes = false } = {}) =>
		go
			.list(path)
			.map(({ name, folder }) => (withFileTypes ? { name, isFile: () => !folder } : name)),
	openSync: (path: string) => path,
	closeSync: () => {},
	fstatSync: (path: string) => fs.statSync(path),
	readSync: (path: string, into: Uint8Array, offset: number, bytes: number, at: number) => {
		const read = new Uint8Array(go.read(path, at, bytes));
		into.set(read, offset);
		return read.length;
	},
};

const posix = {
	sep: "/",
	join: (...parts: string[]) => normal(parts.filter((part) => part !== "").join("/")),
	dirname: (path: string) => /^(.+)\/[^/]*$/.exec(path)?.[1] ?? ".",
	basename: (path: string) => path.replace(/^.*\//, ""),
	relative: (from: string, to: string) =>
		to.startsWith(`${from}/`) ? to.slice(from.length + 1) : "..",
	isAbsolute: (path: string) => path.startsWith("/"),
	resolve: (...parts: string[]) => {
		const from = parts.findLastIndex((part) => part.startsWith("/"));
		return go.resolve(parts.slice(Math.max(0, from)).join("/"));
	},
};

const crypto = {
	createHash: () => {
		const hash = go.sha256();
		const made = {
			update(given: string | Uint8Array) {
				hash.update(typeof given === "string" ? go.encode(given, "utf8") : whole(given));
				return made;
			},
			digest: () => hash.digest(),
		};
		return made;
	},
	randomBytes: (bytes: number) => ({ toString: () => go.random(bytes) }),
};

/** Decodes text whose bytes come in pieces: a character that is cut off waits for the next piece. */
class StringDecoder {
	#rest = new Uint8Array(0);
	write(piece: Uint8Array) {
		const all = new HostBuffer(this.#rest.length + piece.length);
		all.set(this.#rest);
		all.set(piece, this.#rest.length);
		// UTF-8: the first byte of a character determines how many follow, each of which is 10xxxxxx.
		let last = all.length - 1;
		while (last >= 0 && ((all[last] ?? 0) & 0xc0) === 0x80) last--;
		const first = all[last] ?? 0;
		const bytes = first < 0xc0 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
		const end = all.length - last < bytes ? last : all.length;
		this.#rest = all.slice(end);
		return all.toString("utf8", 0, end);
	}
	end() {
		return new HostBuffer(whole(this.#rest)).toString();
	}
}

const os = { platform: () => go.platform };
const zlib = { inflateSync: (bytes: Uint8Array) => new HostBuffer(go.inflate(whole(bytes))) };

Object.assign(globalThis, {
	Buffer,
	TextEncoder: class {
		encode(text: string) {
			return new Uint8Array(go.encode(text, "utf8"));
		}
	},
	URL: class {
		constructor(text: string) {
			const parts = go.url(text);
			if (parts === null) throw new TypeError("Invalid URL");
			Object.assign(this, parts);
		}
		static canParse(text: string) {
			return go.url(text) !== null;
		}
	},
	Intl: {
		/** By code point: graphemes would need large tables. */
		Segmenter: class {
			segment(text: string) {
				return [...text].map((segment) => ({ segment }));
			}
		},
		/** British English only. */
		ListFormat: class {
			#word: string;
			constructor(_: string, { type = "conjunction" } = {}) {
				this.#word = type === "disjunction" ? "or" : "and";
			}
			format(list: Iterable<string>) {
				const all = [...list];
				return all.length < 2
					? all.join("")
					: `${all.slice(0, -1).join(", ")} ${this.#word} ${all.at(-1)}`;
			}
		},
	},
	node_fs: { ...fs, default: fs },
	node_path: { ...posix, posix, default: { ...posix, posix } },
	node_string_decoder: { StringDecoder },
	node_os: { ...os, default: os },
	node_crypto: { ...crypto, default: crypto },
	node_zlib: { ...zlib, default: zlib },
	node_util: {
		promisify: (call: unknown) => call,
		stripVTControlCharacters: (text: string) => text.replaceAll(CONTROL_SEQUENCES, ""),
	},
});

// --- internal ---

/** ECMA-48: CSI with its parameters, OSC up to its end, or two letters. */
const CONTROL_SEQUENCES =
	// biome-ignore lint/suspicious/noControlCharactersInRegex: the expression looks for them.
	/\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[@-Z\\-_])/g;

/** Only the bytes of the view. */
function whole(view: Uint8Array): ArrayBuffer {
	return view.buffer.slice(view.byteOffset, view.byteOffset + view.byteLength) as ArrayBuffer;
}

function normal(path: string): string {
	const parts: string[] = [];
	for (const part of path.split("/")) {
		if (part === "." || part === "") continue;
		if (part === ".." && parts.length > 0 && parts.at(-1) !== "..") parts.pop();
		else parts.push(part);
	}
	return `${path.startsWith("/") ? "/" : ""}${parts.join("/")}` || ".";
}
