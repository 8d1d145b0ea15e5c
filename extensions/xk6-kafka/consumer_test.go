package kafka

import "testing"

func TestPartitionsAreSharedOutWhenNoneIsGoingToMove(t *testing.T) {
	for _, c := range []struct {
		owned      []int
		partitions int
		want       bool
	}{
		{[]int{4}, 4, true},
		{[]int{2, 2}, 4, true},
		{[]int{1, 2, 1}, 4, true},
		{[]int{1, 1, 0}, 2, true}, // more members than partitions
		{[]int{2, 1}, 4, false},   // one is still to be assigned
		{[]int{4, 0}, 4, false},   // cooperative: the first is about to give up two
		{[]int{3, 1}, 4, false},
		{[]int{2, 0, 0}, 2, false},
	} {
		if got := sharedOut(c.owned, c.partitions); got != c.want {
			t.Errorf("%v of %d partitions: %v", c.owned, c.partitions, got)
		}
	}
}
