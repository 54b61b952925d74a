package odradek;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Optional;
import javax.net.ssl.SSLSession;
import javax.security.auth.callback.Callback;
import javax.security.auth.callback.NameCallback;
import javax.security.auth.x500.X500Principal;
import javax.security.sasl.SaslServer;
import org.apache.kafka.common.security.auth.AuthenticateCallbackHandler;
import org.apache.kafka.common.security.auth.AuthenticationContext;
import org.apache.kafka.common.security.auth.KafkaPrincipal;
import org.apache.kafka.common.security.auth.KafkaPrincipalBuilder;
import org.apache.kafka.common.security.auth.PlaintextAuthenticationContext;
import org.apache.kafka.common.security.auth.SaslAuthenticationContext;
import org.apache.kafka.common.security.auth.SecurityProtocol;
import org.apache.kafka.common.security.auth.SslAuthenticationContext;
import org.apache.kafka.common.security.plain.PlainAuthenticateCallback;

/** Runs the test's own principal builders and checks of passwords for a broker that cannot load them; serve.py asks. */
final class Principals implements AutoCloseable {
    private static final ObjectMapper JSON = new ObjectMapper();
    private final Map<String, KafkaPrincipalBuilder> builders;
    private final Map<String, AuthenticateCallbackHandler> passwords;
    private final ServerSocket server;
    private final Thread answers = new Thread(this::answer, "odradek-principals");

    /** Both by the name of the listener. */
    Principals(Map<String, KafkaPrincipalBuilder> builders, Map<String, AuthenticateCallbackHandler> passwords)
            throws IOException {
        this.builders = builders;
        this.passwords = passwords;
        server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        answers.setDaemon(true);
        answers.start();
    }

    /** What serve.py has to know. */
    String address() throws IOException {
        return JSON.writeValueAsString(Map.of(
            "port", server.getLocalPort(), "builders", builders.keySet(), "passwords", passwords.keySet()));
    }

    private void answer() {
        while (true)
            try (Socket broker = server.accept();
                 BufferedReader asked = new BufferedReader(new InputStreamReader(broker.getInputStream(), StandardCharsets.UTF_8));
                 PrintStream answers = new PrintStream(broker.getOutputStream(), true, StandardCharsets.UTF_8)) {
                answers.println(JSON.writeValueAsString(found(JSON.readTree(asked.readLine()))));
            } catch (SocketException closed) {
                return;
            } catch (IOException error) {
                System.err.println("odradek: principals: " + error);
            }
    }

    private Map<String, ?> found(JsonNode asked) {
        try {
            if (asked.has("password"))
                return Map.of("right", isRight(asked));
            KafkaPrincipal principal = builders.get(asked.path("listener").asText()).build(context(asked));
            return Map.of("type", principal.getPrincipalType(), "name", principal.getName());
        } catch (Exception | Error error) {
            return Map.of("error", String.valueOf(error));
        }
    }

    private boolean isRight(JsonNode asked) throws Exception {
        PlainAuthenticateCallback password = new PlainAuthenticateCallback(asked.path("password").asText().toCharArray());
        NameCallback name = new NameCallback("username: ", asked.path("name").asText());
        passwords.get(asked.path("listener").asText()).handle(new Callback[] {name, password});
        return password.authenticated();
    }

    private static AuthenticationContext context(JsonNode asked) throws IOException {
        String listener = asked.path("listener").asText();
        InetAddress address = InetAddress.getByName(asked.path("address").asText());
        SecurityProtocol protocol = SecurityProtocol.forName(asked.path("protocol").asText());
        Optional<SSLSession> session = Optional.ofNullable(asked.get("subject")).map(subject -> Inside.of(SSLSession.class,
            Map.of("getPeerPrincipal", any -> new X500Principal(subject.asText()))));
        return switch (protocol) {
            case PLAINTEXT -> new PlaintextAuthenticationContext(address, listener);
            case SSL -> new SslAuthenticationContext(session.orElseThrow(), address, listener);
            default -> new SaslAuthenticationContext(Inside.of(SaslServer.class,
                Map.of("getAuthorizationID", any -> asked.path("name").asText())), protocol, address, listener, session);
        };
    }

    @Override
    public void close() {
        try {
            server.close();
            answers.join(10_000);  // tests count the threads that are left
            for (KafkaPrincipalBuilder builder : builders.values())
                if (builder instanceof AutoCloseable closes)
                    closes.close();
            passwords.values().forEach(AuthenticateCallbackHandler::close);
        } catch (Exception error) {
            throw new IllegalStateException(error);
        }
    }
}
