/** The recorder (`/rum/replay.js`): sends what rrweb records, with all inputs masked. The server masks again. */
import { record } from '@rrweb/record';
import { createId, guard } from './guard.ts';

/** What the script offers to the recorder. */
export interface RecorderHost {
  readonly url: string;
  readonly fetch: typeof fetch;
  getSessionId(): string;
  /** Whether the whole session is recorded, not only the minute before an error. */
  isRecorded(): boolean;
  onReady(recorder: Recorder): void;
}

/** Records nothing until it is started. */
export interface Recorder {
  /** Begins a recording, unless one runs. */
  start(): void;
  /** Sends the last minute and what follows. */
  keepLastMinute(): void;
  /** Begins again with a complete picture of the page, for a new session. */
  restart(): void;
  /** With `isLeaving`, requests do not wait for each other, because the page may be left. */
  flush(isLeaving?: boolean): void;
  /** Ends the recording, and drops what was not sent. */
  stop(): void;
}

/** An event of rrweb */
interface RecordedEvent {
  readonly type: number;
  readonly timestamp: number;
}

const flushMs = 5_000;
const pictureEveryMs = 30_000;
const retainedMs = 60_000;
const maxBodyLength = 400_000;
/** The receiver accepts 5 MiB. */
const maxEventLength = 4_500_000;
/** Requests that may outlive their page: browsers allow 64 KiB of them at a time. */
const maxKeepaliveLength = 30 * 1024;
/** Above the length of the fields beside the events. */
const maxHeadLength = 1_024;
const maxWaitingLength = 8_000_000;
const retryMs = 5_000;
const fullSnapshotType = 2;

interface Body {
  readonly text: string;
  readonly session: string;
  isInFlight?: boolean;
}

const createRecorder = (host: RecorderHost): void => {
  let tab = '';
  let first = 0;
  let isRetained = false;
  let events: string[] = [];
  let eventsLength = 0;
  let session = '';
  /** Pictures of the page and what follows each, for the last minute. */
  let ring: { readonly at: number; readonly events: string[] }[] = [];
  const bodies: Body[] = [];
  let waitingLength = 0;
  let isSending = false;
  let notBefore = 0;

  const enqueue = (begin: number, end: number): void => {
    const head = JSON.stringify({ session, tab, first });
    const text = `${head.slice(0, -1)},"events":[${events.slice(begin, end).join()}]}`;
    // What is dropped is a gap in the numbers, which the player shows.
    if (text.length > maxEventLength || waitingLength + text.length > maxWaitingLength) return;
    waitingLength += text.length;
    bodies.push({ text, session });
  };
  const packEvents = (maxLength: number): void => {
    let begin = 0;
    let length = 0;
    const pack = (end: number): void => {
      if (end > begin) enqueue(begin, end);
      first += end - begin;
      begin = end;
      length = 0;
    };
    for (const [index, text] of events.entries()) {
      if (length + text.length > maxLength) pack(index);
      length += text.length;
    }
    pack(events.length);
    events = [];
    eventsLength = 0;
  };
  const post = async (body: Body): Promise<number> => {
    body.isInFlight = true;
    try {
      const response = await host.fetch(host.url, {
        method: 'POST',
        headers: { 'content-type': 'text/plain' },
        body: body.text,
        keepalive: body.text.length < maxKeepaliveLength,
        credentials: 'omit',
        referrerPolicy: 'origin',
      });
      const shouldRetry = response.status === 429 || response.status >= 500;
      return shouldRetry ? Math.max(1, Number(response.headers.get('retry-after')) || 5) * 1_000 : 0;
    } catch {
      return retryMs;
    } finally {
      body.isInFlight = false;
    }
  };
  /** Returns whether the next body may be sent. */
  const send = async (body: Body): Promise<boolean> => {
    const waitMs = await post(body);
    if (waitMs > 0) {
      notBefore = Date.now() + waitMs;
      return false;
    }
    // A stop meanwhile dropped the body, and the next recording may have added others.
    const index = bodies.indexOf(body);
    if (index >= 0) {
      bodies.splice(index, 1);
      waitingLength -= body.text.length;
    }
    return true;
  };
  const findNext = (): Body | undefined => bodies.find(({ isInFlight }) => isInFlight !== true);
  const sendAll = async (): Promise<void> => {
    if (isSending || Date.now() < notBefore) return;
    isSending = true;
    for (let body = findNext(); body !== undefined; body = findNext()) if (!(await send(body))) break;
    isSending = false;
  };
  /** Nothing follows if the page is left. The receiver expects requests that overtake others. */
  const sendAllAtOnce = (): void => {
    if (Date.now() < notBefore) return;
    for (const body of [...bodies]) if (body.isInFlight !== true) void send(body);
  };
  const flush = guard((isLeaving?: boolean): void => {
    const maxLength = isLeaving === true ? maxKeepaliveLength - maxHeadLength : maxBodyLength;
    if (events.length > 0) packEvents(maxLength);
    if (isLeaving === true) sendAllAtOnce();
    else void sendAll();
  });
  const addToRing = (event: RecordedEvent, text: string, isPicture: boolean): void => {
    const now = Date.now();
    if (isPicture) {
      // The newest picture from before the minute is needed to play the minute.
      const oldest = ring.findLastIndex(({ at }) => now - at > retainedMs);
      ring = ring.slice(Math.max(0, oldest));
      ring.push({ at: event.timestamp, events: [] });
    }
    ring.at(-1)?.events.push(text);
  };
  const beginSession = (id: string): void => {
    session = id;
    tab = createId(8);
    first = 0;
    isRetained = host.isRecorded();
    ring = [];
  };
  const emit = guard((event: RecordedEvent, isCheckout?: boolean): void => {
    const currentSession = host.getSessionId();
    if (currentSession !== session) {
      flush();
      beginSession(currentSession);
    }
    const text = JSON.stringify(event);
    if (!isRetained) {
      addToRing(event, text, isCheckout === true || ring.length === 0);
      return;
    }
    events.push(text);
    eventsLength += text.length;
    if (eventsLength > maxBodyLength || event.type === fullSnapshotType) flush();
  });
  let stopRecording: (() => void) | undefined;
  const start = guard((): void => {
    if (stopRecording !== undefined) return;
    beginSession(host.getSessionId());
    const timer = setInterval(flush, flushMs);
    const stopRecord = record({
      emit,
      checkoutEveryNms: isRetained ? 10 * pictureEveryMs : pictureEveryMs,
      maskAllInputs: true,
      maskInputOptions: { password: true },
      blockClass: 'oiq-block',
      ignoreClass: 'oiq-ignore',
      maskTextClass: 'oiq-mask',
      recordCanvas: false,
      inlineImages: false,
      slimDOMOptions: 'all',
      sampling: { scroll: 150, media: 800, input: 'last' },
    });
    stopRecording = () => {
      clearInterval(timer);
      stopRecord?.();
    };
  });
  host.onReady({
    start,
    keepLastMinute: guard(() => {
      if (isRetained || stopRecording === undefined) return;
      isRetained = true;
      for (const { events: retained } of ring) for (const text of retained) events.push(text);
      ring = [];
      flush();
    }),
    restart: guard(() => {
      if (stopRecording !== undefined) record.takeFullSnapshot(true);
    }),
    flush,
    stop: guard(() => {
      stopRecording?.();
      stopRecording = undefined;
      events = [];
      eventsLength = 0;
      ring = [];
      bodies.length = 0;
      waitingLength = 0;
    }),
  });
};

guard(() => {
  const { oiqRecorderHost: host } = window as { oiqRecorderHost?: RecorderHost };
  if (host !== undefined) createRecorder(host);
})();
