/** Who uses the page: the session, preferences that are saved one after another, and permissions. */
import './browser.ts';

import test from 'ava';
import { explainClosedArea } from '../../../web/frame/area.ts';
import { named } from '../../../web/frame/people.ts';
import { preferences, readPreferences, updatePreferences } from '../../../web/frame/preferences.ts';
import { explainDenial, isPermitted } from '../../../web/frame/rights.ts';
import { openSession, otherOrganizations, type Session, session, sessionError } from '../../../web/frame/session.ts';
import { zone } from '../../../web/frame/shown-time.ts';
import { theme } from '../../../web/frame/theme.ts';
import { eventually } from '../../waiting.ts';
import { answerWith, json, requests } from './browser.ts';

const stored = { theme: 'dark', timeZone: 'UTC', timeFormat: '24h', dateFormat: 'iso' } as const;

test.serial('preferences apply at once, and each change is saved with those before it', async (t) => {
  answerWith(({ method, body }) => json(method === 'GET' ? stored : body));
  await readPreferences();
  t.is(theme.value, 'dark');
  t.is(document.documentElement.dataset['theme'], 'dark');
  t.is(zone.value, 'UTC');
  void updatePreferences({ theme: 'light' });
  const last = updatePreferences({ timeZone: 'Asia/Tokyo' });
  t.is(theme.value, 'light');
  t.is(zone.value, 'Asia/Tokyo');
  await last;
  t.deepEqual(
    requests.slice(1).map(({ method, body }) => [method, body]),
    [
      ['PUT', { ...stored, theme: 'light' }],
      ['PUT', { ...stored, theme: 'light', timeZone: 'Asia/Tokyo' }],
    ],
  );
});

test.serial('a preference that is refused returns to its value, and later changes remain', async (t) => {
  answerWith(({ method, body }) => {
    if (method === 'GET') return json(stored);
    return (body as typeof stored).dateFormat === 'iso' ? json(body) : json({ message: 'No.' }, 400);
  });
  await readPreferences();
  void updatePreferences({ dateFormat: 'day-month-year' });
  await updatePreferences({ theme: 'light' });
  t.like(preferences.value, { dateFormat: 'iso', theme: 'light' });
});

test.serial('a session is known once its preferences and projects are', async (t) => {
  const who = { user: { id: 'u', name: 'Ada' }, role: 'viewer', entitlements: ['logs'] };
  const answers: Readonly<Record<string, unknown>> = {
    '/auth/session': who,
    '/api/preferences': stored,
    '/api/projects?limit=1000': { items: [{ id: 'p' }] },
    '/api/organizations': {
      items: [
        { id: 'a', current: true },
        { id: 'b', current: false },
      ],
    },
  };
  answerWith(({ address }) => json(answers[address]));
  openSession();
  await eventually('the organizations', () => otherOrganizations.value.length > 0);
  t.like(session.value, who);
  t.deepEqual(
    otherOrganizations.value.map(({ id }) => id),
    ['b'],
  );
  answerWith(() => json({ message: 'Broken.' }, 500));
  openSession();
  await eventually('the error', () => sessionError.value !== '');
  t.is(sessionError.value, 'Broken.');
});

test.serial('a call is offered to the roles and plans that it is for, with the reason for others', (t) => {
  const write = { method: 'POST', path: '/api/things' };
  const traces = { method: 'GET', path: '/api/traces' };
  const is = (role: string, ...entitlements: string[]): void => {
    session.value = { role, entitlements } as unknown as Session;
  };
  session.value = undefined;
  t.is(explainDenial(write, 'Writing'), 'You are not signed in.');
  is('viewer', 'logs');
  t.is(explainDenial(write, 'Writing'), 'Writing is for admin and editor; your role is viewer.');
  t.is(explainDenial(traces, 'Traces'), 'The plan of this organization does not include traces.');
  t.is(explainDenial({ method: 'GET', path: '/api/things' }, 'Reading'), '');
  t.false(isPermitted(write));
  t.true(isPermitted(undefined));
  const area = { path: '/traces', title: 'Traces', requiredCall: traces, load: () => Promise.reject(new Error()) };
  t.not(explainClosedArea(area), '');
  is('editor', 'traces');
  t.true(isPermitted(write));
  t.is(explainClosedArea(area), '');
});

test('users without a known name are shown by their id', (t) => {
  t.is(named(['u', 'v'], { u: 'Ada' }), 'Ada, v');
});
