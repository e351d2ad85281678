/** A conversation has the same meaning wherever the network splits its bytes. */
import type { Socket } from 'node:net';
import test from 'ava';
import {
  block,
  data,
  fieldsTo,
  flag,
  frame,
  opening,
  Peer,
  ping,
  preface,
  request,
  reset,
  setting,
  settings,
  settingsAck,
  type,
  uint32,
  whole,
  windowUpdate,
} from './http2-client.ts';
import { closedOnce, type Serving, serving } from './http2-fixture.ts';

const fields = block(fieldsTo('/'));

/** Frames of each type: two interleaved calls, one answered early, one that is reset, and an error at the end. */
const conversation = Buffer.concat([
  Buffer.from(preface),
  settings([setting.window, 70_000], [setting.push, 0]),
  settingsAck,
  frame(type.headers, 0, 1, fields.subarray(0, 11)),
  frame(type.continuation, 0, 1, fields.subarray(11, 12)),
  frame(type.continuation, flag.endHeaders, 1, fields.subarray(12)),
  opening(3, '/', [['content-length', '4']]),
  data(1, 'one'),
  frame(type.data, flag.padded, 3, '\x02bo\0\0'),
  frame(0xaa, 0xff, 9, 'unknown'),
  data(1, ''),
  frame(type.data, flag.padded | flag.endStream, 3, '\x00dy'),
  frame(type.priority, 0, 7, Buffer.concat([uint32(1), Buffer.from([3])])),
  frame(type.headers, whole, 1, block([['x-sum', '1']], 0x40)),
  opening(5, '/early'),
  data(5, 'not wanted', flag.endStream),
  windowUpdate(0, 5),
  opening(7, '/silent'),
  reset(7),
  frame(
    type.headers,
    whole | flag.padded,
    9,
    Buffer.concat([Buffer.from([3]), block(fieldsTo('/', 'GET')), Buffer.alloc(3)]),
  ),
  request(11, '', whole),
  ping(),
  frame(type.ping, 0, 0, 'too short'),
]);

/** Sends the parts, each after the server has read the previous one. */
const held = async (fixture: Serving, parts: readonly Uint8Array[]): Promise<string[]> => {
  const { promise: accepted, resolve } = Promise.withResolvers<Socket>();
  fixture.http2.server.once('connection', resolve);
  const peer = new Peer(fixture.port);
  const socket = await accepted;
  let sent = 0;
  for (const part of parts) {
    peer.send(part);
    sent += part.length;
    while (socket.bytesRead < sent && !socket.destroyed) await new Promise((next) => setImmediate(next));
  }
  await peer.closed();
  // The server is free in how much of its window it returns, and when.
  return peer.events.filter((one) => !one.startsWith('window'));
};

test('a conversation has the same meaning wherever it is split in two', async (t) => {
  await using fixture = await serving();
  const expected = await held(fixture, [conversation]);
  t.deepEqual(
    expected.filter((one) => /^(answer|reset|goaway)/.test(one)),
    [
      'answer 3 200',
      'answer 1 200',
      'answer 5 200',
      'reset 5 NO_ERROR',
      'answer 9 200',
      'reset 11 PROTOCOL_ERROR',
      'goaway FRAME_SIZE_ERROR',
    ],
  );
  t.deepEqual(
    expected.filter((one) => one.startsWith('bytes')),
    ['bytes 3 7', 'bytes 1 7', 'bytes 5 7', 'bytes 9 7'],
  );
  t.true(expected.includes('pong are you?'));
  for (let cut = 1; cut < conversation.length; cut++)
    t.deepEqual(
      await held(fixture, [conversation.subarray(0, cut), conversation.subarray(cut)]),
      expected,
      `at ${cut}`,
    );
  await fixture.empty();
  t.is(fixture.calls.length, conversation.length * 5);
  closedOnce(t, fixture);
});

for (const size of [1, 2, 3, 8, 9, 10])
  test(`a conversation has the same meaning in pieces of ${size} bytes`, async (t) => {
    await using fixture = await serving();
    const expected = await held(fixture, [conversation]);
    const parts = Array.from({ length: Math.ceil(conversation.length / size) }, (_, index) =>
      conversation.subarray(index * size, (index + 1) * size),
    );
    t.deepEqual(await held(fixture, parts), expected);
    await fixture.empty();
    closedOnce(t, fixture);
  });
