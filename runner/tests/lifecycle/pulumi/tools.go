// Package pulumi names the Pulumi command that the acceptance tests build: its releases are binaries of a host that not every machine
// reaches, its sources come through Go's module proxy.
package pulumi

import _ "github.com/pulumi/pulumi/pkg/v3/cmd/pulumi"
