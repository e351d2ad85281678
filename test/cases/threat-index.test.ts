/** A lookup returns the latest indicator of each source, regardless of how indicators are distributed over blocks. */
import test from 'ava';
import { indicatorTypes } from '../../schemas/resources/threat-intel.ts';
import { type BlockIndicator, encodeBlock } from '../../subjects/threat-intel/block.ts';
import { IndicatorIndex } from '../../subjects/threat-intel/indicator-index.ts';
import { mergeBlocks } from '../../subjects/threat-intel/merge-blocks.ts';
import { seeded } from './random.ts';

const indicator = (input: Partial<BlockIndicator>): BlockIndicator => ({
  type: 'domain',
  value: 'evil.example',
  source: 'one',
  confidence: 50,
  validFrom: null,
  validUntil: null,
  isRevoked: false,
  seenAt: '2026-01-01T00:00:00.000Z',
  halfLifeDays: null,
  raisesSignals: false,
  ...input,
});
const indexOf = (...blocks: readonly (readonly BlockIndicator[])[]): IndicatorIndex => {
  const index = new IndicatorIndex();
  for (const [number, block] of blocks.entries()) index.add(String(number), encodeBlock(block));
  return index;
};
/** Returns the confidence by source, without revoked indicators. */
const confidences = (index: IndicatorIndex, value: string, type: BlockIndicator['type'] = 'domain') =>
  Object.fromEntries(
    index
      .find(type, value)
      .filter(({ isRevoked }) => !isRevoked)
      .map(({ source, confidence }) => [source, confidence]),
  );

test('a lookup of a value returns all indicators of that value', (t) => {
  const index = indexOf([
    indicator({
      value: 'bücher.example',
      confidence: 80,
      halfLifeDays: 7,
      raisesSignals: true,
      validFrom: '2026-01-01T00:00:00.000Z',
      validUntil: '2026-02-01T00:00:00.000Z',
    }),
    indicator({ type: 'sha256', value: 'ab'.repeat(32) }),
  ]);
  t.deepEqual(index.find('domain', 'bücher.example'), [
    {
      type: 'domain',
      value: 'bücher.example',
      source: 'one',
      confidence: 80,
      halfLifeDays: 7,
      raisesSignals: true,
      isRevoked: false,
      seenMs: Date.UTC(2026, 0, 1),
      validFromMs: Date.UTC(2026, 0, 1),
      validUntilMs: Date.UTC(2026, 1, 1),
    },
  ]);
  t.is(index.find('sha256', 'ab'.repeat(32)).length, 1);
  for (const [type, value] of [
    ['domain', 'bücher.exampl'],
    ['url', 'bücher.example'],
    ['sha1', 'ab'.repeat(20)],
    ['domain', ''],
    ['domain', 'x'.repeat(10_000)],
  ] as const)
    t.deepEqual(index.find(type, value), [], value);
});

test('each source is stored separately, and its latest version counts, whatever the order of the blocks', (t) => {
  const first = [indicator({ confidence: 10 }), indicator({ source: 'two', confidence: 30 })];
  const later = [indicator({ confidence: 20, seenAt: '2026-01-02T00:00:00.000Z' })];
  const ended = [indicator({ isRevoked: true, seenAt: '2026-01-03T00:00:00.000Z' })];
  t.deepEqual(confidences(indexOf(first, later), 'evil.example'), { one: 20, two: 30 });
  t.deepEqual(confidences(indexOf(later, first), 'evil.example'), { one: 20, two: 30 });
  t.deepEqual(confidences(indexOf(ended, later, first), 'evil.example'), { two: 30 });
});

test('a block superseded by others can be removed, any other block cannot', (t) => {
  const index = indexOf([indicator({ confidence: 10 })]);
  t.false(index.remove('0'));
  index.add('1', encodeBlock([indicator({ confidence: 20, seenAt: '2026-01-02T00:00:00.000Z' })]));
  t.true(index.remove('0'));
  t.deepEqual(confidences(index, 'evil.example'), { one: 20 });
});

test('merged blocks give the same results as the separate blocks', (t) => {
  const random = seeded(3);
  const blocks = Array.from({ length: 40 }, () =>
    Array.from({ length: 1 + random(400) }, () => {
      const type = indicatorTypes[random(indicatorTypes.length)] ?? 'ip';
      const number = random(3_000);
      const isHash = type.startsWith('md5') || type.startsWith('sha');
      return indicator({
        type,
        value: isHash ? number.toString(16).padStart(8, '0').repeat(4) : `v${number}`,
        source: `feed ${random(3)}`,
        confidence: random(101),
        isRevoked: random(5) === 0,
        seenAt: new Date(Date.UTC(2026, 0, 1) + random(50)).toISOString(),
      });
    }),
  );
  const latest = new Map<string, BlockIndicator>();
  const rank = ({ seenAt, isRevoked, confidence }: BlockIndicator) =>
    `${seenAt} ${isRevoked} ${String(confidence).padStart(3, '0')}`;
  for (const each of blocks.flat()) {
    const key = JSON.stringify([each.type, each.value, each.source]);
    const known = latest.get(key);
    if (known === undefined || rank(known) < rank(each)) latest.set(key, each);
  }
  const index = indexOf(...blocks);
  t.is(index.size, latest.size);
  for (const isComplete of [false, true]) {
    const merged = new IndicatorIndex();
    for (const [number, block] of mergeBlocks(
      blocks.map((block) => encodeBlock(block)),
      { isComplete },
    ).entries())
      merged.add(String(number), block);
    if (isComplete) t.is(merged.size, [...latest.values()].filter(({ isRevoked }) => !isRevoked).length);
    for (const { type, value } of latest.values()) {
      const expected = [...latest.values()]
        .filter((each) => each.type === type && each.value === value && !each.isRevoked)
        .map(({ source, confidence }) => [source, confidence] as const);
      t.deepEqual(confidences(index, value, type), Object.fromEntries(expected));
      t.deepEqual(confidences(merged, value, type), Object.fromEntries(expected));
    }
  }
});
