// The whole test with franz-go: prints the seconds of each step of each test, as JSON.
//
//	whole_test COUNT
//
// The environment has what `broker.client_config` gives.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

const records = 10

var steps = []string{"create the topic", "produce", "consume", "commit", "close"}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func test(ctx context.Context, admin *kadm.Client, own []kgo.Opt) map[string]float64 {
	name := fmt.Sprintf("%016x", rand.Uint64())
	marks := []time.Time{time.Now()}
	done := func() { marks = append(marks, time.Now()) }
	created, err := admin.CreateTopic(ctx, 1, 1, nil, "t-"+name)
	check(err)
	check(created.Err)
	done()
	producer, err := kgo.NewClient(append([]kgo.Opt{kgo.DefaultProduceTopic("t-" + name)}, own...)...)
	check(err)
	var all []*kgo.Record
	for number := 0; number < records; number++ {
		all = append(all, kgo.StringRecord(strconv.Itoa(number)))
	}
	check(producer.ProduceSync(ctx, all...).FirstErr())
	producer.Close()
	done()
	consumer, err := kgo.NewClient(append([]kgo.Opt{
		kgo.ConsumerGroup("g-" + name), kgo.ConsumeTopics("t-" + name), kgo.DisableAutoCommit(),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
	}, own...)...)
	check(err)
	for seen := 0; seen < records; {
		fetches := consumer.PollFetches(ctx)
		check(fetches.Err())
		seen += fetches.NumRecords()
	}
	done()
	check(consumer.CommitUncommittedOffsets(ctx))
	done()
	consumer.Close()
	done()
	seconds := map[string]float64{}
	for step, name := range steps {
		seconds[name] = marks[step+1].Sub(marks[step]).Seconds()
	}
	return seconds
}

func main() {
	ctx := context.Background()
	count, err := strconv.Atoi(os.Args[1])
	check(err)
	own := []kgo.Opt{kgo.SeedBrokers(strings.Split(os.Getenv("KAFKA_BOOTSTRAP_SERVERS"), ",")...)}
	if text, set := os.LookupEnv("KAFKA_LINGER_MS"); set {
		linger, err := strconv.Atoi(text)
		check(err)
		own = append(own, kgo.ProducerLinger(time.Duration(linger)*time.Millisecond))
	}
	client, err := kgo.NewClient(own...)
	check(err)
	admin := kadm.NewClient(client)
	var found []map[string]float64
	for len(found) < count {
		found = append(found, test(ctx, admin, own))
	}
	admin.Close()
	check(json.NewEncoder(os.Stdout).Encode(found))
}
