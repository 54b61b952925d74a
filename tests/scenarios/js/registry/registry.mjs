// Two clients of a schema registry: one JSON line for each scenario.
//
//   node registry.mjs URL
import assert from 'node:assert/strict'
import kafkajs from '@kafkajs/confluent-schema-registry'
import confluent from '@confluentinc/schemaregistry'

const { SchemaRegistry, SchemaType } = kafkajs
const { SchemaRegistryClient, AvroSerializer, AvroDeserializer, JsonSerializer, JsonDeserializer, SerdeType } = confluent
const url = process.argv[2]
const avro = JSON.stringify({ type: 'record', name: 'Order', namespace: 'js', fields: [{ name: 'number', type: 'int' }] })
const other = avro.replace('"int"', '"string"')
const json = JSON.stringify({ type: 'object', properties: { number: { type: 'integer' } }, required: ['number'] })

async function kafkajsAvro() {
  const registry = new SchemaRegistry({ host: url })
  const { id } = await registry.register({ type: SchemaType.AVRO, schema: avro })
  const encoded = await registry.encode(id, { number: 7 })
  assert.deepEqual({ ...(await new SchemaRegistry({ host: url }).decode(encoded)) }, { number: 7 })
  assert.equal(await registry.getLatestSchemaId('js.Order'), id)
}

async function kafkajsJson() {
  const registry = new SchemaRegistry({ host: url })
  const { id } = await registry.register({ type: SchemaType.JSON, schema: json }, { subject: 'js-json' })
  const encoded = await registry.encode(id, { number: 7 })
  assert.deepEqual(await new SchemaRegistry({ host: url }).decode(encoded), { number: 7 })
}

async function kafkajsRefusesWhatIsNotCompatible() {
  const registry = new SchemaRegistry({ host: url })
  await registry.register({ type: SchemaType.AVRO, schema: avro }, { subject: 'js-strict' })
  await assert.rejects(registry.register({ type: SchemaType.AVRO, schema: other }, { subject: 'js-strict' }), /not compatible/)
}

async function confluentAvro() {
  const client = new SchemaRegistryClient({ baseURLs: [url] })
  const id = await client.register('js-topic-value', { schemaType: 'AVRO', schema: avro })
  assert.equal(await client.getId('js-topic-value', { schemaType: 'AVRO', schema: avro }), id)
  const encoded = await new AvroSerializer(client, SerdeType.VALUE, { useLatestVersion: true }).serialize('js-topic', { number: 7 })
  const decoded = await new AvroDeserializer(client, SerdeType.VALUE, {}).deserialize('js-topic', encoded)
  assert.deepEqual({ ...decoded }, { number: 7 })
  assert.equal(await client.testSubjectCompatibility('js-topic-value', { schemaType: 'AVRO', schema: other }), false)
}

async function confluentJson() {
  const client = new SchemaRegistryClient({ baseURLs: [url] })
  await client.register('js-json-topic-value', { schemaType: 'JSON', schema: json })
  const encoded = await new JsonSerializer(client, SerdeType.VALUE, { useLatestVersion: true, validate: true }).serialize('js-json-topic', { number: 7 })
  assert.deepEqual(await new JsonDeserializer(client, SerdeType.VALUE, {}).deserialize('js-json-topic', encoded), { number: 7 })
}

for (const scenario of [kafkajsAvro, kafkajsJson, kafkajsRefusesWhatIsNotCompatible, confluentAvro, confluentJson]) {
  let error = ''
  try {
    await scenario()
  } catch (raised) {
    error = String(raised?.stack ?? raised)
  }
  console.log(JSON.stringify({ scenario: scenario.name, error }))
}
process.exit(0)
