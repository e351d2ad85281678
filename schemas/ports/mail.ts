/** The mail port: SMTP, or a file in the data directory if no server is configured. */
import { PermanentError } from '../errors.ts';

/** One message to one recipient. */
export interface Mail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  /** Equal for each attempt to send this message to this recipient; it becomes the `Message-ID`. Absent: random. */
  readonly id?: string;
}

export interface Mailer {
  /** `false` if messages are written to a file instead of being sent. */
  readonly isDelivering: boolean;
  /**
   * Resolves when the next server has accepted the message. Rejects with `PermanentError` if a retry is pointless;
   * other errors can be retried.
   */
  send(mail: Mail): Promise<void>;
  close(): Promise<void>;
}

const controlCharacterPattern = /\p{Cc}/u;
const singleAddressPattern = /^[^\s@,;:<>()[\]"\\]+@[^\s@,;:<>()[\]"\\]+$/u;

/**
 * Returns the message. Throws `PermanentError` if a header contains a line break or the recipient is more than one
 * address.
 */
export const validateMail = (mail: Mail): Mail => {
  if (!singleAddressPattern.test(mail.to))
    throw new PermanentError('mail', 'the recipient of a mail is not one e-mail address');
  if (controlCharacterPattern.test(mail.subject))
    throw new PermanentError('mail', 'the subject of a mail is longer than one line');
  return mail;
};
