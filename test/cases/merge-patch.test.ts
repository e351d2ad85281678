/** JSON merge patch: the examples of RFC 7396, and what a patch can contain according to a schema. */
import test from 'ava';
import { z } from 'zod';
import { createPatchSchema, mergePatch } from '../../api/resources/merge-patch.ts';

/** Target, patch, result: appendix A of the RFC. */
const examples: readonly [unknown, unknown, unknown][] = [
  [{ a: 'b' }, { a: 'c' }, { a: 'c' }],
  [{ a: 'b' }, { b: 'c' }, { a: 'b', b: 'c' }],
  [{ a: 'b' }, { a: null }, {}],
  [{ a: 'b', b: 'c' }, { a: null }, { b: 'c' }],
  [{ a: ['b'] }, { a: 'c' }, { a: 'c' }],
  [{ a: 'c' }, { a: ['b'] }, { a: ['b'] }],
  [{ a: { b: 'c' } }, { a: { b: 'd', c: null } }, { a: { b: 'd' } }],
  [{ a: [{ b: 'c' }] }, { a: [1] }, { a: [1] }],
  [
    ['a', 'b'],
    ['c', 'd'],
    ['c', 'd'],
  ],
  [{ a: 'b' }, ['c'], ['c']],
  [{ a: 'foo' }, null, null],
  [{ a: 'foo' }, 'bar', 'bar'],
  [{ e: null }, { a: 1 }, { e: null, a: 1 }],
  [[1, 2], { a: 'b', c: null }, { a: 'b' }],
  [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
];

for (const [target, patch, result] of examples) {
  test(`${JSON.stringify(target)} patched with ${JSON.stringify(patch)}`, (t) => {
    const before = JSON.stringify(target);
    t.deepEqual(mergePatch(target, patch), result);
    t.is(JSON.stringify(target), before);
  });
}

test('a member named __proto__ is an ordinary member', (t) => {
  const merged = mergePatch({}, JSON.parse('{"__proto__":{"admin":true}}'));
  t.is((merged as { admin?: boolean }).admin, undefined);
  t.true(Object.hasOwn(merged as object, '__proto__'));
});

const schema = z.strictObject({
  name: z.string().min(1),
  enabled: z.boolean().default(true),
  window: z.strictObject({ days: z.int().default(30), zone: z.string() }).optional(),
  target: z.discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal('a'), url: z.string() }),
    z.strictObject({ kind: z.literal('b') }),
  ]),
});

test('a patch can contain any member, alone or null, and adds no defaults', (t) => {
  const patch = createPatchSchema(schema);
  for (const value of [
    {},
    { name: 'x' },
    { enabled: false },
    { enabled: null },
    { window: { zone: 'UTC' } },
    { window: { days: null } },
    { target: { url: 'x' } },
  ])
    t.deepEqual(patch.parse(value), value);
});

test('a patch rejects unknown members, and values of another type', (t) => {
  const patch = createPatchSchema(schema);
  for (const value of [{ surprise: 1 }, { window: { surprise: 1 } }, { name: 7 }, { name: '' }, { window: 'x' }, []])
    t.false(patch.safeParse(value).success, JSON.stringify(value));
});
