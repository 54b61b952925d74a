"""Kafka's wire format: bytes to values and back. No I/O, no clock, no state.

Frames, headers, record batches and stored records enter as bytes; messages (plain slotted classes) leave, and the
other way round. The caller owns all buffers: a decoded `records` field is a view of the frame.

Messages. `data` has Kafka's field tables. `make generate` turns them into `generated/messages`: one module for each
API, with one class for all versions and its construct declarations. `schema.fold` reduces a declaration to one
construct for a version. `compiler` turns that into Python source over `(buffer, offset)`: a run of fixed-size fields
becomes one `struct`, a varint of one byte takes a fast path, records become a slice. The tests compare the compiled
code with the interpreted construct, with recordings of a real broker, and with an independent implementation of the
schemas. Interpreting is 20 to 40 times slower. construct's own compiler drops length checks, so it is unsafe on input
from the network.

Hot messages also have typed modules for mypyc in `generated/codecs`, generated from the same constructs. A struct has
one function for each of its layouts, which reads with a `Reader` or writes with a `Writer`; a message has one entry
point for all versions. A compiled installation always uses them. As plain Python they are slower than the code that is
compiled at run time, so a pure installation uses each of them for the first message only: then the first answer of a
broker does not wait for the import of construct. They have no error texts: a message that they refuse goes to the code
compiled at run time, which says what is wrong.

Damaged data raises `CorruptDataError` (`errors`), whatever holds it: a batch, a record, a compressed body, a
checkpoint file, a snapshot, an index. It is no `KafkaError`. Whoever answers requests turns it into Kafka's error
code.
"""
