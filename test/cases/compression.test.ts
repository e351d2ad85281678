import { randomBytes } from 'node:crypto';
import { constants, createGzip, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import test from 'ava';
import fc from 'fast-check';
import {
  type BodyEncoding,
  compressSnappy,
  decompress,
  decompressAsync,
  TooLargeError,
} from '../../schemas/compression.ts';
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

const both = {
  'on the caller’s thread': async (...call: Parameters<typeof decompress>) => decompress(...call),
  'on the thread pool': decompressAsync,
};

for (const [where, inflate] of Object.entries(both)) {
  const refusal = async (...call: Parameters<typeof decompress>): Promise<unknown> => {
    try {
      await inflate(...call);
      return undefined;
    } catch (error) {
      return error;
    }
  };

  for (const [form, encoding, compress] of forms) {
    const packed = compress(body);

    test(`${form}, ${where}: gives back what was compressed, empty bodies and incompressible ones too`, async (t) => {
      for (const bytes of [body, Buffer.alloc(0), Buffer.from('x'), randomBytes(300_000)]) {
        t.true((await inflate(encoding, compress(bytes), cap)).equals(bytes));
      }
    });

    test(`${form}, ${where}: anything after the end is refused`, async (t) => {
      for (const extra of [
        Buffer.from('junk'),
        Buffer.alloc(1),
        Buffer.alloc(64),
        ...(encoding === 'gzip' ? [] : [packed]),
      ]) {
        const error = await refusal(encoding, Buffer.concat([packed, extra]), cap);
        t.true(error instanceof PermanentError && error.reason === 'bad-encoding', `${extra.length} bytes: ${error}`);
      }
    });

    test(`${form}, ${where}: a stream that is cut off is refused`, async (t) => {
      for (const length of [0, 1, 5, packed.length >> 1, packed.length - 1]) {
        const error = await refusal(encoding, packed.subarray(0, length), cap);
        t.true(error instanceof PermanentError && error.reason === 'bad-encoding', `cut to ${length}: ${error}`);
      }
    });

    test(`${form}, ${where}: the cap is exact`, async (t) => {
      t.is((await inflate(encoding, packed, body.length)).length, body.length);
      const error = await refusal(encoding, packed, body.length - 1);
      t.true(error instanceof TooLargeError && error.capBytes === body.length - 1);
      t.true(error instanceof PermanentError && error.reason === 'too-large');
    });

    test(`${form}, ${where}: damage is refused or gives other bytes, never another kind of error`, async (t) => {
      await fc.assert(
        fc.asyncProperty(fc.nat(packed.length - 1), fc.nat(255), async (position, value) => {
          const damaged = Buffer.from(packed);
          damaged[position] = value;
          const error = await refusal(encoding, damaged, cap);
          return error === undefined || error instanceof PermanentError;
        }),
        { numRuns: 150, endOnFailure: true },
      );
      t.pass();
    });
  }

  test(`identity, ${where}: is not copied, and the cap holds`, async (t) => {
    t.is(await inflate('identity', body, cap), body);
    t.true((await refusal('identity', body, body.length - 1)) instanceof TooLargeError);
  });

  test(`a bomb of 256 MiB, ${where}: is refused at the cap with little memory`, async (t) => {
    const bomb = await gzipOfZeros(256);
    const before = process.memoryUsage().rss;
    t.true((await refusal('gzip', bomb, cap)) instanceof TooLargeError);
    t.true(process.memoryUsage().rss - before < 150_000_000);
  });

  test(`snappy, ${where}: a length that cannot be true is refused before it is allocated`, async (t) => {
    const claim = (...length: number[]): Buffer => Buffer.from([...length, 0, 0x61]);
    t.true((await refusal('snappy', claim(0xff, 0xff, 0xff, 0xff, 0x0f), cap)) instanceof TooLargeError);
    const error = await refusal('snappy', claim(0x80, 0xc2, 0xd7, 0x17), 2 ** 31);
    t.regex(String(error), /claims 49668352 bytes/);
    t.regex(String(await refusal('snappy', Buffer.alloc(9, 0xff), cap)), /no length/);
  });

  test(`zstd, ${where}: a frame that asks for a window above 8 MB is refused`, async (t) => {
    const large = randomBytes(9_000_000);
    const packed = zstdCompressSync(Buffer.concat([large, large]), {
      params: { [constants.ZSTD_c_windowLog]: 25, [constants.ZSTD_c_contentSizeFlag]: 0 },
    });
    const error = await refusal('zstd', packed, cap);
    t.true(error instanceof PermanentError && error.reason === 'bad-encoding', String(error));
  });
}

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

test('gzip of several members, which RFC 1952 allows, is their concatenation', async (t) => {
  const twice = Buffer.concat([gzipSync('one '), gzipSync('two')]);
  t.is(decompress('gzip', twice, cap).toString(), 'one two');
  t.is((await decompressAsync('gzip', twice, cap)).toString(), 'one two');
});

test('a fault says what is wrong', (t) => {
  t.throws(() => decompress('zstd', Buffer.concat([zstdCompressSync('a'), zstdCompressSync('b')]), cap), {
    message: /bytes follow the end of the zstd stream/,
  });
  t.throws(() => decompress('gzip', Buffer.from('plain'), cap), { message: 'the body is not a whole gzip stream' });
});
