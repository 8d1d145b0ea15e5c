// Command natsd is the embedded default broker: nats-server as its own process, on a loopback port, with JetStream
// in a folder of its caller. It prints one line of JSON when it accepts connections, and ends on SIGTERM or SIGINT.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "natsd:", err)
		os.Exit(1)
	}
}

// ready is the line on stdout.
type ready struct {
	URL     string `json:"url"`
	Version string `json:"version"`
	Pid     int    `json:"pid"`
}

func run() error {
	host := flag.String("host", "127.0.0.1", "address to listen on")
	port := flag.Int("port", 0, "port to listen on; 0 takes a free one")
	store := flag.String("store", "", "folder for JetStream; none: JetStream is off")
	version := flag.Bool("version", false, "print the server's version and end")
	flag.Parse()
	if *version {
		fmt.Println("nats-server", server.VERSION)
		return nil
	}
	options := &server.Options{Host: *host, Port: *port, NoSigs: true, JetStream: *store != "", StoreDir: *store}
	if *port == 0 {
		options.Port = server.RANDOM_PORT
	}
	s, err := server.NewServer(options)
	if err != nil {
		return err
	}
	s.SetLoggerV2(logger{}, false, false, false)
	s.Start()
	if !s.ReadyForConnections(10 * time.Second) {
		return fmt.Errorf("listen on %s:%d: not ready after 10s", *host, *port)
	}
	line, err := json.Marshal(ready{URL: s.ClientURL(), Version: server.VERSION, Pid: os.Getpid()})
	if err != nil {
		return err
	}
	fmt.Println(string(line))
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM, syscall.SIGINT)
	<-stop
	s.Shutdown()
	s.WaitForShutdown()
	return nil
}

// logger writes what the server finds worth a notice to stderr, which the caller keeps as broker.log. A fatal error
// (the port is taken) ends the process: the server itself only stops listening.
type logger struct{}

func (logger) print(level, format string, v ...any) {
	fmt.Fprintf(os.Stderr, time.Now().UTC().Format("2006-01-02T15:04:05.000Z")+" ["+level+"] "+format+"\n", v...)
}
func (l logger) Noticef(format string, v ...any) { l.print("INF", format, v...) }
func (l logger) Warnf(format string, v ...any)   { l.print("WRN", format, v...) }
func (l logger) Errorf(format string, v ...any)  { l.print("ERR", format, v...) }
func (l logger) Debugf(string, ...any)           {}
func (l logger) Tracef(string, ...any)           {}
func (l logger) Fatalf(format string, v ...any) {
	l.print("FTL", format, v...)
	os.Exit(1)
}
