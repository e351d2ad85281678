/** Preferences of the user for times and colors in this organization, shared by their browsers */
import { signal } from '@preact/signals';
import type { getPreferences, putPreferences } from '../../api/groups/users/preferences.ts';
import { Action } from '../client/action.ts';
import { type Answered, callOf } from '../client/call.ts';
import { request } from '../client/request.ts';
import { setTimeForm } from './shown-time.ts';
import { theme } from './theme.ts';

export type Preferences = Answered<typeof getPreferences>;

/** `undefined` until the API responds */
export const preferences = signal<Preferences | undefined>(undefined);
export const changing = new Action(callOf<typeof putPreferences>('PUT', '/api/preferences'));

const applyPreferences = (chosen: Preferences): void => {
  preferences.value = chosen;
  setTimeForm(chosen);
  theme.value = chosen.theme;
};

/** Preferences as stored by the API */
let saved: Preferences | undefined;
let lastChange: Promise<void> = Promise.resolve();

/** Loads the preferences; without a response, the page uses those of the browser. */
export const readPreferences = async (): Promise<void> => {
  saved = await request(callOf<typeof getPreferences>('GET', '/api/preferences')).catch(() => undefined);
  if (saved !== undefined) applyPreferences(saved);
};

const save = async (changes: Partial<Preferences>): Promise<void> => {
  if (saved === undefined) return;
  const before = saved;
  saved = (await changing.run({ body: { ...before, ...changes } })) ?? before;
  if (saved !== before) return;
  // Later changes are preserved.
  const refused = Object.keys(changes) as (keyof Preferences)[];
  const undone = Object.fromEntries(refused.map((key) => [key, before[key]]));
  applyPreferences({ ...before, ...preferences.peek(), ...undone });
};

/** Changes preferences immediately in the page, and in sequence in the API, so that no change reverts another. */
export const updatePreferences = (changes: Partial<Preferences>): Promise<void> => {
  const chosen = preferences.peek();
  if (chosen === undefined) return lastChange;
  applyPreferences({ ...chosen, ...changes });
  lastChange = lastChange.catch(() => undefined).then(() => save(changes));
  return lastChange;
};
