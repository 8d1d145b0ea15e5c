const JQ = 'read result.json with jq; reports/FORMATS.md, "Exports", has the lines';

/** Former options (`--allow-code`), their values (`--export otava`), scenario keys (`machine:`) and values (`server: nats`). */
const REMOVED: Readonly<Record<string, string>> = {
	"machine:":
		"put such settings into the machine's image; environment.json and reports have those of every machine",
	"--export otava": JQ,
	"--export bencher": JQ,
	"--export omb": JQ,
	"--allow-code": "npx mqbench plan lists the programs, files and variables that a scenario uses",
	"--system": "write --only, as in --only 'nats/*'",
	"--png":
		"npx mqbench report --svg draws the charts as files, and each chart of report.html can be saved as PNG",
	"--yaml": "the rights are in infra/kubernetes/rbac.yaml",
	"--context": "npx mqbench rigs lists what is rented; its help says how to list pods in a cluster",
	"--k6-operator": "write target: kubernetes",
	"manifests:": "apply them with kubectl, and write target: existing",
	"ready:": "wait with kubectl, and write target: existing",
	"storage:": "write durability: memory; without it a JetStream stream is in files",
	"server: nats": "start nats-server yourself, and write target: existing",
};

export function removed(word: string): string | undefined {
	return Object.hasOwn(REMOVED, word) ? `${word} no longer exists; ${REMOVED[word]}.` : undefined;
}

/** For a command line's first removed word: `--option`, `--option=value` or `--option value`. */
export function removedOption(argv: readonly string[]): string | undefined {
	return argv
		.flatMap((word, i) =>
			word.startsWith("--")
				? [word.replace(/=.*/s, ""), word.replace("=", " "), `${word} ${argv[i + 1]}`]
				: [],
		)
		.map(removed)
		.find((message) => message !== undefined);
}
