/**
 * The script of pages (`/rum/oiq.js`). It reports views, web vitals, resources, clicks and errors as events of
 * OpenTelemetry, and loads the recorder for sessions that are recorded.
 */
import { createId, guard } from './guard.ts';
import { type Observed, observePage, toExceptionEvent } from './instruments.ts';
import { type Consent, type GivenOptions, type Options, readOptions } from './options.ts';
import { type Attributes, type LogRecord, type Span, toLogsBody, toTracesBody } from './otlp.ts';
import type { Recorder, RecorderHost } from './recorder.ts';
import { traceRequests } from './requests.ts';
import { createSender, type Sender } from './sender.ts';
import { createSessions, type Session, toShare } from './session.ts';

const version = '1';
const scope = { name: 'oiq.browser', version };
const element = document.currentScript as HTMLScriptElement | null;
const scriptUrl = element?.src || location.href;

/** Name of the global in which the recorder finds the script. */
const hostName = 'oiqRecorderHost';

const createResource = ({ release, environment, sessionSample }: Options, dropped: number): Attributes => {
  const hints = (navigator as { userAgentData?: { mobile: boolean; platform: string } }).userAgentData;
  return {
    'service.version': release,
    'deployment.environment.name': environment,
    'telemetry.sdk.name': 'oiq-browser',
    'telemetry.sdk.language': 'webjs',
    'telemetry.sdk.version': version,
    'user_agent.original': navigator.userAgent,
    'browser.language': navigator.language,
    'browser.mobile': hints?.mobile,
    'browser.platform': hints?.platform,
    'browser.session.sampling_rate': sessionSample,
    'browser.dropped_events': dropped === 0 ? undefined : dropped,
  };
};

const hasPrivacySignal = (): boolean => (navigator as { globalPrivacyControl?: boolean }).globalPrivacyControl === true;

const startScript = (options: Options): void => {
  const { key, endpoint, sessionSample, replaySample, replayOnError } = options;
  const base = `${endpoint}/rum/${key}`;
  const { fetch } = window;
  const originalFetch = fetch.bind(window);
  let consent: Consent = hasPrivacySignal() ? 'denied' : options.consent;
  let viewId = '';
  let documentViewId = '';
  /** With a number, the id of an event, so that one that is sent twice counts once. */
  const loadId = createId(8);
  let eventCount = 0;
  let route: string | undefined;
  let userId: string | undefined;
  let recorder: Recorder | undefined;
  let isRecorderRequested = false;

  const events: Sender<LogRecord> = createSender({
    url: `${base}/v1/logs`,
    fetch: originalFetch,
    encode: (records) => toLogsBody(createResource(options, events.dropped), scope, records),
  });
  const spans: Sender<Span> = createSender({
    url: `${base}/v1/traces`,
    fetch: originalFetch,
    encode: (items) => toTracesBody(createResource(options, 0), scope, items),
  });
  const sessions = createSessions((session, ended) => {
    if (ended !== undefined) report({ eventName: 'session.end', timeMs: ended.lastActiveAt, attributes: {} }, ended);
    report({ eventName: 'session.start', attributes: { 'session.previous_id': session.previousId } }, session);
    recorder?.restart();
    loadRecorder(session);
  });
  const isReported = ({ id }: Session): boolean => consent !== 'denied' && toShare(id) < sessionSample;

  const createAttributes = ({ id }: Session, view: string): Attributes => ({
    'session.id': id,
    'browser.view.id': view,
    'browser.document.url.full': location.href,
    'browser.route': route,
    'user.id': userId,
  });
  const report = (observed: Observed, given?: Session): void => {
    if (consent === 'denied') return;
    const { eventName, timeMs = Date.now(), severityNumber, isActive = false, isOfDocument } = observed;
    const session = given ?? sessions.get(isActive);
    if (!isReported(session)) return;
    const view = isOfDocument ? documentViewId : viewId;
    const attributes = {
      ...createAttributes(session, view),
      'log.record.uid': `${loadId}-${eventCount++}`,
      ...observed.attributes,
    };
    events.add({ eventName, timeMs, severityNumber, attributes });
    if (eventName === 'exception') recorder?.keepLastMinute();
  };

  const loadRecorder = guard((session: Session): void => {
    const isRecorded = toShare(`replay/${session.id}`) < replaySample;
    if (consent !== 'granted' || !isReported(session) || !(isRecorded || replayOnError)) return;
    recorder?.start();
    if (isRecorderRequested) return;
    isRecorderRequested = true;
    const host: RecorderHost = {
      url: `${base}/replay`,
      fetch: originalFetch,
      getSessionId: () => sessions.get(false).id,
      isRecorded: () => consent === 'granted' && toShare(`replay/${sessions.get(false).id}`) < replaySample,
      onReady: (ready) => {
        recorder = ready;
        // Consent may have changed since the request.
        loadRecorder(sessions.get(false));
      },
    };
    Object.assign(window, { [hostName]: host });
    const script = document.createElement('script');
    script.src = `${endpoint}/rum/replay.js`;
    script.async = true;
    if (element?.nonce) script.nonce = element.nonce;
    document.head.append(script);
  });
  const flush = guard((isLeaving?: boolean): void => {
    events.flush();
    spans.flush();
    recorder?.flush(isLeaving);
  });
  const setConsent = (next: Consent): void => {
    consent = next;
    const isGranted = next === 'granted';
    for (const sender of [events, spans]) {
      sender.setPaused(!isGranted);
      if (next === 'denied') sender.clear();
    }
    if (!isGranted) recorder?.stop();
    if (next === 'denied') sessions.forget();
    if (!isGranted) return;
    sessions.store();
    loadRecorder(sessions.get(true));
    flush();
  };

  setConsent(consent);
  const isTraced = traceRequests(options.traceOrigins, (span) => {
    const session = sessions.get(false);
    if (isReported(session))
      spans.add({ ...span, attributes: { ...createAttributes(session, viewId), ...span.attributes } });
  });
  observePage({
    report,
    reportView(observed, isNewDocument) {
      viewId = createId(8);
      if (isNewDocument) documentViewId = viewId;
      route = undefined;
      report(observed);
    },
    isIgnored: ({ name, initiatorType }) =>
      name.startsWith(base) ||
      name.startsWith(`${endpoint}/rum/`) ||
      ((initiatorType === 'fetch' || initiatorType === 'xmlhttprequest') && isTraced(name)),
  });
  const flushIfHidden = (): void => {
    if (document.visibilityState === 'hidden') flush(true);
  };
  // Registered last, so that web vitals of a page that is left are reported first.
  document.addEventListener('visibilitychange', flushIfHidden);
  window.addEventListener('pagehide', () => flush(true));

  Object.assign(oiq, {
    setConsent: guard((next: Consent) => setConsent(next)),
    setUser: guard((id: string | undefined) => {
      userId = id === undefined ? undefined : String(id);
    }),
    setRoute: guard((name: string) => {
      route = String(name);
    }),
    captureError: guard((thrown: unknown) => report(toExceptionEvent(thrown, '', true))),
    addEvent: guard((name: string, attributes: Attributes = {}) =>
      report({ eventName: String(name), attributes: { ...attributes } }),
    ),
    flush: () => flush(),
  });
};

const noOperation = (): void => undefined;

/** What pages may call. Functions do nothing before the start. */
const oiq = {
  /** Starts the script, once. */
  start: guard((given: GivenOptions): void => {
    const options = readOptions(given, scriptUrl);
    if (options === undefined || oiq.isStarted) return;
    oiq.isStarted = true;
    startScript(options);
  }),
  isStarted: false,
  setConsent: noOperation as (next: Consent) => void,
  setUser: noOperation as (id: string | undefined) => void,
  setRoute: noOperation as (name: string) => void,
  captureError: noOperation as (thrown: unknown) => void,
  addEvent: noOperation as (name: string, attributes?: Attributes) => void,
  flush: noOperation,
};

guard(() => {
  if ('oiq' in window) return;
  Object.assign(window, { oiq });
  if (element?.dataset['key']) oiq.start(element.dataset as GivenOptions);
})();
