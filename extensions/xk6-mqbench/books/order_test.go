package books

import "testing"

func TestAMessageIsOvertakenByLaterOnesOfItsProducerStreamAndSubscriberOnly(t *testing.T) {
	o := newOrder(2, 3, 1000)
	type step struct {
		subscriber            int
		producer, stream, seq int64
		want                  bool
		words                 string
	}
	for _, s := range []step{
		{0, 0, 7, 0, false, "the first of all"},
		{0, 0, 7, 5, false, "a later one"},
		{0, 0, 7, 3, true, "one between, after the later one"},
		{0, 0, 8, 3, false, "the same in another stream"},
		{0, 1, 7, 3, false, "the same of another producer"},
		{1, 0, 7, 3, false, "the same at another subscriber"},
		{0, 0, 7, 6, false, "the next"},
		{1, 2, 999, 1, false, "the last unit"},
		{1, 2, 999, 0, true, "overtaken there"},
	} {
		if got := o.overtaken(s.subscriber, s.producer, s.stream, s.seq); got != s.want {
			t.Errorf("%s: overtaken is %v", s.words, got)
		}
	}
}
