/** State of a session: its latest views, clicks and errors. All functions are pure. */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { FrustrationType, RumEvent } from '../../schemas/rum.ts';

/** Clicks on one element within this time that are a rage click. */
const rageClicks = 3;
const rageMs = 1_000;
/** An error within this time after a click is attributed to the click. */
const errorClickMs = 1_000;
/** A sign of frustration that is reported again within this time is the same one. */
const sameFrustrationMs = 2_000;
/** Reports of loading one document within this time are one view. */
const sameViewMs = 10_000;
const maxViews = 6;
const maxClicks = 8;
const maxErrors = 4;
const maxFrustrations = 8;
const maxUrl = 256;
const maxLoads = 4;
const maxRanges = 16;

const View = z.strictObject({
  id: z.string(),
  startMs: z.number(),
  page: z.string(),
  url: z.string(),
  isDocument: z.boolean(),
  /** Name of the event that began the view. */
  source: z.string(),
});
export type View = z.output<typeof View>;

/** Numbers of the events of one load of a page that arrived: ranges, each with its first and last number. */
const ReceivedEvents = z.strictObject({ load: z.string(), ranges: z.array(z.tuple([z.number(), z.number()])) });
type Range = z.output<typeof ReceivedEvents>['ranges'][number];

export const SessionState = z.strictObject({
  /** By start, the latest last. */
  views: z.array(View),
  clicks: z.array(z.strictObject({ timeMs: z.number(), element: z.string(), text: z.string() })),
  errors: z.array(z.number()),
  frustrations: z.array(z.strictObject({ type: z.string(), element: z.string(), timeMs: z.number() })),
  received: z.array(ReceivedEvents).default([]),
});
export type SessionState = z.output<typeof SessionState>;
type Click = SessionState['clicks'][number];

export const emptySession: SessionState = { views: [], clicks: [], errors: [], frustrations: [], received: [] };

/** Adds a number to ranges in ascending order, and joins adjacent ones. */
const addToRanges = (ranges: readonly Range[], number: number): Range[] => {
  const joined: Range[] = [];
  const sorted = [...ranges, [number, number] as Range].sort(([left], [right]) => left - right);
  for (const [first, last] of sorted) {
    const before = joined.at(-1);
    if (before !== undefined && first <= before[1] + 1) before[1] = Math.max(before[1], last);
    else joined.push([first, last]);
  }
  return joined.slice(-maxRanges);
};

/** Ids of our script: the load of the page, and the number of the event. */
const numberedIdPattern = /^([0-9a-f]{16})-(\d{1,9})$/;

/**
 * Returns the session with an event that arrived; undefined if it arrived before. A sender without a response sends its
 * events again, for example when the receiver was killed after it had stored them.
 */
export const addReceived = (session: SessionState, { kind, eventId }: RumEvent): SessionState | undefined => {
  // Of the reports of a vital, which have one id, the last one counts.
  const [, load, text] = kind === 'vital' ? [] : (numberedIdPattern.exec(eventId) ?? []);
  if (load === undefined) return session;
  const number = Number(text);
  const existing = session.received.find((received) => received.load === load);
  const ranges = existing?.ranges ?? [];
  if (ranges.some(([first, last]) => first <= number && number <= last)) return undefined;
  const others = session.received.filter((received) => received !== existing);
  const received = [...others, { load, ranges: addToRanges(ranges, number) }].slice(-maxLoads);
  return { ...session, received };
};

const createViewId = ({ sessionId, at, url }: RumEvent): string =>
  createHash('sha256').update(`${sessionId}\n${at}\n${url}`).digest('hex').slice(0, 16);

/** Vitals of a document are reported later, also after changes of the route. */
const isOfDocument = ({ kind, navigationType }: RumEvent): boolean =>
  kind === 'vital' && !navigationType.startsWith('soft');

/** Returns the view of an event: the last one that began before the event, else the first one. */
export const findView = ({ views }: SessionState, event: RumEvent): View | undefined => {
  if (event.viewId !== '') return views.find(({ id }) => id === event.viewId);
  const candidates = isOfDocument(event) ? views.filter(({ isDocument }) => isDocument) : views;
  return candidates.findLast(({ startMs }) => startMs <= event.timeMs) ?? candidates[0];
};

/** Returns the latest view of the same document that another instrumentation reported. A reload is another view. */
export const findSameView = ({ views }: SessionState, event: RumEvent): View | undefined =>
  views.findLast(
    ({ isDocument, startMs, url, source }) =>
      isDocument &&
      source !== event.name &&
      url === event.url.slice(0, maxUrl) &&
      Math.abs(startMs - event.timeMs) < sameViewMs,
  );

export const createView = (event: RumEvent, page: string): View => ({
  id: event.viewId || createViewId(event),
  startMs: event.timeMs,
  page,
  url: event.url.slice(0, maxUrl),
  isDocument: event.navigationType !== 'route' && !event.navigationType.startsWith('soft'),
  source: event.name,
});

export const addView = (session: SessionState, view: View): SessionState => ({
  ...session,
  views: [...session.views, view].sort((left, right) => left.startMs - right.startMs).slice(-maxViews),
});

interface Frustration {
  readonly type: FrustrationType;
  readonly element: string;
  readonly elementText: string;
}

/** Result of an event: the state after it, and the sign of frustration that it completes. */
export interface SessionStep {
  readonly session: SessionState;
  readonly frustration: Frustration | undefined;
}

/** Adds a sign of frustration, unless it was added before. */
export const addFrustration = (session: SessionState, timeMs: number, frustration: Frustration): SessionStep => {
  const isKnown = session.frustrations.some(
    ({ type, element, timeMs: knownMs }) =>
      type === frustration.type &&
      (element === frustration.element || element === '' || frustration.element === '') &&
      Math.abs(knownMs - timeMs) < sameFrustrationMs,
  );
  if (isKnown) return { session, frustration: undefined };
  const frustrations = [...session.frustrations, { type: frustration.type, element: frustration.element, timeMs }];
  return { session: { ...session, frustrations: frustrations.slice(-maxFrustrations) }, frustration };
};

const toFrustration = (type: FrustrationType, { element, text }: Click): Frustration => ({
  type,
  element,
  elementText: text,
});

/** Adds a click: the third one on an element within a second is a rage click. */
export const addClick = (session: SessionState, { timeMs, element, elementText }: RumEvent): SessionStep => {
  const click: Click = { timeMs, element, text: elementText };
  const clicks = [...session.clicks, click].sort((left, right) => left.timeMs - right.timeMs).slice(-maxClicks);
  const withClick = { ...session, clicks };
  const same = clicks.filter((other) => other.element === element && Math.abs(other.timeMs - timeMs) <= rageMs);
  const first = same.at(-rageClicks);
  if (element !== '' && first !== undefined && (same.at(-1)?.timeMs ?? 0) - first.timeMs <= rageMs)
    return addFrustration(withClick, timeMs, toFrustration('rage_click', click));
  const error = session.errors.find((errorMs) => errorMs >= timeMs && errorMs - timeMs <= errorClickMs);
  return error === undefined
    ? { session: withClick, frustration: undefined }
    : addFrustration(withClick, timeMs, toFrustration('error_click', click));
};

/** Adds an error: a click within a second before it is a click before an error. */
export const addError = (session: SessionState, { timeMs }: RumEvent): SessionStep => {
  const withError = { ...session, errors: [...session.errors, timeMs].slice(-maxErrors) };
  const click = session.clicks.findLast(({ timeMs: clickMs }) => clickMs <= timeMs && timeMs - clickMs <= errorClickMs);
  return click === undefined
    ? { session: withError, frustration: undefined }
    : addFrustration(withError, click.timeMs, toFrustration('error_click', click));
};
