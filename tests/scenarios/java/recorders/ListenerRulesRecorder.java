// What a broker's configuration makes of properties.
//
// Input: lines "== name" with the properties of the case behind them. A value of <none> takes a basic one away.
// Output: "answer", the name, then "refused" and the message, or "taken" and the listeners, the advertised ones, those of
// the controller and the inter-broker listener, parted by tabs.

import java.io.StringReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import java.util.stream.Collectors;
import kafka.server.KafkaConfig;
import org.apache.kafka.common.Endpoint;

public class ListenerRulesRecorder {
    public static void main(String[] arguments) throws Exception {
        String name = null;
        StringBuilder text = new StringBuilder();
        List<String> lines = new ArrayList<>(Files.readAllLines(Path.of(arguments[0])));
        lines.add("== ");
        for (String line : lines) {
            if (!line.startsWith("== ")) {
                text.append(line).append('\n');
                continue;
            }
            if (name != null) {
                System.out.println("answer\t" + name + "\t" + answer(text.toString()));
            }
            name = line.substring(3);
            text.setLength(0);
        }
    }

    private static String answer(String text) throws Exception {
        Properties properties = new Properties();
        properties.load(new StringReader(text));
        properties.values().removeIf("<none>"::equals);
        try {
            KafkaConfig config = new KafkaConfig(properties, false);
            return "taken\t" + shown(config.listeners()) + "\t" + shown(config.effectiveAdvertisedBrokerListeners())
                + "\t" + shown(config.effectiveAdvertisedControllerListeners())
                + "\t" + config.interBrokerListenerName().value();
        } catch (Exception error) {
            return "refused\t" + error.getMessage().replace('\n', ' ');
        }
    }

    private static String shown(scala.collection.Seq<Endpoint> endpoints) {
        return scala.jdk.javaapi.CollectionConverters.asJava(endpoints).stream()
            .map(e -> e.listener() + " " + e.securityProtocol() + " " + (e.host() == null ? "" : e.host()) + " " + e.port())
            .collect(Collectors.joining(","));
    }
}
