package main

import (
	"fmt"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// streamsMember is a member of a streams group (KIP-1071) as the coordinator sees it: one subtopology that reads a topic.
type streamsMember struct {
	peer  *peer
	group string
	topic string
	id    string
	epoch int32
	tasks []kmsg.TaskIDs
	tell  bool // what it has, as it has changed
}

// beat sends one heartbeat, which joins in epoch 0. It takes what it is given at once.
func (m *streamsMember) beat() {
	request := kmsg.NewPtrStreamsGroupHeartbeatRequest()
	request.Group, request.MemberID, request.MemberEpoch = m.group, m.id, m.epoch
	if m.epoch == 0 {
		request.RebalanceTimeoutMillis, request.ProcessID = 60_000, &m.id
		part := kmsg.NewStreamsGroupHeartbeatRequestTopologySubtopology()
		part.SubtopologyID, part.SourceTopics = "0", []string{m.topic}
		topology := kmsg.NewStreamsGroupHeartbeatRequestTopology()
		topology.Subtopologies = append(topology.Subtopologies, part)
		request.Topology = &topology
		m.tasks, m.tell = []kmsg.TaskIDs{}, true
	}
	if m.tell {
		request.ActiveTasks, request.StandbyTasks, request.WarmupTasks = m.tasks, []kmsg.TaskIDs{}, []kmsg.TaskIDs{}
	}
	answer := ask[*kmsg.StreamsGroupHeartbeatResponse](m.peer, request)
	expect(answer.ErrorCode, "streams heartbeat")
	m.epoch, m.tell = answer.MemberEpoch, false
	if answer.ActiveTasks != nil {
		m.tasks, m.tell = answer.ActiveTasks, true
	}
}

// streamsHoldCase makes 1,000 streams groups of one member each, then sends heartbeats for them as fast as it can.
func streamsHoldCase() figures {
	const groups, connections = 1000, 10
	prefix, topic := unique("streams-hold"), unique("held")
	newTopic(topic, 1)
	members := make([][]*streamsMember, connections)
	for c := range members {
		p := connect(address)
		for k := c; k < groups; k += connections {
			m := &streamsMember{peer: p, group: fmt.Sprintf("%s-%d", prefix, k), topic: topic, id: fmt.Sprintf("m-%d", k)}
			groupReady(p, m.group)
			until("a task", func() bool { m.beat(); return len(m.tasks) == 1 && !m.tell })
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
