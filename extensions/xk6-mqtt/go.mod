module github.com/mqbench/mqbench/extensions/xk6-mqtt

go 1.26.0

require github.com/mqbench/mqbench/extensions/xk6-mqbench v0.0.0

replace github.com/mqbench/mqbench/extensions/xk6-mqbench => ../xk6-mqbench

require (
	github.com/eclipse/paho.golang v0.23.0
	github.com/eclipse/paho.mqtt.golang v1.5.1
)

require (
	github.com/gorilla/websocket v1.5.3 // indirect
	golang.org/x/net v0.60.0 // indirect
	golang.org/x/sync v0.17.0 // indirect
	golang.org/x/sys v0.49.0 // indirect
)
