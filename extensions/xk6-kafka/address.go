package kafka

import (
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl"
	"github.com/twmb/franz-go/pkg/sasl/plain"
	"github.com/twmb/franz-go/pkg/sasl/scram"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/address"
)

// reach returns how clients reach the brokers of kafka://user:password@host:9092,host:9092 (kafkas:// is with TLS), and the same for
// people, without secrets.
func reach(url string, o options) ([]kgo.Opt, map[string]string, error) {
	at, err := address.Parse(url, "9092", "kafka", "kafkas")
	if err != nil {
		return nil, nil, err
	}
	opts := []kgo.Opt{kgo.SeedBrokers(at.Hosts...)}
	settings := map[string]string{"tls": "false", "sasl": "none"}
	o.TLS.On = o.TLS.On || at.Scheme == "kafkas"
	if o.TLS.On {
		settings["tls"] = "true"
		if o.TLS.Insecure {
			settings["tls"] = "true (any certificate is trusted)"
		}
	}
	config, err := o.TLS.Config()
	if err != nil {
		return nil, nil, err
	}
	if config != nil {
		opts = append(opts, kgo.DialTLSConfig(config))
	}
	if at.User != "" {
		opts = append(opts, kgo.SASL(mechanisms[o.Sasl](at.User, at.Password)))
		settings["sasl"] = o.Sasl
	}
	return opts, settings, nil
}

// --- internal ---

var mechanisms = map[string]func(user, password string) sasl.Mechanism{
	"plain": func(user, password string) sasl.Mechanism {
		return plain.Auth{User: user, Pass: password}.AsMechanism()
	},
	"scram-sha-256": func(user, password string) sasl.Mechanism {
		return scram.Auth{User: user, Pass: password}.AsSha256Mechanism()
	},
	"scram-sha-512": func(user, password string) sasl.Mechanism {
		return scram.Auth{User: user, Pass: password}.AsSha512Mechanism()
	},
}
