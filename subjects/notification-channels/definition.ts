/** A type of notification channel as its author writes it: one file, and one line in `registry.ts`. */

import type { z } from 'zod';
import { retryAfterMs } from '../../runtime/retry-after.ts';
import type { Mail } from '../../schemas/ports/mail.ts';
import type { ChannelMessage } from './message.ts';

/** One request of a delivery. */
export interface ChannelRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface ChannelAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;
}

/** `delivered`: the other side said that it has it. `retry`: it may have it later. `failed`: it never will. */
export interface Verdict {
  readonly outcome: 'delivered' | 'retry' | 'failed';
  /** What the other side asks to wait. */
  readonly retryAfterMs?: number;
}

interface Described {
  /** As it stands in a channel's `settings.type`. */
  readonly type: string;
  readonly name: string;
  readonly summary: string;
  /** Secret fields of the settings, each with the fields that say where it goes. */
  readonly secrets: Readonly<Record<string, readonly string[]>>;
  /** What fires opens an incident there, which only an end closes. */
  readonly opens?: 'incidents';
}

interface HttpChannel<Settings> {
  /** Requests that are sent one after the other; each must be delivered before the next. */
  requests(message: ChannelMessage, settings: Settings): readonly ChannelRequest[];
  /** Judges an answer. `byStatus` unless told otherwise. */
  judge?(answer: ChannelAnswer): Verdict;
}

interface MailChannel<Settings> {
  /** Mails that are sent one after the other. */
  mails(message: ChannelMessage, settings: Settings): readonly Mail[];
}

/** A type of channel with its author's types closed over, so that the registry is a plain array. */
export type ChannelType = Described & {
  /** A strict object with `type`. */
  readonly settings: z.ZodObject;
} & (HttpChannel<Readonly<Record<string, unknown>>> | MailChannel<Readonly<Record<string, unknown>>>);

/** Declares a type of channel. */
export const defineChannelType = <Settings extends z.ZodObject>(
  definition: Described & { readonly settings: Settings } & (
      | HttpChannel<z.output<Settings>>
      | MailChannel<z.output<Settings>>
    ),
): ChannelType & { readonly settings: Settings } =>
  // It is given settings of its own schema only.
  definition as unknown as ChannelType & { readonly settings: Settings };

/** Most services: 2xx has it; 408, 425, 429 and 5xx may later; all else is refused for good. */
export const byStatus = ({ status, headers }: ChannelAnswer): Verdict => {
  if (status >= 200 && status < 300) return { outcome: 'delivered' };
  if ([408, 425, 429].includes(status) || status >= 500) {
    const waitMs = retryAfterMs(headers);
    return { outcome: 'retry', ...(waitMs !== undefined && { retryAfterMs: waitMs }) };
  }
  return { outcome: 'failed' };
};

/** The fields of a JSON answer; none where it is no object. */
export const answerFields = ({ body }: ChannelAnswer): Readonly<Record<string, unknown>> => {
  try {
    const value: unknown = JSON.parse(body);
    return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
  } catch {
    return {};
  }
};

/** As `byStatus`, but a 2xx counts only where `says` finds that the other side has it. */
export const byAnswer =
  (isAccepted: (answer: ChannelAnswer) => boolean) =>
  (answer: ChannelAnswer): Verdict => {
    const verdict = byStatus(answer);
    return verdict.outcome === 'delivered' && !isAccepted(answer) ? { outcome: 'failed' } : verdict;
  };

export const jsonRequest = (
  url: string,
  body: object,
  headers: Readonly<Record<string, string>> = {},
): ChannelRequest => ({
  url,
  body: JSON.stringify(body),
  headers: { 'content-type': 'application/json', 'user-agent': 'oiq', ...headers },
});
