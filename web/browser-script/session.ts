/** The session of the visitor, which all tabs of a site share. There are no cookies. */
import { createId, guard } from './guard.ts';

const idleMs = 30 * 60_000;
const maxSessionMs = 4 * 3_600_000;
const storageKey = 'oiq-session';
/** Writing at each event would cost more than the accuracy is worth. */
const storeEveryMs = 5_000;

export interface Session {
  readonly id: string;
  readonly previousId: string;
  readonly startedAt: number;
  lastActiveAt: number;
}

const hasEnded = ({ startedAt, lastActiveAt }: Session, now: number): boolean =>
  now - lastActiveAt > idleMs || now - startedAt > maxSessionMs;

const readStored = guard((): Session | undefined => {
  const stored = JSON.parse(localStorage.getItem(storageKey) ?? 'null') as Partial<Session> | null;
  const isSession =
    typeof stored?.id === 'string' && typeof stored.startedAt === 'number' && typeof stored.lastActiveAt === 'number';
  return isSession ? (stored as Session) : undefined;
});

export interface Sessions {
  /** Returns the session. With `isActive`, something of the visitor, which extends the session or begins a new one. */
  get(isActive: boolean): Session;
  /** Stores the session in the browser from now on. Before, it ends with the page. */
  store(): void;
  /** Deletes the session and its ids. */
  forget(): void;
}

/** Calls `onStart` with each new session, and with the one that ended. */
export const createSessions = (onStart: (session: Session, ended: Session | undefined) => void): Sessions => {
  let session: Session | undefined;
  let isStored = false;
  let storedAt = 0;
  const write = guard((now: number): void => {
    storedAt = now;
    localStorage.setItem(storageKey, JSON.stringify(session));
  });
  const begin = (now: number, ended: Session | undefined): Session => {
    const begun = { id: createId(16), previousId: ended?.id ?? '', startedAt: now, lastActiveAt: now };
    session = begun;
    if (isStored) write(now);
    onStart(begun, ended);
    return begun;
  };
  const resume = (now: number): Session => {
    const stored = isStored ? readStored() : undefined;
    if (stored === undefined || hasEnded(stored, now)) return begin(now, stored);
    session = stored;
    return stored;
  };
  /** Another tab may have extended the session, or begun the next one. */
  const extend = (current: Session, now: number): Session => {
    const latest = hasEnded(current, now) && isStored ? (readStored() ?? current) : current;
    if (hasEnded(latest, now)) return begin(now, latest);
    session = latest;
    latest.lastActiveAt = now;
    if (isStored && now - storedAt > storeEveryMs) write(now);
    return latest;
  };
  return {
    get(isActive) {
      const now = Date.now();
      const current = session ?? resume(now);
      return isActive ? extend(current, now) : current;
    },
    store() {
      isStored = true;
      if (session !== undefined) write(Date.now());
    },
    forget() {
      isStored = false;
      session = undefined;
      guard(() => localStorage.removeItem(storageKey))();
    },
  };
};

/** Returns a number from 0 to 1 that depends on the text alone (FNV-1a), so that all tabs decide alike. */
export const toShare = (text: string): number => {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  hash ^= hash >>> 16;
  hash = Math.imul(hash, 0x85ebca6b);
  return ((hash ^ (hash >>> 13)) >>> 0) / 2 ** 32;
};
