/**
 * Messages of derived topics are published again after a crash. Each message contains its emitter's position, so
 * that consumers can deduplicate the messages.
 */
import { PermanentError } from '../errors.ts';

/** Position of one emitter. Within a partition it only grows: by offset, then by part. */
export interface EmittedPosition {
  readonly emitter: string;
  readonly offset: number;
  readonly part: number;
}

const positionPattern = /^(\d{1,16})\.(\d{1,16})$/;

/**
 * Returns the position in a message's headers. Returns `undefined` for a message without an emitter, and for a replayed
 * dead letter, which was not consumed before. Throws `PermanentError` for an invalid position.
 */
export const parseEmittedPosition = (headers: Readonly<Record<string, string>>): EmittedPosition | undefined => {
  const { emitter, position, 'only-group': replayGroup } = headers;
  if (replayGroup !== undefined || (emitter === undefined && position === undefined)) return undefined;
  const [, offset, part] = positionPattern.exec(position ?? '') ?? [];
  const parsedPosition = { emitter: emitter ?? '', offset: Number(offset), part: Number(part) };
  if (
    parsedPosition.emitter !== '' &&
    Number.isSafeInteger(parsedPosition.offset) &&
    Number.isSafeInteger(parsedPosition.part)
  )
    return parsedPosition;
  throw new PermanentError('bad-headers', `${position} is not a position of an emitter ${emitter}`);
};

/**
 * Maximum number of remembered emitters. Each emitting task has one permanently, so a higher number means deleted
 * tasks.
 */
const maxEmitters = 10_000;

const isAfter = (left: EmittedPosition, right: EmittedPosition): boolean =>
  left.offset > right.offset || (left.offset === right.offset && left.part > right.part);

/** Highest consumed position of each emitter in a partition. Iterates over these positions. */
export class ConsumedPositions implements Iterable<EmittedPosition> {
  readonly #highest = new Map<string, EmittedPosition>();

  constructor(positions: Iterable<EmittedPosition> = []) {
    for (const position of positions) this.accept(position);
  }

  /** Accepts a position. Returns `false` if it was accepted before. */
  accept(position: EmittedPosition): boolean {
    const highest = this.#highest.get(position.emitter);
    if (highest !== undefined && !isAfter(position, highest)) return false;
    // Evicts the emitter that has been inactive for longest.
    this.#highest.delete(position.emitter);
    this.#highest.set(position.emitter, position);
    if (this.#highest.size > maxEmitters) this.#highest.delete(this.#highest.keys().next().value ?? '');
    return true;
  }

  [Symbol.iterator](): Iterator<EmittedPosition> {
    return this.#highest.values();
  }
}
