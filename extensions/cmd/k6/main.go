package main

import "go.k6.io/k6/v2/cmd"

func main() { cmd.Execute() }
