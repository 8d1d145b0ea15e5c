import { describe, expect, test } from "vitest";
import { variable } from "./brokers/index.ts";
import {
	hide,
	holdsSecret,
	maskSameLength,
	maskScenario,
	maskUrl,
	maskUrls,
	maskUserinfo,
	secretsIn,
	soundsSecret,
	withoutSecrets,
} from "./secrets.ts";
import { cpuMs } from "./tests/cpu.fake.ts";

test("a program that needs no secret gets none, but all else", () => {
	const plain = {
		PATH: "/bin",
		HOME: "/home/me",
		DISPLAY: ":0",
		LANG: "C",
		XAUTHORITY: "/home/me/.Xauthority",
		HTTP_PROXY: "http://proxy:1",
		DBUS_SESSION_BUS_ADDRESS: "unix:path=/run/user/1/bus",
	};
	const secret = {
		NATS_PASSWORD: "a",
		AWS_SECRET_ACCESS_KEY: "b",
		API_TOKEN: "c",
		BROKER_URL: "nats://me:x@host",
		WHO_LOGS_IN: "hunter2",
		IN_A_CONFIG: "letmein!",
		AROUND_IT: "pw=letmein!",
	};
	expect(
		withoutSecrets({ ...plain, ...secret }, [
			...secretsIn("nats://me:hunter2@a,nats://b"),
			"letmein!",
		]),
	).toEqual(plain);
});

describe("a text that is written or printed", () => {
	test.each([
		["nats://me:pw@host:4222", "nats://***@host:4222"],
		["nats://token@host", "nats://***@host"],
		["at nats://a:b@h and tls://c:d@i!", "at nats://***@h and tls://***@i!"],
		['parse "nats://me:p@ss/w:rd@h": bad', 'parse "nats://***@h": bad'],
		[`nats://me:it's"x@h`, "nats://***@h"],
		["nats://host:4222, mail me@host", "nats://host:4222, mail me@host"],
		["nats://a@h:1,nats://b:c@i:2", "nats://***@h:1,nats://***@i:2"],
		["nats://u:a,nats://b@h", "nats://***@h"],
		["https://host/path", "https://host/path"],
		["nats://me:my pass word@host", "nats://***@host"],
		["nats://me:p:w @x@host:1, nats://h", "nats://***@host:1, nats://h"],
		["kafka://a:9092,b:9092 of me@host", "kafka://a:9092,b:9092 of me@host"],
		["http://[::1]:80 of me@host", "http://[::1]:80 of me@host"],
		["https://h/x?sv=1&sig=ab%2Fc&se=2", "https://h/x?sv=1&sig=***&se=2"],
		["at https://h?access_token=abc.", "at https://h?access_token=***"],
		["https://h/?code=abc&key=def#top", "https://h/?code=***&key=***#top"],
		["https://h/?turn=1&zip_code=2", "https://h/?turn=1&zip_code=2"],
		["", ""],
	])("%j becomes %j", (text, masked) => {
		expect(maskUrls(text)).toBe(masked);
	});

	test("loses no line", () => {
		const text = "url: nats://a:b@c\nother: d@e\nnats://f\ng@h\n";
		expect(maskUrls(text)).toBe("url: nats://***@c\nother: d@e\nnats://f\ng@h\n");
	});
});

test("the url that a message gives as an example stays whole, and no other", () => {
	const url = (who: string) => `redis://${who}@host:6379`;
	const name = variable("REDIS_PASSWORD");
	for (const mask of [maskUrls, maskSameLength]) {
		for (const who of [`:${name}`, `user:${name}`]) expect(mask(url(who))).toBe(url(who));
		for (const who of [`:${name}hunter2`, `me:${name}`, "user:hunter2"])
			expect(mask(url(who))).not.toContain(who);
		expect(mask(`${url(`:${name}`)},${url(":hunter2")}`)).not.toContain("hunter2");
	}
});

test("a text of Go keeps the host of a proxy, whose paths have an @", () => {
	const rest = "proxy.example/go.k6.io/k6/@v/v2.1.0.mod";
	expect(maskUserinfo(`https://${rest}`)).toBe(`https://${rest}`);
	expect(maskUserinfo(`https://me:pw@${rest}`)).toBe(`https://***@${rest}`);
});

describe("a line with a caret below", () => {
	test.each([
		["url: nats://me:pw@h", "url: nats://*****@h"],
		["password: hunter2", "password: *******"],
		['{ token: "abc", rate: 5/s }', '{ token: "***", rate: 5/s }'],
		["nkey = SUABC", "nkey = *****"],
		["{ password: hunter2 }", "{ password: ******* }"],
		["{ token: two words , rate: 5/s}", "{ token: ********* , rate: 5/s}"],
		["rate: 5/s", "rate: 5/s"],
		["masterauth: geheim", "masterauth: ******"],
		["requirepass=geheim", "requirepass=******"],
		["ssl.keystore.key=geheim", "ssl.keystore.key=******"],
		["basic.auth.user.info=me:pw", "basic.auth.user.info=*****"],
		["api_key: geheim", "api_key: ******"],
		["accessKeyId: geheim", "accessKeyId: ******"],
		["private-key: geheim", "private-key: ******"],
		["pwd: geheim", "pwd: ******"],
		["passphrase: geheim", "passphrase: ******"],
		["cookie: geheim", "cookie: ******"],
		["seed: SUAGEHEIM", "seed: *********"],
		["password: hun,ter{2}", "password: **********"],
		["{ password: 'hun,ter2', rate: 5 }", "{ password: '********', rate: 5 }"],
		[`say "password=\\"hun'ter 2\\";"`, `say "password=\\"*********\\";"`],
		["sasl.jaas.config: x y='z';", "sasl.jaas.config: ********"],
		["url: https://h?sig=abc", "url: https://h?sig=***"],
		// Not secrets, though scenarios write them with the same words.
		["seed: 42", "seed: 42"],
		["auth: creds", "auth: creds"],
		["author: me", "author: me"],
	])("%j becomes %j, as long as before", (text, masked) => {
		expect(maskSameLength(text)).toBe(masked);
		expect(masked).toHaveLength(text.length);
	});
});

describe("in a text of several lines", () => {
	test("a secret ends with its line", () => {
		expect(maskSameLength("token: abc\nrate: 5/s\n")).toBe("token: ***\nrate: 5/s\n");
	});

	test("one that stands below its name is hidden to its end", () => {
		const text = "password: |\n  one\n  two\nrate: 5/s\n";
		expect(maskSameLength(text)).toMatch(/^password: \*+\n\*+\n\*+\nrate: 5\/s\n$/);
		expect(maskSameLength("credentials:\n  user: me\n  code: geheim\nrate: 5/s")).not.toContain(
			"geheim",
		);
	});
});

describe("a URL in a file that reports keep", () => {
	test.each([
		["nats://me:pw@h", true],
		["nats://token@h", true],
		["nats://me:" + "$" + "{PASSWORD}@h", false],
		["$" + "{NATS_URL}", false],
		["nats://h:4222", false],
		["nats://me:my pass@h", true],
		["https://h?sig=abc", true],
		["https://h?sig=" + "$" + "{SIG}", false],
	])("%s holds a secret: %s", (url, holds) => {
		expect(holdsSecret(url)).toBe(holds);
	});
});

test("a word of the command line is one URL, whatever its password holds", () => {
	expect(maskUrl("influxdb=http://me:12 3\n4@h:1/db")).toBe("influxdb=http://***@h:1/db");
});

test("what is hidden in a text is known by itself, as given and as the broker gets it", () => {
	expect(new Set(secretsIn("nats://me:my%20pass@h?sig=abc"))).toEqual(
		new Set(["me:my%20pass", "my%20pass", "my pass", "abc"]),
	);
	expect(secretsIn('x.PlainLoginModule password="pw 1";')).toEqual(["pw 1"]);
});

test.each(["://", "://a:b ", "://a:b@", "@", "?sig", "password: ", "pass=\\", "a:", " "])(
	"60 kB of %j are masked at once",
	(piece) => {
		const text = piece.repeat(60_000 / piece.length);
		for (const each of [maskUrls, maskSameLength, maskUrl, holdsSecret])
			expect(
				cpuMs(() => each(text)),
				each.name,
			).toBeLessThan(300);
		expect(cpuMs(() => secretsIn(`${text}@`))).toBeLessThan(300);
		expect(cpuMs(() => secretsIn(`password:${text}`))).toBeLessThan(300);
	},
);

describe("a known secret", () => {
	test("is hidden as it is, and as files write it", () => {
		const secrets = ['a"b\\c', "long-secret", "long"];
		expect(hide('say a"b\\c, a\\"b\\\\c, long-secret, longer', secrets)).toBe(
			"say ***, ***, ***, ***er",
		);
	});

	test("of three letters would hide half of a text", () => {
		expect(hide("abc", ["abc"])).toBe("abc");
	});

	test.each([
		["ssl.keystore.password", true],
		["authorization.token", true],
		["MY_API_KEY", true],
		["delegation.token.max.lifetime.ms", false],
		["appendfsync", false],
	])("%s holds one: %s", (name, does) => {
		expect(soundsSecret(name)).toBe(does);
	});

	test("is in no line of the scenario that a run keeps", () => {
		const text = maskScenario(
			"a: { token: two words }\nb: &p hunter2\nc: *p\nurl: nats://u:pw@h\n",
			["hunter2"],
		);
		expect(text).toBe("a: { token: ********* }\nb: &p ***\nc: *p\nurl: nats://***@h\n");
	});
});
