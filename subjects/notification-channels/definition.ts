/** Definition of a notification channel type: one file, and one line in `registry.ts` */

import type { z } from 'zod';
import { parseRetryAfterMs } from '../../runtime/retry-after.ts';
import type { Mail } from '../../schemas/ports/mail.ts';
import type { ChannelMessage } from './message.ts';

/** One request of a delivery */
export interface ChannelRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface ChannelResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;
}

/**
 * Result of a request. `delivered`: the service confirmed the delivery. `retry`: a later attempt may succeed. `failed`:
 * no attempt can succeed.
 */
export interface Verdict {
  readonly outcome: 'delivered' | 'retry' | 'failed';
  /** Delay that the service requests */
  readonly retryAfterMs?: number;
}

interface ChannelDescription {
  /** Value of `settings.type` of a channel */
  readonly type: string;
  readonly name: string;
  readonly summary: string;
  /** Secret fields of the settings, each with the fields that determine its destination */
  readonly secrets: Readonly<Record<string, readonly string[]>>;
  /** Set if a firing alert opens an incident in the service, which only a resolution closes */
  readonly opens?: 'incidents';
}

interface HttpChannel<Settings> {
  /** Returns requests to send in sequence; each must be delivered before the next. */
  requests(message: ChannelMessage, settings: Settings): readonly ChannelRequest[];
  /** Evaluates a response; default: `judgeByStatus`. */
  judge?(response: ChannelResponse): Verdict;
}

interface MailChannel<Settings> {
  /** Returns mails to send in sequence. */
  mails(message: ChannelMessage, settings: Settings): readonly Mail[];
}

/** A channel type with its generic parameters erased, so that the registry is a plain array */
export type ChannelType = ChannelDescription & {
  /** A strict object with `type` */
  readonly settings: z.ZodObject;
} & (HttpChannel<Readonly<Record<string, unknown>>> | MailChannel<Readonly<Record<string, unknown>>>);

/** Defines a channel type. */
export const defineChannelType = <Settings extends z.ZodObject>(
  definition: ChannelDescription & { readonly settings: Settings } & (
      | HttpChannel<z.output<Settings>>
      | MailChannel<z.output<Settings>>
    ),
): ChannelType & { readonly settings: Settings } =>
  // The type only receives settings of its own schema.
  definition as unknown as ChannelType & { readonly settings: Settings };

/**
 * Returns the verdict for most services: 2xx is delivered; 408, 425, 429 and 5xx are retried; all others have failed.
 */
export const judgeByStatus = ({ status, headers }: ChannelResponse): Verdict => {
  if (status >= 200 && status < 300) return { outcome: 'delivered' };
  if ([408, 425, 429].includes(status) || status >= 500) {
    const waitMs = parseRetryAfterMs(headers);
    return { outcome: 'retry', ...(waitMs !== undefined && { retryAfterMs: waitMs }) };
  }
  return { outcome: 'failed' };
};

/** Returns the fields of a JSON response; empty if it is not an object. */
export const parseResponseFields = ({ body }: ChannelResponse): Readonly<Record<string, unknown>> => {
  try {
    const value: unknown = JSON.parse(body);
    return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
  } catch {
    return {};
  }
};

/** Returns a verdict like `judgeByStatus`, but a 2xx only counts if the predicate confirms the delivery. */
export const judgeByResponse =
  (isAccepted: (response: ChannelResponse) => boolean) =>
  (response: ChannelResponse): Verdict => {
    const verdict = judgeByStatus(response);
    return verdict.outcome === 'delivered' && !isAccepted(response) ? { outcome: 'failed' } : verdict;
  };

export const createJsonRequest = (
  url: string,
  body: object,
  headers: Readonly<Record<string, string>> = {},
): ChannelRequest => ({
  url,
  body: JSON.stringify(body),
  headers: { 'content-type': 'application/json', 'user-agent': 'oiq', ...headers },
});
