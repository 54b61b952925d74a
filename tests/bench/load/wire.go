package main

import (
	"bufio"
	"crypto/tls"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"net"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// peer is one raw connection to a broker: requests go out as bytes, answers come back as bytes, no client library between.
type peer struct {
	socket net.Conn
	reader *bufio.Reader
	answer []byte
	number int32

	name, password string
}

var formatter = kmsg.NewRequestFormatter(kmsg.FormatterClientID("odradek-load"))

func connect(address string) *peer {
	socket, err := net.Dial("tcp", address)
	check(err)
	check(socket.(*net.TCPConn).SetNoDelay(true))
	if secure {
		socket = tls.Client(socket, &tls.Config{InsecureSkipVerify: true})
	}
	p := &peer{socket: socket, reader: bufio.NewReaderSize(socket, 1<<16)}
	if who != "" {
		p.name, p.password, _ = strings.Cut(who, ":")
		loginPlain(p)
	}
	return p
}

func (p *peer) write(frame []byte) {
	_, err := p.socket.Write(frame)
	check(err)
}

// read gives the next answer's bytes, from the correlation id on; they are valid until the next read.
func (p *peer) read() []byte {
	var size [4]byte
	_, err := io.ReadFull(p.reader, size[:])
	check(err)
	length := int(binary.BigEndian.Uint32(size[:]))
	if cap(p.answer) < length {
		p.answer = make([]byte, length)
	}
	p.answer = p.answer[:length]
	_, err = io.ReadFull(p.reader, p.answer)
	check(err)
	return p.answer
}

func (p *peer) frame(request kmsg.Request) []byte {
	p.number++
	return formatter.AppendRequest(nil, request, p.number)
}

func decode[R kmsg.Response](request kmsg.Request, answer []byte) R {
	response := request.ResponseKind()
	header := 4
	if response.IsFlexible() {
		header = 5 // an empty tag buffer ends the header
	}
	check(response.ReadFrom(answer[header:]))
	return response.(R)
}

func ask[R kmsg.Response](p *peer, request kmsg.Request) R {
	p.write(p.frame(request))
	return decode[R](request, p.read())
}

// recordBatch makes a batch of equal records, created now.
func recordBatch(count, size int, producer int64, epoch int16, sequence int32, transactional bool) []byte {
	value := make([]byte, size)
	for i := range value {
		value[i] = byte(i * 31)
	}
	var records []byte
	for i := 0; i < count; i++ {
		// attributes, timestamp delta, offset delta, null key, value, no headers
		body := binary.AppendVarint([]byte{0, 0}, int64(i))
		body = binary.AppendVarint(append(body, 1), int64(size))
		body = append(append(body, value...), 0)
		records = append(binary.AppendVarint(records, int64(len(body))), body...)
	}
	now := time.Now().UnixMilli()
	after := binary.BigEndian.AppendUint16(nil, uint16(flags(transactional)))
	after = binary.BigEndian.AppendUint32(after, uint32(count-1))
	after = binary.BigEndian.AppendUint64(after, uint64(now))
	after = binary.BigEndian.AppendUint64(after, uint64(now))
	after = binary.BigEndian.AppendUint64(after, uint64(producer))
	after = binary.BigEndian.AppendUint16(after, uint16(epoch))
	after = binary.BigEndian.AppendUint32(after, uint32(sequence))
	after = binary.BigEndian.AppendUint32(after, uint32(count))
	after = append(after, records...)
	batch := binary.BigEndian.AppendUint64(nil, 0)
	batch = binary.BigEndian.AppendUint32(batch, uint32(9+len(after)))
	batch = binary.BigEndian.AppendUint32(batch, 0xffffffff) // leader epoch: unknown
	batch = append(batch, 2)
	batch = binary.BigEndian.AppendUint32(batch, crc32.Checksum(after, crc32.MakeTable(crc32.Castagnoli)))
	return append(batch, after...)
}

func flags(transactional bool) int16 {
	if transactional {
		return 0x10
	}
	return 0
}

func expect(code int16, what string) {
	if code != 0 {
		check(fmt.Errorf("%s: error code %d", what, code))
	}
}
