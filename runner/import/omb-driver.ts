import { type Broker, brokers, loginUrl, variable } from "../brokers/index.ts";
import type { Mapping, OmbDriver, Reach } from "../brokers/omb-driver.ts";
import { failure } from "../errors.ts";
import { type Leave, parseProperties, quoted } from "./file.ts";

/** Builds a scenario's system from a driver file, chosen by its driverClass. `copied`: topics have several subscriptions. */
export function readDriver(
	file: Readonly<Record<string, unknown>>,
	copied: boolean,
	leave: Leave,
): Record<string, unknown> {
	const { driverClass = "", name: _, ...others } = file;
	const driver = driverOf(String(driverClass));
	const entries = flat(others, driver.properties ?? []);
	const find = (key: string) => entries.findLast((entry) => entry.key === key)?.value ?? "";
	const at: { -readonly [Key in keyof Reach]: Reach[Key] } = {};
	let system: Record<string, unknown> = { ...driver.system, ...(copied && driver.copied) };
	let address: Servers = { hosts: [], path: "" };
	const take = ({ path, key, value, property }: Entry) => {
		const mapping = key in driver.keys ? driver.keys[key] : property ? undefined : usual(key);
		const part = typeof mapping === "function" ? mapping(value, find) : mapping;
		if (part === null) return;
		if (part === undefined) return leave(quoted(path, value), "has no equivalent here");
		const { partly, tls, at: reach = {}, ...options } = part;
		if (partly) leave(quoted(path, value), "taken only in part");
		system = { ...system, ...options };
		if (tls !== undefined) system.tls = { ...(system.tls as object), ...(tls as object) };
		const { servers, ...login } = reach;
		Object.assign(at, login);
		if (servers === undefined) return;
		const { query, ...found } = parseServers(servers);
		address = found;
		for (const [parameter, text] of new URLSearchParams(query))
			take({ path: `${path}?${parameter}`, key: parameter, value: text });
	};
	for (const entry of entries)
		if (driver.keys[entry.key] !== undefined || entry.value !== "") take(entry);
	return { ...system, ...urlOf(driver, address, at, leave) };
}

// --- internal ---

function driverOf(driverClass: string): OmbDriver {
	const drivers = Object.values(brokers).flatMap(({ omb }) => omb ?? []);
	const driver = drivers.find(({ packages }) =>
		packages.some((name) => driverClass.toLowerCase().includes(`.${name}.`)),
	);
	if (driver) return driver;
	throw failure("import-unsupported", {
		what:
			driverClass === ""
				? "The second file names no driverClass (the workload comes first, then the driver)"
				: driverClass,
		known: drivers.flatMap(({ packages }) => packages),
	});
}

interface Entry {
	/** For messages: "producerConfig.acks". */
	readonly path: string;
	readonly key: string;
	readonly value: string;
	/** It is one of several properties in a string, not a key of the file. */
	readonly property?: true;
}

function flat(map: object, properties: readonly string[], before = ""): Entry[] {
	return Object.entries(map).flatMap(([name, value]): Entry[] => {
		const path = before + name;
		if (value === null || value === undefined) return [];
		if (properties.includes(path) && typeof value === "string")
			return parseProperties(value).map(([key, text]) => ({
				// A key that is not a name may be the rest of a broken secret.
				path: PROPERTY.test(key) && !text.startsWith("=") ? `${path}.${key}` : path,
				key,
				value: text,
				property: true,
			}));
		if (Array.isArray(value) && value.every((one) => typeof one !== "object"))
			return [{ path, key: path, value: value.join(",") }];
		if (typeof value === "object" && !Array.isArray(value))
			return flat(value, properties, `${path}.`);
		return [{ path, key: path, value: typeof value === "object" ? "(a list)" : String(value) }];
	});
}

const PROPERTY = /^[a-z\d]+([._-][a-z\d]+)*$/;

const USUAL: readonly [RegExp, Mapping][] = [
	[/^(\w*\.)?\w*?(user(_?name)?|login)$/i, (user) => ({ at: { user } })],
	[/^(\w*\.)?\w*?(pass(word|wd)?|pwd)$/i, (password) => ({ at: { password } })],
	[/^(\w*\.)?(use)?(ssl|tls)(Enabled?)?$/i, (on) => ({ at: { secure: on === "true" } })],
];

function usual(key: string): Mapping | undefined {
	return USUAL.find(([form]) => form.test(key))?.[1];
}

interface Servers {
	readonly scheme?: string;
	readonly login?: string;
	readonly hosts: readonly string[];
	readonly path: string;
}

/** Takes "tcp://me:secret@a:1883,b:1883/path?ssl=true", "(tcp://a:1,tcp://b:2)?ha=true" and "a:1, b:2". */
function parseServers(text: string): Servers & { readonly query: string } {
	const [, list = "", query = ""] = /^([^?]*)\??(.*)$/s.exec(text.trim()) ?? [];
	const parts = list
		.replace(/^\((.*)\)$/s, "$1")
		.split(/,\s*(?=[a-z][a-z0-9+.-]*:\/\/)/i)
		.map((one) => /^(?:([a-z][\w+.-]*):\/\/)?(?:(.*)@)?(.*?)(\/.*)?$/is.exec(one));
	const [first] = parts;
	return {
		...(first?.[1] !== undefined && { scheme: first[1].toLowerCase() }),
		...(first?.[2] !== undefined && { login: first[2] }),
		hosts: parts.flatMap((one) => (one?.[3] ?? "").split(/\s*,\s*/)).filter(Boolean),
		path: first?.[4] ?? "",
		query,
	};
}

/** The url holds no secret: those stay in the environment. */
function urlOf(
	driver: OmbDriver,
	{ scheme = "tcp", login = "", hosts, path }: Servers,
	at: Reach,
	leave: Leave,
): Record<string, unknown> {
	const broker = brokers[String(driver.system.broker)];
	if (broker === undefined || hosts.length === 0) return {};
	const schemes = Object.keys(broker.urls);
	const [plain = "", overTls] = schemes;
	const secure =
		at.secure ||
		/^(ssl|tls|wss|https)$/.test(scheme) ||
		(scheme.endsWith("s") && schemes.includes(scheme.slice(0, -1)));
	const usual = secure ? (overTls ?? plain) : plain;
	const written = schemes.includes(scheme) && !at.secure ? scheme : usual;
	const nodes = hosts.map((host) => {
		const isIpv6 = host.split(":").length > 2 && !host.startsWith("[");
		const safe = isIpv6 ? `[${host}]` : host;
		return at.port === undefined || /[^:[]+\]?:\d+$/.test(safe) ? safe : `${safe}:${at.port}`;
	});
	if (path.length > 1 && !driver.path) leave("the path of the address", "has no equivalent here");
	const who = loginOf(driver, broker, login, at, leave);
	return {
		url: `${written}://${who}${nodes.join(",")}${driver.path ? path : ""}`,
		...(secure && overTls === undefined && { tls: true }),
	};
}

/** Returns "me:${KAFKA_PASSWORD}@". A user without a password may be a token. */
function loginOf(driver: OmbDriver, broker: Broker, text: string, at: Reach, leave: Leave): string {
	const [, inUrl = "", , inUrlToo] = /^([^:]*)(:(.*))?$/s.exec(text) ?? [];
	const user = at.user === undefined ? inUrl : escaped(at.user);
	const password = at.password ?? inUrlToo;
	if (user === "" && password === undefined) return "";
	if (driver.login === false) {
		leave("the login", `clients of ${broker.title} do not log in here`);
		return "";
	}
	const secret = password ?? user;
	const name =
		password === undefined
			? `${Object.keys(broker.urls)[0]?.toUpperCase()}_TOKEN`
			: loginUrl(broker).variable;
	const held = /^\$\{[A-Za-z_]\w*\}$/.test(secret) ? secret : variable(name);
	if (held !== secret)
		leave(
			password === undefined ? "the user or token of the address" : "the password",
			`it stays out of files; set ${name} in the environment`,
		);
	return password === undefined ? `${held}@` : `${user}:${held}@`;
}

/** Keeps variables as they are. */
function escaped(user: string): string {
	return user.replaceAll(/\$\{\w+\}|[^\w.~-]/gu, (some) =>
		some.startsWith("${") ? some : encodeURIComponent(some),
	);
}
