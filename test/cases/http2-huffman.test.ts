/** Huffman coding, and header blocks of another encoder: nghttp2, which is part of node:http2. */
import { once } from 'node:events';
import { connect, type OutgoingHttpHeaders, sensitiveHeaders } from 'node:http2';
import { type AddressInfo, createServer } from 'node:net';
import test, { type ExecutionContext } from 'ava';
import { HpackDecoder } from '../../receivers/http2/hpack.ts';
import { fieldsTo, block as literal, setting, settings, type } from '../contract/http2-client.ts';

const hex = (text: string): Buffer => Buffer.from(text, 'hex');
const headersOf = (decoder: HpackDecoder, block: Buffer): Record<string, string> => ({
  ...decoder.decode(block).headers,
});
const refused = (t: ExecutionContext, block: Buffer, message?: string): void => {
  const error: unknown = t.throws(() => new HpackDecoder().decode(block), undefined, message);
  t.like(error, { code: 9 });
};

/** Encodes a value with Huffman coding. */
const huffmanValue = (...bytes: readonly number[]): Buffer => Buffer.from([0, 1, 0x61, 0x80 | bytes.length, ...bytes]);
/**
 * Encodes `count` letters `a`, whose code is 00011, with a padding of ones; counts of 1 to 8 have paddings of 0 to 7
 * bits.
 */
const codeOfA = (count: number, lastBit = ''): number[] => {
  const bits = '00011'.repeat(count);
  const filled = bits.padEnd(Math.ceil(bits.length / 8) * 8 - lastBit.length, '1') + lastBit;
  return [...filled.matchAll(/.{8}/g)].map(([byte]) => Number.parseInt(byte, 2));
};

for (let count = 1; count <= 8; count++) {
  const bits = (8 - ((count * 5) % 8)) % 8;
  test(`Huffman padding of ${bits} bits consists of ones, and is less than a byte`, (t) => {
    t.deepEqual(headersOf(new HpackDecoder(), huffmanValue(...codeOfA(count))), { a: 'a'.repeat(count) });
    refused(t, huffmanValue(...codeOfA(count), 0xff));
    refused(t, huffmanValue(...codeOfA(count), 0xff, 0xff, 0xff, 0xff));
    if (bits > 0) refused(t, huffmanValue(...codeOfA(count, '0')));
  });
}

test('the end-of-string symbol in Huffman coding is a compression error', (t) => {
  for (const bytes of [
    hex('ffffffff'),
    hex('fffffffc'),
    hex('1fffffffff'),
    hex('1fffffffe3'),
    hex('ffffffffff'),
    hex('ff'),
  ])
    refused(t, huffmanValue(...bytes), bytes.toString('hex'));
  t.deepEqual(headersOf(new HpackDecoder(), huffmanValue()), { a: '' });
});

/** Returns header blocks as nghttp2 encodes them, one for each request, in order. */
const encoded = async (all: readonly OutgoingHttpHeaders[]): Promise<Buffer[]> => {
  const blocks: Buffer[] = [];
  let rest: Buffer = Buffer.alloc(0);
  const { promise: whole, resolve } = Promise.withResolvers<void>();
  const handleFrame = (kind: number, flags: number, payload: Buffer): void => {
    // A priority precedes the block.
    if (kind === type.headers) blocks.push(payload.subarray((flags & 0x20) === 0 ? 0 : 5));
    if (kind === type.continuation) blocks.push(Buffer.concat([blocks.pop() ?? payload, payload]));
  };
  const read = (chunk: Buffer): void => {
    rest = Buffer.concat([rest, chunk]);
    while (rest.length >= 9 && rest.length >= 9 + rest.readUIntBE(0, 3)) {
      const end = 9 + rest.readUIntBE(0, 3);
      handleFrame(rest[3] ?? 0, rest[4] ?? 0, rest.subarray(9, end));
      rest = rest.subarray(end);
    }
    if (blocks.length === all.length) resolve();
  };
  const server = createServer((socket) => {
    socket.write(settings([setting.streams, 100_000]));
    // The preface has 24 bytes, and arrives in one piece.
    socket.once('data', (chunk: Buffer) => {
      read(chunk.subarray(24));
      socket.on('data', read);
    });
    socket.on('error', () => undefined);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  await once(client, 'remoteSettings');
  for (const headers of all) client.request(headers).on('error', () => undefined);
  await whole;
  client.destroy();
  server.close();
  return blocks;
};

const forbiddenInValues = [0, 10, 13];

test('every byte is decoded from the Huffman coding of another encoder', async (t) => {
  const bytes = Array.from({ length: 256 }, (_, byte) => byte).filter((byte) => !forbiddenInValues.includes(byte));
  // Between letters with short codes, so that the encoder prefers Huffman coding.
  const values = bytes.map((byte) => `${'e'.repeat(60)}${String.fromCharCode(byte)}${'a'.repeat(1 + (byte % 8))}`);
  const blocks = await encoded(values.map((value) => ({ ':path': '/', 'x-byte': value })));
  const decoder = new HpackDecoder();
  for (const [index, block] of blocks.entries()) {
    t.false(block.includes('eeeee'), 'it is in Huffman coding');
    const { headers, requestFault } = decoder.decode(block);
    t.is(headers['x-byte'], values[index]);
    t.is(requestFault, undefined);
  }
});

test('the three bytes that are not allowed in a value are decoded from Huffman coding too, and are malformed', (t) => {
  // Appendix B: 0 is 1ff8 in 13 bits; 10 and 13 are 3ffffffc and 3ffffffd in 30.
  for (const bytes of [hex('ffc7'), hex('fffffff3'), hex('fffffff7')]) {
    const decoder = new HpackDecoder();
    t.is(decoder.decode(Buffer.concat([literal(fieldsTo('/')), huffmanValue(0x1f)])).requestFault, undefined);
    t.not(decoder.decode(Buffer.concat([literal(fieldsTo('/')), huffmanValue(...bytes)])).requestFault, undefined);
  }
});

test('thousands of requests of another encoder are decoded, including table evictions', async (t) => {
  let seed = 7;
  const below = (limit: number): number => {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) & 0x7fff_ffff;
    return (seed >>> 8) % limit;
  };
  const word = (): string =>
    Array.from({ length: 1 + below(below(8) === 0 ? 400 : 20) }, () => String.fromCharCode(33 + below(94))).join('');
  const all = Array.from({ length: 3_000 }, (): OutgoingHttpHeaders => {
    const headers: OutgoingHttpHeaders = {
      ':method': 'POST',
      ':path': `/${below(20)}`,
      ':scheme': 'http',
      ':authority': 'test',
    };
    for (let field = below(12); field > 0; field--)
      headers[below(3) === 0 ? `x-${below(500)}` : `x-field-${below(9)}`] =
        below(2) === 0 ? word() : `value ${below(30)}`;
    if (below(4) === 0) headers['x-twice'] = ['one', word()];
    if (below(4) === 0) Object.assign(headers, { authorization: word(), [sensitiveHeaders]: ['authorization'] });
    return headers;
  });
  const decoder = new HpackDecoder();
  for (const [index, block] of (await encoded(all)).entries()) {
    const { headers, requestFault, isTooLarge } = decoder.decode(block);
    const expected = Object.entries(all[index] ?? {}).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.join(', ') : value,
    ]);
    t.deepEqual({ ...headers }, Object.fromEntries(expected), `request ${index}`);
    t.is(requestFault, undefined);
    t.false(isTooLarge);
  }
});
