/** Frames of requests, valid and invalid, and split header blocks: RFC 9113, sections 4, 5.5, 6.1–6.4, 6.6, 6.10. */
import {
  block,
  data,
  fieldsTo,
  flag,
  frame,
  opening,
  request,
  reset,
  settings,
  type,
  uint32,
  whole,
  windowUpdate,
} from './http2-client.ts';
import { conversations } from './http2-fixture.ts';

const fields = block(fieldsTo('/'));
const headers = (flags: number, streamId: number, payload: Uint8Array = fields): Buffer =>
  frame(type.headers, flags, streamId, payload);
const continuation = (flags: number, streamId: number, payload: Uint8Array = Buffer.alloc(0)): Buffer =>
  frame(type.continuation, flags, streamId, payload);
/** A payload after its padding length. */
const padded = (payload: Uint8Array | string, length: number, there = length): Buffer =>
  Buffer.concat([
    Buffer.from([length]),
    typeof payload === 'string' ? Buffer.from(payload) : payload,
    Buffer.alloc(there),
  ]);
const fullFrame = Buffer.alloc(16_384, 'x');
const tooLong = Buffer.alloc(16_385, 'x');
const reservedBit = (bytes: Buffer): Buffer => {
  const copy = Buffer.from(bytes);
  copy[5] = (copy[5] ?? 0) | 0x80;
  return copy;
};
const unknown = frame(0x16, 0xff, 0, 'whatever this means');
const priorityPrefix = (dependsOn: number, weight = 15): Buffer =>
  Buffer.concat([uint32(dependsOn), Buffer.from([weight])]);

const protocolError = 'goaway PROTOCOL_ERROR';
const frameSizeError = 'goaway FRAME_SIZE_ERROR';

conversations([
  // 4.1 and 5.5
  { title: 'a frame of an unknown type is passed over', send: [unknown, request(1)], answers: 'answer 1 200' },
  {
    title: 'flags that a frame does not have are passed over',
    send: [frame(type.ping, 0x16, 0, 'undefine'), request(1, '/', whole | 0x40 | 0x10)],
    answers: 'answer 1 200',
  },
  {
    title: 'the reserved bit of a stream identifier is passed over',
    send: [reservedBit(frame(type.ping, flag.none, 0, 'reserved')), reservedBit(request(1))],
    answers: 'answer 1 200',
  },
  {
    title: 'a frame of an unknown type within a header block ends the connection',
    send: [headers(flag.endStream, 1), unknown],
    answers: protocolError,
  },
  // 4.2
  {
    title: 'a DATA frame of 16,384 bytes is taken',
    send: [opening(1), data(1, fullFrame, flag.endStream)],
    answers: 'bytes 1 11',
  },
  {
    title: 'a DATA frame above SETTINGS_MAX_FRAME_SIZE is an error of its size',
    send: [opening(1), data(1, tooLong, flag.endStream)],
    answers: `reset 1 FRAME_SIZE_ERROR | ${frameSizeError}`,
    never: /answer 1 200/,
  },
  {
    title: 'a HEADERS frame above SETTINGS_MAX_FRAME_SIZE ends the connection',
    send: [headers(whole, 1, tooLong)],
    answers: frameSizeError,
  },
  {
    title: 'a frame of an unknown type above SETTINGS_MAX_FRAME_SIZE ends the connection',
    send: [frame(0x16, 0, 0, tooLong)],
    answers: frameSizeError,
  },
  // 6.1
  { title: 'DATA on stream 0 ends the connection', send: [data(0, 'x')], answers: protocolError },
  {
    title: 'the padding of DATA is no body',
    send: [opening(1), frame(type.data, flag.padded | flag.endStream, 1, padded('seven', 6))],
    answers: 'bytes 1 7',
  },
  {
    title: 'DATA may be nothing but padding',
    send: [opening(1), frame(type.data, flag.padded | flag.endStream, 1, padded('', 255))],
    answers: 'bytes 1 7',
  },
  {
    title: 'DATA whose padding is as long as the frame ends the connection',
    send: [opening(1), frame(type.data, flag.padded | flag.endStream, 1, padded('four', 5, 0))],
    answers: protocolError,
  },
  {
    title: 'padded DATA without a length of its padding ends the connection',
    send: [opening(1), frame(type.data, flag.padded | flag.endStream, 1)],
    answers: `${protocolError} | ${frameSizeError}`,
  },
  {
    title: 'several DATA frames are one body',
    send: [opening(1), data(1, 'one'), data(1, 'two'), data(1, '!', flag.endStream)],
    answers: 'bytes 1 7',
  },
  // 6.2
  { title: 'HEADERS on stream 0 end the connection', send: [headers(whole, 0)], answers: protocolError },
  {
    title: 'the padding of HEADERS is no header',
    send: [headers(whole | flag.padded, 1, padded(fields, 9))],
    answers: 'answer 1 200',
  },
  {
    title: 'HEADERS with a priority are taken',
    send: [headers(whole | flag.priority, 1, Buffer.concat([priorityPrefix(0), fields]))],
    answers: 'answer 1 200',
  },
  {
    title: 'HEADERS with a priority and padding are taken',
    send: [headers(whole | flag.priority | flag.padded, 1, padded(Buffer.concat([priorityPrefix(0), fields]), 3))],
    answers: 'answer 1 200',
  },
  {
    title: 'HEADERS whose padding is longer than the frame end the connection',
    send: [headers(whole | flag.padded, 1, padded(fields, 255, 0))],
    answers: protocolError,
  },
  {
    title: 'HEADERS too short for their priority end the connection',
    send: [headers(whole | flag.priority, 1, Buffer.alloc(4))],
    answers: `${frameSizeError} | ${protocolError}`,
  },
  // 6.3
  {
    title: 'PRIORITY on stream 0 ends the connection',
    send: [frame(type.priority, 0, 0, priorityPrefix(1))],
    answers: protocolError,
  },
  ...[0, 255].map((weight) => ({
    title: `PRIORITY with the weight ${weight + 1} is passed over`,
    send: [frame(type.priority, 0, 1, priorityPrefix(0, weight)), request(1)],
    answers: 'answer 1 200',
  })),
  {
    title: 'PRIORITY with another dependency, exclusive, is passed over',
    send: [frame(type.priority, 0, 5, priorityPrefix(0x8000_0003)), request(1)],
    answers: 'answer 1 200',
  },
  ...[0, 4, 6].map((length) => ({
    title: `PRIORITY of ${length} bytes is an error of its size`,
    send: [opening(1), frame(type.priority, 0, 1, Buffer.alloc(length))],
    answers: `reset 1 FRAME_SIZE_ERROR | ${frameSizeError}`,
  })),
  // 6.4
  { title: 'RST_STREAM on stream 0 ends the connection', send: [reset(0)], answers: protocolError },
  ...[3, 5].map((length) => ({
    title: `RST_STREAM of ${length} bytes ends the connection`,
    send: [opening(1), frame(type.reset, 0, 1, Buffer.alloc(length))],
    answers: frameSizeError,
  })),
  {
    title: 'RST_STREAM with an unknown code is taken',
    send: [opening(1), reset(1, 0xff), request(3)],
    answers: 'answer 3 200',
  },
  // 6.6 and 8.4
  {
    title: 'a client that sends PUSH_PROMISE ends its connection',
    send: [opening(1), frame(type.pushPromise, flag.endHeaders, 1, Buffer.concat([uint32(2), fields]))],
    answers: protocolError,
  },
]);

conversations([
  // 6.10
  {
    title: 'CONTINUATION frames carry on a header block, whatever their sizes',
    send: [
      headers(flag.endStream, 1, fields.subarray(0, 1)),
      continuation(0, 1, fields.subarray(1, 20)),
      continuation(0, 1),
      continuation(flag.endHeaders, 1, fields.subarray(20)),
    ],
    answers: 'answer 1 200',
  },
  {
    title: 'CONTINUATION frames that bring no more but the end are taken',
    send: [headers(flag.endStream, 1), continuation(flag.endHeaders, 1)],
    answers: 'answer 1 200',
  },
  {
    title: 'a body follows headers that were carried on',
    send: [headers(0, 1, fields.subarray(0, 9)), continuation(flag.endHeaders, 1, fields.subarray(9)), data(1, 'x', 1)],
    answers: 'bytes 1 7',
  },
  ...(
    [
      ['a frame of DATA', data(1, 'x')],
      ['HEADERS of the same stream', headers(whole, 1)],
      ['HEADERS of another stream', headers(whole, 3)],
      ['PRIORITY', frame(type.priority, 0, 1, priorityPrefix(0))],
      ['RST_STREAM', reset(1)],
      ['SETTINGS', settings()],
      ['PING', frame(type.ping, 0, 0, 'not now!')],
      ['GOAWAY', frame(type.goaway, 0, 0, uint32(0, 0))],
      ['WINDOW_UPDATE', windowUpdate(0, 1)],
      ['CONTINUATION of another stream', continuation(flag.endHeaders, 3)],
      ['CONTINUATION of stream 0', continuation(flag.endHeaders, 0)],
    ] as const
  ).flatMap(([what, between]) => [
    {
      title: `${what} within a header block ends the connection`,
      send: [headers(1, 1), between],
      answers: protocolError,
    },
    {
      title: `${what} behind a CONTINUATION ends the connection`,
      send: [headers(1, 1), continuation(0, 1), between],
      answers: protocolError,
    },
  ]),
  {
    title: 'CONTINUATION behind a header block that has ended ends the connection',
    send: [headers(flag.endHeaders, 1), continuation(flag.endHeaders, 1, fields)],
    answers: protocolError,
  },
  {
    title: 'CONTINUATION behind a CONTINUATION that has ended ends the connection',
    send: [headers(0, 1), continuation(flag.endHeaders, 1), continuation(flag.endHeaders, 1)],
    answers: protocolError,
  },
  {
    title: 'CONTINUATION behind DATA ends the connection',
    send: [opening(1), data(1, 'x'), continuation(flag.endHeaders, 1)],
    answers: protocolError,
  },
  // 4.3
  {
    title: 'a header block that cannot be decoded ends the connection',
    send: [headers(whole, 1, Buffer.from([0x40, 0x41, 0xff]))],
    answers: 'goaway COMPRESSION_ERROR',
  },
  {
    title: 'trailers that cannot be decoded end the connection',
    send: [opening(1), headers(whole, 1, Buffer.from([0xff, 0xff, 0xff, 0xff, 0x7f]))],
    answers: 'goaway COMPRESSION_ERROR',
  },
]);
