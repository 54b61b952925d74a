import org.apache.kafka.common.errors.InvalidMetadataException;
import org.apache.kafka.common.errors.RetriableException;
import org.apache.kafka.common.protocol.ApiKeys;
import org.apache.kafka.common.protocol.Errors;

/** Prints what only Kafka's enums know: whether an API is a broker's own or forwarded, and the kinds of errors. */
public class Enums {
    public static void main(String[] arguments) {
        for (ApiKeys api : ApiKeys.values()) {
            System.out.printf("api %d %s %b %b%n", api.id, api.name, api.clusterAction, api.forwardable);
        }
        for (Errors error : Errors.values()) {
            Exception exception = error.exception();
            System.out.printf("error %d %s %b %b%n", error.code(), error.name(),
                exception instanceof RetriableException, exception instanceof InvalidMetadataException);
        }
    }
}
