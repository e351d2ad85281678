/** A processor: one consumer group that turns messages of one topic into messages of others. */
import type { z } from 'zod';
import type { BusRecord, Message } from '../../schemas/ports/bus.ts';
import type { Clock } from '../../schemas/ports/clock.ts';
import type { Topic } from '../../schemas/topics.ts';

/** The result of processing one record. Processors return it; only the engine publishes. */
export type Outcome =
  | { readonly kind: 'ok'; readonly messages: readonly Message[] }
  | { readonly kind: 'dropped'; readonly reason: string }
  | { readonly kind: 'dead'; readonly reason: string; readonly message: string };

/** Processed; the messages (none is fine) are published before the record counts as done. */
export const ok = (...messages: readonly Message[]): Outcome => ({ kind: 'ok', messages });
/** Left out on purpose; counted by reason. */
export const drop = (reason: string): Outcome => ({ kind: 'dropped', reason });
/** Can never be processed: goes to the dead letter. */
export const dead = (reason: string, message: string): Outcome => ({ kind: 'dead', reason, message });

export interface Definition<Config extends z.ZodType> {
  /** What it produces, plural: also the deployment; the consumer group is `processors.<name>`. */
  readonly name: string;
  readonly summary: string;
  readonly input: Topic;
  readonly outputs: readonly Topic[];
  /** Every key has a default; unknown keys are refused at start. */
  readonly config: Config;
  create(options: { readonly config: z.output<Config>; readonly clock: Clock }): {
    /** May throw `PermanentError`, which is `dead`; anything else thrown redelivers the batch. */
    process(record: BusRecord): Outcome | Promise<Outcome>;
  };
}

/** A processor with its configuration's type closed over, so that the registry is a plain array. */
export interface Processor {
  readonly name: string;
  readonly summary: string;
  readonly input: Topic;
  readonly outputs: readonly Topic[];
  /** Checks the configuration and makes one running instance. */
  create(config: unknown, clock: Clock): (record: BusRecord) => Promise<Outcome>;
}

export const defineProcessor = <Config extends z.ZodType>(definition: Definition<Config>): Processor => ({
  name: definition.name,
  summary: definition.summary,
  input: definition.input,
  outputs: definition.outputs,
  create(config, clock) {
    const instance = definition.create({ config: definition.config.parse(config ?? {}), clock });
    return async (record) => instance.process(record);
  },
});
