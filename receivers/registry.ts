/** The receivers, one line each, and the body formats that they provide. */

import type { DeadLetterHeaders } from '../schemas/dead-letter.ts';
import { PermanentError } from '../schemas/errors.ts';
import { browser } from './browser/browser.ts';
import { faro } from './browser/faro.ts';
import { replay } from './browser/replay.ts';
import type { BodyFormat } from './engine/body-format.ts';
import type { Receiver } from './engine/receiver.ts';
import { loki } from './loki.ts';
import { otlpGrpc } from './otlp-grpc/receiver.ts';
import { otlpHttp } from './otlp-http.ts';
import { remoteWrite } from './remote-write.ts';
import { zipkin } from './zipkin.ts';

export const receivers: readonly Receiver[] = [otlpHttp, otlpGrpc, remoteWrite, loki, zipkin, browser, faro, replay];

const formats = new Map(receivers.flatMap((receiver) => receiver.formats.map((format) => [format.name, format])));

/** Throws `PermanentError` if no receiver provides a format of this name. */
export const requireFormat = (name: string): BodyFormat => {
  const format = formats.get(name);
  if (format === undefined) throw new PermanentError('bad-headers', `no receiver reads the format ${name}`);
  return format;
};

/**
 * Returns the format of a rejected body. For dead letters that predate format names, derives it from their origin and
 * headers.
 */
export const getDeadLetterFormat = ({
  format,
  origin,
  contentType,
  originalHeaders,
}: DeadLetterHeaders): BodyFormat => {
  if (format !== undefined) return requireFormat(format);
  if (origin === remoteWrite.name) return requireFormat(originalHeaders['format'] ?? 'remote-write-1');
  return requireFormat(contentType.startsWith('application/json') ? 'otlp-json' : 'otlp-protobuf');
};
