// Starts the image (the one argument) by Testcontainers' module, and tells of it in a line of JSON.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strconv"

	"github.com/testcontainers/testcontainers-go/modules/kafka"
	"github.com/twmb/franz-go/pkg/kgo"
)

const records = 100

func main() {
	said := ""
	if err := run(os.Args[1]); err != nil {
		said = err.Error()
	}
	line, _ := json.Marshal(map[string]string{"scenario": "kafka", "error": said})
	fmt.Println(string(line))
}

func run(image string) error {
	ctx := context.Background()
	kafka, err := kafka.Run(ctx, image)
	if err != nil {
		return err
	}
	defer kafka.Terminate(ctx)
	brokers, err := kafka.Brokers(ctx)
	if err != nil {
		return err
	}
	client, err := kgo.NewClient(kgo.SeedBrokers(brokers...), kgo.AllowAutoTopicCreation(), kgo.ConsumeTopics("orders"),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	if err != nil {
		return err
	}
	defer client.Close()
	for number := range records {
		record := &kgo.Record{Topic: "orders", Value: []byte(strconv.Itoa(number))}
		if err := client.ProduceSync(ctx, record).FirstErr(); err != nil {
			return err
		}
	}
	for read := 0; read < records; {
		fetches := client.PollFetches(ctx)
		if err := fetches.Err(); err != nil {
			return err
		}
		read += fetches.NumRecords()
	}
	return nil
}
