/** Session of the user in an organization */
import { signal } from '@preact/signals';
import type { currentSession, logout, switchTenant } from '../../api/groups/authentication/sessions.ts';
import type { listOrganizations } from '../../api/groups/users/organizations.ts';
import { declareCall, type ResponseBody } from '../client/call.ts';
import { CallError, request } from '../client/request.ts';
import { loadPreferences } from './preferences.ts';
import { loadProjects } from './project.ts';

export type Session = ResponseBody<typeof currentSession>;

/** `undefined` until the API responds */
export const session = signal<Session | undefined>(undefined);
/** Error of the last call that loads or changes the session; empty if there is none */
export const sessionError = signal<string>('');
/** Other organizations of the user */
export const otherOrganizations = signal<ResponseBody<typeof listOrganizations>['items']>([]);

/** Notifies the other tabs of the browser that the session has ended or changed */
const sessionChannel = new BroadcastChannel('oiq-session');
sessionChannel.addEventListener('message', () => location.replace('/'));

const toMessage = (error: unknown): string => (error instanceof CallError ? error.message : String(error));

const loadSession = async (): Promise<void> => {
  const loadedSession = await request(declareCall<typeof currentSession>('GET', '/auth/session'));
  // The session is set last, so that the first view already uses the preferences and projects.
  await Promise.all([loadPreferences(), loadProjects()]);
  session.value = loadedSession;
  const { items } = await request(declareCall<typeof listOrganizations>('GET', '/api/organizations'));
  otherOrganizations.value = items.filter(({ current }) => !current);
};

/**
 * Loads the session. Without a session, the page redirects to the sign-in page. While the server is unavailable, the
 * page shows the reason and tries again.
 */
export const openSession = (): void => {
  loadSession().then(
    () => {
      sessionError.value = '';
    },
    (error: unknown) => {
      const retrySeconds = error instanceof CallError ? error.retrySeconds : undefined;
      const note = retrySeconds === undefined ? '' : ` Retrying in ${retrySeconds} s.`;
      sessionError.value = `${toMessage(error)}${note}`;
      if (retrySeconds !== undefined) setTimeout(openSession, retrySeconds * 1000);
    },
  );
};

/** Ends the session in all tabs. */
export const signOut = async (): Promise<void> => {
  await request(declareCall<typeof logout>('POST', '/auth/logout')).catch(() => undefined);
  sessionChannel.postMessage('over');
  location.replace('/login');
};

/** Switches to another organization in all tabs. */
export const switchOrganization = async (organizationId: string): Promise<void> => {
  await request(declareCall<typeof switchTenant>('POST', '/auth/switch-tenant'), { body: { organizationId } }).then(
    () => {
      sessionChannel.postMessage('elsewhere');
      location.replace('/');
    },
    (error: unknown) => {
      sessionError.value = toMessage(error);
    },
  );
};
