const JQ = 'read result.json with jq; reports/README.md, "Exports", has the lines';

/**
 * What mqbench took once, as one writes it, and what to do instead: an option (`--allow-code`), an option's value
 * (`--export otava`), a key of a scenario (`machine:`) or its value (`server: nats`). The only place for such words.
 */
const REMOVED: Readonly<Record<string, string>> = {
	"machine:":
		"put such settings into the machine's image; environment.json and reports have those of every machine",
	"--export otava": JQ,
	"--export bencher": JQ,
	"--export omb": JQ,
	"--allow-code": "mqbench plan lists the programs, files and variables that a scenario uses",
	"--system": "write --only, as in --only 'nats/*'",
	"--png":
		"mqbench report --svg draws the charts as files, and each chart of report.html can be saved as PNG",
	"--yaml": "the rights are in infra/kubernetes/rbac.yaml; mqbench plan shows the pods",
	"--k6-operator": "write target: kubernetes",
	"manifests:": "apply them with kubectl, and write target: existing",
	"ready:": "wait with kubectl, and write target: existing",
	"storage:": "write durability: memory; without it a JetStream stream is in files",
	"server: nats": "start nats-server yourself, and write target: existing",
};

/** The message for a word that is gone; undefined: mqbench never took it. */
export function removed(word: string): string | undefined {
	return Object.hasOwn(REMOVED, word) ? `${word} no longer exists; ${REMOVED[word]}.` : undefined;
}

/** The message for the first word of a command line that is gone: `--option`, `--option=value` or `--option value`. */
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
