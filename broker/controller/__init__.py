"""The controller: it decides what the cluster's metadata is, and owns the metadata log.

`Controller.ask(rule, ...)` is the way in; a reply leaves, and the log `__cluster_metadata-0` grows. `ControllerMachine`
runs on `broker/runtime` like the coordinators. The rules are the functions of the modules `*_control`, one module for
each family (topics, partitions, brokers, configs, features and so on). A rule reads the image and returns records and
the reply, or raises the error that Kafka would answer. A refusal changes nothing, because only replay changes anything.

The log. In memory it keeps the records as they are (`machine`). On disk it is a `PartitionLog` in Kafka's batches
(`disk_metadata_log`). Both take a snapshot of the image when the log has grown (`*.checkpoint`), and both begin a
higher epoch with each start.

Nodes. `Membership` registers the nodes with new incarnations at a start and unfences them, which elects leaders. A
clean end is Kafka's controlled shutdown. So a real Kafka finds the directory as its own broker would have left it.
`Quorum` says who votes and leads. All nodes are in one process, so each node that is up has the whole log; of a node
that went down the quorum keeps where its log ended. A controller's listener has its own `Dispatcher` with the handlers
of `broker/api/controller_listener`: the active controller serves them, the others answer NOT_CONTROLLER.

Directories. `DataDirectory` opens and closes the directories of a cluster. It sets aside folders that the metadata
does not know. It takes over directories of older formats together with the first records, so that either all of it is
in the log or nothing. Several directories are one medium (`node_directories`): a `NodeDirectories`
knows the home of each partition. A replica moves as a whole: copy, sync, rename, drop the old folder
(`storage/partition_folders`).
"""
