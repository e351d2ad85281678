/** Which requests share a bus message. */
import test from 'ava';
import type { MessagePart } from '../../receivers/engine/prepare.ts';
import { type Origin, Publisher } from '../../receivers/engine/publisher.ts';
import type { Message, Producer } from '../../schemas/ports/bus.ts';
import { decodeHeaders, maxMessageDecompressedBytes } from '../../schemas/telemetry-message.ts';

const caller = { tenantId: 'acme', projectId: 'shop', keyId: 'k1', shards: 1 };
const origin: Origin = {
  caller,
  signal: 'logs',
  format: 'otlp',
  source: '192.0.2.7',
  traceparent: '',
  receivedAtMs: 1,
};
const piece: MessagePart = { bytes: Buffer.from('body'), size: 4, records: 1, encoding: 'identity' };

/** Publishes all requests at once, and returns the messages. */
const published = async (requests: readonly (readonly [Origin, MessagePart])[]): Promise<Message[]> => {
  const messages: Message[] = [];
  const producer: Pick<Producer, 'publish'> = {
    publish: async (input) => void messages.push(...input),
  };
  const publisher = new Publisher(producer as Producer, { countPublish() {} } as never, 5);
  await Promise.all(requests.map(([from, body]) => publisher.publish(from, { size: body.size, messageParts: [body] })));
  return messages;
};

const membersOf = (messages: readonly Message[]) => messages.map(({ headers }) => decodeHeaders(headers).members);

test('requests with equal message headers share one message', async (t) => {
  const elsewhere = { ...origin, source: '192.0.2.8', traceparent: 'x', receivedAtMs: 2 };
  const [members, ...others] = membersOf(
    await published([
      [origin, piece],
      [elsewhere, piece],
    ]),
  );
  t.deepEqual(others, []);
  t.deepEqual(
    members?.map(({ source, receivedAtMs }) => [source, receivedAtMs]),
    [
      ['192.0.2.7', 1],
      ['192.0.2.8', 2],
    ],
  );
});

const different: [string, Origin, MessagePart][] = [
  ['key', { ...origin, caller: { ...caller, keyId: 'k2' } }, piece],
  ['project', { ...origin, caller: { ...caller, projectId: 'other' } }, piece],
  ['organization', { ...origin, caller: { ...caller, tenantId: 'other' } }, piece],
  ['signal', { ...origin, signal: 'traces' }, piece],
  ['format', { ...origin, signal: 'metrics', format: 'remote-write-1' }, piece],
  ['encoding', origin, { ...piece, encoding: 'gzip' }],
];

for (const [what, other, body] of different)
  test(`requests of another ${what} never share a message`, async (t) => {
    const messages = await published([
      [origin, piece],
      [other, body],
      [origin, piece],
      [other, body],
    ]);
    t.deepEqual(
      membersOf(messages).map(({ length }) => length),
      [2, 2],
    );
    const decoded = messages.map(({ headers }) => {
      const { tenantId, projectId, keyId, signal, format, encoding } = decodeHeaders(headers);
      return [tenantId, projectId, keyId, signal, format, encoding];
    });
    const expected = [
      [origin, piece],
      [other, body],
    ].map(([from, given]) => {
      const { caller: of, signal, format } = from as Origin;
      return [of.tenantId, of.projectId, of.keyId, signal, format, (given as MessagePart).encoding];
    });
    t.deepEqual(decoded, expected);
  });

test('a message of several requests never exceeds, decompressed, the limit of consumers', async (t) => {
  // Each body has a few bytes, like one that compresses well.
  const third = { ...piece, size: Math.floor(maxMessageDecompressedBytes / 3) + 1 };
  const messages = await published(Array.from({ length: 7 }, () => [origin, third] as const));
  const members = membersOf(messages);
  t.is(members.flat().length, 7, 'nothing is omitted');
  for (const each of members)
    t.true(each.reduce((sum, { size }) => sum + size, 0) <= maxMessageDecompressedBytes, `${each.length} members`);
  t.true(
    members.some(({ length }) => length > 1),
    'they are joined as far as they fit',
  );
});

test('messages of an organization are distributed round-robin over its shards', async (t) => {
  const spread = { ...origin, caller: { ...caller, shards: 3 } };
  const large = { ...piece, bytes: Buffer.alloc(200_000), size: 200_000 };
  const messages = await published(Array.from({ length: 6 }, () => [spread, large] as const));
  t.deepEqual(
    messages.map(({ key }) => key),
    ['acme/0', 'acme/1', 'acme/2', 'acme/0', 'acme/1', 'acme/2'],
  );
});
