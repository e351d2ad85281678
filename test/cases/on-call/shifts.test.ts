/** Who is on call: shifts around clock changes, restrictions, layers, overrides, absences and versions. */
import test from 'ava';
import fc from 'fast-check';
import ICAL from 'ical.js';
import { Temporal } from 'temporal-polyfill';
import { type Layer, OnCallScheduleFields, type OnCallVersion } from '../../../schemas/resources/on-call-schedule.ts';
import { createShiftsCalendar } from '../../../subjects/on-call/calendar.ts';
import { type Absences, computeShifts, onCallAt } from '../../../subjects/on-call/shifts.ts';
import { createLayerShifts, createShiftsResponse } from '../../../subjects/on-call/shifts-response.ts';
import { createReader } from '../../../subjects/on-call/sorted-slices.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
const ms = (text: string): number => Date.parse(text);
const nobodyAway: Absences = new Map();

const layerOf = (fields: Partial<Layer>): Partial<Layer> => ({
  name: 'first',
  startsAt: '2026-03-23T09:00',
  rotation: { every: 1, unit: 'weeks' },
  participants: [['ann'], ['ben']],
  ...fields,
});

const versionOf = (
  timeZone: string,
  layers: readonly Partial<Layer>[],
  more: Partial<OnCallVersion> = {},
): OnCallVersion => ({
  ...OnCallScheduleFields.parse({ name: 'team', timeZone, layers }),
  overrides: [],
  since: '2000-01-01T00:00:00Z',
  ...more,
});

const shiftTexts = (versions: readonly OnCallVersion[], from: string, to: string, absences = nobodyAway): string[] => {
  const { items, gaps } = createShiftsResponse(versions, absences, { fromMs: ms(from), toMs: ms(to) });
  const short = (text: string): string => text.slice(0, 16);
  return [
    ...items.map((each) => `${short(each.from)} ${short(each.to)} ${each.userIds.join('+')}`),
    ...gaps.map((each) => `${short(each.from)} ${short(each.to)} (${each.reason})`),
  ].sort();
};

test('a week with a clock change lasts 167 or 169 hours, and each shift starts at the same local time', (t) => {
  t.deepEqual(shiftTexts([versionOf('Europe/Zurich', [layerOf({})])], '2026-03-23T08:00:00Z', '2026-04-13T07:00:00Z'), [
    '2026-03-23T08:00 2026-03-30T07:00 ann',
    '2026-03-30T07:00 2026-04-06T07:00 ben',
    '2026-04-06T07:00 2026-04-13T07:00 ann',
  ]);
  t.deepEqual(shiftTexts([versionOf('Europe/Zurich', [layerOf({})])], '2026-10-19T07:00:00Z', '2026-11-02T08:00:00Z'), [
    '2026-10-19T07:00 2026-10-26T08:00 ann',
    '2026-10-26T08:00 2026-11-02T08:00 ben',
  ]);
});

test('a handover at a skipped local time uses the offset before the change, and at a repeated local time the first', (t) => {
  const daily = layerOf({ startsAt: '2026-03-28T02:30', rotation: { every: 1, unit: 'days' } });
  t.deepEqual(shiftTexts([versionOf('Europe/Berlin', [daily])], '2026-03-28T01:30:00Z', '2026-03-31T00:30:00Z'), [
    '2026-03-28T01:30 2026-03-29T01:30 ann',
    '2026-03-29T01:30 2026-03-30T00:30 ben',
    '2026-03-30T00:30 2026-03-31T00:30 ann',
  ]);
  t.deepEqual(shiftTexts([versionOf('Europe/Berlin', [daily])], '2026-10-24T00:30:00Z', '2026-10-26T01:30:00Z'), [
    '2026-10-24T00:30 2026-10-25T00:30 ann',
    '2026-10-25T00:30 2026-10-26T01:30 ben',
  ]);
});

test('rotations of hours that divide 24 follow the wall clock; other rotations use elapsed time', (t) => {
  const hours = (every: number): Partial<Layer> =>
    layerOf({ startsAt: '2026-03-28T00:00', rotation: { every, unit: 'hours' } });
  t.deepEqual(shiftTexts([versionOf('Europe/Berlin', [hours(12)])], '2026-03-28T23:00:00Z', '2026-03-29T22:00:00Z'), [
    '2026-03-28T23:00 2026-03-29T10:00 ann',
    '2026-03-29T10:00 2026-03-29T22:00 ben',
  ]);
  t.deepEqual(shiftTexts([versionOf('Europe/Berlin', [hours(5)])], '2026-03-28T23:00:00Z', '2026-03-29T09:00:00Z'), [
    '2026-03-28T23:00 2026-03-29T00:00 ann',
    '2026-03-29T00:00 2026-03-29T05:00 ben',
    '2026-03-29T05:00 2026-03-29T09:00 ann',
  ]);
});

test('in a month without the day the handover is on the last day, and in the next month on the day again', (t) => {
  const monthly = layerOf({ startsAt: '2027-01-31T09:00', rotation: { every: 1, unit: 'months' } });
  t.deepEqual(shiftTexts([versionOf('UTC', [monthly])], '2027-01-31T09:00:00Z', '2027-04-30T09:00:00Z'), [
    '2027-01-31T09:00 2027-02-28T09:00 ann',
    '2027-02-28T09:00 2027-03-31T09:00 ben',
    '2027-03-31T09:00 2027-04-30T09:00 ann',
  ]);
});

test('the highest layer with a person wins, later overrides take precedence over earlier ones, and gaps have reasons', (t) => {
  const nights = layerOf({
    name: 'nights',
    startsAt: '2026-06-01T00:00',
    participants: [['cleo', 'dan']],
    restrictions: [{ times: [{ startTime: '20:00', endTime: '24:00' }] }],
  });
  const days = layerOf({
    startsAt: '2026-06-01T08:00',
    rotation: { every: 2, unit: 'days' },
    participants: [['ann'], []],
  });
  const overrides = [
    { id: 'o1', from: '2026-06-02T10:00:00Z', to: '2026-06-02T14:00:00Z', userIds: ['eve'] },
    { id: 'o2', from: '2026-06-02T12:00:00Z', to: '2026-06-02T13:00:00Z', userIds: ['finn'] },
    { id: 'o3', from: '2026-06-02T21:00:00Z', to: '2026-06-02T22:00:00Z', userIds: ['gus'], layer: 'first' },
    { id: 'o4', from: '2026-06-02T22:00:00Z', to: '2026-06-02T23:00:00Z', userIds: ['gus'], layer: 'nights' },
  ];
  t.deepEqual(
    shiftTexts([versionOf('UTC', [days, nights], { overrides })], '2026-06-01T07:00:00Z', '2026-06-03T21:00:00Z'),
    [
      '2026-06-01T07:00 2026-06-01T08:00 (restricted)',
      '2026-06-01T08:00 2026-06-01T20:00 ann',
      '2026-06-01T20:00 2026-06-02T00:00 cleo+dan',
      '2026-06-02T00:00 2026-06-02T10:00 ann',
      '2026-06-02T10:00 2026-06-02T12:00 eve',
      '2026-06-02T12:00 2026-06-02T13:00 finn',
      '2026-06-02T13:00 2026-06-02T14:00 eve',
      '2026-06-02T14:00 2026-06-02T20:00 ann',
      '2026-06-02T20:00 2026-06-02T22:00 cleo+dan',
      '2026-06-02T22:00 2026-06-02T23:00 gus',
      '2026-06-02T23:00 2026-06-03T00:00 cleo+dan',
      '2026-06-03T00:00 2026-06-03T08:00 ann',
      '2026-06-03T08:00 2026-06-03T20:00 (restricted)',
      '2026-06-03T20:00 2026-06-03T21:00 cleo+dan',
    ],
  );
});

test('a person who left or is unreachable leaves a gap from then on, and earlier shifts are preserved', (t) => {
  const absences: Absences = new Map([
    ['ann', [{ reason: 'left', fromMs: ms('2026-04-08T12:00:00Z') }]],
    ['ben', [{ reason: 'unreachable', fromMs: ms('2026-04-01T00:00:00Z'), toMs: ms('2026-04-02T00:00:00Z') }]],
  ]);
  t.deepEqual(shiftTexts([versionOf('UTC', [layerOf({})])], '2026-03-23T09:00:00Z', '2026-04-13T09:00:00Z', absences), [
    '2026-03-23T09:00 2026-03-30T09:00 ann',
    '2026-03-30T09:00 2026-04-01T00:00 ben',
    '2026-04-01T00:00 2026-04-02T00:00 (unreachable)',
    '2026-04-02T00:00 2026-04-06T09:00 ben',
    '2026-04-06T09:00 2026-04-08T12:00 ann',
    '2026-04-08T12:00 2026-04-13T09:00 (left)',
  ]);
});

test('each instant uses the schedule version in force at that time, and a change rewrites no past shift', (t) => {
  const before = versionOf('UTC', [layerOf({})], { since: '2026-03-01T00:00:00Z' });
  const after = versionOf('UTC', [layerOf({ participants: [['zoe']] })], { since: '2026-03-25T00:00:00Z' });
  const span = ['2026-02-28T00:00:00Z', '2026-04-06T09:00:00Z'] as const;
  t.deepEqual(shiftTexts([before, after], ...span), [
    '2026-02-28T00:00 2026-03-23T09:00 (no-one)',
    '2026-03-23T09:00 2026-03-25T00:00 ann',
    '2026-03-25T00:00 2026-04-06T09:00 zoe',
  ]);
  t.is(onCallAt([before, after], nobodyAway, ms('2026-03-24T23:59:59.999Z')).userIds[0], 'ann');
  t.is(onCallAt([before, after], nobodyAway, ms('2026-03-25T00:00:00Z')).userIds[0], 'zoe');
});

test('night and weekend hours are counted per person in local time', (t) => {
  const schedule = versionOf('Europe/Berlin', [layerOf({ startsAt: '2026-03-28T00:00', participants: [['ann']] })]);
  // A Saturday and a Sunday with 23 hours: 8 hours of each are night hours, and the skipped hour is one of them.
  const range = { fromMs: ms('2026-03-27T23:00:00Z'), toMs: ms('2026-03-30T22:00:00Z') };
  t.deepEqual(createShiftsResponse([schedule], nobodyAway, range).people, [
    { userId: 'ann', hours: 71, nightHours: 23, weekendHours: 47 },
  ]);
});

test('a calendar has one event per shift in UTC, can be parsed, and has stable ids when regenerated', (t) => {
  const schedule = versionOf('Europe/Berlin', [layerOf({})]);
  const slices = computeShifts([schedule], nobodyAway, {
    fromMs: ms('2026-03-20T00:00:00Z'),
    toMs: ms('2026-04-10T00:00:00Z'),
  });
  const of = { scheduleId: 's1', name: 'Team; "a", b\r\nX-EVIL:1', changedMs: 0 };
  const about = { name: of.name, getUserName: (id: string) => `Name of ${id}` };
  const read = (text: string): { uid: string; from: Date; to: Date; summary: string }[] =>
    new ICAL.Component(ICAL.parse(text)).getAllSubcomponents('vevent').map((each) => {
      const event = new ICAL.Event(each);
      return { uid: event.uid, from: event.startDate.toJSDate(), to: event.endDate.toJSDate(), summary: event.summary };
    });
  const text = createShiftsCalendar([{ ...of, slices }], about);
  const events = read(text);
  t.deepEqual(
    events.map(({ from, to, summary }) => [from.getTime(), to.getTime(), summary]),
    slices
      .filter(({ value }) => value.reason === undefined)
      .map(({ fromMs, toMs, value }) => [fromMs, toMs, `On call: Name of ${value.userIds[0]}`]),
  );
  t.false(/^X-EVIL/m.test(text));
  t.is(events.length, 3);
  t.deepEqual(
    read(createShiftsCalendar([{ ...of, slices, changedMs: 5 * dayMs }], about)).map(({ uid }) => uid),
    events.map(({ uid }) => uid),
  );
  t.is(read(createShiftsCalendar([{ ...of, slices }], { ...about, userId: 'ben' })).length, 1);
});

test('an invalid document is rejected with the path of the error', (t) => {
  const path = (timeZone: string, layers: readonly Partial<Layer>[]): string | undefined =>
    OnCallScheduleFields.safeParse({ name: 'team', timeZone, layers }).error?.issues[0]?.path.join('.');
  t.is(path('Europe/Nowhere', []), 'timeZone');
  t.is(path('UTC', [layerOf({ startsAt: '2026-02-30T09:00' })]), 'layers.0.startsAt');
  t.is(path('UTC', [layerOf({ rotation: { every: 0, unit: 'days' } })]), 'layers.0.rotation.every');
  t.is(path('UTC', [layerOf({ participants: [] })]), 'layers.0.participants');
  t.is(path('UTC', [layerOf({}), layerOf({})]), 'layers');
  t.is(path('UTC', [layerOf({ restrictions: [{ weekdays: ['someday'] }] })]), 'layers.0.restrictions.0.weekdays.0');
});

/** Clock changes: an hour, half an hour, two hours, at midnight, and a skipped day. */
const changes: readonly (readonly [timeZone: string, around: string])[] = [
  ['Europe/Berlin', '2026-03-29T01:00:00Z'],
  ['Europe/Berlin', '2026-10-25T01:00:00Z'],
  ['America/New_York', '2026-03-08T07:00:00Z'],
  ['America/New_York', '2026-11-01T06:00:00Z'],
  ['America/St_Johns', '2026-03-08T05:30:00Z'],
  ['Australia/Lord_Howe', '2026-04-04T15:00:00Z'],
  ['Australia/Lord_Howe', '2026-10-03T15:30:00Z'],
  ['Australia/Adelaide', '2026-10-03T16:30:00Z'],
  ['Pacific/Chatham', '2026-09-26T14:00:00Z'],
  ['Antarctica/Troll', '2026-03-29T01:00:00Z'],
  ['Antarctica/Troll', '2026-10-25T01:00:00Z'],
  ['Africa/Casablanca', '2026-02-15T02:00:00Z'],
  ['Africa/Cairo', '2026-04-23T22:00:00Z'],
  ['America/Santiago', '2026-09-06T04:00:00Z'],
  ['Pacific/Apia', '2011-12-30T10:00:00Z'],
  ['Asia/Kolkata', '2026-05-01T00:00:00Z'],
];

/** Consecutive turns, with each handover calculated by Temporal. */
const oracleRotation = (layer: Layer, timeZone: string, untilMs: number): ((atMs: number) => number) => {
  const start = Temporal.PlainDateTime.from(layer.startsAt);
  const { every, unit } = layer.rotation;
  const handOvers: number[] = [];
  for (let rotationIndex = 0, last = 0; last < untilMs + 2 * dayMs; rotationIndex += 1) {
    last =
      unit === 'hours' && 24 % every !== 0
        ? start.toZonedDateTime(timeZone).add({ hours: rotationIndex * every }).epochMilliseconds
        : start.add({ [unit]: rotationIndex * every }).toZonedDateTime(timeZone, { disambiguation: 'compatible' })
            .epochMilliseconds;
    handOvers.push(last);
  }
  return (atMs) => handOvers.findLastIndex((each) => each <= atMs);
};

interface Hours {
  readonly low: number;
  readonly high: number;
  readonly onlyWeekends: boolean;
}

const textOf = (quarters: number): string =>
  `${String(Math.floor(quarters / 4)).padStart(2, '0')}:${String((quarters % 4) * 15).padStart(2, '0')}`;

const restrictionsOf = (hours: Hours | undefined): Layer['restrictions'] => {
  if (hours === undefined) return [];
  const times = [{ startTime: textOf(hours.low), endTime: textOf(hours.high) }];
  return [hours.onlyWeekends ? { times, weekdays: ['friday:saturday'] } : { times }];
};

/** Whether the local time is within these hours. */
const shows = (hours: Hours | undefined, wall: Temporal.ZonedDateTime): boolean => {
  if (hours === undefined) return true;
  const minute = wall.hour * 60 + wall.minute;
  const isDay = !hours.onlyWeekends || wall.dayOfWeek === 5 || wall.dayOfWeek === 6;
  return isDay && minute >= hours.low * 15 && minute < hours.high * 15;
};

/** The first minute at which the shifts differ from the reference implementation. */
const differenceOf = (
  layer: Partial<Layer>,
  timeZone: string,
  hours: Hours | undefined,
  aroundMs: number,
): string | undefined => {
  const [fromMs, toMs] = [aroundMs - 26 * hourMs, aroundMs + 26 * hourMs];
  const version = versionOf(timeZone, [layer]);
  const rotationAt = oracleRotation(version.layers[0] as Layer, timeZone, toMs);
  const whoAt = createReader(computeShifts([version], nobodyAway, { fromMs, toMs }));
  for (let atMs = fromMs; atMs < toMs; atMs += minuteMs) {
    const wall = Temporal.Instant.fromEpochMilliseconds(atMs).toZonedDateTimeISO(timeZone);
    const rotationIndex = shows(hours, wall) ? rotationAt(atMs) : -1;
    const expected = rotationIndex < 0 ? undefined : ['a', 'b', 'c'][rotationIndex % 3];
    const found = [whoAt(atMs)?.userIds[0]];
    // A single instant gives the same result as a range.
    if (atMs % (37 * minuteMs) === 0) found.push(onCallAt([version], nobodyAway, atMs).userIds[0]);
    if (found.some((each) => each !== expected)) return `${wall}: ${found}, expected ${expected}`;
  }
  return undefined;
};

for (const [timeZone, around] of changes) {
  test(`hourly rotations match the reference implementation around ${around} in ${timeZone}`, (t) => {
    const startsAt = `${new Date(ms(around) - 3 * dayMs).toISOString().slice(0, 10)}T00:30`;
    const participants = [['a'], ['b'], ['c']];
    const layer = layerOf({ startsAt, rotation: { every: 1, unit: 'hours' }, participants });
    t.is(differenceOf(layer, timeZone, undefined, ms(around)), undefined);
  });
}

test('shifts match a minute-by-minute reference implementation around clock changes', (t) => {
  const rotation = fc.oneof(
    fc.record({ unit: fc.constant('hours' as const), every: fc.constantFrom(1, 2, 3, 4, 5, 6, 7, 8, 12, 24, 36) }),
    fc.record({
      unit: fc.constantFrom('days' as const, 'weeks' as const, 'months' as const),
      every: fc.integer({ min: 1, max: 3 }),
    }),
  );
  const quarter = fc.integer({ min: 0, max: 95 });
  const hours = fc
    .record({ low: quarter, high: quarter, onlyWeekends: fc.boolean() })
    .map(({ low, high, onlyWeekends }) => ({ low: Math.min(low, high), high: Math.max(low, high) + 1, onlyWeekends }));
  const property = fc.property(
    fc.constantFrom(...changes),
    rotation,
    fc.integer({ min: 0, max: 40 }),
    quarter,
    fc.option(hours, { nil: undefined }),
    ([timeZone, around], rotation, daysBefore, startQuarter, restricted) => {
      const first = Temporal.Instant.fromEpochMilliseconds(ms(around) - daysBefore * dayMs).toZonedDateTimeISO(
        timeZone,
      );
      const layer = layerOf({
        startsAt: `${first.toPlainDate()}T${textOf(startQuarter)}`,
        rotation,
        participants: [['a'], ['b'], ['c']],
        restrictions: restrictionsOf(restricted),
      });
      const difference = differenceOf(layer, timeZone, restricted, ms(around));
      if (difference !== undefined) throw new Error(difference);
    },
  );
  t.notThrows(() => fc.assert(property, { numRuns: 60 }));
});

test('after any sequence of edits, each minute uses the schedule version in force at that time', (t) => {
  const edit = fc.record({
    after: fc.integer({ min: 1, max: 20 * 60 }),
    every: fc.constantFrom(1, 2, 3, 5, 12),
    unit: fc.constantFrom('hours' as const, 'days' as const),
    rotatedBy: fc.nat(2),
    zone: fc.constantFrom('Australia/Lord_Howe', 'Australia/Adelaide', 'Asia/Kathmandu', 'America/St_Johns'),
    startMinute: fc.constantFrom(0, 15, 30),
  });
  const people = [['a'], ['b'], ['c']];
  const property = fc.property(
    fc.constantFrom('2026-04-04T15:00:00Z', '2026-10-03T15:30:00Z'),
    fc.array(edit, { minLength: 1, maxLength: 4 }),
    (around, edits) => {
      const beginMs = ms(around) - 20 * hourMs;
      let atMs = beginMs;
      const versions = edits.map(({ after, every, unit, rotatedBy, zone, startMinute }) => {
        const since = atMs;
        atMs += after * minuteMs;
        const startsAt = `${new Date(beginMs - 2 * dayMs).toISOString().slice(0, 10)}T00:${textOf(startMinute / 15).slice(3)}`;
        const participants = [...people.slice(rotatedBy), ...people.slice(0, rotatedBy)];
        const layer = layerOf({ startsAt, rotation: { every, unit }, participants });
        return versionOf(zone, [layer], { since: new Date(since).toISOString() });
      });
      const toMs = Math.min(atMs, beginMs + 50 * hourMs);
      const rotations = versions.map((version) => oracleRotation(version.layers[0] as Layer, version.timeZone, toMs));
      const expectedByMinute = new Map<number, string | undefined>();
      // Each edit must leave the results of all earlier times unchanged.
      for (let count = 1; count <= versions.length; count += 1) {
        const known = versions.slice(0, count);
        const whoAt = createReader(computeShifts(known, nobodyAway, { fromMs: beginMs, toMs }));
        const nextMs = count < versions.length ? ms(versions[count]?.since ?? '') : toMs;
        for (let minuteAt = beginMs; minuteAt < Math.min(nextMs, toMs); minuteAt += minuteMs) {
          const inForce = known.findLastIndex(({ since }) => ms(since) <= minuteAt);
          const rotationIndex = rotations[inForce]?.(minuteAt) ?? -1;
          const expected =
            expectedByMinute.get(minuteAt) ?? known[inForce]?.layers[0]?.participants[rotationIndex % 3]?.[0];
          const found = whoAt(minuteAt)?.userIds[0];
          if (found !== expected)
            throw new Error(
              `${new Date(minuteAt).toISOString()}: ${found}, expected ${expected}, of ${count} versions`,
            );
          expectedByMinute.set(minuteAt, found);
        }
      }
    },
  );
  t.notThrows(() => fc.assert(property, { numRuns: 12 }));
});

test('a year of shifts of a busy schedule contains all its turns', (t) => {
  const layers = ['one', 'two', 'three'].map((name, index) =>
    layerOf({
      name,
      rotation: { every: 8, unit: 'hours' },
      participants: [[`${name}-a`], [`${name}-b`]],
      restrictions:
        index === 0 ? [] : [{ times: [{ startTime: '09:00', endTime: '17:00' }], weekdays: ['monday:friday'] }],
    }),
  );
  const version = versionOf('Europe/Berlin', layers);
  const range = { fromMs: ms('2026-04-01T00:00:00Z'), toMs: ms('2027-04-01T00:00:00Z') };
  const { items, gaps, people } = createShiftsResponse([version], nobodyAway, range);
  t.deepEqual(gaps, []);
  t.is(
    people.reduce((sum, { hours }) => sum + hours, 0),
    365 * 24,
  );
  t.true(items.length > 1000);
});

test('the shifts of each layer are those that it has alone, the highest layer first', (t) => {
  const daily = { rotation: { every: 1, unit: 'days' } } as const;
  const overrides = [
    { id: 'o1', from: '2026-03-24T09:00:00Z', to: '2026-03-24T12:00:00Z', userIds: ['eve'], layer: 'low' },
    { id: 'o2', from: '2026-03-24T09:00:00Z', to: '2026-03-24T12:00:00Z', userIds: ['bob'] },
  ];
  const version = versionOf(
    'UTC',
    [layerOf({ ...daily, name: 'low' }), layerOf({ ...daily, name: 'high', participants: [['cid'], []] })],
    { overrides },
  );
  const range = { fromMs: Date.parse('2026-03-23T09:00:00Z'), toMs: Date.parse('2026-03-25T09:00:00Z') };
  t.deepEqual(
    createLayerShifts([version], nobodyAway, range).map(({ name, items }) => [
      name,
      ...items.map(({ from, userIds, overrideId }) => `${from.slice(8, 13)} ${userIds.join()} ${overrideId}`),
    ]),
    [
      ['high', '23T09 cid null'],
      ['low', '23T09 ann null', '24T09 eve o1', '24T12 ben null'],
    ],
  );
});
