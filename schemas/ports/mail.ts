/** The mail port: SMTP, or a file in the data directory where no server is configured. */
import { PermanentError } from '../errors.ts';

/** One message to one person. */
export interface Mail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

export interface Mailer {
  /** False if messages are written to a file instead of being sent. */
  readonly delivers: boolean;
  /** Resolves when the next server has taken it. Rejects with `PermanentError` when it never will; anything else may be tried again. */
  send(mail: Mail): Promise<void>;
  close(): Promise<void>;
}

const control = /\p{Cc}/u;
const address = /^[^\s@,;:<>()[\]"\\]+@[^\s@,;:<>()[\]"\\]+$/u;

/** The message, or `PermanentError` where a header of it would be more than one line or its receiver more than one address. */
export const checkedMail = (mail: Mail): Mail => {
  if (!address.test(mail.to)) throw new PermanentError('mail', 'the recipient of a mail is not one e-mail address');
  if (control.test(mail.subject)) throw new PermanentError('mail', 'the subject of a mail is longer than one line');
  return mail;
};
