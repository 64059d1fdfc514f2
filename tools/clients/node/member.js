// A member of a group with kafkajs; the protocol is in member/member.go.
const readline = require('node:readline')
const { Kafka, logLevel } = require('kafkajs')

const [brokers, group, topic, name, session, heartbeat] = process.argv.slice(2)
const say = (event) => process.stdout.write(JSON.stringify(event) + '\n')
const complain = (error) => say({ event: 'error', text: String(error) })
process.on('unhandledRejection', complain)

let owned = []
let next = {}

function revoke() {
  if (owned.length === 0) return
  say({ event: 'revoked', partitions: owned })
  owned = []
  next = {}
}

async function main() {
  say({ event: 'hello', version: require('kafkajs/package.json').version })
  const kafka = new Kafka({ clientId: name, brokers: brokers.split(','), logLevel: logLevel.ERROR })
  const admin = kafka.admin()
  const consumer = kafka.consumer({
    groupId: group,
    sessionTimeout: Number(session),
    rebalanceTimeout: 10000,
    heartbeatInterval: Number(heartbeat),
    maxWaitTimeInMs: 100,
  })
  const { GROUP_JOIN, REBALANCING, CRASH } = consumer.events
  consumer.on(REBALANCING, revoke)
  consumer.on(CRASH, ({ payload }) => complain(payload.error))
  consumer.on(GROUP_JOIN, ({ payload }) => {
    revoke()
    owned = [...(payload.memberAssignment[topic] ?? [])].sort()
    say({ event: 'assigned', partitions: owned })
  })
  await Promise.all([admin.connect(), consumer.connect()])
  await consumer.subscribe({ topics: [topic], fromBeginning: true })
  await consumer.run({
    autoCommit: false,
    eachMessage: async ({ partition, message }) => {
      if (!owned.includes(partition)) return
      next[partition] = Number(message.offset) + 1
      say({ event: 'consumed', partition, offset: Number(message.offset) })
    },
  })

  const commands = {
    async commit() {
      const offsets = { ...next }
      await consumer.commitOffsets(Object.entries(offsets).map(([partition, offset]) => ({ topic, partition: Number(partition), offset: String(offset) })))
      say({ event: 'committed', offsets })
    },
    async read() {
      const [{ partitions }] = await admin.fetchOffsets({ groupId: group, topics: [topic] })
      say({ event: 'read', offsets: Object.fromEntries(partitions.filter((p) => Number(p.offset) >= 0).map((p) => [p.partition, Number(p.offset)])) })
    },
    async close() {
      await consumer.disconnect()
      await admin.disconnect()
      process.exit(0)
    },
  }
  const lines = readline.createInterface({ input: process.stdin })
  lines.on('line', (line) => commands[line]().catch(complain))
  lines.on('close', () => process.exit(2))
}

main().catch((error) => {
  complain(error)
  process.exit(1)
})
