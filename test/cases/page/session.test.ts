/** The session of the page, the sequential saving of preferences, and permissions. */
import './browser.ts';

import test from 'ava';
import { explainClosedArea } from '../../../web/frame/area.ts';
import { displayTimeZone } from '../../../web/frame/format-time.ts';
import { formatNames } from '../../../web/frame/people.ts';
import { loadPreferences, preferences, updatePreferences } from '../../../web/frame/preferences.ts';
import { explainDenial, isPermitted } from '../../../web/frame/rights.ts';
import { openSession, otherOrganizations, type Session, session, sessionError } from '../../../web/frame/session.ts';
import { theme } from '../../../web/frame/theme.ts';
import { eventually } from '../../waiting.ts';
import { answerWith, json, requests } from './browser.ts';

const storedPreferences = { theme: 'dark', timeZone: 'UTC', timeFormat: '24h', dateFormat: 'iso' } as const;

test.serial('preferences apply immediately, and each change is saved together with earlier changes', async (t) => {
  answerWith(({ method, body }) => json(method === 'GET' ? storedPreferences : body));
  await loadPreferences();
  t.is(theme.value, 'dark');
  t.is(document.documentElement.dataset['theme'], 'dark');
  t.is(displayTimeZone.value, 'UTC');
  void updatePreferences({ theme: 'light' });
  const lastUpdate = updatePreferences({ timeZone: 'Asia/Tokyo' });
  t.is(theme.value, 'light');
  t.is(displayTimeZone.value, 'Asia/Tokyo');
  await lastUpdate;
  t.deepEqual(
    requests.slice(1).map(({ method, body }) => [method, body]),
    [
      ['PUT', { ...storedPreferences, theme: 'light' }],
      ['PUT', { ...storedPreferences, theme: 'light', timeZone: 'Asia/Tokyo' }],
    ],
  );
});

test.serial('a rejected preference reverts to its previous value, and later changes remain', async (t) => {
  answerWith(({ method, body }) => {
    if (method === 'GET') return json(storedPreferences);
    return (body as typeof storedPreferences).dateFormat === 'iso' ? json(body) : json({ message: 'No.' }, 400);
  });
  await loadPreferences();
  void updatePreferences({ dateFormat: 'day-month-year' });
  await updatePreferences({ theme: 'light' });
  t.like(preferences.value, { dateFormat: 'iso', theme: 'light' });
});

test.serial('a session is set once its preferences and projects are loaded', async (t) => {
  const sessionResponse = { user: { id: 'u', name: 'Ada' }, role: 'viewer', entitlements: ['logs'] };
  const responses: Readonly<Record<string, unknown>> = {
    '/auth/session': sessionResponse,
    '/api/preferences': storedPreferences,
    '/api/projects?limit=1000': { items: [{ id: 'p' }] },
    '/api/organizations': {
      items: [
        { id: 'a', current: true },
        { id: 'b', current: false },
      ],
    },
  };
  answerWith(({ address }) => json(responses[address]));
  openSession();
  await eventually('the organizations', () => otherOrganizations.value.length > 0);
  t.like(session.value, sessionResponse);
  t.deepEqual(
    otherOrganizations.value.map(({ id }) => id),
    ['b'],
  );
  answerWith(() => json({ message: 'Broken.' }, 500));
  openSession();
  await eventually('the error', () => sessionError.value !== '');
  t.is(sessionError.value, 'Broken.');
});

test.serial('a call is permitted for certain roles and plans, and the denial is explained to others', (t) => {
  const writeCall = { method: 'POST', path: '/api/things' };
  const tracesCall = { method: 'GET', path: '/api/traces' };
  const setSession = (role: string, ...entitlements: string[]): void => {
    session.value = { role, entitlements } as unknown as Session;
  };
  session.value = undefined;
  t.is(explainDenial(writeCall, 'Writing'), 'You are not signed in.');
  setSession('viewer', 'logs');
  t.is(explainDenial(writeCall, 'Writing'), 'Writing is for admin and editor; your role is viewer.');
  t.is(explainDenial(tracesCall, 'Traces'), 'The plan of this organization does not include traces.');
  t.is(explainDenial({ method: 'GET', path: '/api/things' }, 'Reading'), '');
  t.false(isPermitted(writeCall));
  t.true(isPermitted(undefined));
  const area = { path: '/traces', title: 'Traces', requiredCall: tracesCall, load: () => Promise.reject(new Error()) };
  t.not(explainClosedArea(area), '');
  setSession('editor', 'traces');
  t.true(isPermitted(writeCall));
  t.is(explainClosedArea(area), '');
});

test('users without a known name are shown by their id', (t) => {
  t.is(formatNames(['u', 'v'], { u: 'Ada' }), 'Ada, v');
});
