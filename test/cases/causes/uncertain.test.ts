/** The reasons for requests that may or may not be worse, and for errors in bursts. */
import test from 'ava';
import type { IncidentContext, MinuteActivity } from '../../../subjects/causes/incident-context.ts';
import { findCauses } from '../../../subjects/causes/score-causes.ts';

const minuteMs = 60_000;
const detectedMs = 1_767_571_200_000;
const contextOf = (before: readonly number[], after: readonly number[], requests: number): IncidentContext => {
  const toMinute = (errors: number, atMs: number): MinuteActivity => ({
    atMs,
    requests,
    errors,
    buckets: new Map([[200, requests]]),
    durationSum: requests * 1e7 * (1 + 0.01 * ((atMs / minuteMs) % 7)),
  });
  const minutes = [
    ...before.map((errors, index) => toMinute(errors, detectedMs + (index - before.length) * minuteMs)),
    ...after.map((errors, index) => toMinute(errors, detectedMs + index * minuteMs)),
  ];
  return {
    symptoms: ['service:cart'],
    detectedMs,
    untilMs: detectedMs + after.length * minuteMs,
    nodes: new Map([['service:cart', minutes]]),
    edges: [],
    hosts: new Map(),
    changes: [],
    gauges: [],
    novelties: [],
  };
};
const few = Array.from({ length: 40 }, (_, index) => (index % 8 === 0 ? 1 : 0));
const none = Array.from({ length: 40 }, () => 0);
const bursts = [5, 4, 0, 0, 1, 12, 0, 0, 1, 4, 0, 0, 0, 8, 0, 0, 4, 4, 1, 0];

test('errors that come in bursts are a symptom', (t) => {
  const { symptom, reason } = findCauses(contextOf(few, bursts, 14));
  t.regex(symptom[0] ?? '', /^cart: /);
  t.is(reason, 'no event on the path of the symptom explains it');
});

const cases: readonly (readonly [title: string, context: IncidentContext, reason: RegExp])[] = [
  [
    'too few requests since then',
    contextOf(few, bursts.slice(0, 1), 14),
    /cannot be determined: cart: there are too few requests since then: 14, but/,
  ],
  [
    'too few requests before',
    contextOf([], bursts, 14),
    /cannot be determined: cart: there are (?:no|too few) requests before/,
  ],
  ['too few requests in all', contextOf(few, bursts, 1), /cannot be determined: cart: there are too few requests/],
  ['unchanged requests', contextOf(none, none.slice(0, 20), 14), /^requests of cart are no worse than before/],
];
for (const [title, context, reason] of cases)
  test(`the reason names ${title}`, (t) => {
    t.regex(findCauses(context).reason ?? '', reason);
  });
