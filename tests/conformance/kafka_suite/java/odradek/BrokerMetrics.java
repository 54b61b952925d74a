package odradek;

import com.fasterxml.jackson.databind.JsonNode;
import com.yammer.metrics.core.Gauge;
import com.yammer.metrics.core.Histogram;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.function.DoubleSupplier;
import java.util.function.Supplier;
import org.apache.kafka.common.MetricName;
import org.apache.kafka.common.metrics.KafkaMetric;
import org.apache.kafka.common.metrics.MetricConfig;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.protocol.ApiKeys;
import org.apache.kafka.common.protocol.ByteBufferAccessor;
import org.apache.kafka.common.requests.AbstractResponse;
import org.apache.kafka.common.requests.ResponseHeader;
import org.apache.kafka.common.utils.Sanitizer;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.server.metrics.KafkaYammerMetrics;

/** The few metrics of a broker's JVM that count what clients were told: throttle times, ended sessions, failed log-ins. */
final class BrokerMetrics {
    private static final String ALL_ELSE = "the metrics of the broker's JVM";
    private static final String SESSION_ENDED = "its session has ended, and it has not authenticated again";
    private static final com.yammer.metrics.core.MetricName ENDED =
        KafkaYammerMetrics.getMetricName("kafka.network", "SocketServer", "ExpiredConnectionsKilledCount");
    private static final String ENDED_OF_A_BROKER = "expired-connections-killed-count";
    private static final String FAILED_AGAIN = "failed-reauthentication-total";
    /** What tests sum up over all connections of a broker by one of these names, nobody can know. */
    private static final List<String> UNKNOWN = List.of(
        "successful-authentication-total", "failed-authentication-total", "successful-authentication-no-reauth-total",
        "successful-reauthentication-total", "connection-count",
        "connection-creation-total", "connection-close-total", "request-total", "response-total",
        "incoming-byte-total", "outgoing-byte-total", "MemoryPoolAvgDepletedPercent", "io-wait-time-ns-total");
    /** APIs as quotas and as metrics of requests call them. */
    private static final Map<String, String> REQUESTS = Map.of("Produce", "Produce", "Fetch", "FetchConsumer");
    /** How many answers are asked for: few, as a test asks after each record; many if the few are all new. */
    private static final int FEW = 50, MANY = 2000;

    private record Answer(int node, String user, String client, int throttleMs) { }

    private final Odradek process;
    private final Set<String> seen = new HashSet<>();
    private final Map<String, List<Answer>> answers = new HashMap<>();

    BrokerMetrics(Odradek process) {
        this.process = process;
        KafkaYammerMetrics.defaultRegistry().newGauge(ENDED, new Gauge<Double>() {
            @Override
            public Double value() {
                return endedSessions();
            }
        });
    }

    void close() {
        KafkaYammerMetrics.defaultRegistry().removeMetric(ENDED);
    }

    /** The object that stands for a broker's metrics. */
    static Metrics of(int broker, Supplier<BrokerMetrics> known) {
        Map<?, ?> all = Inside.of(Map.class, Map.of(
            "get", name -> known.get().throttleTime(broker, (MetricName) name[0]),
            "values", any -> known.get().values()));
        return Inside.of(Metrics.class, Map.of(
            "metrics", any -> all,
            "metricName", of -> new MetricName((String) of[0], (String) of[1], (String) of[2],
                of.length > 3 && of[3] instanceof Map<?, ?> tags ? (Map<String, String>) tags : Map.of())));
    }

    /** What a quota made a client of this broker wait, or all clients of a user who logs in, on average; null without requests. */
    private KafkaMetric throttleTime(int broker, MetricName name) {
        String client = name.tags().getOrDefault("client-id", "");
        String user = Sanitizer.desanitize(name.tags().getOrDefault("user", ""));
        if (!name.name().equals("throttle-time") || !REQUESTS.containsKey(name.group()) || client.isEmpty() && user.isEmpty())
            throw Inside.needed(ALL_ELSE);
        List<Integer> waits = answers(name.group()).stream()
            .filter(answer -> answer.node == broker && (client.isEmpty() ? answer.user.equals(user) : answer.client.equals(client)))
            .map(Answer::throttleMs).toList();
        return waits.isEmpty() ? null
            : metric(name, () -> waits.stream().mapToInt(Integer::intValue).filter(ms -> ms > 0).average().orElse(Double.NaN));
    }

    /** The answers so far of all brokers, which the metric of an API counts, too. */
    private synchronized List<Answer> answers(String api) {
        List<Answer> found = answers.computeIfAbsent(api, any -> new ArrayList<>());
        Histogram waits = KafkaYammerMetrics.defaultRegistry().newHistogram(KafkaYammerMetrics.getMetricName(
            "kafka.network", "RequestMetrics", "ThrottleTimeMs", new LinkedHashMap<>(Map.of("request", REQUESTS.get(api)))), true);
        JsonNode newest = newest(api, FEW);
        if (newest.size() == FEW && !seen.contains(id(newest.get(0))))
            newest = newest(api, MANY);
        Map<String, String> users = process.users();
        for (JsonNode request : newest) {
            String id = id(request);
            JsonNode response = request.path("response").path("bytes");
            if (!response.isTextual() || !seen.add(id))
                continue;
            int waited = throttleMs(ApiKeys.forId(request.path("key").asInt()), (short) request.path("version").asInt(), response.asText());
            String user = users.getOrDefault(request.path("connection").asText(), "");
            found.add(new Answer(request.path("node").asInt(), user, request.path("clientId").asText(), waited));
            waits.update(waited);
        }
        return found;
    }

    private JsonNode newest(String api, int count) {
        return process.get("requests/tail?api=" + api + "&limit=" + count);
    }

    private static String id(JsonNode request) {
        return request.path("connection").asText() + " " + request.path("correlationId").asText();
    }

    private static int throttleMs(ApiKeys api, short version, String frame) {
        ByteBuffer bytes = ByteBuffer.wrap(Base64.getDecoder().decode(frame));
        bytes.getInt();  // its size
        ResponseHeader.parse(bytes, api.responseHeaderVersion(version));
        return AbstractResponse.parseResponse(api, new ByteBufferAccessor(bytes), version).throttleTimeMs();
    }

    private double endedSessions() {
        return denials("reason", SESSION_ENDED);
    }

    private int denials(String field, String value) {
        int count = 0;
        for (JsonNode denial : process.get("denied"))
            if (denial.path(field).asText().equals(value))
                count++;
        return count;
    }

    private List<KafkaMetric> values() {
        List<KafkaMetric> found = new ArrayList<>();
        found.add(none(ENDED_OF_A_BROKER, () -> endedSessions() == 0));
        found.add(none(FAILED_AGAIN, () -> denials("operation", "LOGIN") == 0));
        for (String name : UNKNOWN)
            found.add(none(name, () -> false));
        return found;
    }

    /** What is 0 on each broker if it is in sum: nobody can know how it is spread. */
    private static KafkaMetric none(String name, BooleanSupplier none) {
        return metric(new MetricName(name, "socket-server-metrics", "", Map.of()), () -> {
            if (!none.getAsBoolean())
                throw Inside.needed(ALL_ELSE);
            return 0;
        });
    }

    private static KafkaMetric metric(MetricName name, DoubleSupplier value) {
        return new KafkaMetric(new Object(), name, (org.apache.kafka.common.metrics.Gauge<Double>) (config, nowMs) -> value.getAsDouble(),
            new MetricConfig(), Time.SYSTEM);
    }
}
