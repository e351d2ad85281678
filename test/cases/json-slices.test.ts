/** Long responses equal `JSON.stringify`, but are created in time slices. */
import test from 'ava';
import { type JsonText, stringifyInSlices } from '../../api/kernel/json-text.ts';

const joinChunks = (text: JsonText): string => (typeof text === 'string' ? text : Buffer.concat(text).toString());

const list = (length: number) =>
  Array.from({ length }, (_, n) => ({ n, text: `"${n}"`, none: undefined, nested: [n] }));

for (const [what, value] of [
  ['a small object', { a: 1, b: [undefined, null] }],
  ['a long list', list(500)],
  [
    'an object with long lists',
    { id: 'x', none: undefined, spans: list(300), nested: { deeper: { items: list(200) } }, end: null },
  ],
  ['dates and empty values', { at: new Date(0), items: [...list(100), undefined, new Date(1)], empty: {}, list: [] }],
  ['text', 'a "quoted" text'],
  ['a list of megabytes', { items: list(50_000).map((item) => ({ ...item, text: 'ä𝄞' })) }],
] as const)
  test(`${what} gives the same text`, async (t) => {
    t.true(joinChunks(await stringifyInSlices(value)) === JSON.stringify(value));
  });

test('other work runs while a long list is converted', async (t) => {
  let turns = 0;
  const counting = setInterval(() => (turns += 1), 1);
  const items = list(100_000);
  for (let tries = 0; turns < 2 && tries < 50; tries++) await stringifyInSlices({ items });
  clearInterval(counting);
  t.true(turns >= 2);
});
