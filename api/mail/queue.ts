import type { SecretBox } from '../../runtime/secret-box.ts';
import type { Clock } from '../../schemas/ports/clock.ts';
import type { Documents, Stored } from '../../schemas/ports/documents.ts';
import type { Mail } from '../../schemas/ports/mail.ts';
import { type OutgoingMail, outgoingMails, outgoingMailsTenant } from '../../schemas/resources/outgoing-mail.ts';
import { type MailDraft, mailOf } from './mail-text.ts';

/** Where a message is: waiting or being tried, handed over, given up, or in a file because no server is configured. */
type Delivery = 'queued' | 'sent' | 'failed' | 'not-configured';

/** Mail that leaves when, and only when, the change that it tells of is committed. */
export interface MailQueue {
  /** False where no mail server is configured. Answers to administrators say so. */
  readonly configured: boolean;
  /** Written with the change that `scope` belongs to; answers the message's id. Without a letter it costs the same and sends nothing. */
  put(scope: Pick<Documents, 'of'>, draft: MailDraft | undefined, lifetimeMs?: number): Promise<string>;
  /** Where a message of an earlier `put` is. */
  deliveryOf(id: string): Promise<Delivery>;
}

const sealedFor = 'outgoing mail';
const dayMs = 86_400_000;

export const openMailQueue = (ports: {
  readonly documents: Documents;
  readonly clock: Clock;
  readonly box: SecretBox;
  readonly configured: boolean;
}): MailQueue => {
  const { documents, clock, box, configured } = ports;
  return {
    configured,
    async put(scope, draft, lifetimeMs = 3 * dayMs) {
      const now = clock.now();
      const { id } = await scope
        .of(outgoingMailsTenant)
        .collection(outgoingMails)
        .insert({
          sealed: box.seal(sealedFor, JSON.stringify(draft === undefined ? null : mailOf(draft))),
          dueAt: new Date(now).toISOString(),
          attempts: 0,
          expiresAt: new Date(now + lifetimeMs).toISOString(),
          failedAt: null,
          problem: '',
        });
      return id;
    },
    async deliveryOf(id) {
      if (!configured) return 'not-configured';
      const entry = await documents.of(outgoingMailsTenant).collection(outgoingMails).find(id);
      if (entry === undefined) return 'sent';
      return entry.failedAt === null ? 'queued' : 'failed';
    },
  };
};

/** The message of an entry, `null` for one that sends nothing; `undefined` when it was sealed with another secret key. */
export const openedMail = (box: SecretBox, { sealed }: OutgoingMail & Stored): Mail | null | undefined => {
  const text = box.open(sealedFor, sealed);
  return text === undefined ? undefined : (JSON.parse(text) as Mail | null);
};
