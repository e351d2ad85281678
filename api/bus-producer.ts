import type { Bus, Producer } from '../schemas/ports/bus.ts';

/** A producer that is opened on demand; a failed opening is retried on the next use. */
export interface LazyProducer {
  get(): Promise<Producer>;
  /** Closes the producer if it was opened. */
  close(): Promise<void>;
}

export const createLazyProducer = (bus: Bus): LazyProducer => {
  let producer: Promise<Producer> | undefined;
  return {
    get() {
      producer ??= bus.producer().catch((error: unknown) => {
        producer = undefined;
        throw error;
      });
      return producer;
    },
    async close() {
      await (await producer)?.close();
    },
  };
};
