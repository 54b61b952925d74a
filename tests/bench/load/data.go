package main

import (
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// newTopic creates a topic of that many partitions and waits until each has a leader.
func newTopic(name string, partitions int32) {
	p := connect(address)
	defer p.socket.Close()
	create := kmsg.NewPtrCreateTopicsRequest()
	create.Version, create.TimeoutMillis = 5, 10_000
	topic := kmsg.NewCreateTopicsRequestTopic()
	topic.Topic, topic.NumPartitions, topic.ReplicationFactor = name, partitions, 1
	create.Topics = append(create.Topics, topic)
	expect(ask[*kmsg.CreateTopicsResponse](p, create).Topics[0].ErrorCode, "create topic")
	until("leaders of "+name, func() bool {
		found := ask[*kmsg.MetadataResponse](p, metadataRequest(name)).Topics[0]
		ready := found.ErrorCode == 0 && len(found.Partitions) == int(partitions)
		for _, partition := range found.Partitions {
			ready = ready && partition.ErrorCode == 0 && partition.Leader >= 0
		}
		return ready
	})
	// a leader that is known from metadata may still refuse for a moment
	for partition := int32(0); partition < partitions; partition++ {
		until("a leader that serves", func() bool {
			list := kmsg.NewPtrListOffsetsRequest()
			list.Version, list.ReplicaID = 2, -1
			of := kmsg.NewListOffsetsRequestTopic()
			of.Topic = name
			at := kmsg.NewListOffsetsRequestTopicPartition()
			at.Partition, at.Timestamp = partition, -1
			of.Partitions = append(of.Partitions, at)
			list.Topics = append(list.Topics, of)
			return ask[*kmsg.ListOffsetsResponse](p, list).Topics[0].Partitions[0].ErrorCode == 0
		})
	}
}

func metadataRequest(name string) *kmsg.MetadataRequest {
	request := kmsg.NewPtrMetadataRequest()
	request.Version = 9
	topic := kmsg.NewMetadataRequestTopic()
	topic.Topic = &name
	request.Topics = append(request.Topics, topic)
	return request
}

func produceRequest(topic string, partition int32, batch []byte, transaction *string) *kmsg.ProduceRequest {
	request := kmsg.NewPtrProduceRequest()
	request.Version, request.Acks, request.TimeoutMillis, request.TransactionID = 9, -1, 10_000, transaction
	into := kmsg.NewProduceRequestTopic()
	into.Topic = topic
	part := kmsg.NewProduceRequestTopicPartition()
	part.Partition, part.Records = partition, batch
	into.Partitions = append(into.Partitions, part)
	request.Topics = append(request.Topics, into)
	return request
}

func fetchRequest(topic string, partition int32, offset int64, maxBytes int32) *kmsg.FetchRequest {
	request := kmsg.NewPtrFetchRequest()
	request.Version, request.ReplicaID, request.SessionEpoch = 11, -1, -1
	request.MaxWaitMillis, request.MinBytes, request.MaxBytes = 1000, 1, maxBytes
	from := kmsg.NewFetchRequestTopic()
	from.Topic = topic
	part := kmsg.NewFetchRequestTopicPartition()
	part.Partition, part.FetchOffset, part.PartitionMaxBytes, part.CurrentLeaderEpoch = partition, offset, maxBytes, -1
	from.Partitions = append(from.Partitions, part)
	request.Topics = append(request.Topics, from)
	return request
}

// produceCase sends batches of equal records from a number of connections, one request in flight on each.
func produceCase(connections, partitions, records, size int) figures {
	topic := unique("produce")
	newTopic(topic, int32(partitions))
	return measure(connections, func(number int) step {
		p := connect(address)
		batch := recordBatch(records, size, -1, -1, -1, false)
		request := produceRequest(topic, int32(number%partitions), batch, nil)
		frame := p.frame(request)
		return func() int {
			p.write(frame)
			response := decode[*kmsg.ProduceResponse](request, p.read())
			expect(response.Topics[0].Partitions[0].ErrorCode, "produce")
			return len(batch)
		}
	})
}

// fetchCase reads a prefilled partition on each of a few connections, over and over.
func fetchCase(connections, records, size, batches int, maxBytes int32) figures {
	topic := unique("fetch")
	newTopic(topic, int32(connections))
	filler := connect(address)
	for partition := 0; partition < connections; partition++ {
		batch := recordBatch(records, size, -1, -1, -1, false)
		for i := 0; i < batches; i++ {
			response := ask[*kmsg.ProduceResponse](filler, produceRequest(topic, int32(partition), batch, nil))
			expect(response.Topics[0].Partitions[0].ErrorCode, "produce")
		}
	}
	batchBytes := len(recordBatch(records, size, -1, -1, -1, false))
	return measure(connections, func(number int) step {
		p := connect(address)
		offset := int64(0)
		return func() int {
			p.write(p.frame(fetchRequest(topic, int32(number), offset, maxBytes)))
			length := len(p.read())
			offset += int64(length/batchBytes) * int64(records)
			if offset >= int64(batches*records) {
				offset = 0
			}
			return length
		}
	})
}

// latencyCase times one record from the produce request until a fetch that was waiting for it has it.
func latencyCase() figures {
	topic := unique("latency")
	newTopic(topic, 1)
	return measure(1, func(int) step {
		in, out := connect(address), connect(address)
		frame := in.frame(produceRequest(topic, 0, recordBatch(1, 100, -1, -1, -1, false), nil))
		offset := int64(0)
		return func() int {
			out.write(out.frame(fetchRequest(topic, 0, offset, 1<<20)))
			in.write(frame)
			out.read()
			in.read()
			offset++
			return 0
		}
	})
}

// apiVersionsCase asks what every client asks first; a broker has next to nothing to do for it.
func apiVersionsCase() figures {
	return measure(1, func(int) step {
		p := connect(address)
		request := kmsg.NewPtrApiVersionsRequest()
		request.Version, request.ClientSoftwareName, request.ClientSoftwareVersion = 3, "odradek-load", "1"
		frame := p.frame(request)
		return func() int {
			p.write(frame)
			return len(p.read())
		}
	})
}

func metadataCase() figures {
	topic := unique("metadata")
	newTopic(topic, 1000)
	return measure(1, func(int) step {
		p := connect(address)
		frame := p.frame(metadataRequest(topic))
		return func() int {
			p.write(frame)
			return len(p.read())
		}
	})
}

// transactionCase runs whole transactions of one record on one connection: add partition, produce, commit.
func transactionCase() figures {
	topic, id := unique("transaction"), unique("transactional-id")
	newTopic(topic, 1)
	return measure(1, func(int) step {
		p := connect(address)
		find := kmsg.NewPtrFindCoordinatorRequest()
		find.Version, find.CoordinatorKey, find.CoordinatorType = 2, id, 1
		start := kmsg.NewPtrInitProducerIDRequest()
		start.Version, start.TransactionalID, start.TransactionTimeoutMillis = 2, &id, 60_000
		var identity *kmsg.InitProducerIDResponse
		until("a producer id", func() bool {
			ask[*kmsg.FindCoordinatorResponse](p, find)
			identity = ask[*kmsg.InitProducerIDResponse](p, start)
			return identity.ErrorCode == 0
		})
		add := kmsg.NewPtrAddPartitionsToTxnRequest()
		add.Version, add.TransactionalID = 2, id
		add.ProducerID, add.ProducerEpoch = identity.ProducerID, identity.ProducerEpoch
		added := kmsg.NewAddPartitionsToTxnRequestTopic()
		added.Topic, added.Partitions = topic, []int32{0}
		add.Topics = append(add.Topics, added)
		end := kmsg.NewPtrEndTxnRequest()
		end.Version, end.TransactionalID, end.Commit = 2, id, true
		end.ProducerID, end.ProducerEpoch = identity.ProducerID, identity.ProducerEpoch
		sequence := int32(0)
		return func() int {
			for { // a new transaction waits until the markers of the last one are written
				code := ask[*kmsg.AddPartitionsToTxnResponse](p, add).Topics[0].Partitions[0].ErrorCode
				if code == 0 {
					break
				}
				if code != 51 {
					expect(code, "add partition")
				}
				time.Sleep(100 * time.Microsecond)
			}
			batch := recordBatch(1, 100, identity.ProducerID, identity.ProducerEpoch, sequence, true)
			sequence++
			response := ask[*kmsg.ProduceResponse](p, produceRequest(topic, 0, batch, &id))
			expect(response.Topics[0].Partitions[0].ErrorCode, "transactional produce")
			expect(ask[*kmsg.EndTxnResponse](p, end).ErrorCode, "commit")
			return 0
		}
	})
}
