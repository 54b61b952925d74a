// kfake runs franz-go's fake cluster with one broker, until it is told to end.
//
//	kfake -p 9092 [-tls broker.pem] [-u name:password]
package main

import (
	"crypto/tls"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"
)

func main() {
	port := flag.Int("p", 9092, "port on 127.0.0.1")
	certificate := flag.String("tls", "", "PEM file with a key and a certificate: speak TLS")
	user := flag.String("u", "", "name:password of a user that logs in and whose rights are looked up")
	flag.Parse()
	options := []kfake.Opt{kfake.NumBrokers(1), kfake.Ports(*port)}
	if *certificate != "" {
		pair, err := tls.LoadX509KeyPair(*certificate, *certificate)
		check(err)
		options = append(options, kfake.TLS(&tls.Config{Certificates: []tls.Certificate{pair}}))
	}
	if *user != "" {
		name, password, _ := strings.Cut(*user, ":")
		options = append(options, logins(name, password)...)
	}
	cluster, err := kfake.NewCluster(options...)
	check(err)
	defer cluster.Close()
	told := make(chan os.Signal, 1)
	signal.Notify(told, syscall.SIGINT, syscall.SIGTERM)
	<-told
}

// logins are a user with rights to the topics of the load, and 1,000 entries in all, the rest for other users.
func logins(name, password string) []kfake.Opt {
	right := func(operation kmsg.ACLOperation) kfake.ACL {
		return kfake.ACL{
			Resource: kmsg.ACLResourceTypeTopic, Name: "p", Pattern: kmsg.ACLResourcePatternTypePrefixed,
			Operation: operation, Allow: true,
		}
	}
	own := []kfake.ACL{
		right(kmsg.ACLOperationRead), right(kmsg.ACLOperationWrite), right(kmsg.ACLOperationDescribe),
		{
			Resource: kmsg.ACLResourceTypeCluster, Name: "kafka-cluster", Pattern: kmsg.ACLResourcePatternTypeLiteral,
			Operation: kmsg.ACLOperationCreate, Allow: true,
		},
	}
	options := []kfake.Opt{
		kfake.EnableSASL(), kfake.EnableACLs(),
		kfake.User("PLAIN", name, password, own...), kfake.User("SCRAM-SHA-256", name, password),
	}
	for number := 0; number < 1000-len(own); number++ {
		entry := kfake.ACL{
			Resource: kmsg.ACLResourceTypeTopic, Name: fmt.Sprintf("orders-%d", number),
			Pattern: kmsg.ACLResourcePatternTypeLiteral, Operation: kmsg.ACLOperationRead, Allow: true,
		}
		if number%2 == 1 {
			entry.Pattern = kmsg.ACLResourcePatternTypePrefixed
		}
		options = append(options, kfake.User("PLAIN", fmt.Sprintf("u%d", number), password, entry))
	}
	return options
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "kfake:", err)
		os.Exit(1)
	}
}
