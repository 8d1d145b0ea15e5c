import { openSync, readSync } from "node:fs";

/** For tests: what a program is built for, as the kernel reads it in the file's own header (man 5 elf). */
export function builtFor(file: string): string {
	const head = Buffer.alloc(20);
	readSync(openSync(file, "r"), head);
	const is64 = head.readUInt8(4) === 2 && head.readUInt8(5) === 1;
	if (head.toString("latin1", 0, 4) !== "\x7fELF" || !is64) return "no 64-bit ELF";
	const machine = head.readUInt16LE(18);
	return `linux/${MACHINES[machine] ?? machine}`;
}

// --- internal ---

/** e_machine: EM_X86_64, EM_AARCH64. */
const MACHINES: Readonly<Record<number, string>> = { 62: "amd64", 183: "arm64" };
