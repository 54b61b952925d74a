// franz-go against a broker: runs every scenario, one JSON line for each.
//
//	scenarios HOST:PORT
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand"
	"os"
	"sort"
	"strings"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

var seeds []string

func unique(label string) string { return fmt.Sprintf("go-%s-%08x", label, rand.Uint32()) }

func client(options ...kgo.Opt) (*kgo.Client, error) {
	return kgo.NewClient(append([]kgo.Opt{kgo.SeedBrokers(seeds...), kgo.FetchMaxWait(50 * time.Millisecond),
		kgo.MetadataMinAge(50 * time.Millisecond)}, options...)...)
}

func topic(ctx context.Context, partitions int32) (string, error) {
	cl, err := client()
	if err != nil {
		return "", err
	}
	defer cl.Close()
	name := unique("t")
	adm := kadm.NewClient(cl)
	created, err := adm.CreateTopic(ctx, partitions, 1, nil, name)
	if err := errors.Join(err, created.Err); err != nil {
		return "", err
	}
	_, err = ends(ctx, adm, name, int(partitions))
	return name, err
}

// ends waits until that many partitions have leaders that answer, and gives the sum of their end offsets.
func ends(ctx context.Context, adm *kadm.Client, name string, partitions int) (int64, error) {
	for {
		var sum int64
		found, err := adm.ListEndOffsets(ctx, name)
		if err == nil {
			err = found.Error()
		}
		found.Each(func(offset kadm.ListedOffset) { sum += offset.Offset })
		if err == nil && len(found[name]) == partitions {
			return sum, nil
		}
		select {
		case <-ctx.Done():
			return 0, fmt.Errorf("ends of %d partitions: %v %v", partitions, found, err)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func read(ctx context.Context, cl *kgo.Client, count int) ([]*kgo.Record, error) {
	var all []*kgo.Record
	for len(all) < count {
		fetches := cl.PollFetches(ctx)
		if err := fetches.Err(); err != nil {
			return all, fmt.Errorf("after %d of %d records: %w", len(all), count, err)
		}
		all = append(all, fetches.Records()...)
	}
	return all, nil
}

func codecs(ctx context.Context) error {
	name, err := topic(ctx, 1)
	if err != nil {
		return err
	}
	all := []kgo.CompressionCodec{kgo.NoCompression(), kgo.GzipCompression(), kgo.SnappyCompression(), kgo.Lz4Compression(), kgo.ZstdCompression()}
	for _, codec := range all {
		cl, err := client(kgo.ProducerBatchCompression(codec), kgo.DefaultProduceTopic(name), kgo.ProducerLinger(5*time.Millisecond))
		if err != nil {
			return err
		}
		var records []*kgo.Record
		for i := 0; i < 100; i++ {
			header := kgo.RecordHeader{Key: "n", Value: []byte{byte(i)}}
			records = append(records, &kgo.Record{Key: []byte("k"), Value: []byte(strings.Repeat("v", i)), Headers: []kgo.RecordHeader{header}})
		}
		records = append(records, &kgo.Record{Key: []byte("tombstone")})
		err = cl.ProduceSync(ctx, records...).FirstErr()
		cl.Close()
		if err != nil {
			return err
		}
	}
	cl, err := client(kgo.ConsumeTopics(name), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	if err != nil {
		return err
	}
	defer cl.Close()
	seen, err := read(ctx, cl, 505)
	if err != nil {
		return err
	}
	for i, record := range seen {
		if record.Offset != int64(i) || (i%101 < 100 && (len(record.Value) != i%101 || record.Headers[0].Value[0] != byte(i%101))) {
			return fmt.Errorf("record %d came back as %+v", i, record)
		}
		if i%101 == 100 && record.Value != nil {
			return fmt.Errorf("record %d is no tombstone", i)
		}
	}
	return nil
}

func admin(ctx context.Context) error {
	name, err := topic(ctx, 2)
	if err != nil {
		return err
	}
	cl, err := client()
	if err != nil {
		return err
	}
	defer cl.Close()
	adm := kadm.NewClient(cl)
	if _, err := adm.CreateTopic(ctx, 1, 1, nil, name); !errors.Is(err, kerr.TopicAlreadyExists) {
		return fmt.Errorf("creating it again gives %v", err)
	}
	grown, err := adm.UpdatePartitions(ctx, 3, name)
	if err := errors.Join(err, grown.Error()); err != nil {
		return err
	}
	if _, err := ends(ctx, adm, name, 3); err != nil {
		return err
	}
	if err := cl.ProduceSync(ctx, kgo.StringRecord("x"), kgo.StringRecord("y")).FirstErr(); err == nil {
		return errors.New("a record without a topic went out")
	}
	if err := cl.ProduceSync(ctx, &kgo.Record{Topic: name, Value: []byte("x")}).FirstErr(); err != nil {
		return err
	}
	sum, err := ends(ctx, adm, name, 3)
	if err != nil {
		return err
	}
	if sum != 1 {
		return fmt.Errorf("end offsets add up to %d", sum)
	}
	configs, err := adm.DescribeTopicConfigs(ctx, name)
	if err != nil || len(configs) != 1 || len(configs[0].Configs) < 20 {
		return fmt.Errorf("configs: %v %v", configs, err)
	}
	deleted, err := adm.DeleteTopics(ctx, name)
	return errors.Join(err, deleted.Error())
}

type member struct {
	client *kgo.Client
	lock   sync.Mutex
	owned  map[int32]bool
	stop   context.CancelFunc
}

// consumerProtocol marks a member of the consumer protocol (KIP-848) where a balancer is asked for.
var consumerProtocol kgo.GroupBalancer

func join(group, name string, balancer kgo.GroupBalancer) (*member, error) {
	m := &member{owned: map[int32]bool{}}
	gained := func(_ context.Context, _ *kgo.Client, given map[string][]int32) {
		m.lock.Lock()
		defer m.lock.Unlock()
		for _, partition := range given[name] {
			m.owned[partition] = true
		}
	}
	gone := func(_ context.Context, _ *kgo.Client, taken map[string][]int32) {
		m.lock.Lock()
		defer m.lock.Unlock()
		for _, partition := range taken[name] {
			delete(m.owned, partition)
		}
	}
	options := []kgo.Opt{kgo.ConsumerGroup(group), kgo.ConsumeTopics(name), kgo.OnPartitionsAssigned(gained),
		kgo.OnPartitionsRevoked(gone), kgo.OnPartitionsLost(gone), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()), kgo.DisableAutoCommit()}
	if balancer == consumerProtocol {
		options = append(options, kgo.ServerSideBalancer(), kgo.Balancers(kgo.StickyBalancer()))
	} else {
		options = append(options, kgo.Balancers(balancer), kgo.SessionTimeout(30*time.Second), kgo.HeartbeatInterval(100*time.Millisecond))
	}
	cl, err := client(options...)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	m.client, m.stop = cl, cancel
	go func() {
		for ctx.Err() == nil {
			cl.PollFetches(ctx)
		}
	}()
	return m, nil
}

func (m *member) leave() {
	m.stop()
	m.client.Close()
}

// shared waits until the members own all partitions between them, each once, in shares that differ by one at most.
func shared(ctx context.Context, members []*member, partitions int) error {
	for {
		var sizes []int
		all := map[int32]bool{}
		for _, m := range members {
			m.lock.Lock()
			sizes = append(sizes, len(m.owned))
			for partition := range m.owned {
				all[partition] = true
			}
			m.lock.Unlock()
		}
		sort.Ints(sizes)
		sum := 0
		for _, size := range sizes {
			sum += size
		}
		if len(all) == partitions && sum == partitions && sizes[len(sizes)-1]-sizes[0] <= 1 {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("shares %v of %d partitions", sizes, partitions)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// beatOften makes members of the consumer protocol tell of themselves ten times a second.
func beatOften(ctx context.Context, group string) error {
	cl, err := client()
	if err != nil {
		return err
	}
	defer cl.Close()
	interval := "100"
	request := kmsg.NewPtrIncrementalAlterConfigsRequest()
	resource := kmsg.NewIncrementalAlterConfigsRequestResource()
	resource.ResourceType, resource.ResourceName = kmsg.ConfigResourceTypeGroupConfig, group
	config := kmsg.NewIncrementalAlterConfigsRequestResourceConfig()
	config.Name, config.Value = "consumer.heartbeat.interval.ms", &interval
	resource.Configs = append(resource.Configs, config)
	request.Resources = append(request.Resources, resource)
	changed, err := request.RequestWith(ctx, cl)
	if err != nil {
		return err
	}
	return kerr.ErrorForCode(changed.Resources[0].ErrorCode)
}

func groups(balancer kgo.GroupBalancer) func(context.Context) error {
	return func(ctx context.Context) error {
		name, err := topic(ctx, 6)
		if err != nil {
			return err
		}
		group := unique("g")
		if balancer == consumerProtocol {
			if err := beatOften(ctx, group); err != nil {
				return err
			}
		}
		var members []*member
		for i := 0; i < 3; i++ {
			m, err := join(group, name, balancer)
			if err != nil {
				return err
			}
			members = append(members, m)
			if err := shared(ctx, members, 6); err != nil {
				return err
			}
		}
		members[0].leave()
		if err := shared(ctx, members[1:], 6); err != nil {
			return err
		}
		offsets := map[string]map[int32]kgo.EpochOffset{name: {0: {Epoch: -1, Offset: 5}}}
		adm := kadm.NewClient(members[1].client)
		committed := errors.New("no commit")
		for committed != nil && ctx.Err() == nil { // one that meets a rebalance is refused
			members[1].client.CommitOffsetsSync(ctx, offsets, nil)
			found, err := adm.FetchOffsets(ctx, group)
			committed = err
			if err == nil && found[name][0].At != 5 {
				committed = fmt.Errorf("committed offset: %v", found)
			}
		}
		members[1].leave()
		members[2].leave()
		return committed
	}
}

func transactions(ctx context.Context) error {
	name, err := topic(ctx, 1)
	if err != nil {
		return err
	}
	id := unique("txn")
	cl, err := client(kgo.TransactionalID(id), kgo.DefaultProduceTopic(name))
	if err != nil {
		return err
	}
	defer cl.Close()
	for _, each := range []struct {
		value string
		end   kgo.TransactionEndTry
	}{{"kept", kgo.TryCommit}, {"dropped", kgo.TryAbort}, {"kept too", kgo.TryCommit}} {
		if err := cl.BeginTransaction(); err != nil {
			return err
		}
		if err := cl.ProduceSync(ctx, kgo.StringRecord(each.value)).FirstErr(); err != nil {
			return err
		}
		if err := cl.EndTransaction(ctx, each.end); err != nil {
			return err
		}
	}
	reader, err := client(kgo.ConsumeTopics(name), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()), kgo.FetchIsolationLevel(kgo.ReadCommitted()))
	if err != nil {
		return err
	}
	defer reader.Close()
	seen, err := read(ctx, reader, 2)
	if err != nil {
		return err
	}
	if string(seen[0].Value) != "kept" || string(seen[1].Value) != "kept too" {
		return fmt.Errorf("read %q and %q", seen[0].Value, seen[1].Value)
	}
	second, err := client(kgo.TransactionalID(id), kgo.DefaultProduceTopic(name))
	if err != nil {
		return err
	}
	defer second.Close()
	if _, _, err := second.ProducerID(ctx); err != nil {
		return err
	}
	err = cl.BeginTransaction()
	if err == nil {
		err = cl.ProduceSync(ctx, kgo.StringRecord("late")).FirstErr()
	}
	if !errors.Is(err, kerr.ProducerFenced) && !errors.Is(err, kerr.InvalidProducerEpoch) {
		return fmt.Errorf("the fenced producer met %v", err)
	}
	return nil
}

// zombie has a fenced producer go on between the records of the one that replaced it.
func zombie(ctx context.Context) error {
	name, err := topic(ctx, 1)
	if err != nil {
		return err
	}
	id := unique("zombie")
	var both [2]*kgo.Client
	for index := range both {
		cl, err := client(kgo.TransactionalID(id), kgo.DefaultProduceTopic(name))
		if err != nil {
			return err
		}
		defer cl.Close()
		if _, _, err := cl.ProducerID(ctx); err != nil {
			return err
		}
		if err := cl.BeginTransaction(); err != nil {
			return err
		}
		both[index] = cl
	}
	old, next := both[0], both[1]
	if err := next.ProduceSync(ctx, kgo.StringRecord("new-0")).FirstErr(); err != nil {
		return err
	}
	if err := old.ProduceSync(ctx, kgo.StringRecord("old-0")).FirstErr(); err == nil {
		return errors.New("the fenced producer met no error")
	}
	for _, value := range []string{"new-1", "new-2"} {
		if err := next.ProduceSync(ctx, kgo.StringRecord(value)).FirstErr(); err != nil {
			return fmt.Errorf("%s: %w", value, err)
		}
	}
	if err := next.EndTransaction(ctx, kgo.TryCommit); err != nil {
		return err
	}
	reader, err := client(kgo.ConsumeTopics(name), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()), kgo.FetchIsolationLevel(kgo.ReadCommitted()))
	if err != nil {
		return err
	}
	defer reader.Close()
	seen, err := read(ctx, reader, 3)
	if err != nil {
		return err
	}
	for index, record := range seen {
		if string(record.Value) != fmt.Sprintf("new-%d", index) {
			return fmt.Errorf("read %q at %d", record.Value, index)
		}
	}
	return nil
}

func main() {
	seeds = []string{os.Args[1]}
	scenarios := []struct {
		name string
		run  func(context.Context) error
	}{
		{"codecs", codecs},
		{"admin", admin},
		{"group-range", groups(kgo.RangeBalancer())},
		{"group-roundrobin", groups(kgo.RoundRobinBalancer())},
		{"group-sticky", groups(kgo.StickyBalancer())},
		{"group-cooperative-sticky", groups(kgo.CooperativeStickyBalancer())},
		{"group-consumer-protocol", groups(consumerProtocol)},
		{"transactions", transactions},
		{"zombie", zombie},
	}
	var all sync.WaitGroup
	var lock sync.Mutex
	for _, scenario := range scenarios {
		all.Add(1)
		go func() {
			defer all.Done()
			ctx, cancel := context.WithTimeout(context.Background(), 90*time.Second)
			defer cancel()
			message := ""
			if err := scenario.run(ctx); err != nil {
				message = err.Error()
			}
			line, _ := json.Marshal(map[string]string{"scenario": scenario.name, "error": message})
			lock.Lock()
			defer lock.Unlock()
			fmt.Println(string(line))
		}()
	}
	all.Wait()
}
