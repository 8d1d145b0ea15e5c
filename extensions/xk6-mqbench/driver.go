package mqbench

import (
	"fmt"

	"go.k6.io/k6/v2/js/modules"
	"go.k6.io/k6/v2/lib"
)

// driverKey is the property by which load recognizes a driver.
const driverKey = "mqbenchDriver"

// driverModule is k6/x/mqbench/<name>: its default export names the driver.
type driverModule string

func (d driverModule) NewModuleInstance(modules.VU) modules.Instance { return d }

func (d driverModule) Exports() modules.Exports {
	return modules.Exports{Default: map[string]any{driverKey: string(d)}}
}

// clientOf is which of how many clients this process is, from k6's execution segment: part index of count equal parts. Without a segment
// it is the only client.
func clientOf(options lib.Options) (index, count int, err error) {
	segment, sequence := options.ExecutionSegment, options.ExecutionSegmentSequence
	if segment == nil && sequence == nil {
		return 0, 1, nil
	}
	all := lib.GetFilledExecutionSegmentSequence(sequence, segment)
	count = len(all)
	for k := range all {
		part, err := lib.NewExecutionSegmentFromString(fmt.Sprintf("%d/%d:%d/%d", k, count, k+1, count))
		if err != nil {
			return 0, 0, fmt.Errorf("mqbench: execution segments: %w", err)
		}
		if !all[k].Equal(part) {
			return 0, 0, fmt.Errorf("mqbench: k6's execution segments %s are not equal parts of the whole, as clients need them", all)
		}
	}
	if index, err = all.FindSegmentPosition(segment); err != nil {
		return 0, 0, fmt.Errorf("mqbench: k6's execution segment is not in its sequence: %w", err)
	}
	return index, count, nil
}
