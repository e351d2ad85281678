/** The states of incidents, against a table of all moves. */
import test from 'ava';
import {
  type Incident,
  IncidentFields,
  type IncidentState,
  incidentStates,
} from '../../../schemas/resources/incident.ts';
import { changeState, initialFields } from '../../../subjects/incidents/state.ts';

const at = '2026-11-25T10:00:00.000Z';
const incident = (status: IncidentState): Incident => ({
  ...IncidentFields.parse({ title: 'down', status }),
  openedBy: 'u1',
  openedAt: at,
  groupId: null,
  escalationPolicyId: null,
  ...initialFields,
});
const later = (minutes: number) => new Date(Date.parse(at) + minutes * 60_000).toISOString();

test('only the state transitions in the README are possible, and a transition to the same state changes nothing', (t) => {
  const possible = new Set([
    'open acknowledged',
    ...['open resolved', 'acknowledged resolved', 'open merged', 'acknowledged merged', 'resolved open'],
  ]);
  for (const from of incidentStates)
    for (const to of incidentStates) {
      const before = incident(from);
      const after = changeState(before, to, { by: 'u2', at });
      if (from === to) t.is(after, before, `${from} stays`);
      else t.is(after?.status, possible.has(`${from} ${to}`) ? to : undefined, `${from} to ${to}`);
    }
});

test('the first acknowledgement is preserved after reopening, and the current acknowledgement is not', (t) => {
  const steps: [IncidentState, number][] = [
    ['acknowledged', 1],
    ['resolved', 2],
    ['open', 3],
    ['acknowledged', 4],
  ];
  const all: Incident[] = [];
  for (const [to, minute] of steps) {
    const next = changeState(all.at(-1) ?? incident('open'), to, { by: `u${minute}`, at: later(minute) });
    if (next !== undefined) all.push(next);
  }
  t.is(all.length, 4);
  t.deepEqual(
    all.map(({ firstAcknowledgedAt, acknowledgedAt, resolvedAt, reopenedAt }) => ({
      firstAcknowledgedAt,
      acknowledgedAt,
      resolvedAt,
      reopenedAt,
    })),
    [
      { firstAcknowledgedAt: later(1), acknowledgedAt: later(1), resolvedAt: null, reopenedAt: null },
      { firstAcknowledgedAt: later(1), acknowledgedAt: later(1), resolvedAt: later(2), reopenedAt: null },
      { firstAcknowledgedAt: later(1), acknowledgedAt: null, resolvedAt: null, reopenedAt: later(3) },
      { firstAcknowledgedAt: later(1), acknowledgedAt: later(4), resolvedAt: null, reopenedAt: later(3) },
    ],
  );
});
