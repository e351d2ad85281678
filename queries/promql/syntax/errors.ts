import type { Place } from './tree.ts';

/** Line and column, from 1 on and in bytes, as Prometheus counts them. */
export const positionOf = (text: string, place: Place): string => {
  if (text === '') return 'unknown position';
  if (place.start < 0 || place.start > text.length) return 'invalid position';
  const before = Buffer.from(text.slice(0, place.start));
  const line = before.filter((byte) => byte === 10).length + 1;
  return `${line}:${before.length - before.lastIndexOf(10)}`;
};

/** An expression that is none: the message has line and column, as Prometheus words it. */
export class PromqlSyntaxError extends Error {
  override readonly name = 'PromqlSyntaxError';
  constructor(text: string, place: Place, problem: string) {
    super(`${positionOf(text, place)}: parse error: ${problem}`);
  }
}

/** An evaluation that failed, in Prometheus' words. */
export class PromqlExecutionError extends Error {
  override readonly name = 'PromqlExecutionError';
}

/** A query that goes beyond a limit, in Prometheus' words. */
export class PromqlLimitError extends PromqlExecutionError {}
