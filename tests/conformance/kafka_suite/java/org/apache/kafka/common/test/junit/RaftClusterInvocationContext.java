package org.apache.kafka.common.test.junit;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import kafka.server.ControllerServer;
import kafka.server.KafkaBroker;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.GroupProtocol;
import org.apache.kafka.common.acl.AccessControlEntry;
import org.apache.kafka.common.acl.AclBindingFilter;
import org.apache.kafka.common.network.ListenerName;
import org.apache.kafka.common.test.ClusterInstance;
import org.apache.kafka.common.test.KafkaClusterTestKit;
import org.apache.kafka.common.test.TestKitNodes;
import org.apache.kafka.common.test.api.ClusterConfig;
import org.apache.kafka.common.test.api.Type;
import org.apache.kafka.metadata.bootstrap.BootstrapMetadata;
import org.apache.kafka.server.common.Feature;
import org.apache.kafka.server.common.MetadataVersion;
import org.apache.kafka.server.fault.FaultHandlerException;
import org.junit.jupiter.api.extension.AfterTestExecutionCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.Extension;
import org.junit.jupiter.api.extension.TestTemplateInvocationContext;

/** Stands in for the class of this name in Kafka's test runtime: it gives a `@ClusterTest` a cluster of odradek. */
public class RaftClusterInvocationContext implements TestTemplateInvocationContext {
    private final String name;
    private final ClusterConfig config;
    private final boolean combined;

    public RaftClusterInvocationContext(String name, ClusterConfig config, boolean combined) {
        this.name = name;
        this.config = config;
        this.combined = combined;
    }

    @Override
    public String getDisplayName(int invocation) {
        return name + " [" + invocation + "] " + (combined ? "combined" : "isolated");
    }

    @Override
    public List<Extension> getAdditionalExtensions() {
        Instance instance = new Instance();
        return List.of(
            (BeforeEachCallback) context -> {
                if (config.isAutoStart())
                    instance.start();
                else
                    instance.build();
            },
            (AfterTestExecutionCallback) context -> instance.stop(),
            new ClusterInstanceParameterResolver(instance));
    }

    private final class Instance implements ClusterInstance {
        private KafkaClusterTestKit kit;
        private boolean started;
        private boolean stopped;

        void build() {
            if (kit != null)
                return;
            Map<String, Short> features = new java.util.TreeMap<>();
            for (Feature feature : Feature.PRODUCTION_FEATURES)
                features.put(feature.featureName(), feature.defaultLevel(config.metadataVersion()));
            config.features().forEach((feature, level) -> features.put(feature.featureName(), level));
            features.put(MetadataVersion.FEATURE_NAME, config.metadataVersion().featureLevel());
            TestKitNodes nodes = new TestKitNodes.Builder()
                .setBootstrapMetadata(BootstrapMetadata.fromVersions(config.metadataVersion(), features, "odradek"))
                .setCombined(combined)
                .setNumBrokerNodes(config.numBrokers())
                .setNumDisksPerBroker(config.numDisksPerBroker())
                .setPerServerProperties(config.perServerOverrideProperties())
                .setNumControllerNodes(config.numControllers())
                .setBrokerListenerName(config.brokerListenerName())
                .setBrokerSecurityProtocol(config.brokerSecurityProtocol())
                .setControllerListenerName(config.controllerListenerName())
                .setControllerSecurityProtocol(config.controllerSecurityProtocol())
                .build();
            KafkaClusterTestKit.Builder builder = new KafkaClusterTestKit.Builder(nodes);
            builder.setStandalone(config.standalone());
            config.serverProperties().forEach(builder::setConfigProp);
            try {
                kit = builder.build();
                kit.ask(features);
            } catch (RuntimeException error) {
                throw error;
            } catch (Exception error) {
                throw new IllegalStateException(error);
            }
        }

        @Override
        public Type type() {
            return combined ? Type.CO_KRAFT : Type.KRAFT;
        }

        @Override
        public Map<Integer, KafkaBroker> brokers() {
            return kit.brokers().entrySet().stream().collect(Collectors.toMap(Map.Entry::getKey, Map.Entry::getValue));
        }

        @Override
        public Map<Integer, ControllerServer> controllers() {
            return kit.controllers();
        }

        @Override
        public ClusterConfig config() {
            return config;
        }

        @Override
        public Set<Integer> controllerIds() {
            return kit.controllers().keySet();
        }

        @Override
        public ListenerName clientListener() {
            return config.brokerListenerName();
        }

        @Override
        public ListenerName controllerListenerName() {
            return config.controllerListenerName();
        }

        @Override
        public String bootstrapServers() {
            return kit.bootstrapServers();
        }

        @Override
        public String bootstrapControllers() {
            return kit.bootstrapControllers();
        }

        @Override
        public String clusterId() {
            return kit.cluster().clusterId();
        }

        @Override
        public Set<GroupProtocol> supportedGroupProtocols() {
            Short level = config.features().get(Feature.GROUP_VERSION);
            return level != null && level == 0 ? Set.of(GroupProtocol.CLASSIC) : Set.of(GroupProtocol.CLASSIC, GroupProtocol.CONSUMER);
        }

        @Override
        public Optional<FaultHandlerException> firstFatalException() {
            return Optional.empty();
        }

        @Override
        public Optional<FaultHandlerException> firstNonFatalException() {
            return Optional.empty();
        }

        @Override
        public void start() {
            build();
            if (!started) {
                started = true;
                kit.startup();
            }
        }

        @Override
        public boolean started() {
            return started;
        }

        @Override
        public void stop() {
            if (!stopped) {
                stopped = true;
                if (kit != null)
                    kit.close();
            }
        }

        @Override
        public boolean stopped() {
            return stopped;
        }

        @Override
        public void shutdownBroker(int id) {
            kit.cluster().stopNode(id);
        }

        @Override
        public void startBroker(int id) {
            kit.cluster().startNode(id);
        }

        @Override
        public void waitForReadyBrokers() {
        }

        @Override
        public void waitTopicCreation(String topic, int partitions) throws InterruptedException {
            if (partitions <= 0)
                throw new IllegalArgumentException("Partition count must be > 0, but was " + partitions);
            until(topic + " is there", () -> {
                JsonNode found = kit.cluster().topic(topic);
                return found != null && found.path("partitions").size() == partitions;
            });
        }

        @Override
        public void waitTopicDeletion(String topic) throws InterruptedException {
            until(topic + " is gone", () -> kit.cluster().topic(topic) == null);
        }

        @Override
        public void ensureConsistentMetadata() {
        }

        @Override
        public void ensureConsistentMetadata(Collection<KafkaBroker> brokers, Collection<ControllerServer> controllers) {
        }

        @Override
        public void waitAcls(AclBindingFilter filter, Collection<AccessControlEntry> entries) throws InterruptedException {
            Admin admin = kit.cluster().admin();  // the test's own may lack the right to look
            until("the access control entries are there", () -> {
                Set<AccessControlEntry> found = new HashSet<>();
                admin.describeAcls(filter).values().get().forEach(binding -> found.add(binding.entry()));
                return found.equals(new HashSet<>(entries));
            });
        }

        @Override
        public List<org.apache.kafka.server.authorizer.Authorizer> authorizers() {
            throw odradek.Inside.needed("Authorizer");
        }

        private interface Condition {
            boolean holds() throws Exception;
        }

        private void until(String what, Condition condition) throws InterruptedException {
            long deadline = System.currentTimeMillis() + 15_000;
            Exception last = null;
            while (System.currentTimeMillis() < deadline) {
                try {
                    if (condition.holds())
                        return;
                } catch (InterruptedException interrupted) {
                    throw interrupted;
                } catch (Exception error) {
                    last = error;
                }
                Thread.sleep(10);
            }
            throw new AssertionError("not within 15 s: " + what, last);
        }
    }
}
