package main

import (
	"github.com/twmb/franz-go/pkg/kmsg"
)

const (
	accept       = int8(1)
	byBatch      = int8(0)
	byRecord     = int8(1)
	groupConfigs = kmsg.ConfigResourceTypeGroupConfig
)

// newShareGroup makes a group's configs so that it begins at the start of its topics.
func newShareGroup(p *peer, group string) {
	request := kmsg.NewPtrIncrementalAlterConfigsRequest()
	request.Version = 1
	resource := kmsg.NewIncrementalAlterConfigsRequestResource()
	resource.ResourceType, resource.ResourceName = groupConfigs, group
	config := kmsg.NewIncrementalAlterConfigsRequestResourceConfig()
	value := "earliest"
	config.Name, config.Value = "share.auto.offset.reset", &value
	resource.Configs = append(resource.Configs, config)
	request.Resources = append(request.Resources, resource)
	expect(ask[*kmsg.IncrementalAlterConfigsResponse](p, request).Resources[0].ErrorCode, "group config")
}

// joinShareGroup joins as this member and goes on until it has a partition.
func joinShareGroup(p *peer, group, member, topic string) {
	epoch := int32(0)
	until("an assignment", func() bool {
		request := kmsg.NewPtrShareGroupHeartbeatRequest()
		request.Version, request.GroupID, request.MemberID, request.MemberEpoch = 1, group, member, epoch
		request.SubscribedTopicNames = []string{topic}
		response := ask[*kmsg.ShareGroupHeartbeatResponse](p, request)
		if response.ErrorCode == 15 || response.ErrorCode == 16 || response.ErrorCode == 14 {
			return false // its coordinator is not there yet
		}
		expect(response.ErrorCode, "share heartbeat")
		epoch = response.MemberEpoch
		return response.Assignment != nil && len(response.Assignment.TopicPartitions) > 0
	})
}

// shareCase takes records from a partition as a member of a share group does; each fetch accepts what the last one gave.
func shareCase(mode int8, atOnce int32, records, size, batches int) figures {
	topic, group, member := unique("share"), unique("share-group"), "AAAAAAAAAAAAAAAAAAAAAQ"
	newTopic(topic, 1)
	p := connect(address)
	id := ask[*kmsg.MetadataResponse](p, idRequest(topic)).Topics[0].TopicID
	batch := recordBatch(records, size, -1, -1, -1, false)
	for i := 0; i < batches; i++ {
		response := ask[*kmsg.ProduceResponse](p, produceRequest(topic, 0, batch, nil))
		expect(response.Topics[0].Partitions[0].ErrorCode, "produce")
	}
	groupReady(p, group)
	newShareGroup(p, group)
	joinShareGroup(p, group, member, topic)
	session := int32(0)
	var taken []kmsg.ShareFetchResponseTopicPartitionAcquiredRecord
	return measure(1, func(int) step {
		return func() int {
			for attempts := 0; ; attempts++ {
				if attempts > 50 {
					return nothingLeft
				}
				request := kmsg.NewPtrShareFetchRequest()
				request.Version, request.GroupID, request.MemberID, request.ShareSessionEpoch = 2, &group, &member, session
				request.MaxWaitMillis, request.MinBytes, request.MaxBytes = 500, 1, 1<<20
				request.MaxRecords, request.BatchSize, request.ShareAcquireMode = atOnce, atOnce, mode
				from := kmsg.NewShareFetchRequestTopic()
				from.TopicID = id
				part := kmsg.NewShareFetchRequestTopicPartition()
				for _, each := range taken {
					done := kmsg.NewShareFetchRequestTopicPartitionAcknowledgementBatch()
					done.FirstOffset, done.LastOffset, done.AcknowledgeTypes = each.FirstOffset, each.LastOffset, []int8{accept}
					part.AcknowledgementBatches = append(part.AcknowledgementBatches, done)
				}
				from.Partitions = append(from.Partitions, part)
				request.Topics = append(request.Topics, from)
				response := ask[*kmsg.ShareFetchResponse](p, request)
				expect(response.ErrorCode, "share fetch")
				session++
				taken = nil
				bytes := 0
				for _, t := range response.Topics {
					for _, each := range t.Partitions {
						expect(each.ErrorCode, "share fetch of the partition")
						expect(each.AcknowledgeErrorCode, "acknowledgement")
						taken = append(taken, each.AcquiredRecords...)
						bytes += len(each.Records)
					}
				}
				if len(taken) > 0 {
					return bytes
				}
			}
		}
	})
}

func idRequest(topic string) *kmsg.MetadataRequest {
	request := metadataRequest(topic)
	request.Version = 10
	return request
}
