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

const scrubRequest = (signal: Signal, body: Buffer, browser: BrowserContext | undefined): Buffer => {
  const { application: service, privacy } = requireBrowser(browser);
  const rewritten = rewriteRequest(signal, body, {
    ...createScrubber(privacy),
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
  translate: (body, signal, _times, browser) => ({ body: scrubRequest(signal, body, browser), rejected: undefined }),
};

export const browserJson: BodyFormat = {
  name: 'browser-otlp-json',
  messageFormat: 'otlp',
  isCostly: true,
  translate(body, signal, times, browser) {
    const { body: request, rejected } = separateJsonRequest(signal, body, times);
    return { body: scrubRequest(signal, request, browser), rejected };
  },
};
