/**
 * Makes beats durable, many at once and in order. One publish is under way at a time, so that what says that beats are taken comes
 * after every beat that was taken before.
 */
import { UnavailableError } from '../../schemas/errors.ts';
import type { Message, Producer } from '../../schemas/ports/bus.ts';
import type { SyntheticHeartbeat } from '../../schemas/synthetic-heartbeats.ts';
import { topics } from '../../schemas/topics.ts';

/** Memory must stay bounded while the bus is slow. */
const maxWaiting = 20_000;
const maxWaitingCharacters = 64 * 1024 * 1024;
/** Characters of one message; a character of JSON is three bytes at most. */
const maxCharacters = 1024 * 1024;

interface Waiting {
  readonly tenantId: string;
  readonly text: string;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

const messageOf = (tenantId: string, texts: readonly string[]): Message => ({
  topic: topics.syntheticHeartbeats.name,
  // All of an organization lies in one partition, in order.
  key: tenantId,
  value: Buffer.from(`[${texts.join(',')}]`),
  headers: { tenant: tenantId },
});

/** Messages of what waits, each of one organization. */
const messagesOf = (waiting: readonly Waiting[]): Message[] => {
  const messages: Message[] = [];
  const drafts = new Map<string, { texts: string[]; characters: number }>();
  for (const { tenantId, text } of waiting) {
    const draft = drafts.get(tenantId);
    if (draft !== undefined && draft.characters + text.length <= maxCharacters) {
      draft.texts.push(text);
      draft.characters += text.length;
      continue;
    }
    if (draft !== undefined) messages.push(messageOf(tenantId, draft.texts));
    drafts.set(tenantId, { texts: [text], characters: text.length });
  }
  for (const [tenantId, { texts }] of drafts) messages.push(messageOf(tenantId, texts));
  return messages;
};

export class HeartbeatLog {
  readonly #producer: Producer;
  #waiting: Waiting[] = [];
  #characters = 0;
  #publishing: Promise<void> | undefined;

  constructor(producer: Producer) {
    this.#producer = producer;
  }

  /** Resolves when it is durable, and all before it; rejects with `UnavailableError` when the bus cannot say so. */
  add(heartbeat: SyntheticHeartbeat): Promise<void> {
    const text = JSON.stringify(heartbeat);
    if (this.#waiting.length >= maxWaiting || this.#characters + text.length > maxWaitingCharacters)
      return Promise.reject(new UnavailableError('too many beats wait for the bus', { retryAfterSeconds: 1 }));
    this.#characters += text.length;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#waiting.push({ tenantId: heartbeat.tenantId, text, resolve, reject });
    this.#publishing ??= this.#publish();
    return promise;
  }

  /** Resolves when nothing waits. */
  async drain(): Promise<void> {
    while (this.#publishing !== undefined) await this.#publishing;
  }

  async #publish(): Promise<void> {
    // What this turn of the loop still reads from other connections goes out with it.
    await new Promise((resolve) => setImmediate(resolve));
    while (this.#waiting.length > 0) {
      const waiting = this.#waiting;
      this.#waiting = [];
      this.#characters = 0;
      try {
        await this.#producer.publish(messagesOf(waiting));
        for (const { resolve } of waiting) resolve();
      } catch (cause) {
        const error =
          cause instanceof UnavailableError ? cause : new UnavailableError('the bus did not take the beat', { cause });
        for (const { reject } of waiting) reject(error);
      }
    }
    this.#publishing = undefined;
  }
}
