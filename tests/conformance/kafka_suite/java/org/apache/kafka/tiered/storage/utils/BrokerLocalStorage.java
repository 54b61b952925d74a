package org.apache.kafka.tiered.storage.utils;

import java.io.File;
import java.io.FilenameFilter;
import java.util.Set;
import odradek.Cluster;
import odradek.Inside;
import org.apache.kafka.common.TopicPartition;

/** Stands in for the class of this name in Kafka's tests: it asks where logs begin locally, and looks at no files. */
public final class BrokerLocalStorage {
    private final Integer brokerId;
    private final int seconds;

    public BrokerLocalStorage(Integer brokerId, Set<String> directories, Integer seconds) {
        this.brokerId = brokerId;
        this.seconds = seconds;
    }

    public Integer getBrokerId() {
        return brokerId;
    }

    public void waitForAtLeastEarliestLocalOffset(TopicPartition partition, Long offset) throws Exception {
        long deadline = System.currentTimeMillis() + seconds * 1000L;
        while (Cluster.newest().localLogStartOffset(partition) < offset) {
            if (System.currentTimeMillis() > deadline)
                throw new AssertionError("the local log of " + partition + " begins before " + offset);
            Thread.sleep(100);
        }
    }

    public void waitForEarliestLocalOffset(TopicPartition partition, Long offset) {
        throw Inside.needed("the files of a broker, which keeps all in memory");
    }

    public Set<File> getBrokerStorageDirectories() {
        throw Inside.needed("the files of a broker, which keeps all in memory");
    }

    public void eraseStorage(FilenameFilter filter) {
        throw Inside.needed("the files of a broker, which keeps all in memory");
    }

    public boolean dirContainsTopicPartition(TopicPartition partition, File directory) {
        throw Inside.needed("the files of a broker, which keeps all in memory");
    }
}
