import { commandLine } from "./shell.ts";
import { didYouMean } from "./suggest.ts";

/**
 * The catalogue: code -> exit code and what a person reads (where, what, what to do). A code is
 * permanent once released. Expected errors are thrown as `MqbenchError` and printed without a stack.
 */
const catalogue = {
	usage: { exit: 2, text: (d: { message: string }) => d.message },
	"unknown-command": {
		exit: 2,
		text: (d: { word: string; known: readonly string[] }) =>
			`${d.word}: neither a command nor a file${didYouMean(d.word, d.known)}\nGive a command or the path of a scenario, e.g. mqbench scenarios/quickstart.yaml; mqbench --help lists all.`,
	},
	"stdout-unwritable": {
		exit: 3,
		text: (d: { reason: string }) =>
			`The output cannot be written (${d.reason}). The results are kept all the same: mqbench report <run folder> prints them again.`,
	},
	"scenario-invalid": {
		exit: 2,
		// The report of load.ts: every mistake of the file with line, column and caret; and the same for programs.
		text: (d: { report: string; mistakes: readonly object[] }) => d.report,
	},
	"scenario-unreadable": {
		exit: 2,
		text: (d: { path: string; reason: string }) =>
			`${d.path}: cannot be read (${d.reason}). Give the path of a scenario file, e.g. mqbench scenarios/quickstart.yaml`,
	},
	"scenario-unwritable": {
		exit: 3,
		text: (d: { path: string; reason: string }) =>
			`${d.path}: cannot be written (${d.reason}). Make room or rights, or choose another path.`,
	},
	"import-unreadable": {
		exit: 2,
		text: (d: { path: string; reason: string }) =>
			`${d.path}: cannot be imported (${d.reason}). Give the two YAML files of OpenMessaging Benchmark: mqbench import omb <workload.yaml> <driver.yaml>`,
	},
	"import-unsupported": {
		exit: 2,
		text: (d: { what: string; known: readonly string[] }) =>
			`${d.what}: mqbench has no such system; it imports drivers of ${d.known.join(", ")}`,
	},
	"unknown-topic": {
		exit: 2,
		text: (d: { topic: string; known: readonly string[] }) =>
			`${d.topic}: is not a topic of explain${didYouMean(d.topic, d.known)}\nmqbench explain lists all.`,
	},
	"percentile-too-deep": {
		exit: 2,
		text: (d: { path: string; warnings: readonly string[] }) =>
			`${d.path}: strict: true, and the samples do not carry what sla asks for.\n${d.warnings.map((line) => `  ${line}`).join("\n")}`,
	},
	"not-a-run-folder": {
		exit: 2,
		text: (d: { path: string }) =>
			`${d.path}: is not the folder of a run (there is no runs/*/plan.json in it). Give a folder below reports/, e.g. mqbench report reports/<run-id>`,
	},
	"no-runs": {
		exit: 2,
		text: (d: { path: string }) =>
			`${d.path}: is neither the folder of a run (there is no runs/*/plan.json in it) nor one that holds some. Measure something, e.g. mqbench scenarios/quickstart.yaml, and then: mqbench report reports`,
	},
	"result-unreadable": {
		exit: 2,
		text: (d: { path: string; reason: string }) =>
			`${d.path}: cannot be read (${d.reason}), and there are no measured files (runs/*/plan.json) to make it anew. Give a folder that has them`,
	},
	"baseline-unreadable": {
		exit: 2,
		text: (d: { path: string; reason: string }) =>
			`${d.path}: cannot be compared with (${d.reason}). Give the folder of a run (reports/<run-id>) or a baseline.json of one`,
	},
	"baseline-missing": {
		exit: 2,
		text: (d: { path: string; sla: string }) =>
			`${d.path}: "${d.sla}" compares with a baseline, and there is none.\nRecord one: --baseline none measures without such lines and leaves baseline.json in the run's folder.\nOr name one: --baseline <file|folder>, or baseline: <path> or <system> in the scenario.`,
	},
	"baseline-other": {
		exit: 2,
		text: (d: { path: string; why: string }) =>
			`${d.path}: is not a baseline of this scenario: ${d.why}. Record a new one: --baseline none leaves baseline.json in the run's folder.`,
	},
	"baseline-few": {
		exit: 2,
		text: (d: { path: string; which: string; runs: number; least: number }) =>
			`${d.path}: has ${d.runs === 1 ? "only 1 run" : `only ${d.runs} runs`} of ${d.which} that count${d.runs === 1 ? "s" : ""}, and a comparison needs ${d.least} on each side to tell a change from noise. Record the baseline with repeat: ${d.least + 1}.`,
	},
	"baseline-figure": {
		exit: 2,
		text: (d: {
			path: string;
			which: string;
			sla: string;
			figure: string;
			runs: number;
			least: number;
		}) =>
			`${d.path}: "${d.sla}": ${d.runs === 0 ? "none" : `only ${d.runs}`} of its runs of ${d.which} ${d.runs === 1 ? "has" : "have"} ${d.figure}, and a comparison needs ${d.least}. Record a new baseline with this line in the scenario: --baseline none.`,
	},
	"comparison-unwritable": {
		exit: 3,
		text: (d: { path: string; reason: string }) =>
			`${d.path}: the comparison cannot be written (${d.reason}). Nothing that was measured is lost; name another file.`,
	},
	"calibration-unreadable": {
		exit: 2,
		text: (d: { path: string; reason: string }) =>
			`${d.path}: is not a calibration (${d.reason}). Give the calibration.json that mqbench calibrate leaves in its folder.`,
	},
	"resume-other": {
		exit: 2,
		text: (d: { path: string; why: string }) =>
			`${d.path}: cannot be resumed: ${d.why}. Nothing in it was changed; drop --resume to measure from the start.`,
	},
	"run-file-unreadable": {
		exit: 3,
		text: (d: { path: string; reason: string }) =>
			`${d.path}: cannot be read (${d.reason}). Copy it again from where the folder comes from, or use the version of mqbench that made it`,
	},
	"run-unwritable": {
		exit: 3,
		text: (d: { path: string; reason: string; resume: string }) =>
			`${d.path}: cannot be written (${d.reason}), so this run is lost. Free some space or allow writing there, then continue with the others: ${d.resume}`,
	},
	"report-unwritable": {
		exit: 3,
		text: (d: { path: string; reason: string; folder: string }) =>
			`${d.path}: cannot be written (${d.reason}). The measured files are kept; free some space or allow writing there, then: mqbench report ${commandLine([d.folder])}`,
	},
	"copy-unwritable": {
		exit: 3,
		text: (d: { reporter: string; reason: string }) =>
			`--reporter ${d.reporter}: cannot be written (${d.reason}). Make room or rights, or give another path.`,
	},
	unbuilt: {
		exit: 3,
		text: (d: { file: string }) =>
			`${d.file} is missing: mqbench has not been built to its end. In its folder: npm ci && npm run build`,
	},
	"no-such-picture": {
		exit: 2,
		text: (d: { only: string; ids: readonly string[] }) =>
			`--only ${d.only}: no picture is called so; there ${d.ids.length === 0 ? "are none" : `are ${d.ids.join(", ")}`}`,
	},
	"no-png": {
		exit: 3,
		text: () =>
			"--png needs a package that is not installed with mqbench: npm i @resvg/resvg-js, beside mqbench; --svg needs none",
	},
	interrupted: { exit: 130, text: (d: { signal: string }) => `Stopped by ${d.signal}.` },
	"go-missing": {
		exit: 3,
		text: (d: { why?: string }) =>
			`There is no Go on PATH, and the load generator has to be built once (k6 with mqbench's extensions).${d.why ? `\n${d.why}` : ""}\nWays out: install Go (https://go.dev/dl, or your distribution's package); or set GOPROXY to a proxy of Go modules, from which mqbench fetches a Go for itself; or set MQBENCH_K6 to a k6 that was built from extensions/ on another machine like this one (with the other programs of that build beside it).`,
	},
	"go-unasked": {
		exit: 3,
		text: (d: { go: string; from: string }) =>
			`There is no Go on PATH, and nobody to ask whether ${d.go} may be fetched from ${d.from} (70 MB), with which the load generator is built once.\nWays out: say so with --yes, or install Go.`,
	},
	"go-unfetched": {
		exit: 3,
		text: (d: { go: string; from: string; reason: string }) =>
			`${d.go} could not be fetched from ${d.from} (GOPROXY): ${d.reason}. Nothing was kept.\nWays out: set GOPROXY to a proxy that this machine reaches, or install Go (https://go.dev/dl, or your distribution's package).`,
	},
	"go-old": {
		exit: 3,
		text: (d: { found: string; wanted: string; toolchain: string }) =>
			`Go ${d.found.replace(/^go/, "")} is too old to build the load generator, which needs ${d.wanted} or newer (GOTOOLCHAIN=${d.toolchain} forbids Go to fetch it).\nWays out: install Go ${d.wanted}, or let it fetch one: GOTOOLCHAIN=auto npx mqbench ...`,
	},
	"go-proxy": {
		exit: 3,
		text: (d: { last: string }) =>
			`Go modules of the load generator cannot be downloaded:\n  ${d.last}\nWays out: set GOPROXY to a module proxy that this machine reaches, or copy the cache folder of a machine that has built it (MQBENCH_CACHE_DIR).`,
	},
	"go-sum": {
		exit: 3,
		text: (d: { last: string }) =>
			`A Go module is not what extensions/go.sum says it must be:\n${d.last}\nThe proxy (GOPROXY) delivers changed files: use another one. Nothing was built.`,
	},
	"go-build": {
		exit: 3,
		text: (d: { last: string }) =>
			`The load generator could not be built. Go's last words:\n${d.last}\nIf you changed extensions/, fix it there; else remove the Go build cache (go clean -cache) and try again.`,
	},
	"extension-unreadable": {
		exit: 2,
		text: (d: { text: string; reason: string }) =>
			`--with ${d.text}: is no k6 extension that can be linked (${d.reason}). Give the folder of a Go module, or module@version with its exact version, e.g. --with github.com/grafana/xk6-sql@v1.0.6`,
	},
	"extension-silent": {
		exit: 2,
		text: (d: { module: string }) =>
			`${d.module} registers nothing with this k6, which is go.k6.io/k6/v2. It is made for another one: look for a version of it that says v2. No k6 was written.`,
	},
	"extension-twice": {
		exit: 2,
		text: (d: { name: string }) =>
			`Two extensions register ${d.name}, and k6 takes one. Leave one of them out. No k6 was written.`,
	},
	"k6-unwritable": {
		exit: 3,
		text: (d: { path: string; reason: string }) =>
			`${d.path}: the k6 cannot be written (${d.reason}). Make room or rights, or choose another path with --out.`,
	},
	"build-disk-full": {
		exit: 3,
		text: (d: { where: string }) =>
			`No room to build the load generator (${d.where}): it needs about 1.5 GB once. Make room, or set MQBENCH_CACHE_DIR and GOCACHE to a larger disk.`,
	},
	"cache-unwritable": {
		exit: 3,
		text: (d: { path: string; reason: string }) =>
			`The cache folder ${d.path} cannot be used (${d.reason}). Set MQBENCH_CACHE_DIR to a folder that you can write to.`,
	},
	"k6-unusable": {
		exit: 3,
		text: (d: { path: string; reason: string }) =>
			`MQBENCH_K6=${d.path} cannot be used: ${d.reason}. Unset MQBENCH_K6 to have mqbench build its own, or build that one as extensions/README.md says`,
	},
	"broker-start": {
		exit: 3,
		text: (d: { system: string; reason: string; log: string }) =>
			`${d.system}: the broker did not start: ${d.reason}. Its log: ${d.log}`,
	},
	"too-few-files": {
		exit: 3,
		text: (d: { system: string; connections: number; needed: number; limit: number }) =>
			`${d.system}: ${d.connections} connections need at least ${d.needed} open files, and this machine allows ${d.limit} (ulimit -H -n). Raise that limit (ulimit -n as root, nofile in /etc/security/limits.conf), or use fewer connections.`,
	},
	"broker-missing": {
		exit: 3,
		// `remedy`: how to get it on this platform.
		text: (d: { system: string; what: string; remedy: string }) =>
			`${d.system}: ${d.what}. ${d.remedy}.`,
	},
	"docker-missing": {
		exit: 3,
		text: (_: object) =>
			"Containers need the docker command, and it is not on PATH. Install Docker (https://docs.docker.com/engine/install, or apt-get install docker.io), or have mqbench start brokers as processes of this machine: --target local.",
	},
	"docker-unreachable": {
		exit: 3,
		text: (d: { endpoint: string; reason: string }) =>
			`No Docker engine answers${d.endpoint === "" ? "" : ` at ${d.endpoint}`} (${d.reason}). ${
				/permission denied/i.test(d.reason)
					? "You may not use it: sudo usermod -aG docker $USER, log in again; or be root"
					: "Start it: sudo systemctl start docker, or Docker Desktop; DOCKER_HOST or docker context use choose another"
			}.`,
	},
	"docker-elsewhere": {
		exit: 3,
		text: (d: { endpoint: string }) =>
			`The Docker engine is on another machine (${d.endpoint}), and mqbench measures containers of this one only. Choose the engine here (docker context use default, unset DOCKER_HOST), or run mqbench there.`,
	},
	"kubernetes-failed": {
		exit: 3,
		text: (d: { doing: string; reason: string }) => `Kubernetes could not ${d.doing}: ${d.reason}.`,
	},
	"pods-not-up": {
		exit: 3,
		text: (d: { job: string; reason: string }) => `A pod of ${d.job} does not run: ${d.reason}.`,
	},
	"docker-failed": {
		exit: 3,
		text: (d: { doing: string; reason: string }) => `Docker could not ${d.doing}: ${d.reason}.`,
	},
	"docker-disk-full": {
		exit: 3,
		text: (d: { doing: string; reason: string }) =>
			`Docker could not ${d.doing}, as its disk is full: ${d.reason}. docker system df shows what is on it, docker system prune removes what nobody uses.`,
	},
	"docker-subnet": {
		exit: 3,
		text: (d: { tried: number; reason: string }) =>
			`Docker has no subnet free for the containers of this run: ${d.tried} between 198.18.0.0 and 198.19.255.0 were tried (${d.reason}). docker network prune removes those that nobody uses.`,
	},
	"image-missing": {
		exit: 3,
		text: (d: {
			system: string;
			/** Absent: this machine. */
			host: string | undefined;
			image: string;
			reason: string;
		}) =>
			`${d.system}: the image ${d.image} is not on ${d.host ?? "this machine"} and cannot be pulled${d.host ? " there" : ""} (${d.reason}). Try docker pull ${commandLine([d.image])}${d.host ? " there" : ""}, or name one that ${d.host ? "it has" : "you have"}: image: <name>.`,
	},
	"fault-impossible": {
		exit: 3,
		text: (d: { system: string; action: string; reason: string }) =>
			`${d.system}: the fault ${d.action} cannot be made here: ${d.reason}. Remove it from faults, or choose another action.`,
	},
	"client-unreachable": {
		exit: 3,
		// Client: "bench@10.0.0.11", "container 1".
		text: (d: { client: string; reason: string; remedy: string }) =>
			`${d.client}: ${d.reason}. ${d.remedy}`,
	},
	"client-unfit": {
		exit: 3,
		text: (d: { client: string; reason: string; remedy: string }) =>
			`${d.client}: cannot make the load: ${d.reason}. ${d.remedy}.`,
	},
	"pin-impossible": {
		exit: 3,
		text: (d: { cpus: string; reason: string }) =>
			`pin: ${d.cpus} cannot be had: ${d.reason}. Change or remove pin.`,
	},
	"watch-port": {
		exit: 3,
		// Reason: null, something listens there.
		text: (d: { port: number; reason: string | null }) =>
			`--watch-port ${d.port}: the page cannot be served there (${d.reason ?? "the port is taken on 127.0.0.1"}). Give another port, or drop --watch-port to use a free one.`,
	},
	"port-refused": {
		exit: 3,
		text: (d: { system: string; port: number; reason: string }) =>
			`${d.system}: port ${d.port} of 127.0.0.1 cannot be used (${d.reason}). Choose one above 1023, or remove port from the scenario to use a free one.`,
	},
	"port-taken": {
		exit: 3,
		text: (d: { system: string; port: number }) =>
			`${d.system}: port ${d.port} is taken on 127.0.0.1. Stop what listens there, or remove port from the scenario to use a free one.`,
	},
	"broker-unreachable": {
		exit: 3,
		text: (d: { system: string; where: string; reason: string }) =>
			`${d.system}: nothing answers at ${d.where} (${d.reason}). Start the broker there, or correct the url.`,
	},
	"rig-unreadable": {
		exit: 2,
		text: (d: { path: string; reason: string }) =>
			`${d.path}: cannot be read (${d.reason}). Give the rig.json that mqbench up has written, or one of your own (mqbench schema rig).`,
	},
	"rig-invalid": {
		exit: 2,
		text: (d: { path: string; wrong: readonly string[] }) =>
			d.wrong.map((sentence) => `${d.path}: ${sentence}`).join("\n"),
	},
	"rig-exists": {
		exit: 2,
		text: (d: { path: string }) =>
			`${d.path}: already exists and is not changed: mqbench run <scenario> --rig ${commandLine([d.path])} measures on that rig, mqbench down ${commandLine([d.path])} takes it down. For another one beside it: --out <file>.`,
	},
	"rig-unwritable": {
		exit: 3,
		text: (d: { path: string; reason: string }) =>
			`${d.path}: cannot be written (${d.reason}). Free some space, allow writing there, or choose another file with --out.`,
	},
	"rig-unreachable": {
		exit: 3,
		text: (d: { system: string; where: string; reason: string; id: string; remedy: string }) =>
			`${d.system}: nothing answers at ${d.where} (${d.reason}), where the rig ${d.id} has its broker. ${d.remedy}.`,
	},
	"rig-differs": {
		exit: 2,
		text: (d: { system: string; id: string; what: readonly string[] }) =>
			`${d.system}: the scenario asks for another broker than the rig ${d.id} has: ${d.what.join(", ")}. Measure with what the rig was stood up with, or stand another one up: mqbench up.`,
	},
	"rig-left": {
		exit: 3,
		text: (d: { id: string; what: string; remedy: string }) =>
			`The rig ${d.id} is not down: ${d.what}. ${d.remedy}.`,
	},
	"rig-broken": {
		exit: 3,
		text: (d: { id: string; how: string }) =>
			`The rig ${d.id} is down, as ${d.how}. Nothing of it is left.`,
	},
	"output-unwritable": {
		exit: 3,
		text: (d: { path: string; reason: string }) =>
			`${d.path}: results cannot be written there (${d.reason}). Free some space, allow writing there, or choose another folder with --out.`,
	},
	"output-exists": {
		exit: 2,
		text: (d: { path: string }) =>
			`${d.path}: already exists, and results are never overwritten. Choose another folder with --out.`,
	},
	"output-in-use": {
		exit: 2,
		text: (d: { path: string; pid: number; here: boolean }) =>
			`${d.path}: another mqbench (process ${d.pid}${d.here ? "" : " of another machine or container"}) is measuring into it. Wait for it to end, or stop it there with Ctrl-C.`,
	},
	"programs-missing": {
		exit: 3,
		// Host: "bench@10.0.0.11".
		text: (d: { host: string; platform: string; reason: string; remedy: string }) =>
			`${d.host}: it is ${d.platform}, and ${d.reason}. ${d.remedy}.`,
	},
	"sdk-missing": {
		exit: 3,
		text: (d: { folder: string; project: boolean }) =>
			d.project
				? `Target aws needs Pulumi and the SDK of AWS, which are not installed. Once: npm ci --prefix ${/[^\w@%+=:,./-]/.test(d.folder) ? JSON.stringify(d.folder) : d.folder}`
				: `Target aws needs ${d.folder}, which is not there. Install mqbench anew, or use a clone of its repository.`,
	},
	"pulumi-missing": {
		exit: 3,
		// tried: mqbench has tried to install it, and --yes would try the same again.
		text: (d: { version: string; reason: string; tried: boolean }) =>
			`Target aws needs the command pulumi ${d.version}, and ${d.reason}. ${d.tried ? "Install" : "Have mqbench install it into its cache (--yes), install"} it yourself (https://www.pulumi.com/docs/install) so that it is on PATH, or set MQBENCH_PULUMI to it.`,
	},
	"pulumi-unusable": {
		exit: 3,
		text: (d: { path: string; reason: string }) =>
			`MQBENCH_PULUMI=${d.path} cannot be used: ${d.reason}. Unset it to have mqbench look for pulumi itself.`,
	},
	"cloud-key": {
		exit: 3,
		text: (d: { reason: string }) =>
			`No key could be made for the rig: ${d.reason}. Machines are reached over SSH: install OpenSSH's client (apt-get install openssh-client).`,
	},
	"cloud-state": {
		exit: 3,
		text: (d: { path: string; reason: string }) =>
			`${d.path}: what is rented cannot be remembered there (${d.reason}), and without that nothing is. Free some space, allow writing there, or set MQBENCH_STATE_DIR to another folder.`,
	},
	"cloud-up": {
		exit: 3,
		text: (d: { id: string; reason: string; remedy: string }) =>
			`The rig ${d.id} could not be stood up: ${d.reason}. Nothing of it is left.${d.remedy && ` ${d.remedy}`}`,
	},
	"cloud-left": {
		exit: 5,
		// The text of infra/cloud/leftover.ts.
		text: (d: { text: string }) => d.text,
	},
	"no-such-rig": {
		exit: 2,
		text: (d: { id: string; folder: string; known: readonly string[] }) =>
			`${d.id}: there is no such rig in ${d.folder}${didYouMean(d.id, d.known)}\nmqbench rigs list shows those that are known here; mqbench rigs sweep --id ${commandLine([d.id])} finds it in AWS by its tag.`,
	},
	"host-unreachable": {
		exit: 3,
		// Host: "bench@10.0.0.5", on which the broker of the system is to run.
		text: (d: { host: string; system: string; reason: string; remedy: string }) =>
			`${d.host} (host of ${d.system}): ${d.reason}. ${d.remedy}`,
	},
	"host-unfit": {
		exit: 3,
		text: (d: { host: string; system: string; reason: string; remedy: string }) =>
			`${d.host}: cannot run ${d.system}: ${d.reason}. ${d.remedy}.`,
	},
	"host-set-up": {
		exit: 3,
		text: (d: { host: string; reason: string; remedy: string }) =>
			`${d.host}: it is not set up: ${d.reason}. ${d.remedy}.`,
	},
	"ttl-short": {
		exit: 2,
		// Times as a scenario writes them.
		text: (d: { path: string; ttl: string; longest: string; write: string }) =>
			`${d.path}: aws.ttl is ${d.ttl}, and the machines would end themselves in mid-run: standing up and all runs take up to ${d.longest}. Write ttl: ${d.write}, or make fewer runs (--only).`,
	},
	"cloud-unfit": {
		exit: 3,
		// A sentence for each check that failed: the call, why, and what to do.
		text: (d: { wrong: readonly string[] }) => d.wrong.join("\n"),
	},
	"cloud-unasked": {
		exit: 3,
		// Nobody is there to be asked, or to ask for: no way to the cloud, or no credentials at all.
		// also: what is wrong besides.
		text: (d: { why: string; also: readonly string[] }) => [d.why, ...d.also].join("\n"),
	},
	"cloud-too-many": {
		exit: 2,
		text: (d: { machines: number; most: number; variable: string }) =>
			`The scenario rents ${d.machines} machines, and ${d.most} are the most without being told otherwise. Ask for fewer (clients, nodes), or set ${d.variable}=${d.machines}.`,
	},
	"cloud-too-dear": {
		exit: 2,
		// Prices as text: "$4.10".
		text: (d: { hourly: string; most: string }) =>
			`The machines cost about ${d.hourly} an hour, and --max-hourly-usd allows ${d.most}. Nothing was rented; take smaller or fewer machines, or raise it.`,
	},
	"cloud-unpriced": {
		exit: 2,
		text: (d: { why: string }) =>
			`--max-hourly-usd cannot be kept, as the price is not known: ${d.why}. Nothing was rented; drop --max-hourly-usd to rent all the same.`,
	},
	"cloud-unconfirmed": {
		exit: 2,
		text: (_: object) =>
			"Machines that cost money are rented only when somebody agrees, and nobody is at the terminal to be asked. Nothing was rented; add --yes, and --max-hourly-usd for a limit.",
	},
	"cloud-declined": { exit: 2, text: (_: object) => "Nothing was rented, as you did not agree." },
	"host-port-taken": {
		exit: 3,
		// Service: that Debian's package of this broker starts by itself; null: none.
		text: (d: { system: string; port: number; host: string; service: string | null }) =>
			`${d.system}: port ${d.port} is taken on ${d.host}. Stop what listens there${d.service === null ? "" : `, such as the package's own server (sudo systemctl disable --now ${d.service})`}.`,
	},
	"rig-unforgotten": {
		exit: 3,
		text: (d: { id: string; path: string; reason: string }) =>
			`Nothing of the rig ${d.id} is left in the cloud, but ${d.path}, where mqbench remembered it, cannot be removed (${d.reason}). Remove that folder.`,
	},
} as const satisfies Record<string, Entry>;

type Entry = {
	exit: ExitCode;
	// biome-ignore lint/suspicious/noExplicitAny: each entry names its own fields; callers are typed by Details<Code>.
	text: (details: any) => string;
};
export type ErrorCode = keyof typeof catalogue;
type Details<Code extends ErrorCode> = Parameters<(typeof catalogue)[Code]["text"]>[0];

/** Exit codes (README, "Exit codes"). */
export const EXIT = {
	pass: 0,
	internal: 1,
	usage: 2,
	environment: 3,
	invalid: 4,
	leftBehind: 5,
	inconclusive: 6,
	fail: 99,
	interrupted: 130,
	terminated: 143,
} as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** An error that a person can act on. Printed as its message alone, never with a stack. */
export class MqbenchError extends Error {
	readonly code: ErrorCode;
	readonly exit: ExitCode;
	/** What the sentence was made of. */
	readonly details: object;
	constructor(code: ErrorCode, message: string, exit: ExitCode, details: object = {}) {
		super(message);
		this.details = details;
		this.code = code;
		this.exit = exit;
	}
}

/** Makes (does not throw) the error of `code`. */
export function failure<Code extends ErrorCode>(code: Code, details: Details<Code>): MqbenchError {
	const entry: Entry = catalogue[code];
	return new MqbenchError(code, entry.text(details), entry.exit, details);
}
