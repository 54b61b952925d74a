import com.google.re2j.Pattern;
import com.google.re2j.PatternSyntaxException;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;

/** What RE2/J, which Kafka uses for subscriptions, says of the patterns on stdin: its complaint, or which arguments match. */
public class PatternRecorder {
    public static void main(String[] topics) throws Exception {
        var in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            System.out.println(said(line, topics));
        }
    }

    private static String said(String regex, String[] topics) {
        Pattern pattern;
        try {
            pattern = Pattern.compile(regex);
        } catch (PatternSyntaxException error) {
            return "!" + error.getDescription();
        }
        var matching = new StringBuilder();
        for (String topic : topics) {
            if (pattern.matcher(topic).matches()) {
                matching.append(matching.isEmpty() ? "" : " ").append(topic);
            }
        }
        return matching.toString();
    }
}
