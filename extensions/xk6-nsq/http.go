package nsq

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/address"
)

// ask sends a request to the HTTP port of a server. missing: it does not know the topic or the channel.
func (s *session) ask(ctx context.Context, server int, method, path string, query url.Values, into any) (missing bool, err error) {
	where := s.https[server]
	request, err := http.NewRequestWithContext(ctx, method, "http://"+where+path+"?"+query.Encode(), nil)
	if err != nil {
		return false, err
	}
	answer, err := s.http.Do(request)
	if err != nil {
		return false, fmt.Errorf("nsqd's HTTP port does not answer (%w); it makes topics and channels: write it behind the URL, ?http=host:port, if it is not the port above the first one",
			address.Cause(err))
	}
	defer func() { _ = answer.Body.Close() }()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		return false, err
	}
	switch {
	case answer.StatusCode == http.StatusNotFound && strings.Contains(string(body), "_NOT_FOUND"):
		return true, nil
	case answer.StatusCode != http.StatusOK:
		return false, fmt.Errorf("nsqd's HTTP port answers %s %s", answer.Status, strings.TrimSpace(string(body)))
	case into != nil:
		return false, json.Unmarshal(body, into)
	}
	return false, nil
}

// everywhere sends a request to all servers.
func (s *session) everywhere(ctx context.Context, path string, query url.Values) error {
	for server := range s.servers {
		if _, err := s.ask(ctx, server, http.MethodPost, path, query, nil); err != nil {
			return err
		}
	}
	return nil
}

// knows reports whether a server has the topic.
func (s *session) knows(ctx context.Context, topic string) (bool, error) {
	for server := range s.servers {
		var stats struct {
			Topics []struct {
				Name string `json:"topic_name"`
			} `json:"topics"`
		}
		query := url.Values{"format": {"json"}, "topic": {topic}, "include_clients": {"false"}, "include_mem": {"false"}}
		if _, err := s.ask(ctx, server, http.MethodGet, "/stats", query, &stats); err != nil {
			return false, err
		}
		for _, one := range stats.Topics {
			if one.Name == topic {
				return true, nil
			}
		}
	}
	return false, nil
}
