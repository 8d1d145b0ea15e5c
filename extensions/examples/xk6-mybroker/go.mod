module github.com/mqbench/mqbench/extensions/examples/xk6-mybroker

go 1.26.0

require github.com/mqbench/mqbench/extensions/xk6-mqbench v0.0.0

require golang.org/x/sys v0.49.0 // indirect

replace github.com/mqbench/mqbench/extensions/xk6-mqbench => ../../xk6-mqbench
