import { expect, test } from "vitest";
import { rentedFile } from "../../infra/cloud/cloud.fake.ts";
import { around, loadScenario } from "./load.ts";
import type { GivenRig, Overrides } from "./overrides.ts";
import { RigFile } from "./rig-file.ts";

const AWS =
	"aws: { region: eu-central-1, brokers: { instance: i4i.xlarge }, clients: { instance: c6in.xlarge } }\n";
const load = (text: string, overrides: Overrides = {}, rig?: GivenRig) =>
	loadScenario(
		"s.yaml",
		`${text}machine: { maxCState: 1, smt: off }\nsystem: nats\nworkload: { rate: 3/s, message: 256B, duration: 9s }\n`,
		overrides,
		{},
		{ ...around("s.yaml"), rig },
	).machine;
const ASKED = { maxCState: 1, smt: "off", interruptModeration: null };
const NOTHING = { maxCState: null, smt: null, interruptModeration: null };

test("settings of machines are those that are rented for the scenario", () => {
	expect(load(`target: aws\n${AWS}`)).toEqual(ASKED);
});

test("of a rig with hosts they are asked for as well: it was set when it was stood up", () => {
	const rig = RigFile.parse({
		...rentedFile,
		brokers: [{ system: "nats", broker: "nats", hosts: [{ host: "b1", address: "10.0.0.1" }] }],
	});
	expect(load("", { rig: "rig.json" }, { path: "rig.json", rig })).toEqual(ASKED);
});

test.each(["local", "docker"])(
	"on target %s they are refused, and left aside where the command line has chosen it",
	(target) => {
		expect(() => load(`target: ${target}\n`)).toThrow(
			`machine is set on machines that mqbench rents, and this target is ${target}, where settings are only recorded; remove it, or write target: aws`,
		);
		expect(load(`target: aws\n${AWS}`, { target })).toEqual(NOTHING);
		expect(() => load(`target: aws\n${AWS}`, { target, set: ["machine.maxCState=1"] })).toThrow(
			"machine is set on machines that mqbench rents",
		);
	},
);
