module github.com/mqbench/mqbench/extensions/xk6-amqp

go 1.26.0

require github.com/mqbench/mqbench/extensions/xk6-mqbench v0.0.0

replace github.com/mqbench/mqbench/extensions/xk6-mqbench => ../xk6-mqbench

require github.com/Azure/go-amqp v1.7.0

require golang.org/x/sys v0.49.0 // indirect
