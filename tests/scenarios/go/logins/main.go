// franz-go logs in: one JSON line of standard input is one attempt, one JSON line of output what became of it.
//
// Who is let in writes a record to the topic and reads it back.
package main

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl"
	"github.com/twmb/franz-go/pkg/sasl/oauth"
	"github.com/twmb/franz-go/pkg/sasl/plain"
	"github.com/twmb/franz-go/pkg/sasl/scram"
)

type attempt struct {
	Name, Address, Topic             string
	Authority, Certificate           string // files; no authority: no TLS
	Mechanism, User, Password, Token string
}

func (a attempt) mechanism() (sasl.Mechanism, error) {
	switch a.Mechanism {
	case "PLAIN":
		return plain.Auth{User: a.User, Pass: a.Password}.AsMechanism(), nil
	case "SCRAM-SHA-256":
		return scram.Auth{User: a.User, Pass: a.Password}.AsSha256Mechanism(), nil
	case "SCRAM-SHA-512":
		return scram.Auth{User: a.User, Pass: a.Password}.AsSha512Mechanism(), nil
	case "OAUTHBEARER":
		return oauth.Auth{Token: a.Token}.AsMechanism(), nil
	}
	return nil, errors.New("no mechanism " + a.Mechanism)
}

func (a attempt) options() ([]kgo.Opt, error) {
	mechanism, err := a.mechanism()
	options := []kgo.Opt{kgo.SeedBrokers(a.Address), kgo.SASL(mechanism), kgo.RequestRetries(0),
		kgo.FetchMaxWait(50 * time.Millisecond), kgo.ConsumeTopics(a.Topic), kgo.DefaultProduceTopic(a.Topic),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart())}
	if a.Authority == "" || err != nil {
		return options, err
	}
	pem, err := os.ReadFile(a.Authority)
	if err != nil {
		return nil, err
	}
	config := &tls.Config{RootCAs: x509.NewCertPool(), ServerName: "127.0.0.1"}
	config.RootCAs.AppendCertsFromPEM(pem)
	if a.Certificate != "" {
		own, err := tls.LoadX509KeyPair(a.Certificate, a.Certificate)
		if err != nil {
			return nil, err
		}
		// Given like this it is shown to a server that does not know who signed it, too.
		config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &own, nil }
	}
	return append(options, kgo.DialTLSConfig(config)), nil
}

func (a attempt) run(ctx context.Context) error {
	options, err := a.options()
	if err != nil {
		return err
	}
	client, err := kgo.NewClient(options...)
	if err != nil {
		return err
	}
	defer client.Close()
	if err := client.Ping(ctx); err != nil {
		return err
	}
	if err := client.ProduceSync(ctx, kgo.StringRecord(a.Name)).FirstErr(); err != nil {
		return err
	}
	for {
		fetches := client.PollFetches(ctx)
		if err := fetches.Err(); err != nil {
			return err
		}
		for _, record := range fetches.Records() {
			if string(record.Value) == a.Name {
				return nil
			}
		}
	}
}

func main() {
	var all sync.WaitGroup
	var lock sync.Mutex
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		var each attempt
		if err := json.Unmarshal(lines.Bytes(), &each); err != nil {
			panic(err)
		}
		all.Add(1)
		go func() {
			defer all.Done()
			ctx, cancel := context.WithTimeout(context.Background(), 90*time.Second)
			defer cancel()
			message := ""
			if err := each.run(ctx); err != nil {
				message = err.Error()
			}
			line, _ := json.Marshal(map[string]string{"scenario": each.Name, "error": message})
			lock.Lock()
			defer lock.Unlock()
			fmt.Println(string(line))
		}()
	}
	all.Wait()
}
