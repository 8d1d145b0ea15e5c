package mqtt

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/brokertest"
)

func TestMQTTKeepsTheContract(t *testing.T) {
	for _, c := range []struct {
		start   func(testing.TB) server
		options string
	}{
		{func(t testing.TB) server { return startMosquitto(t) }, `{"qos": 0}`},
		{func(t testing.TB) server { return startMosquitto(t) }, `{"qos": 1, "protocol": "3.1.1"}`},
		{func(t testing.TB) server { return startMosquitto(t) }, `{"qos": 2}`},
		{startMochi, `{"qos": 0, "protocol": "3.1.1"}`},
		{startMochi, `{"qos": 1}`},
		{startMochi, `{"qos": 2, "protocol": "3.1.1"}`},
	} {
		t.Run(c.options, func(t *testing.T) {
			t.Parallel()
			s := c.start(t)
			brokertest.Run(t, func(*testing.T) brokertest.System {
				return brokertest.System{Driver: New, URL: s.url(), DriverOptions: json.RawMessage(c.options), Broken: func(*testing.T) { s.Kill() }}
			})
		})
	}
}

func TestTheTableSaysWhatIsDoneForEachMessage(t *testing.T) {
	for _, qos := range []int{0, 1, 2} {
		brokertest.Tabled(t, fmt.Sprintf("MQTT QoS %d", qos), New, "mqtt://here", fmt.Sprintf(`{"qos": %d}`, qos))
	}
}
