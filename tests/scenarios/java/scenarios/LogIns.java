package scenarios;

import static scenarios.Context.PATIENCE_S;
import static scenarios.Context.check;
import static scenarios.Context.equal;
import static scenarios.Context.fails;
import static scenarios.Context.unique;
import static scenarios.Context.waitUntil;

import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.CreateDelegationTokenOptions;
import org.apache.kafka.clients.admin.DescribeDelegationTokenOptions;
import org.apache.kafka.clients.admin.ExpireDelegationTokenOptions;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.ScramCredentialInfo;
import org.apache.kafka.clients.admin.ScramMechanism;
import org.apache.kafka.clients.admin.UserScramCredentialDeletion;
import org.apache.kafka.clients.admin.UserScramCredentialUpsertion;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.Metric;
import org.apache.kafka.common.errors.DelegationTokenNotFoundException;
import org.apache.kafka.common.errors.DelegationTokenOwnerMismatchException;
import org.apache.kafka.common.errors.ResourceNotFoundException;
import org.apache.kafka.common.errors.SaslAuthenticationException;
import org.apache.kafka.common.errors.UnsupportedByAuthenticationException;
import org.apache.kafka.common.errors.UnsupportedSaslMechanismException;
import org.apache.kafka.common.security.auth.KafkaPrincipal;
import org.apache.kafka.common.security.token.delegation.DelegationToken;
import org.apache.kafka.common.serialization.StringSerializer;

/**
 * Log-ins by PLAIN, SCRAM and tokens.
 *
 * <p>The context's address is a list: the addresses of the listeners, `SASL=host:port,SHORT=...,TLS=...`, and `ca=` a path.
 */
public final class LogIns {
    private static final Map<String, String> PASSWORDS = Map.of("PLAIN", "alice's \"secret\"", "SCRAM-SHA-256", "pencil", "SCRAM-SHA-512", "pencil");
    private static final String PACKAGE = "org.apache.kafka.common.security.";

    private static String place(Context context, String name) {
        return Arrays.stream(context.bootstrap.split(","))
                .filter(each -> each.startsWith(name + "="))
                .findFirst()
                .orElseThrow()
                .substring(name.length() + 1);
    }

    private static Map<String, Object> config(Context context, String listener, String mechanism, String user, String password, String more) {
        String module = mechanism.equals("PLAIN") ? "plain.PlainLoginModule" : "scram.ScramLoginModule";
        String jaas = PACKAGE + module + " required username=\"" + user + "\" password=\"" + password.replace("\"", "\\\"") + "\"" + more + ";";
        Map<String, Object> config = new HashMap<>();
        config.put("bootstrap.servers", place(context, listener));
        config.put("security.protocol", listener.equals("TLS") ? "SASL_SSL" : "SASL_PLAINTEXT");
        config.put("sasl.mechanism", mechanism);
        config.put("sasl.jaas.config", jaas);
        if (listener.equals("TLS")) {
            config.put("ssl.truststore.type", "PEM");
            config.put("ssl.truststore.location", place(context, "ca"));
        }
        return config;
    }

    private static Admin admin(Context context, String listener, String mechanism) {
        return context.keep(Admin.create(config(context, listener, mechanism, "alice", PASSWORDS.get(mechanism), "")));
    }

    private static Admin admin(Context context, String mechanism, String user, String password) {
        return context.keep(Admin.create(config(context, "SASL", mechanism, user, password, "")));
    }

    private static Admin withToken(Context context, String mechanism, DelegationToken token) {
        String id = token.tokenInfo().tokenId();
        return context.keep(Admin.create(config(context, "SASL", mechanism, id, token.hmacAsBase64String(), " tokenauth=\"true\"")));
    }

    private static void served(Admin admin) throws Exception {
        equal(1, admin.describeCluster().nodes().get(PATIENCE_S, TimeUnit.SECONDS).size());
    }

    /** Waits until the log-in goes through: a broker learns of users and tokens after the answer. */
    private static void letIn(Callable<Admin> login) throws Exception {
        waitUntil("a log-in", () -> {
            try {
                served(login.call());
                return true;
            } catch (ExecutionException refused) {
                check(refused.getCause() instanceof SaslAuthenticationException, refused.toString());
                return false;
            }
        });
    }

    /** Waits until the log-in is refused. */
    private static void turnedAway(Callable<Admin> login) throws Exception {
        waitUntil("a refusal", () -> {
            try {
                served(login.call());
                return false;
            } catch (ExecutionException refused) {
                check(refused.getCause() instanceof SaslAuthenticationException, refused.toString());
                return true;
            }
        });
    }

    private static String topic(Admin admin) throws Exception {
        String name = unique("log-in");
        admin.createTopics(List.of(new NewTopic(name, 1, (short) 1))).all().get(PATIENCE_S, TimeUnit.SECONDS);
        return name;
    }

    /** The sum of a client's figures of this name. */
    private static double figure(Map<?, ? extends Metric> metrics, String name) {
        return metrics.values().stream()
                .filter(each -> each.metricName().name().equals(name) && each.metricName().group().endsWith("-metrics"))
                .filter(each -> each.metricName().tags().keySet().equals(Set.of("client-id")))
                .mapToDouble(each -> (double) each.metricValue())
                .sum();
    }

    public static void mechanisms(Context context) throws Exception {
        for (String listener : List.of("SASL", "TLS")) {
            for (String mechanism : PASSWORDS.keySet()) {
                served(admin(context, listener, mechanism));
            }
        }
    }

    public static void wrongPasswords(Context context) throws Exception {
        for (String mechanism : PASSWORDS.keySet()) {
            String told = mechanism.equals("PLAIN")
                    ? "Authentication failed: Invalid username or password"
                    : "Authentication failed during authentication due to invalid credentials with SASL mechanism " + mechanism;
            for (String user : List.of("alice", "nobody")) {
                Admin guessing = admin(context, mechanism, user, "guess");
                equal(told, fails(SaslAuthenticationException.class, guessing.describeCluster().nodes()).getMessage());
            }
        }
    }

    public static void mechanismsThatAreNotServed(Context context) throws Exception {
        Map<String, Object> config = config(context, "SASL", "SCRAM-SHA-256", "alice", "pencil", "");
        config.put("sasl.mechanism", "OAUTHBEARER");
        config.put("sasl.jaas.config", PACKAGE + "oauthbearer.OAuthBearerLoginModule required unsecuredLoginStringClaim_sub=\"alice\";");
        Admin admin = context.keep(Admin.create(config));
        String told = fails(UnsupportedSaslMechanismException.class, admin.describeCluster().nodes()).getMessage();
        equal("Client SASL mechanism 'OAUTHBEARER' not enabled in the server, enabled mechanisms are [PLAIN, SCRAM-SHA-512, SCRAM-SHA-256]", told);
    }

    /** A producer's connection outlives its sessions by logging in again, as its own figures tell. */
    public static void sessionsThatEnd(Context context) throws Exception {
        String topic = topic(admin(context, "SASL", "PLAIN"));
        Map<String, Object> config = config(context, "SHORT", "SCRAM-SHA-256", "alice", "pencil", "");
        config.put("linger.ms", 0);
        try (var producer = new KafkaProducer<>(config, new StringSerializer(), new StringSerializer())) {
            long[] next = {0};
            waitUntil("two further log-ins", () -> {
                equal(next[0]++, producer.send(new ProducerRecord<>(topic, "v")).get(PATIENCE_S, TimeUnit.SECONDS).offset());
                return figure(producer.metrics(), "successful-reauthentication-total") >= 2;
            });
        }
    }

    public static void usersOfScram(Context context) throws Exception {
        Admin admin = admin(context, "SASL", "PLAIN");
        String user = unique("user");
        var info = new ScramCredentialInfo(ScramMechanism.SCRAM_SHA_512, 8192);
        admin.alterUserScramCredentials(List.of(new UserScramCredentialUpsertion(user, info, "first"))).all().get(PATIENCE_S, TimeUnit.SECONDS);
        letIn(() -> admin(context, "SCRAM-SHA-512", user, "first"));
        served(admin(context, "SCRAM-SHA-512", user, "first"));
        equal(List.of(info), admin.describeUserScramCredentials(List.of(user)).description(user).get().credentialInfos());
        check(admin.describeUserScramCredentials().users().get().contains(user), "all users");
        turnedAway(() -> admin(context, "SCRAM-SHA-256", user, "first"));
        admin.alterUserScramCredentials(List.of(new UserScramCredentialUpsertion(user, info, "second"))).all().get(PATIENCE_S, TimeUnit.SECONDS);
        turnedAway(() -> admin(context, "SCRAM-SHA-512", user, "first"));
        letIn(() -> admin(context, "SCRAM-SHA-512", user, "second"));
        var deletion = new UserScramCredentialDeletion(user, ScramMechanism.SCRAM_SHA_512);
        admin.alterUserScramCredentials(List.of(deletion)).all().get(PATIENCE_S, TimeUnit.SECONDS);
        turnedAway(() -> admin(context, "SCRAM-SHA-512", user, "second"));
        fails(ResourceNotFoundException.class, admin.describeUserScramCredentials(List.of(user)).description(user));
        fails(ResourceNotFoundException.class, admin.alterUserScramCredentials(List.of(deletion)).all());
    }

    public static void tokens(Context context) throws Exception {
        Admin admin = admin(context, "SASL", "SCRAM-SHA-256");
        var bob = new KafkaPrincipal("User", "bob");
        DelegationToken token = admin.createDelegationToken(new CreateDelegationTokenOptions().renewers(List.of(bob))).delegationToken().get();
        equal("User:alice", token.tokenInfo().ownerAsString());
        equal("User:alice", token.tokenInfo().tokenRequesterAsString());
        for (String mechanism : List.of("SCRAM-SHA-256", "SCRAM-SHA-512")) {
            letIn(() -> withToken(context, mechanism, token));
            Admin holder = withToken(context, mechanism, token);
            // who has come with a token gets no other one
            fails(UnsupportedByAuthenticationException.class, holder.createDelegationToken().delegationToken());
        }
        turnedAway(() -> admin(context, "SCRAM-SHA-256", token.tokenInfo().tokenId(), token.hmacAsBase64String()));
        var asked = new DescribeDelegationTokenOptions().owners(List.of(new KafkaPrincipal("User", "alice")));
        waitUntil("the token", () -> admin.describeDelegationToken(asked).delegationTokens().get().contains(token));
        Admin other = admin(context, "SCRAM-SHA-256", "bob", "eraser");
        check(other.renewDelegationToken(token.hmac()).expiryTimestamp().get() > 0, "renewed by its renewer");
        fails(DelegationTokenOwnerMismatchException.class, admin(context, "SCRAM-SHA-256", "a=b,c", "comma").expireDelegationToken(token.hmac()).expiryTimestamp());
        admin.expireDelegationToken(token.hmac(), new ExpireDelegationTokenOptions().expiryTimePeriodMs(-1)).expiryTimestamp().get();
        // a real controller learns after its answer that the token is gone, and a renewal before that brings it back
        turnedAway(() -> withToken(context, "SCRAM-SHA-256", token));
        waitUntil("no token", () -> !admin.describeDelegationToken(asked).delegationTokens().get().contains(token));
        fails(DelegationTokenNotFoundException.class, admin.renewDelegationToken(token.hmac()).expiryTimestamp());
    }

    private LogIns() {}
}
