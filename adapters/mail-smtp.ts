/** Mail through an SMTP server. */
import { hash } from 'node:crypto';
import { createTransport } from 'nodemailer';
import { PermanentError } from '../schemas/errors.ts';
import { type Mailer, validateMail } from '../schemas/ports/mail.ts';

const timeoutMs = 10_000;

/**
 * Whether an error of the server is permanent for a message: a 5xx response, unless it is about the sender's credentials
 * (a wrong password can be corrected).
 */
const isPermanentFailure = ({ responseCode = 0, code = '' }: { responseCode?: number; code?: string }): boolean =>
  responseCode >= 500 && code !== 'EAUTH';

/** Returns a `Message-ID` (RFC 5322) of the sender's domain. It is the same for the same id and recipient. */
const createMessageId = (id: string, to: string, from: string): string =>
  `<${hash('sha256', `${id} ${to}`).slice(0, 40)}@${/@([\w.-]+)>?\s*$/.exec(from)?.[1] ?? 'oiq.invalid'}>`;

/**
 * Returns a mailer. `url` is `smtp://user:password@host:port` (TLS if the server offers it) or `smtps://…` (TLS from
 * the first byte).
 */
export const createSmtpMailer = ({ url, from }: { readonly url: string; readonly from: string }): Mailer => {
  const transport = createTransport({
    url,
    connectionTimeout: timeoutMs,
    greetingTimeout: timeoutMs,
    socketTimeout: timeoutMs,
    dnsTimeout: timeoutMs,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  return {
    isDelivering: true,
    async send(mail) {
      const { to, subject, text, html, id } = validateMail(mail);
      try {
        const headers = { 'Auto-Submitted': 'auto-generated' };
        await transport.sendMail({
          from,
          to: { name: '', address: to },
          subject,
          text,
          html,
          headers,
          ...(id !== undefined && { messageId: createMessageId(id, to, from) }),
        });
      } catch (error) {
        if (isPermanentFailure(error as { responseCode?: number; code?: string }))
          throw new PermanentError('mail', `the mail server rejected the message: ${(error as Error).message}`, {
            cause: error,
          });
        throw error;
      }
    },
    close: async () => transport.close(),
  };
};
