package brokerless

import (
	"flag"
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
)

// Main runs a forwarder until a signal comes: arguments as of a command line, without the program's name.
func Main(libraries map[string]Library, arguments []string, out io.Writer) error {
	known := strings.Join(slices.Sorted(maps.Keys(libraries)), ", ")
	flags := flag.NewFlagSet("forwarder", flag.ContinueOnError)
	flags.SetOutput(out)
	name := flags.String("library", "", "whose sockets: "+known)
	addr := flags.String("addr", "127.0.0.1:5555", "host:port for clients; sockets for messages are on ports of their own of that host")
	if err := flags.Parse(arguments); err != nil {
		return err
	}
	library := libraries[*name]
	if library == nil {
		return fmt.Errorf("-library must be one of %s, got %q", known, *name)
	}
	host, _, err := net.SplitHostPort(*addr)
	if err != nil {
		return fmt.Errorf("-addr: %w", err)
	}
	listener, err := net.Listen("tcp", *addr)
	if err != nil {
		return err
	}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-signals
		_ = listener.Close()
	}()
	version := "mqbench's forwarder on " + library.Version()
	_, _ = fmt.Fprintf(out, "version %s\nlistening on %s\n", library.Version(), listener.Addr())
	return NewForwarder(library, host, version).Serve(listener)
}
