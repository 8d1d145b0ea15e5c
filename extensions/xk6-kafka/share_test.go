package kafka

import (
	"testing"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/brokertest"
)

func TestFourMembersOfAShareGroupCompeteForOnePartition(t *testing.T) {
	brokertest.System{Driver: New, URL: running(t).url, DriverOptions: []byte(`{"groupProtocol": "share", "prefetch": 5}`)}.Shares(t)
}

func TestAShareGroupIsSpreadWhenEveryMemberAndPartitionHasOne(t *testing.T) {
	for _, c := range []struct {
		owned      []int
		partitions int
		want       bool
	}{
		{[]int{4}, 4, true},
		{[]int{1, 1, 1}, 1, true},
		{[]int{2, 1}, 4, false},
		{[]int{1, 0}, 1, false},
	} {
		if got := spread(c.owned, c.partitions); got != c.want {
			t.Errorf("%v of %d partitions: %v", c.owned, c.partitions, got)
		}
	}
}
