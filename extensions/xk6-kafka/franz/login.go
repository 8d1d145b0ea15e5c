package franz

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/sasl"
	"github.com/twmb/franz-go/pkg/sasl/aws"
	"github.com/twmb/franz-go/pkg/sasl/oauth"
	"github.com/twmb/franz-go/pkg/sasl/plain"
	"github.com/twmb/franz-go/pkg/sasl/scram"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/address"
)

// Account is what a login needs of its user.
type Account struct {
	User, Password string
	// TokenURL gives OAuth tokens to the client User with the secret Password, for a Scope unless it is "".
	TokenURL, Scope string
}

// Logins are SASL mechanisms by their names. IAM takes the user and password from the environment.
var Logins = map[string]func(Account) sasl.Mechanism{
	"plain":         func(a Account) sasl.Mechanism { return plain.Auth{User: a.User, Pass: a.Password}.AsMechanism() },
	"scram-sha-256": func(a Account) sasl.Mechanism { return scram.Auth{User: a.User, Pass: a.Password}.AsSha256Mechanism() },
	"scram-sha-512": func(a Account) sasl.Mechanism { return scram.Auth{User: a.User, Pass: a.Password}.AsSha512Mechanism() },
	"oauthbearer":   func(a Account) sasl.Mechanism { return oauth.Oauth((&tokens{Account: a}).get) },
	IAM:             func(Account) sasl.Mechanism { return aws.ManagedStreamingIAM(awsAccount) },
}

// IAM is Amazon's mechanism.
const IAM = "aws-msk-iam"

// --- internal ---

const (
	// tokenTimeout is for an answer of the token endpoint.
	tokenTimeout = 10 * time.Second
	// tokenBytes is more than an answer has.
	tokenBytes = 1 << 20
	// usedShare of a token's life is over when we get the next one. A broker asks again before it ends (connections.max.reauth.ms).
	usedShare = 0.8
	// usualLife in seconds is that of a token whose endpoint does not say it.
	usualLife = 300
)

// tokens gets the tokens of an OAuth 2.0 client (RFC 6749, 4.4), one for all connections as long as it lives.
type tokens struct {
	Account

	mu    sync.Mutex
	token string
	until time.Time
}

func (t *tokens) get(ctx context.Context) (oauth.Auth, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if asked := time.Now(); asked.After(t.until) {
		token, life, err := t.ask(ctx)
		if err != nil {
			return oauth.Auth{}, fmt.Errorf("get a token from %s: %w", t.TokenURL, err)
		}
		t.token, t.until = token, asked.Add(time.Duration(usedShare*life*float64(time.Second)))
	}
	return oauth.Auth{Token: t.token}, nil
}

// ask returns a token and its life in seconds. Errors quote nothing of an answer but the error's code.
func (t *tokens) ask(ctx context.Context) (token string, life float64, err error) {
	ctx, cancel := context.WithTimeout(ctx, tokenTimeout)
	defer cancel()
	form := url.Values{"grant_type": {"client_credentials"}}
	if t.Scope != "" {
		form.Set("scope", t.Scope)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, t.TokenURL, strings.NewReader(form.Encode()))
	if err != nil {
		return "", 0, address.Cause(err)
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	request.SetBasicAuth(url.QueryEscape(t.User), url.QueryEscape(t.Password))
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return "", 0, address.Cause(err)
	}
	defer response.Body.Close()
	var answer struct {
		Token string  `json:"access_token"`
		Life  float64 `json:"expires_in"`
		Error string  `json:"error"`
	}
	err = json.NewDecoder(io.LimitReader(response.Body, tokenBytes)).Decode(&answer)
	if err != nil || response.StatusCode != http.StatusOK || answer.Token == "" {
		return "", 0, fmt.Errorf("%s %s", response.Status, answer.Error)
	}
	return answer.Token, cmp.Or(answer.Life, usualLife), nil
}

// awsAccount is read for each connection, as for Amazon's own tools.
func awsAccount(context.Context) (aws.Auth, error) {
	auth := aws.Auth{
		AccessKey: os.Getenv("AWS_ACCESS_KEY_ID"), SecretKey: os.Getenv("AWS_SECRET_ACCESS_KEY"), SessionToken: os.Getenv("AWS_SESSION_TOKEN"),
		UserAgent: "mqbench",
	}
	if auth.AccessKey == "" || auth.SecretKey == "" {
		return auth, errors.New("set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY (and AWS_SESSION_TOKEN, if they have one)")
	}
	return auth, nil
}
