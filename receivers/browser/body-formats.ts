/** Body formats of browsers: those of OTLP, without personal data. */
import { PermanentError } from '../../schemas/errors.ts';
import { separateJsonRequest } from '../../schemas/otlp/json.ts';
import { rewriteRequest } from '../../schemas/otlp/rewrite.ts';
import { findUnknownContent } from '../../schemas/otlp/scan.ts';
import { browserSdkLanguage, rumLimits, sdkLanguageKey } from '../../schemas/rum.ts';
import type { Signal } from '../../schemas/telemetry-signals.ts';
import { sharedFields } from '../../subjects/rum/event-mapping.ts';
import type { BodyFormat, BrowserContext, Translation } from '../engine/body-format.ts';
import { createScrubber } from './scrub.ts';
import {
  mayContainRecording,
  readLogRecordings,
  recordingPrefix,
  recordingReason,
  translateSensitive,
} from './sdk-recordings.ts';

/** Throws `PermanentError` if the context of the key is missing, as in a damaged dead letter. */
export const requireBrowser = (browser: BrowserContext | undefined): BrowserContext => {
  if (browser === undefined) throw new PermanentError('bad-headers', 'the application of the request is not known');
  return browser;
};

/** Rejects records that are no recordings but have attributes of recordings, because these cannot be masked. */
const rejectRecordings = (path: string): void => {
  if (!path.startsWith(recordingPrefix)) return;
  throw new PermanentError(
    recordingReason,
    'a record has attributes of a recording, but is not an event of one: send recordings as the SDK of HyperDX does, or to /rum/{key}/replay',
  );
};

/** Maximum length of a body without recordings. */
const maxTelemetryBytes = 1024 * 1024;
/** Maximum length of a body with a recording. */
export const maxRecordingBytes = 5 * 1024 * 1024;

/** Throws if a body has more telemetry than a page can send. `bytes` excludes recordings. */
export const checkTelemetryBytes = (bytes: number): void => {
  if (bytes > maxTelemetryBytes)
    throw new PermanentError('too-large', `the body is larger than ${maxTelemetryBytes} bytes`);
};

const sessionKeys = new Set<string>(sharedFields.sessionId);
/** A browser has one session at a time. A body that spans a change of sessions has two. */
const maxSessions = 8;

/** Attributes that receivers add to the resources of browsers. */
export const toBrowserAttributes = ({ country = '' }: BrowserContext): Record<string, string> => ({
  // Attribute by which `rum-log-events` and `rum-span-events` recognize telemetry of browsers.
  [sdkLanguageKey]: browserSdkLanguage,
  ...(country !== '' && { 'client.geo.country.iso_code': country }),
});

type ScrubbedRequest = Required<Pick<Translation, 'body' | 'sessions' | 'removedValues'>>;

const scrubRequest = (signal: Signal, body: Buffer, context: BrowserContext | undefined): ScrubbedRequest => {
  const browser = requireBrowser(context);
  const { application: service, privacy } = browser;
  const sessions = new Set<string>();
  const scrubber = createScrubber(privacy);
  const rewritten = rewriteRequest(signal, body, {
    rewrite(text, path) {
      if (sessions.size < maxSessions && sessionKeys.has(path)) sessions.add(text.slice(0, rumLimits.id));
      return scrubber.rewrite(text, path);
    },
    removes(path) {
      rejectRecordings(path);
      return scrubber.removes(path);
    },
    service,
    resourceAttributes: toBrowserAttributes(browser),
  });
  const position = rewritten.records > 0 ? undefined : findUnknownContent(signal, body);
  if (position === undefined)
    return { body: rewritten.body, sessions: [...sessions], removedValues: scrubber.removedValues };
  throw new PermanentError('no-records', `no record of ${signal} was found: a field is unknown here`, { position });
};

/** Translates a protobuf request: a recording, or telemetry. `bytes` is the length of the body as it was sent. */
const translateRequest = (
  signal: Signal,
  body: Buffer,
  context: BrowserContext | undefined,
  bytes = body.length,
): Omit<Translation, 'rejected'> => {
  const recording = signal === 'logs' ? readLogRecordings(body, requireBrowser(context)) : undefined;
  if (recording !== undefined) return { body: Buffer.alloc(0), ...recording };
  checkTelemetryBytes(bytes);
  return scrubRequest(signal, body, context);
};

export const browserProtobuf: BodyFormat = {
  name: 'browser-otlp-protobuf',
  messageFormat: 'otlp',
  isCostly: true,
  isSensitive: mayContainRecording,
  translate: (body, signal, _times, browser) => ({ ...translateRequest(signal, body, browser), rejected: undefined }),
};

export const browserJson: BodyFormat = {
  name: 'browser-otlp-json',
  messageFormat: 'otlp',
  isCostly: true,
  isSensitive: mayContainRecording,
  translate(body, signal, times, browser) {
    const translate = (): Translation => {
      const { body: request, rejected } = separateJsonRequest(signal, body, times);
      const translation = translateRequest(signal, request, browser, body.length);
      const { droppedRecordings } = translation;
      // Rejected records of a recording are not stored either.
      return droppedRecordings === undefined || rejected === undefined
        ? { ...translation, rejected }
        : { ...translation, droppedRecordings: droppedRecordings + rejected.records, rejected: undefined };
    };
    return body.includes(recordingPrefix) ? translateSensitive(translate) : translate();
  },
};
