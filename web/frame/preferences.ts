/** How this person wants times and colors in this organization. Other browsers of theirs have it so, too. */
import { signal } from '@preact/signals';
import type { getPreferences, putPreferences } from '../../api/groups/users/preferences.ts';
import { Action } from '../client/action.ts';
import { ask } from '../client/ask.ts';
import { type Answered, callOf } from '../client/call.ts';
import { setTimeForm } from './shown-time.ts';
import { theme } from './theme.ts';

export type Preferences = Answered<typeof getPreferences>;

/** Undefined until the API has said. */
export const preferences = signal<Preferences | undefined>(undefined);
export const changing = new Action(callOf<typeof putPreferences>('PUT', '/api/preferences'));

const take = (chosen: Preferences): void => {
  preferences.value = chosen;
  setTimeForm(chosen);
  theme.value = chosen.theme;
};

/** Asks for them; without an answer the page is as the browser has it. */
export const readPreferences = async (): Promise<void> => {
  const chosen = await ask(callOf<typeof getPreferences>('GET', '/api/preferences')).catch(() => undefined);
  if (chosen !== undefined) take(chosen);
};

/** Changes some of them, here at once. */
export const prefer = async (changes: Partial<Preferences>): Promise<void> => {
  const before = preferences.peek();
  if (before === undefined) return;
  take({ ...before, ...changes });
  if ((await changing.run({ body: { ...before, ...changes } })) === undefined) take(before);
};
