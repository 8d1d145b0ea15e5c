/**
 * The order of the house, from the top: a file imports (types included) from its own folder and from those below it, never from above.
 * It reads as the way of the data, backwards. `layers.test.ts` holds it; folders with the same number do not know each other.
 */
export const LAYERS: readonly (readonly string[])[] = [
	["runner/cli.ts"],
	["runner/main.ts"],
	["runner/command-list.ts"],
	["runner/commands"],
	["runner/inside-k6"],
	["runner/pipeline.ts"],
	["runner/watch"],
	["runner/init", "runner/import", "runner/doctor", "runner/explain"],
	["runner/render"],
	["runner/document", "runner/page"],
	["runner/figures"],
	["runner/chart"],
	["runner/compare"],
	["runner/result"],
	["runner/verdict", "runner/run"],
	["runner/evidence"],
	["runner/search"],
	["infra/stay-up.ts"],
	["infra/targets.ts"],
	["infra/kept.ts"],
	["infra/cloud"],
	["infra/aws"],
	["infra/kubernetes"],
	["infra/hosts"],
	["infra/clients"],
	["infra/ssh"],
	["infra/remote"],
	["infra/docker"],
	["infra/local"],
	["infra/existing"],
	["infra/nodes"],
	["infra/binaries"],
	["infra"],
	["runner/script"],
	["runner/plan"],
	["runner/scenario"],
	["runner/brokers"],
	["runner/histogram"],
	["runner/stats"],
	["runner/model"],
	// Below the model, as result.json lists the codes; it knows nothing but units, so that everybody who has found something can say it.
	["runner/text"],
	["runner/terminal"],
	["runner"],
];

/** What is not shipped may import from everywhere. */
export const ABOVE_ALL: readonly string[] = ["runner/tests", "runner/tools"];
