package js

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/grafana/sobek"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/script"
)

type reading struct {
	access
	GroupID           string   `json:"groupID"`
	GroupTopics       []string `json:"groupTopics"`
	Topic             string   `json:"topic"`
	Partition         int32    `json:"partition"`
	Offset            *int64   `json:"offset"`
	StartOffset       any      `json:"startOffset"`
	MinBytes          int32    `json:"minBytes"`
	MaxBytes          int32    `json:"maxBytes"`
	MaxWait           duration `json:"maxWait"`
	MaxDuration       duration `json:"maxDuration"`
	HeartbeatInterval duration `json:"heartbeatInterval"`
	CommitInterval    duration `json:"commitInterval"`
	SessionTimeout    duration `json:"sessionTimeout"`
	RebalanceTimeout  duration `json:"rebalanceTimeout"`
	IsolationLevel    string   `json:"isolationLevel"`
}

// reader is one `new Reader` of a VU. It has its own client, which connects when it first consumes.
type reader struct {
	*instance
	reading

	// mu guards the fields below: consumeAsync may run at the same time as others.
	mu     sync.Mutex
	client *kgo.Client
	closed bool
	// waiting came, and was not returned because not all of a call did.
	waiting []received
}

type received struct {
	*kgo.Record
	highWaterMark int64
}

func newReader(i *instance, name string, configuration sobek.Value, on *sobek.Object) error {
	r := &reader{instance: i}
	err := i.options(name, configuration, &r.reading, configured)
	if err == nil {
		_, err = r.reading.options()
	}
	if err != nil {
		return err
	}
	locked := func(do func(context.Context) error) script.Call {
		return func([]sobek.Value) (script.Wait, error) {
			return func(ctx context.Context) (script.Result, error) {
				r.mu.Lock()
				defer r.mu.Unlock()
				return nil, do(ctx)
			}, nil
		}
	}
	i.waits(on, "consume", readerErrors, r.consume)
	i.waits(on, "commitOffsets", readerErrors, locked(r.commit))
	i.waits(on, "close", readerErrors, locked(r.close))
	return nil
}

// --- internal ---

const (
	defaultMaxWait  = 10 * time.Second
	defaultMaxBytes = 1 << 20
	// fetchWait is how long the broker may wait for minBytes.
	fetchWait = 500 * time.Millisecond
)

var startOffsets = map[string]int64{"": firstOffset, "start_offsets_first_offset": firstOffset, "start_offsets_last_offset": lastOffset}

func (r *reading) options() ([]kgo.Opt, error) {
	options, err := r.access.options()
	if err != nil {
		return nil, err
	}
	// Where a reader begins that has no committed offset.
	at := int64(firstOffset)
	switch start := r.StartOffset.(type) {
	case string:
		if at, err = word(startOffsets, start, "startOffset %q is none of the module's START_OFFSETS_ constants"); err != nil {
			return nil, err
		}
	case float64:
		at = int64(start)
	}
	if r.Offset != nil && r.GroupID == "" {
		at = *r.Offset
	}
	start := kgo.NewOffset().At(at)
	isolation := kgo.ReadUncommitted()
	if r.IsolationLevel == "isolation_level_read_committed" {
		isolation = kgo.ReadCommitted()
	}
	options = append(options,
		kgo.FetchMinBytes(max(1, r.MinBytes)), kgo.FetchMaxWait(fetchWait), kgo.FetchIsolationLevel(isolation), kgo.ConsumeResetOffset(start),
		kgo.FetchMaxPartitionBytes(cmp.Or(r.MaxBytes, defaultMaxBytes)), kgo.FetchMaxBytes(max(cmp.Or(r.MaxBytes, defaultMaxBytes), 50<<20)),
	)
	topics := r.GroupTopics
	if r.Topic != "" {
		topics = append(topics, r.Topic)
	}
	if len(topics) == 0 {
		return nil, errors.New("it needs a topic: { topic: 'orders' }, or groupTopics")
	}
	if r.GroupID == "" {
		return append(options, kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{topics[0]: {r.Partition: start}})), nil
	}
	session := r.SessionTimeout.or(30 * time.Second)
	return append(options,
		kgo.ConsumerGroup(r.GroupID), kgo.ConsumeTopics(topics...), kgo.Balancers(kgo.RangeBalancer(), kgo.RoundRobinBalancer()), kgo.SessionTimeout(session),
		kgo.RebalanceTimeout(r.RebalanceTimeout.or(30*time.Second)), kgo.HeartbeatInterval(min(r.HeartbeatInterval.or(3*time.Second), session/3)),
		kgo.AutoCommitMarks(), kgo.AutoCommitInterval(r.CommitInterval.or(5*time.Second)),
	), nil
}

// consume returns the next messages: { limit or maxMessages, maxDuration, nanoPrecision, expectTimeout }.
func (r *reader) consume(args []sobek.Value) (script.Wait, error) {
	state := r.vu.State()
	if state == nil {
		return nil, errInit
	}
	var want struct {
		Limit         int      `json:"limit"`
		MaxMessages   int      `json:"maxMessages"`
		MaxDuration   duration `json:"maxDuration"`
		NanoPrecision bool     `json:"nanoPrecision"`
		ExpectTimeout bool     `json:"expectTimeout"`
	}
	if given := script.Argument(args, 0); given != nil {
		if err := r.instance.options("consume", given, &want, "an object: consume({ limit: 10 })"); err != nil {
			return nil, err
		}
	}
	limit := max(1, cmp.Or(want.Limit, want.MaxMessages))
	atMost := time.Duration(cmp.Or(want.MaxDuration, r.MaxDuration))
	tags := script.Tags(state)
	return func(ctx context.Context) (script.Result, error) {
		got, err := r.take(ctx, limit, atMost, want.ExpectTimeout)
		if err != nil {
			return nil, err
		}
		bytes := 0
		for _, one := range got {
			bytes += len(one.Key) + len(one.Value)
		}
		r.test.Metrics.Add(readerMessages, tags, float64(len(got)))
		r.test.Metrics.Add(readerBytes, tags, float64(bytes))
		if len(got) > 0 {
			last := got[len(got)-1]
			r.test.Metrics.Add(readerOffset, tags, float64(last.Offset))
			r.test.Metrics.Add(readerLag, tags, float64(max(0, last.highWaterMark-last.Offset-1)))
		}
		return func() sobek.Value { return r.toScript(got, want.NanoPrecision) }, nil
	}, nil
}

// take waits up to maxWait for each message, and atMost for all, or forever if 0. Messages of a call that fails go to the next one.
func (r *reader) take(ctx context.Context, limit int, atMost time.Duration, expectTimeout bool) ([]received, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.open(); err != nil {
		return nil, err
	}
	whole := ctx
	if atMost > 0 {
		var cancel context.CancelFunc
		whole, cancel = context.WithTimeout(ctx, atMost)
		defer cancel()
	}
	for len(r.waiting) < limit {
		within, cancel := context.WithTimeout(whole, r.MaxWait.or(defaultMaxWait))
		fetches := r.client.PollRecords(within, limit-len(r.waiting))
		cancel()
		before := len(r.waiting)
		fetches.EachPartition(func(p kgo.FetchTopicPartition) {
			for _, record := range p.Records {
				r.waiting = append(r.waiting, received{record, p.HighWatermark})
			}
		})
		if len(r.waiting) >= limit || len(r.waiting) > before && whole.Err() == nil {
			continue
		}
		if err := fetches.Err0(); err != nil && !errors.Is(err, context.DeadlineExceeded) {
			return nil, err
		}
		r.count(readerTimeouts, 1)
		if expectTimeout {
			break
		}
		bound := fmt.Sprintf("no message within maxWait of %s", r.MaxWait.or(defaultMaxWait))
		if whole.Err() != nil {
			bound = fmt.Sprintf("not all messages within maxDuration of %s", atMost)
		}
		return nil, fmt.Errorf("%s: %d of %d have come, and the next call returns them", bound, len(r.waiting), limit)
	}
	got := r.waiting[:min(limit, len(r.waiting))]
	r.waiting = append([]received(nil), r.waiting[len(got):]...)
	for _, one := range got {
		r.client.MarkCommitRecords(one.Record)
	}
	if r.CommitInterval == 0 && len(got) > 0 {
		return got, r.commit(ctx)
	}
	return got, nil
}

func (r *reader) open() (err error) {
	if r.closed {
		return errClosed
	}
	if r.client != nil {
		return nil
	}
	options, err := r.reading.options()
	if err != nil {
		return err
	}
	if r.client, err = kgo.NewClient(options...); err == nil {
		r.test.AtEnd(func() {
			r.mu.Lock()
			defer r.mu.Unlock()
			_ = r.close(context.Background())
		})
	}
	return err
}

func (r *reader) commit(ctx context.Context) error {
	if r.client == nil || r.closed || r.GroupID == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	return r.client.CommitMarkedOffsets(ctx)
}

func (r *reader) close(ctx context.Context) error {
	err := r.commit(ctx)
	if r.client != nil && !r.closed {
		r.client.Close()
	}
	r.closed = true
	return err
}

func (r *reader) toScript(got []received, nanoPrecision bool) sobek.Value {
	rt := r.vu.Runtime()
	layout := "2006-01-02T15:04:05.000Z07:00"
	if nanoPrecision {
		layout = "2006-01-02T15:04:05.000000000Z07:00"
	}
	messages := make([]any, len(got))
	for i, one := range got {
		headers := map[string]any{}
		for _, header := range one.Headers {
			headers[header.Key] = script.Uint8Array(rt, header.Value)
		}
		messages[i] = map[string]any{
			"topic": one.Topic, "partition": one.Partition, "offset": one.Offset, "highWaterMark": one.highWaterMark, "highwaterMark": one.highWaterMark,
			"key": bytesOrNull(rt, one.Key), "value": bytesOrNull(rt, one.Value), "headers": headers, "time": one.Timestamp.UTC().Format(layout),
		}
	}
	return rt.NewArray(messages...)
}

func bytesOrNull(rt *sobek.Runtime, bytes []byte) sobek.Value {
	if bytes == nil {
		return sobek.Null()
	}
	return script.Uint8Array(rt, bytes)
}
