module github.com/mqbench/mqbench/extensions/xk6-nsq

go 1.26.0

require github.com/mqbench/mqbench/extensions/xk6-mqbench v0.0.0

replace github.com/mqbench/mqbench/extensions/xk6-mqbench => ../xk6-mqbench

require github.com/nsqio/go-nsq v1.1.0

require (
	github.com/golang/snappy v0.0.1 // indirect
	golang.org/x/sys v0.49.0 // indirect
)
