package odradek;

import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.KeyPairGeneratorSpi;
import java.security.Provider;
import java.security.SecureRandom;
import java.security.Security;
import java.security.spec.AlgorithmParameterSpec;
import java.util.ArrayList;
import java.util.List;

/** Pairs of RSA keys that each test gets in the same order: tests with TLS spend most of their time making them.
 *  Within a test no pair comes twice. */
public final class Keys extends Provider {
    private static final int USUAL_BITS = 2048;
    private static final List<KeyPair> pairs = new ArrayList<>();
    private static int given;

    private Keys() {
        super("odradek", "1", "RSA keys that were made before");
        put("KeyPairGenerator.RSA", Generator.class.getName());
    }

    static void install() {
        Security.insertProviderAt(new Keys(), 1);
    }

    static synchronized void beginTest() {
        given = 0;
    }

    private static synchronized KeyPair next() throws GeneralSecurityException {
        if (given == pairs.size())
            pairs.add(usual().generateKeyPair());
        return pairs.get(given++);
    }

    private static KeyPairGenerator usual() throws GeneralSecurityException {
        return KeyPairGenerator.getInstance("RSA", "SunRsaSign");
    }

    public static final class Generator extends KeyPairGeneratorSpi {
        private KeyPairGenerator asked;

        @Override
        public void initialize(int bits, SecureRandom random) {
            try {
                asked = null;
                if (bits == USUAL_BITS)
                    return;
                asked = usual();
                asked.initialize(bits, random);
            } catch (GeneralSecurityException missing) {
                throw new IllegalStateException(missing);
            }
        }

        @Override
        public void initialize(AlgorithmParameterSpec parameters, SecureRandom random) {
            try {
                asked = usual();
                asked.initialize(parameters, random);
            } catch (GeneralSecurityException missing) {
                throw new IllegalStateException(missing);
            }
        }

        @Override
        public KeyPair generateKeyPair() {
            try {
                return asked == null ? next() : asked.generateKeyPair();
            } catch (GeneralSecurityException missing) {
                throw new IllegalStateException(missing);
            }
        }
    }
}
