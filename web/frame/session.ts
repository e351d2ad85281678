/** Session: user and organization */
import { signal } from '@preact/signals';
import type { currentSession, logout, switchTenant } from '../../api/groups/authentication/sessions.ts';
import type { listOrganizations } from '../../api/groups/users/organizations.ts';
import { type Answered, callOf } from '../client/call.ts';
import { CallError, request } from '../client/request.ts';
import { readPreferences } from './preferences.ts';
import { readProjects } from './project.ts';

export type Session = Answered<typeof currentSession>;

/** `undefined` until the API responds */
export const session = signal<Session | undefined>(undefined);
/** Why the session is unknown */
export const sessionError = signal<string>('');
/** Other organizations of the user */
export const otherOrganizations = signal<Answered<typeof listOrganizations>['items']>([]);

/** Notifies other tabs of this browser that the session has ended or changed */
const ended = new BroadcastChannel('oiq-session');
ended.addEventListener('message', () => location.replace('/'));

const messageOf = (error: unknown): string => (error instanceof CallError ? error.message : String(error));

const readSession = async (): Promise<void> => {
  const who = await request(callOf<typeof currentSession>('GET', '/auth/session'));
  // Both in parallel, so that times use the preferences from the start.
  await Promise.all([readPreferences(), readProjects()]);
  session.value = who;
  const { items } = await request(callOf<typeof listOrganizations>('GET', '/api/organizations'));
  otherOrganizations.value = items.filter(({ current }) => !current);
};

/** Loads the session. Without one, the user is redirected to the sign-in page. */
export const openSession = (): void => {
  sessionError.value = '';
  readSession().catch((error: unknown) => {
    sessionError.value = messageOf(error);
  });
};

/** Ends the session, here and in the other tabs. */
export const signOut = async (): Promise<void> => {
  await request(callOf<typeof logout>('POST', '/auth/logout')).catch(() => undefined);
  ended.postMessage('over');
  location.replace('/login');
};

/** Switches to another organization, in all tabs. */
export const goTo = async (organizationId: string): Promise<void> => {
  await request(callOf<typeof switchTenant>('POST', '/auth/switch-tenant'), { body: { organizationId } }).then(
    () => {
      ended.postMessage('elsewhere');
      location.replace('/');
    },
    (error: unknown) => {
      sessionError.value = messageOf(error);
    },
  );
};
