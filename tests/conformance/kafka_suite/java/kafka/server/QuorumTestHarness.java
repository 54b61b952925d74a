package kafka.server;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Stream;
import javax.security.auth.login.Configuration;
import kafka.integration.KafkaServerTestHarness;
import kafka.utils.Logging;
import kafka.utils.TestInfoUtils;
import odradek.Cluster;
import odradek.Inside;
import org.apache.kafka.clients.consumer.GroupProtocol;
import org.apache.kafka.common.security.auth.SecurityProtocol;
import org.apache.kafka.common.utils.Exit;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.metadata.storage.Formatter;
import org.apache.kafka.server.common.MetadataVersion;
import org.apache.kafka.server.fault.MockFaultHandler;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.params.provider.Arguments;
import scala.Option;
import scala.jdk.javaapi.CollectionConverters;

/** Stands in for the class of this name in Kafka's tests: its brokers are nodes of one process of odradek. */
@Tag("integration")
public abstract class QuorumTestHarness implements Logging {
    private static final int CONTROLLER = 1000;
    private final QuorumTestHarnessFaultHandlerFactory faults =
        new QuorumTestHarnessFaultHandlerFactory(new MockFaultHandler("odradek"));
    private String logIdent;
    private TestInfo test;
    private Cluster cluster;
    private ControllerServer controller;
    private final List<String> scramUsers = new ArrayList<>();
    private final Map<String, Short> features = new HashMap<>();
    private String clusterId;

    @Override
    public String logIdent() {
        return logIdent;
    }

    @Override
    public void logIdent_$eq(String ident) {
        logIdent = ident;
    }

    public static Stream<Arguments> getTestGroupProtocolParametersAll() {
        return QuorumTestHarness$.MODULE$.getTestGroupProtocolParametersAll();
    }

    public static Stream<Arguments> getTestGroupProtocolParametersClassicGroupProtocolOnly() {
        return QuorumTestHarness$.MODULE$.getTestGroupProtocolParametersClassicGroupProtocolOnly();
    }

    public static Stream<Arguments> getTestGroupProtocolParametersConsumerGroupProtocolOnly() {
        return QuorumTestHarness$.MODULE$.getTestGroupProtocolParametersConsumerGroupProtocolOnly();
    }

    public static void verifyNoUnexpectedThreads(String context) {
        QuorumTestHarness$.MODULE$.verifyNoUnexpectedThreads(context);
    }

    @BeforeAll
    public static void setUpClass() {
        verifyNoUnexpectedThreads("@BeforeAll");
    }

    @AfterAll
    public static void tearDownClass() {
        verifyNoUnexpectedThreads("@AfterAll");
    }

    public SecurityProtocol controllerListenerSecurityProtocol() {
        return SecurityProtocol.PLAINTEXT;
    }

    public scala.collection.Seq<SecurityProtocol> extraControllerSecurityProtocols() {
        return CollectionConverters.asScala(List.<SecurityProtocol>of());
    }

    public scala.collection.Seq<Properties> kraftControllerConfigs(TestInfo info) {
        return CollectionConverters.asScala(List.of(new Properties())).toSeq();
    }

    public MetadataVersion metadataVersion() {
        return MetadataVersion.latestTesting();
    }

    public QuorumImplementation implementation() {
        throw Inside.needed("QuorumImplementation");
    }

    public Option<GroupProtocol> maybeGroupProtocolSpecified() {
        return TestInfoUtils.maybeGroupProtocolSpecified(test);
    }

    public GroupProtocol groupProtocolFromTestParameters() {
        return maybeGroupProtocolSpecified().get();
    }

    public ControllerServer controllerServer() {
        return controller;
    }

    public scala.collection.Seq<ControllerServer> controllerServers() {
        return CollectionConverters.asScala(List.of(controller)).toSeq();
    }

    public QuorumTestHarnessFaultHandlerFactory faultHandlerFactory() {
        return faults;
    }

    public MockFaultHandler faultHandler() {
        return faults.faultHandler();
    }

    public void addFormatterSettings(Formatter formatter) {
    }

    public KRaftQuorumImplementation newKRaftQuorum(TestInfo info, Properties overriding) {
        throw Inside.needed("KRaftQuorumImplementation");
    }

    @BeforeEach
    public void setUp(TestInfo info) {
        test = info;
        Exit.setExitProcedure((code, message) -> {
            throw new RuntimeException("exit(" + code + ", " + message + ") called!");
        });
        Exit.setHaltProcedure((code, message) -> {
            throw new RuntimeException("halt(" + code + ", " + message + ") called!");
        });
        scramUsers.clear();
        features.clear();
        clusterId = null;
        cluster = null;
        Formatter[] self = new Formatter[1];
        self[0] = Inside.of(Formatter.class, Map.of(
            "setScramArguments", users -> {
                scramUsers.addAll((List<String>) users[0]);
                return self[0];
            },
            "setClusterId", id -> {
                clusterId = (String) id[0];
                return self[0];
            },
            "setFeatureLevel", of -> {
                features.put((String) of[0], (Short) of[1]);
                return self[0];
            }));
        addFormatterSettings(self[0]);
        features.put(MetadataVersion.FEATURE_NAME, metadataVersion().featureLevel());
        controller = Cluster.controller(() -> cluster, CONTROLLER, () -> controllerConfig(info));
    }

    private static Map<String, String> onDisk(Map<String, String> values) {
        values.put("metadata.log.dir", org.apache.kafka.test.TestUtils.tempDirectory().getAbsolutePath());
        return values;
    }

    private Map<String, String> ofController(TestInfo info) {
        Map<String, String> found = new HashMap<>();
        CollectionConverters.asJava(kraftControllerConfigs(info)).get(0).forEach((name, value) -> found.put((String) name, Cluster.text(value)));
        found.put("unstable.feature.versions.enable", "true");  // as Kafka's harness does
        found.put("log.segment.delete.delay.ms", "1000");
        for (SecurityProtocol extra : CollectionConverters.asJava(extraControllerSecurityProtocols())) {
            found.merge("listeners", "CONTROLLER://localhost:0", (told, any) -> told);
            found.merge("controller.listener.names", "CONTROLLER", (told, any) -> told);
            found.merge("listeners", "," + extra + "://localhost:0", String::concat);
            found.merge("controller.listener.names", "," + extra, String::concat);
        }
        return found;
    }

    private KafkaConfig controllerConfig(TestInfo info) {
        Map<String, Object> found = new HashMap<>(ofController(info));
        found.put("process.roles", "controller");
        found.put("node.id", "" + CONTROLLER);
        found.putIfAbsent("listeners", "CONTROLLER://localhost:0");
        found.putIfAbsent("controller.listener.names", "CONTROLLER");
        String map = "CONTROLLER:" + controllerListenerSecurityProtocol();
        for (SecurityProtocol extra : CollectionConverters.asJava(extraControllerSecurityProtocols()))
            map += "," + extra + ":" + extra;
        found.put("listener.security.protocol.map", map);
        found.put("controller.quorum.voters", CONTROLLER + "@localhost:9093");
        return new KafkaConfig(found, false);
    }

    public KafkaBroker createBroker(KafkaConfig config, Time time, boolean starts, Option<String> threads) {
        if (time != Time.SYSTEM)
            throw Inside.needed("a clock that the test moves");
        Map<String, String> asked = properties(config);
        if (cluster == null) {
            SortedMap<Integer, Map<String, String>> nodes = new TreeMap<>();
            if (this instanceof KafkaServerTestHarness harness)
                CollectionConverters.asJava(harness.configs()).forEach(each -> nodes.put(each.brokerId(), properties(each)));
            nodes.put(config.brokerId(), asked);
            cluster = new Cluster(nodes, "CONTROLLER", scramUsers);
            cluster.controlledBy(List.of(CONTROLLER), false).formattedWith(features, clusterId)
                .withController(CONTROLLER, onDisk(ofController(test))).withFaultHandler(faultHandler());
        } else if (!cluster.isOf(config.brokerId(), asked))
            cluster.configure(config.brokerId(), asked);
        KafkaBroker broker = cluster.brokers().get(config.brokerId());
        if (starts)
            broker.startup();
        return broker;
    }

    /** What the test and the harness itself ask for. */
    private static Map<String, String> properties(KafkaConfig config) {
        Map<String, String> found = new HashMap<>();
        config.originals().forEach((name, value) -> {
            if (value != null)
                found.put(name, Cluster.text(value));
        });
        return found;
    }

    public Time createBroker$default$2() {
        return Time.SYSTEM;
    }

    public boolean createBroker$default$3() {
        return true;
    }

    public Option<String> createBroker$default$4() {
        return Option.empty();
    }

    public void shutdownKRaftController() {
        throw Inside.needed("a controller that is not there");
    }

    @AfterEach
    public void tearDown() {
        Exit.resetExitProcedure();
        Exit.resetHaltProcedure();
        if (cluster != null)
            cluster.close();
        kafka.utils.TestUtils.clearYammerMetrics();
        System.clearProperty("java.security.auth.login.config");
        Configuration.setConfiguration(null);
        faultHandler().maybeRethrowFirstException();
    }
}
