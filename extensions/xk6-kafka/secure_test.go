package kafka

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/brokertest"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/scripttest"
)

func TestTLSAndPasswords(t *testing.T) {
	folder := t.TempDir()
	ca, key := brokertest.Certificate(t, folder)
	pem := ""
	for _, file := range []string{key, ca} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		pem += string(text)
	}
	store := brokertest.File(t, pem, folder, "store.pem")
	s := start(t, folder, setup{
		settings: map[string]string{
			"listeners":                                         "SAFE://127.0.0.1:{port},PLAINTEXT://127.0.0.1:{other},CONTROLLER://127.0.0.1:{controller}",
			"listener.security.protocol.map":                    "SAFE:SASL_SSL,PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
			"inter.broker.listener.name":                        "PLAINTEXT",
			"ssl.keystore.type":                                 "PEM",
			"ssl.keystore.location":                             store,
			"sasl.enabled.mechanisms":                           "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512",
			"listener.name.safe.plain.sasl.jaas.config":         `org.apache.kafka.common.security.plain.PlainLoginModule required user_bench="s3cr@t";`,
			"listener.name.safe.scram-sha-256.sasl.jaas.config": "org.apache.kafka.common.security.scram.ScramLoginModule required;",
			"listener.name.safe.scram-sha-512.sasl.jaas.config": "org.apache.kafka.common.security.scram.ScramLoginModule required;",
		},
		format: []string{
			"--add-scram", "SCRAM-SHA-256=[name=bench,password=s3cr@t]", "--add-scram", "SCRAM-SHA-512=[name=bench,password=s3cr@t]",
		},
	})
	host := strings.TrimPrefix(s.url, "kafka://")
	for _, mechanism := range []string{"plain", "scram-sha-256", "scram-sha-512"} {
		t.Run(mechanism+" lets messages through", func(t *testing.T) {
			options := fmt.Appendf(nil, `{"tls": {"ca": %q}, "sasl": %q}`, ca, mechanism)
			a := brokertest.System{Driver: New, URL: "kafkas://bench:s3cr%40t@" + host, DriverOptions: options}.Traffic(t, "")
			a.Arrives()
			if d := fmt.Sprintf("%+v", a.Session.Describe()); strings.Contains(d, "s3cr@t") || !strings.Contains(d, mechanism) {
				t.Errorf("Describe = %s; want the mechanism, and no password", d)
			}
		})
	}
	t.Run("scripts log in", func(t *testing.T) { scriptsLogIn(t, host, ca) })
	for name, o := range map[string]broker.Options{
		"SASL_AUTHENTICATION_FAILED":              {URL: "kafkas://bench:wr0ng@" + host, Driver: fmt.Appendf(nil, `{"tls": {"ca": %q}}`, ca)},
		"certificate signed by unknown authority": {URL: "kafkas://bench:s3cr%40t@" + host},
		"TLS": {URL: "kafka://bench:s3cr%40t@" + host},
	} {
		t.Run(name+" is an error at Open, without the password", func(t *testing.T) { refuses(t, o, name) })
	}
}

func scriptsLogIn(t *testing.T, broker, ca string) {
	for _, c := range []struct{ algorithm, password, want string }{
		{"SASL_PLAIN", "s3cr@t", "1 of 1"},
		{"SASL_SCRAM_SHA512", "s3cr@t", "1 of 1"},
		{"SASL_PLAIN", "wr0ng", "SASL_AUTHENTICATION_FAILED"},
	} {
		path := written(t, `const access = {
	brokers, tls: { enableTls: true, serverCaPem: __ENV.CA, minVersion: TLS_1_2 },
	sasl: { username: "bench", password: __ENV.PASSWORD, algorithm: `+c.algorithm+` },
};
const topic = "secure-" + access.sasl.algorithm;
const connection = new Connection(access), writer = new Writer({ ...access, topic, writeTimeout: 10 * SECOND }), reader = new Reader({ ...access, topic });
export default function () {
	connection.createTopic({ topic });
	writer.produce({ messages: [{ value: "x" }] });
	console.log(reader.consume({ limit: 1 }).length + " of 1");
}`)
		got := scripttest.Run(t, []string{"KAFKA_BROKERS=" + broker, "CA=" + ca, "PASSWORD=" + c.password}, path)
		if !strings.Contains(got.Said, c.want) || strings.Contains(got.Said, c.password) {
			t.Errorf("%s: want %q, and no password:\n%s", c.algorithm, c.want, got.Said)
		}
	}
}
