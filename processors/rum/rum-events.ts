import { z } from 'zod';
import { createItemSource } from '../../schemas/records/values.ts';
import { type FrustrationType, maxPageGroups, otherPages, type RumEvent } from '../../schemas/rum.ts';
import { topics } from '../../schemas/topics.ts';
import { getPageGroup } from '../../subjects/rum/page-group.ts';
import { type Context, defineProcessor } from '../engine/definition.ts';
import { codedState, combinedState, estimateBytes, keyedState } from '../engine/state.ts';
import {
  addClick,
  addError,
  addFrustration,
  addReceived,
  addView,
  createView,
  emptySession,
  findSameView,
  findView,
  SessionState,
  type SessionStep,
} from './session.ts';

const maxApplications = 500;
const maxSessions = 50_000;

const emits = { events: topics.rumEvents };
const state = combinedState(1, {
  sessions: keyedState<SessionState>({ version: 1, maxEntries: maxSessions, schema: SessionState }),
  /** Page groups of each application. */
  pages: codedState({
    version: 1,
    maxEntries: maxApplications,
    schema: z.array(z.string()),
    form: {
      restore: (saved): Set<string> => new Set(saved),
      json: (groups) => JSON.stringify([...groups]),
      weigh: (groups) => estimateBytes([...groups]),
    },
  }),
});
type State = ReturnType<typeof state.open>;
type StepContext = Context<typeof emits, Readonly<Record<never, never>>, State>;

const keyOf = ({ projectId, application }: RumEvent): string => `${projectId}\n${application}`;

/** Returns the group itself while its application has room for it, else the group of other pages. */
const limitGroup = (event: RumEvent, group: string, { state: { pages } }: StepContext): string => {
  if (group === '') return '';
  const key = keyOf(event);
  const groups = pages.get(key) ?? new Set<string>();
  if (groups.has(group)) return group;
  if (groups.size >= maxPageGroups) return otherPages;
  groups.add(group);
  pages.set(key, groups);
  return group;
};

const emitFrustration = (event: RumEvent, { frustration }: SessionStep, { emit }: StepContext): void => {
  if (frustration === undefined) return;
  emit.events({
    ...event,
    kind: 'frustration',
    name: frustration.type,
    element: frustration.element,
    elementText: frustration.elementText,
    stack: '',
    fingerprint: '',
    errorType: '',
    attributes: {},
  });
};

const addToSession = (session: SessionState, event: RumEvent): SessionStep => {
  if (event.kind === 'action') return addClick(session, event);
  return event.kind === 'error' ? addError(session, event) : { session, frustration: undefined };
};

/** A report with its session, and the page group of its route or URL. */
interface Report {
  readonly event: RumEvent;
  readonly key: string;
  readonly session: SessionState;
  readonly group: string;
}

/** Emits a view, or a navigation if another instrumentation already reported the same document. */
const stepView = ({ event, key, session, group }: Report, { state: { sessions }, emit }: StepContext): void => {
  const isReported = event.viewId === '' && event.navigationType !== 'route';
  const existing = isReported ? findSameView(session, event) : undefined;
  const view = existing ?? createView(event, group);
  emit.events({
    ...event,
    kind: existing === undefined ? 'view' : 'navigation',
    viewId: view.id,
    page: view.page,
  });
  if (existing === undefined) sessions.set(key, addView(session, view));
};

/** Emits a sign of frustration that the SDK reports. */
const stepFrustration = ({ event, key, session }: Report, { state: { sessions }, emit, drop }: StepContext): void => {
  const { element, elementText, name, timeMs } = event;
  const step = addFrustration(session, timeMs, { type: name as FrustrationType, element, elementText });
  if (step.frustration === undefined) drop('repeated');
  else {
    sessions.set(key, step.session);
    emit.events(event);
  }
};

/** Emits an event of a session with its view and page, and the sign of frustration that it completes. */
const stepSession = (event: RumEvent, context: StepContext): void => {
  const { sessions } = context.state;
  const key = `${keyOf(event)}\n${event.sessionId}`;
  const known = sessions.get(key) ?? emptySession;
  const session = addReceived(known, event);
  if (session === undefined) {
    context.drop('repeated');
    return;
  }
  if (session !== known) sessions.set(key, session);
  const group = limitGroup(event, event.route || getPageGroup(event.url), context);
  if (event.kind === 'view') {
    stepView({ event, key, session, group }, context);
    return;
  }
  const view = findView(session, event);
  const placed = { ...event, viewId: event.viewId || (view?.id ?? ''), page: group || (view?.page ?? '') };
  if (event.kind === 'frustration') {
    stepFrustration({ event: placed, key, session, group }, context);
    return;
  }
  context.emit.events(placed);
  const step = addToSession(session, event);
  if (step.session !== session) sessions.set(key, step.session);
  emitFrustration(placed, step, context);
};

/**
 * Assigns events of browsers to views and page groups, and finds signs of frustration. All events of an application are
 * in one partition, so its page groups are limited exactly.
 */
export const rumEvents = defineProcessor({
  name: 'rum-events',
  summary: 'Assigns events of browsers to views and page groups, and finds signs of frustration.',
  reads: createItemSource(topics.rumReports),
  emits,
  entitlement: 'rum',
  state,
  step(event, context) {
    if (event.sessionId !== '') stepSession(event, context);
    else context.emit.events({ ...event, page: limitGroup(event, event.route || getPageGroup(event.url), context) });
  },
});
