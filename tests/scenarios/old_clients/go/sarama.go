// sarama: `program [VERSION] HOST:PORT TOPIC`. Tells each step in a line, as OldClient.java.
package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/IBM/sarama"
)

var codecs = []sarama.CompressionCodec{sarama.CompressionNone, sarama.CompressionGZIP, sarama.CompressionSnappy}

const patience = 15 * time.Second

func config() *sarama.Config {
	made := sarama.NewConfig()
	if len(os.Args) > 3 {
		version, err := sarama.ParseKafkaVersion(os.Args[1])
		if err != nil {
			panic(err)
		}
		made.Version = version
	}
	made.Producer.Return.Successes = true
	made.Producer.Retry.Max = 1
	made.Consumer.Offsets.Initial = sarama.OffsetOldest
	return made
}

func produce(servers, topic string) (string, error) {
	count := 0
	for _, codec := range codecs {
		settings := config()
		settings.Producer.Compression = codec
		producer, err := sarama.NewSyncProducer([]string{servers}, settings)
		if err != nil {
			return "", err
		}
		var sent []*sarama.ProducerMessage
		for index := 0; index < 3; index++ {
			value := sarama.StringEncoder(fmt.Sprintf("%s%d", codec, index))
			sent = append(sent, &sarama.ProducerMessage{Topic: topic, Key: sarama.StringEncoder("k"), Value: value})
		}
		err = producer.SendMessages(sent)
		producer.Close()
		if err != nil {
			return "", err
		}
		count += len(sent)
	}
	return fmt.Sprintf("%d records", count), nil
}

type reader struct {
	values []string
	enough context.CancelFunc
}

func (r *reader) Setup(sarama.ConsumerGroupSession) error   { return nil }
func (r *reader) Cleanup(sarama.ConsumerGroupSession) error { return nil }

func (r *reader) ConsumeClaim(session sarama.ConsumerGroupSession, claim sarama.ConsumerGroupClaim) error {
	for {
		select {
		case message := <-claim.Messages():
			if message == nil {
				return nil
			}
			r.values = append(r.values, string(message.Value))
			session.MarkMessage(message, "")
			if len(r.values) == 3*len(codecs) {
				r.enough()
				return nil
			}
		case <-session.Context().Done():
			return nil
		}
	}
}

func consume(servers, topic string) (string, error) {
	group, err := sarama.NewConsumerGroup([]string{servers}, topic, config())
	if err != nil {
		return "", err
	}
	until, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	found := &reader{enough: cancel}
	for until.Err() == nil && len(found.values) < 3*len(codecs) {
		if err := group.Consume(until, []string{topic}, found); err != nil {
			return "", err
		}
	}
	if len(found.values) < 3*len(codecs) {
		return "", until.Err()
	}
	return strings.Join(found.values, " "), group.Close()
}

func main() {
	tell("produce", produce)
	tell("group", consume)
}
