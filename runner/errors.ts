import { fill, type Names } from "./template.ts";

/** Exit code 2: the request itself is wrong. */
// biome-ignore format: a sentence is a line.
const usage = {
	usage: "{message}",
	"unknown-command": "{word}: neither a command nor a file{guess}\nGive a command or the path of a scenario, e.g. npx mqbench scenarios/quickstart.yaml; npx mqbench --help lists all.",
	// From scenario/load.ts: every mistake with line, column and caret. `mistakes` has the same for programs.
	"scenario-invalid": "{report}",
	"scenario-unreadable": "{path}: cannot be read ({reason}). Give the path of a scenario file, e.g. npx mqbench scenarios/quickstart.yaml",
	"import-unreadable": "{path}: cannot be imported ({reason}). Give the two YAML files of OpenMessaging Benchmark: npx mqbench import omb <workload.yaml> <driver.yaml>",
	"import-unsupported": "{what}: mqbench has no such system; it imports drivers of {known}",
	"unknown-topic": "{topic}: is not a topic of explain{guess}\nnpx mqbench explain lists all.",
	"percentile-too-deep": "{path}: strict: true, and the samples do not carry what sla asks for.\n{warnings:lines}",
	"not-a-run-folder": "{path}: is not the folder of a run (there is no runs/*/plan.json in it). Give a folder below reports/, e.g. npx mqbench report reports/<run-id>",
	"no-runs": "{path}: is neither the folder of a run (there is no runs/*/plan.json in it) nor one that holds some. Measure something, e.g. npx mqbench scenarios/quickstart.yaml, and then: npx mqbench report reports",
	"result-unreadable": "{path}: cannot be read ({reason}), and there are no measured files (runs/*/plan.json) to make it again. Give a folder that has them",
	"baseline-unreadable": "{path}: cannot be compared with ({reason}). Give the folder of a run (reports/<run-id>) or a baseline.json of one",
	"baseline-missing": '{path}: "{sla}" compares with a baseline, and there is none.\nRecord one: --baseline none measures without such lines and leaves baseline.json in the run\'s folder.\nOr name one: --baseline <file|folder>, or baseline: <path> or <system> in the scenario.',
	"baseline-other": "{path}: is not a baseline of this scenario: {why}. Record a new one: --baseline none leaves baseline.json in the run's folder.",
	"baseline-few": "{path}: only {runs} of its runs of {which} count and have {figure}, and a comparison needs {least} on each side to tell a change from noise. Record a new baseline with this scenario and repeat: {repeat}: --baseline none.",
	"calibration-unreadable": "{path}: is not a calibration ({reason}). Give the calibration.json that npx mqbench calibrate leaves in its folder.",
	"resume-other": "{path}: cannot be resumed: {why}. Nothing in it was changed; drop --resume to measure from the start.",
	"no-such-picture": "--only {only}: no picture is called so; there are {ids}",
	"extension-unreadable": "--with {text}: is no k6 extension that can be linked ({reason}). Give the folder of a Go module, or module@version with its exact version, e.g. --with github.com/grafana/xk6-sql@v1.0.6",
	"extension-silent": "{module} registers nothing with this k6, which is go.k6.io/k6/v2. It is made for another one: look for a version of it that says v2. No k6 was written.",
	"extension-refused": "{extension}: is not a driver that mqbench can use: {reason}. {remedy}. Nothing of it was run.",
	"extension-contract": "{extension}: was written for contract {theirs} of mqbench's drivers, and this mqbench has contract {ours}. Take a version of it for contract {ours}. Nothing of it was run.",
	"extension-changed": "{extension}: has other files than {path} pins under the same version: {sum}, not {before}. Find out who changed it; if it is what you want, remove its line from {path}. Nothing of it was run.",
	"code-unallowed": "{scenario}: runs code that is not mqbench's.\n{lines:lines}\nLook at it, then write --allow-code. Nothing of it was run.",
	"code-changed": "{path}: pins other files than there are now in {changed}. Run it on a terminal, which asks, or remove {path} and write --allow-code. Nothing of it was run.",
	"code-refused": "{scenario}: nothing of its extensions was run.",
	"lock-unreadable": "{path}: cannot be read ({reason}). Restore it, or remove it to pin what there is now.",
	"lock-unwritable": "{path}: cannot be written ({reason}), and it pins what the scenario runs. Allow writing there.",
	"extension-build": "{extension}: does not become a driver. Last words:\n{last}\nCorrect it, or take another version. Nothing of it was measured.",
	"driver-missing": "An extension has no driver for {broker}, the broker of its manifest: its Go code has to call broker.Register with that name. Nothing was measured.",
	"extension-twice": "Two extensions register {name}, and k6 takes one. Leave one of them out. No k6 was written.",
	"rig-unreadable": "{path}: cannot be read ({reason}). Give the rig.json that npx mqbench up has written, or one of your own (npx mqbench schema rig).",
	"rig-invalid": "{path}: {wrong:lines}",
	"rig-exists": "{path}: already exists and is not changed: npx mqbench run <scenario> --rig {path:quoted} measures on that rig, npx mqbench down {path:quoted} takes it down. For another one next to it: --out <file>.",
	"rig-differs": "{system}: the scenario asks for another broker than the rig {id} has: {what}. Measure with what the rig was stood up with, or stand another one up: npx mqbench up.",
	"output-exists": "{path}: already exists, and results are never overwritten. Choose another folder with --out.",
	"output-in-use": "{path}: another mqbench ({holder}) is measuring into it. Wait for it to end, or stop it there with Ctrl-C.",
	"no-such-rig": "{id}: there is no such rig in {folder}{guess}\nnpx mqbench rigs list shows those that are known here; npx mqbench rigs sweep --id {id:quoted} finds it in AWS by its tag.",
	"ttl-short": "{path}: aws.ttl is {ttl}, and the machines would end themselves in mid-run: standing up and all runs take up to {longest}. Write ttl: {write}, or make fewer runs (--only).",
	"cloud-too-many": "The scenario rents {machines} machines, but the limit is {most}. Ask for fewer (clients, nodes), or set {variable}={machines}.",
	"cloud-too-dear": "The machines cost about {hourly} an hour, and --max-hourly-usd allows {most}. Nothing was rented; take smaller or fewer machines, or raise it.",
	"cloud-unpriced": "--max-hourly-usd cannot be kept, because the price is not known: {why}. Nothing was rented; drop --max-hourly-usd to rent all the same.",
	"cloud-unconfirmed": "Machines that cost money are rented only when you agree, and there is no terminal to ask at. Nothing was rented; add --yes, and --max-hourly-usd for a limit.",
	"cloud-declined": "Nothing was rented, because you did not agree.",
} as const;

/** Exit code 3: something outside mqbench is in the way. */
// biome-ignore format: a sentence is a line.
const environment = {
	"stdout-unwritable": "The output cannot be written ({reason}). The results are kept all the same: npx mqbench report <run folder> prints them again.",
	"scenario-unwritable": "{path}: cannot be written ({reason}). Make room or rights, or choose another path.",
	"comparison-unwritable": "{path}: the comparison cannot be written ({reason}). Nothing that was measured is lost; name another file.",
	"run-file-unreadable": "{path}: cannot be read ({reason}). Copy it again from where the folder comes from, or use the version of mqbench that made it",
	"run-unwritable": "{path}: cannot be written ({reason}), so this run is lost. Free some space or allow writing there, then continue with the others: {resume}",
	"report-unwritable": "{path}: cannot be written ({reason}). The measured files are kept; free some space or allow writing there, then: npx mqbench report {folder:quoted}",
	unbuilt: "{file} is missing: mqbench has not been built to its end. In its folder: npm ci && npm run build",
	"go-missing": "There is no Go on PATH, and the load generator has to be built once (k6 with mqbench's extensions).{why}\nWays out: install Go (https://go.dev/dl, or your distribution's package); or set GOPROXY to a proxy of Go modules, from which mqbench fetches a Go for itself; or set MQBENCH_K6 to a k6 that was built from extensions/ on another machine like this one (with the other programs of that build beside it).",
	"go-unasked": "There is no Go on PATH, and no terminal to ask whether {go} may be fetched from {from} (70 MB), with which the load generator is built once.\nWays out: say so with --yes, or install Go.",
	"go-unfetched": "{go} could not be fetched from {from} (GOPROXY): {reason}. Nothing was kept.\nWays out: set GOPROXY to a proxy that this machine reaches, or install Go (https://go.dev/dl, or your distribution's package).",
	"go-old": "{found} is too old to build the load generator, which needs Go {wanted} or newer (GOTOOLCHAIN={toolchain} forbids Go to fetch it).\nWays out: install Go {wanted}, or let it fetch one: GOTOOLCHAIN=auto npx mqbench ...",
	"go-proxy": "Go modules of the load generator cannot be downloaded:\n  {last}\nWays out: set GOPROXY to a module proxy that this machine reaches, or copy the cache folder of a machine that has built it (MQBENCH_CACHE_DIR).",
	"go-sum": "A Go module is not what extensions/go.sum says it must be:\n{last}\nThe proxy (GOPROXY) delivers changed files: use another one. Nothing was built.",
	"go-build": "The load generator could not be built. Go's last words:\n{last}\nIf you changed extensions/, fix it there; else remove the Go build cache (go clean -cache) and try again.",
	"k6-unwritable": "{path}: the k6 cannot be written ({reason}). Make room or rights, or choose another path with --out.",
	"build-disk-full": "No room to build the load generator ({where}): it needs about 1.5 GB once. Make room, or set MQBENCH_CACHE_DIR and GOCACHE to a larger disk.",
	"cache-unwritable": "The cache folder {path} cannot be used ({reason}). Set MQBENCH_CACHE_DIR to a folder that you can write to.",
	"k6-unusable": "MQBENCH_K6={path} cannot be used: {reason}. Unset MQBENCH_K6 to have mqbench build its own, or build that one as extensions/README.md says",
	"broker-start": "{system}: the broker did not start: {reason}. Its log: {log}",
	"broker-missing": "{system}: {what}. {remedy}.",
	"docker-missing": "Containers need the docker command, and it is not on PATH. Install Docker (https://docs.docker.com/engine/install, or apt-get install docker.io), or have mqbench start brokers as processes of this machine: --target local.",
	"docker-unreachable": "No Docker engine answers at {endpoint} ({reason}). Start it: sudo systemctl start docker, or Docker Desktop; DOCKER_HOST or docker context use choose another. If you may not use it: sudo usermod -aG docker $USER, and log in again.",
	"docker-elsewhere": "The Docker engine is on another machine ({endpoint}), and mqbench measures containers of this one only. Choose the engine here (docker context use default, unset DOCKER_HOST), or run mqbench there.",
	"docker-failed": "Docker could not {doing}: {reason}.",
	"kubernetes-failed": "Kubernetes could not {doing}: {reason}.",
	"pods-not-up": "A pod of {job} does not run: {reason}.",
	"image-missing": "{system}: the image {image} is not on {host} and cannot be pulled there ({reason}). Try docker pull {image:quoted} there, or name an image that it has: image: <name>.",
	"fault-impossible": "{system}: the fault {action} cannot be made here: {reason}. Remove it from faults, or choose another action.",
	"client-unreachable": "{client}: {reason}. {remedy}",
	"client-unfit": "{client}: cannot make the load: {reason}. {remedy}.",
	"pin-impossible": "pin: {cpus} cannot be had: {reason}. Change or remove pin.",
	"watch-port": "--watch-port {port}: the page cannot be served there ({reason}). Give another port, or drop --watch-port to use a free one.",
	"port-refused": "{system}: port {port} of 127.0.0.1 cannot be used ({reason}). Choose one above 1023, or remove port from the scenario to use a free one.",
	"port-taken": "{system}: port {port} is taken on 127.0.0.1. Stop what listens there, or remove port from the scenario to use a free one.",
	"broker-unreachable": "{system}: nothing answers at {where} ({reason}). Start the broker there, or correct the url.",
	"rig-unwritable": "{path}: cannot be written ({reason}). Free some space, allow writing there, or choose another file with --out.",
	"rig-unreachable": "{system}: nothing answers at {where} ({reason}), where the rig {id} has its broker. {remedy}.",
	"rig-left": "The rig {id} is not down: {what}. {remedy}.",
	"rig-broken": "The rig {id} is down, because {how}. Nothing of it is left.",
	"rig-unforgotten": "Nothing of the rig {id} is left in the cloud, but {path}, where mqbench remembered it, cannot be removed ({reason}). Remove that folder.",
	"output-unwritable": "{path}: results cannot be written there ({reason}). Free some space, allow writing there, or choose another folder with --out.",
	"programs-missing": "{host}: it is {platform}, and {reason}. {remedy}.",
	"sdk-missing": "Target aws needs Pulumi and the SDK of AWS, which are not installed. Once: npm ci --prefix {folder:quoted}",
	"pulumi-missing": "Target aws needs the command pulumi {version} or newer, and {reason}. Install it (https://www.pulumi.com/docs/install) so that it is on PATH, or set MQBENCH_PULUMI to it.",
	"cloud-key": "No key could be made for the rig: {reason}. Machines are reached over SSH: install OpenSSH's client (apt-get install openssh-client).",
	"cloud-state": "{path}: the list of rented machines cannot be kept there ({reason}), so nothing is rented. Free some space, allow writing there, or set MQBENCH_STATE_DIR to another folder.",
	"cloud-up": "The rig {id} could not be stood up: {reason}. Nothing of it is left.{remedy}",
	"cloud-unfit": "{wrong:lines}",
	// No network, or no credentials at all.
	"cloud-unasked": "{wrong:lines}",
	"host-unreachable": "{host} (host of {system}): {reason}. {remedy}",
	"host-unfit": "{host}: cannot run {system}: {reason}. {remedy}.",
	"host-set-up": "{host}: it is not set up: {reason}. {remedy}.",
	"host-port-taken": "{system}: port {port} is taken on {host}. Stop what listens there; after apt-get install it is the package's own server: sudo systemctl disable --now <service>.",
} as const;

const leftBehind = { "cloud-left": "{text}" } as const;

const interrupted = { interrupted: "Stopped by {signal}." } as const;

/** Code -> message (where, what, remedy). Released codes are permanent. */
const catalogue = { ...usage, ...environment, ...leftBehind, ...interrupted };
export type ErrorCode = keyof typeof catalogue;
type Details<Code extends ErrorCode> = Readonly<
	Record<Names<(typeof catalogue)[Code]>, unknown> & Record<string, unknown>
>;

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

export class MqbenchError extends Error {
	readonly code: ErrorCode;
	readonly exit: ExitCode;
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
	return new MqbenchError(code, fill(catalogue[code], details), exitOf(code), details);
}

// --- internal ---

function exitOf(code: ErrorCode): ExitCode {
	if (code in usage) return EXIT.usage;
	if (code in environment) return EXIT.environment;
	return code in leftBehind ? EXIT.leftBehind : EXIT.interrupted;
}
