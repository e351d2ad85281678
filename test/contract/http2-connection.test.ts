/** The start of a connection, and frames of the whole connection: RFC 9113, sections 3.4, 6.5, and 6.7 to 6.9. */
import test from 'ava';
import {
  data,
  flag,
  frame,
  opening,
  preface,
  request,
  setting as settingId,
  settings,
  settingsAck,
  type,
  uint32,
  windowUpdate,
} from './http2-client.ts';
import { conversations, readAllFrom, serving } from './http2-fixture.ts';

const protocolError = 'goaway PROTOCOL_ERROR';
const frameSizeError = 'goaway FRAME_SIZE_ERROR';

conversations([
  // 6.5
  { title: 'SETTINGS are acknowledged', send: [settings([settingId.streams, 100])], answers: 'settings taken' },
  { title: 'SETTINGS that say nothing are acknowledged', send: [settings()], answers: 'settings taken' },
  { title: 'an acknowledgement of SETTINGS is taken', send: [settingsAck, request(1)], answers: 'answer 1 200' },
  {
    title: 'SETTINGS with unknown identifiers are acknowledged',
    send: [settings([0xff, 1], [0, 2], [0xffff, 0xffff_ffff]), request(1)],
    answers: 'answer 1 200',
  },
  {
    title: 'an acknowledgement of SETTINGS with a payload ends the connection',
    send: [frame(type.settings, flag.ack, 0, Buffer.alloc(6))],
    answers: frameSizeError,
  },
  {
    title: 'SETTINGS on a stream end the connection',
    send: [frame(type.settings, 0, 1)],
    answers: protocolError,
  },
  ...[3, 7].map((length) => ({
    title: `SETTINGS of ${length} bytes end the connection`,
    send: [frame(type.settings, 0, 0, Buffer.alloc(length))],
    answers: frameSizeError,
  })),
  {
    title: 'SETTINGS_ENABLE_PUSH other than 0 and 1 ends the connection',
    send: [settings([settingId.push, 2])],
    answers: protocolError,
  },
  ...[0x8000_0000, 0xffff_ffff].map((value) => ({
    title: `SETTINGS_INITIAL_WINDOW_SIZE of ${value} ends the connection`,
    send: [settings([settingId.window, value])],
    answers: 'goaway FLOW_CONTROL_ERROR',
  })),
  ...[0, 16_383, 16_777_216].map((value) => ({
    title: `SETTINGS_MAX_FRAME_SIZE of ${value} ends the connection`,
    send: [settings([settingId.frameSize, value])],
    answers: protocolError,
  })),
  {
    title: 'each setting may have its bounds',
    send: [
      settings([settingId.push, 0], [settingId.push, 1]),
      settings([settingId.window, 0x7fff_ffff], [settingId.window, 0], [settingId.window, 65_535]),
      settings([settingId.frameSize, 16_777_215], [settingId.frameSize, 16_384]),
      settings([settingId.tableSize, 0], [settingId.tableSize, 0xffff_ffff]),
      settings([settingId.streams, 0], [settingId.listSize, 0xffff_ffff]),
      request(1),
    ],
    answers: 'answer 1 200',
  },
]);

conversations([
  // 6.7
  {
    title: 'PING is answered with its own bytes',
    send: [frame(type.ping, 0, 0, '\0\xff echo!')],
    answers: 'pong \0\xff echo!',
  },
  {
    title: 'the answer to a PING is not answered',
    send: [frame(type.ping, flag.ack, 0, 'not this')],
    answers: 'settings taken',
    never: /not this/,
  },
  {
    title: 'PING on a stream ends the connection',
    send: [frame(type.ping, 0, 1, 'a stream')],
    answers: protocolError,
  },
  ...[0, 6, 9].map((length) => ({
    title: `PING of ${length} bytes ends the connection`,
    send: [frame(type.ping, 0, 0, Buffer.alloc(length))],
    answers: frameSizeError,
  })),
  // 6.8
  {
    title: 'GOAWAY on a stream ends the connection',
    send: [frame(type.goaway, 0, 1, uint32(0, 0))],
    answers: protocolError,
  },
  {
    title: 'GOAWAY too short for what it must say ends the connection',
    send: [frame(type.goaway, 0, 0, Buffer.alloc(7))],
    answers: frameSizeError,
  },
  {
    title: 'a client that says GOAWAY still gets the answers to what it asked',
    send: [opening(1), frame(type.goaway, 0, 0, Buffer.concat([uint32(0, 0), Buffer.from('bye')])), data(1, 'x', 1)],
    answers: 'bytes 1 7',
  },
  {
    title: 'GOAWAY with an unknown code does no harm',
    send: [frame(type.goaway, 0, 0, uint32(0, 0xff))],
    answers: 'settings taken',
  },
  // 6.9
  { title: 'WINDOW_UPDATE of 0 on the connection ends it', send: [windowUpdate(0, 0)], answers: protocolError },
  {
    title: 'WINDOW_UPDATE of 0 on a stream ends it',
    send: [opening(1), windowUpdate(1, 0)],
    answers: `reset 1 PROTOCOL_ERROR | ${protocolError}`,
  },
  ...[3, 5].map((length) => ({
    title: `WINDOW_UPDATE of ${length} bytes ends the connection`,
    send: [frame(type.windowUpdate, 0, 0, Buffer.alloc(length, 1))],
    answers: frameSizeError,
  })),
]);

test('the first frame of a server is its SETTINGS frame, with limits that are enforced', async (t) => {
  await using fixture = await serving();
  const peer = await fixture.greeted().untilEvent('settings taken');
  const [first] = peer.frames;
  t.is(peer.events[0], 'settings');
  const values = new Map<number, number>();
  const payload = first?.payload ?? Buffer.alloc(0);
  for (let at = 0; at < payload.length; at += 6) values.set(payload.readUInt16BE(at), payload.readUInt32BE(at + 2));
  t.is(values.get(settingId.streams), 256);
  t.is(values.get(settingId.window), 4 * 1024 * 1024);
  t.is(values.get(settingId.listSize), 16 * 1024);
  t.true((values.get(settingId.frameSize) ?? 16_384) === 16_384);
  t.true(peer.events.includes(`window 0 ${16 * 1024 * 1024 - 65_535}`));
});

for (const [title, bytes] of [
  ['a preface that is another', `${preface.slice(0, -4)}XX\r\n${settings().toString('latin1')}`],
  ['a preface that is followed by no settings', `${preface}${frame(type.ping, 0, 0, 'too soon').toString('latin1')}`],
  ['a preface that is followed by an acknowledgement', `${preface}${settingsAck.toString('latin1')}`],
] as const)
  test(`${title} closes the connection`, async (t) => {
    await using fixture = await serving();
    const receivedBytes = await readAllFrom(fixture.port, Buffer.from(bytes, 'latin1'));
    t.false(receivedBytes.includes('too soon'));
    t.is(fixture.calls.length, 0);
  });
