package runner

import (
	"encoding/json"
	"os/exec"
	"reflect"
	"testing"
)

func TestURLsHaveTheirPartsAsInNode(t *testing.T) {
	texts := []string{
		"nats://me:p%40ss@h:4222", "nats://me:p^s<s>|{}@h:4222", "nats://me:100%@h", "nats://u:@h", "redis://:pw@h:6379/0",
		"nats://[::1]:4222/a?x=1#f", "tls://h:1/#", "mqtt://h:1883/?", "amqp://h/", "amqp://h/%2f?x=a b", "kafka://a:9092,b:9092",
		"http://h", "http://H:80/q", "https://h:443", "https://h:9324/queue?a=b", "http://h/../q",
		"nats://H:4222", "nats://h:99999", "nats://a b", " nats://h ", "nats:h", "nats://", "127.0.0.1:4222", "localhost:4222", "nope", "",
	}
	asked, err := json.Marshal(texts)
	if err != nil {
		t.Fatal(err)
	}
	node := exec.CommandContext(t.Context(), "node", "-e", `console.log(JSON.stringify(JSON.parse(process.argv[1]).map((text) => {
	if (!URL.canParse(text)) return null;
	const { protocol, username, password, host, hostname, port, pathname, search, hash, href } = new URL(text);
	return { protocol, username, password, host, hostname, port, pathname, search, hash, href };
})))`, string(asked))
	said, err := node.Output()
	if err != nil {
		t.Fatal(err)
	}
	var want []map[string]any
	if err := json.Unmarshal(said, &want); err != nil {
		t.Fatal(err)
	}
	for i, text := range texts {
		if got := urlParts(text); !reflect.DeepEqual(got, want[i]) {
			t.Errorf("%q:\n got %v\nwant %v", text, got, want[i])
		}
	}
}
