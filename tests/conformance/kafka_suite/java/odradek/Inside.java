package odradek;

import java.util.Map;
import org.mockito.Mockito;

/** Objects of a broker that a test may hold: they answer what a client can know, and end the test for all else. */
public final class Inside {
    /** An error, as helpers of tests that wait for something try again after exceptions. */
    public static final class Needed extends Error {
        Needed(String what) {
            super("needs the inside of a broker: " + what);
        }
    }

    /** What a method answers to its arguments. */
    public interface Answer {
        Object to(Object[] arguments) throws Throwable;
    }

    private static volatile Needed first;

    private Inside() { }

    /** The error to throw where a test needs what no client can see. */
    public static Needed needed(String what) {
        Needed needed = new Needed(what);
        if (first == null)
            first = needed;
        return needed;
    }

    /** What the test under way needed first, also where it swallowed the error; null if nothing. */
    public static Needed takeFirst() {
        Needed taken = first;
        first = null;
        return taken;
    }

    /** An object of a class that knows the answers of these methods. */
    public static <T> T of(Class<T> type, Map<String, Answer> known) {
        return Mockito.mock(type, Mockito.withSettings().stubOnly().defaultAnswer(call -> {
            String method = call.getMethod().getName();
            Answer answer = known.get(method);
            if (answer != null)
                return answer.to(call.getArguments());
            switch (method) {
                case "toString":
                    return type.getSimpleName() + " of odradek";
                case "hashCode":
                    return System.identityHashCode(call.getMock());
                case "equals":
                    return call.getMock() == call.getArgument(0);
                default:
                    throw needed(type.getSimpleName() + "." + method);
            }
        }));
    }
}
