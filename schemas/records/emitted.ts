/** Messages of derived topics are published again after a crash: each says which of its emitter's it is, for consumers to take it once. */
import { PermanentError } from '../errors.ts';

/** Of one emitter, positions only grow in a partition: by offset, then by part. */
export interface EmittedPosition {
  readonly emitter: string;
  readonly offset: number;
  readonly part: number;
}

const pattern = /^(\d{1,16})\.(\d{1,16})$/;

/**
 * The position that a message's headers tell. `undefined` for a message that no processor emitted, and for the replay of a dead letter,
 * which was not taken when it came. A position that cannot be read is a `PermanentError`.
 */
export const emittedPosition = (headers: Readonly<Record<string, string>>): EmittedPosition | undefined => {
  const { emitter, position, 'only-group': replayed } = headers;
  if (replayed !== undefined || (emitter === undefined && position === undefined)) return undefined;
  const [, offset, part] = pattern.exec(position ?? '') ?? [];
  const found = { emitter: emitter ?? '', offset: Number(offset), part: Number(part) };
  if (found.emitter !== '' && Number.isSafeInteger(found.offset) && Number.isSafeInteger(found.part)) return found;
  throw new PermanentError('bad-headers', `${position} is no position of an emitter ${emitter}`);
};

/** Emitters that are remembered. A task that emits has one for ever, so more are tasks that are gone. */
const maxEmitters = 10_000;

const isAbove = (one: EmittedPosition, other: EmittedPosition): boolean =>
  one.offset > other.offset || (one.offset === other.offset && one.part > other.part);

/** The highest position of each emitter that a consumer has taken in a partition. Iterates over them. */
export class ConsumedPositions implements Iterable<EmittedPosition> {
  readonly #highest = new Map<string, EmittedPosition>();

  constructor(positions: Iterable<EmittedPosition> = []) {
    for (const position of positions) this.accept(position);
  }

  /** Takes a position, or answers false when it was taken before. */
  accept(position: EmittedPosition): boolean {
    const highest = this.#highest.get(position.emitter);
    if (highest !== undefined && !isAbove(position, highest)) return false;
    // The one that emitted nothing for longest makes way.
    this.#highest.delete(position.emitter);
    this.#highest.set(position.emitter, position);
    if (this.#highest.size > maxEmitters) this.#highest.delete(this.#highest.keys().next().value ?? '');
    return true;
  }

  [Symbol.iterator](): Iterator<EmittedPosition> {
    return this.#highest.values();
  }
}
