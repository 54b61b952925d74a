// franz-go: `program HOST:PORT TOPIC`. Tells each step in a line, as OldClient.java.
package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

var codecs = []string{"none", "gzip", "snappy", "lz4"}

const patience = 15 * time.Second

func compression(codec string) kgo.CompressionCodec {
	switch codec {
	case "gzip":
		return kgo.GzipCompression()
	case "snappy":
		return kgo.SnappyCompression()
	case "lz4":
		return kgo.Lz4Compression()
	}
	return kgo.NoCompression()
}

func client(servers string, options ...kgo.Opt) (*kgo.Client, context.Context, error) {
	made, err := kgo.NewClient(append(options, kgo.SeedBrokers(servers))...)
	until, _ := context.WithTimeout(context.Background(), patience)
	return made, until, err
}

func write(servers, topic, value string, count int, options ...kgo.Opt) error {
	producer, until, err := client(servers, options...)
	if err != nil {
		return err
	}
	defer producer.Close()
	var sent []*kgo.Record
	for index := 0; index < count; index++ {
		text := fmt.Sprintf("%s%d", value, index)
		sent = append(sent, &kgo.Record{Topic: topic, Key: []byte("k"), Value: []byte(text)})
	}
	return producer.ProduceSync(until, sent...).FirstErr()
}

func produce(servers, topic string) (string, error) {
	for _, codec := range codecs {
		if err := write(servers, topic, codec, 3, kgo.ProducerBatchCompression(compression(codec))); err != nil {
			return "", err
		}
	}
	return fmt.Sprintf("%d records", 3*len(codecs)), nil
}

func read(servers, topic string, count int, options ...kgo.Opt) (string, error) {
	options = append(options, kgo.ConsumeTopics(topic), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	consumer, until, err := client(servers, options...)
	if err != nil {
		return "", err
	}
	defer consumer.Close()
	var values []string
	for len(values) < count {
		fetched := consumer.PollFetches(until)
		if failed := fetched.Errors(); len(failed) > 0 {
			return "", failed[0].Err
		}
		fetched.EachRecord(func(record *kgo.Record) { values = append(values, string(record.Value)) })
	}
	return strings.Join(values, " "), nil
}

func consume(servers, topic string) (string, error) {
	return read(servers, topic, 3*len(codecs), kgo.ConsumerGroup(topic))
}

func transactions(servers, topic string) (string, error) {
	topic += "-transactions"
	producer, until, err := client(servers, kgo.TransactionalID(topic))
	if err != nil {
		return "", err
	}
	defer producer.Close()
	for _, name := range []string{"dropped", "kept"} {
		if err := producer.BeginTransaction(); err != nil {
			return "", err
		}
		for index := 0; index < 2; index++ {
			record := &kgo.Record{Topic: topic, Value: []byte(fmt.Sprintf("%s%d", name, index))}
			if err := producer.ProduceSync(until, record).FirstErr(); err != nil {
				return "", err
			}
		}
		if err := producer.EndTransaction(until, kgo.TransactionEndTry(name == "kept")); err != nil {
			return "", err
		}
	}
	if err := write(servers, topic, "end", 1); err != nil {
		return "", err
	}
	return read(servers, topic, 3, kgo.FetchIsolationLevel(kgo.ReadCommitted()))
}

func main() {
	tell("produce", produce)
	tell("group", consume)
	tell("transactions", transactions)
}
