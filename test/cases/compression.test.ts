import { randomBytes } from 'node:crypto';
import { constants, createGzip, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import test from 'ava';
import fc from 'fast-check';
import { type BodyEncoding, compressSnappy, decompress, TooLargeError } from '../../schemas/compression.ts';
import { PermanentError } from '../../schemas/errors.ts';

const cap = 50_000_000;
const body = Buffer.from(Array.from({ length: 3000 }, (_, index) => `line ${index} of a body\n`).join(''));

const forms: readonly (readonly [string, Exclude<BodyEncoding, 'identity'>, (bytes: Uint8Array) => Buffer])[] = [
  ['gzip', 'gzip', gzipSync],
  ['deflate with zlib’s header', 'deflate', deflateSync],
  ['deflate without a header', 'deflate', deflateRawSync],
  ['zstd', 'zstd', zstdCompressSync],
  ['snappy', 'snappy', compressSnappy],
];

const refusal = (...call: Parameters<typeof decompress>): unknown => {
  try {
    decompress(...call);
    return undefined;
  } catch (error) {
    return error;
  }
};

for (const [form, encoding, compress] of forms) {
  const packed = compress(body);

  test(`${form}: decompression restores the input, including empty and incompressible bodies`, (t) => {
    for (const bytes of [body, Buffer.alloc(0), Buffer.from('x'), randomBytes(300_000)]) {
      t.true(decompress(encoding, compress(bytes), cap).equals(bytes));
    }
  });

  test(`${form}: data after the end is rejected`, (t) => {
    for (const extra of [
      Buffer.from('junk'),
      Buffer.alloc(1),
      Buffer.alloc(64),
      ...(encoding === 'gzip' || encoding === 'zstd' ? [] : [packed]),
    ]) {
      const error = refusal(encoding, Buffer.concat([packed, extra]), cap);
      t.true(error instanceof PermanentError && error.reason === 'bad-encoding', `${extra.length} bytes: ${error}`);
    }
  });

  test(`${form}: a truncated stream is rejected`, (t) => {
    for (const length of [0, 1, 5, packed.length >> 1, packed.length - 1]) {
      const error = refusal(encoding, packed.subarray(0, length), cap);
      t.true(error instanceof PermanentError && error.reason === 'bad-encoding', `cut to ${length}: ${error}`);
    }
  });

  test(`${form}: the size limit is exact`, (t) => {
    t.is(decompress(encoding, packed, body.length).length, body.length);
    const error = refusal(encoding, packed, body.length - 1);
    t.true(error instanceof TooLargeError && error.maxBytes === body.length - 1);
    t.true(error instanceof PermanentError && error.reason === 'too-large');
  });

  test(`${form}: corrupt data is rejected or gives other bytes, never another kind of error`, (t) => {
    fc.assert(
      fc.property(fc.nat(packed.length - 1), fc.nat(255), (position, value) => {
        const damaged = Buffer.from(packed);
        damaged[position] = value;
        const error = refusal(encoding, damaged, cap);
        return error === undefined || error instanceof PermanentError;
      }),
      { numRuns: 150, endOnFailure: true },
    );
    t.pass();
  });
}

test('identity: the body is not copied, and the size limit applies', (t) => {
  t.is(decompress('identity', body, cap), body);
  t.true(refusal('identity', body, body.length - 1) instanceof TooLargeError);
});

test('a 256 MiB decompression bomb is rejected at the size limit with little memory', async (t) => {
  const bomb = await gzipOfZeros(256);
  const before = process.memoryUsage().rss;
  t.true(refusal('gzip', bomb, cap) instanceof TooLargeError);
  t.true(process.memoryUsage().rss - before < 150_000_000);
});

test('snappy: an impossible length is rejected before it is allocated', (t) => {
  const claim = (...length: number[]): Buffer => Buffer.from([...length, 0, 0x61]);
  t.true(refusal('snappy', claim(0xff, 0xff, 0xff, 0xff, 0x0f), cap) instanceof TooLargeError);
  const error = refusal('snappy', claim(0x80, 0xc2, 0xd7, 0x17), 2 ** 31);
  t.regex(String(error), /declares 49668352 bytes/);
  t.regex(String(refusal('snappy', Buffer.alloc(9, 0xff), cap)), /no length/);
});

test('zstd: a frame with a window above 8 MB is rejected', (t) => {
  const large = randomBytes(9_000_000);
  const packed = zstdCompressSync(Buffer.concat([large, large]), {
    params: { [constants.ZSTD_c_windowLog]: 25, [constants.ZSTD_c_contentSizeFlag]: 0 },
  });
  const error = refusal('zstd', packed, cap);
  t.true(error instanceof PermanentError && error.reason === 'bad-encoding', String(error));
});

const gzipOfZeros = async (mebibytes: number): Promise<Buffer> => {
  const gzip = createGzip({ level: 1 });
  const chunks: Buffer[] = [];
  gzip.on('data', (chunk: Buffer) => chunks.push(chunk));
  const zeros = Buffer.alloc(1024 * 1024);
  for (let index = 0; index < mebibytes; index++) {
    if (!gzip.write(zeros)) await new Promise((resolve) => gzip.once('drain', resolve));
  }
  await new Promise<void>((resolve) => gzip.on('end', resolve).end());
  return Buffer.concat(chunks);
};

test('gzip with several members, which RFC 1952 allows, is their concatenation', (t) => {
  const twice = Buffer.concat([gzipSync('one '), gzipSync('two')]);
  t.is(decompress('gzip', twice, cap).toString(), 'one two');
});

const skippable = (content: Uint8Array, kind = 0): Buffer => {
  const head = Buffer.alloc(8);
  head.writeUInt32LE(0x184d2a50 + kind);
  head.writeUInt32LE(content.length, 4);
  return Buffer.concat([head, content]);
};

test('zstd with several frames, including skippable frames, is the content of the frames (RFC 8878)', (t) => {
  const frames = [
    skippable(Buffer.from('an index')),
    zstdCompressSync('one '),
    skippable(Buffer.alloc(0), 15),
    zstdCompressSync(''),
    zstdCompressSync(body),
    skippable(randomBytes(100), 7),
  ];
  const expected = `one ${body}`;
  t.is(decompress('zstd', Buffer.concat(frames), expected.length).toString(), expected);
  t.is(decompress('zstd', new Uint8Array(Buffer.concat(frames)), cap).toString(), expected);
  t.is(decompress('zstd', skippable(Buffer.from('x')), cap).length, 0);
});

test('the zstd size limit applies to all frames together, and each frame is complete', (t) => {
  const packed = zstdCompressSync(body);
  const frames = Buffer.concat([packed, packed, packed]);
  t.is(decompress('zstd', frames, 3 * body.length).length, 3 * body.length);
  t.throws(() => decompress('zstd', frames, 3 * body.length - 1), { instanceOf: TooLargeError });
  t.throws(() => decompress('zstd', frames, 2 * body.length), { instanceOf: TooLargeError });
  for (const cut of [1, 5, packed.length - 1])
    t.throws(() => decompress('zstd', frames.subarray(0, frames.length - cut), cap), {
      message: /not a complete zstd/,
    });
  t.throws(() => decompress('zstd', Buffer.concat([packed, Buffer.from('junk')]), cap), {
    message: /not a complete zstd/,
  });
  const cutOff = skippable(Buffer.alloc(9)).subarray(0, 12);
  t.throws(() => decompress('zstd', Buffer.concat([packed, cutOff]), cap), { message: /cut off/ });
});

test('zstd with an excessive number of frames is rejected before all of them are read', (t) => {
  const tiny = zstdCompressSync('');
  t.is(decompress('zstd', Buffer.concat(Array(256).fill(tiny)), cap).length, 0);
  for (const frame of [tiny, skippable(Buffer.alloc(0))])
    t.throws(() => decompress('zstd', Buffer.concat(Array(257).fill(frame)), cap), { message: /more than 256/ });
});

test('an error states its cause', (t) => {
  t.throws(() => decompress('deflate', Buffer.concat([deflateSync('a'), deflateSync('b')]), cap), {
    message: /bytes follow the end of the deflate stream/,
  });
  t.throws(() => decompress('gzip', Buffer.from('plain'), cap), { message: 'the body is not a complete gzip stream' });
});
