package odradek;

import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectUniqueId;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.File;
import java.io.FileWriter;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.platform.engine.DiscoverySelector;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.UniqueId;
import org.junit.platform.launcher.Launcher;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;

/** Runs what stands in the lines of its input, a class or the unique id of a test, and writes a line of JSON for each test. */
public final class Suite {
    private static final String CLASS_PATH = "java.class.path";

    private Suite() { }

    public static void main(String[] arguments) throws IOException {
        PrintWriter results = new PrintWriter(new FileWriter(arguments[0]), true);
        BufferedReader asked = new BufferedReader(new InputStreamReader(System.in));
        Keys.install();
        Launcher launcher = LauncherFactory.create();
        String classPath = System.getProperty(CLASS_PATH);
        for (String line = asked.readLine(); line != null; line = asked.readLine()) {
            String what = line.trim();
            System.setProperty(CLASS_PATH, what.contains("org.apache.kafka.connect.") ? withPlugins(classPath) : classPath);
            try {
                DiscoverySelector selector = what.startsWith("[") ? selectUniqueId(what) : selectClass(what);
                LauncherDiscoveryRequest request = LauncherDiscoveryRequestBuilder.request().selectors(selector).build();
                launcher.execute(request, new Listener(results));
            } catch (Throwable error) {
                Listener.write(results, Map.of("id", "", "test", "", "outcome", "failed", "why", why(error), "trace", trace(error), "seconds", 0));
            }
            Listener.write(results, Map.of("end", what));
        }
        System.exit(0);
    }

    /** The jars where a worker of Connect finds plugins: each worker that starts reads all classes of what this property names. */
    private static String withPlugins(String classPath) {
        return Arrays.stream(classPath.split(File.pathSeparator))
            .filter(entry -> new File(entry).getName().matches("(connect-|kafka-clients-).*"))
            .collect(Collectors.joining(File.pathSeparator));
    }

    static String why(Throwable error) {
        return error.getClass().getSimpleName() + ": " + error.getMessage();
    }

    static String trace(Throwable error) {
        StringWriter text = new StringWriter();
        error.printStackTrace(new PrintWriter(text));
        return text.toString();
    }

    private static final class Listener implements TestExecutionListener {
        private static final ObjectMapper JSON = new ObjectMapper();
        private final PrintWriter results;
        private final Map<String, Long> began = new HashMap<>();

        Listener(PrintWriter results) {
            this.results = results;
        }

        static synchronized void write(PrintWriter results, Map<String, ?> line) {
            try {
                results.println(JSON.writeValueAsString(line));
            } catch (IOException error) {
                throw new IllegalStateException(error);
            }
        }

        @Override
        public void executionStarted(TestIdentifier test) {
            began.put(test.getUniqueId(), System.nanoTime());
            if (test.isTest()) {
                Inside.takeFirst();
                Odradek.takeRan();
                Keys.beginTest();
                write(results, Map.of("began", name(test)));
            }
        }

        @Override
        public void executionSkipped(TestIdentifier test, String reason) {
            tell(test, "disabled", reason, "");
        }

        @Override
        public void executionFinished(TestIdentifier test, TestExecutionResult result) {
            Throwable error = result.getThrowable().orElse(null);
            Inside.Needed needed = Inside.takeFirst();
            if (!test.isTest() && error == null)
                return;
            if (needed != null)
                tell(test, "inside", needed.getMessage(), trace(needed));
            else if (error == null)
                tell(test, Odradek.takeRan() ? "passed" : "alone", "", "");
            else
                tell(test, result.getStatus() == TestExecutionResult.Status.ABORTED ? "skipped" : "failed", why(error), trace(error));
        }

        private void tell(TestIdentifier test, String outcome, String why, String trace) {
            Map<String, Object> line = new LinkedHashMap<>();
            line.put("id", test.getUniqueId());
            line.put("test", name(test));
            line.put("outcome", outcome);
            line.put("why", why);
            line.put("trace", trace);
            long since = began.getOrDefault(test.getUniqueId(), System.nanoTime());
            line.put("seconds", (System.nanoTime() - since) / 1_000_000 / 1000.0);
            write(results, line);
        }

        /** The method, and the number of the invocation where one method is several tests; empty for a class. */
        private static String name(TestIdentifier test) {
            StringBuilder name = new StringBuilder();
            for (UniqueId.Segment segment : test.getUniqueIdObject().getSegments())
                switch (segment.getType()) {
                    case "nested-class" -> name.append(segment.getValue()).append('.');
                    case "method", "test-template", "test-factory" -> name.append(segment.getValue().replaceAll("\\(.*", ""));
                    case "test-template-invocation", "dynamic-test" -> name.append(' ').append(segment.getValue());
                    default -> { }
                }
            return name.toString();
        }
    }
}
