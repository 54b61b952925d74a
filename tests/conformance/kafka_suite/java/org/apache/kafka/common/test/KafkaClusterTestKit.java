package org.apache.kafka.common.test;

import java.io.File;
import java.nio.file.Files;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Collectors;
import kafka.raft.KafkaRaftManager;
import kafka.server.BrokerServer;
import kafka.server.ControllerServer;
import kafka.server.KafkaConfig;
import odradek.Cluster;
import odradek.Inside;
import odradek.Odradek;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.security.auth.SecurityProtocol;
import org.apache.kafka.controller.Controller;
import org.apache.kafka.server.common.ApiMessageAndVersion;

/** Stands in for the class of this name in Kafka's test runtime: its cluster is a process of odradek. */
public class KafkaClusterTestKit implements AutoCloseable {
    private final TestKitNodes nodes;
    private final Cluster cluster;
    private final Map<Integer, ControllerServer> controllers = new HashMap<>();
    private final Map<Integer, KafkaRaftManager<ApiMessageAndVersion>> raft = new HashMap<>();
    private final Map<String, Short> features = new TreeMap<>();
    private final boolean dynamicVoters;
    private final boolean standalone;
    private final MockFaultHandler fatal = new MockFaultHandler("fatalFaultHandler");
    private final MockFaultHandler nonFatal = new MockFaultHandler("nonFatalFaultHandler");

    public static class Builder {
        private final TestKitNodes nodes;
        private final Map<String, Object> config = new HashMap<>();
        private boolean dynamicVoters;
        private boolean standalone;
        private boolean keepsDirectories;

        public Builder(TestKitNodes nodes) {
            this.nodes = nodes;
        }

        public Builder setConfigProp(String key, Object value) {
            config.put(key, value);
            return this;
        }

        public Builder setStandalone(boolean standalone) {
            dynamicVoters |= standalone;
            this.standalone |= standalone;
            return this;
        }

        public Builder setInitialVoterSet(Map<Integer, Uuid> voters) {
            voters.forEach((id, directory) -> {
                if (!directory.equals(nodes.controllerNodes().get(id).metadataDirectoryId()))
                    throw new Odradek.Refused("odradek makes the ids of directories");
            });
            dynamicVoters = true;
            return this;
        }

        public Builder setDeleteOnClose(boolean deletes) {
            keepsDirectories = !deletes;
            return this;
        }

        public KafkaClusterTestKit build() throws Exception {
            return new KafkaClusterTestKit(this);
        }

        /** What stands in the server.properties of a node. */
        private Map<String, String> properties(TestKitNode node, boolean controls) {
            Map<String, String> found = new HashMap<>();
            config.forEach((name, value) -> found.put(name, Cluster.text(value)));
            String broker = nodes.brokerListenerName().value();
            String controller = nodes.controllerListenerName().value();
            SecurityProtocol protocol = nodes.brokerListenerProtocol();
            if (protocol == SecurityProtocol.SASL_PLAINTEXT || protocol == SecurityProtocol.SASL_SSL) {
                found.putIfAbsent("sasl.enabled.mechanisms", "PLAIN");
                found.putIfAbsent("sasl.mechanism.inter.broker.protocol", "PLAIN");
                found.putIfAbsent("sasl.mechanism.controller.protocol", "PLAIN");
                found.putIfAbsent("authorizer.class.name", "org.apache.kafka.metadata.authorizer.StandardAuthorizer");
                found.putIfAbsent("allow.everyone.if.no.acl.found", "false");
                found.putIfAbsent("super.users", "User:" + JaasUtils.KAFKA_PLAIN_ADMIN);
            }
            found.putIfAbsent("listener.security.protocol.map", broker + ":" + protocol.name + "," + controller + ":"
                + nodes.controllerListenerProtocol().name);
            found.putIfAbsent("listeners", nodes.isCombined(node.id()) ? broker + "://localhost:0," + controller + "://localhost:0"
                : (controls ? controller : broker) + "://localhost:0");
            found.putIfAbsent("inter.broker.listener.name", broker);
            found.putIfAbsent("controller.listener.names", controller);
            found.put("process.roles", nodes.isCombined(node.id()) ? "broker,controller" : controls ? "controller" : "broker");
            found.put("node.id", "" + node.id());
            found.put("controller.quorum.voters", nodes.controllerNodes().keySet().stream()
                .map(id -> id + "@localhost:9093").collect(Collectors.joining(",")));
            found.put("metadata.log.dir", node.metadataDirectory());
            found.put("log.dirs", controls ? node.metadataDirectory() : String.join(",", node.logDataDirectories()));
            if (found.get("process.roles").equals("broker"))
                found.remove("controller.quorum.auto.join.enable");
            found.putAll(node.propertyOverrides());
            return found;
        }
    }

    private KafkaClusterTestKit(Builder builder) throws Exception {
        nodes = builder.nodes;
        dynamicVoters = builder.dynamicVoters;
        standalone = builder.standalone;
        if (nodes.brokerNodes().isEmpty())
            throw Inside.needed("a cluster of controllers alone");
        if (nodes.brokerListenerProtocol().name.startsWith("SASL"))
            logIns();
        SortedMap<Integer, Map<String, String>> properties = new TreeMap<>();
        nodes.brokerNodes().forEach((id, node) -> properties.put(id, builder.properties(node, false)));
        nodes.bootstrapMetadata().records().forEach(record -> {
            if (record.message() instanceof org.apache.kafka.common.metadata.FeatureLevelRecord level)
                features.put(level.name(), level.featureLevel());
        });
        cluster = new Cluster(properties, nodes.controllerListenerName().value(), List.of())
            .controlledBy(nodes.controllerNodes().keySet(), nodes.isCombined(nodes.controllerNodes().firstKey()))
            .formattedWith(features, nodes.clusterId());
        nodes.controllerNodes().forEach((id, node) -> cluster.withController(id, builder.properties(node, true)));
        if (dynamicVoters)
            cluster.withDynamicQuorum();
        if (builder.keepsDirectories)
            cluster.onDisk();
        nodes.brokerNodes().keySet().forEach(id -> raft.put(id, Cluster.raft(() -> cluster)));
        nodes.controllerNodes().keySet().forEach(id -> raft.put(id, Cluster.raft(() -> cluster)));
        nodes.controllerNodes().forEach((id, node) ->
            controllers.put(id, Cluster.controller(() -> cluster, id, () -> new KafkaConfig(builder.properties(node, true), false))));
    }

    /** Kafka's harness knows an administrator and a user. */
    private static void logIns() throws Exception {
        File file = File.createTempFile("jaas", ".conf");
        file.deleteOnExit();
        String admin = JaasUtils.KAFKA_PLAIN_ADMIN;
        Files.writeString(file.toPath(), JaasUtils.KAFKA_SERVER_CONTEXT_NAME
            + " { org.apache.kafka.common.security.plain.PlainLoginModule required username=\"" + admin + "\" password=\""
            + JaasUtils.KAFKA_PLAIN_ADMIN_PASSWORD + "\" \"user_" + admin + "\"=\"" + JaasUtils.KAFKA_PLAIN_ADMIN_PASSWORD
            + "\" \"user_" + JaasUtils.KAFKA_PLAIN_USER1 + "\"=\"" + JaasUtils.KAFKA_PLAIN_USER1_PASSWORD + "\"; };");
        JaasUtils.refreshJavaLoginConfigParam(file);
    }

    public void format() {
    }

    public void startup() {
        cluster.start();
        if (standalone)
            letOneVote();
    }

    /** In a cluster that is formatted so one controller votes; in odradek's all do at first. */
    private void letOneVote() {
        try (Admin admin = admin()) {
            for (int id : nodes.controllerNodes().tailMap(nodes.controllerNodes().firstKey() + 1).keySet())
                admin.removeRaftVoter(id, cluster.metadataDirectory(id)).all().get();
        } catch (Exception error) {
            throw new IllegalStateException(error);
        }
    }

    /** Levels of features besides those in the bootstrap records, which leave out level 0. */
    public void ask(Map<String, Short> levels) {
        features.putAll(levels);
    }

    public void waitForReadyBrokers() {
    }

    public Admin admin() {
        return admin(Map.of());
    }

    public Admin admin(Map<String, Object> configs) {
        return admin(configs, false);
    }

    public Admin admin(Map<String, Object> configs, boolean ofControllers) {
        Map<String, Object> found = new HashMap<>(configs);
        if (ofControllers) {
            found.putIfAbsent("bootstrap.controllers", bootstrapControllers());
            found.remove("bootstrap.servers");
        } else {
            found.putIfAbsent("bootstrap.servers", bootstrapServers());
            found.remove("bootstrap.controllers");
        }
        SecurityProtocol protocol = ofControllers ? nodes.controllerListenerProtocol() : nodes.brokerListenerProtocol();
        if (protocol == SecurityProtocol.SASL_PLAINTEXT) {
            found.putIfAbsent("security.protocol", protocol.name);
            found.putIfAbsent("sasl.mechanism", "PLAIN");
            found.putIfAbsent("sasl.jaas.config", "org.apache.kafka.common.security.plain.PlainLoginModule required username=\""
                + JaasUtils.KAFKA_PLAIN_ADMIN + "\" password=\"" + JaasUtils.KAFKA_PLAIN_ADMIN_PASSWORD + "\";");
        }
        return Admin.create(found);
    }

    public String bootstrapServers() {
        return cluster.bootstrapServers(nodes.brokerListenerName().value());
    }

    public String bootstrapControllers() {
        return cluster.bootstrapControllers();
    }

    public Map<Integer, ControllerServer> controllers() {
        return controllers;
    }

    public Controller waitForActiveController() {
        return controllers.values().iterator().next().controller();
    }

    public Map<Integer, BrokerServer> brokers() {
        return cluster.brokers();
    }

    public Map<Integer, KafkaRaftManager<ApiMessageAndVersion>> raftManagers() {
        return raft;
    }

    public TestKitNodes nodes() {
        return dynamicVoters ? knownByDirectory() : nodes;
    }

    /** The nodes of a quorum that knows its voters by their directories, which are those of odradek. */
    private TestKitNodes knownByDirectory() {
        SortedMap<Integer, TestKitNode> found = new TreeMap<>();
        nodes.controllerNodes().keySet().forEach(id -> found.put(id, Inside.of(TestKitNode.class, Map.of(
            "id", any -> id,
            "metadataDirectoryId", any -> cluster.metadataDirectory(id)))));
        return Inside.of(TestKitNodes.class, Map.of("controllerNodes", any -> found));
    }

    public MockFaultHandler fatalFaultHandler() {
        return fatal;
    }

    public MockFaultHandler nonFatalFaultHandler() {
        return nonFatal;
    }

    /** What the stand-ins of test contexts ask besides. */
    public Cluster cluster() {
        return cluster;
    }

    @Override
    public void close() {
        cluster.close();
    }
}
