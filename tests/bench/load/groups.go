package main

import (
	"fmt"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

const (
	rebalanceInProgress = 27
	memberIDRequired    = 79
)

// groupReady asks for the group's coordinator until it serves the group.
func groupReady(p *peer, group string) {
	find := kmsg.NewPtrFindCoordinatorRequest()
	find.Version, find.CoordinatorKey = 2, group
	until("the coordinator of "+group, func() bool {
		if ask[*kmsg.FindCoordinatorResponse](p, find).ErrorCode != 0 {
			return false
		}
		beat := kmsg.NewPtrHeartbeatRequest()
		beat.Version, beat.Group, beat.MemberID = 3, group, "nobody"
		code := ask[*kmsg.HeartbeatResponse](p, beat).ErrorCode
		return code == 25 || code == 69 // unknown member or group: it answers from loaded state
	})
}

func commitRequest(group, topic string, partitions []int32, offset int64) *kmsg.OffsetCommitRequest {
	request := kmsg.NewPtrOffsetCommitRequest()
	request.Version, request.Group, request.Generation = 7, group, -1
	in := kmsg.NewOffsetCommitRequestTopic()
	in.Topic = topic
	for _, number := range partitions {
		partition := kmsg.NewOffsetCommitRequestTopicPartition()
		partition.Partition, partition.Offset, partition.LeaderEpoch = number, offset, -1
		in.Partitions = append(in.Partitions, partition)
	}
	request.Topics = append(request.Topics, in)
	return request
}

// commitCase commits one offset a request on one connection, outside of any membership.
func commitCase() figures {
	topic, group := unique("commit"), unique("commit-group")
	newTopic(topic, 1)
	return measure(1, func(int) step {
		p := connect(address)
		groupReady(p, group)
		offset := int64(0)
		return func() int {
			offset++
			response := ask[*kmsg.OffsetCommitResponse](p, commitRequest(group, topic, []int32{0}, offset))
			expect(response.Topics[0].Partitions[0].ErrorCode, "commit")
			return 0
		}
	})
}

// fillCase writes 100,000 commits of 100 partitions into one partition of __consumer_offsets.
func fillCase() figures {
	topic, group := "reload", "reload-group"
	newTopic(topic, 100)
	p := connect(address)
	groupReady(p, group)
	start := time.Now()
	for round := int64(0); round < 1000; round++ {
		var all []int32
		for partition := int32(0); partition < 100; partition++ {
			all = append(all, partition)
		}
		response := ask[*kmsg.OffsetCommitResponse](p, commitRequest(group, topic, all, round))
		expect(response.Topics[0].Partitions[99].ErrorCode, "commit")
	}
	return figures{Count: 100_000, Seconds: time.Since(start).Seconds()}
}

// member is one consumer as the coordinator sees it, without a consumer behind it.
type member struct {
	peer  *peer
	group string
	id    string
	epoch int32
	size  int // members of the generation, known to its leader only
}

func (m *member) join() int16 {
	request := kmsg.NewPtrJoinGroupRequest()
	request.Version, request.Group, request.MemberID, request.ProtocolType = 5, m.group, m.id, "consumer"
	request.SessionTimeoutMillis, request.RebalanceTimeoutMillis = 30_000, 60_000
	protocol := kmsg.NewJoinGroupRequestProtocol()
	protocol.Name, protocol.Metadata = "range", []byte{0, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff}
	request.Protocols = append(request.Protocols, protocol)
	response := ask[*kmsg.JoinGroupResponse](m.peer, request)
	if response.ErrorCode == memberIDRequired {
		m.id = response.MemberID
		return m.join()
	}
	if response.ErrorCode != 0 {
		return response.ErrorCode
	}
	m.id, m.epoch, m.size = response.MemberID, response.Generation, len(response.Members)
	sync := kmsg.NewPtrSyncGroupRequest()
	sync.Version, sync.Group, sync.MemberID, sync.Generation = 3, m.group, m.id, m.epoch
	for _, each := range response.Members {
		given := kmsg.NewSyncGroupRequestGroupAssignment()
		given.MemberID = each.MemberID
		// the assignment's bytes tell each member how many there are
		given.MemberAssignment = []byte{byte(len(response.Members) >> 8), byte(len(response.Members))}
		sync.GroupAssignment = append(sync.GroupAssignment, given)
	}
	answer := ask[*kmsg.SyncGroupResponse](m.peer, sync)
	if answer.ErrorCode == 0 {
		m.size = int(answer.MemberAssignment[0])<<8 | int(answer.MemberAssignment[1])
	}
	return answer.ErrorCode
}

func (m *member) heartbeat() int16 {
	request := kmsg.NewPtrHeartbeatRequest()
	request.Version, request.Group, request.MemberID, request.Generation = 3, m.group, m.id, m.epoch
	return ask[*kmsg.HeartbeatResponse](m.peer, request).ErrorCode
}

func (m *member) leave() {
	request := kmsg.NewPtrLeaveGroupRequest()
	request.Version, request.Group = 3, m.group
	leaving := kmsg.NewLeaveGroupRequestMember()
	leaving.MemberID = m.id
	request.Members = append(request.Members, leaving)
	ask[*kmsg.LeaveGroupResponse](m.peer, request)
}

// joinCase times groups from the first join request until every member has its assignment in the full generation.
func joinCase(size, repeats int) figures {
	result := figures{Count: repeats}
	for i := 0; i < repeats; i++ {
		group := unique("join")
		members := make([]*member, size)
		for k := range members {
			members[k] = &member{peer: connect(address), group: group}
		}
		groupReady(members[0].peer, group)
		fmt.Println(`{"event": "start"}`)
		start := time.Now()
		var all sync.WaitGroup
		for _, m := range members {
			all.Add(1)
			go func(m *member) {
				defer all.Done()
				m.settle(size)
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

// settle joins, and joins again at each rebalance, until the generation has that many members.
func (m *member) settle(size int) {
	for {
		code := m.join()
		if code == 0 && m.size == size {
			return
		}
		if code != 0 && code != rebalanceInProgress {
			expect(code, "join")
		}
		for code == 0 {
			if code = m.heartbeat(); code == 0 {
				time.Sleep(10 * time.Millisecond)
			} else if code != rebalanceInProgress {
				expect(code, "heartbeat")
			}
		}
	}
}

// holdCase makes 1,000 groups of one member each, tells when they stand, then sends heartbeats for them as fast as it can.
func holdCase() figures {
	const groups, connections = 1000, 10
	prefix := unique("hold")
	members := make([][]*member, connections)
	for c := range members {
		p := connect(address)
		for k := c; k < groups; k += connections {
			m := &member{peer: p, group: fmt.Sprintf("%s-%d", prefix, k)}
			until("group "+m.group, func() bool {
				find := kmsg.NewPtrFindCoordinatorRequest()
				find.Version, find.CoordinatorKey = 2, m.group
				ask[*kmsg.FindCoordinatorResponse](p, find)
				return m.join() == 0
			})
			members[c] = append(members[c], m)
		}
	}
	fmt.Println(`{"event": "held"}`)
	return measure(connections, func(number int) step {
		next := 0
		return func() int {
			own := members[number]
			next = (next + 1) % len(own)
			expect(own[next].heartbeat(), "heartbeat")
			return 0
		}
	})
}
