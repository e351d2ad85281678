/**
 * Mail without a configured server: one JSON line per message, in a file that only the owner of the process can read.
 */
import { appendFile, chmod, mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { type Mailer, validateMail } from '../schemas/ports/mail.ts';

export const createFileMailer = ({ path }: { readonly path: string }): Mailer => ({
  isDelivering: false,
  async send(mail) {
    const { to, subject, text } = validateMail(mail);
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    const line = `${JSON.stringify({ at: new Date().toISOString(), to, subject, text })}\n`;
    await appendFile(path, line, { mode: 0o600, flush: true });
    // The mode above only applies to a newly created file.
    await chmod(path, 0o600);
  },
  close: async () => undefined,
});
