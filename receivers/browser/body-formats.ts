/** Body formats of browsers: those of OTLP, without personal data. */
import { PermanentError } from '../../schemas/errors.ts';
import { separateJsonRequest } from '../../schemas/otlp/json.ts';
import { rewriteRequest } from '../../schemas/otlp/rewrite.ts';
import { findUnknownContent } from '../../schemas/otlp/scan.ts';
import { browserSdkLanguage, sdkLanguageKey } from '../../schemas/rum.ts';
import type { Signal } from '../../schemas/telemetry-signals.ts';
import type { BodyFormat, BrowserContext } from '../engine/body-format.ts';
import { createScrubber } from './scrub.ts';

/** Throws `PermanentError` for a body without the context of its key: a dead letter that is damaged. */
export const requireBrowser = (browser: BrowserContext | undefined): BrowserContext => {
  if (browser === undefined) throw new PermanentError('bad-headers', 'the application of the request is not known');
  return browser;
};

const recordingReason = 'recording-in-logs';
/** Prefix of the attributes in which the SDKs of HyperDX and Splunk send recordings of sessions as log records */
const recordingPrefix = 'rr-web.';

/** Refuses recordings, which cannot be masked here: a log record has only a piece of an event. */
const rejectRecordings = (path: string): void => {
  if (!path.startsWith(recordingPrefix)) return;
  const message =
    'log records may not contain recordings of sessions: switch the recording off, or send it to /rum/{key}/replay';
  throw new PermanentError(recordingReason, message);
};

const isRecording = ({ reason }: PermanentError): boolean => reason === recordingReason;

const scrubRequest = (signal: Signal, body: Buffer, browser: BrowserContext | undefined): Buffer => {
  const { application: service, privacy } = requireBrowser(browser);
  const { removes, rewrite } = createScrubber(privacy);
  const rewritten = rewriteRequest(signal, body, {
    rewrite,
    removes(path) {
      rejectRecordings(path);
      return removes(path);
    },
    service,
    // The mark by which `rum-log-events` and `rum-span-events` recognize telemetry of browsers.
    resourceAttributes: { [sdkLanguageKey]: browserSdkLanguage },
  });
  const position = rewritten.records > 0 ? undefined : findUnknownContent(signal, body);
  if (position === undefined) return rewritten.body;
  throw new PermanentError('no-records', `no record of ${signal} was found: a field is unknown here`, { position });
};

export const browserProtobuf: BodyFormat = {
  name: 'browser-otlp-protobuf',
  messageFormat: 'otlp',
  isCostly: true,
  isSensitive: isRecording,
  translate: (body, signal, _times, browser) => ({ body: scrubRequest(signal, body, browser), rejected: undefined }),
};

export const browserJson: BodyFormat = {
  name: 'browser-otlp-json',
  messageFormat: 'otlp',
  isCostly: true,
  isSensitive: isRecording,
  translate(body, signal, times, browser) {
    const { body: request, rejected } = separateJsonRequest(signal, body, times);
    return { body: scrubRequest(signal, request, browser), rejected };
  },
};
