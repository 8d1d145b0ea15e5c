import { expect, test } from "vitest";
import { type FakeWorld, fakeWorld } from "../../runner/world.fake.ts";
import { type Confirming, confirmOffer } from "./confirm.ts";
import type { Offer } from "./provider.ts";

const OFFER = {
	cloud: "aws",
	config: { ttlMinutes: 120 },
	machines: { "i4i.xlarge": 3 },
	hourlyUsd: 1.87,
	unpriced: null,
	lines: ["brokers  3 x i4i.xlarge", "zone     eu-central-1a"],
	warnings: ["the network lives on burst credit"],
} as unknown as Offer;

const UNPRICED: Offer = {
	...OFFER,
	hourlyUsd: null,
	unpriced: "you may not call pricing:GetProducts",
};

/** What came of it: "taken", or the code and the sentence. */
async function answer(
	offer: Offer,
	confirming: Confirming,
	person: ((question: string) => Promise<string>) | null = null,
): Promise<{ said: string; world: FakeWorld; exit: number }> {
	const world = fakeWorld({ ask: person });
	try {
		await confirmOffer(offer, confirming, world);
		return { said: "taken", world, exit: 0 };
	} catch (error) {
		const { message, exit } = error as { message: string; exit: number };
		return { said: message, world, exit };
	}
}

test("the offer is shown, with what the planned time costs", async () => {
	const { world } = await answer(OFFER, { yes: true, plannedNs: 1_200e9 });
	expect(world.err()).toBe(`To be rented from AWS:
  brokers  3 x i4i.xlarge
  zone     eu-central-1a
Warning: the network lives on burst credit
Price: about $1.87 an hour without internet traffic, at most $0.62 for the run (20min), at most $3.74 until they end themselves (2h).
`);
	expect(world.out()).toBe("");
});

test.each([
	["y", "taken"],
	[" Yes ", "taken"],
	["", "Nothing was rented, because you did not agree."],
	["n", "Nothing was rented, because you did not agree."],
	["yesterday", "Nothing was rented, because you did not agree."],
])("to %j at the terminal: %s", async (words, said) => {
	const questions: string[] = [];
	const found = await answer(OFFER, {}, async (question) => {
		questions.push(question);
		return words;
	});
	expect(found.said).toBe(said);
	expect(questions).toEqual(["Rent them for about $1.87 an hour? [y/N] "]);
});

test("with --yes nobody is asked", async () => {
	const found = await answer(OFFER, { yes: true }, () => {
		throw new Error("somebody was asked");
	});
	expect(found.said).toBe("taken");
});

test("without a terminal it takes --yes", async () => {
	expect(await answer(OFFER, {})).toMatchObject({
		exit: 2,
		said: "Machines that cost money are rented only when you agree, and there is no terminal to ask at. Nothing was rented; add --yes, and --max-hourly-usd for a limit.",
	});
});

test.each([
	[
		1.86,
		"The machines cost about $1.87 an hour, and --max-hourly-usd allows $1.86. Nothing was rented; take smaller or fewer machines, or raise it.",
	],
	[1.87, "taken"],
	[2, "taken"],
])("with --max-hourly-usd %s: %s", async (maxHourlyUsd, said) => {
	expect((await answer(OFFER, { yes: true, maxHourlyUsd })).said).toBe(said);
});

test("a limit cannot be kept when nobody knows the price", async () => {
	expect(await answer(UNPRICED, { yes: true, maxHourlyUsd: 5 })).toMatchObject({
		exit: 2,
		said: "--max-hourly-usd cannot be kept, because the price is not known: you may not call pricing:GetProducts. Nothing was rented; drop --max-hourly-usd to rent all the same.",
	});
});

test("a price that is not known is asked about as such", async () => {
	const questions: string[] = [];
	const { world } = await answer(UNPRICED, {}, async (question) => {
		questions.push(question);
		return "y";
	});
	expect(questions).toEqual(["Rent them, at a price that is not known? [y/N] "]);
	expect(world.err()).toContain(
		"Price: not known: you may not call pricing:GetProducts; they end themselves after 2h.\n",
	);
});
