"""A member of a group with kafka-python; the protocol is in member/member.go."""

import kafka
from kafka import ConsumerRebalanceListener, KafkaConsumer, TopicPartition
from kafka.structs import OffsetAndMetadata

import protocol


class Listener(ConsumerRebalanceListener):
    def __init__(self, teller):
        self.teller = teller

    def on_partitions_assigned(self, assigned):
        self.teller.assigned(p.partition for p in assigned)

    def on_partitions_revoked(self, revoked):
        self.teller.revoked(p.partition for p in revoked)


def main():
    o, teller, commands = protocol.start(kafka.__version__)
    consumer = KafkaConsumer(
        bootstrap_servers=o.brokers,
        client_id=o.name,
        group_id=o.group,
        session_timeout_ms=o.session,
        heartbeat_interval_ms=o.heartbeat,
        enable_auto_commit=False,
        auto_offset_reset="earliest",
        partition_assignment_strategy=[kafka.coordinator.assignors.range.RangePartitionAssignor],
    )
    consumer.subscribe([o.topic], listener=Listener(teller))
    while True:
        for records in consumer.poll(timeout_ms=100).values():
            for record in records:
                teller.consumed(record.partition, record.offset)
        command = commands.take()
        if command == "commit":
            consumer.commit({TopicPartition(o.topic, p): OffsetAndMetadata(at, "", -1) for p, at in teller.next.items()})
            teller.offsets("committed", teller.next)
        elif command == "read":
            committed = {p: consumer.committed(TopicPartition(o.topic, p)) for p in consumer.partitions_for_topic(o.topic)}
            teller.offsets("read", committed)
        elif command == "close":
            consumer.close()
            return


main()
