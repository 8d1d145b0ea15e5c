import { expect, test } from "vitest";
import { dockerSystem } from "./docker/systems.fake.ts";
import { askedOf, differences } from "./rig-asked.ts";

const asked = (written: object = {}, cpus: string | null = null) =>
	askedOf({ system: dockerSystem({ broker: "nats", ...written }), cpus });

test("what a broker has to be from its start is kept, and nothing else", () => {
	expect(asked({ mode: "jetstream", nodes: 3, config: { write_deadline: "2s" } }, "0-1")).toEqual({
		nodes: 3,
		config: { write_deadline: "2s" },
		pin: "0-1",
	});
	const config = Object.assign(Object.create(null), { a: "1" });
	expect(differences({ config: { a: "1" } }, asked({ config }))).toEqual([]);
	expect(differences(asked({ mode: "core" }), asked({ mode: "core" }))).toEqual([]);
});

test.each([
	[{}, null, "nodes not given (the rig: 3)"],
	[{ nodes: 3, version: "2.9" }, null, "version 2.9 (the rig: not given)"],
	[{ nodes: 3 }, "1", "pin 1 (the rig: not given)"],
	// Its values may be secrets.
	[{ nodes: 3, config: { token: "s3cret" } }, null, "config"],
] as const)("%o, pin %s, differs by %s", (written, pin, text) => {
	expect(
		differences(
			asked({ nodes: 3, mode: "jetstream" }),
			asked({ mode: "jetstream", ...written }, pin),
		),
	).toEqual([text]);
});
