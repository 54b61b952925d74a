package scenarios;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.lang.reflect.InvocationTargetException;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.common.utils.Exit;

/**
 * One JVM for a whole test session: reads jobs as JSON lines, runs them, answers a JSON line for each.
 *
 * <p>A scenario job names a static method of this package; scenarios run several at a time. A tool job names a class of
 * Kafka's command line, whose main method runs in this JVM with its output captured; tools run one at a time.
 */
public final class Host {
    static final ObjectMapper JSON = new ObjectMapper();
    private static final long SCENARIO_SECONDS = 300;
    private static volatile Integer exited;
    private static final List<Runnable> AT_EXIT = new CopyOnWriteArrayList<>();
    private static final PrintStream ANSWERS = System.out;
    private static final Redirect OUT = new Redirect(OutputStream.nullOutputStream());
    private static final Redirect ERR = new Redirect(OutputStream.nullOutputStream());

    /** Where System.out goes now; Scala's console keeps the first stream it saw, so that one must be able to turn. */
    private static final class Redirect extends OutputStream {
        private volatile OutputStream target;

        Redirect(OutputStream target) {
            this.target = target;
        }

        @Override
        public void write(int value) throws java.io.IOException {
            target.write(value);
        }

        @Override
        public void write(byte[] bytes, int start, int length) throws java.io.IOException {
            target.write(bytes, start, length);
        }
    }

    /** What a tool's exit is turned into. */
    private static final class ToolExit extends Error {
        final int status;

        ToolExit(int status) {
            super("exit " + status, null, false, false);
            this.status = status;
        }
    }

    public static void main(String[] args) throws Exception {
        System.setOut(new PrintStream(OUT, true));
        System.setErr(new PrintStream(ERR, true));
        Exit.setExitProcedure((status, message) -> exit(status));
        Exit.setHaltProcedure((status, message) -> exit(status));
        Exit.setShutdownHookAdder((name, hook) -> AT_EXIT.add(hook));
        ExecutorService scenarios = Executors.newFixedThreadPool(Integer.parseInt(args[0]), Host::daemon);
        ExecutorService tools = Executors.newSingleThreadExecutor(Host::daemon);
        BufferedReader jobs = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = jobs.readLine(); line != null; line = jobs.readLine()) {
            JsonNode job = JSON.readTree(line);
            if (job.has("main")) {
                tools.submit(() -> answer(job, tool(job)));
            } else {
                scenarios.submit(() -> answer(job, scenario(job)));
            }
        }
        Runtime.getRuntime().halt(0);
    }

    /** The first exit of a tool counts: some catch what this throws, and exit once more. */
    private static void exit(int status) {
        if (exited == null) {
            exited = status;
        }
        throw new ToolExit(exited);
    }

    private static Thread daemon(Runnable work) {
        Thread thread = new Thread(work);
        thread.setDaemon(true);
        return thread;
    }

    private static synchronized void answer(JsonNode job, Map<String, Object> result) {
        result.put("id", job.get("id").asInt());
        try {
            ANSWERS.println(JSON.writeValueAsString(result));
        } catch (Exception failure) {
            throw new IllegalStateException(failure);
        }
        ANSWERS.flush();
    }

    private static Map<String, Object> scenario(JsonNode job) {
        Map<String, Object> result = new LinkedHashMap<>();
        long start = System.nanoTime();
        ExecutorService alone = Executors.newSingleThreadExecutor(Host::daemon);
        Context context = new Context(job.get("bootstrap").asText());
        try {
            String[] name = job.get("name").asText().split("\\.");
            var method = Class.forName("scenarios." + name[0]).getMethod(name[1], Context.class);
            Future<Object> run = alone.submit(() -> method.invoke(null, context));
            run.get(SCENARIO_SECONDS, TimeUnit.SECONDS);
            result.put("ok", true);
        } catch (TimeoutException slow) {
            result.put("ok", false);
            result.put("error", "not done within " + SCENARIO_SECONDS + " s");
        } catch (Throwable failure) {
            Throwable cause = failure;
            while (cause.getCause() != null
                    && (cause instanceof java.util.concurrent.ExecutionException || cause instanceof InvocationTargetException)
                    && cause.getStackTrace().length > 0
                    && !(cause instanceof AssertionError)) {
                cause = cause.getCause();
            }
            StringWriter trace = new StringWriter();
            cause.printStackTrace(new PrintWriter(trace));
            result.put("ok", false);
            result.put("error", trace.toString());
        } finally {
            alone.shutdownNow();
            context.close();
        }
        result.put("ms", (System.nanoTime() - start) / 1_000_000);
        return result;
    }

    private static Map<String, Object> tool(JsonNode job) {
        String[] args = new String[job.get("args").size()];
        for (int i = 0; i < args.length; i++) {
            args[i] = job.get("args").get(i).asText();
        }
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        ByteArrayOutputStream err = new ByteArrayOutputStream();
        InputStream stdin = System.in;
        OUT.target = out;
        ERR.target = err;
        System.setIn(new ByteArrayInputStream(job.path("stdin").asText("").getBytes(StandardCharsets.UTF_8)));
        int status = 0;
        exited = null;
        try {
            Class.forName(job.get("main").asText()).getMethod("main", String[].class).invoke(null, (Object) args);
        } catch (InvocationTargetException wrapped) {
            status = statusOf(wrapped.getCause(), err);
        } catch (ReflectiveOperationException missing) {
            status = statusOf(missing, err);
        } finally {
            AT_EXIT.forEach(Runnable::run);
            AT_EXIT.clear();
            System.setIn(stdin);
            OUT.target = OutputStream.nullOutputStream();
            ERR.target = OutputStream.nullOutputStream();
        }
        Map<String, Object> result = new LinkedHashMap<>();
        result.put("status", exited == null ? status : exited);
        result.put("stdout", out.toString(StandardCharsets.UTF_8));
        result.put("stderr", err.toString(StandardCharsets.UTF_8));
        return result;
    }

    private static int statusOf(Throwable failure, ByteArrayOutputStream err) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (cause instanceof ToolExit exit) {
                return exit.status;
            }
        }
        failure.printStackTrace(new PrintStream(err, true));
        return 1;
    }
}
