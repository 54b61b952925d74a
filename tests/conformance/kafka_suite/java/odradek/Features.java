package odradek;

import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.function.Supplier;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.FeatureMetadata;
import org.apache.kafka.clients.admin.FeatureUpdate;
import org.apache.kafka.clients.admin.UpdateFeaturesOptions;
import org.apache.kafka.server.common.Feature;
import org.apache.kafka.server.common.MetadataVersion;

/** Levels of features that a test formats its cluster with. */
public final class Features {
    private Features() { }

    /** Bring a new cluster to these levels; what Kafka's tests take for granted needs no request. */
    public static void set(Map<String, Short> asked, Supplier<Admin> admins) {
        Map<String, Short> others = new HashMap<>();
        asked.forEach((name, level) -> {
            if (level != usual(name) && !(name.equals(MetadataVersion.FEATURE_NAME) && level > usual(name)))
                others.put(name, level);
        });
        if (others.isEmpty())
            return;
        try (Admin admin = admins.get()) {
            FeatureMetadata there = admin.describeFeatures().featureMetadata().get();
            Map<String, FeatureUpdate> updates = new HashMap<>();
            others.forEach((name, level) -> {
                var now = there.finalizedFeatures().get(name);
                short before = now == null ? 0 : now.maxVersionLevel();
                if (before != level)
                    updates.put(name, new FeatureUpdate(level, level > before ? FeatureUpdate.UpgradeType.UPGRADE
                        : FeatureUpdate.UpgradeType.UNSAFE_DOWNGRADE));
            });
            if (!updates.isEmpty())
                admin.updateFeatures(updates, new UpdateFeaturesOptions()).all().get();
        } catch (ExecutionException refused) {
            throw new Odradek.Refused("the features of a new cluster can't be brought to " + others + ": " + refused.getCause());
        } catch (InterruptedException interrupted) {
            throw new IllegalStateException(interrupted);
        }
    }

    private static short usual(String name) {
        if (name.equals(MetadataVersion.FEATURE_NAME))
            return MetadataVersion.latestProduction().featureLevel();
        for (Feature feature : Feature.values())
            if (feature.featureName().equals(name))
                return feature.defaultLevel(MetadataVersion.latestProduction());
        return 0;
    }
}
