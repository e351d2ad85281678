/**
 * Publishes heartbeats in order, in batches. Only one publish runs at a time, so that the message about continued
 * reception follows every heartbeat received before it.
 */
import { UnavailableError } from '../../schemas/errors.ts';
import type { Message, Producer } from '../../schemas/ports/bus.ts';
import type { SyntheticHeartbeat } from '../../schemas/synthetic-heartbeats.ts';
import { topics } from '../../schemas/topics.ts';

/** Limits memory while the bus is slow. */
const maxWaiting = 20_000;
const maxWaitingCharacters = 64 * 1024 * 1024;
/** Maximum number of characters in one message; a JSON character has at most three bytes. */
const maxCharacters = 1024 * 1024;

interface WaitingHeartbeat {
  readonly tenantId: string;
  readonly text: string;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

const createMessage = (tenantId: string, texts: readonly string[]): Message => ({
  topic: topics.syntheticHeartbeats.name,
  // All messages of an organization are in one partition, in order.
  key: tenantId,
  value: Buffer.from(`[${texts.join(',')}]`),
  headers: { tenant: tenantId },
});

/** Returns messages of the waiting heartbeats, each for one organization. */
const createMessages = (waiting: readonly WaitingHeartbeat[]): Message[] => {
  const messages: Message[] = [];
  const drafts = new Map<string, { texts: string[]; characters: number }>();
  for (const { tenantId, text } of waiting) {
    const draft = drafts.get(tenantId);
    if (draft !== undefined && draft.characters + text.length <= maxCharacters) {
      draft.texts.push(text);
      draft.characters += text.length;
      continue;
    }
    if (draft !== undefined) messages.push(createMessage(tenantId, draft.texts));
    drafts.set(tenantId, { texts: [text], characters: text.length });
  }
  for (const [tenantId, { texts }] of drafts) messages.push(createMessage(tenantId, texts));
  return messages;
};

export class HeartbeatLog {
  readonly #producer: Producer;
  #pendingHeartbeats: WaitingHeartbeat[] = [];
  #characters = 0;
  #publishing: Promise<void> | undefined;

  constructor(producer: Producer) {
    this.#producer = producer;
  }

  /**
   * Resolves when the heartbeat and all before it are durable; rejects with `UnavailableError` if the bus cannot
   * confirm it.
   */
  add(heartbeat: SyntheticHeartbeat): Promise<void> {
    const text = JSON.stringify(heartbeat);
    if (this.#pendingHeartbeats.length >= maxWaiting || this.#characters + text.length > maxWaitingCharacters)
      return Promise.reject(new UnavailableError('too many heartbeats wait for the bus', { retryAfterSeconds: 1 }));
    this.#characters += text.length;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#pendingHeartbeats.push({ tenantId: heartbeat.tenantId, text, resolve, reject });
    this.#publishing ??= this.#publish();
    return promise;
  }

  /** Resolves when nothing waits. */
  async drain(): Promise<void> {
    while (this.#publishing !== undefined) await this.#publishing;
  }

  async #publish(): Promise<void> {
    // Includes data that this iteration of the event loop still reads from other connections.
    await new Promise((resolve) => setImmediate(resolve));
    while (this.#pendingHeartbeats.length > 0) {
      const waiting = this.#pendingHeartbeats;
      this.#pendingHeartbeats = [];
      this.#characters = 0;
      try {
        await this.#producer.publish(createMessages(waiting));
        for (const { resolve } of waiting) resolve();
      } catch (cause) {
        const error =
          cause instanceof UnavailableError
            ? cause
            : new UnavailableError('the bus did not accept the heartbeat', { cause });
        for (const { reject } of waiting) reject(error);
      }
    }
    this.#publishing = undefined;
  }
}
