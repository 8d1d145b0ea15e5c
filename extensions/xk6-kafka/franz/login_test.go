package franz

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"
)

// endpoint gives the client "bench" numbered tokens that live so long, in seconds.
func endpoint(t *testing.T, life float64) (url string) {
	t.Helper()
	given := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id, secret, _ := r.BasicAuth()
		if id != "bench%3A1" || secret != "s3cr%26t" || r.FormValue("grant_type") != "client_credentials" || r.FormValue("scope") != "kafka" {
			w.WriteHeader(http.StatusUnauthorized)
			fmt.Fprintf(w, `{"error": "invalid_client", "error_description": "%s is wrong"}`, secret)
			return
		}
		given++
		fmt.Fprintf(w, `{"access_token": "token-%d", "token_type": "Bearer", "expires_in": %g}`, given, life)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// says is the first message of the mechanism to a host.
func says(t *testing.T, name string, account Account, times int) (said []string) {
	t.Helper()
	login := Logins[name](account)
	for range times {
		_, first, err := login.Authenticate(t.Context(), "b-1.bench.abc.c2.kafka.eu-west-1.amazonaws.com:9098")
		if err != nil {
			first = []byte(err.Error())
		}
		said = append(said, string(first))
	}
	return said
}

func TestATokenServesAllConnectionsForFourFifthsOfItsLife(t *testing.T) {
	for _, life := range []float64{3600, 0} { // 0: the endpoint does not say it
		account := Account{User: "bench:1", Password: "s3cr&t", Scope: "kafka", TokenURL: endpoint(t, life)}
		if got := says(t, "oauthbearer", account, 3)[2]; got != "n,,\x01auth=Bearer token-1\x01\x01" {
			t.Errorf("a token that lives %g s: the third connection says %q, want the first token", life, got)
		}
	}
	account := Account{User: "bench:1", Password: "s3cr&t", Scope: "kafka", TokenURL: endpoint(t, 1)}
	login := Logins["oauthbearer"](account)
	var got []string
	for range 2 {
		_, first, err := login.Authenticate(t.Context(), "")
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, string(first))
		time.Sleep(900 * time.Millisecond)
	}
	if got[0] == got[1] {
		t.Errorf("after 0.9 s a token of 1 s is used again: %q", got)
	}
}

func TestWhyThereIsNoTokenIsSaidWithoutTheSecret(t *testing.T) {
	url := endpoint(t, 1)
	for _, c := range []struct{ url, want string }{
		{url, "get a token from " + url + ": 401 Unauthorized invalid_client"},
		{"http://127.0.0.1:1/token", "get a token from http://127.0.0.1:1/token: dial tcp 127.0.0.1:1: connect: connection refused"},
		{"nowhere", `get a token from nowhere: unsupported protocol scheme ""`},
	} {
		got := says(t, "oauthbearer", Account{User: "bench:1", Password: "wr0ng", TokenURL: c.url}, 1)[0]
		if !strings.HasPrefix(got, c.want) || strings.Contains(got, "wr0ng") {
			t.Errorf("%s: %q, want %q", c.url, got, c.want)
		}
	}
}

// The second implementation is of "Create a signed AWS API request", with the query's parameters.
func TestAWSGetsARequestThatIsSignedForItsRegion(t *testing.T) {
	t.Setenv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY")
	t.Setenv("AWS_SESSION_TOKEN", "a+token/with=signs")
	var got map[string]string
	text := says(t, "aws-msk-iam", Account{}, 1)[0]
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		t.Fatal(err, text)
	}
	if strings.Contains(text, "wJalr") {
		t.Error("the secret key is sent")
	}
	date := got["x-amz-date"]
	if when, err := time.Parse("20060102T150405Z", date); err != nil || time.Since(when).Abs() > time.Minute {
		t.Errorf("it is signed at %q: %v", date, err)
	}
	scope := date[:8] + "/eu-west-1/kafka-cluster/aws4_request"
	for key, want := range map[string]string{
		"version": "2020_10_22", "host": "b-1.bench.abc.c2.kafka.eu-west-1.amazonaws.com", "action": "kafka-cluster:Connect", "user-agent": "mqbench",
		"x-amz-credential": "AKIDEXAMPLE/" + scope, "x-amz-expires": "300", "x-amz-security-token": "a+token/with=signs",
	} {
		if got[key] != want {
			t.Errorf("%s is %q, want %q", key, got[key], want)
		}
	}
	var query []string
	for _, name := range []string{
		"Action", "X-Amz-Algorithm", "X-Amz-Credential", "X-Amz-Date", "X-Amz-Expires", "X-Amz-Security-Token", "X-Amz-SignedHeaders",
	} {
		value := strings.NewReplacer("/", "%2F", ":", "%3A", "+", "%2B", "=", "%3D").Replace(got[strings.ToLower(name)])
		query = append(query, name+"="+value)
	}
	slices.Sort(query)
	hash := func(text string) string { sum := sha256.Sum256([]byte(text)); return hex.EncodeToString(sum[:]) }
	sign := func(key []byte, text string) []byte {
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte(text))
		return mac.Sum(nil)
	}
	request := strings.Join([]string{"GET", "/", strings.Join(query, "&"), "host:" + got["host"], "", "host", hash("")}, "\n")
	key := []byte("AWS4wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY")
	for _, part := range strings.Split(scope, "/") {
		key = sign(key, part)
	}
	want := hex.EncodeToString(sign(key, strings.Join([]string{"AWS4-HMAC-SHA256", date, scope, hash(request)}, "\n")))
	if got["x-amz-signature"] != want {
		t.Errorf("the signature is %s, want %s", got["x-amz-signature"], want)
	}
	t.Setenv("AWS_SECRET_ACCESS_KEY", "")
	if got := says(t, "aws-msk-iam", Account{}, 1)[0]; !strings.HasPrefix(got, "set AWS_ACCESS_KEY_ID and") {
		t.Errorf("without a secret key: %q", got)
	}
}
