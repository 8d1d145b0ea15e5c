module github.com/mqbench/mqbench/extensions/xk6-sqs

go 1.26.0

require github.com/mqbench/mqbench/extensions/xk6-mqbench v0.0.0

replace github.com/mqbench/mqbench/extensions/xk6-mqbench => ../xk6-mqbench

require (
	github.com/aws/aws-sdk-go-v2 v1.47.7
	github.com/aws/aws-sdk-go-v2/credentials v1.20.15
	github.com/aws/aws-sdk-go-v2/service/sqs v1.52.10
	github.com/aws/smithy-go v1.28.8
)

require (
	github.com/aws/aws-sdk-go-v2/internal/configsources v1.5.10 // indirect
	github.com/aws/aws-sdk-go-v2/internal/endpoints/v2 v2.8.10 // indirect
	golang.org/x/sys v0.49.0 // indirect
)
