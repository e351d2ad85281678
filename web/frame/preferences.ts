/** Preferences of the user in this organization, which all their browsers share */
import { signal } from '@preact/signals';
import type { getPreferences, putPreferences } from '../../api/groups/users/preferences.ts';
import { Action } from '../client/action.ts';
import { declareCall, type ResponseBody } from '../client/call.ts';
import { request } from '../client/request.ts';
import { setTimePreferences } from './format-time.ts';
import { theme } from './theme.ts';

export type Preferences = ResponseBody<typeof getPreferences>;

/** `undefined` until the API responds */
export const preferences = signal<Preferences | undefined>(undefined);
export const updateAction = new Action(declareCall<typeof putPreferences>('PUT', '/api/preferences'));

const applyPreferences = (newPreferences: Preferences): void => {
  preferences.value = newPreferences;
  setTimePreferences(newPreferences);
  theme.value = newPreferences.theme;
};

/** Preferences as stored by the API */
let storedPreferences: Preferences | undefined;
let lastChange: Promise<void> = Promise.resolve();

/** Loads the preferences. If that fails, the page uses defaults from the browser. */
export const loadPreferences = async (): Promise<void> => {
  storedPreferences = await request(declareCall<typeof getPreferences>('GET', '/api/preferences')).catch(
    () => undefined,
  );
  if (storedPreferences !== undefined) applyPreferences(storedPreferences);
};

const save = async (changes: Partial<Preferences>): Promise<void> => {
  if (storedPreferences === undefined) return;
  const previousPreferences = storedPreferences;
  storedPreferences = (await updateAction.run({ body: { ...previousPreferences, ...changes } })) ?? previousPreferences;
  if (storedPreferences !== previousPreferences) return;
  // Reverts only the rejected changes and preserves later ones.
  const rejectedKeys = Object.keys(changes) as (keyof Preferences)[];
  const revertedValues = Object.fromEntries(rejectedKeys.map((key) => [key, previousPreferences[key]]));
  applyPreferences({ ...previousPreferences, ...preferences.peek(), ...revertedValues });
};

/** Updates preferences at once in the page, and one after another in the API, so that no update reverts another. */
export const updatePreferences = (changes: Partial<Preferences>): Promise<void> => {
  const currentPreferences = preferences.peek();
  if (currentPreferences === undefined) return lastChange;
  applyPreferences({ ...currentPreferences, ...changes });
  lastChange = lastChange.catch(() => undefined).then(() => save(changes));
  return lastChange;
};
