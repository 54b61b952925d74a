// franz-go's client of a schema registry: one JSON line for each scenario.
//
//	registry HOST:PORT URL
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sr"
)

const (
	first  = `{"type":"record","name":"R","fields":[{"name":"a","type":"int"}]}`
	second = `{"type":"record","name":"R","fields":[{"name":"a","type":"int"},{"name":"b","type":"int","default":0}]}`
	other  = `{"type":"record","name":"R","fields":[{"name":"a","type":"string"}]}`
)

func connect() (*sr.Client, error) { return sr.NewClient(sr.URLs(os.Args[2])) }

func want[T any](what string, found, expected T) error {
	one, _ := json.Marshal(found)
	two, _ := json.Marshal(expected)
	if string(one) != string(two) {
		return fmt.Errorf("%s: %s, not %s", what, one, two)
	}
	return nil
}

func everyCall(ctx context.Context) error {
	client, err := connect()
	if err != nil {
		return err
	}
	types, err := client.SupportedTypes(ctx)
	if err != nil {
		return err
	}
	created, err := client.CreateSchema(ctx, "go", sr.Schema{Schema: first})
	if err != nil {
		return err
	}
	found, err := client.LookupSchema(ctx, "go", sr.Schema{Schema: first})
	if err != nil {
		return err
	}
	fits, err := client.CheckCompatibility(ctx, "go", -1, sr.Schema{Schema: second})
	if err != nil {
		return err
	}
	if _, err = client.CreateSchema(ctx, "go", sr.Schema{Schema: second}); err != nil {
		return err
	}
	versions, err := client.SubjectVersions(ctx, "go")
	if err != nil {
		return err
	}
	text, err := client.SchemaTextByID(ctx, created.ID)
	if err != nil {
		return err
	}
	level := client.SetCompatibility(ctx, sr.SetCompatibility{Level: sr.CompatFull}, "go")[0]
	mode := client.SetMode(ctx, sr.ModeReadOnly, "go")[0]
	if mode.Err != nil {
		return mode.Err
	}
	refused := client.DeleteSchema(ctx, "go", 1, sr.SoftDelete)
	if reset := client.ResetMode(ctx, "go")[0]; reset.Err != nil {
		return reset.Err
	}
	softly, err := client.DeleteSubject(ctx, "go", sr.SoftDelete)
	if err != nil {
		return err
	}
	finally, err := client.DeleteSubject(ctx, "go", sr.HardDelete)
	if err != nil {
		return err
	}
	return errors.Join(
		want("types", len(types), 3),
		want("version", created.Version, 1),
		want("found", found.ID, created.ID),
		want("fits", fits.Is, true),
		want("versions", versions, []int{1, 2}),
		want("text", text, first),
		want("level", level.Level, sr.CompatFull),
		want("refused", refused != nil, true),
		want("softly", softly, []int{1, 2}),
		want("finally", finally, []int{1, 2}),
	)
}

func errorsHaveTheirCodes(ctx context.Context) error {
	client, err := connect()
	if err != nil {
		return err
	}
	if _, err = client.CreateSchema(ctx, "codes", sr.Schema{Schema: first}); err != nil {
		return err
	}
	_, incompatible := client.CreateSchema(ctx, "codes", sr.Schema{Schema: other})
	_, invalid := client.CreateSchema(ctx, "codes", sr.Schema{Schema: "{"})
	_, unknown := client.SchemaByVersion(ctx, "unknown", 1)
	code := func(err error) int {
		var told *sr.ResponseError
		if !errors.As(err, &told) {
			return 0
		}
		return told.ErrorCode
	}
	return errors.Join(
		want("incompatible", code(incompatible), 40901),
		want("invalid", code(invalid), 42201),
		want("unknown", code(unknown), 40401),
	)
}

type order struct {
	Number int `json:"number"`
}

func recordsAreDecoded(ctx context.Context) error {
	client, err := connect()
	if err != nil {
		return err
	}
	schema := sr.Schema{Schema: `{"type":"object","properties":{"number":{"type":"integer"}}}`, Type: sr.TypeJSON}
	created, err := client.CreateSchema(ctx, "orders-value", schema)
	if err != nil {
		return err
	}
	var serde sr.Serde
	serde.Register(created.ID, order{}, sr.EncodeFn(json.Marshal), sr.DecodeFn(json.Unmarshal))
	kafka, err := kgo.NewClient(kgo.SeedBrokers(os.Args[1]), kgo.ConsumeTopics("orders"), kgo.DefaultProduceTopic("orders"))
	if err != nil {
		return err
	}
	defer kafka.Close()
	if err = kafka.ProduceSync(ctx, &kgo.Record{Value: serde.MustEncode(order{7})}).FirstErr(); err != nil {
		return err
	}
	fetched := kafka.PollFetches(ctx)
	if err = fetched.Err(); err != nil {
		return err
	}
	var back order
	for _, record := range fetched.Records() {
		if err = serde.Decode(record.Value, &back); err != nil {
			return err
		}
	}
	return want("order", back, order{7})
}

func main() {
	scenarios := []struct {
		name string
		run  func(context.Context) error
	}{
		{"everyCall", everyCall},
		{"errorsHaveTheirCodes", errorsHaveTheirCodes},
		{"recordsAreDecoded", recordsAreDecoded},
	}
	for _, scenario := range scenarios {
		ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
		told := ""
		if err := scenario.run(ctx); err != nil {
			told = err.Error()
		}
		cancel()
		line, _ := json.Marshal(map[string]string{"scenario": scenario.name, "error": told})
		fmt.Println(string(line))
	}
}
