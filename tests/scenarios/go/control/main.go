// A test in Go that controls the broker over HTTP: one JSON line for each scenario.
//
//	control HOST:PORT URL
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand"
	"net/http"
	"os"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

type object = map[string]any

func unique(label string) string { return fmt.Sprintf("go-%s-%08x", label, rand.Uint32()) }

// control carries out an operation: a look if there is no body.
func control(path string, body object, result any) error {
	request, err := http.NewRequest(http.MethodGet, os.Args[2]+"/v1/"+path, nil)
	if body != nil {
		text, _ := json.Marshal(body)
		request, err = http.NewRequest(http.MethodPost, os.Args[2]+"/v1/"+path, bytes.NewReader(text))
	}
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		var told struct{ Error struct{ Message string } }
		_ = json.NewDecoder(answer.Body).Decode(&told)
		return fmt.Errorf("%d %s", answer.StatusCode, told.Error.Message)
	}
	return json.NewDecoder(answer.Body).Decode(result)
}

func do(path string, body object) error {
	var ignored any
	return control(path, body, &ignored)
}

func aProducerTriesAgain(ctx context.Context) error {
	topic := unique("t")
	if err := do("create-topic", object{"name": topic}); err != nil {
		return err
	}
	fault := object{"api": "Produce", "topic": topic, "answer": "NOT_LEADER_OR_FOLLOWER", "times": 2}
	if err := do("set-faults", object{"faults": []object{fault}}); err != nil {
		return err
	}
	client, err := kgo.NewClient(kgo.SeedBrokers(os.Args[1]), kgo.MetadataMinAge(20*time.Millisecond))
	if err != nil {
		return err
	}
	defer client.Close()
	if err := client.ProduceSync(ctx, &kgo.Record{Topic: topic, Value: []byte("book")}).FirstErr(); err != nil {
		return err
	}
	var faults []struct{ Hits int }
	if err := control("faults", nil, &faults); err != nil {
		return err
	}
	if len(faults) != 1 || faults[0].Hits != 2 {
		return fmt.Errorf("the fault was met otherwise: %v", faults)
	}
	return do("set-faults", object{"faults": []object{}})
}

func aSilentMemberIsOut(ctx context.Context) error {
	topic, group := unique("t"), unique("g")
	if err := do("create-topic", object{"name": topic}); err != nil {
		return err
	}
	client, err := kgo.NewClient(kgo.SeedBrokers(os.Args[1]), kgo.ConsumerGroup(group), kgo.ConsumeTopics(topic),
		kgo.SessionTimeout(30*time.Second), kgo.HeartbeatInterval(50*time.Millisecond), kgo.FetchMaxWait(50*time.Millisecond))
	if err != nil {
		return err
	}
	defer client.Close()
	go client.PollFetches(ctx)
	if err := do("groups/"+group+"/wait", object{"members": 1}); err != nil {
		return err
	}
	silence := []object{}
	for _, api := range []string{"Heartbeat", "JoinGroup", "SyncGroup"} {
		silence = append(silence, object{"api": api, "group": group, "drop": true})
	}
	if err := do("set-faults", object{"faults": silence}); err != nil {
		return err
	}
	if err := do("wait", object{"fault": 0}); err != nil {
		return err
	}
	if err := do("clock/advance", object{"seconds": 31}); err != nil {
		return err
	}
	var info struct{ Members []any }
	if err := control("groups/"+group+"/info", nil, &info); err != nil {
		return err
	}
	if len(info.Members) != 0 {
		return fmt.Errorf("the member is still there: %v", info.Members)
	}
	return do("set-faults", object{"faults": []object{}})
}

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	scenarios := []struct {
		name string
		run  func(context.Context) error
	}{{"aProducerTriesAgain", aProducerTriesAgain}, {"aSilentMemberIsOut", aSilentMemberIsOut}}
	for _, each := range scenarios {
		report := object{"scenario": each.name, "error": ""}
		if err := each.run(ctx); err != nil {
			report["error"] = err.Error()
		}
		line, _ := json.Marshal(report)
		fmt.Println(string(line))
	}
}
