"""A member of a group with aiokafka; the protocol is in member/member.go."""

import asyncio

import aiokafka
from aiokafka import AIOKafkaConsumer, ConsumerRebalanceListener, TopicPartition
from aiokafka.coordinator.assignors.range import RangePartitionAssignor

import protocol


class Listener(ConsumerRebalanceListener):
    def __init__(self, teller):
        self.teller = teller

    async def on_partitions_assigned(self, assigned):
        self.teller.assigned(p.partition for p in assigned)

    async def on_partitions_revoked(self, revoked):
        self.teller.revoked(p.partition for p in revoked)


async def main():
    o, teller, commands = protocol.start(aiokafka.__version__)
    consumer = AIOKafkaConsumer(
        bootstrap_servers=o.brokers,
        client_id=o.name,
        group_id=o.group,
        session_timeout_ms=o.session,
        heartbeat_interval_ms=o.heartbeat,
        enable_auto_commit=False,
        auto_offset_reset="earliest",
        partition_assignment_strategy=[RangePartitionAssignor],
    )
    consumer.subscribe([o.topic], listener=Listener(teller))
    await consumer.start()
    while True:
        for records in (await consumer.getmany(timeout_ms=100)).values():
            for record in records:
                teller.consumed(record.partition, record.offset)
        command = commands.take()
        if command == "commit":
            await consumer.commit({TopicPartition(o.topic, p): at for p, at in teller.next.items()})
            teller.offsets("committed", teller.next)
        elif command == "read":
            committed = {p: await consumer.committed(TopicPartition(o.topic, p)) for p in consumer.partitions_for_topic(o.topic)}
            teller.offsets("read", committed)
        elif command == "close":
            await consumer.stop()
            return


asyncio.run(main())
