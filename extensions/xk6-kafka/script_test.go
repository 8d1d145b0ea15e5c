package kafka

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/sr/srfake"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/scripttest"
)

func TestScriptsOfExamplesDoWhatTheySay(t *testing.T) {
	s := running(t)
	scripts, err := filepath.Glob("examples/*.js")
	if err != nil || len(scripts) == 0 {
		t.Fatal(scripts, err)
	}
	for _, path := range scripts {
		if got := scripttest.Run(t, []string{"KAFKA_BROKERS=" + strings.TrimPrefix(s.url, "kafka://")}, path); got.Code != 0 || strings.Contains(got.Said, "level=") {
			t.Errorf("%s ends with %d:\n%s", path, got.Code, got.Said)
		}
	}
}

// No real registry is to be had where this runs: the fake is by the makers of the client.
func TestSchemasOfARegistryAreNamedByTheirID(t *testing.T) {
	fake := srfake.New()
	defer fake.Close()
	if got := scripttest.Run(t, []string{"REGISTRY_URL=" + fake.URL()}, "examples/schemas.js"); got.Code != 0 || strings.Contains(got.Said, "level=") {
		t.Errorf("it ends with %d:\n%s", got.Code, got.Said)
	}
}

func TestErrorsAreExceptionsWithASentence(t *testing.T) {
	s := running(t)
	for _, c := range []struct{ name, text, want string }{
		{"no configuration", `new Writer();`, "kafka: it needs a configuration"},
		{"no brokers", `new Writer({ topic: "x" });`, "kafka: it needs brokers"},
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
		{"a topic that is there", `const c = new Connection({ brokers }); export default () => { c.createTopic({ topic: "twice" }); c.createTopic({ topic: "twice" }); }`,
			`kafka: createTopic: "twice": TOPIC_ALREADY_EXISTS`},
		{"a topic that is not there", `const c = new Connection({ brokers }); export default () => c.deleteTopic("no-such-topic");`, "unknown topic"},
		{"a balancer's own mind", `const w = new Writer({ brokers, topic: "twice", balancer: () => 7 }); export default () => w.produce({ messages: [{ key: "x" }] });`,
			"7 is none of the topic's 1 partitions"},
		{"a promise that is rejected", `const w = new Writer({ brokers, topic: "no-such-topic", writeTimeout: 5 * SECOND }); export default async () => { await w.produceAsync({ messages: [{ value: "x" }] }) }`,
			"UNKNOWN_TOPIC_OR_PARTITION"},
		{"a closed writer", `const w = new Writer({ brokers, topic: "twice" }); export default () => { w.close(); w.produce({ messages: [{ value: "x" }] }); }`, "kafka: produce: it is closed"},
	} {
		path := filepath.Join(t.TempDir(), "script.js")
		text := `import { Connection, Reader, SECOND, Writer } from "k6/x/kafka"; const brokers = [__ENV.KAFKA_BROKERS];` + "\n" + c.text
		if !strings.Contains(text, "export default") {
			text += "\nexport default () => {};"
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		got := scripttest.Run(t, []string{"KAFKA_BROKERS=" + strings.TrimPrefix(s.url, "kafka://")}, path)
		if !strings.Contains(strings.ReplaceAll(got.Said, `\"`, `"`), c.want) || strings.Contains(got.Said, "panic") {
			t.Errorf("%s: %d, want %q:\n%s", c.name, got.Code, c.want, got.Said)
		}
	}
}
