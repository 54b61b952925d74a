package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"net"
	"strconv"
	"strings"
	"sync"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// loginCase makes connections that log in and go, each a unit.
func loginCase(connections int, login func(*peer)) figures {
	user := who
	who = ""
	return measure(connections, func(int) step {
		return func() int {
			p := connect(address)
			p.name, p.password, _ = strings.Cut(user, ":")
			login(p)
			// without waiting for the broker's good-bye, or the ports run out
			if tcp, plain := p.socket.(*net.TCPConn); plain {
				check(tcp.SetLinger(0))
			}
			check(p.socket.Close())
			return 0
		}
	})
}

func (p *peer) handshake(mechanism string) {
	request := kmsg.NewPtrSASLHandshakeRequest()
	request.Mechanism = mechanism
	request.Version = 1
	expect(ask[*kmsg.SASLHandshakeResponse](p, request).ErrorCode, "SaslHandshake")
}

func (p *peer) token(token string) string {
	request := kmsg.NewPtrSASLAuthenticateRequest()
	request.SASLAuthBytes = []byte(token)
	request.Version = 2
	response := ask[*kmsg.SASLAuthenticateResponse](p, request)
	expect(response.ErrorCode, "SaslAuthenticate")
	return string(response.SASLAuthBytes)
}

func loginPlain(p *peer) {
	p.handshake("PLAIN")
	p.token("\x00" + p.name + "\x00" + p.password)
}

func loginScram(p *peer) {
	p.handshake("SCRAM-SHA-256")
	bare := "n=" + p.name + ",r=" + unique("nonce")
	first := p.token("n,," + bare)
	var nonce, salt string
	var iterations int
	for _, field := range strings.Split(first, ",") {
		switch field[:2] {
		case "r=":
			nonce = field[2:]
		case "s=":
			salt = field[2:]
		case "i=":
			iterations, _ = strconv.Atoi(field[2:])
		}
	}
	final := "c=biws,r=" + nonce
	proved := bare + "," + first + "," + final
	key := sum(salted(p.password, salt, iterations), "Client Key")
	stored := sha256.Sum256(key)
	proof := sum(stored[:], proved)
	for i := range proof {
		proof[i] ^= key[i]
	}
	p.token(final + ",p=" + base64.StdEncoding.EncodeToString(proof))
}

func sum(key []byte, text string) []byte {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(text))
	return mac.Sum(nil)
}

var (
	kept     = map[string][]byte{}
	saltLock sync.Mutex
)

// salted is Hi() of RFC 5802, computed once: a client keeps it, and it is not the broker's work.
func salted(password, salt string, iterations int) []byte {
	saltLock.Lock()
	defer saltLock.Unlock()
	if found, known := kept[salt]; known {
		return found
	}
	raw, err := base64.StdEncoding.DecodeString(salt)
	check(err)
	block := sum([]byte(password), string(binary.BigEndian.AppendUint32(raw, 1)))
	result := append([]byte(nil), block...)
	for i := 1; i < iterations; i++ {
		block = sum([]byte(password), string(block))
		for j := range result {
			result[j] ^= block[j]
		}
	}
	if len(kept) > 100 {
		check(fmt.Errorf("a new salt with each log-in"))
	}
	kept[salt] = result
	return result
}
