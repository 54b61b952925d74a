"""The image of the cluster's metadata: values that everybody may read.

Records of the metadata log enter `ImageWriter`, the only writer of `MetadataImage`. Its values are immutable and
replaced one by one, so a change costs what it touches: the 10,001st topic costs what the first did. A `MetadataDelta`
names the changes with the values before, and goes to the publishers within the step of the change: dynamic configs,
nodes, the partition registry, the coordinators, maintenance. `snapshot` has the records that lead from one image to
another. `node` is a node of this process as others see it.
"""
