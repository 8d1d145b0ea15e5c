import { readFileSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { platformName } from "../platform.ts";
import { type FakeGo, machine } from "./go.fake.ts";
import { pathOf } from "./real.fake.ts";

const HERE = platformName(process.platform, process.arch);
const OTHER = HERE === "linux/arm64" ? "linux/amd64" : "linux/arm64";

/** A Go whose programs say what they were built for. */
const LABELS: FakeGo = {
	build: `
		while [ "$1" != -o ]; do shift; done
		for program in k6 nats-server agent; do
			printf '#!/bin/sh\\n# %s %s/%s %s k6/x/mqbench\\n' $program $GOOS $GOARCH "$GOAMD64 $GOARM64 $CGO_ENABLED" > "$2$program"
			chmod +x "$2$program"
		done`,
};

test("programs for hosts of this machine's own platform are its own", async () => {
	const { resolve, commands } = machine();
	const own = await resolve();
	const before = commands().length;
	expect(await own.on(HERE, "h1")).toBe(own);
	expect(commands()).toHaveLength(before);
});

test.each(["linux/amd64", "linux/arm64"])(
	"programs for %s are built for it, when a host is the first that needs them, and for any processor of that kind",
	async (platform) => {
		const { resolve, told } = machine(LABELS, { GOAMD64: "v4", GOARM64: "v9.0" });
		const own = await resolve();
		expect(told.filter((line) => line.startsWith("begin"))).toEqual(["begin"]);
		const theirs = await own.on(platform, "h1");
		for (const program of ["k6", "nats-server", "agent"] as const) {
			expect(readFileSync(pathOf(theirs, program), "utf8")).toContain(
				`# ${program} ${platform} v1 v8.0 0 `,
			);
			expect(readFileSync(pathOf(own, program), "utf8")).toContain(`${program} ${HERE}`);
			expect(path.basename(pathOf(theirs, program))).toBe(program);
			expect(statSync(pathOf(theirs, program)).mode & 0o111).not.toBe(0);
		}
		expect(theirs.go).toBe("go1.26.8");
		if (platform !== HERE) expect(told).toContain(`begin ${platform}`);
	},
);

test("programs for other hosts are built once, also when several hosts need them at the same moment", async () => {
	const { resolve, told, commands } = machine();
	const own = await resolve();
	const all = await Promise.all(["h1", "h2", "h3"].map((host) => own.on(OTHER, host)));
	const again = await (await resolve()).on(OTHER, "h1");
	for (const one of all) expect(one.k6).toBe(again.k6);
	expect(again.k6).not.toBe(own.k6);
	expect(told.filter((line) => line === `begin ${OTHER}`)).toHaveLength(1);
	expect(commands().filter((line) => line.startsWith("build "))).toHaveLength(2);
});

test("a build for other hosts that fails is made again by the next one that needs it", async () => {
	const { resolve, folder } = machine(
		{ list: '[ "$GOOS/$GOARCH" = "$THIS" ] || [ -e "$PWD/../mended" ] || exit 1; echo a' },
		{ THIS: HERE },
	);
	const own = await resolve();
	await expect(own.on(OTHER, "h1")).rejects.toMatchObject({ code: "go-build" });
	writeFileSync(path.join(folder, "mended"), "");
	expect((await own.on(OTHER, "h1")).k6).not.toBe(own.k6);
});

test("a host of a platform for which there are no programs is named, with those that there are", async () => {
	const { resolve } = machine();
	const own = await resolve();
	await expect(own.on("linux/riscv64", "bench@h1")).rejects.toMatchObject({
		code: "programs-missing",
		exit: 3,
		message: expect.stringMatching(
			/^bench@h1: it is linux\/riscv64, and mqbench has no programs for that, only for linux\/amd64 (, |and )?.*linux\/arm64.*\. Name other hosts, or run mqbench on one that is linux\/riscv64\.$/,
		),
	});
});

test("without Go a host of another platform is named, with the ways out", async () => {
	const { resolve, folder } = machine();
	const own = await resolve();
	// Go was there when the programs of this machine were built.
	writeFileSync(path.join(folder, "bin", "go"), "exit 127\n");
	await expect(own.on(OTHER, "bench@h1")).rejects.toMatchObject({
		code: "programs-missing",
		message: `bench@h1: it is ${OTHER}, and its programs have to be built here with Go, which is not on PATH. Install Go (https://go.dev/dl, or your distribution's package), name hosts that are ${HERE}, or run mqbench on one that is ${OTHER}.`,
	});
});
