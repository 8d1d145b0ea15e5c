package mqbench

import (
	"fmt"
	"strings"
	"testing"

	"go.k6.io/k6/v2/lib"
)

// segments as k6 has them after its command line.
func segments(t *testing.T, segment, sequence string) lib.Options {
	t.Helper()
	var options lib.Options
	if segment != "" {
		s, err := lib.NewExecutionSegmentFromString(segment)
		if err != nil {
			t.Fatal(err)
		}
		options.ExecutionSegment = s
	}
	if sequence != "" {
		s, err := lib.NewExecutionSegmentSequenceFromString(sequence)
		if err != nil {
			t.Fatal(err)
		}
		options.ExecutionSegmentSequence = &s
	}
	return options
}

func TestAClientIsAnEqualPartOfK6sSegments(t *testing.T) {
	for n := 1; n <= 7; n++ {
		points := []string{"0"}
		for k := 1; k < n; k++ {
			points = append(points, fmt.Sprintf("%d/%d", k, n))
		}
		sequence := strings.Join(append(points, "1"), ",")
		for i := range n {
			segment := fmt.Sprintf("%d/%d:%d/%d", i, n, i+1, n)
			if index, count, err := clientOf(segments(t, segment, sequence)); err != nil || index != i || count != n {
				t.Errorf("%s of %s: client %d of %d (%v)", segment, sequence, index, count, err)
			}
		}
	}
	if index, count, err := clientOf(lib.Options{}); err != nil || index != 0 || count != 1 {
		t.Errorf("without segments: client %d of %d (%v)", index, count, err)
	}
	if index, count, err := clientOf(segments(t, "1/2:1", "")); err != nil || index != 1 || count != 2 {
		t.Errorf("half of all, without a sequence: client %d of %d (%v)", index, count, err)
	}
}

func TestUnequalPartsAreNoClients(t *testing.T) {
	for _, c := range []struct{ segment, sequence, want string }{
		{"0:1/4", "0,1/4,1", "not equal parts"},
		{"0:1/4", "", "not equal parts"},
		{"0:1/3", "0,1/2,1", "not in its sequence"},
	} {
		if _, _, err := clientOf(segments(t, c.segment, c.sequence)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s of %s: %v; want words with %q", c.segment, c.sequence, err, c.want)
		}
	}
}
