package mqtt

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/brokertest"
)

func TestMQTTKeepsTheContract(t *testing.T) {
	for _, options := range []string{
		`{"qos": 0}`,
		`{"qos": 1}`,
		`{"qos": 2}`,
		`{"qos": 0, "protocol": "3.1.1"}`,
		`{"qos": 1, "protocol": "3.1.1"}`,
		`{"qos": 2, "protocol": "3.1.1"}`,
	} {
		t.Run(options, func(t *testing.T) {
			t.Parallel()
			s := startServer(t)
			brokertest.Run(t, func(*testing.T) brokertest.System {
				return brokertest.System{Driver: New, URL: s.url(), DriverOptions: json.RawMessage(options), Broken: func(*testing.T) { s.kill() }}
			})
		})
	}
}

func TestTheTableSaysWhatIsDoneForEachMessage(t *testing.T) {
	for _, qos := range []int{0, 1, 2} {
		brokertest.Tabled(t, fmt.Sprintf("MQTT QoS %d", qos), New, "mqtt://here", fmt.Sprintf(`{"qos": %d}`, qos))
	}
}
