package main

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// modernMember is a member of the consumer protocol (KIP-848) as the coordinator sees it, without a consumer behind it.
type modernMember struct {
	peer  *peer
	group string
	topic string
	id    string
	epoch int32
	share int // how many partitions it owns
	owned []kmsg.ConsumerGroupHeartbeatRequestTopic
}

// beat sends one heartbeat, which joins in epoch 0. It gives up and takes what it is told to at once.
func (m *modernMember) beat() {
	request := kmsg.NewPtrConsumerGroupHeartbeatRequest()
	request.Group, request.MemberID, request.MemberEpoch = m.group, m.id, m.epoch
	if m.epoch == 0 {
		request.RebalanceTimeoutMillis, request.SubscribedTopicNames = 60_000, []string{m.topic}
		m.owned = []kmsg.ConsumerGroupHeartbeatRequestTopic{}
	}
	request.Topics = m.owned
	answer := ask[*kmsg.ConsumerGroupHeartbeatResponse](m.peer, request)
	expect(answer.ErrorCode, "heartbeat")
	m.epoch, m.owned = answer.MemberEpoch, nil // nil: what it owns has not changed
	if answer.MemberID != nil {
		m.id = *answer.MemberID
	}
	if answer.Assignment != nil {
		m.share = 0
		m.owned = []kmsg.ConsumerGroupHeartbeatRequestTopic{}
		for _, topic := range answer.Assignment.Topics {
			own := kmsg.NewConsumerGroupHeartbeatRequestTopic()
			own.TopicID, own.Partitions = topic.TopicID, topic.Partitions
			m.owned = append(m.owned, own)
			m.share += len(topic.Partitions)
		}
	}
}

// settle joins, and sends heartbeats until everybody who counts in settled has told that it owns one partition: its share
// once all have joined. Before that a member may own one for a while and others later.
func (m *modernMember) settle(settled *atomic.Int32, size int32) {
	told := false
	for settled.Load() < size {
		m.beat()
		if m.owned != nil {
			continue // what it owns has changed: it tells so at once
		}
		if now := m.share == 1; now != told {
			told = now
			if now {
				settled.Add(1)
			} else {
				settled.Add(-1)
			}
		}
		if settled.Load() < size {
			time.Sleep(10 * time.Millisecond)
		}
	}
}

func (m *modernMember) leave() {
	m.epoch, m.owned = -1, nil
	m.beat()
}

// modernJoinCase times groups of the consumer protocol, a partition for each member, from the first heartbeat until
// every member owns its partition.
func modernJoinCase(size, repeats int) figures {
	topic := unique("assigned")
	newTopic(topic, int32(size))
	result := figures{Count: repeats}
	for i := 0; i < repeats; i++ {
		group := unique("modern-join")
		members := make([]*modernMember, size)
		for k := range members {
			members[k] = &modernMember{peer: connect(address), group: group, topic: topic}
		}
		groupReady(members[0].peer, group)
		fmt.Println(`{"event": "start"}`)
		start := time.Now()
		var all sync.WaitGroup
		var settled atomic.Int32
		for _, m := range members {
			all.Add(1)
			go func(m *modernMember) {
				defer all.Done()
				m.settle(&settled, int32(size))
			}(m)
		}
		all.Wait()
		took := time.Since(start)
		fmt.Println(`{"event": "stop"}`)
		result.Seconds += took.Seconds()
		result.latencies = append(result.latencies, took.Seconds()*1e6)
		for _, m := range members {
			m.leave()
			m.peer.socket.Close()
		}
	}
	return result
}

// modernHoldCase makes 1,000 consumer groups of one member each, then sends heartbeats for them as fast as it can.
func modernHoldCase() figures {
	const groups, connections = 1000, 10
	prefix, topic := unique("modern-hold"), unique("held")
	newTopic(topic, 1)
	members := make([][]*modernMember, connections)
	for c := range members {
		p := connect(address)
		for k := c; k < groups; k += connections {
			m := &modernMember{peer: p, group: fmt.Sprintf("%s-%d", prefix, k), topic: topic}
			groupReady(p, m.group)
			m.settle(new(atomic.Int32), 1)
			members[c] = append(members[c], m)
		}
	}
	fmt.Println(`{"event": "held"}`)
	return measure(connections, func(number int) step {
		next := 0
		return func() int {
			own := members[number]
			next = (next + 1) % len(own)
			own[next].beat()
			return 0
		}
	})
}
