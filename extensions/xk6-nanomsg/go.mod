module github.com/mqbench/mqbench/extensions/xk6-nanomsg

go 1.26.0

require (
	github.com/mqbench/mqbench/extensions/xk6-mqbench v0.0.0
	go.nanomsg.org/mangos/v3 v3.4.2
)

require (
	github.com/Microsoft/go-winio v0.5.2 // indirect
	golang.org/x/sys v0.49.0 // indirect
)

replace github.com/mqbench/mqbench/extensions/xk6-mqbench => ../xk6-mqbench
