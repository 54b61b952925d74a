"""The image of the cluster's metadata: values that everybody may read.

Records of the metadata log enter `ImageWriter`, the only writer of `MetadataImage`. A `MetadataDelta` with the changes
goes to the publishers. `node` is a node of this process as others see it.
"""
