import { Command } from "commander";
import { expect, test } from "vitest";
import { COMMANDS } from "./command-list.ts";
import { topicNames } from "./explain/topics.ts";
import { fakeWorld } from "./world.fake.ts";

test.each(Object.entries(COMMANDS))(
	"the list of commands shows %s with the arguments that it has",
	async (name, { usage, load }) => {
		const command = new Command(name);
		const { declare } = await load();
		declare(command, { argv: [], world: fakeWorld(), exit: () => {} });
		expect(command.usage()).toBe(usage);
	},
);

test("the words that explain is shown with are the first of its list", () => {
	expect(COMMANDS.explain.description).toMatch(
		new RegExp(`e\\.g\\. ${topicNames.slice(0, 4).join(", ")}$`),
	);
});
