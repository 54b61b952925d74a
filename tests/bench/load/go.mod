module odradek/tests/bench/load

go 1.21

require github.com/twmb/franz-go/pkg/kmsg v1.9.0
