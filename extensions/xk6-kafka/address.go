package kafka

import (
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl"
	"github.com/twmb/franz-go/pkg/sasl/plain"
	"github.com/twmb/franz-go/pkg/sasl/scram"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/address"
)

// reach returns the options that tell clients how to reach the brokers of kafka://user:password@host:9092,host:9092 (kafkas:// for
// TLS). It does not print secrets.
func reach(url string, o options) (func(to *settings), error) {
	at, config, err := address.ParseSecure(url, o.TLS, address.Scheme{Name: "kafka", Port: "9092"}, address.Scheme{Name: "kafkas", Port: "9092"})
	if err != nil {
		return nil, err
	}
	return func(to *settings) {
		to.Set("tls", false, kgo.SeedBrokers(at.Hosts...))
		if config != nil {
			to.Set("tls", true, kgo.DialTLSConfig(config))
		}
		if config != nil && o.TLS.Insecure {
			to.Set("tls", "true (any certificate is trusted)")
		}
		to.Set("sasl", "none")
		if at.User != "" {
			to.Set("sasl", o.Sasl, kgo.SASL(mechanisms[o.Sasl](at.User, at.Password)))
		}
	}, nil
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
