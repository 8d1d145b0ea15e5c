import { expect, test } from "vitest";
import { brokerDisk } from "./broker-disk.ts";

/** The disk before and after a run. */
const disk = (target: "local" | "existing", ...free: (number | null)[]) =>
	brokerDisk({ target }, () => free.shift() ?? null);

test("messages that failed on a disk that ran full are the disk's", () => {
	expect(disk("local", 4e9, 1e9)(12)).toMatch(
		/^the broker's disk ran full: of 4GB free at .*, 1GB were left\. Make room/,
	);
});

test("and stay so when topics and their messages are gone", () => {
	const full = disk("local", 4e9, 1e9, 4e9);
	expect(full(12)).toBe(full(12));
});

test.each<[string, ReturnType<typeof disk>, number]>([
	["nothing failed", disk("local", 4e9, 1e9), 0],
	["there was room", disk("local", 4e9, 2e9), 12],
	["the broker is elsewhere", disk("existing", 4e9, 1e9), 12],
	["the disk does not say", disk("local", null), 12],
])("and nothing is said where %s", (_, full, failed) => {
	expect(full(failed)).toBeNull();
});
