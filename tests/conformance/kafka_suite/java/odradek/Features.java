package odradek;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.kafka.server.common.Feature;
import org.apache.kafka.server.common.MetadataVersion;

/** Levels of features that a test formats its cluster with, as options of `odradek serve`. */
final class Features {
    private Features() { }

    /** What is another than usual. */
    static List<String> options(Map<String, Short> levels) {
        List<String> found = new ArrayList<>();
        MetadataVersion newest = MetadataVersion.latestProduction();
        short asked = levels.getOrDefault(MetadataVersion.FEATURE_NAME, newest.featureLevel());
        MetadataVersion version = MetadataVersion.fromFeatureLevel(asked);
        if (asked > newest.featureLevel())
            found.addAll(List.of("--feature", MetadataVersion.FEATURE_NAME + "=" + asked));
        else if (version != newest)
            found.addAll(List.of("--release-version", version.version()));
        for (Feature feature : Feature.PRODUCTION_FEATURES) {
            Short level = levels.get(feature.featureName());
            if (level != null && level != feature.defaultLevel(version))
                found.addAll(List.of("--feature", feature.featureName() + "=" + level));
        }
        return found;
    }
}
