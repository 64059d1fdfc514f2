import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.Collectors;

import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.CooperativeStickyAssignor;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.consumer.RangeAssignor;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.utils.AppInfoParser;

/** A member of a group with Apache's own client; the protocol is in member/member.go. */
public final class Member implements ConsumerRebalanceListener {
    private final TreeMap<Integer, Long> next = new TreeMap<>();

    public static void main(String[] args) {
        say("{\"event\":\"hello\",\"version\":\"" + AppInfoParser.getVersion() + "\"}");
        new Member().run(args);
    }

    private void run(String[] args) {
        String topic = args[2];
        Properties p = new Properties();
        p.put("bootstrap.servers", args[0]);
        p.put("group.id", args[1]);
        p.put("client.id", args[3]);
        p.put("session.timeout.ms", args[4]);
        p.put("heartbeat.interval.ms", args[5]);
        p.put("partition.assignment.strategy", (args[6].equals("cooperative") ? CooperativeStickyAssignor.class : RangeAssignor.class).getName());
        p.put("enable.auto.commit", "false");
        p.put("auto.offset.reset", "earliest");
        ConcurrentLinkedQueue<String> commands = new ConcurrentLinkedQueue<>();
        Thread input = new Thread(() -> read(commands));
        input.setDaemon(true);
        input.start();
        try (KafkaConsumer<byte[], byte[]> consumer = new KafkaConsumer<>(p, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
            consumer.subscribe(List.of(topic), this);
            while (true) {
                for (ConsumerRecord<byte[], byte[]> r : consumer.poll(Duration.ofMillis(100))) {
                    next.put(r.partition(), r.offset() + 1);
                    say("{\"event\":\"consumed\",\"partition\":" + r.partition() + ",\"offset\":" + r.offset() + "}");
                }
                String command = commands.poll();
                if ("commit".equals(command)) {
                    Map<TopicPartition, OffsetAndMetadata> offsets = new HashMap<>();
                    next.forEach((n, at) -> offsets.put(new TopicPartition(topic, n), new OffsetAndMetadata(at)));
                    consumer.commitSync(offsets);
                    offsets("committed", next);
                } else if ("read".equals(command)) {
                    TreeMap<Integer, Long> read = new TreeMap<>();
                    consumer.committed(consumer.partitionsFor(topic).stream().map(i -> new TopicPartition(topic, i.partition())).collect(Collectors.toSet()))
                        .forEach((t, at) -> {
                            if (at != null) {
                                read.put(t.partition(), at.offset());
                            }
                        });
                    offsets("read", read);
                } else if ("close".equals(command)) {
                    return;
                }
            }
        }
    }

    @Override
    public void onPartitionsAssigned(Collection<TopicPartition> partitions) {
        next.keySet().removeAll(numbers(partitions));
        say("{\"event\":\"assigned\",\"partitions\":" + numbers(partitions) + "}");
    }

    @Override
    public void onPartitionsRevoked(Collection<TopicPartition> partitions) {
        next.keySet().removeAll(numbers(partitions));
        say("{\"event\":\"revoked\",\"partitions\":" + numbers(partitions) + "}");
    }

    private static TreeSet<Integer> numbers(Collection<TopicPartition> partitions) {
        return partitions.stream().map(TopicPartition::partition).collect(Collectors.toCollection(TreeSet::new));
    }

    private static void offsets(String event, Map<Integer, Long> offsets) {
        say("{\"event\":\"" + event + "\",\"offsets\":{"
            + offsets.entrySet().stream().map(e -> "\"" + e.getKey() + "\":" + e.getValue()).collect(Collectors.joining(",")) + "}}");
    }

    private static void read(ConcurrentLinkedQueue<String> commands) {
        try (BufferedReader in = new BufferedReader(new InputStreamReader(System.in))) {
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                commands.add(line.trim());
            }
        } catch (java.io.IOException e) {
            // is the end of it, too
        }
        Runtime.getRuntime().halt(2);
    }

    private static synchronized void say(String line) {
        System.out.println(line);
        System.out.flush();
    }
}
