module github.com/mqbench/mqbench/extensions/xk6-zeromq

go 1.26.0

require (
	github.com/go-zeromq/zmq4 v0.17.0
	github.com/mqbench/mqbench/extensions/xk6-mqbench v0.0.0
)

require (
	github.com/go-zeromq/goczmq/v4 v4.2.2 // indirect
	golang.org/x/sync v0.24.0 // indirect
	golang.org/x/sys v0.49.0 // indirect
	golang.org/x/text v0.43.0 // indirect
)

replace github.com/mqbench/mqbench/extensions/xk6-mqbench => ../xk6-mqbench
