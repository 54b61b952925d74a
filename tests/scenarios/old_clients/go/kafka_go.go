// kafka-go: `program HOST:PORT TOPIC`. Tells each step in a line, as OldClient.java.
package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/gzip"
	"github.com/segmentio/kafka-go/snappy"
)

var codecs = []string{"none", "gzip", "snappy"}

const patience = 15 * time.Second

func produce(servers, topic string) (string, error) {
	count := 0
	for _, codec := range codecs {
		settings := kafka.WriterConfig{
			Brokers: []string{servers}, Topic: topic, MaxAttempts: 2, BatchTimeout: 20 * time.Millisecond,
		}
		switch codec {
		case "gzip":
			settings.CompressionCodec = gzip.NewCompressionCodec()
		case "snappy":
			settings.CompressionCodec = snappy.NewCompressionCodec()
		}
		until, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		var sent []kafka.Message
		for index := 0; index < 3; index++ {
			sent = append(sent, kafka.Message{Key: []byte("k"), Value: []byte(fmt.Sprintf("%s%d", codec, index))})
		}
		writer := kafka.NewWriter(settings)
		err := writer.WriteMessages(until, sent...)
		writer.Close()
		if err != nil {
			return "", err
		}
		count += len(sent)
	}
	return fmt.Sprintf("%d records", count), nil
}

func consume(servers, topic string) (string, error) {
	reader := kafka.NewReader(kafka.ReaderConfig{
		Brokers: []string{servers}, Topic: topic, GroupID: topic, StartOffset: kafka.FirstOffset, MaxWait: time.Second,
	})
	until, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	var values []string
	for len(values) < 3*len(codecs) {
		message, err := reader.ReadMessage(until)
		if err != nil {
			return "", err
		}
		values = append(values, string(message.Value))
	}
	return strings.Join(values, " "), reader.Close()
}

func main() {
	tell("produce", produce)
	tell("group", consume)
}
