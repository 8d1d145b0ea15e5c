import { expect, test } from "vitest";
import { fakeWorld } from "../../runner/world.fake.ts";
import type { Offer } from "./offer.ts";
import { offered } from "./rent.fake.ts";
import { confirmOffer, offerText, type RentOptions } from "./rent.ts";

const OFFER: Offer = {
	...offered(),
	hourlyUsd: 1.87,
	unpriced: null,
	lines: ["brokers  3 x i4i.xlarge", "zone     eu-central-1a"],
	warnings: ["the image has no cloud-init"],
};
const UNPRICED = { ...OFFER, hourlyUsd: null, unpriced: "the table has no x2.large" };
const LIST =
	"By AWS's list of 2026-01-19 for us-east-1, on demand: other regions and spot differ.\n";

/** What came of it: "taken", or the exit code and the sentence; and the questions. */
async function answer(
	offer: Offer,
	options: RentOptions,
	words: string | null = null,
): Promise<[string, ...string[]]> {
	const asked: string[] = [];
	const ask = async (question: string) => {
		asked.push(question);
		return words ?? "";
	};
	const world = fakeWorld({ ask: words === null ? null : ask });
	const end = await confirmOffer(offer, null, options, world).then(
		() => "taken",
		({ exit, message }) => `${exit} ${message}`,
	);
	expect(world.err()).toBe(`To be rented from AWS:\n${offerText(offer, null)}`);
	return [end, ...asked];
}

test("an offer is shown with the list that its price is from, and with what the planned time costs", () => {
	const ends = `up to $3.74 until they end themselves (2h). ${LIST}`;
	expect(offerText(OFFER, 1_200e9)).toBe(`  brokers  3 x i4i.xlarge
  zone     eu-central-1a
  Price: about $1.87 an hour without internet traffic, up to $0.62 for the run (20min), ${ends}  Warning: the image has no cloud-init
`);
	expect(offerText(OFFER, null)).toContain(`without internet traffic, ${ends}`);
	expect(offerText(UNPRICED, null)).toContain(
		"Price: not known: the table has no x2.large; they end themselves after 2h.\n",
	);
});

test.each([
	["y", "taken"],
	[" Yes ", "taken"],
	["", "2 Nothing was rented, because you did not agree."],
	["yesterday", "2 Nothing was rented, because you did not agree."],
])("to %j at the terminal: %s", async (words, end) => {
	const question = "Rent them for about $1.87 an hour? [y/N] ";
	expect(await answer(OFFER, {}, words)).toEqual([end, question]);
	const unknown = "Rent them, at a price that is not known? [y/N] ";
	expect(await answer(UNPRICED, {}, words)).toEqual([end, unknown]);
});

test.each<[Offer, RentOptions, string]>([
	[OFFER, { yes: true }, "taken"],
	[
		OFFER,
		{},
		"2 Machines that cost money are rented only when you agree, and there is no terminal to ask at. Nothing was rented; add --yes, and --max-hourly-usd for a limit.",
	],
	[
		OFFER,
		{ yes: true, maxHourlyUsd: "1.86" },
		"2 The machines cost about $1.87 an hour, and --max-hourly-usd allows $1.86. Nothing was rented; take smaller or fewer machines, or raise it.",
	],
	[OFFER, { yes: true, maxHourlyUsd: "1.87" }, "taken"],
	[
		UNPRICED,
		{ yes: true, maxHourlyUsd: "5" },
		"2 --max-hourly-usd cannot be kept, because the price is not known: the table has no x2.large. Nothing was rented; drop --max-hourly-usd to rent all the same.",
	],
])("without a terminal: %#", async (offer, options, end) => {
	expect(await answer(offer, options)).toEqual([end]);
});
