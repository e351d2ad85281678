/** Performs one delivery attempt to a channel */

import { type Outbound, OutboundError } from '../../runtime/outbound.ts';
import { isSealed, type SecretBox } from '../../runtime/secret-box.ts';
import { PermanentError } from '../../schemas/errors.ts';
import type { Clock } from '../../schemas/ports/clock.ts';
import type { Mailer } from '../../schemas/ports/mail.ts';
import { type ChannelResponse, type ChannelType, judgeByStatus, type Verdict } from './definition.ts';
import type { ChannelMessage } from './message.ts';

/** Purposes for which secrets are sealed: the resource types */
type SecretPurpose = 'notification-channel' | 'contact';

export interface DeliveryPorts {
  readonly outbound: Outbound;
  readonly mailer: Mailer;
  readonly clock: Clock;
}

/** Result of an attempt */
export interface DeliveryAttempt extends Verdict {
  /** Status code; `null` if there was no response */
  readonly statusCode: number | null;
  /** Start of the response, or the reason why there was none */
  readonly answer: string;
  readonly latencyMs: number;
}

const maxAnswerLength = 500;

/**
 * Returns settings with opened secrets; `undefined` if a secret was sealed with another key. A value from before its field
 * was a secret is in plain text.
 */
export const unsealSettings = (
  settings: Readonly<Record<string, unknown>>,
  { secrets }: Pick<ChannelType, 'secrets'>,
  box: SecretBox,
  purpose: SecretPurpose = 'notification-channel',
): Readonly<Record<string, unknown>> | undefined => {
  const settingsWithSecrets: Record<string, unknown> = { ...settings };
  for (const field of Object.keys(secrets)) {
    const sealed = settings[field];
    if (typeof sealed !== 'string') continue;
    const secret = isSealed(sealed) ? box.open(purpose, sealed) : sealed;
    if (secret === undefined) return undefined;
    settingsWithSecrets[field] = secret;
  }
  return settingsWithSecrets;
};

type AttemptResult = Omit<DeliveryAttempt, 'latencyMs'>;

const sendHttp = async (
  type: Extract<ChannelType, { requests: unknown }>,
  { message, settings }: { readonly message: ChannelMessage; readonly settings: Readonly<Record<string, unknown>> },
  outbound: Outbound,
): Promise<AttemptResult> => {
  let attempt: AttemptResult = { outcome: 'failed', statusCode: null, answer: 'nothing was sent' };
  for (const { url, headers, body } of type.requests(message, settings)) {
    let answer: ChannelResponse;
    try {
      const response = await outbound.fetch(url, { method: 'POST', headers, body });
      answer = { status: response.status, headers: response.headers, body: await response.text() };
    } catch (error) {
      if (error instanceof OutboundError)
        return { outcome: error.isRefusal ? 'failed' : 'retry', statusCode: null, answer: error.message };
      throw error;
    }
    const verdict = (type.judge ?? judgeByStatus)(answer);
    attempt = { ...verdict, statusCode: answer.status, answer: answer.body.slice(0, maxAnswerLength) };
    if (attempt.outcome !== 'delivered') return attempt;
  }
  return attempt;
};

const sendMails = async (
  type: Extract<ChannelType, { mails: unknown }>,
  { message, settings }: { readonly message: ChannelMessage; readonly settings: Readonly<Record<string, unknown>> },
  mailer: Mailer,
): Promise<AttemptResult> => {
  const mails = type.mails(message, settings);
  for (const mail of mails) {
    try {
      await mailer.send(mail);
    } catch (error) {
      const outcome = error instanceof PermanentError ? 'failed' : 'retry';
      return { outcome, statusCode: null, answer: `${mail.to}: ${(error as Error).message}`.slice(0, maxAnswerLength) };
    }
  }
  if (!mailer.isDelivering)
    return {
      outcome: 'failed',
      statusCode: null,
      answer: 'no mail server is configured (OIQ_SMTP_URL): the mail was written to a file',
    };
  return { outcome: 'delivered', statusCode: null, answer: `the mail server accepted ${mails.length} mails` };
};

/** Sends one notification to a channel. Never rejects because of the service's behavior. */
export const attemptDelivery = async (
  type: ChannelType,
  delivery: { readonly message: ChannelMessage; readonly settings: Readonly<Record<string, unknown>> },
  { outbound, mailer, clock }: DeliveryPorts,
): Promise<DeliveryAttempt> => {
  const startedMs = clock.now();
  const result = 'mails' in type ? await sendMails(type, delivery, mailer) : await sendHttp(type, delivery, outbound);
  return { ...result, latencyMs: Math.max(0, clock.now() - startedMs) };
};
