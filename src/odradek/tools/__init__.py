"""The commands of Kafka that compose files, health checks and tutorials call, over the wire client.

`odradek tools NAME ...`; the image has them under their own names. `options` has the table of names and options, the
other modules a function for each name: options enter, lines leave as Kafka's tools of 4.4 print them. Nothing here owns
state.
"""
