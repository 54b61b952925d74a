// What all programs share: `program [VERSION] HOST:PORT TOPIC` tells each step in a line, as OldClient.java.
package main

import (
	"fmt"
	"os"
)

func tell(name string, step func(string, string) (string, error)) {
	last := len(os.Args) - 1
	outcome, err := step(os.Args[last-1], os.Args[last])
	if err != nil {
		fmt.Fprintln(os.Stderr, name, err)
		outcome = "failed"
	}
	fmt.Printf("%s=%s\n", name, outcome)
}
