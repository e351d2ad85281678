import type { SecretBox } from '../../runtime/secret-box.ts';
import type { Clock } from '../../schemas/ports/clock.ts';
import type { Documents, Stored } from '../../schemas/ports/documents.ts';
import type { Mail } from '../../schemas/ports/mail.ts';
import { type OutgoingMail, outgoingMails, outgoingMailsTenant } from '../../schemas/resources/outgoing-mail.ts';
import { type MailDraft, mailOf } from './mail-text.ts';

/** Delivery state of a message: waiting or being sent, sent, failed, or in a file because no server is configured. */
type Delivery = 'queued' | 'sent' | 'failed' | 'not-configured';

/** Mail that is sent if, and only if, the change that it reports is committed. */
export interface MailQueue {
  /** False if no mail server is configured. Answers to administrators report it. */
  readonly configured: boolean;
  /**
   * Writes the message in the transaction of `scope`; returns its id. Without a draft it has the same cost and sends
   * nothing.
   */
  put(scope: Pick<Documents, 'of'>, draft: MailDraft | undefined, lifetimeMs?: number): Promise<string>;
  /** Returns the delivery state of an earlier `put`. */
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

/** The message of an entry, `null` for one that sends nothing; `undefined` if it was sealed with another secret key. */
export const openedMail = (box: SecretBox, { sealed }: OutgoingMail & Stored): Mail | null | undefined => {
  const text = box.open(sealedFor, sealed);
  return text === undefined ? undefined : (JSON.parse(text) as Mail | null);
};
