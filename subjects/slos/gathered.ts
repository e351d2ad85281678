/** What objectives of one moment ask alike: each says what it asks about, and one statement answers all. */
import type { Answers } from '../../queries/batch/answers.ts';

/** Objectives that are due together ask within one look at what is due. */
const gatherMs = 20;

interface Gathering {
  readonly members: Set<string>;
  readonly found: Promise<unknown>;
}

const gathering = new WeakMap<Answers, Map<string, Gathering>>();

/**
 * What `read` finds for all that ask with the same key within some milliseconds: its members are what they ask about. It reads in a turn of the
 * organization's, and is always of the same form for a key.
 */
export const gathered = async <Found>(
  answers: Answers,
  { key, member }: { readonly key: string; readonly member: string },
  read: (members: readonly string[]) => Promise<Found>,
): Promise<Found> => {
  const own = gathering.get(answers) ?? new Map<string, Gathering>();
  gathering.set(answers, own);
  const known = own.get(key);
  known?.members.add(member);
  if (known !== undefined) return known.found as Promise<Found>;
  const members = new Set([member]);
  // Those who ask from when it reads, or is refused a turn, are not among its members.
  const close = (): void => {
    if (own.get(key)?.members === members) own.delete(key);
  };
  const found = (async () => {
    await new Promise((resolve) => setTimeout(resolve, gatherMs));
    return answers.runInSlot(() => {
      close();
      return read([...members]);
    });
  })().finally(close);
  own.set(key, { members, found });
  return found;
};
