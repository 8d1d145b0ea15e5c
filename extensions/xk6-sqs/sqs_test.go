package sqs

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/brokertest"
)

func TestTheTableSaysWhatIsDoneForEachMessage(t *testing.T) {
	brokertest.Tabled(t, "SQS", New, "http://here", "")
	brokertest.Tabled(t, "SQS, batches", New, "http://here", `{"batch": 10}`)
}

func TestWhatCannotBeDoneIsRefusedBeforeAConnection(t *testing.T) {
	t.Setenv("AWS_ACCESS_KEY_ID", "")
	for _, c := range []struct{ options, url, says string }{
		{`{}`, "sqs://here", "http://host:port"},
		{`{}`, "http://me:s3cr3t@here", "credentials come from the environment"},
		{`{}`, "https://sqs.eu-central-1.amazonaws.com", "AWS_ACCESS_KEY_ID"},
	} {
		brokertest.System{Driver: New, URL: c.url, DriverOptions: []byte(c.options)}.RefusedWith(t, 64, c.says)
	}
}

func TestAQueueIsCalledWhatTheServiceTakes(t *testing.T) {
	for _, c := range []struct{ options, topic, want string }{
		{`{}`, "a.topic.1", "a-topic-1"},
		{`{"fifo": true}`, "a.topic.1", "a-topic-1.fifo"},
		{`{"fifo": true}`, "orders.fifo", "orders.fifo"},
	} {
		s, err := New(broker.Options{URL: "http://here", Driver: json.RawMessage(c.options)})
		if err != nil {
			t.Fatal(err)
		}
		if got := s.(*session).queueName(c.topic); got != c.want {
			t.Errorf("%s is called %s, want %s", c.topic, got, c.want)
		}
	}
}

// Amazon bills each 64 KiB of a request's content as a request.
func TestALargeRequestIsSeveralOnTheBill(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		answer, _ := strconv.Atoi(r.URL.Query().Get("answer"))
		w.Header().Set("Content-Length", strconv.Itoa(answer))
		_, _ = w.Write(make([]byte, answer))
	}))
	defer server.Close()
	const kib = 1024
	for _, c := range []struct{ asks, answers, want int }{{0, 0, 1}, {64 * kib, 0, 1}, {64*kib + 1, 0, 2}, {0, 200 * kib, 4}, {100 * kib, 10, 2}} {
		s := &session{}
		client := &http.Client{Transport: &counting{s, &http.Transport{}}}
		answer, err := client.Post(fmt.Sprintf("%s/?answer=%d", server.URL, c.answers), "", bytes.NewReader(make([]byte, c.asks)))
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		if got := s.Requests(); got != int64(c.want) {
			t.Errorf("%d bytes that are answered with %d are %d requests, want %d", c.asks, c.answers, got, c.want)
		}
	}
}
