/** Reading JSON that arrives in chunks, wherever their boundaries are. */
import test from 'ava';
import { PermanentError } from '../../schemas/errors.ts';
import { JsonChunkReader } from '../../schemas/otlp/json-chunk-reader.ts';
import { JsonReader } from '../../schemas/otlp/json-reader.ts';

/** Returns the tokens of a text, or the error with its position. */
const readTokens = (reader: JsonReader): string[] => {
  const tokens: string[] = [];
  const readValue = (): void => {
    const byte = reader.peek();
    if (byte === 0x7b)
      for (let hasMore = reader.beginObject(); hasMore; hasMore = reader.hasMoreMembers()) {
        reader.readKey();
        tokens.push(`${reader.readUnescaped()}:`);
        readValue();
      }
    else if (byte === 0x5b)
      for (let hasMore = reader.beginArray(); hasMore; hasMore = reader.hasMoreElements()) readValue();
    else if (byte === 0x22) {
      reader.readString();
      tokens.push(reader.readUnescaped());
    } else if (byte === 0x74) tokens.push(String(reader.skipLiteral('true')));
    else {
      reader.readNumber();
      tokens.push(reader.text.toString('latin1', reader.start, reader.end));
    }
  };
  try {
    readValue();
    tokens.push(`end ${reader.peek()}`);
  } catch (error) {
    if (!(error instanceof PermanentError)) throw error;
    tokens.push(`${error.message} at ${error.position}`);
  }
  return tokens;
};

const split = (bytes: Buffer, size: number): Buffer[] =>
  Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
    Buffer.from(bytes.subarray(index * size, (index + 1) * size)),
  );

const readChunks = (text: string | Buffer, size: number): string[] =>
  readTokens(new JsonChunkReader(split(Buffer.from(text), size)));

const texts = [
  '{"a":[1,-2.5e+10,{"ü\\u00fc\\\\\\"b":"x\\n€😀"}],"":true, "c" : [ ] , "d":{}}',
  `{"${'n'.repeat(300)}"${' '.repeat(70_000)}:${' '.repeat(70_000)}[${'true,'.repeat(50_000)}1]}`,
  '{"a":[1,2 3]}',
  '{"a":"no end',
  '{"a":"a\u0001b"}',
  '{"a":"\\q"}',
  '{"a":"\\u12"}',
  '[1',
  '',
];

for (const [index, text] of texts.entries())
  test(`text ${index} is read alike in chunks of every size`, (t) => {
    const expected = readTokens(new JsonReader(Buffer.from(text)));
    for (const size of text.length > 1_000 ? [700, 66_000, 10_000_000] : [1, 2, 3, 4, 5, 7, 100])
      t.deepEqual(readChunks(text, size), expected, `${size}`);
  });

test('a long string is shortened, and positions of later errors are those in the text', (t) => {
  for (const filler of ['x', '\\u00fc', '\\"', '€'])
    for (const size of [1_000, 65_536, 1_000_000]) {
      const long = filler.repeat(200_000);
      const [name, value, ...rest] = readChunks(`{"a":"${long}","b":1 2}`, size);
      t.is(name, 'a:');
      t.true((value ?? '').length >= 5_000 && (value ?? '').length <= 300_000, `${filler} ${value?.length}`);
      const position = Buffer.byteLength(`{"a":"${long}","b":1 `);
      t.deepEqual(rest, ['b:', '1', `expected , or } in the object at ${position}`], filler);
    }
});

test('a long string that does not end is refused at its beginning, and a control character where it is', (t) => {
  t.deepEqual(readChunks(`["${'x'.repeat(500_000)}`, 65_536), ['the string does not end at 1']);
  t.deepEqual(readChunks(`["${'x'.repeat(500_000)}\n"]`, 65_536), [
    'a control character in a string is not escaped at 500002',
  ]);
});

test('invalid UTF-8 is refused at its position in any chunks', (t) => {
  const text = Buffer.concat([Buffer.from('["€€'), Buffer.from([0xe2, 0x82]), Buffer.from('"]')]);
  const cut = Buffer.from('["€').subarray(0, 4);
  for (const size of [1, 2, 3, 100]) {
    t.deepEqual(readChunks(text, size).at(-1), 'the JSON text is not UTF-8 at 8');
    t.deepEqual(readChunks(cut, size).at(-1), 'the JSON text is not UTF-8 at 2');
  }
});
