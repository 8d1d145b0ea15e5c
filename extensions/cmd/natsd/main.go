// Command natsd is the embedded default broker: nats-server as its own process, with a configuration file in nats-server's
// own format; without one it listens on a free loopback port and stores nothing. It prints one line of JSON when it accepts
// connections, on stderr what nats-server says in its log, and ends on SIGTERM or SIGINT.
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
	config := flag.String("c", "", "configuration file in the format of nats-server")
	version := flag.Bool("version", false, "print the server's version and end")
	flag.Parse()
	if *version {
		fmt.Println("nats-server", server.VERSION)
		return nil
	}
	options := &server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT}
	if *config != "" {
		var err error
		if options, err = server.ProcessConfigFile(*config); err != nil {
			return err
		}
	}
	options.NoSigs = true
	s, err := server.NewServer(options)
	if err != nil {
		return err
	}
	s.SetLoggerV2(logger{}, false, false, false)
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM, syscall.SIGINT)
	s.Start()
	if !s.ReadyForConnections(10 * time.Second) {
		return fmt.Errorf("listen on %s:%d: not ready after 10s", options.Host, options.Port)
	}
	line, err := json.Marshal(ready{URL: s.ClientURL(), Version: server.VERSION, Pid: os.Getpid()})
	if err != nil {
		return err
	}
	fmt.Println(string(line))
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
