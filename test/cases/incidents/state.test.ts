/** Compares the state transitions of incidents with a table of all allowed transitions. */
import test from 'ava';
import {
  type Incident,
  IncidentFields,
  type IncidentState,
  incidentStates,
} from '../../../schemas/resources/incident.ts';
import { changeState, initialFields } from '../../../subjects/incidents/state.ts';

const openedAt = '2026-11-25T10:00:00.000Z';
const createIncident = (status: IncidentState): Incident => ({
  ...IncidentFields.parse({ title: 'down', status }),
  openedBy: 'u1',
  openedAt: openedAt,
  groupId: null,
  escalationPolicyId: null,
  ...initialFields,
});
const minutesLater = (minutes: number) => new Date(Date.parse(openedAt) + minutes * 60_000).toISOString();

test('only the state transitions in the README are possible, and a transition to the same state changes nothing', (t) => {
  const allowedTransitions = new Set([
    'open acknowledged',
    ...['open resolved', 'acknowledged resolved', 'open merged', 'acknowledged merged', 'resolved open'],
  ]);
  for (const from of incidentStates)
    for (const to of incidentStates) {
      const before = createIncident(from);
      const after = changeState(before, to, { by: 'u2', at: openedAt });
      if (from === to) t.is(after, before, `${from} stays`);
      else t.is(after?.status, allowedTransitions.has(`${from} ${to}`) ? to : undefined, `${from} to ${to}`);
    }
});

test('the first acknowledgement is preserved after reopening, and the current acknowledgement is not', (t) => {
  const steps: [IncidentState, number][] = [
    ['acknowledged', 1],
    ['resolved', 2],
    ['open', 3],
    ['acknowledged', 4],
  ];
  const states: Incident[] = [];
  for (const [to, minute] of steps) {
    const next = changeState(states.at(-1) ?? createIncident('open'), to, {
      by: `u${minute}`,
      at: minutesLater(minute),
    });
    if (next !== undefined) states.push(next);
  }
  t.is(states.length, 4);
  t.deepEqual(
    states.map(({ firstAcknowledgedAt, acknowledgedAt, resolvedAt, reopenedAt }) => ({
      firstAcknowledgedAt,
      acknowledgedAt,
      resolvedAt,
      reopenedAt,
    })),
    [
      { firstAcknowledgedAt: minutesLater(1), acknowledgedAt: minutesLater(1), resolvedAt: null, reopenedAt: null },
      {
        firstAcknowledgedAt: minutesLater(1),
        acknowledgedAt: minutesLater(1),
        resolvedAt: minutesLater(2),
        reopenedAt: null,
      },
      { firstAcknowledgedAt: minutesLater(1), acknowledgedAt: null, resolvedAt: null, reopenedAt: minutesLater(3) },
      {
        firstAcknowledgedAt: minutesLater(1),
        acknowledgedAt: minutesLater(4),
        resolvedAt: null,
        reopenedAt: minutesLater(3),
      },
    ],
  );
});
