package odradek;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.HttpURLConnection;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;

/** A process `odradek serve`, forked by the one that the system property `odradek.command` starts. */
public final class Odradek implements AutoCloseable {
    /** The process did not start: the configuration asks for something that odradek does not have. */
    public static final class Refused extends RuntimeException {
        public Refused(String why) {
            super(why);
        }
    }

    static {
        System.setProperty("http.keepAlive", "false");  // its timer is a thread that tests would take for a leak
    }

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final int FIRST_PORT = 15_000, LAST_PORT = 31_500;
    private static int nextPort = new Random().nextInt(FIRST_PORT, LAST_PORT);
    private static final String USERS = "users.txt";
    private static Process forks;
    private static BufferedReader forked;
    private static final Set<Odradek> RUNNING = ConcurrentHashMap.newKeySet();
    private static volatile boolean ran;
    private final ProcessHandle process;
    private final Path folder;
    private final int controlPort;

    private Odradek(ProcessHandle process, Path folder, int controlPort) {
        this.process = process;
        this.folder = folder;
        this.controlPort = controlPort;
    }

    /** Start a cluster; the ports in the configuration are those of its first node. */
    public static Odradek start(int nodes, Map<String, String> config, List<String> more, Map<String, String> environment)
            throws IOException {
        Path folder = Files.createTempDirectory("odradek-suite-");
        Properties properties = new Properties();
        properties.putAll(config);
        Path file = folder.resolve("server.properties");
        try (OutputStream out = Files.newOutputStream(file)) {
            properties.store(out, null);
        }
        int control = freePorts(1);
        List<String> arguments = new ArrayList<>(List.of(
            "serve", "--kafka-version", "4.3", "--nodes", "" + nodes, "--config-file", file.toString(), "--control-port", "" + control));
        arguments.addAll(more);
        Path errors = folder.resolve("stderr.txt");
        Path said = folder.resolve("stdout.txt");
        ProcessHandle process = fork(Map.of(
            "arguments", arguments, "environment", environment, "out", said.toString(), "err", errors.toString(),
            "users", folder.resolve(USERS).toString()));
        Odradek started = new Odradek(process, folder, control);
        ran = true;
        RUNNING.add(started);
        boolean lives = true;
        while (lives) {
            lives = process.isAlive();
            if (Files.exists(said) && Files.readString(said).contains("odradek ready"))
                return started;
            try {
                Thread.sleep(5);
            } catch (InterruptedException interrupted) {
                started.close();
                throw new IllegalStateException(interrupted);
            }
        }
        List<String> lines = Files.exists(errors) ? Files.readAllLines(errors) : List.of();
        String last = lines.isEmpty() ? "it ended without a word" : lines.get(lines.size() - 1);
        started.close();
        if (last.contains("odradek[gssapi]"))
            throw new org.opentest4j.TestAbortedException(last);
        throw new Refused(last);
    }

    /** Whether a cluster ran since this was asked last. */
    static boolean takeRan() {
        boolean taken = ran;
        ran = !RUNNING.isEmpty();
        return taken;
    }

    /** A process of `odradek` made by that of serve.py, which starts with the first. */
    private static synchronized ProcessHandle fork(Map<String, Object> asked) throws IOException {
        if (forks == null || !forks.isAlive()) {
            forks = new ProcessBuilder(System.getProperty("odradek.command").split(" "))
                .redirectError(ProcessBuilder.Redirect.INHERIT).start();
            forked = forks.inputReader();
        }
        BufferedWriter asks = forks.outputWriter();
        asks.write(JSON.writeValueAsString(asked));
        asks.newLine();
        asks.flush();
        String id = forked.readLine();
        if (id == null)
            throw new IOException("serve.py ended");
        return ProcessHandle.of(Long.parseLong(id)).orElseThrow();
    }

    /** The first of so many ports in a row that are free, below those that a system gives to clients. No port comes
     *  twice, as the first caller may not listen yet when the next one asks. */
    public static synchronized int freePorts(int count) {
        while (true) {
            if (nextPort + count > LAST_PORT)
                nextPort = FIRST_PORT;
            int first = nextPort;
            nextPort += count;
            if (allFree(first, count))
                return first;
        }
    }

    private static boolean allFree(int first, int count) {
        for (int port = first; port < first + count; port++)
            try (ServerSocket attempt = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
                attempt.setReuseAddress(true);
            } catch (IOException taken) {
                return false;
            }
        return true;
    }

    /** Who has logged in, by the connection. */
    public Map<String, String> users() {
        Map<String, String> found = new HashMap<>();
        try (Stream<String> lines = Files.lines(folder.resolve(USERS))) {
            lines.map(line -> line.split("\t", 2)).forEach(line -> found.put(line[0], line[1]));
        } catch (NoSuchFileException nobody) {
            // nobody has logged in yet
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
        return found;
    }

    /** What the control API says. */
    public JsonNode get(String path) {
        return call("GET", path, null);
    }

    /** Tell the control API to do something. */
    public JsonNode post(String path, Map<String, ?> body) {
        return call("POST", path, body);
    }

    private JsonNode call(String method, String path, Map<String, ?> body) {
        try {
            URI address = URI.create("http://127.0.0.1:" + controlPort + "/v1/" + path);
            HttpURLConnection connection = (HttpURLConnection) address.toURL().openConnection();
            connection.setRequestMethod(method);
            if (body != null) {
                connection.setDoOutput(true);
                connection.setRequestProperty("Content-Type", "application/json");
                connection.getOutputStream().write(JSON.writeValueAsString(body).getBytes(StandardCharsets.UTF_8));
            }
            if (connection.getResponseCode() >= 400)
                try (InputStream error = connection.getErrorStream()) {
                    throw new IllegalStateException(path + ": " + new String(error.readAllBytes(), StandardCharsets.UTF_8));
                }
            try (InputStream answer = connection.getInputStream()) {
                byte[] bytes = answer.readAllBytes();
                return bytes.length == 0 ? JSON.nullNode() : JSON.readTree(bytes);
            }
        } catch (IOException error) {
            throw new IllegalStateException("odradek's control API: " + error, error);
        }
    }

    /** End the process. What it logged as an error of its own fails the test. */
    @Override
    public void close() {
        RUNNING.remove(this);
        process.destroy();
        try {
            process.onExit().get(20, TimeUnit.SECONDS);
        } catch (TimeoutException | ExecutionException hangs) {
            process.destroyForcibly();
        } catch (InterruptedException interrupted) {
            process.destroyForcibly();
            Thread.currentThread().interrupt();
        }
        try {
            for (String line : Files.readAllLines(folder.resolve("stderr.txt")))
                if (line.contains(" ERROR odradek"))
                    System.err.println("odradek: " + line);
            for (String name : List.of("server.properties", "stdout.txt", "stderr.txt", USERS))
                Files.deleteIfExists(folder.resolve(name));
            Files.deleteIfExists(folder);
        } catch (IOException gone) {
            // the folder lies among the temporary ones
        }
    }
}
