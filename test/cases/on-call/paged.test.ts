/** Pages are counted once per person, and as night pages by the local time of the organization. */
import test from 'ava';
import type { EscalationAction } from '../../../schemas/resources/escalation.ts';
import { countPages, countPagesByUser, groupPages } from '../../../subjects/on-call/pages.ts';

let created = 0;
const page = (at: string, userId: string, more: Partial<EscalationAction> & { readonly contact?: string } = {}) => {
  const { contact, ...fields } = more;
  const to = { kind: 'person' as const, id: userId, name: userId, ...(contact !== undefined && { contact }) };
  const defaults = { incidentId: 'i', kind: 'page', round: 0, step: 0, reason: null, to } as const;
  return { id: `d${created++}`, ...defaults, at: `2026-11-24T${at}:00.000Z`, ...fields };
};

test('a page by several contacts is one page, and another round is another page', (t) => {
  const pages = groupPages(
    [
      page('10:00', 'ann', { contact: 'phone' }),
      page('10:00', 'ann', { contact: 'app' }),
      page('10:00', 'ben'),
      page('10:15', 'ann', { round: 1, contact: 'phone' }),
      page('10:15', 'ann', { kind: 'step-skipped', to: null }),
      page('10:15', 'ann', { to: { kind: 'channel', id: 'c', name: 'pager' } }),
    ],
    'UTC',
  );
  t.deepEqual(
    pages.map(({ to, contacts }) => [to.id, ...contacts]),
    [['ann', 'phone', 'app'], ['ben'], ['ann', 'phone'], ['c']],
  );
  t.deepEqual(countPages(pages), { pages: 4, atNight: 0 });
  t.deepEqual(countPagesByUser(pages), [
    { userId: 'ann', pages: 2, atNight: 0 },
    { userId: 'ben', pages: 1, atNight: 0 },
  ]);
});

for (const [at, timeZone, isAtNight] of [
  ['21:59', 'UTC', false],
  ['22:00', 'UTC', true],
  ['05:59', 'UTC', true],
  ['06:00', 'UTC', false],
  ['21:30', 'Europe/Berlin', true],
  ['05:30', 'Europe/Berlin', false],
] as const)
  test(`a page at ${at} UTC is ${isAtNight ? '' : 'not '}at night in ${timeZone}`, (t) => {
    t.is(groupPages([page(at, 'ann')], timeZone)[0]?.isAtNight, isAtNight);
  });
