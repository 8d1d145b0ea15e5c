// mochi runs Mochi MQTT, which is a library, with settings of mqbench. It keeps everything in memory.
package main

import (
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"math"
	"net"
	"os"
	"os/signal"
	"syscall"

	mqtt "github.com/mochi-mqtt/server/v2"
	"github.com/mochi-mqtt/server/v2/hooks/auth"
	"github.com/mochi-mqtt/server/v2/listeners"
	"github.com/mochi-mqtt/server/v2/packets"
)

// bufferBytes of a socket, each way. Mochi's default of 2048 takes two reads for a message of 1 KiB.
const bufferBytes = 64 * 1024

func main() {
	listen := flag.String("listen", "127.0.0.1:1883", "address")
	inFlight := flag.Uint("receive-maximum", 20, "messages of QoS 1 and 2 that a client may send before the first is acknowledged")
	queued := flag.Uint("max-queued", math.MaxUint16, "messages that wait for a client; it drops more of them")
	flag.Parse()
	if err := run(*listen, uint16(min(*inFlight, math.MaxUint16)), uint16(min(*queued, math.MaxUint16))); err != nil {
		fmt.Fprintln(os.Stderr, "mochi:", err)
		os.Exit(1)
	}
}

func run(listen string, inFlight, queued uint16) error {
	can := mqtt.NewDefaultServerCapabilities()
	can.ReceiveMaximum = inFlight
	can.MaximumInflight, can.MaximumClientWritesPending = queued, int32(queued)
	server := mqtt.New(&mqtt.Options{
		Capabilities: can, ClientNetReadBufferSize: bufferBytes, ClientNetWriteBufferSize: bufferBytes,
		Logger: slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})),
	})
	server.Info.Version = "mochi version " + mqtt.Version // for clients that ask for $SYS/broker/version, in mosquitto's format
	var access mqtt.Hook = new(auth.AllowHook)
	var rules any
	if password := os.Getenv("MOCHI_PASSWORD"); password != "" {
		access, rules = new(auth.Hook), &auth.Options{Ledger: &auth.Ledger{
			Auth: auth.AuthRules{{Username: auth.RString(os.Getenv("MOCHI_USER")), Password: auth.RString(password), Allow: true}},
		}}
	}
	if err := errors.Join(server.AddHook(access, rules), server.AddHook(new(noSendQuota), nil)); err != nil {
		return err
	}
	socket, err := net.Listen("tcp", listen)
	if err != nil {
		return err
	}
	if err := server.AddListener(listeners.NewNet("clients", socket)); err != nil {
		return err
	}
	if err := server.Serve(); err != nil {
		return err
	}
	fmt.Println("mochi", mqtt.Version, "is ready")
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGINT, syscall.SIGTERM)
	<-stop
	return server.Close()
}

// noSendQuota ignores how many messages clients want at once (their receive maximum). A client that has reached it gets nothing more,
// because Mochi MQTT 2.7.9 does not count the acknowledgements of messages it has held back, and it sends them late and out of order.
type noSendQuota struct{ mqtt.HookBase }

func (*noSendQuota) ID() string { return "no-send-quota" }

func (*noSendQuota) Provides(event byte) bool { return event == mqtt.OnSessionEstablished }

func (*noSendQuota) OnSessionEstablished(client *mqtt.Client, _ packets.Packet) {
	client.State.Inflight.ResetSendQuota(0)
}
