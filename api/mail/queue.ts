import type { SecretBox } from '../../runtime/secret-box.ts';
import type { Clock } from '../../schemas/ports/clock.ts';
import type { Documents, StoredMetadata } from '../../schemas/ports/documents.ts';
import type { Mail } from '../../schemas/ports/mail.ts';
import { type OutgoingMail, outgoingMails, outgoingMailsTenant } from '../../schemas/resources/outgoing-mail.ts';
import { type MailDraft, renderMail } from './mail-text.ts';

/** Delivery state of a message: waiting or being sent, sent, failed, or in a file because no server is configured. */
type DeliveryState = 'queued' | 'sent' | 'failed' | 'not-configured';

/** Queue of mail that is sent if, and only if, the change that it reports is committed. */
export interface MailQueue {
  /** False if no mail server is configured. Responses to administrators contain it. */
  readonly isConfigured: boolean;
  /**
   * Writes the message in the transaction of `scope`; returns its id. Without a draft it has the same cost and sends
   * nothing.
   */
  enqueue(scope: Pick<Documents, 'forTenant'>, draft: MailDraft | undefined, lifetimeMs?: number): Promise<string>;
  /** Returns the delivery state of an earlier `enqueue`. */
  readDeliveryState(id: string): Promise<DeliveryState>;
}

const sealingPurpose = 'outgoing mail';
const dayMs = 86_400_000;

export const createMailQueue = (ports: {
  readonly documents: Documents;
  readonly clock: Clock;
  readonly box: SecretBox;
  readonly isConfigured: boolean;
}): MailQueue => {
  const { documents, clock, box, isConfigured } = ports;
  return {
    isConfigured,
    async enqueue(scope, draft, lifetimeMs = 3 * dayMs) {
      const now = clock.now();
      const { id } = await scope
        .forTenant(outgoingMailsTenant)
        .collection(outgoingMails)
        .insert({
          sealed: box.seal(sealingPurpose, JSON.stringify(draft === undefined ? null : renderMail(draft))),
          dueAt: new Date(now).toISOString(),
          attempts: 0,
          expiresAt: new Date(now + lifetimeMs).toISOString(),
          failedAt: null,
          problem: '',
        });
      return id;
    },
    async readDeliveryState(id) {
      if (!isConfigured) return 'not-configured';
      const entry = await documents.forTenant(outgoingMailsTenant).collection(outgoingMails).find(id);
      if (entry === undefined) return 'sent';
      return entry.failedAt === null ? 'queued' : 'failed';
    },
  };
};

/** The message of an entry, `null` for one that sends nothing; `undefined` if it was sealed with another secret key. */
export const openMail = (box: SecretBox, { sealed }: OutgoingMail & StoredMetadata): Mail | null | undefined => {
  const text = box.open(sealingPurpose, sealed);
  return text === undefined ? undefined : (JSON.parse(text) as Mail | null);
};
