/** The hashed text compared with published canonical forms, and the reported differences. */
import { hash } from 'node:crypto';
import test from 'ava';
import fc from 'fast-check';
import { findDifferences, maskedValue } from '../../api/groups/audit/chain/difference.ts';
import { toCanonicalJson } from '../../runtime/canonical-json.ts';

/** RFC 8785, section 3.2.2 and appendix B, and test data of its authors. */
const canonical: readonly (readonly [what: string, json: string, canonical: string])[] = [
  [
    'the example of the RFC',
    '{"numbers":[333333333.33333329,1E30,4.50,2e-3,0.000000000000000000000000001],"string":"\\u20ac$\\u000F\\u000aA\'\\u0042\\u0022\\u005c\\\\\\"\\/","literals":[null,true,false]}',
    '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}',
  ],
  [
    'names by UTF-16 code units',
    '{"\\u20ac":"Euro Sign","\\r":"Carriage Return","\\ufb33":"Hebrew Letter Dalet With Dagesh","1":"One","\\ud83d\\ude00":"Emoji: Grinning Face","\\u0080":"Control","\\u00f6":"Latin Small Letter O With Diaeresis"}',
    '{"\\r":"Carriage Return","1":"One","\u0080":"Control","ö":"Latin Small Letter O With Diaeresis","€":"Euro Sign","😀":"Emoji: Grinning Face","\ufb33":"Hebrew Letter Dalet With Dagesh"}',
  ],
  [
    'members within members',
    '{"b":{"d":1,"c":[{"z":1,"a":2},[]]},"a":{}}',
    '{"a":{},"b":{"c":[{"a":2,"z":1},[]],"d":1}}',
  ],
  ['numbers as names', '{"10":1,"9":2,"":3,"a":4,"A":5}', '{"":3,"10":1,"9":2,"A":5,"a":4}'],
  ['arrays preserve their order', '[56,{"d":true,"10":null,"1":[]}]', '[56,{"1":[],"10":null,"d":true}]'],
  ['no normalisation of Unicode', '{"a":"A\\u030a"}', '{"a":"A\u030a"}'],
];

for (const [what, json, expected] of canonical)
  test(`canonical JSON: ${what}`, (t) => {
    t.is(toCanonicalJson(JSON.parse(json)), expected);
  });

/** RFC 8785, appendix B: the bits of a double and its text. */
const numbers: readonly (readonly [bits: string, text: string])[] = [
  ['0000000000000000', '0'],
  ['8000000000000000', '0'],
  ['0000000000000001', '5e-324'],
  ['8000000000000001', '-5e-324'],
  ['7fefffffffffffff', '1.7976931348623157e+308'],
  ['ffefffffffffffff', '-1.7976931348623157e+308'],
  ['4340000000000000', '9007199254740992'],
  ['c340000000000000', '-9007199254740992'],
  ['4430000000000000', '295147905179352830000'],
  ['44b52d02c7e14af5', '9.999999999999997e+22'],
  ['44b52d02c7e14af6', '1e+23'],
  ['44b52d02c7e14af7', '1.0000000000000001e+23'],
  ['444b1ae4d6e2ef4e', '999999999999999700000'],
  ['444b1ae4d6e2ef4f', '999999999999999900000'],
  ['444b1ae4d6e2ef50', '1e+21'],
  ['3eb0c6f7a0b5ed8c', '9.999999999999997e-7'],
  ['3eb0c6f7a0b5ed8d', '0.000001'],
  ['41b3de4355555553', '333333333.3333332'],
  ['41b3de4355555554', '333333333.33333325'],
  ['41b3de4355555555', '333333333.3333333'],
  ['41b3de4355555556', '333333333.3333334'],
  ['41b3de4355555557', '333333333.33333343'],
  ['becbf647612f3696', '-0.0000033333333333333333'],
  ['43143ff3c1cb0959', '1424953923781206.2'],
];

test('canonical JSON: numbers are written as in the RFC', (t) => {
  for (const [bits, text] of numbers) t.is(toCanonicalJson(Buffer.from(bits, 'hex').readDoubleBE()), text, bits);
  for (const bits of ['7fffffffffffffff', '7ff0000000000000'])
    t.throws(() => toCanonicalJson(Buffer.from(bits, 'hex').readDoubleBE()), { instanceOf: TypeError });
});

test('canonical JSON rejects an unpaired surrogate in text and names, and accepts a valid surrogate pair', (t) => {
  for (const value of ['\ud800', 'a\udc00b', ['\udfff'], { a: { '\ud83d': 1 } }])
    t.throws(() => toCanonicalJson(value), { instanceOf: TypeError, message: /well-formed Unicode/ });
  t.is(toCanonicalJson('\ud83d\ude00'), '"\u{1F600}"');
});

test('canonical JSON preserves the value and gives one form for every member order', (t) => {
  const shuffled = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(shuffled);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value)
        .toReversed()
        .map(([name, member]) => [name, shuffled(member)]),
    );
  };
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
      const text = toCanonicalJson(value);
      t.deepEqual(JSON.parse(text), JSON.parse(JSON.stringify(value)));
      t.is(toCanonicalJson(shuffled(value)), text);
    }),
    { seed: 1, numRuns: 300 },
  );
});

const differences: readonly (readonly [what: string, before: unknown, after: unknown, difference: unknown])[] = [
  ['nothing', { a: 1 }, { a: 1 }, []],
  ['a scalar', { a: 1, b: 2 }, { a: 1, b: 3 }, [{ path: 'b', before: 2, after: 3 }]],
  [
    'something new',
    undefined,
    { a: 1, b: [2] },
    [
      { path: 'a', after: 1 },
      { path: 'b', after: [2] },
    ],
  ],
  ['something gone', { a: 1 }, undefined, [{ path: 'a', before: 1 }]],
  [
    'a member within',
    { a: { b: { c: 1 }, d: 1 } },
    { a: { b: { c: 2 }, d: 1 } },
    [{ path: 'a.b.c', before: 1, after: 2 }],
  ],
  ['a list as a whole', { a: [1, 2] }, { a: [2, 1] }, [{ path: 'a', before: [1, 2], after: [2, 1] }]],
  ['fields of the store', { id: '1', version: 1, updatedAt: 'x' }, { id: '1', version: 2, updatedAt: 'y' }, []],
  ['a secret', { apiKey: 'one' }, { apiKey: 'two' }, [{ path: 'apiKey', before: maskedValue, after: maskedValue }]],
  [
    'a key of ours in a text',
    {},
    { note: `use oiq_lk_${'a'.repeat(36)} here` },
    [{ path: 'note', after: `use ${maskedValue} here` }],
  ],
];

for (const [what, before, after, expected] of differences)
  test(`a difference reports ${what}`, (t) => {
    t.deepEqual(findDifferences(before, after), expected as never);
  });

const secretNames = fc.constantFrom(
  ...['password', 'newPassword', 'passwordHash', 'clientSecret', 'secret', 'secretKey', 'hash', 'keyHash', 'token'],
  ...['refreshToken', 'access_token', 'apiKey', 'api_key', 'accessKey', 'privateKey', 'private_key', 'recoveryCodes'],
  ...['codes', 'passphrase', 'credentials', 'Authorization', 'cookie'],
);

test('no difference contains a secret, at any depth of the old and the new document', (t) => {
  const marker = `marked-${hash('sha256', 'seeded').slice(0, 16)}`;
  const secret = fc.oneof(
    fc.constant(marker),
    fc.constant([marker, { inner: marker }]),
    fc.constant({ deep: { deeper: marker } }),
  );
  const holder = fc.letrec((tie) => ({
    node: fc.oneof(
      { depthSize: 'small' },
      fc.tuple(secretNames, secret).map(([name, value]) => ({ [name]: value, name: 'plain' })),
      fc.dictionary(fc.constantFrom('a', 'b', 'settings'), tie('node'), { minKeys: 1 }),
      fc.array(tie('node'), { minLength: 1, maxLength: 3 }).map((list) => ({ list })),
    ),
  })).node;
  fc.assert(
    fc.property(fc.option(holder, { nil: undefined }), fc.option(holder, { nil: undefined }), (before, after) => {
      t.false(JSON.stringify(findDifferences(before, after)).includes(marker));
    }),
    { seed: 1, numRuns: 500 },
  );
});
