import { expect, test } from "vitest";
import { dockerSystem } from "./docker/systems.fake.ts";
import { askedOf, differences } from "./rig-asked.ts";

const asked = (written: object = {}, cpus: string | null = null) =>
	askedOf({ system: dockerSystem({ broker: "nats", ...written }), cpus });

test("what a broker has to be from its start is kept, and nothing else", () => {
	expect(
		asked(
			{
				mode: "jetstream",
				nodes: 3,
				cpus: 2,
				memory: "512MiB",
				image: "nats:2",
				config: { write_deadline: "2s" },
			},
			"0-1",
		),
	).toEqual({
		nodes: 3,
		cpus: 2,
		memory: 512 * 1024 ** 2,
		image: "nats:2",
		config: { write_deadline: "2s" },
		pin: "0-1",
	});
	const config = Object.assign(Object.create(null), { a: "1" });
	expect(differences({ config: { a: "1" } }, asked({ config }))).toEqual([]);
	expect(differences(asked({ mode: "core" }), asked({ mode: "core" }))).toEqual([]);
});

test.each([
	[{ cpus: 0.5 }, null, "cpus 0.5 (the rig: 2)"],
	[{}, null, "cpus not given (the rig: 2)"],
	[{ cpus: 2, memory: "64MiB" }, null, "memory 64MiB (the rig: not given)"],
	[{ cpus: 2, image: "other" }, null, "image other (the rig: not given)"],
	[{ cpus: 2, version: "2.9" }, null, "version 2.9 (the rig: not given)"],
	[{ cpus: 2, mode: "jetstream", nodes: 3 }, null, "nodes 3 (the rig: not given)"],
	[{ cpus: 2 }, "1", "pin 1 (the rig: not given)"],
	// Its values may be secrets.
	[{ cpus: 2, config: { token: "s3cret" } }, null, "config"],
] as const)("%o, pin %s, differs by %s", (written, pin, text) => {
	expect(differences(asked({ cpus: 2 }), asked(written, pin))).toEqual([text]);
});
