package kafka

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/sr/srfake"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/brokertest"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/scripttest"
)

func TestScriptsDoWhatTheySay(t *testing.T) {
	scripts, err := filepath.Glob("testdata/*.js")
	if err != nil || len(scripts) == 0 {
		t.Fatal(scripts, err)
	}
	for _, path := range scripts {
		clean(t, path, scripttest.Run(t, env(t), path))
	}
}

// No real registry is to be had where this runs: the fake is by the makers of the client.
func TestSchemasOfARegistryAreNamedByTheirID(t *testing.T) {
	fake := srfake.New()
	defer fake.Close()
	clean(t, "it", scripttest.Run(t, []string{"REGISTRY_URL=" + fake.URL()}, "testdata/schemas.js"))
}

// env has the address of a running broker.
func env(t *testing.T) []string {
	return []string{"KAFKA_BROKERS=" + strings.TrimPrefix(running(t).url, "kafka://")}
}

// run runs a script, given as text.
func run(t *testing.T, text string) scripttest.Ended {
	return scripttest.Run(t, env(t), written(t, text))
}

// clean fails unless a script has ended well and without a warning.
func clean(t *testing.T, what string, got scripttest.Ended) {
	t.Helper()
	if got.Code != 0 || strings.Contains(got.Said, "level=") {
		t.Errorf("%s ends with %d:\n%s", what, got.Code, got.Said)
	}
}

// written puts a script into a file.
func written(t *testing.T, text string) string {
	t.Helper()
	text = `import { check } from "k6"; import { AdminClient, Connection, Reader, SASL_PLAIN, SASL_SCRAM_SHA512, SECOND, SchemaRegistry, TLS_1_2, Writer } from "k6/x/kafka"; const brokers = [__ENV.KAFKA_BROKERS];` + "\n" + text
	if !strings.Contains(text, "export default") {
		text += "\nexport default () => {};"
	}
	return brokertest.File(t, text, t.TempDir(), "script.js")
}

func TestATopicOfAScriptsTopIsMadeOnce(t *testing.T) {
	for _, top := range []string{`if (__VU == 0) c.createTopic({ topic: "again" });`, `c.createTopic({ topic: "again" });`} {
		// If a later call made the topic, it would be there again after teardown.
		scripts := []string{
			`export const options = { vus: 3, iterations: 3 }; const c = new Connection({ brokers }); ` + top + `
export function setup() {}
export default () => { if (!c.listTopics().includes("again")) throw new Error("it is missing") };
export const handleSummary = () => ({});`,
			`const c = new Connection({ brokers }); ` + top + ` export function teardown() { c.deleteTopic("again") }`,
			`const c = new Connection({ brokers }); export default () => { if (c.listTopics().includes("again")) throw new Error("it is there") }`,
		}
		for _, text := range scripts {
			clean(t, text, run(t, text))
		}
	}
	for _, text := range []string{
		`const c = new Connection({ brokers }); if (__VU == 0) c.createTopic({ topic: "many", replicationFactor: 7 });`,
		`const c = new Connection({ brokers }); c.createTopic({ topic: "many", replicationFactor: 7 });`,
	} {
		got := run(t, text)
		if got.Code != 107 || !strings.Contains(got.Said, `kafka: createTopic: \"many\": INVALID_REPLICATION_FACTOR`) || strings.Contains(got.Said, "panic") {
			t.Errorf("%s\nends with %d:\n%s", text, got.Code, got.Said)
		}
	}
}

func TestNothingConnectsWhileK6OnlyLooksAtAScript(t *testing.T) {
	path := written(t, `const c = new Connection({ brokers }); c.createTopic({ topic: "x" }); c.listTopics().forEach(c.deleteTopic); c.getMetadata("x").partitions.forEach(() => {});
const s = new SchemaRegistry({ url: "http://127.0.0.1:1" }); s.createSchema({ subject: "x", schema: '"int"' }); s.getSchema({ subject: "x" });
new Writer({ brokers, topic: "x" }).close(); const r = new Reader({ brokers, topic: "x" }); r.commitOffsets(); r.close();`)
	for _, command := range [][]string{{"inspect", path}, {"archive", "-O", filepath.Join(t.TempDir(), "a.tar"), path}} {
		clean(t, command[0], scripttest.K6(t, []string{"KAFKA_BROKERS=127.0.0.1:1"}, command...))
	}
}

func TestWhateverAScriptGivesIsRefusedByASentence(t *testing.T) {
	scripttest.Odd(t, env(t), "k6/x/kafka", "kafka: ", `{
	writer: new it.Writer({ brokers: [__ENV.KAFKA_BROKERS], writeTimeout: "300ms" }),
	reader: new it.Reader({ brokers: [__ENV.KAFKA_BROKERS], topic: "odd", maxWait: "1ms" }),
	connection: new it.Connection({ brokers: [__ENV.KAFKA_BROKERS] }), admin: new it.AdminClient({ brokers: [__ENV.KAFKA_BROKERS] }),
	registry: new it.SchemaRegistry(), far: new it.SchemaRegistry({ url: "http://127.0.0.1:1" }),
}`, `{ topic: "x", messages: [7] }, { messages: [{ topic: "x", partition: "y", value: "z", headers: 7, time: "now" }] }, { topic: "x", messages: [{ value: "x", partition: 99 }] },
	{ data: cyclic, schemaType: "JSON", partition: "x", offset: "x" }, { data: Symbol("x"), schemaType: "JSON" }, { data: () => 1, schemaType: "STRING" },
	{ data: [0, 0, 0, 0, 3], schemaType: "AVRO", schema: { schema: '"int"', id: 3 } }`)
}

func TestUnknownOptionsAreNamedOnce(t *testing.T) {
	got := run(t, `export const options = { vus: 3, iterations: 6 };
const w = new Writer({ brokers, topic: "options", tlsConfig: {}, sasl: { user: "me" } });
const c = new Connection({ brokers, port: 1 }); if (__VU == 0) c.createTopic({ topic: "options", partitions: 3, configEntries: [{ name: "x", configName: "retention.ms", configValue: 10000 }] });
const r = new Reader({ brokers, topic: "options", maxwait: "5s", group: "x" });
const s = new SchemaRegistry({ uri: "" });
export default () => {
	w.produce({ messages: [{ value: "y" }] });
	r.consume({ limit: 1, timeout: 1 });
	s.serialize({ data: "x", schemaType: "STRING", schema: { text: "" }, topic: "x" });
};`)
	for _, want := range []string{
		"new Writer: unknown options are ignored: sasl.user, tlsConfig", "new Connection: unknown options are ignored: port", "createTopic: unknown options are ignored: configEntries.name, partitions",
		"new Reader: unknown options are ignored: group", "new SchemaRegistry: unknown options are ignored: uri",
		"consume: unknown options are ignored: timeout", "serialize: unknown options are ignored: topic", "serialize: schema: unknown options are ignored: text",
	} {
		if strings.Count(got.Said, "kafka: "+want+`"`) != 1 {
			t.Errorf("%q is not said once", want)
		}
	}
	if got.Code != 0 || strings.Count(got.Said, "level=") != 8 {
		t.Errorf("%d: %s", got.Code, got.Said)
	}
}

func TestACallThatConsumesIsBoundedWhileMessagesTrickle(t *testing.T) {
	got := run(t, `export const options = { thresholds: { checks: ["rate==1"] }, setupTimeout: "20s",
	scenarios: { trickle: { executor: "constant-arrival-rate", exec: "trickle", rate: 4, duration: "9s", preAllocatedVUs: 2 }, reads: { executor: "per-vu-iterations", vus: 1, exec: "reads" } } };
const w = new Writer({ brokers, topic: "trickle" });
if (__VU == 0) new Connection({ brokers }).createTopic({ topic: "trickle" });
export const trickle = () => w.produce({ messages: [{ value: "x" }] });
export function reads() {
	for (const [of, more] of [[{}, { maxDuration: "2s" }], [{ maxDuration: "2s" }, {}], [{}, { maxDuration: 2 * SECOND, expectTimeout: false }]]) {
		const r = new Reader({ brokers, topic: "trickle", maxWait: "5s", ...of });
		const began = Date.now();
		let got;
		try { got = r.consume({ limit: 1e10, expectTimeout: true, ...more }).length } catch (error) { got = String(error) }
		check(Date.now() - began, { "it took 2 s": (ms) => ms >= 1900 && ms < 4500 }) || console.log(Date.now() - began);
		check(got, { "what came is returned": (n) => more.expectTimeout === false ? /not all messages within maxDuration of 2s: \d+ of 10000000000 have come/.test(n) : n > 0 }) || console.log(got);
		r.close();
	}
}
export default () => {};`)
	if got.Code != 0 {
		t.Errorf("%d: %s", got.Code, got.Said)
	}
}

func TestErrorsAreExceptionsWithASentence(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"no configuration", `new Writer();`, "kafka: it needs a configuration"},
		{"no brokers", `new Writer({ topic: "x" });`, "kafka: it needs brokers"},
		{"no registry", `new SchemaRegistry().getSchema({ subject: "x" });`, "kafka: getSchema: it needs a registry"},
		{"Protobuf", `new SchemaRegistry().serialize({ data: 1, schemaType: "PROTOBUF" });`, "kafka: serialize: Protobuf is not built in"},
		{"no topic to read", `new Reader({ brokers });`, "kafka: it needs a topic"},
		{"a wrong codec", `new Writer({ brokers, topic: "x", compression: "rar" });`, `compression "rar" is none`},
		{"a login that is not built in", `new Writer({ brokers, topic: "x", sasl: { algorithm: "sasl_gssapi" } });`, "sasl_gssapi is not built in"},
		{"consume in the init context", `new Reader({ brokers, topic: "x" }).consume();`, "cannot be called in the init context"},
		{"a broker that is not there", `const w = new Writer({ brokers: ["127.0.0.1:1"], topic: "x", writeTimeout: SECOND }); export default () => w.produce({ messages: [{ value: "x" }] });`,
			`kafka: produce: `},
		{"an unknown topic", `const w = new Writer({ brokers, topic: "no-such-topic", writeTimeout: 5 * SECOND }); export default () => w.produce({ messages: [{ value: "x" }] });`,
			`UNKNOWN_TOPIC_OR_PARTITION`},
		{"no message", `const r = new Reader({ brokers, topic: "no-such-topic", maxWait: "1s" }); export default () => r.consume();`,
			"kafka: consume: no message within maxWait of 1s: 0 of 1 have come"},
		{"too many replicas", `const c = new Connection({ brokers }); export default () => { c.createTopic({ topic: "twice" }); c.createTopic({ topic: "many", replicationFactor: 7 }); }`,
			`kafka: createTopic: "many": INVALID_REPLICATION_FACTOR`},
		{"a topic that is not there", `const c = new Connection({ brokers }); export default () => c.deleteTopic("no-such-topic");`, "unknown topic"},
		{"a balancer's own mind", `const w = new Writer({ brokers, topic: "twice", balancer: () => 7 }); export default () => w.produce({ messages: [{ key: "x" }] });`,
			"7 is none of the topic's 1 partitions"},
		{"a promise that is rejected", `const w = new Writer({ brokers, topic: "no-such-topic", writeTimeout: 5 * SECOND }); export default async () => { await w.produceAsync({ messages: [{ value: "x" }] }) }`,
			"UNKNOWN_TOPIC_OR_PARTITION"},
		{"a closed writer", `const w = new Writer({ brokers, topic: "twice" }); export default () => { w.close(); w.produce({ messages: [{ value: "x" }] }); }`, "kafka: produce: it is closed"},
	} {
		got := run(t, c.text)
		if !strings.Contains(strings.ReplaceAll(got.Said, `\"`, `"`), c.want) || strings.Contains(got.Said, "panic") {
			t.Errorf("%s: %d, want %q:\n%s", c.name, got.Code, c.want, got.Said)
		}
	}
}
