package odradek;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.File;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Properties;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ForkJoinWorkerThread;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import javax.security.auth.login.AppConfigurationEntry;
import javax.security.auth.login.Configuration;
import kafka.cluster.Partition;
import kafka.log.LogManager;
import kafka.network.SocketServer;
import kafka.raft.KafkaRaftManager;
import kafka.server.BrokerServer;
import kafka.server.ClientRequestQuotaManager;
import kafka.server.ControllerServer;
import kafka.server.KafkaApis;
import kafka.server.KafkaConfig;
import kafka.server.QuotaFactory.QuotaManagers;
import kafka.server.ReplicaManager;
import kafka.server.ReplicationQuotaManager;
import kafka.server.SharedServer;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.QuorumInfo;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.acl.AclBinding;
import org.apache.kafka.common.acl.AclBindingFilter;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.common.config.ConfigException;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.config.types.Password;
import org.apache.kafka.common.internals.Plugin;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.metrics.Quota;
import org.apache.kafka.common.network.ChannelBuilders;
import org.apache.kafka.common.network.ListenerName;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.quota.ClientQuotaEntity;
import org.apache.kafka.common.quota.ClientQuotaFilter;
import org.apache.kafka.common.security.auth.AuthenticateCallbackHandler;
import org.apache.kafka.common.security.auth.KafkaPrincipal;
import org.apache.kafka.common.security.auth.KafkaPrincipalBuilder;
import org.apache.kafka.common.security.auth.SecurityProtocol;
import org.apache.kafka.common.security.scram.ScramCredential;
import org.apache.kafka.common.security.scram.internals.ScramMechanism;
import org.apache.kafka.common.security.token.delegation.DelegationToken;
import org.apache.kafka.common.security.token.delegation.internals.DelegationTokenCache;
import org.apache.kafka.common.utils.Utils;
import org.apache.kafka.controller.Controller;
import org.apache.kafka.controller.ResultOrError;
import org.apache.kafka.coordinator.group.GroupCoordinator;
import org.apache.kafka.image.loader.MetadataLoader;
import org.apache.kafka.metadata.BrokerState;
import org.apache.kafka.metadata.KRaftMetadataCache;
import org.apache.kafka.metadata.LeaderAndIsr;
import org.apache.kafka.metadata.LeaderRecoveryState;
import org.apache.kafka.metadata.authorizer.StandardAuthorizer;
import org.apache.kafka.raft.KafkaRaftClient;
import org.apache.kafka.raft.LeaderAndEpoch;
import org.apache.kafka.raft.LogOffsetMetadata;
import org.apache.kafka.raft.RaftLog;
import org.apache.kafka.security.CredentialProvider;
import org.apache.kafka.server.BrokerLifecycleManager;
import org.apache.kafka.server.authorizer.AclCreateResult;
import org.apache.kafka.server.authorizer.AclDeleteResult;
import org.apache.kafka.server.authorizer.Authorizer;
import org.apache.kafka.server.fault.FaultHandler;
import org.apache.kafka.server.quota.ClientQuotaManager;
import org.apache.kafka.server.quota.ControllerMutationQuotaManager;
import org.apache.kafka.storage.internals.log.LogConfig;
import org.apache.kafka.storage.internals.log.UnifiedLog;
import scala.Option;

/** A cluster of brokers that is one process of odradek, and the objects that tests ask about its nodes. */
public final class Cluster implements AutoCloseable {
    /** Of one node's machine, role and log-in at the others: they say nothing about a process that is the whole cluster. */
    private static final Set<String> OF_THE_HARNESS = Set.of(
        "process.roles", "node.id", "broker.id", "controller.quorum.voters", "controller.quorum.bootstrap.servers",
        "log.dirs", "log.dir", "metadata.log.dir", "listeners", "advertised.listeners", "sasl.client.callback.handler.class");
    /** Where odradek has defaults of its own. */
    private static final Map<String, String> KAFKAS_DEFAULTS = Map.of(
        "group.initial.rebalance.delay.ms", "3000", "group.streams.initial.rebalance.delay.ms", "3000");
    /** Of each node's machine; clients trust the keys of all, and here all nodes show those of the first. */
    private static final Pattern OF_A_MACHINE = Pattern.compile("(^|\\.)ssl\\.(keystore|truststore|key)\\.");
    /** What a controller has by itself. In all else one that says nothing takes what the brokers have, and
     *  so does one with a class of the test's own: a test that needs what this refuses fails. */
    private static final Pattern OF_SEPARATE_CONTROLLERS = Pattern.compile("^(authorizer\\.|super\\.users|allow\\.everyone|unstable\\."
        + "|num\\.partitions|default\\.replication|log\\.|compression\\.|message\\.|delete\\.topic)");
    private static final Set<ConfigEntry.ConfigSource> OWN = Set.of(ConfigEntry.ConfigSource.DYNAMIC_TOPIC_CONFIG,
        ConfigEntry.ConfigSource.DYNAMIC_GROUP_CONFIG, ConfigEntry.ConfigSource.DYNAMIC_BROKER_CONFIG);
    private static final Set<ConfigEntry.ConfigSource> DYNAMIC = Set.of(ConfigEntry.ConfigSource.DYNAMIC_BROKER_CONFIG,
        ConfigEntry.ConfigSource.DYNAMIC_DEFAULT_BROKER_CONFIG);
    private static final long CONFIGS_STAND_NS = TimeUnit.MILLISECONDS.toNanos(100);
    private static final String BUILDER = "principal.builder.class";
    private static final String PASSWORDS = "plain.sasl.server.callback.handler.class";
    private static final String OWN_USER = "odradek-suite";
    private static final String PLAIN = "org.apache.kafka.common.security.plain.PlainLoginModule required";

    private static final Set<String> DECIDES = Set.of("authorize", "authorizeByResourceType", "acls", "configure", "start");

    private static volatile Cluster newest;

    private final SortedMap<Integer, KafkaConfig> configs;
    private final SortedMap<Integer, Map<String, String>> properties;
    private final Map<Integer, BrokerServer> brokers = new LinkedHashMap<>();
    private final Set<Integer> down = ConcurrentHashMap.newKeySet();
    private final Map<String, Integer> ports = new HashMap<>();
    private final String controllerListener;
    private final List<String> scramUsers;
    private final SortedMap<Integer, Integer> controllers = new TreeMap<>();
    /** What stands in the server.properties of controllers that are no brokers. */
    private final Map<Integer, Map<String, String>> ofControllers = new TreeMap<>();
    /** Of controllers with several listeners: the port by the listener's name. */
    private final Map<Integer, Map<String, Integer>> furtherPorts = new HashMap<>();
    private boolean combined;
    private boolean dynamicQuorum;
    private boolean onDisk;
    private final boolean isFormatted;
    private Map<String, Short> features = Map.of();
    private String formattedId;
    private final String own;
    /** What all nodes have in common, and the names of all that they asked for. */
    private Map<String, String> shared = Map.of();
    private final Set<String> asked = new HashSet<>();
    /** Nodes that have not joined yet, and those that start next with another configuration. */
    private final Set<Integer> joining = new HashSet<>();
    private final Set<Integer> changed = new HashSet<>();
    private final Map<Integer, Map<String, Integer>> portsOfLater = new HashMap<>();
    /** Nodes to start with; the process begins when something is asked of it, as a test may add a node until then. */
    private final Set<Integer> wanted = ConcurrentHashMap.newKeySet();
    /** What was changed while the cluster runs, and when it was asked. */
    private final Map<Integer, KafkaConfig> configsNow = new HashMap<>();
    private long configsAsked;
    private Odradek process;
    private boolean closed;
    private FaultHandler faults;
    private Principals principals;
    private BrokerMetrics metrics;
    private Admin admin;
    private String clusterId;

    /** Properties by the id of the broker, as they would stand in its server.properties. In memory. */
    public Cluster(SortedMap<Integer, Map<String, String>> properties, String controllerListener, List<String> scramUsers) {
        this.properties = properties;
        this.controllerListener = controllerListener;
        this.scramUsers = scramUsers;
        this.configs = new TreeMap<>();
        properties.forEach((id, values) -> configs.put(id, new KafkaConfig(values, false)));
        boolean open = properties.get(properties.firstKey()).getOrDefault("authorizer.class.name", "").isEmpty();
        boolean reachable = properties.values().stream().map(node -> node.getOrDefault("advertised.listeners", ""))
            .allMatch(told -> told.matches("(\\w+://localhost:\\d+,?)*"));
        this.own = open && reachable && plainListener().isPresent() ? null : "SUITE";
        this.isFormatted = properties.values().stream().anyMatch(Cluster::isFormatted);
        properties.keySet().forEach(id -> brokers.put(id, broker(id)));
    }

    /** The ids of the controllers, which are nodes of their own unless they are `together` with brokers. */
    public Cluster controlledBy(Collection<Integer> ids, boolean together) {
        combined = together;
        ids.forEach(id -> controllers.put(id, 0));
        return this;
    }

    /** A cluster whose directories are kept when it ends. */
    public Cluster onDisk() {
        onDisk = true;
        return this;
    }

    /** Properties of a controller of its own, as they would stand in its server.properties. */
    public Cluster withController(int id, Map<String, String> values) {
        ofControllers.put(id, values);
        return this;
    }

    public Cluster withFaultHandler(FaultHandler handler) {
        faults = handler;
        return this;
    }

    /** A quorum that is told no voters (KIP-853). */
    public Cluster withDynamicQuorum() {
        if (combined && !properties.keySet().equals(controllers.keySet()))
            throw new Odradek.Refused("where no voters are named, every node of odradek is broker and controller");
        dynamicQuorum = true;
        return this;
    }

    /** The levels of features, and the id (null for a random one), that the cluster is formatted with. */
    public Cluster formattedWith(Map<String, Short> levels, String id) {
        features = levels;
        formattedId = id;
        return this;
    }

    /** Whether a node has this configuration. */
    public boolean isOf(int id, Map<String, String> asked) {
        return asked.equals(properties.get(id));
    }

    /** A further node, which joins if the cluster runs, or another configuration of a node that is down. */
    public void configure(int id, Map<String, String> values) {
        if (process != null) {
            down.add(id);
            (properties.containsKey(id) ? changed : joining).add(id);
        }
        properties.put(id, values);
        configs.put(id, new KafkaConfig(values, false));
        brokers.put(id, broker(id));
    }

    /** What a node that starts later has of its own. */
    private Map<String, String> own(int id) {
        Map<String, String> node = properties.get(id);
        Map<String, String> found = new TreeMap<>();
        Set<String> names = new HashSet<>(node.keySet());
        names.addAll(asked);
        names.removeAll(OF_THE_HARNESS);
        names.removeIf(name -> OF_A_MACHINE.matcher(name).find());
        for (String name : names) {
            String value = decidingAuthorizer(node.get(name));
            refuseClassesOfTheTest(name, value);
            Object usual = KafkaConfig.configDef().defaultValues().get(name);
            if (value == null && usual != null && usual != ConfigDef.NO_DEFAULT_VALUE)
                value = text(usual);
            if (value != null && !value.equals(shared.get(name)))
                found.put(name, value);
        }
        return found;
    }

    /** Listeners of a node that joins, under the names that all have. */
    private String ownListeners(int id) {
        Map<String, Integer> own = portsOfLater.computeIfAbsent(id, any -> new TreeMap<>());
        ports.keySet().stream().filter(name -> !name.equals(controllerListener))
            .forEach(name -> own.computeIfAbsent(name, any -> Odradek.freePorts(1)));
        return own.entrySet().stream().map(each -> each.getKey() + "://localhost:" + each.getValue()).collect(Collectors.joining(","));
    }

    private synchronized Odradek running() {
        if (process == null && !wanted.isEmpty()) {
            start();
            properties.keySet().stream().filter(id -> !wanted.contains(id)).forEach(this::stopNode);
        }
        if (process == null)
            throw new IllegalStateException("the cluster has not started");
        return process;
    }

    /** Whether its nodes were started, and none is up. */
    private boolean isEnded() {
        return process != null && down.containsAll(properties.keySet());
    }

    /** Start all nodes. */
    public void start() {
        int first = properties.firstKey();
        if (properties.lastKey() - first + 1 != properties.size())
            throw new Odradek.Refused("the ids of odradek's nodes follow each other, but these do not: " + properties.keySet());
        SortedMap<Integer, Map<String, String>> ofNodes = new TreeMap<>();
        combined |= areOnDisk() && dynamicQuorum;  // on a disk it is that of one node
        Map<String, String> config = common(ofNodes);
        config.put("node.id", "" + first);
        config.put("listeners", listeners());
        if (combined && !dynamicQuorum)
            controllers.keySet().stream().filter(id -> !properties.containsKey(id))
                .forEach(id -> ofNodes.computeIfAbsent(id, any -> new TreeMap<>()).put("process.roles", "controller"));
        if (!combined)
            ofControllers.forEach((id, values) -> {
                if (values.getOrDefault("listeners", "").contains(","))
                    ofNodes.computeIfAbsent(id, any -> new TreeMap<>()).put("listeners", listenersOfController(id, values.get("listeners")));
            });
        String advertised = portsFollow() ? properties.get(first).get("advertised.listeners") : null;
        if (advertised != null)  // one for each node where they differ
            advertised = properties.values().stream().map(node -> node.get("advertised.listeners")).distinct()
                .collect(Collectors.joining(","));
        if (advertised == null)  // Kafka's default; odradek's is what the client has dialled
            advertised = Arrays.stream(config.get("listeners").split(","))
                .filter(listener -> !listener.startsWith(controllerListener + ":")).collect(Collectors.joining(","));
        else if (own != null)
            advertised += "," + own + "://localhost:" + ports.get(own);
        config.put("advertised.listeners", advertised);
        config.put("controller.listener.names", controllerListener);
        config.put("process.roles", combined ? "broker,controller" : "broker");
        if (!dynamicQuorum)
            config.put("controller.quorum.voters", bootstrapControllers(true));
        else if (!areOnDisk())
            config.put("controller.quorum.bootstrap.servers", bootstrapControllers(false));
        loginModules(config);
        if (own != null) {
            String all = config.getOrDefault("super.users", "");
            config.put("super.users", (all.isEmpty() ? "" : all + ";") + "User:" + OWN_USER);
            ofNodes.values().forEach(node -> node.computeIfPresent("super.users", (any, users) -> users + ";User:" + OWN_USER));
        }
        List<String> more = new ArrayList<>();
        ofNodes.forEach((id, values) -> values.forEach((name, value) -> more.addAll(List.of("--node-config", id + ":" + name + "=" + value))));
        for (String user : scramUsers)
            more.addAll(List.of("--add-scram", user));
        if (!isFormatted)
            more.addAll(Features.options(features));
        if (!isFormatted && formattedId != null)
            more.addAll(List.of("--cluster-id", formattedId));
        Map<String, String> environment = new HashMap<>();
        String kerberos = System.getProperty("java.security.krb5.conf");
        if (kerberos != null)
            environment.put("KRB5_CONFIG", kerberos);
        Map<String, KafkaPrincipalBuilder> builders = principalBuilders();
        Map<String, AuthenticateCallbackHandler> passwords = passwordHandlers();
        try {
            if (!builders.isEmpty() || !passwords.isEmpty()) {
                principals = new Principals(builders, passwords);
                environment.put("ODRADEK_SUITE_PRINCIPALS", principals.address());
            }
            shared = config;
            process = Odradek.start(properties.size(), config, more, environment);
            metrics = new BrokerMetrics(process);
            newest = this;
        } catch (IOException error) {
            throw new IllegalStateException(error);
        }
        down.clear();
    }

    /** An administrator who may do everything. */
    public synchronized Admin admin() {
        if (process == null && wanted.isEmpty() || isEnded())
            throw Inside.needed("a controller while no broker runs");
        if (admin == null) {
            running();
            Map<String, Object> config = new HashMap<>();
            if (own == null) {
                config.put("bootstrap.servers", bootstrapServers(plainListener().orElseThrow()));
            } else {
                config.put("bootstrap.servers", bootstrapServers(own));
                config.put("security.protocol", "SASL_PLAINTEXT");
                config.put("sasl.mechanism", "PLAIN");
                config.put("sasl.jaas.config", PLAIN + " username=\"" + OWN_USER + "\" password=\"" + OWN_USER + "\";");
            }
            admin = Admin.create(config);
        }
        return admin;
    }

    /** A listener through which anybody may do everything, where nobody needs rights. */
    private Optional<String> plainListener() {
        KafkaConfig any = configs.get(configs.firstKey());
        return Arrays.stream(properties.get(properties.firstKey()).get("listeners").split(","))
            .map(listener -> listener.substring(0, listener.indexOf("://")).trim())
            .filter(name -> !name.equals(controllerListener))
            .filter(name -> any.effectiveListenerSecurityProtocolMap().get(ListenerName.normalised(name)) == SecurityProtocol.PLAINTEXT)
            .findFirst();
    }

    /** Whether a broker has a directory of a cluster that ran before. */
    private static boolean isFormatted(Map<String, String> node) {
        return Arrays.stream(node.getOrDefault("log.dirs", "").split(",")).anyMatch(path -> new File(path, "meta.properties").exists());
    }

    /** Brokers with one directory each keep all in memory. */
    private boolean areOnDisk() {
        return onDisk || isFormatted || properties.values().stream().anyMatch(node -> node.getOrDefault("log.dirs", "").contains(","));
    }

    /** What all nodes have in common. What differs is put into `ofNodes`. */
    private Map<String, String> common(SortedMap<Integer, Map<String, String>> ofNodes) {
        Map<String, String> found = new TreeMap<>();
        Map<Integer, Map<String, String>> all = new TreeMap<>(properties);
        if (!combined || !dynamicQuorum)
            ofControllers.forEach(all::putIfAbsent);
        Set<String> names = new HashSet<>();
        all.values().forEach(values -> names.addAll(values.keySet()));
        names.removeAll(OF_THE_HARNESS);
        asked.addAll(names);
        for (String name : names) {
            List<String> values = properties.values().stream().map(node -> node.get(name)).map(Cluster::decidingAuthorizer).toList();
            if ((name.endsWith(BUILDER) || name.endsWith("." + PASSWORDS)) && values.stream().allMatch(Cluster::isOfTheTest))
                continue;
            values.forEach(value -> refuseClassesOfTheTest(name, value));
            String shared = values.get(0);
            boolean controllersDecide = OF_SEPARATE_CONTROLLERS.matcher(name).find();
            Map<Integer, String> byNode = new TreeMap<>();
            all.forEach((id, node) -> {
                String own = decidingAuthorizer(node.get(name));
                boolean says = own != null && !isOfTheTest(own) || own == null && controllersDecide;
                byNode.put(id, says || properties.containsKey(id) ? own : shared);
            });
            boolean same = new HashSet<>(byNode.values()).size() == 1;
            if (shared != null && (same || OF_A_MACHINE.matcher(name).find()))
                found.put(name, shared);
            else
                byNode.forEach((id, value) -> {
                    if (value != null)
                        ofNodes.computeIfAbsent(id, any -> new TreeMap<>()).put(name, value);
                });
        }
        // As Kafka's harness does:
        for (String kind : List.of("api", "feature"))
            found.putIfAbsent("unstable." + kind + ".versions.enable", "true");
        found.putIfAbsent("log.cleaner.dedupe.buffer.size", "2097152");
        if (own != null) {
            found.computeIfPresent("listener.security.protocol.map", (any, map) -> map + "," + own + ":SASL_PLAINTEXT");
            String prefix = new ListenerName(own).configPrefix();
            found.put(prefix + "sasl.enabled.mechanisms", "PLAIN");
            found.put(prefix + "plain.sasl.jaas.config", PLAIN + " user_" + OWN_USER + "=\"" + OWN_USER + "\";");
        }
        if (areOnDisk()) {
            properties.forEach((id, node) -> ofNodes.computeIfAbsent(id, any -> new TreeMap<>()).put("log.dirs", node.get("log.dirs")));
            ofControllers.forEach((id, node) -> {
                if (!properties.containsKey(id) && !dynamicQuorum)
                    ofNodes.computeIfAbsent(id, any -> new TreeMap<>()).put("metadata.log.dir", node.get("metadata.log.dir"));
            });
        }
        KAFKAS_DEFAULTS.forEach(found::putIfAbsent);
        return found;
    }

    /** Classes of Kafka's tests that odradek knows by name. */
    private static final Set<String> TIERS = Set.of(
        "org.apache.kafka.server.log.remote.storage.LocalTieredStorage",
        "org.apache.kafka.server.log.remote.storage.NoOpRemoteStorageManager",
        "org.apache.kafka.server.log.remote.storage.NoOpRemoteLogMetadataManager");

    /** A broker in another process, and in another language, cannot load the test's own policies, callbacks and reporters. */
    private static void refuseClassesOfTheTest(String name, String value) {
        for (String part : value == null ? new String[0] : value.split(","))
            if (isOfTheTest(part) && !TIERS.contains(part.trim()))
                throw Inside.needed("the test's own " + name);
    }

    /** The parent of an authorizer of the test's own that only watches changes of entries and decides nothing itself. */
    private static String decidingAuthorizer(String name) {
        if (!isOfTheTest(name))
            return name;
        try {
            Class<?> found = Class.forName(name.trim(), false, Cluster.class.getClassLoader());
            boolean watches = found.getSuperclass() == StandardAuthorizer.class && Arrays.stream(found.getDeclaredMethods())
                .filter(method -> !method.isSynthetic()).noneMatch(method -> DECIDES.contains(method.getName()));
            return watches ? StandardAuthorizer.class.getName() : name;
        } catch (ClassNotFoundException gone) {
            throw new IllegalStateException(gone);
        }
    }

    private static boolean isOfTheTest(String text) {
        if (text == null || !text.matches("\\s*(\\w+\\.)+[\\w$]+\\s*"))
            return false;
        try {
            Class<?> found = Class.forName(text.trim(), false, Cluster.class.getClassLoader());
            var source = found.getProtectionDomain().getCodeSource();
            return source != null && source.getLocation().getPath().contains("-test");
        } catch (ClassNotFoundException | LinkageError noClass) {
            return false;  // some other text
        }
    }

    /** The test's own principal builders by the name of the listener. */
    private Map<String, KafkaPrincipalBuilder> principalBuilders() {
        Map<String, KafkaPrincipalBuilder> found = new HashMap<>();
        for (String name : ports.keySet()) {
            Map<String, Object> values = configs.get(configs.firstKey()).valuesWithPrefixOverride(new ListenerName(name).configPrefix());
            if (!name.equals(own) && values.get(BUILDER) instanceof Class<?> builder && isOfTheTest(builder.getName()))
                found.put(name, ChannelBuilders.createPrincipalBuilder(values, null, null));
        }
        return found;
    }

    /** What the test itself checks passwords of PLAIN with, by the name of the listener. */
    private Map<String, AuthenticateCallbackHandler> passwordHandlers() {
        Map<String, AuthenticateCallbackHandler> found = new HashMap<>();
        for (String name : ports.keySet()) {
            String prefix = new ListenerName(name).configPrefix();
            String type = properties.get(properties.firstKey()).get(prefix + PASSWORDS);
            if (!isOfTheTest(type))
                continue;
            try {
                AuthenticateCallbackHandler handler = Utils.newInstance(type, AuthenticateCallbackHandler.class);
                handler.configure(configs.get(configs.firstKey()).valuesWithPrefixOverride(prefix + "plain."), "PLAIN", List.of());
                found.put(name, handler);
            } catch (ClassNotFoundException gone) {
                throw new IllegalStateException(gone);
            }
        }
        return found;
    }

    private String listeners() {
        String asked = properties.get(properties.firstKey()).get("listeners");
        List<String> found = new ArrayList<>();
        for (String listener : asked.split(",")) {
            String name = listener.substring(0, listener.indexOf("://")).trim();
            int colon = listener.lastIndexOf(':');
            int port = Integer.parseInt(listener.substring(colon + 1).trim());
            ports.computeIfAbsent(name, any -> port == 0 || !portsFollow() ? Odradek.freePorts(properties.size()) : port);
            found.add(listener.substring(0, colon).trim() + ":" + ports.get(name));
        }
        if (combined && !ports.containsKey(controllerListener)) {
            ports.put(controllerListener, Odradek.freePorts(properties.size()));
            found.add(controllerListener + "://localhost:" + ports.get(controllerListener));
        }
        for (int id : controllers.keySet())
            controllers.compute(id, (any, port) -> port != 0 ? port
                : properties.containsKey(id) ? port(id, controllerListener)
                : combined && dynamicQuorum ? ports.get(controllerListener) : Odradek.freePorts(1));
        if (own != null) {
            ports.computeIfAbsent(own, any -> Odradek.freePorts(properties.size()));
            found.add(own + "://localhost:" + ports.get(own));
        }
        return String.join(",", found);
    }

    private String listenersOfController(int id, String asked) {
        return Arrays.stream(asked.split(",")).map(listener -> listener.substring(0, listener.indexOf("://"))).map(name -> {
            if (!name.equals(controllerListener))
                furtherPorts.computeIfAbsent(id, any -> new HashMap<>()).put(name, Odradek.freePorts(1));
            return name + "://localhost:" + controllerPort(id, name);
        }).collect(Collectors.joining(","));
    }

    /** Whether the ports that the nodes ask for, if any, follow each other, as odradek's do. Else they get others. */
    private boolean portsFollow() {
        String expected = properties.get(properties.firstKey()).get("listeners");
        for (Map<String, String> node : properties.values()) {
            if (!expected.equals(node.get("listeners")))
                return false;
            expected = Arrays.stream(expected.split(",")).map(listener -> {
                int colon = listener.lastIndexOf(':');
                int port = Integer.parseInt(listener.substring(colon + 1).trim());
                return listener.substring(0, colon + 1) + (port == 0 ? 0 : port + 1);
            }).collect(Collectors.joining(","));
        }
        return true;
    }

    /** What Kafka reads in the JAAS file of its JVM, odradek reads in its configuration. */
    private void loginModules(Map<String, String> config) {
        Configuration jaas;
        try {
            jaas = Configuration.getConfiguration();
        } catch (SecurityException noFile) {
            return;
        }
        KafkaConfig any = configs.get(configs.firstKey());
        Set<String> names = new HashSet<>(ports.keySet());
        names.add(controllerListener);
        for (String name : names) {
            ListenerName listener = ListenerName.normalised(name);
            if (name.equals(own))
                continue;
            String protocol = any.effectiveListenerSecurityProtocolMap().get(listener).name;
            if (!protocol.startsWith("SASL"))
                continue;
            String prefix = listener.configPrefix();
            String mechanisms = config.getOrDefault(prefix + "sasl.enabled.mechanisms",
                config.getOrDefault("sasl.enabled.mechanisms", "GSSAPI"));
            AppConfigurationEntry[] entries = jaas.getAppConfigurationEntry(name.toLowerCase() + ".KafkaServer");
            if (entries == null)
                entries = jaas.getAppConfigurationEntry("KafkaServer");
            for (String mechanism : mechanisms.split(",")) {
                String key = prefix + mechanism.trim().toLowerCase() + ".sasl.jaas.config";
                for (AppConfigurationEntry entry : entries == null ? new AppConfigurationEntry[0] : entries)
                    if (!config.containsKey(key) && ofMechanism(entry.getLoginModuleName(), mechanism.trim()))
                        config.put(key, text(entry));
            }
        }
    }

    private static boolean ofMechanism(String module, String mechanism) {
        String word = mechanism.startsWith("SCRAM") ? "Scram" : mechanism.equals("GSSAPI") ? "Krb5" : mechanism;
        return module.substring(module.lastIndexOf('.') + 1).toLowerCase().startsWith(word.toLowerCase());
    }

    /** A value as it would stand in a server.properties. */
    public static String text(Object value) {
        if (value instanceof Password secret)
            return secret.value();
        if (value instanceof Class<?> type)
            return type.getName();
        return value instanceof List<?> list ? list.stream().map(Cluster::text).collect(Collectors.joining(",")) : String.valueOf(value);
    }

    private static String text(AppConfigurationEntry entry) {
        StringBuilder text = new StringBuilder(entry.getLoginModuleName()).append(" required");
        entry.getOptions().forEach((name, value) -> text.append(' ').append(name).append("=\"").append(value).append('"'));
        return text.append(';').toString();
    }

    /** The objects that stand for the brokers, by id. */
    public Map<Integer, BrokerServer> brokers() {
        return brokers;
    }

    public synchronized String clusterId() {
        if (clusterId == null)
            try {
                clusterId = admin().describeCluster().clusterId().get();
            } catch (InterruptedException | ExecutionException error) {
                throw new IllegalStateException(error);
            }
        return clusterId;
    }

    public int port(int id, String listener) {
        if (ports.isEmpty())
            running();
        Integer first = ports.get(listener);
        if (first == null)
            throw new IllegalArgumentException("no listener " + listener + " among " + ports.keySet());
        if (portsOfLater.containsKey(id))
            return portsOfLater.get(id).get(listener);
        return first + id - properties.firstKey();
    }

    /** host:port of all brokers, also of those that are down. */
    public String bootstrapServers(String listener) {
        return properties.keySet().stream().map(id -> "localhost:" + port(id, listener)).collect(Collectors.joining(","));
    }

    public String bootstrapControllers() {
        return bootstrapControllers(false);
    }

    private String bootstrapControllers(boolean withIds) {
        return controllers.entrySet().stream().map(each -> (withIds ? each.getKey() + "@" : "") + "localhost:" + each.getValue())
            .collect(Collectors.joining(","));
    }

    /** Where a controller listens. */
    public int controllerPort(int id, String listener) {
        return furtherPorts.getOrDefault(id, Map.of()).getOrDefault(listener, controllers.get(id));
    }

    public boolean isDown(int id) {
        return process == null ? !wanted.contains(id) : down.contains(id) || id < 0;
    }

    /** Of a broker that has ended, Kafka's object goes on to say that it shuts down. */
    private BrokerState state(int id) {
        return !isDown(id) ? BrokerState.RUNNING : process == null ? BrokerState.NOT_RUNNING : BrokerState.SHUTTING_DOWN;
    }

    public synchronized void stopNode(int id) {
        if (isDown(id))
            return;
        if (process == null) {
            wanted.remove(id);
            return;
        }
        down.add(id);
        // of a node that is both, Kafka's harness stops the broker alone
        process.post("stop-node", Map.of("node_id", id, "broker_only", combined && controllers.containsKey(id)));
        if (isEnded())
            closeAdmin();
    }

    public synchronized void startNode(int id) {
        if (process == null)
            wanted.add(id);
        if (isDown(id)) {
            Map<String, Object> how = new HashMap<>(Map.of("node_id", id));
            if (joining.contains(id) || changed.contains(id)) {
                Map<String, String> own = own(id);
                if (joining.contains(id))
                    List.of("listeners", "advertised.listeners").forEach(name -> own.put(name, ownListeners(id)));
                how.put("config", own);
            }
            try {
                process.post(joining.contains(id) ? "add-node" : "start-node", how);
            } catch (IllegalStateException refused) {
                // What a broker of Kafka finds first when it opens its logs, it tells the handler of faults.
                if (faults == null || !refused.getMessage().contains("You have to delete all topics with the property"))
                    throw refused;
                faults.handleFault("Error starting LogManager", new ConfigException(refused.getMessage()));
                return;
            }
            List.of(joining, changed, down).forEach(each -> each.remove(id));
            configsAsked = 0;
        }
    }

    private synchronized void closeAdmin() {
        if (admin != null)
            admin.close(Duration.ofSeconds(1));
        admin = null;
    }

    /** What the control API says of a topic; null for one that is not there. */
    public JsonNode topic(String name) {
        JsonNode topics = running().get("all-topics");
        return topics.get(name);
    }

    private Map<String, Uuid> topicIds() {
        Map<String, Uuid> found = new HashMap<>();
        running().get("all-topics").fields()
            .forEachRemaining(topic -> found.put(topic.getKey(), Uuid.fromString(topic.getValue().path("topic_id").asText())));
        return found;
    }

    private Optional<LeaderAndIsr> leaderAndIsr(String topic, int partition) {
        JsonNode found = topic(topic);
        if (found == null || found.path("partitions").size() <= partition)
            return Optional.empty();
        JsonNode state = found.path("partitions").get(partition);
        List<Integer> inSync = StreamSupport.stream(state.path("isr").spliterator(), false).map(JsonNode::asInt).toList();
        return Optional.of(new LeaderAndIsr(state.path("leader").isNull() ? -1 : state.path("leader").asInt(-1),
            state.path("leader_epoch").asInt(), inSync, LeaderRecoveryState.RECOVERED, 0));
    }

    private Optional<Integer> partitions(String topic) {
        return Optional.ofNullable(topic(topic)).map(found -> found.path("partitions").size());
    }

    private BrokerServer broker(int id) {
        KafkaConfig config = configs.get(id);
        Map<String, Inside.Answer> known = new HashMap<>();
        known.put("config", any -> config(id));
        known.put("authorizerPlugin", any -> authorizer(() -> this));
        known.put("clusterId", any -> clusterId());
        known.put("boundPort", listener -> port(id, ((ListenerName) listener[0]).value()));
        known.put("isShutdown", any -> isDown(id));
        known.put("brokerState", any -> state(id));
        known.put("startup", any -> {
            startNode(id);
            return null;
        });
        known.put("shutdown", any -> {
            // Kafka's harness ends all brokers at once, each in a thread of a pool, and removes its directories then.
            if (areOnDisk() && Thread.currentThread() instanceof ForkJoinWorkerThread)
                close();
            else
                stopNode(id);
            return null;
        });
        known.put("awaitShutdown", any -> null);
        SocketServer sockets = Inside.of(SocketServer.class, Map.of(
            "config", any -> config,
            "boundPort", listener -> port(id, ((ListenerName) listener[0]).value())));
        known.put("socketServer", any -> sockets);
        GroupCoordinator groups = Inside.of(GroupCoordinator.class, Map.of("groupMetadataTopicConfigs", any -> offsetsTopic(config)));
        known.put("groupCoordinator", any -> groups);
        KRaftMetadataCache metadata = metadataCache();
        known.put("metadataCache", any -> metadata);
        LogManager logs = Inside.of(LogManager.class, Map.of("getLog", of -> {
            if ((boolean) of[1])
                throw Inside.needed("the log of a future replica");
            return log(id, (TopicPartition) of[0]);
        }, "getLog$default$2", any -> false));
        known.put("logManager", any -> logs);
        ReplicaManager replicas = Inside.of(ReplicaManager.class, Map.of(
            "logManager", any -> logs,
            "onlinePartition", of -> partition(id, (TopicPartition) of[0]),
            "localLog", of -> log(id, (TopicPartition) of[0]),
            "localLogOrException", of -> log(id, (TopicPartition) of[0]).get()));
        known.put("replicaManager", any -> replicas);
        BrokerLifecycleManager life = Inside.of(BrokerLifecycleManager.class, Map.of(
            "initialUnfenceFuture", any -> CompletableFuture.completedFuture(null),
            "state", any -> state(id)));
        known.put("lifecycleManager", any -> life);
        QuotaManagers quotas = quotas(() -> this);
        known.put("quotaManagers", any -> quotas);
        KafkaApis requests = Inside.of(KafkaApis.class, Map.of(
            "quotas", any -> quotas,
            "clusterId", any -> clusterId(),
            "authorizerPlugin", any -> authorizer(() -> this),
            "metadataCache", any -> metadata));
        known.put("dataPlaneRequestProcessor", any -> requests);
        SharedServer shared = sharedServer();
        known.put("sharedServer", any -> shared);
        Metrics counts = BrokerMetrics.of(id, () -> {
            running();
            return metrics;
        });
        known.put("metrics", any -> counts);
        DelegationTokenCache tokens = Inside.of(DelegationTokenCache.class, Map.of("tokens",
            any -> admin().describeDelegationToken().delegationTokens().get().stream().map(DelegationToken::tokenInfo).toList()));
        known.put("tokenCache", any -> tokens);
        known.put("credentialProvider", any -> credentials(tokens));
        return Inside.of(BrokerServer.class, known);
    }

    /** The users of SCRAM, as an administrator reads them; their keys nobody can read. */
    private CredentialProvider credentials(DelegationTokenCache tokens) throws Exception {
        CredentialProvider found = new CredentialProvider(ScramMechanism.mechanismNames(), tokens);
        admin().describeUserScramCredentials().all().get().forEach((user, of) -> of.credentialInfos().forEach(
            each -> found.updateCredential(each.mechanism(), user,
                Inside.of(ScramCredential.class, Map.of("iterations", any -> each.iterations())))));
        return found;
    }

    /** A replica as ListOffsets, DescribeLogDirs and DescribeConfigs tell of it; none where the broker has none. */
    private Option<UnifiedLog> log(int id, TopicPartition of) {
        JsonNode found = topic(of.topic());
        JsonNode state = found == null ? null : found.path("partitions").get(of.partition());
        if (state == null || !state.path("replica_ends").has("" + id))
            return Option.empty();
        Uuid topicId = Uuid.fromString(found.path("topic_id").asText());
        Map<String, Inside.Answer> known = new HashMap<>();
        known.put("topicPartition", any -> of);
        known.put("name", any -> of.toString());
        known.put("topicId", any -> Optional.of(topicId));
        known.put("dir", any -> new File(directory(id, of), of.toString()));
        known.put("parentDir", any -> directory(id, of));
        known.put("logStartOffset", any -> partition(of).path("log_start_offset").asLong());
        known.put("localLogStartOffset", any -> localLogStartOffset(of));
        known.put("logEndOffset", any -> partition(of).path("replica_ends").path("" + id).asLong());
        known.put("highWatermark", any -> partition(of).path("high_watermark").asLong());
        known.put("lastStableOffset", any -> partition(of).path("last_stable_offset").asLong());
        known.put("size", any -> partition(of).path("size_bytes").asLong());
        known.put("config", any -> logConfig(of.topic()));
        return Option.apply(Inside.of(UnifiedLog.class, known));
    }

    /** A partition that a broker has a replica of; none where it has none. */
    private Option<Partition> partition(int id, TopicPartition of) {
        if (log(id, of).isEmpty())
            return Option.empty();
        return Option.apply(Inside.of(Partition.class, Map.of(
            "topicPartition", any -> of,
            "isLeader", any -> leads(id, of),
            "leaderIdIfLocal", any -> leads(id, of) ? Option.apply(id) : Option.empty(),
            "leaderReplicaIdOpt", any -> Option.apply(leaderAndIsr(of.topic(), of.partition()).orElseThrow().leader()),
            "getLeaderEpoch", any -> leaderAndIsr(of.topic(), of.partition()).orElseThrow().leaderEpoch(),
            "leaderLogIfLocal", any -> leads(id, of) ? log(id, of) : Option.empty(),
            "localLogOrException", any -> log(id, of).get())));
    }

    private boolean leads(int id, TopicPartition of) {
        return leaderAndIsr(of.topic(), of.partition()).map(LeaderAndIsr::leader).orElse(-1) == id;
    }

    /** The log directory of a replica, as DescribeLogDirs tells. */
    private String directory(int id, TopicPartition of) throws Exception {
        if (isDown(id))
            throw Inside.needed("the log directory of a broker that is down");
        for (var directory : admin().describeLogDirs(List.of(id)).allDescriptions().get().get(id).entrySet())
            if (directory.getValue().replicaInfos().containsKey(of) && !directory.getValue().replicaInfos().get(of).isFuture())
                return directory.getKey();
        throw new IllegalStateException("no replica of " + of + " on " + id);
    }

    private JsonNode partition(TopicPartition of) {
        return topic(of.topic()).path("partitions").get(of.partition());
    }

    /** The cluster that started last. */
    public static Cluster newest() {
        return newest;
    }

    /** The first offset that is not only in the tier, as ListOffsets tells. */
    public long localLogStartOffset(TopicPartition of) throws Exception {
        return admin().listOffsets(Map.of(of, OffsetSpec.earliestLocal())).partitionResult(of).get().offset();
    }

    /** The configs that a topic, a group or a broker was given while the cluster runs. */
    private Properties ownConfigs(ConfigResource resource) throws Exception {
        Properties found = new Properties();
        admin().describeConfigs(List.of(resource)).all().get().get(resource).entries().forEach(entry -> {
            if (OWN.contains(entry.source()) && !entry.isSensitive())
                found.put(entry.name(), entry.value());
        });
        return found;
    }

    private LogConfig logConfig(String topic) throws Exception {
        ConfigResource resource = new ConfigResource(ConfigResource.Type.TOPIC, topic);
        Map<String, Object> values = new HashMap<>();
        Set<String> own = new HashSet<>();
        admin().describeConfigs(List.of(resource)).all().get().get(resource).entries().forEach(entry -> {
            values.put(entry.name(), entry.value());
            if (entry.source() == ConfigEntry.ConfigSource.DYNAMIC_TOPIC_CONFIG)
                own.add(entry.name());
        });
        return new LogConfig(values, own);
    }

    /** How a test creates the topic of offsets by itself: facts of Kafka's configuration. */
    private static Properties offsetsTopic(KafkaConfig config) {
        Properties found = new Properties();
        found.put("cleanup.policy", "compact");
        found.put("compression.type", "producer");
        found.put("segment.bytes", "" + config.groupCoordinatorConfig().offsetsTopicSegmentBytes());
        return found;
    }

    private KRaftMetadataCache metadataCache() {
        Map<String, Inside.Answer> known = new HashMap<>();
        known.put("numPartitions", topic -> partitions((String) topic[0]));
        known.put("contains", what -> what[0] instanceof TopicPartition of
            ? of.partition() < partitions(of.topic()).orElse(0) : topic((String) what[0]) != null);
        known.put("getLeaderAndIsr", of -> leaderAndIsr((String) of[0], (int) of[1]));
        known.put("getPartitionLeaderEndpoint", of -> leaderAndIsr((String) of[0], (int) of[1]).map(LeaderAndIsr::leader)
            .map(leader -> isDown(leader) ? Node.noNode()
                : new Node(leader, "localhost", port(leader, ((ListenerName) of[2]).value()))));
        known.put("getPartitionReplicaEndpoints", of -> {
            Map<Integer, Node> found = new HashMap<>();
            partition((TopicPartition) of[0]).path("replica_ends").fieldNames().forEachRemaining(name -> {
                int id = Integer.parseInt(name);
                if (!isDown(id))
                    found.put(id, new Node(id, "localhost", port(id, ((ListenerName) of[1]).value()), configs.get(id).rack().orElse(null)));
            });
            return found;
        });
        known.put("getAllTopics", any -> topicIds().keySet());
        known.put("getTopicId", topic -> topicIds().getOrDefault((String) topic[0], Uuid.ZERO_UUID));
        known.put("getTopicName", id -> topicIds().entrySet().stream()
            .filter(topic -> topic.getValue().equals(id[0])).map(Map.Entry::getKey).findFirst());
        known.put("topicNamesToIds", any -> topicIds());
        known.put("topicIdsToNames", any -> topicIds().entrySet().stream()
            .collect(Collectors.toMap(Map.Entry::getValue, Map.Entry::getKey)));
        known.put("topicConfig", topic -> ownConfigs(new ConfigResource(ConfigResource.Type.TOPIC, (String) topic[0])));
        known.put("config", resource -> ownConfigs((ConfigResource) resource[0]));
        known.put("hasAliveBroker", broker -> !isDown((int) broker[0]));
        known.put("getAliveBrokerNode", of -> isDown((int) of[0]) ? Optional.empty()
            : Optional.of(new Node((int) of[0], "localhost", port((int) of[0], ((ListenerName) of[1]).value()))));
        known.put("getAliveBrokerNodes", of -> properties.keySet().stream().filter(id -> !isDown(id))
            .map(id -> new Node(id, "localhost", port(id, ((ListenerName) of[0]).value()))).toList());
        return Inside.of(KRaftMetadataCache.class, known);
    }

    /** All nodes read one image of the metadata: what the controller has decided, every broker knows. */
    private SharedServer sharedServer() {
        MetadataLoader loader = Inside.of(MetadataLoader.class, Map.of("lastAppliedOffset", any -> 0L));
        return Inside.of(SharedServer.class, Map.of("loader", any -> loader));
    }

    /** The object that stands for a voter of the quorum: it knows who leads, as DescribeQuorum tells. */
    @SuppressWarnings("unchecked")
    public static <T> KafkaRaftManager<T> raft(Supplier<Cluster> of) {
        RaftLog log = Inside.of(RaftLog.class, Map.of("endOffset", any -> new LogOffsetMetadata(0)));
        KafkaRaftClient<?> client = Inside.of(KafkaRaftClient.class, Map.of("leaderAndEpoch", any -> {
            QuorumInfo quorum = of.get().admin().describeMetadataQuorum().quorumInfo().get();
            return new LeaderAndEpoch(OptionalInt.of(quorum.leaderId()), (int) quorum.leaderEpoch());
        }));
        return Inside.of(KafkaRaftManager.class, Map.of("raftLog", any -> log, "client", any -> client));
    }

    /** The directory of a node's metadata log, as DescribeQuorum tells. */
    public Uuid metadataDirectory(int id) throws Exception {
        QuorumInfo quorum = admin().describeMetadataQuorum().quorumInfo().get();
        return Stream.concat(quorum.voters().stream(), quorum.observers().stream())
            .filter(replica -> replica.replicaId() == id).findFirst().orElseThrow().replicaDirectoryId();
    }

    /** The object that stands for the controller. */
    public static ControllerServer controller(Supplier<Cluster> of, int id, Supplier<KafkaConfig> config) {
        KafkaRaftManager<?> raft = raft(of);
        Controller decides = Inside.of(Controller.class, Map.of(
            "isActive", any -> of.get().isActive(id),
            "findAllTopicIds", any -> CompletableFuture.completedFuture(of.get().topicIds()),
            "findTopicIds", names -> CompletableFuture.completedFuture(of.get().foundIds((Collection<?>) names[1]))));
        SocketServer sockets = Inside.of(SocketServer.class, Map.of(
            "config", any -> config.get(),
            "boundPort", listener -> of.get().controllerPort(id, ((ListenerName) listener[0]).value())));
        Map<String, Inside.Answer> known = new HashMap<>();
        known.put("config", any -> config.get());
        known.put("clusterId", any -> of.get().clusterId());
        known.put("raftManager", any -> raft);
        known.put("authorizerPlugin", any -> authorizer(of));
        known.put("controller", any -> decides);
        QuotaManagers quotas = quotas(of);
        known.put("quotaManagers", any -> quotas);
        known.put("socketServer", any -> sockets);
        return Inside.of(ControllerServer.class, known);
    }

    /** Whether a controller leads the quorum, as DescribeQuorum tells. */
    private boolean isActive(int id) throws Exception {
        return controllers.size() == 1 || admin().describeMetadataQuorum().quorumInfo().get().leaderId() == id;
    }

    private Map<String, ResultOrError<Uuid>> foundIds(Collection<?> names) {
        Map<String, Uuid> all = topicIds();
        Map<String, ResultOrError<Uuid>> found = new HashMap<>();
        for (Object name : names)
            found.put((String) name, all.containsKey(name) ? new ResultOrError<>(all.get(name))
                : new ResultOrError<>(Errors.UNKNOWN_TOPIC_OR_PARTITION, null));
        return found;
    }

    /** The authorizer as an administrator knows it: entries come, go and are listed. */
    private static Option<Plugin<Authorizer>> authorizer(Supplier<Cluster> of) {
        Authorizer authorizer = Inside.of(Authorizer.class, Map.of(
            "acls", filter -> of.get().admin().describeAcls((AclBindingFilter) filter[0]).values().get(),
            "createAcls", entries -> {
                List<CompletableFuture<AclCreateResult>> results = new ArrayList<>();
                for (Object entry : (List<?>) entries[1]) {
                    of.get().admin().createAcls(List.of((AclBinding) entry)).all().get();
                    results.add(CompletableFuture.completedFuture(AclCreateResult.SUCCESS));
                }
                return results;
            },
            "deleteAcls", filters -> {
                List<CompletableFuture<AclDeleteResult>> results = new ArrayList<>();
                for (Object filter : (List<?>) filters[1]) {
                    Collection<AclBinding> gone = of.get().admin().deleteAcls(List.of((AclBindingFilter) filter)).all().get();
                    results.add(CompletableFuture.completedFuture(new AclDeleteResult(
                        gone.stream().map(AclDeleteResult.AclBindingDeleteResult::new).toList())));
                }
                return results;
            }));
        return Option.apply(Plugin.wrapInstance(authorizer, null, "authorizer.class.name"));
    }

    private static QuotaManagers quotas(Supplier<Cluster> of) {
        return new QuotaManagers(
            quota(ClientQuotaManager.class, of, "consumer_byte_rate"),
            quota(ClientQuotaManager.class, of, "producer_byte_rate"),
            quota(ClientRequestQuotaManager.class, of, "request_percentage"),
            quota(ControllerMutationQuotaManager.class, of, "controller_mutation_rate"),
            Inside.of(ReplicationQuotaManager.class, Map.of()), Inside.of(ReplicationQuotaManager.class, Map.of()),
            Inside.of(ReplicationQuotaManager.class, Map.of()), Optional.empty());
    }

    private static <T> T quota(Class<T> type, Supplier<Cluster> of, String key) {
        return Inside.of(type, Map.of("quota", client -> of.get().quota(key,
            client[0] instanceof KafkaPrincipal user ? user.getName() : (String) client[0], (String) client[1])));
    }

    /** The quota of a user and a client id by the entries that an administrator reads: the closest counts. */
    private Quota quota(String key, String user, String client) throws Exception {
        var all = admin().describeClientQuotas(ClientQuotaFilter.all()).entities().get();
        for (Optional<String> of : forms(user))
            for (Optional<String> from : forms(client)) {
                Map<String, String> entity = new HashMap<>();
                if (of != null)
                    entity.put(ClientQuotaEntity.USER, of.orElse(null));
                if (from != null)
                    entity.put(ClientQuotaEntity.CLIENT_ID, from.orElse(null));
                Double found = all.getOrDefault(new ClientQuotaEntity(entity), Map.of()).get(key);
                if (found != null)
                    return Quota.upperBound(found);
            }
        return Quota.upperBound(Long.MAX_VALUE);
    }

    /** By name, by default, and not at all. */
    private static List<Optional<String>> forms(String name) {
        return Arrays.asList(Optional.of(name), Optional.empty(), null);
    }

    /** The configuration of a broker with what was changed while it runs, as an administrator reads it. A moment old: a
     *  broker of Kafka's learns of a change a moment later, too. */
    private synchronized KafkaConfig config(int id) {
        if (isDown(id))
            return configs.get(id);
        if (configsAsked == 0 || System.nanoTime() - configsAsked > CONFIGS_STAND_NS)
            askConfigs();
        return configsNow.getOrDefault(id, configs.get(id));
    }

    private void askConfigs() {
        Map<Integer, ConfigResource> resources = properties.keySet().stream().filter(id -> !isDown(id))
            .collect(Collectors.toMap(id -> id, id -> new ConfigResource(ConfigResource.Type.BROKER, "" + id)));
        var answers = admin().describeConfigs(resources.values()).values();
        configsNow.clear();
        resources.forEach((id, resource) -> {
            Map<String, Object> all = new HashMap<>(properties.get(id));
            try {
                answers.get(resource).get(10, TimeUnit.SECONDS).entries().stream()
                    .filter(entry -> DYNAMIC.contains(entry.source()) && !entry.isSensitive())
                    .forEach(entry -> all.put(entry.name(), entry.value()));
            } catch (InterruptedException | ExecutionException | TimeoutException error) {
                if (!isDown(id))
                    throw new IllegalStateException(error);
            }
            if (!all.equals(properties.get(id)))
                configsNow.put(id, new KafkaConfig(all, false));
        });
        configsAsked = System.nanoTime();
    }

    @Override
    public synchronized void close() {
        down.addAll(properties.keySet());
        closeAdmin();
        if (process != null && !closed) {
            metrics.close();
            process.close();
        }
        if (principals != null && !closed)
            principals.close();
        closed = true;
    }
}
