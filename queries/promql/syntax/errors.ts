import type { Position } from './tree.ts';

/** Returns line and column, from 1 and in bytes, as in Prometheus. */
export const formatPosition = (text: string, position: Position): string => {
  if (text === '') return 'unknown position';
  if (position.start < 0 || position.start > text.length) return 'invalid position';
  const bytesBefore = Buffer.from(text.slice(0, position.start));
  const line = bytesBefore.filter((byte) => byte === 10).length + 1;
  return `${line}:${bytesBefore.length - bytesBefore.lastIndexOf(10)}`;
};

/** Thrown for an invalid expression: the message has line and column, in Prometheus' words. */
export class PromqlSyntaxError extends Error {
  override readonly name = 'PromqlSyntaxError';
  constructor(text: string, position: Position, problem: string) {
    super(`${formatPosition(text, position)}: parse error: ${problem}`);
  }
}

/** Thrown for a failed evaluation, in Prometheus' words. */
export class PromqlExecutionError extends Error {
  override readonly name = 'PromqlExecutionError';
}

/** Thrown for a query that exceeds a limit, in Prometheus' words. */
export class PromqlLimitError extends PromqlExecutionError {}
