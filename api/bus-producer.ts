import type { Bus, Producer } from '../schemas/ports/bus.ts';

/** A producer that is opened when it is first needed; an opening that failed is tried again at the next need. */
export interface LazyProducer {
  get(): Promise<Producer>;
  /** Closes it where it was opened. */
  close(): Promise<void>;
}

export const lazyProducer = (bus: Bus): LazyProducer => {
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
