/**
 * Publishes values of a derived topic in order, in batches. Only one publish runs at a time, so that a value follows
 * every value that was added before it.
 */
import type { z } from 'zod';
import { UnavailableError } from '../../schemas/errors.ts';
import type { Message, Producer } from '../../schemas/ports/bus.ts';
import type { DerivedTopic } from '../../schemas/topic.ts';

/** Limits memory while the bus is slow. */
const maxWaiting = 20_000;
const maxWaitingCharacters = 64 * 1024 * 1024;
/** Maximum number of characters in one message; a JSON character has at most three bytes. */
const maxCharacters = 1024 * 1024;

interface WaitingItem {
  readonly tenantId: string;
  readonly text: string;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

const createMessage = (topic: string, tenantId: string, texts: readonly string[]): Message => ({
  topic,
  // All messages of an organization are in one partition, in order.
  key: tenantId,
  value: Buffer.from(`[${texts.join(',')}]`),
  headers: { tenant: tenantId },
});

/** Returns messages of the waiting values, each for one organization. */
const createMessages = (topic: string, waiting: readonly WaitingItem[]): Message[] => {
  const messages: Message[] = [];
  const drafts = new Map<string, { texts: string[]; characters: number }>();
  for (const { tenantId, text } of waiting) {
    const draft = drafts.get(tenantId);
    if (draft !== undefined && draft.characters + text.length <= maxCharacters) {
      draft.texts.push(text);
      draft.characters += text.length;
      continue;
    }
    if (draft !== undefined) messages.push(createMessage(topic, tenantId, draft.texts));
    drafts.set(tenantId, { texts: [text], characters: text.length });
  }
  for (const [tenantId, { texts }] of drafts) messages.push(createMessage(topic, tenantId, texts));
  return messages;
};

export class ItemLog<Item extends z.ZodType<{ readonly tenantId: string }>> {
  readonly #producer: Producer;
  readonly #topic: string;
  /** Plural noun for the values, used in errors */
  readonly #noun: string;
  #pendingItems: WaitingItem[] = [];
  #characters = 0;
  #publishing: Promise<void> | undefined;

  /** `noun` names the values in errors, in the plural. */
  constructor(producer: Producer, { name }: DerivedTopic<Item>, noun: string) {
    this.#producer = producer;
    this.#topic = name;
    this.#noun = noun;
  }

  /**
   * Resolves when the value and all before it are durable; rejects with `UnavailableError` if the bus cannot
   * confirm it.
   */
  add(item: z.output<Item>): Promise<void> {
    const text = JSON.stringify(item);
    if (this.#pendingItems.length >= maxWaiting || this.#characters + text.length > maxWaitingCharacters)
      return Promise.reject(new UnavailableError(`too many ${this.#noun} wait for the bus`, { retryAfterSeconds: 1 }));
    this.#characters += text.length;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#pendingItems.push({ tenantId: item.tenantId, text, resolve, reject });
    this.#publishing ??= this.#publish();
    return promise;
  }

  /** Resolves when no value is waiting. */
  async drain(): Promise<void> {
    while (this.#publishing !== undefined) await this.#publishing;
  }

  async #publish(): Promise<void> {
    // Includes data that this iteration of the event loop still reads from other connections.
    await new Promise((resolve) => setImmediate(resolve));
    while (this.#pendingItems.length > 0) {
      const waiting = this.#pendingItems;
      this.#pendingItems = [];
      this.#characters = 0;
      try {
        await this.#producer.publish(createMessages(this.#topic, waiting));
        for (const { resolve } of waiting) resolve();
      } catch (cause) {
        const error =
          cause instanceof UnavailableError
            ? cause
            : new UnavailableError(`the bus did not accept ${this.#noun}`, { cause });
        for (const { reject } of waiting) reject(error);
      }
    }
    this.#publishing = undefined;
  }
}
