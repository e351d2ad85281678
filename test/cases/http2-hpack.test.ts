/** Header decompression compared with the examples of RFC 7541 and its requirements. */
import test, { type ExecutionContext } from 'ava';
import { HpackDecoder } from '../../receivers/http2/hpack.ts';
import { type Fields, fieldsTo, integer, block as literal } from '../contract/http2-client.ts';

const hex = (text: string): Buffer => Buffer.from(text.replaceAll(' ', ''), 'hex');
const compressionError = 9;
const refused = (t: ExecutionContext, decoder: HpackDecoder, block: Buffer, message?: string): void => {
  const error: unknown = t.throws(() => decoder.decode(block), undefined, message);
  t.like(error, { code: compressionError });
};
const headersOf = (decoder: HpackDecoder, block: Buffer): Record<string, string> => ({
  ...decoder.decode(block).headers,
});

/** Asserts the entries of the dynamic table, the newest first, and that it has no others. */
const tableIs = (t: ExecutionContext, decoder: HpackDecoder, entries: Fields): void => {
  for (const [index, [name, value]] of entries.entries())
    t.deepEqual(headersOf(decoder, Buffer.from(integer(0x80, 7, 62 + index))), { [name]: value });
  refused(t, decoder, Buffer.from(integer(0x80, 7, 62 + entries.length)), 'an entry too many');
};

interface Example {
  readonly block: string;
  readonly fields: Fields;
  /** The dynamic table after the block. */
  readonly table: Fields;
}

const authority = [':authority', 'www.example.com'] as const;
const noCache = ['cache-control', 'no-cache'] as const;
const custom = ['custom-key', 'custom-value'] as const;
const first: Fields = [[':method', 'GET'], [':scheme', 'http'], [':path', '/'], authority];
const third: Fields = [[':method', 'GET'], [':scheme', 'https'], [':path', '/index.html'], authority, custom];
const requests = (...blocks: readonly [string, string, string]): Example[] => [
  { block: blocks[0], fields: first, table: [authority] },
  { block: blocks[1], fields: [...first, noCache], table: [noCache, authority] },
  { block: blocks[2], fields: third, table: [custom, noCache, authority] },
];

const at21 = ['date', 'Mon, 21 Oct 2013 20:13:21 GMT'] as const;
const at22 = ['date', 'Mon, 21 Oct 2013 20:13:22 GMT'] as const;
const isPrivate = ['cache-control', 'private'] as const;
const location = ['location', 'https://www.example.com'] as const;
const gzip = ['content-encoding', 'gzip'] as const;
const cookie = ['set-cookie', 'foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1'] as const;
const answers = (...blocks: readonly [string, string, string]): Example[] => [
  {
    block: blocks[0],
    fields: [[':status', '302'], isPrivate, at21, location],
    table: [location, at21, isPrivate, [':status', '302']],
  },
  {
    block: blocks[1],
    fields: [[':status', '307'], isPrivate, at21, location],
    table: [[':status', '307'], location, at21, isPrivate],
  },
  {
    block: blocks[2],
    fields: [[':status', '200'], isPrivate, at22, location, gzip, cookie],
    table: [cookie, gzip, at22],
  },
];

const one = (block: string, field: Fields[number], table: Fields = []): Example[] => [
  { block, fields: [field], table },
];
/** RFC 7541, appendix C: by section, the table size and the blocks of one connection. */
const examples: Readonly<Record<string, readonly [maxTableBytes: number, examples: readonly Example[]]>> = {
  'C.2.1, a literal with indexing': [
    4096,
    one(
      '400a 6375 7374 6f6d 2d6b 6579 0d63 7573 746f 6d2d 6865 6164 6572',
      ['custom-key', 'custom-header'],
      [['custom-key', 'custom-header']],
    ),
  ],
  'C.2.2, a literal without indexing': [4096, one('040c 2f73 616d 706c 652f 7061 7468', [':path', '/sample/path'])],
  'C.2.3, a literal never indexed': [4096, one('1008 7061 7373 776f 7264 0673 6563 7265 74', ['password', 'secret'])],
  'C.2.4, an indexed field': [4096, one('82', [':method', 'GET'])],
  'C.3, requests without Huffman coding': [
    4096,
    requests(
      '8286 8441 0f77 7777 2e65 7861 6d70 6c65 2e63 6f6d',
      '8286 84be 5808 6e6f 2d63 6163 6865',
      '8287 85bf 400a 6375 7374 6f6d 2d6b 6579 0c63 7573 746f 6d2d 7661 6c75 65',
    ),
  ],
  'C.4, requests with Huffman coding': [
    4096,
    requests(
      '8286 8441 8cf1 e3c2 e5f2 3a6b a0ab 90f4 ff',
      '8286 84be 5886 a8eb 1064 9cbf',
      '8287 85bf 4088 25a8 49e9 5ba9 7d7f 8925 a849 e95b b8e8 b4bf',
    ),
  ],
  'C.5, answers without Huffman coding, in a table of 256 bytes': [
    256,
    answers(
      '4803 3330 3258 0770 7269 7661 7465 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 2032 303a 3133 3a32 3120 474d 546e 1768 7474 7073 3a2f 2f77 7777 2e65 7861 6d70 6c65 2e63 6f6d',
      '4803 3330 37c1 c0bf',
      '88c1 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 2032 303a 3133 3a32 3220 474d 54c0 5a04 677a 6970 7738 666f 6f3d 4153 444a 4b48 514b 425a 584f 5157 454f 5049 5541 5851 5745 4f49 553b 206d 6178 2d61 6765 3d33 3630 303b 2076 6572 7369 6f6e 3d31',
    ),
  ],
  'C.6, answers with Huffman coding, in a table of 256 bytes': [
    256,
    answers(
      '4882 6402 5885 aec3 771a 4b61 96d0 7abe 9410 54d4 44a8 2005 9504 0b81 66e0 82a6 2d1b ff6e 919d 29ad 1718 63c7 8f0b 97c8 e9ae 82ae 43d3',
      '4883 640e ffc1 c0bf',
      '88c1 6196 d07a be94 1054 d444 a820 0595 040b 8166 e084 a62d 1bff c05a 839b d9ab 77ad 94e7 821d d7f2 e6c7 b335 dfdf cd5b 3960 d5af 2708 7f36 72c1 ab27 0fb5 291f 9587 3160 65c0 03ed 4ee5 b106 3d50 07',
    ),
  ],
};

for (const [section, [maxTableBytes, rows]] of Object.entries(examples))
  test(`the example of ${section} is decoded as RFC 7541 specifies`, (t) => {
    const decoder = new HpackDecoder({ maxTableBytes });
    for (const { block, fields, table } of rows) {
      t.deepEqual(headersOf(decoder, hex(block)), Object.fromEntries(fields));
      tableIs(t, decoder, table);
    }
  });

test('the static table equals that of RFC 7541, appendix A', (t) => {
  const valued: Fields = [
    [':authority', ''],
    [':method', 'GET'],
    [':method', 'POST'],
    [':path', '/'],
    [':path', '/index.html'],
    [':scheme', 'http'],
    [':scheme', 'https'],
    ...['200', '204', '206', '304', '400', '404', '500'].map((status) => [':status', status] as const),
    ['accept-charset', ''],
    ['accept-encoding', 'gzip, deflate'],
  ];
  const names =
    'accept-language accept-ranges accept access-control-allow-origin age allow authorization cache-control content-disposition content-encoding content-language content-length content-location content-range content-type cookie date etag expect expires from host if-match if-modified-since if-none-match if-range if-unmodified-since last-modified link location max-forwards proxy-authenticate proxy-authorization range referer refresh retry-after server set-cookie strict-transport-security transfer-encoding user-agent vary via www-authenticate';
  const all: Fields = [...valued, ...names.split(' ').map((name) => [name, ''] as const)];
  t.is(all.length, 61);
  const decoder = new HpackDecoder();
  for (const [index, [name, value]] of all.entries()) {
    t.deepEqual(headersOf(decoder, Buffer.from([0x81 + index])), { [name]: value });
    const named = Buffer.from([...integer(0, 4, index + 1), 1, 120]);
    t.deepEqual(headersOf(decoder, named), { [name]: 'x' });
  }
  tableIs(t, decoder, []);
});

/** A name of one letter and a value, with indexing: an entry with 33 bytes plus the length of the value. */
const indexed = (name: string, bytes: number, filler = 'v'): Buffer => literal([[name, filler.repeat(bytes)]], 0x40);
const sizeUpdate = (bytes: number | bigint): Buffer => Buffer.from(integer(0x20, 5, bytes));
const small = indexed('a', 1);
const entry = Buffer.from([0xbe]);

test('a size update at the start of a block shrinks and grows the table', (t) => {
  const decoder = new HpackDecoder();
  for (const name of ['a', 'b', 'c']) decoder.decode(indexed(name, 10));
  // 86 bytes are two entries; the example of C.1.2 (1337 with a prefix of five bits) is the size after them.
  t.deepEqual(headersOf(decoder, Buffer.concat([sizeUpdate(86), entry])), { c: 'v'.repeat(10) });
  tableIs(t, decoder, [
    ['c', 'v'.repeat(10)],
    ['b', 'v'.repeat(10)],
  ]);
  t.deepEqual(headersOf(decoder, Buffer.concat([sizeUpdate(85), hex('3f9a0a'), entry])), { c: 'v'.repeat(10) });
  tableIs(t, decoder, [['c', 'v'.repeat(10)]]);
  decoder.decode(indexed('d', 1337 - 33 - 43));
  tableIs(t, decoder, [
    ['d', 'v'.repeat(1337 - 33 - 43)],
    ['c', 'v'.repeat(10)],
  ]);
  decoder.decode(indexed('e', 1337 - 33));
  tableIs(t, decoder, [['e', 'v'.repeat(1337 - 33)]]);
  decoder.decode(sizeUpdate(0));
  tableIs(t, decoder, []);
  decoder.decode(small);
  tableIs(t, decoder, []);
  decoder.decode(Buffer.concat([sizeUpdate(4096), small]));
  tableIs(t, decoder, [['a', 'v']]);
});

test('an entry larger than the table empties it, and is still decoded', (t) => {
  const decoder = new HpackDecoder({ maxTableBytes: 100 });
  decoder.decode(small);
  t.deepEqual(headersOf(decoder, indexed('b', 68)), { b: 'v'.repeat(68) });
  tableIs(t, decoder, []);
  t.deepEqual(headersOf(decoder, indexed('c', 67)), { c: 'v'.repeat(67) });
  tableIs(t, decoder, [['c', 'v'.repeat(67)]]);
});

test('a new entry can take its name from an entry that it evicts', (t) => {
  const decoder = new HpackDecoder({ maxTableBytes: 100 });
  decoder.decode(indexed('a', 67));
  t.deepEqual(headersOf(decoder, Buffer.concat([Buffer.from([0x7e, 1]), Buffer.from('w')])), { a: 'w' });
  tableIs(
    t,
    decoder,
    [
      ['a', 'w'],
      ['a', 'v'.repeat(67)],
    ].slice(0, 1) as unknown as Fields,
  );
});

/** Numbers that do not fit 32 or 53 bits must not be truncated to small ones. */
const wraps = [32n, 33n, 53n, 64n, 128n].map((bits) => 1n << bits);
const forbidden: Readonly<Record<string, readonly Buffer[]>> = {
  'the index 0': [hex('80'), hex('8280')],
  'an index beyond the static table while the dynamic one is empty': [
    entry,
    hex('ff00'),
    hex('7e0161'),
    hex('0f2f0161'),
  ],
  'an index far beyond the table': [
    hex('ffffffff07'),
    hex('ffffff7f'),
    ...wraps.map((n) => Buffer.from(integer(0x80, 7, n + 2n))),
  ],
  'a number with many bytes': [
    hex(`ff${'80'.repeat(20)}00`),
    hex(`ff${'ff'.repeat(20)}7f`),
    hex(`0f${'ff'.repeat(9)}01`),
  ],
  'a number that does not end': [hex('ff'), hex('ff80'), hex('ffff'), hex('3f'), hex('3f80'), hex('0f'), hex('0fff')],
  'a string length beyond the block': [
    hex('000161 02 78'),
    hex('000161 7f ff ff ff 07 78'),
    hex('0002 61'),
    ...wraps.map((n) => Buffer.from([0, 1, 97, ...integer(0, 7, n + 1n), 120])),
    ...wraps.map((n) => Buffer.from([0, ...integer(0x80, 7, n + 1n), 0x1f, 1, 120])),
  ],
  'a size update above the announced maximum': [
    sizeUpdate(4097),
    ...wraps.map((n) => sizeUpdate(n)),
    ...wraps.map((n) => sizeUpdate(n + 31n)),
  ],
  'a size update behind a field': [
    hex('8220 0178'),
    Buffer.concat([hex('82'), sizeUpdate(0)]),
    Buffer.concat([small, sizeUpdate(4096)]),
  ],
};
for (const [what, blocks] of Object.entries(forbidden))
  test(`${what} is a compression error`, (t) => {
    for (const block of blocks) refused(t, new HpackDecoder(), block, Buffer.from(block).toString('hex'));
  });

test('a block truncated anywhere except between fields is a compression error', (t) => {
  const block = hex(
    '3fe11f 82 04 0c 2f73616d706c652f70617468 400a637573746f6d2d6b65790d637573746f6d2d686561646572 10 88 25a849e95ba97d7f 89 25a849e95bb8e8b4bf be',
  );
  const whole = [0, 3, 4, 18, 44, 64, 65];
  for (let end = 0; end <= block.length; end++) {
    const decoder = new HpackDecoder();
    if (whole.includes(end)) t.notThrows(() => decoder.decode(block.subarray(0, end)), `${end}`);
    else refused(t, decoder, block.subarray(0, end), `${end}`);
  }
});

const listOf = (bytes: number): Buffer => literal([...fieldsTo('/'), ['x', 'y'.repeat(bytes)]]);
const bytesBefore = fieldsTo('/').reduce((sum, [name, value]) => sum + name.length + value.length + 32, 33);

test('a list is too large from the first byte above its limit', (t) => {
  const decoder = new HpackDecoder({ maxListBytes: 1_000 });
  t.false(decoder.decode(listOf(1_000 - bytesBefore)).isTooLarge);
  t.true(decoder.decode(listOf(1_001 - bytesBefore)).isTooLarge);
  t.false(decoder.decode(listOf(1_000 - bytesBefore)).isTooLarge);
});

test('an entry referenced a million times makes a list too large, without using memory or damaging the table', (t) => {
  const decoder = new HpackDecoder();
  decoder.decode(indexed('a', 4_000));
  const bomb = Buffer.alloc(1_000_000, 0xbe);
  const before = process.memoryUsage();
  const { headers, isTooLarge } = decoder.decode(bomb);
  t.true(isTooLarge);
  t.true(Object.values(headers).join('').length <= 16 * 1024);
  t.true(process.memoryUsage().heapUsed - before.heapUsed < 50_000_000);
  tableIs(t, decoder, [['a', 'v'.repeat(4_000)]]);
});
