import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import org.apache.kafka.common.errors.ThrottlingQuotaExceededException;
import org.apache.kafka.common.metrics.MetricConfig;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.metrics.Quota;
import org.apache.kafka.common.security.auth.KafkaPrincipal;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.network.Session;
import org.apache.kafka.server.config.ClientQuotaManagerConfig;
import org.apache.kafka.server.quota.ClientQuotaEntity.ConfigEntity;
import org.apache.kafka.server.quota.ClientQuotaManager;
import org.apache.kafka.server.quota.ClientRequestQuotaManager;
import org.apache.kafka.server.quota.ControllerMutationQuota;
import org.apache.kafka.server.quota.ControllerMutationQuotaManager;
import org.apache.kafka.server.quota.QuotaType;

/**
 * Drives Kafka's own quota managers with a clock that stands still: each line of standard input is a story, each line of
 * output what came of its steps. See tests/scenarios/quota_figures.py, which writes the stories and keeps both.
 */
public class QuotaRecorder {
    private static final ObjectMapper JSON = new ObjectMapper();

    static class StandingTime implements Time {
        long nowMs = 1_700_000_000_000L;

        @Override
        public long milliseconds() {
            return nowMs;
        }

        @Override
        public long nanoseconds() {
            return nowMs * 1_000_000;
        }

        @Override
        public void sleep(long ms) {
            nowMs += ms;
        }

        @Override
        public void waitObject(Object object, Supplier<Boolean> condition, long deadlineMs) {
            throw new UnsupportedOperationException();
        }
    }

    public static void main(String[] arguments) throws Exception {
        var in = new BufferedReader(new InputStreamReader(System.in));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            System.out.println(JSON.writeValueAsString(told(JSON.readTree(line))));
        }
        System.exit(0);
    }

    private static ArrayNode told(JsonNode story) throws Exception {
        var time = new StandingTime();
        var config = new ClientQuotaManagerConfig(story.get("samples").asInt(), story.get("seconds").asInt());
        var metrics = new Metrics(new MetricConfig(), List.of(), time);
        ClientQuotaManager manager = switch (story.get("kind").asText()) {
            case "request" -> new ClientRequestQuotaManager(config, metrics, time, "", Optional.empty());
            case "mutation" -> new ControllerMutationQuotaManager(config, metrics, time, "", Optional.empty());
            default -> new ClientQuotaManager(config, metrics, QuotaType.PRODUCE, time, "");
        };
        var answers = JSON.createArrayNode();
        for (JsonNode step : story.get("steps")) {
            time.nowMs += step.get("after").asLong();
            if (step.get("does").asText().equals("set")) {
                var value = step.get("value").isNull()
                    ? Optional.<Quota>empty() : Optional.of(new Quota(step.get("value").asDouble(), true));
                manager.updateQuota(user(step.get("user")), client(step.get("client")), value);
                continue;
            }
            answer(manager, time, step, answers);
        }
        manager.shutdown();
        metrics.close();
        return answers;
    }

    private static void answer(ClientQuotaManager manager, Time time, JsonNode step, ArrayNode answers) throws Exception {
        var principal = new KafkaPrincipal("User", step.get("user").asText());
        var session = new Session(principal, InetAddress.getLoopbackAddress());
        var client = step.get("client").isNull() ? null : step.get("client").asText();
        var value = step.get("value").asDouble();
        switch (step.get("does").asText()) {
            case "record" ->
                answers.add(manager.maybeRecordAndGetThrottleTimeMs(session, client, value, time.milliseconds()));
            case "take back" -> manager.unrecordQuotaSensor(session, client, value, time.milliseconds());
            case "most" -> answers.add(manager.maxValueInQuotaWindow(session, client));
            default -> {
                var strict = step.get("does").asText().equals("strict");
                var mutations = (ControllerMutationQuotaManager) manager;
                ControllerMutationQuota quota = strict
                    ? mutations.newStrictQuotaFor(session, client) : mutations.newPermissiveQuotaFor(session, client);
                var refused = false;
                try {
                    quota.record(value);
                } catch (ThrottlingQuotaExceededException error) {
                    refused = true;
                }
                answers.add(refused ? -quota.throttleTime() : quota.throttleTime());
            }
        }
    }

    private static Optional<ConfigEntity> user(JsonNode name) {
        if (name.isNull()) return Optional.of(ClientQuotaManager.DEFAULT_USER_ENTITY);
        return name.asText().isEmpty() ? Optional.empty() : Optional.of(new ClientQuotaManager.UserEntity(name.asText()));
    }

    private static Optional<ConfigEntity> client(JsonNode name) {
        if (name.isNull()) return Optional.of(ClientQuotaManager.DEFAULT_USER_CLIENT_ID);
        return name.asText().isEmpty()
            ? Optional.empty() : Optional.of(new ClientQuotaManager.ClientIdEntity(name.asText()));
    }
}
