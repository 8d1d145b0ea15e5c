package nats

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/brokertest"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/scripttest"
)

func TestScriptsOfExamplesDoWhatTheySay(t *testing.T) {
	s := start(t, stored(t))
	scripts, _ := filepath.Glob("examples/*.js")
	if len(scripts) == 0 {
		t.Fatal("there are no examples")
	}
	for _, path := range scripts {
		if got := scripttest.Run(t, []string{"NATS_URL=" + s.ClientURL()}, path); got.Code != 0 || strings.Contains(got.Said, "level=") {
			t.Errorf("%s ends with %d:\n%s", path, got.Code, got.Said)
		}
	}
	if left := s.NumSubscriptions(); s.NumClients() > 0 {
		t.Errorf("%d clients and %d subscriptions are left", s.NumClients(), left)
	}
}

// script writes one, which has `nats`.
func script(t *testing.T, text string) string {
	t.Helper()
	return bare(t, "const nats = new Nats({ servers: [__ENV.NATS_URL] });\n"+text)
}

// bare writes a script that has its imports.
func bare(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "script.js")
	begin := `import { check, sleep as k6Sleep } from "k6"; import { Nats, sleep } from "k6/x/nats";` + "\n"
	if err := os.WriteFile(path, []byte(begin+text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestAScriptThatStopsItsEventLoopIsToldOnce(t *testing.T) {
	s := start(t, nil)
	path := script(t, `
export const options = { vus: 2, iterations: 6 };
nats.subscribe("x", () => {});
export default function () { nats.publish("x", "text"); k6Sleep(0.3) }`)
	got := scripttest.Run(t, []string{"NATS_URL=" + s.ClientURL()}, path)
	if got.Code != 0 || strings.Count(got.Said, "await sleep(1)") != 1 {
		t.Errorf("%d: %s", got.Code, got.Said)
	}
}

func TestErrorsAreExceptionsWithASentence(t *testing.T) {
	plain := start(t, stored(t))
	secret := start(t, func(o *server.Options) { o.Authorization = "right-token" })
	for _, c := range []struct{ name, url, text, want string }{
		{"a server that is not there", "nats://127.0.0.1:1", `const nats = new Nats({ servers: [__ENV.URL] });`,
			"nats: connect to nats://127.0.0.1:1: no server answers there; is it running?"},
		{"a wrong token", secret.ClientURL(), `const nats = new Nats({ servers: [__ENV.URL], token: "wrong-token" });`,
			"nats: connect to " + secret.ClientURL() + ": nats: Authorization Violation"},
		{"a password in the URL", "nats://me:hush-hush@127.0.0.1:1", `const nats = new Nats({ servers: [__ENV.URL] });`,
			"nats: connect to nats://***@127.0.0.1:1: no server answers"},
		{"no configuration", "", `const nats = new Nats();`, "new Nats needs a configuration"},
		{"a wrong type", "", `const nats = new Nats({ servers: "nats://127.0.0.1:1" });`, "servers cannot be a string"},
		{"no subject", plain.ClientURL(), `export default () => new Nats({ servers: [__ENV.URL] }).publish();`, "nats: publish: it needs a subject"},
		{"no handler", plain.ClientURL(), `export default () => new Nats({ servers: [__ENV.URL] }).subscribe("x");`, `nats: subscribe: "x": it needs a handler`},
		{"no bytes", plain.ClientURL(), `export default () => new Nats({ servers: [__ENV.URL] }).publish("x", { a: 1 });`, "the message must be a text"},
		{"a subject without a stream", plain.ClientURL(), `export default () => new Nats({ servers: [__ENV.URL] }).jetStreamSubscribe("x", () => {});`,
			`nats: jetStreamSubscribe: "x": nats: no stream matches subject`},
		{"publishing without a stream", plain.ClientURL(), `export default () => new Nats({ servers: [__ENV.URL] }).jetStreamPublish("x", "y");`,
			`nats: jetStreamPublish: to "x": no stream has this subject`},
		{"an unknown stream", plain.ClientURL(), `export default () => new Nats({ servers: [__ENV.URL] }).jetStreamDelete("x");`, `stream "x": nats: stream not found`},
		{"a closed client", plain.ClientURL(), `export default () => { const nats = new Nats({ servers: [__ENV.URL] }); nats.close(); nats.publish("x", "y"); }`,
			"nats: publish: the client is closed"},
		{"a handler that throws", plain.ClientURL(), `const nats = new Nats({ servers: [__ENV.URL] });
nats.subscribe("x", () => { throw new Error("in the handler") });
export default async () => { nats.publish("x", "y"); await sleep(0.2); console.log("went on"); }`, "in the handler"},
		{"a promise that is rejected", plain.ClientURL(), `export default async () => { await new Nats({ servers: [__ENV.URL] }).requestAsync("x", "y") }`,
			`nats: request: to "x": nobody is subscribed there`},
	} {
		if !strings.Contains(c.text, "export default") {
			c.text += "\nexport default () => {};"
		}
		got := scripttest.Run(t, []string{"URL=" + c.url}, bare(t, c.text))
		if !strings.Contains(strings.ReplaceAll(got.Said, `\"`, `"`), c.want) {
			t.Errorf("%s: %d, want %q:\n%s", c.name, got.Code, c.want, got.Said)
		}
		for _, secret := range []string{"wrong-token", "hush-hush", "panic", "went on"} {
			if strings.Contains(got.Said, secret) {
				t.Errorf("%s: %q is in what k6 says:\n%s", c.name, secret, got.Said)
			}
		}
	}
}

func TestAStreamOfAScriptsTopIsMadeOnce(t *testing.T) {
	s := start(t, stored(t))
	env := []string{"NATS_URL=" + s.ClientURL()}
	for _, top := range []string{`if (__VU == 0) nats.jetStreamSetup({ name: "once", subjects: ["once"] });`, `nats.jetStreamSetup({ name: "once", subjects: ["once"] });`} {
		// If a later call made the stream, it would be there again after teardown.
		path := script(t, top+`
export const options = { vus: 3, iterations: 3 };
export default () => { nats.jetStreamPublish("once", "x") };
export function teardown() { nats.jetStreamDelete("once") }
export const handleSummary = () => ({});`)
		for range 2 {
			if got := scripttest.Run(t, env, path); got.Code != 0 || strings.Contains(got.Said, "level=") {
				t.Errorf("%s\nends with %d:\n%s", top, got.Code, got.Said)
			}
		}
		if got := scripttest.Run(t, env, script(t, `export default () => nats.jetStreamPublish("once", "x")`)); !strings.Contains(got.Said, "no stream has this subject") {
			t.Errorf("%s: it is there:\n%s", top, got.Said)
		}
	}
	got := scripttest.Run(t, env, script(t, `if (__VU == 0) nats.jetStreamSetup({ name: "a.b" }); export default () => {};`))
	if got.Code != 107 || !strings.Contains(got.Said, "nats: jetStreamSetup: stream ") {
		t.Errorf("%d: %s", got.Code, got.Said)
	}
}

func TestWhateverAScriptGivesIsRefusedByASentence(t *testing.T) {
	env := []string{"NATS_URL=" + start(t, stored(t)).ClientURL()}
	// With a stream, no call waits for an answer that never comes.
	if got := scripttest.Run(t, env, script(t, `nats.jetStreamSetup({ name: "all", subjects: ["*"] }); export default () => {};`)); got.Code != 0 {
		t.Fatal(got.Said)
	}
	scripttest.Odd(t, env, "k6/x/nats", "nats: ", `{ nats: new it.Nats({ servers: [__ENV.NATS_URL] }) }`,
		`{ topic: "x", data: 7 }, { topic: "x", raw: [256] }, { topic: "x", data: "y", header: 7 }, { name: "x", storage: 7 }, { name: "x", storage: "tape" }, { name: 7 }, { tls: { cert: "x" } }`)
}

func TestAPromiseIsSettledWhileMoreMessagesComeThanHandlersTake(t *testing.T) {
	got := scripttest.Run(t, []string{"NATS_URL=" + start(t, nil).ClientURL()}, script(t, `
export const options = { thresholds: { checks: ["rate==1"] }, scenarios: {
	floods: { executor: "constant-arrival-rate", exec: "floods", rate: 1000, duration: "9s", preAllocatedVUs: 2 },
	hears: { executor: "per-vu-iterations", exec: "hears", vus: 1, startTime: "500ms" } } };
export const floods = () => nats.publish("flood", "x");
export async function hears() {
	nats.subscribe("flood", () => { for (const began = Date.now(); Date.now() < began + 3; ); });
	const began = Date.now();
	await sleep(0.5);
	check(Date.now() - began, { "it returns": (ms) => ms < 5000 }) || console.log(Date.now() - began);
}
export default () => {};`))
	if got.Code != 0 {
		t.Errorf("%d: %s", got.Code, got.Said)
	}
}

func TestUnknownOptionsAreNamedOnce(t *testing.T) {
	got := scripttest.Run(t, []string{"NATS_URL=" + start(t, stored(t)).ClientURL()}, script(t, `export const options = { vus: 3, iterations: 6 };
const other = new Nats({ servers: [__ENV.NATS_URL], url: "x" });
if (__VU == 0) nats.jetStreamSetup({ name: "x", subjects: ["x"], maxAge: 1, placement: { tag: "x" } });
export default () => nats.publishMsg({ topic: "x", data: "y" });`))
	for _, want := range []string{"new Nats: unknown options are ignored: url", "jetStreamSetup: unknown options are ignored: maxAge, placement.tag"} {
		if strings.Count(got.Said, "nats: "+want+`"`) != 1 {
			t.Errorf("%q is not said once", want)
		}
	}
	if got.Code != 0 || strings.Count(got.Said, "level=") != 2 {
		t.Errorf("%d: %s", got.Code, got.Said)
	}
}

func TestNothingConnectsWhileK6OnlyLooksAtAScript(t *testing.T) {
	path := script(t, `nats.subscribe("x", () => {}); nats.jetStreamSetup({ name: "x" }); nats.publish("x", "y"); nats.request("x", "y").data.trim(); export default function () {}`)
	for _, command := range [][]string{{"inspect", path}, {"archive", "-O", filepath.Join(t.TempDir(), "a.tar"), path}} {
		if got := scripttest.K6(t, []string{"NATS_URL=nats://127.0.0.1:1"}, command...); got.Code != 0 {
			t.Errorf("%s: %d: %s", command[0], got.Code, got.Said)
		}
	}
}

func TestAServerThatComesBackIsUsedAgain(t *testing.T) {
	s, url := process(t, "")
	path := script(t, `
export const options = { iterations: 1, thresholds: { checks: ["rate==1"], nats_message_count: ["count>=2"] } };
let heard = 0;
nats.subscribe("x", () => heard++);
export default async function () {
	nats.publish("x", "before");
	await sleep(1);
	check(heard, { before: (n) => n === 1 });
	for (let i = 0; i < 300 && heard < 2; i++) { await sleep(0.1); nats.publish("x", "after"); }
	check(heard, { after: (n) => n >= 2 });
}`)
	heard := must(jetStreamOf(t, url).Conn().SubscribeSync("x"))(t)
	ended := make(chan scripttest.Ended, 1)
	go func() { ended <- scripttest.Run(t, []string{"NATS_URL=" + url}, path) }()
	must(heard.NextMsg(time.Minute))(t)
	time.Sleep(500 * time.Millisecond) // the script has received it, too
	s.Kill()
	s.Start()
	if got := <-ended; got.Code != 0 {
		t.Errorf("%d: %s", got.Code, got.Said)
	}
}

func TestScriptsReachAServerWithTLSAndAUser(t *testing.T) {
	cert, key := brokertest.Certificate(t, t.TempDir())
	config := must(server.GenTLSConfig(&server.TLSConfigOpts{CertFile: cert, KeyFile: key, CaFile: cert}))(t)
	s := start(t, func(o *server.Options) {
		o.TLSConfig, o.TLSTimeout = config, 5
		o.Username, o.Password = "me", "hush-hush"
	})
	for _, c := range []struct{ configuration, want string }{
		{`tls: { ca: __ENV.CA }, user: "me", password: "hush-hush"`, "it is there"},
		{`unsafe: true, user: "me", password: "hush-hush"`, "it is there"},
		{`user: "me", password: "hush-hush"`, "certificate"},
		{`unsafe: true, user: "me", password: "wrong-hush"`, "Authorization Violation"},
	} {
		path := bare(t, `const nats = new Nats({ servers: [__ENV.URL], `+c.configuration+` });
export default function () { nats.publish("x", "y"); nats.close(); console.log("it is there"); }`)
		got := scripttest.Run(t, []string{"URL=" + s.ClientURL(), "CA=" + cert}, path)
		if !strings.Contains(got.Said, c.want) || strings.Contains(got.Said, "hush") {
			t.Errorf("%s: want %q, and no password:\n%s", c.configuration, c.want, got.Said)
		}
	}
}
